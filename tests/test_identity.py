"""Which repository a folder belongs to: code/ and store/registry.py, against real git."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import uuid
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hardwon.code.lineage import Lineage
from hardwon.code.objects import has_object
from hardwon.code.paths import relative_file
from hardwon.code.remote import normalise_remote
from hardwon.code.repo import Checkout, locate, root_commits
from hardwon.errors import Busy, Damaged, InvalidInput, ReadOnly, SchemaNewer, StoreError
from hardwon.store import registry as registry_module
from hardwon.store.identity import Entry, Folder
from hardwon.store.registry import Registry

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
ORIGIN = "https://github.com/acme/shop.git"


def git(where: Path, *arguments: str) -> str:
    command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(command, cwd=where, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout.strip()


def make(path: Path, origin: str = "", text: str = "one") -> Path:
    """A repository with one commit; other text makes another root commit."""
    (path / "src").mkdir(parents=True)
    (path / "src" / "a.py").write_text(text)
    git(path, "init", "-q")
    git(path, "add", ".")
    git(path, "commit", "-qm", text)
    if origin:
        git(path, "remote", "add", "origin", origin)
    return path


def enter(home: Registry, path: Path, name: str | None = None) -> Entry:
    checkout = locate(str(path))
    return home.register(checkout, Lineage(checkout), name, id=str(uuid.uuid4()), now=1)


def look(home: Registry, path: Path) -> tuple[str, str]:
    """Name and reason of what is found."""
    checkout = locate(str(path))
    match = home.find(checkout, Lineage(checkout))
    return match.entry.name if match.entry else "", match.why


def join(home: Registry, name: str, path: Path) -> Entry:
    checkout = locate(str(path))
    return home.link(name, checkout, Lineage(checkout))


@pytest.fixture
def tmp(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


@pytest.fixture
def home(tmp: Path) -> Registry:
    return Registry(str(tmp / "home"))


@pytest.fixture
def repo(tmp: Path) -> Path:
    return make(tmp / "shop", ORIGIN)


# --- locate


def test_a_checkout_and_its_subfolder(repo: Path) -> None:
    top = locate(str(repo))
    assert top == Checkout(
        root=str(repo),
        git_dir=str(repo / ".git"),
        common_dir=str(repo / ".git"),
        prefix="",
        origin="github.com/acme/shop",
        branch="main",
        head=git(repo, "rev-parse", "HEAD"),
        shallow=False,
        has_remote=True,
    )
    assert locate(str(repo / "src")) == top.replace(prefix="src")
    assert locate(str(repo / ".git" / "refs")).root == str(repo)


def test_a_symbolic_link_leads_to_the_same_checkout(tmp: Path, repo: Path) -> None:
    (tmp / "link").symlink_to(repo / "src")
    assert locate(str(tmp / "link")) == locate(str(repo / "src"))


def test_a_worktree_shares_the_common_folder(tmp: Path, repo: Path) -> None:
    git(repo, "worktree", "add", "-qb", "topic/x", str(tmp / "wt"))
    git(tmp / "wt", "commit", "-qm", "two", "--allow-empty")
    tree = locate(str(tmp / "wt" / "src"))
    assert (tree.root, tree.common_dir, tree.prefix) == (str(tmp / "wt"), str(repo / ".git"), "src")
    assert tree.git_dir == str(repo / ".git" / "worktrees" / "wt")
    assert (tree.branch, tree.head) == ("topic/x", git(tmp / "wt", "rev-parse", "HEAD"))
    assert tree.head != locate(str(repo)).head
    assert root_commits(tree) == root_commits(locate(str(repo))) == (git(repo, "rev-parse", "HEAD"),)


def test_a_removed_worktree_whose_files_remain_is_still_of_the_repository(tmp: Path, repo: Path, home: Registry) -> None:
    enter(home, repo)
    git(repo, "worktree", "add", "-qb", "x", str(tmp / "wt"))
    shutil.rmtree(repo / ".git" / "worktrees")
    tree = locate(str(tmp / "wt"))
    assert (tree.common_dir, tree.branch, tree.head) == (str(repo / ".git"), "", "")
    assert look(home, tmp / "wt") == ("shop", "folder")
    shutil.rmtree(tmp / "wt")
    with pytest.raises(InvalidInput):
        locate(str(tmp / "wt"))
    assert look(home, repo) == ("shop", "folder")


def test_a_git_file_that_leads_nowhere_is_a_plain_folder(tmp: Path, repo: Path) -> None:
    inner = repo / "inner"
    inner.mkdir()
    for content in ("gitdir: /nowhere/at/all", "gitdir:", "rubbish", "", "gitdir: a\0b"):
        (inner / ".git").write_text(content)
        assert locate(str(inner)) == Checkout(root=str(inner))


def test_bare_and_separate_git_folder(tmp: Path, repo: Path) -> None:
    git(tmp, "clone", "-q", "--bare", str(repo), "b.git")
    bare = locate(str(tmp / "b.git" / "refs"))
    assert (bare.root, bare.common_dir, bare.prefix, bare.branch) == (str(tmp / "b.git"), str(tmp / "b.git"), "refs", "main")
    assert bare.origin == f"file:{repo}"
    git(tmp, "clone", "-q", "--separate-git-dir", str(tmp / "elsewhere"), str(repo), "sep")
    assert locate(str(tmp / "sep")).common_dir == str(tmp / "elsewhere")


def test_a_submodule_is_a_repository_of_its_own(tmp: Path, repo: Path, home: Registry) -> None:
    library = make(tmp / "library", text="library")
    git(repo, "submodule", "add", "-q", str(library), "ext/library")
    module = locate(str(repo / "ext" / "library" / "src"))
    assert (module.root, module.prefix) == (str(repo / "ext" / "library"), "src")
    assert module.common_dir == str(repo / ".git" / "modules" / "ext" / "library")
    assert module.origin == f"file:{library}"
    enter(home, repo)
    assert look(home, repo / "ext" / "library") == ("", "none")


def test_a_shallow_clone(tmp: Path, repo: Path) -> None:
    git(repo, "commit", "-qm", "two", "--allow-empty")
    git(tmp, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    checkout = locate(str(tmp / "shallow"))
    assert checkout.shallow
    assert root_commits(checkout) == ()


def test_head_detached_unborn_packed_and_symbolic(tmp: Path, repo: Path) -> None:
    sha = git(repo, "rev-parse", "HEAD")
    git(repo, "pack-refs", "--all")
    assert not (repo / ".git" / "refs" / "heads" / "main").exists()
    assert locate(str(repo)).head == sha
    git(repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(repo, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert locate(str(repo)).head == sha
    git(repo, "checkout", "-q", "--detach")
    assert (locate(str(repo)).branch, locate(str(repo)).head) == ("", sha)
    git(tmp, "init", "-q", "unborn")
    unborn = locate(str(tmp / "unborn"))
    assert (unborn.branch, unborn.head, root_commits(unborn)) == ("main", "", ())


@pytest.mark.parametrize(
    "content",
    ["", "\0" * 41, "rubbish", "ref: ", "ref: ../../outside", "ref: refs/heads/.invalid", "ref: refs/heads/\udcff", "ab" * 19],
)
def test_a_garbled_head_gives_empty_facts(repo: Path, content: str) -> None:
    (repo / ".git" / "HEAD").write_bytes(os.fsencode(content))
    checkout = locate(str(repo))
    assert checkout.head == ""
    assert checkout.common_dir == str(repo / ".git")
    checkout.branch.encode()


def test_a_loop_of_symbolic_references_ends(repo: Path) -> None:
    (repo / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/main\n")
    assert locate(str(repo)).head == ""


def test_unreadable_files_give_empty_facts(repo: Path) -> None:
    for name in ("config", "packed-refs", "shallow", "commondir"):
        (repo / ".git" / name).unlink(missing_ok=True)
        (repo / ".git" / name).mkdir()
    (repo / ".git" / "commondir").rmdir()
    checkout = locate(str(repo))
    assert (checkout.origin, checkout.has_remote, checkout.shallow) == ("", False, False)


def test_a_named_pipe_in_the_place_of_a_file_does_not_block(repo: Path) -> None:
    for name in ("HEAD", "config", "packed-refs", "shallow", "objects/info/alternates"):
        (repo / ".git" / name).unlink(missing_ok=True)
        os.mkfifo(repo / ".git" / name)
    checkout = locate(str(repo))
    assert (checkout.origin, checkout.head, checkout.shallow) == ("", "", False)
    assert has_object(str(repo / ".git" / "objects"), "0" * 40) is False


def test_folders_that_borrow_from_one_another_end(tmp: Path, repo: Path) -> None:
    objects = repo / ".git" / "objects"
    (objects / "info" / "alternates").write_text("../objects\n.\n" + "".join(f"../../{at}\n" for at in range(5000)))
    assert has_object(str(objects), git(repo, "rev-parse", "HEAD")) is True


def test_a_plain_folder_and_what_is_none(tmp: Path) -> None:
    (tmp / "plain" / ".git").mkdir(parents=True)  # empty: git does not take it for a repository either
    assert locate(str(tmp / "plain")) == Checkout(root=str(tmp / "plain"))
    (tmp / "file").write_text("")
    for bad in (str(tmp / "missing"), str(tmp / "file"), "a\0b", "\ud800"):
        with pytest.raises(InvalidInput) as caught:
            locate(bad)
        assert caught.value.field == "path"


CONFIGURATIONS = {
    "plain": '[remote "origin"]\n\turl = URL\n',
    "case of section and key": '[ReMoTe "origin"]\nuRl=URL',
    "quoted": '[remote "origin"] url = "URL" ; why',
    "partly quoted": '[remote "origin"]\n url = https://"github.com"/acme/shop # "quoted" \\\n fetch = x',
    "comments": '# [remote "origin"]\n; url = a\n[remote "origin"]\n# url = b\nurl = URL # c',
    "continued": '[remote "origin"]\nurl = https://github.com/\\\nacme/shop\n',
    "continued elsewhere": '[alias]\nx = "!echo \\\n[remote \\"origin\\"]\\\nurl = bad"\n[remote "origin"]\nurl = URL',
    "crlf and bom": '\ufeff[core]\r\n\tbare = false\r\n[remote "origin"]\r\n\turl = URL\r\n',
    "the first of two": '[remote "origin"]\nurl = URL\nurl = https://github.com/other/one',
    "in two sections": '[remote "origin"]\nfetch = x\n[core]\na = b\n[remote "origin"]\nurl = URL',
    "old form": "[remote.origin]\nurl = URL",
    "not the others": '[remote "Origin"]\nurl = a\n[remote "origin2"]\nurl = b\n[url "origin"]\nurl = c\n[remote "origin"]\nurl = URL',
    "bracket in name": '[remote "a]b"]\nurl = x\n[remote "origin"]\nurl = URL',
    "damaged lines": '[remote "or\n[remote\nurl\n=\n[remote "origin"]\nurl = URL',
}


@pytest.mark.parametrize("case", CONFIGURATIONS)
def test_the_configuration_as_git_reads_it(repo: Path, case: str) -> None:
    (repo / ".git" / "config").write_bytes(CONFIGURATIONS[case].replace("URL", ORIGIN).encode())
    checkout = locate(str(repo))
    assert (checkout.origin, checkout.has_remote) == ("github.com/acme/shop", True)
    if case != "damaged lines":  # which git refuses
        assert normalise_remote(git(repo, "remote", "get-url", "origin")) == "github.com/acme/shop"


@pytest.mark.parametrize(
    "content", ["", "[core]\nbare=false", '[remote ""]x', '[branch "origin"]\nurl = a', "[remote\n\\", '"\\']
)
def test_no_origin(repo: Path, content: str) -> None:
    (repo / ".git" / "config").write_text(content)
    assert locate(str(repo)).origin == ""


@given(st.binary(max_size=200))
@settings(max_examples=150, deadline=None)
def test_no_file_content_raises(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    top = tmp_path_factory.getbasetemp() / "garbled"
    for folder in ("objects", "refs/heads"):
        (top / ".git" / folder).mkdir(parents=True, exist_ok=True)
    for name in ("HEAD", "packed-refs", "refs/heads/x"):
        (top / ".git" / name).write_bytes(content)
    (top / ".git" / "config").write_bytes(b'[remote "origin"]\nurl = ' + content)
    checkout = locate(str(top))
    assert not checkout.head or len(checkout.head) in (40, 64)
    (checkout.origin + checkout.branch).encode()


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; sys.path.insert(0, 'src'); import hardwon.code.repo; "
        "print({'re','subprocess','json','typing','pathlib','dataclasses','enum'} & set(sys.modules)); "
        "import hardwon.store.registry; print({'subprocess','typing','pathlib','dataclasses'} & set(sys.modules))"
    )
    top = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=top, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["set()", "set()"]


# --- remotes


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/Acme/Shop.git", "github.com/acme/shop"),
        ("git@github.com:Acme/Shop.git", "github.com/acme/shop"),
        ("ssh://git@GitHub.com:22/acme/shop.git/", "github.com/acme/shop"),
        ("git://github.com/acme/shop", "github.com/acme/shop"),
        ("git+ssh://git@github.com/acme/shop", "github.com/acme/shop"),
        ("ssh://git@ssh.github.com:443/acme/shop.git", "github.com/acme/shop"),
        ("github.com:acme/shop.git", "github.com/acme/shop"),
        ("https://user:pa@ss@github.com/acme/shop", "github.com/acme/shop"),
        ("https://x-access-token:s3cr3t@github.com:443//acme//shop.git//", "github.com/acme/shop"),
        ("https://github.com/acme/shop?token=s3cr3t#s3cr3t", "github.com/acme/shop"),
        ("https://user:s3/cr3t@github.com/acme/shop", "github.com/acme/shop"),
        ("https://user:12/s3cr3t@github.com/acme/shop", "github.com/acme/shop"),
        ("https://user:s3?cr#3t@github.com/acme/shop", "github.com/acme/shop"),
        ("https://s3/cr3t@github.com/acme/shop", "github.com/acme/shop"),
        ("user:s3cr3t@github.com:acme/shop", "github.com/acme/shop"),
        ("u@corp:s3cr3t@github.com:acme/shop", "github.com/acme/shop"),
        ("user:s3cr3t@github.com/acme/shop", ""),
        ("https://git.example.org:80/a@b/c", ""),
        ("https://git.example.org/Acme/Shop.git", "git.example.org/Acme/Shop"),
        ("https://gitlab.example.org/Acme/Shop.git", "gitlab.example.org/acme/shop"),
        ("git@git.example.org:/srv/Shop.git", "git.example.org/srv/Shop"),
        ("https://git.example.org/@scope/shop", "git.example.org/@scope/shop"),
        ("git@[::1]:shop.git", "[::1]/shop"),
        ("git@[host:2222]:shop", "host/shop"),
        ("ssh://git@[::1]:22/shop", "[::1]/shop"),
        ("codecommit::eu-west-1://profile@shop", "shop"),
        ("ext::ssh -i s3cr3t %S shop", ""),
        ("/srv/none/shop/", "file:/srv/none/shop"),
        ("/srv/none/../shop/.git", "file:/srv/shop"),
        ("file:///srv/none/my%20shop", "file:/srv/none/my shop"),
        ("file://localhost/srv/none", "file:/srv/none"),
        ("file://u:s3cr3t@server/share", "file:/server/share"),
        ("https://acme@dev.azure.com/acme/My%20Shop/_git/Web", "dev.azure.com/acme/my shop/web"),
        ("git@ssh.dev.azure.com:v3/acme/My%20Shop/web", "dev.azure.com/acme/my shop/web"),
        ("https://acme.visualstudio.com/DefaultCollection/My%20Shop/_git/web", "dev.azure.com/acme/my shop/web"),
        ("acme@vs-ssh.visualstudio.com:v3/acme/My%20Shop/web", "dev.azure.com/acme/my shop/web"),
        ("https://dev.azure.com/acme/_git/web", "dev.azure.com/acme/web/web"),
        ("https://acme.visualstudio.com/_git/web", "dev.azure.com/acme/web/web"),
        ("https://dev.azure.com/acme/_git", "dev.azure.com/acme/_git"),
        ("https://bitbucket.example.org/scm/CORE/kit.git", "bitbucket.example.org/core/kit"),
        ("ssh://git@bitbucket.example.org:7999/core/kit.git", "bitbucket.example.org/core/kit"),
        ("https://git.example.org/scm/kit.git", "git.example.org/scm/kit"),
        ("file:///C:/repo/", "file:C:/repo"),
        ("C:\\repo\\shop", "file:C:/repo/shop"),
        ("../none", "file:/base/none"),
        ("./a:b", "file:/base/here/a:b"),
        ("", ""),
        ("  ", ""),
        ("a\nb", ""),
        ("https://" + "a" * 5000, ""),
        ("https://", ""),
    ],
)
def test_remotes(url: str, expected: str) -> None:
    assert normalise_remote(url, "/base/here") == expected


WORD = st.text("abcXYZ019-_~%.+!$&*()", min_size=1, max_size=12)


@given(user=WORD, secret=st.text("abc019:@/?#%.", max_size=8), scheme=st.sampled_from(["https", "ssh", "git", "HTTP"]))
def test_credentials_never_survive(user: str, secret: str, scheme: str) -> None:
    for port in ("", ":8443"):
        url = f"{scheme}://{user}:Q{secret}Q@git.example.org{port}/acme/shop.git"
        assert normalise_remote(url) in ("git.example.org/acme/shop", "")


@given(st.text(max_size=60))
@example("https://[")
@example("[:]:")
@example("file://%")
@example("file://%00\ud800%zz")
def test_no_url_raises(url: str) -> None:
    normalise_remote(url).encode()


def test_a_local_remote_is_named_as_git_finds_it(tmp: Path, repo: Path) -> None:
    git(tmp, "clone", "-q", "--bare", str(repo), "b.git")
    (tmp / "link").symlink_to(repo)
    names = {
        normalise_remote(url) for url in (str(repo), f"{repo}/.git", f"file://{repo}", str(tmp / "link"), f"{tmp}/x/../shop/")
    }
    assert names == {f"file:{repo}"}
    assert normalise_remote(str(tmp / "b")) == normalise_remote(str(tmp / "b.git")) == f"file:{tmp}/b.git"


# --- files


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``repo`` with src/a.py, src/b.py, b.py and docs/; ``link`` -> repo, ``repo/out`` -> outside, ``alias.py`` -> repo/b.py."""
    top = Path(os.path.realpath(tmp_path_factory.mktemp("tree")))
    for folder in ("repo/src", "repo/docs", "outside"):
        (top / folder).mkdir(parents=True)
    for file in ("repo/src/a.py", "repo/src/b.py", "repo/b.py", "outside/o.py"):
        (top / file).write_text("")
    (top / "link").symlink_to(top / "repo")
    (top / "alias.py").symlink_to(top / "repo" / "b.py")
    (top / "repo" / "inner.py").symlink_to(top / "repo" / "b.py")
    (top / "repo" / "out").symlink_to(top / "outside")
    return top


@pytest.mark.parametrize(
    ("value", "cwd", "expected"),
    [
        ("src/a.py", "repo", "src/a.py"),
        ("./src//a.py", "repo", "src/a.py"),
        ("src\\a.py", "repo", "src/a.py"),
        (".\\src\\x\\..\\a.py", "repo", "src/a.py"),
        ("src/../src/./a.py", "repo", "src/a.py"),
        ("a.py", "repo/src", "src/a.py"),
        ("b.py", "repo/src", "src/b.py"),
        ("../b.py", "repo/src", "b.py"),
        ("src/a.py", "repo/src", "src/a.py"),  # only the root has it
        ("src/gone.py", "repo/src", "src/gone.py"),  # only the root has its folder
        ("docs/new.md", "repo/src", "docs/new.md"),
        ("gone.py", "repo/src", "src/gone.py"),
        ("new/gone.py", "repo/src", "src/new/gone.py"),
        ("a.py", "link/src", "src/a.py"),
        ("src/a.py", "outside", "src/a.py"),
        ("../repo/src/a.py", "outside", "src/a.py"),
        ("TOP/repo/src/a.py", "outside", "src/a.py"),
        ("TOP/repo/./src/x/../gone.py", "outside", "src/gone.py"),
        ("TOP/link/src/a.py", "repo", "src/a.py"),
        ("TOP/link/inner.py", "repo", "inner.py"),
        ("TOP/alias.py", "repo", "b.py"),
        ("TOP/repo/out/o.py", "repo", "out/o.py"),
        ("//TOP/repo/b.py", "repo", "b.py"),
        ("src/", "repo", "src"),
        ("..foo/a", "repo", "..foo/a"),
        ("naïve file.py", "repo", "naïve file.py"),
        ("a" * 4096, "repo", "a" * 4096),
    ],
)
def test_files(tree: Path, value: str, cwd: str, expected: str) -> None:
    checkout = locate(str(tree / "repo")).replace(root=str(tree / "repo"))
    assert relative_file(value.replace("TOP", str(tree)), checkout, str(tree / cwd)) == expected


@pytest.mark.parametrize(
    "value",
    ["", " ", ".", "./", "src/..", "..", "../x", "a/../../x", "/etc/passwd", "\\etc", "TOP/repo", "TOP/repository/x", "TOP/outside/o.py",
     "a\0b", "a\nb", "a\x7f", "a\x9b", "a\u2028b", "a\udcff", "\ud800", "a" * 4097, "C:\\x\\a.py", "C:"],
)  # fmt: skip
def test_files_that_are_refused(tree: Path, value: str) -> None:
    checkout = Checkout(root=str(tree / "repo"))
    with pytest.raises(InvalidInput) as caught:
        relative_file(value.replace("TOP", str(tree)), checkout, str(tree / "repo"))
    assert caught.value.field == "file"
    assert caught.value.remedy
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    ("value", "cwd", "expected"),
    [
        ("C:\\repo\\src\\a.py", "C:\\", "src/a.py"),
        ("c:/Repo/src/A.py", "/anywhere", "src/A.py"),
        ("\\\\?\\C:\\repo\\a.py", "C:/repo", "a.py"),
        ("a.py", "C:\\repo\\src", "src/a.py"),
        ("..\\a.py", "C:\\repo\\src", "a.py"),
        ("D:\\repo\\a.py", "C:/repo", None),
        ("..\\a.py", "C:\\repo", None),
    ],
)
def test_windows_files(value: str, cwd: str, expected: str | None) -> None:
    ask = partial(relative_file, value, Checkout(root="C:/repo"), cwd)
    if expected is None:
        with pytest.raises(InvalidInput):
            ask()
    else:
        assert ask() == expected


PATHS = st.one_of(
    st.text(max_size=40),
    st.text(st.characters(exclude_categories=()), max_size=20),
    st.lists(st.sampled_from(["..", ".", "", "src", "a.py", "out", "C:", "repo", "\0", "..."]), max_size=9).map("/".join),
    st.lists(st.sampled_from(["..", ".", "", "src", "\\\\", "C:", "/"]), max_size=9).map("\\".join),
)


@given(PATHS, st.sampled_from(["repo", "repo/src", "link", "outside", "missing"]))
@settings(max_examples=400, deadline=None)
def test_a_file_is_inside_or_refused(tree: Path, value: str, cwd: str) -> None:
    try:
        found = relative_file(value, Checkout(root=str(tree / "repo")), str(tree / cwd))
    except InvalidInput:
        return
    parts = found.split("/")
    assert found.encode()
    assert not {"", ".", ".."} & set(parts)
    assert "\\" not in found
    assert relative_file(found, Checkout(root=str(tree / "repo")), str(tree / "repo")) == found


# --- the registry


def test_reading_makes_nothing(tmp: Path, repo: Path, home: Registry) -> None:
    assert home.entries() == ()
    assert look(home, repo) == ("", "none")
    with pytest.raises(InvalidInput) as caught:
        home.named("x")
    assert "init" in caught.value.remedy
    assert not (tmp / "home").exists()


def test_registered_found_and_private(tmp: Path, repo: Path, home: Registry) -> None:
    entry = enter(home, repo)
    assert entry == home.named("shop") == Registry(home.home).entries()[0]
    roots = root_commits(locate(str(repo)))
    assert entry.folders == (Folder(str(repo / ".git"), "github.com/acme/shop", roots),)
    assert (entry.origin, entry.roots) == ("github.com/acme/shop", roots)
    assert look(home, repo / "src") == ("shop", "folder")
    assert stat.S_IMODE((tmp / "home").stat().st_mode) == 0o700
    assert {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp / "home").iterdir()} == {
        "registry": 0o600,
        "registry.lock": 0o600,
    }
    assert home.store_path(entry) == str(tmp / "home" / "stores" / f"{entry.id}.db")
    with pytest.raises(InvalidInput) as caught:
        home.named("nothing")
    assert "shop" in caught.value.remedy


def test_worktree_clone_and_link_are_the_same(tmp: Path, repo: Path, home: Registry) -> None:
    enter(home, repo)
    git(repo, "worktree", "add", "-q", str(tmp / "wt"))
    git(tmp, "clone", "-q", str(repo), "again")
    git(tmp / "again", "remote", "set-url", "origin", "git@github.com:acme/shop")
    (tmp / "link").symlink_to(repo)
    assert look(home, tmp / "wt" / "src") == ("shop", "folder")
    assert look(home, tmp / "again") == ("shop", "origin")
    assert look(home, tmp / "link" / "src") == ("shop", "folder")
    entry = join(home, "shop", tmp / "again")
    assert entry.paths == (str(repo / ".git"), str(tmp / "again" / ".git"))
    assert look(home, tmp / "again") == ("shop", "folder")


def test_forks_and_namesakes_stay_apart(tmp: Path, repo: Path, home: Registry) -> None:
    enter(home, repo)
    git(tmp, "clone", "-q", str(repo), "fork")
    git(tmp / "fork", "remote", "set-url", "origin", "https://github.com/someone/shop")
    namesake = make(tmp / "other" / "shop", text="another")
    assert look(home, tmp / "fork") == ("", "none")
    assert look(home, namesake) == ("", "none")
    assert [enter(home, tmp / "fork").name, enter(home, namesake).name] == ["shop-2", "shop-3"]
    assert look(home, tmp / "fork") == ("shop-2", "folder")
    assert look(home, repo) == ("shop", "folder")


def test_without_a_remote_the_root_commits_decide(tmp: Path, home: Registry) -> None:
    first = make(tmp / "first")
    enter(home, first)
    shutil.copytree(first, tmp / "copy")
    assert look(home, tmp / "copy") == ("first", "root commits")
    assert home.find(locate(str(tmp / "copy"))).why == "none"  # nobody looked
    git(tmp / "copy", "remote", "add", "backup", "https://backup.example.org/x")
    assert look(home, tmp / "copy") == ("", "none")  # any remote will do
    git(tmp / "copy", "remote", "remove", "backup")
    shutil.copytree(first, tmp / "third")
    enter(home, tmp / "copy", "second")
    assert look(home, tmp / "third") == ("", "ambiguous")
    with pytest.raises(InvalidInput) as caught:
        enter(home, tmp / "third")
    assert "first" in caught.value.message
    assert "second" in caught.value.message
    assert enter(home, tmp / "third", "second").name == "second"
    assert look(home, tmp / "third") == ("second", "folder")


def test_some_roots_in_common_are_a_question(tmp: Path, home: Registry) -> None:
    first = make(tmp / "first")
    enter(home, first)
    shutil.copytree(first, tmp / "merged")
    other = make(tmp / "other", text="other")
    git(tmp / "merged", "pull", "-q", "--no-rebase", "--allow-unrelated-histories", "-Xours", "--no-edit", str(other), "main")
    assert len(root_commits(locate(str(tmp / "merged")))) == 2
    assert look(home, tmp / "merged") == ("", "ambiguous")


def test_a_clone_that_is_registered_apart_leaves_the_remote_to_the_first(tmp: Path, repo: Path, home: Registry) -> None:
    enter(home, repo)
    for name in ("second", "third"):
        git(tmp, "clone", "-q", str(repo), name)
        git(tmp / name, "remote", "set-url", "origin", ORIGIN)
    enter(home, tmp / "second", "apart")
    assert look(home, tmp / "second") == ("apart", "folder")
    assert look(home, tmp / "third") == ("shop", "origin")


def test_several_with_one_origin_are_a_question(tmp: Path, repo: Path, home: Registry) -> None:
    """No command of ours leaves a remote to two; a registry that was mended by hand may."""
    entries = tuple(
        Entry(str(uuid.UUID(int=at)), name, (), ("github.com/acme/shop",)) for at, name in enumerate(("shop", "apart"), 1)
    )
    (tmp / "home").mkdir()
    (tmp / "home" / "registry").write_bytes(registry_module._written(entries))
    assert look(home, repo) == ("", "ambiguous")
    assert {entry.name for entry in home.find(locate(str(repo))).candidates} == {"shop", "apart"}


def test_a_changed_remote_is_the_same_repository(repo: Path, home: Registry) -> None:
    enter(home, repo)
    git(repo, "remote", "set-url", "origin", "https://github.com/renamed/shop")
    assert look(home, repo) == ("shop", "folder")
    checkout = locate(str(repo))
    assert home.find(checkout).why == "changed"  # history not asked: not certain
    join(home, "shop", repo)
    assert home.named("shop").origins == ("github.com/acme/shop", "github.com/renamed/shop")  # clones of either are known
    assert home.find(checkout).why == "folder"
    git(repo, "remote", "remove", "origin")
    assert look(home, repo) == ("shop", "folder")


class NeverStarted(Lineage):
    def roots(self) -> tuple[str, ...]:
        raise AssertionError("git is not needed")


def test_root_commits_are_looked_for_only_where_they_decide(tmp: Path, repo: Path, home: Registry) -> None:
    def found(path: Path) -> str:
        checkout = locate(str(path))
        return home.find(checkout, NeverStarted(checkout)).why

    bare = make(tmp / "lonely", text="lonely")
    assert found(bare) == "none"
    enter(home, repo)
    enter(home, make(tmp / "other", text="other"))
    assert (found(repo), found(bare), found(tmp / "other")) == ("folder", "none", "folder")
    git(repo, "remote", "set-url", "origin", "https://example.org/moved")
    assert found(repo) == "folder"
    shutil.copytree(tmp / "other", tmp / "copy")
    with pytest.raises(AssertionError):
        found(tmp / "copy")


def test_another_repository_at_a_registered_path(tmp: Path, repo: Path, home: Registry) -> None:
    old = enter(home, repo)
    shutil.rmtree(repo)
    make(repo, "https://github.com/acme/bakery", text="bakery")
    checkout = locate(str(repo))
    match = home.find(checkout, Lineage(checkout))
    assert (match.entry, match.why) == (None, "changed")
    assert [entry.name for entry in match.candidates] == ["shop"]
    for name in ("shop", None):
        with pytest.raises(InvalidInput) as caught:
            enter(home, repo, name)
        assert caught.value.remedy
    enter(home, repo, "bakery")
    assert look(home, repo) == ("bakery", "folder")
    assert home.named("shop") == old.replace(folders=())


def test_a_known_repository_at_anothers_path_is_known_there_too(tmp: Path, repo: Path, home: Registry) -> None:
    old = enter(home, repo)
    enter(home, make(tmp / "bakery", "https://github.com/acme/bakery", text="bakery"))
    shutil.rmtree(repo)
    shutil.copytree(tmp / "bakery", repo)
    assert look(home, repo) == ("bakery", "origin")
    checkout = locate(str(repo))
    assert home.find(checkout).why == "changed"  # history not asked: not certain
    enter(home, repo)
    assert look(home, repo) == ("bakery", "folder")
    assert home.named("shop") == old.replace(folders=())


def test_a_new_remote_that_another_entry_has_does_not_move_a_folder(tmp: Path, repo: Path, home: Registry) -> None:
    lonely = make(tmp / "lonely", text="lonely")
    enter(home, lonely)
    enter(home, repo)
    git(lonely, "remote", "add", "origin", ORIGIN)
    assert look(home, lonely) == ("lonely", "folder")  # its commits are those that were registered
    enter(home, lonely)
    assert home.named("lonely").origins == ()
    git(lonely, "remote", "set-url", "origin", "https://github.com/acme/lonely")
    enter(home, lonely)
    assert home.named("lonely").origins == ("github.com/acme/lonely",)


def test_the_same_folder_spelled_in_another_case_where_the_system_does_not_tell_them_apart(tmp: Path, home: Registry) -> None:
    repo = make(tmp / "Shop")
    enter(home, repo)
    (tmp / "SHOP").symlink_to(repo)
    asked = locate(str(repo)).replace(root=str(tmp / "SHOP"), common_dir=str(tmp / "SHOP" / ".git"))
    match = home.find(asked, Lineage(asked))
    assert (match.entry and match.entry.name, match.why) == ("Shop".lower(), "folder")


def test_a_registry_of_the_first_version_is_read_and_kept(tmp: Path, repo: Path, home: Registry) -> None:
    checkout = locate(str(repo))
    roots = root_commits(checkout)
    lines = ["hardwon registry 1", f"id {uuid.UUID(int=1)}", "name shop", f"origin {checkout.origin}", "created_at 5"]
    lines += [
        f"root {roots[0]}",
        f"folder {checkout.common_dir}",
        f"id {uuid.UUID(int=2)}",
        "name notes",
        "origin ",
        "created_at 6",
    ]
    (tmp / "home").mkdir()
    (tmp / "home" / "registry").write_text("\n".join([*lines, f"folder {tmp}/notes", "end", ""]))
    shop = Entry(str(uuid.UUID(int=1)), "shop", (Folder(checkout.common_dir, checkout.origin),), (checkout.origin,), roots, 5)
    assert home.entries() == (shop, Entry(str(uuid.UUID(int=2)), "notes", (Folder(f"{tmp}/notes"),), (), (), 6))
    git(repo, "remote", "remove", "origin")
    assert look(home, repo) == ("shop", "folder")
    assert enter(home, repo).folders == (Folder(checkout.common_dir, "", roots),)
    assert (tmp / "home" / "registry").read_text().startswith("hardwon registry 2\n")


# --- objects


@pytest.mark.slow
@pytest.mark.parametrize("state", ["loose", "packed", "borrowed", "borrowed twice", "several packs", "sha256"])
def test_an_object_is_found_wherever_git_keeps_it(tmp: Path, state: str) -> None:
    repo = tmp / "shop"
    if state == "sha256":
        git(tmp, "init", "-q", "--object-format=sha256", "shop")
        git(repo, "commit", "-qm", "one", "--allow-empty")
    else:
        make(repo)
    commits = [git(repo, "rev-parse", "HEAD")]
    for number in range(3):
        git(repo, "commit", "-qm", str(number), "--allow-empty")
        commits.append(git(repo, "rev-parse", "HEAD"))
        if state in ("several packs", "sha256"):
            git(repo, "repack", "-q", "-d")
    if state not in ("loose", "several packs", "sha256"):
        git(repo, "gc", "-q")
    for _ in range(state.count("borrowed") + state.count("twice")):
        git(tmp, "clone", "-q", "--shared", str(repo), str(repo) + "x")
        repo = Path(str(repo) + "x")
    objects = str(repo / ".git" / "objects")
    assert all(has_object(objects, sha) for sha in commits)
    for other in ("0" * len(commits[0]), "f" * len(commits[0]), commits[0][:-1] + ("0" if commits[0][-1] != "0" else "1")):
        assert has_object(objects, other) is False


@pytest.mark.parametrize("damage", ["cut", "empty", "old", "no folder", "no lender"])
def test_what_cannot_be_read_is_not_said_to_be_absent(tmp: Path, repo: Path, damage: str) -> None:
    sha, objects = git(repo, "rev-parse", "HEAD"), repo / ".git" / "objects"
    git(repo, "gc", "-q")
    index = next((objects / "pack").glob("*.idx"))
    index.chmod(0o600)
    if damage == "no folder":
        shutil.rmtree(objects)
    elif damage == "no lender":
        (objects / "info" / "alternates").write_text("/nowhere/at/all\n# a remark\n\n")
        sha = "0" * 40
    else:
        index.write_bytes({"cut": index.read_bytes()[:600], "empty": b"", "old": b"\0" * 3000}[damage])
    assert has_object(str(objects), sha) is None


def test_plain_folders(tmp: Path, home: Registry) -> None:
    notes = tmp / "notes"
    (notes / "deep" / "er").mkdir(parents=True)
    (tmp / "notes2").mkdir()
    entry = enter(home, notes)
    assert (entry.name, entry.folders, entry.roots) == ("notes", (Folder(str(notes)),), ())
    assert look(home, notes / "deep" / "er") == ("notes", "folder")
    assert look(home, tmp / "notes2") == ("", "none")
    assert enter(home, notes / "deep") == entry  # covered already
    enter(home, notes / "deep", "deep")
    assert look(home, notes / "deep" / "er") == ("deep", "folder")
    inside = make(notes / "code")
    assert look(home, inside) == ("", "none")


def test_git_init_in_a_registered_plain_folder(tmp: Path, home: Registry) -> None:
    notes = tmp / "notes"
    notes.mkdir()
    enter(home, notes)
    git(notes, "init", "-q")
    assert look(home, notes) == ("notes", "folder")
    assert enter(home, notes).paths == (str(notes), str(notes / ".git"))
    shutil.rmtree(notes)
    (tmp / "home" / "registry").unlink()
    notes.mkdir()
    enter(home, notes)
    git(notes, "init", "-q")
    git(notes, "remote", "add", "origin", ORIGIN)
    assert look(home, notes) == ("", "changed")  # perhaps a clone in its place


def test_bare_repository_and_no_commits(tmp: Path, repo: Path, home: Registry) -> None:
    git(tmp, "clone", "-q", "--bare", str(repo), "b.git")
    git(tmp / "b.git", "remote", "remove", "origin")
    assert enter(home, tmp / "b.git").name == "b"
    git(tmp, "init", "-q", "unborn")
    assert look(home, tmp / "unborn") == ("", "none")
    assert enter(home, tmp / "unborn").roots == ()
    assert look(home, tmp / "unborn") == ("unborn", "folder")


@pytest.mark.parametrize(
    ("origin", "folder", "name"),
    [
        ("github.com/acme/shop", "/x/y/.git", "shop"),
        ("", "/x/My Project!/.git", "my-project"),
        ("", "/x/_b.git", "b"),
        ("", "/x/東京", "project"),
        ("", "/", "project"),
        ("", "/x/" + "n" * 80, "n" * 64),
        ("file:/srv/Tool.git", "/x/y/.git", "tool"),
        ("github.com", "/x/y/.git", "github.com"),
    ],
)
def test_names(home: Registry, origin: str, folder: str, name: str) -> None:
    ask = partial(home.register, now=1)
    made = ask(Checkout(root=folder, common_dir=folder, origin=origin), id=str(uuid.uuid4()))
    assert made.name == name
    second = ask(Checkout(root="/elsewhere", common_dir="/elsewhere"), name="x", id=str(uuid.uuid4()))
    with pytest.raises(InvalidInput):  # another repository's
        ask(Checkout(root="/third", common_dir="/third"), name=name, id=str(uuid.uuid4()))
    with pytest.raises(InvalidInput):  # another name for the same folder
        ask(Checkout(root="/elsewhere", common_dir="/elsewhere"), name="y", id=str(uuid.uuid4()))
    assert len(home.entries()) == 2
    other = ask(Checkout(root="/o", common_dir="/o" + folder, origin=origin and "h/" + origin), id=str(uuid.uuid4()))
    assert other.name == name[:62] + "-2"
    with pytest.raises(InvalidInput):
        ask(Checkout(root="/p", common_dir="/p"), id=second.id)


@pytest.mark.parametrize("name", ["", "A", ".x", "-x", "a b", "a/b", "ä", "n" * 65])
def test_wrong_names(repo: Path, home: Registry, name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        enter(home, repo, name)
    assert caught.value.field == "name"


@pytest.mark.parametrize("bad", ["", "../../etc/passwd", "x" * 36, "0" * 36, str(uuid.UUID(int=0)).replace("-", "/")])
def test_ids_are_checked_before_they_become_a_path(home: Registry, bad: str) -> None:
    with pytest.raises(InvalidInput):
        home.store_path(Entry(bad, "x"))
    with pytest.raises(InvalidInput):
        home.register(Checkout(root="/x"), id=bad, now=1)


GOOD = f"id {uuid.UUID(int=1)}\nname a\norigin \ncreated_at 1\nfolder /a\n"
END = "end\n"
HEADER = "hardwon registry 1\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"", b"\0" * 100, b"{", b"\xff", b"hardwon registry 1", b"hardwon registry x\n", b"hardwon registry 0\n", b" " * 100_000,
        HEADER.encode(), (HEADER + GOOD).encode(), (HEADER + GOOD + END[:-1]).encode(), (HEADER + END + GOOD).encode(),
        *((HEADER + GOOD.replace(old, new) + END).encode() for old, new in (
            (f"id {uuid.UUID(int=1)}", "id ../x"), ("name a", "name A"), ("name a", "name"), ("created_at 1", "created_at one"),
            ("origin ", "colour "), ("folder /a\n", "folder /a"), ("folder /a", "folder"), ("folder /a", "remote /a"), ("name a\n", ""),
        )),
        (HEADER + GOOD + GOOD + END).encode(),
        (HEADER + GOOD.partition("\n")[2] + END).encode(),
    ],
)  # fmt: skip
def test_a_garbled_registry_is_never_overwritten(tmp: Path, repo: Path, home: Registry, content: bytes) -> None:
    (tmp / "home").mkdir()
    path = tmp / "home" / "registry"
    path.write_bytes(content)
    attempts = (home.entries, partial(home.named, "a"), partial(look, home, repo), partial(enter, home, repo))
    writing = (partial(home.link, "a", Checkout(root="/a")), home.refresh)
    for attempt in (*attempts, *writing, partial(home.split, "b", Checkout(root="/a"), id=str(uuid.uuid4()), now=1)):
        with pytest.raises(Damaged) as caught:
            attempt()
        assert caught.value.remedy
    assert path.read_bytes() == content


# What a file system can name: bytes without NUL, which Python decodes with stray bytes as surrogates.
NAMES = st.binary(max_size=40).map(lambda raw: os.fsdecode(raw.replace(b"\0", b"")))


@given(folder=NAMES, origin=NAMES)
@example(folder="/a\\nb\nc d", origin="x\\\\n")
def test_any_folder_and_origin_come_back_as_they_were(folder: str, origin: str) -> None:
    known = (Folder(folder, origin, ("abc", "def")), Folder("/b"))
    remotes = tuple(dict.fromkeys(filter(None, (origin, "x"))))  # none is kept as no line
    entries = (Entry(str(uuid.UUID(int=1)), "a", known, remotes, ("abc",), 5), Entry(str(uuid.UUID(int=2)), "b"))
    assert registry_module._parsed(registry_module._written(entries), "registry") == entries


def test_a_later_registry_is_left_alone(tmp: Path, repo: Path, home: Registry) -> None:
    (tmp / "home").mkdir()
    (tmp / "home" / "registry").write_text("hardwon registry 4\n")
    with pytest.raises(SchemaNewer):
        enter(home, repo)


def test_failures_of_the_disk(tmp: Path, repo: Path, home: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = enter(home, repo)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space"):
            enter(home, make(tmp / "second", text="second"))
    assert home.entries() == (entry,)
    assert not (tmp / "home" / "registry.part").exists()
    (tmp / "home" / "registry").unlink()
    (tmp / "home" / "registry").mkdir()
    with pytest.raises(StoreError):
        home.entries()
    (tmp / "file").write_text("")
    with pytest.raises(StoreError):
        enter(Registry(str(tmp / "file")), repo)
    assert Registry(str(tmp / "file")).entries() == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_may_not_be_written(tmp: Path, repo: Path) -> None:
    (tmp / "closed").mkdir(mode=0o500)
    with pytest.raises(ReadOnly):
        enter(Registry(str(tmp / "closed" / "home")), repo)


def test_a_held_lock_ends_in_busy(repo: Path, home: Registry) -> None:
    enter(home, repo)
    with registry_module._Lock(home.home, wait=1), pytest.raises(Busy):
        Registry(home.home, wait=0.05).link("shop", Checkout(root="/x"))
    home.link("shop", Checkout(root="/x"))


def test_a_name_that_nobody_has_cannot_be_linked(repo: Path, home: Registry) -> None:
    enter(home, repo)
    with pytest.raises(InvalidInput) as caught:
        join(home, "nothing", repo)
    assert "shop" in caught.value.remedy


FOLDERS = st.sampled_from(["/a", "/b", "/c", "/d"])
REMOTES = st.sampled_from(["", "h/x", "h/y"])


@given(
    st.lists(st.tuples(st.sampled_from(["link", "split", "register"]), FOLDERS, REMOTES, st.sampled_from("klmn")), max_size=12)
)
@settings(max_examples=60, deadline=None)
def test_whatever_is_linked_and_split_a_folder_and_a_remote_have_one_memory(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str, str]]
) -> None:
    home = Registry(str(tmp_path_factory.mktemp("many")))
    made: set[str] = set()
    for action, folder, remote, name in steps:
        checkout = Checkout(root=folder, git_dir=folder, common_dir=folder, origin=remote, has_remote=bool(remote))
        fresh = {"id": str(uuid.uuid4()), "now": 1}
        try:
            if action == "link":
                entry = home.link(name, checkout)
            elif action == "split":
                entry = home.split(name, checkout, **fresh)  # type: ignore[arg-type]
            else:
                entry = home.register(checkout, None, name, **fresh)  # type: ignore[arg-type]
        except InvalidInput:
            continue
        made.add(entry.id)
        assert folder in entry.paths
        assert home.find(checkout).entry == entry
    entries = home.entries()
    assert {entry.id for entry in entries} == made  # none is ever lost
    folders = [path for entry in entries for path in entry.paths]
    remotes = [origin for entry in entries for origin in entry.origins]
    assert len(set(folders)) == len(folders)
    assert len(set(remotes)) == len(remotes)


def _register_twenty(home: str, start: int) -> None:
    for number in range(start, start + 20):
        Registry(home).register(Checkout(root=f"/p/{number}/same"), id=str(uuid.uuid4()), now=number)
        Registry(home).register(Checkout(root="/p/shared"), id=str(uuid.uuid4()), now=number)


def test_two_processes_lose_nothing(home: Registry) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_register_twenty, args=(home.home, start)) for start in (0, 20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
        assert worker.exitcode == 0
    entries = home.entries()
    assert {entry.paths[0] for entry in entries} == {f"/p/{number}/same" for number in range(40)} | {"/p/shared"}
    assert len(entries) == len({entry.name for entry in entries}) == 41
