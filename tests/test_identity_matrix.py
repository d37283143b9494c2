"""The identity matrix: which folders share a memory, made with real git and asked through the command.

A row is a name, what is said of each folder afterwards, and how it is made. What is said: ``memory why`` as in ``status``; the same
memory is a shared one, another is apart. ``none``: there is no memory. ``ask a b``: a person is asked about these, with the commands.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import GIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

ORIGIN = "https://github.com/acme/shop.git"
_ENVIRONMENT = {
    **GIT,
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_AUTHOR_DATE": "@1700000000 +0000",
    "GIT_COMMITTER_DATE": "@1700000000 +0000",
}
_OPTIONS = ("-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", "-c", "core.fsync=none", "-c", "gc.auto=0")


class World:
    """A folder with repositories in it, and the command."""

    def __init__(self, top: Path, patterns: Path, call: Callable[..., Result]) -> None:
        self.top = top
        self._patterns = patterns
        self.call = call

    def path(self, name: str) -> Path:
        return self.top / name

    def git(self, where: str | Path, *words: str) -> str:
        command = ["git", *_OPTIONS, *words]
        place = self.top / where
        done = subprocess.run(command, cwd=place, env=_ENVIRONMENT, check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout.strip()

    def repo(self, name: str, origin: str = "", text: str = "one") -> Path:
        """A repository of two commits; another text makes another history."""
        pattern = self._patterns / text
        if not pattern.exists():
            (pattern / "src").mkdir(parents=True)
            (pattern / "src" / "a.py").write_text(text)
            self.git(pattern, "init", "-q")
            self.git(pattern, "add", ".")
            self.git(pattern, "commit", "-qm", text)
            self.git(pattern, "commit", "-qm", "second", "--allow-empty")
        where = Path(shutil.copytree(pattern, self.top / name))
        if origin:
            self.git(where, "remote", "add", "origin", origin)
        return where

    def clone(self, source: str | Path, name: str, *words: str, origin: str = "") -> Path:
        """A clone made here; with ``origin`` it looks like one from there."""
        self.git(".", "clone", "-q", *words, str(self.top / source), name)
        if origin:
            self.git(name, "remote", "set-url", "origin", origin)
        return self.top / name

    def commit(self, where: str, text: str) -> None:
        self.git(where, "commit", "-qm", text, "--allow-empty")

    def move(self, old: str, new: str) -> None:
        (self.top / new).parent.mkdir(parents=True, exist_ok=True)
        (self.top / old).rename(self.top / new)

    def delete(self, name: str) -> None:
        shutil.rmtree(self.top / name)

    def init(self, where: str, *words: str) -> Any:
        done = self.call("init", "--no-history", "--json", *words, cwd=self.top / where)
        assert done.code == 0, done
        return done.data

    def said(self, where: str) -> str:
        """``memory why``, ``none``, or ``ask`` with the candidates."""
        done = self.call("status", "--json", cwd=self.top / where)
        if done.code == 0:
            return f"{done.data['name']} {done.data['why']}"
        if done.error["kind"] == "no_store":
            return "none"
        candidates = done.error["message"].partition(": ")[2].split("; ")
        assert f"hardwon init --link {candidates[0].split()[0]}" in done.error["remedy"]
        assert "hardwon init --split NAME" in done.error["remedy"]
        return "ask " + " ".join(sorted(text.split()[0] for text in candidates))

    def home(self) -> Path:
        return Path(os.environ["HARDWON_HOME"])


CASES: dict[str, tuple[dict[str, str], Callable[[World], None]]] = {}


def case(name: str, expected: dict[str, str]) -> Callable[[Callable[[World], None]], None]:
    """A row of the table."""

    def enter(make: Callable[[World], None]) -> None:
        assert name not in CASES
        CASES[name] = (expected, make)

    return enter


@pytest.fixture(scope="session")
def patterns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("patterns")


@pytest.fixture
def world(tmp_path: Path, patterns: Path, call: Callable[..., Result]) -> World:
    return World(Path(os.path.realpath(tmp_path)), patterns, call)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_identity(world: World, name: str) -> None:
    expected, make = CASES[name]
    make(world)
    assert {where: world.said(where) for where in expected} == expected


# --- clones


@case("a repository and its subfolders", {"shop": "shop folder", "shop/src": "shop folder", "shop/.git": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop/src")


@case("a repository nobody registered", {"shop": "none"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)


@case("a second clone", {"shop": "shop folder", "again": "shop origin", "again/src": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.clone("shop", "again", origin=ORIGIN)


@case("a second clone after its own init", {"shop": "shop folder", "again": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.clone("shop", "again", origin=ORIGIN)
    assert w.init("again")["why"] == "origin"


@case("a clone of a folder without remote", {"shop": "shop folder", "again": "shop origin"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.clone("shop", "again")


@case("a clone of a clone of a clone", {"a": "shop origin", "b": "shop origin", "c": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.clone("shop", "a")
    w.clone("a", "b")
    w.clone("b", "c")


@case("a clone of a clone is registered, then its source and its source's remote", {"shop": "b origin", "other": "b origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.clone("shop", "a")
    w.clone("a", "b")
    w.init("b", "--name", "b")
    w.repo("other", ORIGIN)


@case("two clones that name one another as their remote", {"a": "none", "b": "none"})
def _(w: World) -> None:
    w.repo("a", str(w.path("b")))
    w.repo("b", str(w.path("a")))


@case("a clone of a folder that was moved since", {"again": "shop origin", "new": "shop root commits"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.clone("shop", "again")
    w.move("shop", "new")


@case("a clone of a folder where another repository lies now", {"again": "none", "shop": "bakery folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.clone("shop", "again")
    w.delete("shop")
    w.repo("shop", "https://github.com/acme/bakery", "bakery")
    w.init("shop", "--split", "bakery")


@case("a bare repository, its clones, and it itself", {"a": "hub folder", "b": "hub origin", "hub.git": "hub origin"})
def _(w: World) -> None:
    w.repo("seed")
    w.git(".", "clone", "-q", "--bare", "seed", "hub.git")
    w.git("hub.git", "remote", "remove", "origin")
    w.clone("hub.git", "a")
    w.init("a")
    w.clone("hub.git", "b")


@case("a bare repository is registered first", {"hub.git": "hub folder", "hub.git/refs": "hub folder", "a": "hub origin"})
def _(w: World) -> None:
    w.repo("seed")
    w.git(".", "clone", "-q", "--bare", "seed", "hub.git")
    w.git("hub.git", "remote", "remove", "origin")
    w.init("hub.git")
    w.clone("hub.git", "a")


@case("a mirror", {"mirror.git": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.clone("shop", "mirror.git", "--mirror", origin=ORIGIN)


@case("a shallow clone", {"shallow": "shop origin", "first": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.git(".", "clone", "-q", "--depth=1", f"file://{w.path('shop')}", "first")
    w.git("first", "remote", "set-url", "origin", ORIGIN)
    w.init("first")
    w.git(".", "clone", "-q", "--depth=1", f"file://{w.path('shop')}", "shallow")
    w.git("shallow", "remote", "set-url", "origin", "git@github.com:acme/shop")


@case("a shallow clone of a local folder, and one whose remote was removed", {"shallow": "shop origin", "kept": "kept folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.git(".", "clone", "-q", "--depth=1", f"file://{w.path('shop')}", "shallow")
    w.git(".", "clone", "-q", "--depth=1", f"file://{w.path('shop')}", "kept")
    w.init("kept", "--split", "kept")
    w.git("kept", "remote", "remove", "origin")


@case("partial clones", {"blobless": "shop origin", "treeless": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    for name, what in (("blobless", "blob:none"), ("treeless", "tree:0")):
        w.git("shop", "config", "uploadpack.allowFilter", "true")
        w.git(".", "clone", "-q", "--no-checkout", f"--filter={what}", f"file://{w.path('shop')}", name)
    w.init("treeless")
    w.git("treeless", "remote", "set-url", "origin", "https://example.org/moved")


@case("a sparse checkout", {"sparse": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.clone("shop", "sparse", "--sparse", origin=ORIGIN)


@case("a clone that borrows its objects", {"borrower": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.clone("shop", "borrower", "--shared")
    w.init("borrower")
    w.git("borrower", "remote", "remove", "origin")  # only the commits tell now, and they lie elsewhere


@case("a clone from a bundle", {"carried": "shop root commits", "gone": "shop root commits", "fork": "none"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.git("shop", "bundle", "create", "-q", str(w.path("shop.bundle")), "main", "HEAD")
    w.clone("shop.bundle", "carried")
    w.git("shop", "bundle", "create", "-q", str(w.path("away.bundle")), "main", "HEAD")
    w.clone("away.bundle", "gone")
    w.path("away.bundle").unlink()
    w.repo("bakery", "https://github.com/acme/bakery", "bakery")
    w.init("bakery")
    w.git("bakery", "bundle", "create", "-q", str(w.path("bakery.bundle")), "main", "HEAD")
    w.clone("bakery.bundle", "fork")  # might be a fork: with a remote known, root commits are not enough


@case("git's folder lies elsewhere", {"sep": "sep folder", "sep/src": "sep folder", "again": "sep origin"})
def _(w: World) -> None:
    w.repo("shop")
    w.clone("shop", "sep", "--separate-git-dir", str(w.path("elsewhere")))
    w.git("sep", "remote", "remove", "origin")
    w.init("sep", "--name", "sep")
    w.clone("sep", "again")


@case("git init --separate-git-dir moves git's folder", {"shop": "shop root commits", "remote": "remote origin"})
def _(w: World) -> None:
    w.repo("shop")
    w.repo("remote", "https://github.com/acme/remote", "two")
    for name in ("shop", "remote"):
        w.init(name)
        w.git(name, "init", "-q", "--separate-git-dir", str(w.path(f"{name}-data")))


# --- worktrees


@case("a worktree", {"shop": "shop folder", "tree": "shop folder", "tree/src": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.git("shop", "worktree", "add", "-q", str(w.path("tree")))


@case("init in a worktree", {"shop": "shop folder", "tree": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.git("shop", "worktree", "add", "-q", str(w.path("tree")))
    w.init("tree")


@case("a worktree inside the repository", {"shop/.worktrees/x": "shop folder", "shop/.worktrees": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.git("shop", "worktree", "add", "-q", ".worktrees/x")


@case("a worktree of a bare repository", {"tree": "hub folder"})
def _(w: World) -> None:
    w.repo("seed")
    w.git(".", "clone", "-q", "--bare", "seed", "hub.git")
    w.git("hub.git", "worktree", "add", "-q", str(w.path("tree")), "main")
    w.init("hub.git", "--name", "hub")


@case("a worktree that was removed", {"shop": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.git("shop", "worktree", "add", "-q", str(w.path("tree")))
    w.init("tree")
    w.git("shop", "worktree", "remove", str(w.path("tree")))


@case("a worktree that was pruned while its files remain", {"tree": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.git("shop", "worktree", "add", "-q", str(w.path("tree")))
    w.delete("shop/.git/worktrees")


@case("worktrees moved by git and by hand", {"by-git": "shop folder", "deep/by-hand": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    for name in ("one", "two"):
        w.git("shop", "worktree", "add", "-q", str(w.path(name)))
    w.git("shop", "worktree", "move", str(w.path("one")), str(w.path("by-git")))
    w.move("two", "deep/by-hand")


@case("a repository moved from under its worktree, and repaired", {"new": "shop origin", "tree": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.git("shop", "worktree", "add", "-q", str(w.path("tree")))
    w.move("shop", "new")
    w.git("new", "worktree", "repair", str(w.path("tree")))


# --- remotes


@case("a fork", {"fork": "none"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.repo("fork", "https://github.com/ann/shop")


@case("a fork with origin and upstream", {"shop": "shop folder", "fork": "shop-2 folder", "again": "shop-2 origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    for name in ("fork", "again"):
        w.repo(name, "https://github.com/ann/shop")
        w.git(name, "remote", "add", "upstream", ORIGIN)
    w.init("fork")


@case("a clone that becomes one of a fork", {"shop": "shop folder", "source": "shop origin", "fork": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.git("shop", "remote", "rename", "origin", "upstream")
    w.git("shop", "remote", "add", "origin", "https://github.com/ann/shop")
    assert w.said("shop") == "shop folder"
    w.init("shop")
    w.repo("source", ORIGIN)
    w.repo("fork", "git@github.com:ann/shop.git")


@case("the only remote has another name", {"shop": "shop folder", "renamed": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.git("shop", "remote", "rename", "origin", "github")
    w.init("shop")
    w.clone("shop", "renamed", "-o", "acme")
    w.git("renamed", "remote", "set-url", "acme", ORIGIN)


@case("origin is renamed later", {"shop": "shop folder", "again": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.git("shop", "remote", "rename", "origin", "acme")
    w.repo("again", ORIGIN)


@case("the remote gets another path", {"shop": "shop folder", "old": "shop origin", "new": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.git("shop", "remote", "set-url", "origin", "https://github.com/acme/store")
    w.repo("old", ORIGIN)
    w.repo("new", "https://github.com/acme/store")
    assert w.said("new") == "none"  # the quick path does not ask every folder what its remote is by now; init does
    assert w.init("new")["why"] == "origin"


@case("the remote gets another host", {"shop": "shop folder", "old": "shop origin", "new": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.git("shop", "remote", "set-url", "origin", "git@gitlab.example.org:acme/shop.git")
    w.init("shop")
    w.repo("old", ORIGIN)
    w.repo("new", "https://gitlab.example.org/acme/shop")


_SPELLINGS = (
    "git@github.com:acme/shop.git", "ssh://git@github.com/acme/shop", "ssh://git@github.com:22/acme/shop.git", "git://github.com/acme/shop/",
    "https://github.com/acme/shop", "https://github.com/acme/shop.git/", "https://ann@github.com/acme/shop", "http://GitHub.com:80/Acme/Shop.git",
    "https://ann:token@github.com/acme/shop.git", "ssh://git@ssh.github.com:443/acme/shop.git", "github.com:acme/shop",
)  # fmt: skip


@case("every way to write one remote", {f"clone{number}": "shop origin" for number in range(len(_SPELLINGS))})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    for number, url in enumerate(_SPELLINGS):
        w.repo(f"clone{number}", url)


@case("forges that write ssh and https otherwise", {"a": "web origin", "b": "web origin", "c": "kit origin", "d": "web-2 folder"})
def _(w: World) -> None:
    w.repo("web", "https://acme@dev.azure.com/acme/My%20Shop/_git/web")
    w.init("web")
    w.repo("a", "git@ssh.dev.azure.com:v3/acme/My%20Shop/web")
    w.repo("b", "https://acme.visualstudio.com/DefaultCollection/My%20Shop/_git/web")
    w.repo("kit", "https://ann@bitbucket.example.org/scm/core/kit.git", "two")
    w.init("kit")
    w.repo("c", "ssh://git@bitbucket.example.org:7999/core/kit.git")
    w.repo("d", "https://dev.azure.com/acme/Bakery/_git/web")
    w.init("d")


@case("paths that differ in case", {"forge": "shop origin", "own": "none"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.repo("forge", "https://github.com/ACME/Shop")
    w.repo("tools", "https://git.example.org/acme/Tools", "two")
    w.init("tools")
    w.repo("own", "https://git.example.org/acme/tools", "two")


@case("two remotes, one of them origin", {"again": "shop origin", "other": "none"})
def _(w: World) -> None:
    for name, origin in (("shop", ORIGIN), ("again", ORIGIN), ("other", "https://example.org/backup")):
        w.repo(name, origin)
        w.git(name, "remote", "add", "backup", "https://example.org/backup")
    w.init("shop")


@case("two remotes, none of them origin", {"known": "ask shop", "unknown": "none", "settled": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    for name, url in (("known", ORIGIN), ("unknown", "https://example.org/x"), ("settled", ORIGIN)):
        w.repo(name)
        w.git(name, "remote", "add", "theirs", url)
        w.git(name, "remote", "add", "mine", "https://github.com/ann/shop")
    w.init("settled", "--link", "shop")


@case("the remote is removed later", {"shop": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.git("shop", "remote", "remove", "origin")


@case("a remote is added later", {"shop": "shop folder", "again": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.git("shop", "remote", "add", "origin", ORIGIN)
    assert w.said("shop") == "shop folder"
    w.clone("shop", "again", origin="git@github.com:acme/shop.git")
    assert w.init("again")["why"] == "origin"


@case("two known folders get one remote", {"a": "a folder", "b": "b folder"})
def _(w: World) -> None:
    for name in ("a", "b"):
        w.repo(name, text=name)
        w.init(name)
        w.git(name, "remote", "add", "origin", ORIGIN)


# --- folders


@case("a moved folder with a remote", {"deep/er/shop": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.move("shop", "deep/er/shop")


@case("a moved folder without a remote", {"deep/er/shop": "shop root commits"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.commit("shop", "third")
    w.move("shop", "deep/er/shop")


@case("a renamed folder", {"bakery": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.move("shop", "bakery")
    assert w.said("bakery") == "shop root commits"
    w.init("bakery")


@case("a copied folder", {"copy": "shop origin", "bare-copy": "two root commits"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.repo("two", text="two")
    for name, copy in (("shop", "copy"), ("two", "bare-copy")):
        w.init(name)
        shutil.copytree(w.path(name), w.path(copy))


@case("a copy that went on, and one that fell behind", {"ahead": "shop root commits", "behind": "two root commits"})
def _(w: World) -> None:
    for name, copy in (("shop", "ahead"), ("two", "behind")):
        w.repo(name, text=name)
        w.init(name)
        shutil.copytree(w.path(name), w.path(copy))
    w.commit("ahead", "third")
    w.commit("two", "third")


@case("copies without a remote that both went on", {"copy": "ask shop"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    shutil.copytree(w.path("shop"), w.path("copy"))
    w.commit("shop", "here")
    w.commit("copy", "there")


@case("a third copy of two that are apart", {"one": "one folder", "two": "two folder", "three": "ask one two"})
def _(w: World) -> None:
    for name in ("one", "two", "three"):
        w.repo(name)
    w.init("one")
    w.init("two", "--split", "two")


@case("a history that has a second beginning", {"merged": "ask shop"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.repo("other", text="other")
    w.repo("merged")
    w.git(
        "merged", "pull", "-q", "--no-rebase", "--allow-unrelated-histories", "-Xours", "--no-edit", str(w.path("other")), "main"
    )


@case("symbolic links", {"link": "shop folder", "second": "shop folder", "links/src": "shop folder", "third/a": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.path("link").symlink_to(w.path("shop"))
    w.path("second").symlink_to("link")
    w.path("links").mkdir()
    w.path("links/src").symlink_to(w.path("second/src"))
    w.path("third").mkdir()
    w.path("third/a").symlink_to("../second")
    w.init("second")


_ODD = (
    "a name with spaces", "ключ-東京-é", "line\nbreak", "back\\slash\\n", "-dash", "quo'te\"s", "$(touch x)", "stray\udcff", " lead", "*",
)  # fmt: skip


@case("odd names of folders", {f"{name}/shop": f"shop{'-' + str(at + 1) if at else ''} folder" for at, name in enumerate(_ODD)})
def _(w: World) -> None:
    for name in _ODD:
        w.repo(f"{name}/shop", text="odd")
        w.git(f"{name}/shop", "commit", "-q", "--amend", "-m", ascii(name), "--allow-empty")
        w.git(f"{name}/shop", "remote", "add", "origin", f"https://example.org/{ascii(name).encode().hex()}/shop")
        w.init(f"{name}/shop")


@case("folders that look alike but for case", {"Shop": "shop folder", "shop": "shop-2 folder", "SHOP": "none"})
def _(w: World) -> None:
    for name in ("Shop", "shop", "SHOP"):
        w.repo(name, text=f"case-{name}")
    w.init("Shop")
    w.init("shop")


@case("another repository is cloned into the place", {"shop": "ask shop", "two": "other origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.repo("two", text="two")
    w.repo("other", "https://github.com/acme/other", "other")
    for name in ("shop", "two", "other"):
        w.init(name)
    w.delete("shop")
    w.delete("two")
    w.repo("shop", "https://github.com/acme/bakery", "bakery")
    w.repo("two", "https://github.com/acme/other", "other")


@case("another repository is begun in the place", {"shop": "ask shop", "two": "ask two"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.repo("two", text="two")
    for name in ("shop", "two"):
        w.init(name)
        w.delete(name)
        w.repo(name, text="bakery")


@case("the same repository is cloned again into the place", {"shop": "shop folder", "two": "two folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.repo("two", text="two")
    for name, origin in (("shop", "git@github.com:acme/shop"), ("two", "")):
        w.init(name)
        w.move(name, "seed")
        w.clone("seed", name, origin=origin)
        if not origin:
            w.git(name, "remote", "remove", "origin")
        w.delete("seed")


@case("two folders with equal root commits are swapped", {"a": "a folder", "b": "b folder"})
def _(w: World) -> None:
    for name in ("a", "b"):
        w.repo(name)
        w.commit(name, name)
        w.init(name, "--split", name)
    w.move("a", "c")
    w.move("b", "a")
    w.move("c", "b")


@case("two folders with different remotes are swapped", {"a": "b origin", "b": "a origin"})
def _(w: World) -> None:
    for name in ("a", "b"):
        w.repo(name, f"https://github.com/acme/{name}", name)
        w.init(name)
    w.move("a", "c")
    w.move("b", "a")
    w.move("c", "b")


# --- one inside another


@case("a submodule", {"shop": "shop folder", "shop/ext/kit": "none", "shop/ext": "shop folder"})
def _(w: World) -> None:
    w.repo("kit", text="kit")
    w.repo("shop")
    w.git("shop", "submodule", "add", "-q", str(w.path("kit")), "ext/kit")
    w.init("shop")


@case("a submodule in two superprojects", {"shop/kit": "kit folder", "bakery/kit": "kit origin", "bakery": "bakery folder"})
def _(w: World) -> None:
    w.repo("kit", text="kit")
    for name in ("shop", "bakery"):
        w.repo(name, text=name)
        w.git(name, "submodule", "add", "-q", str(w.path("kit")))
        w.init(name)
    w.init("shop/kit")


@case("a submodule of a repository that is known by itself", {"kit": "kit folder", "shop/kit": "kit origin"})
def _(w: World) -> None:
    w.repo("kit", text="kit")
    w.init("kit")
    w.repo("shop")
    w.git("shop", "submodule", "add", "-q", str(w.path("kit")))
    w.init("shop")


@case("repositories inside one another", {"a": "a folder", "a/b": "b folder", "a/b/c": "none"})
def _(w: World) -> None:
    w.repo("a", text="a")
    w.repo("a/b", text="b")
    w.repo("a/b/c", text="c")
    w.init("a")
    w.init("a/b")


@case(
    "a subfolder of a large repository", {"mono/apps/web": "mono folder", "mono/apps/api": "mono folder", "mono": "mono folder"}
)
def _(w: World) -> None:
    w.repo("mono")
    for name in ("apps/web", "apps/api"):
        w.path(f"mono/{name}").mkdir(parents=True)
        w.init(f"mono/{name}")


@case("namesakes", {"a/app": "app folder", "b/app": "app-2 folder", "c/app": "none"})
def _(w: World) -> None:
    for name in "abc":
        w.repo(f"{name}/app", text=name)
    w.init("a/app")
    w.init("b/app")


@case("repositories made from one template", {"a": "a folder", "b": "b folder", "c": "none"})
def _(w: World) -> None:
    for name in "abc":
        w.repo(name, f"https://github.com/acme/{name}")
    w.init("a")
    w.init("b")


@case("a template without remotes, and what became of it", {"b": "ask template"})
def _(w: World) -> None:
    w.repo("template")
    w.repo("b")
    w.init("template")
    w.commit("template", "its own")
    w.commit("b", "its own too")


# --- outside git


@case("a plain folder", {"notes": "notes folder", "notes/deep/er": "notes folder", "notes2": "none", ".": "none"})
def _(w: World) -> None:
    w.path("notes/deep/er").mkdir(parents=True)
    w.path("notes2").mkdir()
    w.init("notes")


@case(
    "a plain folder in another",
    {"notes/a": "a folder", "notes/a/b": "a folder", "notes": "notes folder", "notes/c": "notes folder"},
)
def _(w: World) -> None:
    w.path("notes/a/b").mkdir(parents=True)
    w.path("notes/c").mkdir()
    w.init("notes")
    w.init("notes/a", "--split", "a")
    assert w.init("notes/c")["name"] == "notes"


@case("a repository in a plain folder", {"notes": "notes folder", "notes/code": "none"})
def _(w: World) -> None:
    w.path("notes").mkdir()
    w.init("notes")
    w.repo("notes/code")


@case("a plain folder becomes a repository", {"notes": "notes folder", "later": "later folder"})
def _(w: World) -> None:
    for name in ("notes", "later"):
        w.path(name).mkdir()
        w.init(name)
        w.git(name, "init", "-q")
        assert w.said(name) == f"{name} folder"
        w.init(name)
        w.commit(name, "first")
    w.git("later", "remote", "add", "origin", ORIGIN)


@case("a clone in the place of a plain folder", {"notes": "ask notes"})
def _(w: World) -> None:
    w.path("notes").mkdir()
    w.init("notes")
    w.delete("notes")
    w.repo("notes", ORIGIN)


@case("a moved plain folder", {"new": "none"})
def _(w: World) -> None:
    w.path("notes").mkdir()
    w.init("notes")
    w.move("notes", "new")


# --- states of a repository


@case("no commits", {"shop": "shop folder"})
def _(w: World) -> None:
    w.git(".", "init", "-q", "shop")
    w.init("shop")


@case("no commits, then the first", {"shop": "shop folder", "copy": "shop root commits"})
def _(w: World) -> None:
    w.git(".", "init", "-q", "shop")
    w.init("shop")
    w.commit("shop", "first")
    assert w.said("shop") == "shop folder"
    w.init("shop")  # learns the root commit
    shutil.copytree(w.path("shop"), w.path("copy"))


@case("an empty repository is copied", {"copy": "none"})
def _(w: World) -> None:
    w.git(".", "init", "-q", "shop")
    w.init("shop")
    shutil.copytree(w.path("shop"), w.path("copy"))


@case("a detached head", {"shop": "shop folder", "again": "shop origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.clone("shop", "again", origin=ORIGIN)
    for name in ("shop", "again"):
        w.git(name, "checkout", "-q", "--detach", "HEAD~1")


@case("a damaged head", {"shop": "shop folder", "again": "shop origin", "empty": "empty folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.clone("shop", "again")
    w.repo("empty", "https://github.com/acme/empty", "two")
    w.init("empty")
    for name, content in (("shop", "\0" * 41), ("again", "rubbish"), ("empty", "")):
        w.path(f"{name}/.git/HEAD").write_text(content)


@case("packed commits and references", {"shop": "shop folder", "copy": "shop root commits"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.git("shop", "gc", "-q")
    shutil.copytree(w.path("shop"), w.path("copy"))


@case("a rewritten history", {"shop": "shop folder", "two": "ask two"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.repo("two", text="two")
    for name in ("shop", "two"):
        w.init(name)
        w.git(name, "checkout", "-q", "--orphan", "fresh")
        w.git(name, "commit", "-qm", "all anew")
        w.git(name, "branch", "-qD", "main")
        w.git(name, "reflog", "expire", "--expire=now", "--all")
        w.git(name, "gc", "-q", "--prune=now")


@case("the home of Hardwon is deleted", {"shop": "none", "two": "two folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    shutil.rmtree(w.home())
    w.repo("two", text="two")
    w.init("two")


# --- told by a person


@case("a fork is linked, and its other clones follow", {"fork": "shop folder", "again": "shop origin", "shop": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.repo("fork", "https://github.com/ann/shop")
    assert w.init("fork", "--link", "shop")["why"] == "linked"
    w.repo("again", "git@github.com:ann/shop.git")


@case("a clone is split off, and other clones stay", {"shop": "shop folder", "spike": "spike folder", "third": "shop origin"})
def _(w: World) -> None:
    for name in ("shop", "spike", "third"):
        w.repo(name, ORIGIN)
    w.init("shop")
    assert w.init("spike", "--split", "spike")["why"] == "split"
    w.init("spike")


@case("split and linked again", {"shop": "shop folder", "spike": "shop folder", "third": "shop origin"})
def _(w: World) -> None:
    for name in ("shop", "spike", "third"):
        w.repo(name, ORIGIN)
    w.init("shop")
    w.init("spike", "--split", "spike")
    w.init("spike", "--link", "shop")


@case("linked and back to what it had", {"a": "a folder", "b": "b folder", "b2": "b origin", "a2": "a origin"})
def _(w: World) -> None:
    for name in ("a", "b"):
        w.repo(name, f"https://github.com/acme/{name}", name)
        w.init(name)
        w.repo(f"{name}2", f"https://github.com/acme/{name}", name)
    w.init("b", "--link", "a")
    assert w.said("b2") == "a origin"
    w.init("b", "--link", "b")


@case("linked and split again under a new name", {"fork": "mine folder", "again": "mine origin", "shop": "shop folder"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.repo("fork", "https://github.com/ann/shop")
    w.repo("again", "https://github.com/ann/shop")
    w.init("fork", "--link", "shop")
    w.init("fork", "--split", "mine")


@case("the only clone is split off and takes its remote along", {"shop": "fresh folder", "again": "fresh origin"})
def _(w: World) -> None:
    w.repo("shop", ORIGIN)
    w.init("shop")
    w.init("shop", "--split", "fresh")
    w.repo("again", ORIGIN)


@case("two unrelated repositories are linked", {"web": "api folder", "api": "api folder", "moved": "api origin"})
def _(w: World) -> None:
    w.repo("api", text="api")
    w.init("api")
    w.repo("web", text="web")
    w.init("web", "--link", "api")
    w.git("web", "remote", "add", "origin", "https://github.com/acme/web")
    w.init("web")
    w.repo("moved", "https://github.com/acme/web", "web")


@case("a link in a worktree is for all of them", {"shop": "base folder", "tree": "base folder"})
def _(w: World) -> None:
    w.repo("base", text="base")
    w.init("base")
    w.repo("shop")
    w.git("shop", "worktree", "add", "-q", str(w.path("tree")))
    w.init("tree", "--link", "base")


@case("a plain folder is linked to a repository", {"papers": "shop folder", "papers/x": "shop folder"})
def _(w: World) -> None:
    w.path("papers/x").mkdir(parents=True)
    w.repo("shop")
    w.init("shop")
    w.init("papers", "--link", "shop")


@case("questions are settled by link and by split", {"linked": "one folder", "split": "own folder", "shop": "bakery folder"})
def _(w: World) -> None:
    for name in ("one", "two", "linked", "split"):
        w.repo(name)
    w.init("one")
    w.init("two", "--split", "two")
    assert w.said("linked") == w.said("split") == "ask one two"
    w.init("linked", "--link", "one")
    w.init("split", "--split", "own")
    w.repo("shop", ORIGIN, "shop")
    w.init("shop")
    w.delete("shop")
    w.repo("shop", "https://github.com/acme/bakery", "bakery")
    assert w.said("shop") == "ask shop"
    w.init("shop", "--split", "bakery")


@case("a rewritten history is linked again", {"shop": "shop folder"})
def _(w: World) -> None:
    w.repo("shop")
    w.init("shop")
    w.delete("shop")
    w.repo("shop", text="anew")
    assert w.said("shop") == "ask shop"
    w.init("shop", "--link", "shop")


# --- beyond the table


def test_the_matrix_is_whole() -> None:
    assert len(CASES) >= 45


def test_what_a_removed_worktree_recorded_is_found_from_the_repository(world: World, call: Callable[..., Result]) -> None:
    shop = world.repo("shop")
    world.git("shop", "worktree", "add", "-q", str(world.path("tree")))
    world.init("shop")
    assert call("fail", "Cart.add", "overflows", "--file", "src/a.py", cwd=world.path("tree")).code == 0
    world.git("shop", "worktree", "remove", "--force", str(world.path("tree")))
    assert "overflows" in call("before", "--file", "src/a.py", cwd=shop).out


def test_no_memory_is_lost_by_split_and_link(world: World, call: Callable[..., Result]) -> None:
    shop = world.repo("shop", ORIGIN)
    world.init("shop")
    assert call("fail", "Cart.add", "overflows", cwd=shop).code == 0
    world.init("shop", "--split", "spike")
    assert call("query", "Cart.add", "--exit-code", cwd=shop).code == 3
    assert call("fail", "Cart.add", "spiked", cwd=shop).code == 0
    world.init("shop", "--link", "shop")
    assert "overflows" in call("query", "Cart.add", cwd=shop).out
    assert "spiked" in call("query", "Cart.add", "-p", "spike", cwd=shop).out
    assert len(list((world.home() / "stores").glob("*.db"))) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--link", "nothing"], "project"), (["--split", "shop"], "name"), (["--split", "No Name"], "name"),
        (["--link", "shop", "--split", "x"], "link"), (["--name", "x", "--split", "y"], "split"), (["--link", "shop", "-p", "x"], "link"),
    ],
)  # fmt: skip
def test_a_link_or_split_that_cannot_be_is_refused(
    world: World, call: Callable[..., Result], words: list[str], field: str
) -> None:
    world.repo("shop")
    world.init("shop")
    world.repo("other", text="other")
    before = (world.home() / "registry").read_bytes()
    refused = call("init", "--json", *words, cwd=world.path("other"))
    assert (refused.code, refused.error["field"]) == (2, field)
    assert refused.error["remedy"]
    assert (world.home() / "registry").read_bytes() == before


@pytest.mark.slow
def test_status_says_which_memory_why_and_how_to_change_it(world: World, call: Callable[..., Result]) -> None:
    world.repo("shop", ORIGIN)
    world.init("shop")
    fork = world.repo("fork", "https://github.com/ann/shop")
    world.init("fork")
    said = call("status", cwd=fork).out
    assert "hardwon init --link shop" in said
    assert "hardwon init --split NEW-NAME" in said
    assert "shop (github.com/acme/shop)" in said
    data = call("status", "--json", cwd=fork).data
    assert (data["name"], data["related"], data["origins"]) == ("shop-2", ["shop"], ["github.com/ann/shop"])
    assert data["folders"] == [str(fork / ".git")]
    for where, words in (("again", "clones of github.com/acme/shop"), ("local", f"cloned from {world.path('shop')}")):
        world.clone("shop", where, origin=ORIGIN if where == "again" else "")
        assert words in call("status", cwd=world.path(where)).out
    shutil.copytree(world.repo("lonely", text="lonely"), world.path("copy"))
    world.init("lonely")
    assert "no remote" in call("status", cwd=world.path("copy")).out
    assert "-p lonely" in call("status", "-p", "lonely", cwd=world.path("shop")).out


@pytest.mark.slow
def test_init_says_what_it_did(world: World, call: Callable[..., Result]) -> None:
    for name in ("shop", "again", "spike"):
        world.repo(name, ORIGIN)

    def said(where: str, *words: str) -> str:
        return call("init", "--no-history", *words, cwd=world.path(where)).out.split("\n")[0]

    assert said("shop") == "new memory: shop (github.com/acme/shop)"
    assert said("shop") == "known as shop (github.com/acme/shop)"
    assert said("again").endswith("joined shop (github.com/acme/shop): the remote: clones of github.com/acme/shop belong to it")
    assert "a memory of its own: spike" in said("spike", "--split", "spike")
    assert "now has the memory shop" in said("spike", "--link", "shop")


def test_a_shallow_clone_is_told(world: World, call: Callable[..., Result]) -> None:
    world.repo("shop")
    world.git(".", "clone", "-q", "--depth=1", f"file://{world.path('shop')}", "shallow")
    shallow = world.path("shallow")
    made = call("init", "--no-history", cwd=shallow)
    assert "history before 2023-11-14 is not here: `git fetch --unshallow`, then `hardwon init`" in made.out
    note = next(item for item in call("status", "--json", cwd=shallow).data["findings"] if "shallow" in item["what"])
    assert (note["level"], note["remedy"]) == ("note", "`git fetch --unshallow`, then `hardwon init`")
    world.git("shallow", "fetch", "-q", "--unshallow")
    assert "shallow clone" not in call("status", cwd=shallow).out


def test_gits_own_variables_do_not_mislead(world: World, call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an alias or in a hook of another repository."""
    other = world.repo("other", text="other")
    shop = world.repo("shop")
    copy = Path(shutil.copytree(shop, world.path("copy")))
    for name, value in (("GIT_DIR", ".git"), ("GIT_WORK_TREE", "."), ("GIT_INDEX_FILE", "index"), ("GIT_COMMON_DIR", "x")):
        monkeypatch.setenv(name, str(other / value))
    assert world.init("shop")["name"] == "shop"
    assert world.said("shop") == "shop folder"
    assert world.said("copy") == "shop root commits"
    assert call("init", "--json", cwd=copy).data["name"] == "shop"


def test_inside_a_hook_of_git(world: World) -> None:
    shop = world.repo("shop")
    world.init("shop")
    world.git("shop", "worktree", "add", "-q", str(world.path("tree")))
    hook = shop / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    words = f"HARDWON_HOME='{world.home()}' '{sys.executable}' -m hardwon fail Cart.add \"from $(basename $PWD)\""
    hook.write_text(f"#!/bin/sh\nPYTHONPATH='{os.environ.get('PYTHONPATH', '')}' {words}\n")
    hook.chmod(0o755)
    for where in ("shop", "tree"):
        world.commit(where, "more")
    said = world.call("query", "Cart.add", cwd=shop).out
    assert "from shop" in said
    assert "from tree" in said


def test_a_prefix_is_known_in_a_large_repository(world: World) -> None:
    from hardwon.engine.opening import locate

    world.repo("mono")
    world.path("mono/apps/web").mkdir(parents=True)
    world.init("mono")
    place = locate(str(world.path("mono/apps/web")), str(world.home()))
    assert (place.checkout.root, place.checkout.prefix) == (str(world.path("mono")), "apps/web")


def test_a_name_takes_its_facts_from_its_own_repository(world: World, call: Callable[..., Result]) -> None:
    shop = world.repo("shop", ORIGIN)
    world.init("shop")
    world.repo("other", text="other")
    asked = partial(call, "status", "--json", "-p", "shop", cwd=world.path("other"))
    assert (asked().data["root"], asked().data["why"]) == (str(shop), "name")
    world.move("shop", "clone")
    world.repo("shop", "https://github.com/acme/bakery", "bakery")  # its folder holds another one by now
    assert asked().data["head"] == ""
    call("init", "--no-history", cwd=world.path("clone"))
    assert asked().data["root"] == str(world.path("clone"))


def test_a_store_that_was_deleted_is_made_anew_by_init_alone(world: World, call: Callable[..., Result]) -> None:
    shop = world.repo("shop", ORIGIN)
    made = world.init("shop")
    for path in (world.home() / "stores").iterdir():
        path.unlink()
    asked = call("status", "--json", cwd=shop)
    assert (asked.code, "hardwon init" in asked.error["remedy"]) == (2, True)
    assert not list((world.home() / "stores").glob("*.db"))
    assert world.init("shop")["id"] == made["id"]


def test_a_home_that_cannot_be_written_can_be_read(world: World, call: Callable[..., Result]) -> None:
    shop = world.repo("shop", ORIGIN)
    world.init("shop")
    world.repo("again", ORIGIN)
    before = {path: path.stat().st_mtime_ns for path in world.home().rglob("*")}
    registry = world.home() / "registry"
    world.home().chmod(0o500)
    try:
        assert world.said("shop") == "shop folder"
        assert world.said("again") == "shop origin"
        assert call("recall", "anything", cwd=shop).code == 0
        assert {path: path.stat().st_mtime_ns for path in (registry,)} == {registry: before[registry]}
        if os.geteuid():  # the superuser may write anywhere
            refused = call("init", "--json", cwd=world.path("again"))
            assert (refused.code, refused.error["kind"]) == (1, "read_only")
    finally:
        world.home().chmod(0o700)


@pytest.mark.slow
def test_no_process_is_started_to_know_a_registered_repository(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the remote changed since, was removed, or leads to a folder: hooks ask all the time."""
    from hardwon.engine.opening import locate

    for name in ("plain", "changed", "removed", "local"):
        world.repo(name, f"https://github.com/acme/{name}" if name in ("changed", "removed") else "", name)
        world.init(name)
    world.git("changed", "remote", "set-url", "origin", "https://example.org/elsewhere")
    world.git("removed", "remote", "remove", "origin")
    world.clone("local", "clone")

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a process")

    monkeypatch.setattr(subprocess, "Popen", never)
    for name in ("plain", "changed", "removed", "local", "clone"):
        assert locate(str(world.path(name)), str(world.home())).entry.name == name.replace("clone", "local")


# --- two at once


def _start(where: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "hardwon", "init", "--json", *words]
    return subprocess.Popen(command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.parametrize("places", [("shop", "shop"), ("shop", "tree"), ("tree", "tree2")], ids="-".join)
def test_two_inits_at_once_end_well(world: World, call: Callable[..., Result], places: tuple[str, str]) -> None:
    import json

    world.repo("shop", ORIGIN)
    for number in range(30):
        world.commit("shop", f"number {number}")
    for tree in ("tree", "tree2"):
        world.git("shop", "worktree", "add", "-q", str(world.path(tree)))
    running = [_start(world.path(where)) for where in places]
    said = []
    for process in running:
        out, err = process.communicate(timeout=600)
        assert (process.returncode, err) == (0, b"")
        said.append(json.loads(out))
    assert said[0]["id"] == said[1]["id"]
    assert sorted(item["why"] for item in said) in (["folder", "new"], ["new", "origin"])
    assert [item["history"]["seen"] for item in said] == [32, 32]
    assert sum(item["history"]["added"] for item in said) == 32
    assert len(list((world.home() / "stores").glob("*.db"))) == 1
    assert call("status", "--json", cwd=world.path("shop")).data["memories"]["change"] == 32
    assert call("verify", cwd=world.path("shop")).code == 0


def test_a_link_and_a_split_at_once_are_one_after_the_other(world: World) -> None:
    world.repo("base", text="base")
    world.init("base")
    world.repo("shop", ORIGIN)
    running = [_start(world.path("shop"), "--no-history", *words) for words in (("--link", "base"), ("--split", "own"))]
    for process in running:
        assert process.communicate(timeout=600)[1] == b""
        assert process.returncode == 0
    assert world.said("shop") in ("base folder", "own folder")


# --- completion


@pytest.mark.slow
@pytest.mark.parametrize(("words", "expected"), [("-p s", ["shop", "store"]), ("init --link st", ["store"]), ("recall -p x", [])])
def test_the_shell_completes_names_of_projects(world: World, run: Callable[..., Result], words: str, expected: list[str]) -> None:
    for name in ("shop", "store", "bakery"):
        world.repo(name, text=name)
        world.init(name)
    line = f"hardwon {words}"
    asked = {"_HARDWON_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    assert [text.partition(",")[2] for text in run(env=asked).out.split()] == expected


def test_completion_is_silent_where_the_registry_cannot_be_read(world: World, run: Callable[..., Result]) -> None:
    world.home().mkdir(parents=True)
    (world.home() / "registry").write_text("rubbish")
    asked = {"_HARDWON_COMPLETE": "bash_complete", "COMP_WORDS": "hardwon -p s", "COMP_CWORD": "2"}
    done = run(env=asked)
    assert (done.code, done.out.strip(), done.err) == (0, "", "")
