"""Facts of a checkout: which repository a folder belongs to, and where in its history it stands.

Files are read, git is not started: this is on the quick path of every hook. The exceptions are ``root_commits``, which the
registry asks for only when nothing else decides, and ``shallow_since``, which people are told. What cannot be read or understood becomes an
empty fact, never an error: a damaged ``HEAD`` must not silence the memory of a repository.
"""

from __future__ import annotations

import os

from hardwon.code.paths import as_text, shown
from hardwon.code.remote import normalise_remote, read_remotes
from hardwon.errors import InvalidInput
from hardwon.types import Value

_SMALL = 65_536  # bytes; HEAD, a loose reference, a .git file
_LARGE = 67_108_864  # bytes; config and packed-refs
_SYMBOLIC = 5  # symbolic references that are followed, as git does
_PATIENCE = 60  # seconds for git to find the root commits
_HEX = frozenset("0123456789abcdef")
# References that each worktree has for itself; all others lie in the common folder.
_OWN_REFS = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")


class Checkout(Value):
    """A working tree, a bare repository or a plain folder. All paths are real paths.

    ``root`` is the top of the working tree, the bare repository itself, or the plain folder; ``git_dir`` and ``common_dir`` are
    empty outside git; ``prefix`` is the folder asked for, relative to ``root``, with slashes; ``origin`` is the normalised URL of
    the remote of that name, or of the only one; ``others`` are those of several remotes of which none is called so;
    ``has_remote`` tells whether there is any; ``branch`` is empty when detached; ``head`` is a full hash.
    """

    root: str
    git_dir: str = ""
    common_dir: str = ""
    prefix: str = ""
    origin: str = ""
    branch: str = ""
    head: str = ""
    shallow: bool = False
    has_remote: bool = False
    others: tuple[str, ...] = ()


def locate(path: str) -> Checkout:
    """The checkout that the folder ``path`` lies in; a plain folder is its own root. InvalidInput where there is no such folder."""
    start = _real_folder(path)
    here, above = start, ""
    while here != above:
        found = _git_at(here)
        if found:
            return _facts(start, *found)
        here, above = os.path.dirname(here), here
    return Checkout(root=start)


def at(folder: str) -> Checkout | None:
    """The repository that has its top or git's own data in ``folder``, else the plain folder; None where there is no folder."""
    try:
        start = _real_folder(folder)
    except InvalidInput:
        return None
    found = _git_at(start)
    return _facts(start, *found) if found else Checkout(root=start)


def same_folder(first: str, second: str) -> bool:
    """Whether two paths are one folder: equal, or equal but for case where the file system does not tell the cases apart."""
    if first == second:
        return True
    try:
        return first.lower() == second.lower() and os.path.samefile(first, second)
    except (OSError, ValueError):
        return False


def addresses(checkout: Checkout) -> tuple[str, ...]:
    """What a clone on this machine has as its remote when it was made from here: normalised, as ``origin`` is."""
    main = os.path.dirname(checkout.common_dir) if os.path.basename(checkout.common_dir) == ".git" else checkout.common_dir
    return tuple({as_text(f"file:{path.replace(os.sep, '/')}") for path in (main, checkout.root) if path})


def _real_folder(path: str) -> str:
    try:
        real = os.path.realpath(path)
        if os.path.isdir(real):
            return real
    except (OSError, ValueError):  # the working directory is gone; NUL or text that no path can hold
        pass
    raise InvalidInput(f"{shown(path)} is not a folder", field="path", remedy="Name a folder that exists.")


def _facts(start: str, root: str, git_dir: str, common_dir: str) -> Checkout:
    if not common_dir:
        return Checkout(root=root, prefix=_prefix(start, root))
    branch, head = _head(git_dir, common_dir)
    remotes = read_remotes(_read(os.path.join(common_dir, "config"), _LARGE))
    # A relative URL is resolved from the main working tree, so that all worktrees agree.
    base = os.path.dirname(common_dir) if os.path.basename(common_dir) == ".git" else common_dir
    origin, others = _origin(remotes, base)
    return Checkout(
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        prefix=_prefix(start, root),
        origin=origin,
        branch=branch,
        head=head,
        shallow=bool(_read(os.path.join(common_dir, "shallow"), 1)),
        has_remote=bool(remotes),
        others=others,
    )


def _origin(remotes: dict[str, str], base: str) -> tuple[str, tuple[str, ...]]:
    """The remote that names the repository: ``origin``, or as in git the only one. Of several others none does; all are told."""
    if "origin" in remotes:
        return normalise_remote(remotes["origin"], base), ()
    urls = tuple(filter(None, (normalise_remote(url, base) for url in remotes.values())))
    return (urls[0] if urls else "", ()) if len(remotes) == 1 else ("", urls)


def _prefix(start: str, root: str) -> str:
    inner = os.path.relpath(start, root)
    return "" if inner == os.curdir else as_text(inner if os.sep == "/" else inner.replace(os.sep, "/"))


# --- finding the repository


def _git_at(folder: str) -> tuple[str, str, str] | None:
    """Root, git folder and common folder where ``folder`` is the top of a checkout or a bare repository, else None."""
    dot = os.path.join(folder, ".git")
    if os.path.isfile(dot):
        # A .git file that leads nowhere still ends the search, as in git: the folder is not part of what lies above it.
        git_dir = _linked(folder, dot)
        return folder, git_dir, _common_dir(git_dir) if git_dir else ""
    if _is_git_dir(dot):
        real = os.path.realpath(dot)
        return folder, real, _common_dir(real)
    if _is_git_dir(folder):
        root = os.path.dirname(folder) if os.path.basename(folder) == ".git" else folder
        return root, folder, _common_dir(folder)
    return None


def _is_git_dir(path: str) -> bool:
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    common = _common_dir(path)
    return os.path.isdir(os.path.join(common, "objects")) and os.path.isdir(os.path.join(common, "refs"))


def _linked(folder: str, dot: str) -> str:
    """The git folder that a ``.git`` file names, or, where a worktree's own was pruned, its repository's; "" for neither."""
    content = _read(dot, _SMALL)
    if not content.startswith("gitdir:"):
        return ""
    git_dir = _resolved(folder, content[7:].strip())
    if _is_git_dir(git_dir):
        return git_dir
    parent = os.path.dirname(git_dir)
    common = os.path.dirname(parent)
    pruned = os.path.basename(parent) == "worktrees" and not os.path.lexists(git_dir) and _is_git_dir(common)
    return git_dir if pruned else ""


def _common_dir(git_dir: str) -> str:
    pointer = _read(os.path.join(git_dir, "commondir"), _SMALL).strip()
    if pointer:
        return _resolved(git_dir, pointer)
    parent = os.path.dirname(git_dir)
    if os.path.basename(parent) == "worktrees" and not os.path.lexists(git_dir):
        return os.path.dirname(parent)
    return git_dir


def _resolved(folder: str, path: str) -> str:
    try:
        return os.path.realpath(os.path.join(folder, path))
    except (OSError, ValueError):
        return os.path.join(folder, ".git", "nowhere")


def _read(path: str, limit: int) -> str:
    """The file as text, at most ``limit`` bytes; "" where it cannot be read."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return os.fsdecode(file.read(limit))
    except (OSError, ValueError):
        return ""


def _without_waiting(path: str, flags: int) -> int:
    # A named pipe in the place of a file of git must not hold up a hook.
    return os.open(path, flags | os.O_NONBLOCK)


# --- HEAD and references


def _head(git_dir: str, common_dir: str) -> tuple[str, str]:
    """Branch and full hash of HEAD."""
    name, branch = "HEAD", ""
    for _ in range(_SYMBOLIC):
        content = _reference(name, git_dir, common_dir)
        if not content.startswith("ref:"):
            return branch, content if is_hash(content) else ""
        target = content[4:].strip()
        if not _is_reference(target):
            break
        if name == "HEAD" and target.startswith("refs/heads/"):
            branch = as_text(target[11:])
        name = target
    return branch, ""


def _reference(name: str, git_dir: str, common_dir: str) -> str:
    home = git_dir if name == "HEAD" or name.startswith(_OWN_REFS) else common_dir
    return _read(os.path.join(home, name), _SMALL).strip() or _packed(name, common_dir)


def standing(checkout: Checkout) -> tuple[str, str]:
    """Branch and full hash of HEAD as they are now: whoever lives long has a checkout of before."""
    return _head(checkout.git_dir, checkout.common_dir) if checkout.git_dir else ("", "")


def reference(checkout: Checkout, name: str) -> str:
    """What a reference (``refs/…``) holds now: a hash, or ``ref: `` and another one's name; "" where there is none."""
    return _reference(name, checkout.git_dir, checkout.common_dir) if _is_reference(name) else ""


def _packed(name: str, common_dir: str) -> str:
    # Found by searching, not by splitting: the file has tens of thousands of lines in an old repository.
    content = "\n" + _read(os.path.join(common_dir, "packed-refs"), _LARGE) + "\n"
    end = content.find(f" {name}\n")
    return content[content.rfind("\n", 0, end) + 1 : end] if end > 0 else ""


def _is_reference(name: str) -> bool:
    # ".invalid" is what a reftable repository writes into HEAD for readers that know only files.
    parts = name.split("/")
    return parts[0] == "refs" and len(parts) > 1 and not any(p == "" or p.startswith(".") for p in parts) and "\0" not in name


def is_hash(text: str) -> bool:
    """Whether a text is the full hash of an object."""
    return len(text) in (40, 64) and _HEX.issuperset(text)


# --- git itself, off the quick path


def root_commits(checkout: Checkout) -> tuple[str, ...]:
    """The commits without parents that HEAD goes back to, sorted; () for a shallow clone, no commits, no git, or after a minute."""
    if checkout.shallow or not checkout.git_dir:
        return ()
    return tuple(sorted(filter(is_hash, _git(checkout, "rev-list", "--max-parents=0", checkout.head or "HEAD", "--"))))


def shallow_since(checkout: Checkout) -> int | None:
    """When the oldest commit was made at which a shallow clone was cut off (seconds since 1970); None where git cannot tell."""
    if not checkout.shallow:
        return None
    cuts = [sha for sha in _read(os.path.join(checkout.common_dir, "shallow"), _SMALL).split() if is_hash(sha)]
    times = [int(word) for word in _git(checkout, "log", "--no-walk", "--ignore-missing", "--format=%ct", *cuts, "--")]
    return min(times, default=None)


def _git(checkout: Checkout, *words: str) -> list[str]:
    """The words that git prints; [] where it cannot be started, refuses, or takes longer than a minute."""
    import subprocess

    from hardwon.code.git_settings import command, environment

    # Git's folder is named: where git has to look for it, it refuses one that belongs to somebody else.
    asked = command(checkout.root, [f"--git-dir={checkout.git_dir}", *words])
    try:
        done = subprocess.run(
            asked, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.decode("ascii", "replace").split() if done.returncode == 0 else []
