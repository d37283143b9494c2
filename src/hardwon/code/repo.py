"""Facts of a checkout: which repository a folder belongs to, and where in its history it stands.

Files are read, git is not started: this is on the quick path of every hook. The one exception is
``root_commits``, which the registry asks for only when nothing else decides. What cannot be read or understood becomes an
empty fact, never an error: a damaged ``HEAD`` must not silence the memory of a repository.
"""

from __future__ import annotations

import os

from hardwon.errors import InvalidInput
from hardwon.types import Value

_LONGEST = 4096  # characters of a path or URL
_SMALL = 65_536  # bytes; HEAD, a loose reference, a .git file
_LARGE = 67_108_864  # bytes; config and packed-refs
_SYMBOLIC = 5  # symbolic references that are followed, as git does
_PATIENCE = 60  # seconds for git to find the root commits
_HEX = frozenset("0123456789abcdef")
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}
# References that each worktree has for itself; all others lie in the common folder.
_OWN_REFS = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
_FORGES = frozenset(("github", "gitlab", "bitbucket"))
# Hosts that the forges offer beside their own, for networks that let only some ports through.
_ALIASES = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}


class Checkout(Value):
    """A working tree, a bare repository or a plain folder. All paths are real paths.

    ``root`` is the top of the working tree, the bare repository itself, or the plain folder; ``git_dir`` and ``common_dir`` are
    empty outside git; ``prefix`` is the folder asked for, relative to ``root``, with slashes; ``origin`` is the normalised URL of
    the remote of that name, ``has_remote`` tells whether there is any; ``branch`` is empty when detached; ``head`` is a full hash.
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


def _real_folder(path: str) -> str:
    try:
        real = os.path.realpath(path)
        if os.path.isdir(real):
            return real
    except (OSError, ValueError):  # the working directory is gone; NUL or text that no path can hold
        pass
    raise InvalidInput(f"{_shown(path)} is not a folder", field="path", remedy="Name a folder that exists.")


def _facts(start: str, root: str, git_dir: str, common_dir: str) -> Checkout:
    if not common_dir:
        return Checkout(root=root, prefix=_prefix(start, root))
    branch, head = _head(git_dir, common_dir)
    remotes = _remotes(_read(os.path.join(common_dir, "config"), _LARGE))
    # A relative URL is resolved from the main working tree, so that all worktrees agree.
    base = os.path.dirname(common_dir) if os.path.basename(common_dir) == ".git" else common_dir
    return Checkout(
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        prefix=_prefix(start, root),
        origin=normalise_remote(remotes.get("origin", ""), base),
        branch=branch,
        head=head,
        shallow=bool(_read(os.path.join(common_dir, "shallow"), 1)),
        has_remote=bool(remotes),
    )


def _prefix(start: str, root: str) -> str:
    inner = os.path.relpath(start, root)
    return "" if inner == os.curdir else _text(inner if os.sep == "/" else inner.replace(os.sep, "/"))


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
        with open(path, "rb") as file:
            return os.fsdecode(file.read(limit))
    except (OSError, ValueError):
        return ""


# --- HEAD and references


def _head(git_dir: str, common_dir: str) -> tuple[str, str]:
    """Branch and full hash of HEAD."""
    name, branch = "HEAD", ""
    for _ in range(_SYMBOLIC):
        content = _reference(name, git_dir, common_dir)
        if not content.startswith("ref:"):
            return branch, content if _is_hash(content) else ""
        target = content[4:].strip()
        if not _is_reference(target):
            break
        if name == "HEAD" and target.startswith("refs/heads/"):
            branch = _text(target[11:])
        name = target
    return branch, ""


def _reference(name: str, git_dir: str, common_dir: str) -> str:
    home = git_dir if name == "HEAD" or name.startswith(_OWN_REFS) else common_dir
    return _read(os.path.join(home, name), _SMALL).strip() or _packed(name, common_dir)


def _packed(name: str, common_dir: str) -> str:
    # Found by searching, not by splitting: the file has tens of thousands of lines in an old repository.
    content = "\n" + _read(os.path.join(common_dir, "packed-refs"), _LARGE) + "\n"
    end = content.find(f" {name}\n")
    return content[content.rfind("\n", 0, end) + 1 : end] if end > 0 else ""


def _is_reference(name: str) -> bool:
    # ".invalid" is what a reftable repository writes into HEAD for readers that know only files.
    parts = name.split("/")
    return parts[0] == "refs" and len(parts) > 1 and not any(p == "" or p.startswith(".") for p in parts) and "\0" not in name


def _is_hash(text: str) -> bool:
    return len(text) in (40, 64) and _HEX.issuperset(text)


# --- the configuration file


def _remotes(text: str) -> dict[str, str]:
    """The first URL of each remote that a git configuration names ("" for a remote without)."""
    found: dict[str, str] = {}
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    section, at = ("", ""), 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].strip()
        if line.startswith("["):
            section, at = _header(text, text.index("[", at), end)
        elif "=" not in line or line[0] in "#;":
            at = end + 1
        else:
            value, at = _setting(text, text.index("=", at) + 1)
            if section[0] == "remote":
                found.setdefault(section[1], "")
                if line.partition("=")[0].strip().lower() == "url":
                    found[section[1]] = found[section[1]] or value
    return found


def _header(text: str, at: int, end: int) -> tuple[tuple[str, str], int]:
    """Section and subsection of the header at ``text[at]``, and where what follows it begins."""
    quote, close = text.find('"', at, end), text.find("]", at, end)
    if close >= 0 and not 0 <= quote < close:
        name, _, inner = text[at + 1 : close].partition(".")  # the old form folds the subsection's case
        return (name.strip().lower(), inner.lower()), close + 1
    inner, place = "", quote + 1
    while 0 < place < end and text[place] != '"':
        place += text[place] == "\\"
        inner += text[place]
        place += 1
    close = text.find("]", place, end)
    if place <= quote or close < 0:
        return ("", ""), end + 1
    return (text[at + 1 : quote].strip().lower(), inner), close + 1


def _setting(text: str, at: int) -> tuple[str, int]:
    """The value that begins at ``text[at]``, unquoted and without its comment, and where the next line begins."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    raw = text[at:end]
    if not any(mark in raw for mark in '"\\#;'):
        return raw.strip(), end + 1
    out, kept, quoted = "", 0, False  # kept: how much of out a trailing blank may not shorten
    while at < len(text) and (char := text[at]) != "\n":
        at += 1
        if char == '"':
            quoted, kept = not quoted, len(out)
        elif char == "\\":
            escaped = text[at : at + 1]
            at += 1
            if escaped != "\n":
                out += _ESCAPES.get(escaped, escaped)
                kept = len(out)
        elif char in "#;" and not quoted:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif quoted or out or not char.isspace():
            out += char
            kept = len(out) if quoted or not char.isspace() else kept
    return out[:kept], at + 1


# --- remotes


def normalise_remote(url: str, base: str = "") -> str:
    """One name for all the ways to write a remote: ``host/path``, or ``file:`` and a real path for a local one.

    User, password, port, query and a final ``.git`` go; the host's case is folded, on GitHub, GitLab and Bitbucket the path's too.
    A relative local path is taken from ``base``. "" for what cannot be understood, or cannot be told apart from a credential.
    """
    url = url.strip()
    if not url or len(url) > _LONGEST or _has_control(url) or not _is_path(url):
        return ""
    helper, mark, address = url.partition("::")
    if mark and _SCHEME.issuperset(helper):  # a remote helper, such as codecommit::eu-west-1://name
        scheme, mark, rest = address.partition("://")
        return _text(_from_url(rest)) if mark and _SCHEME.issuperset(scheme) else ""
    scheme, mark, rest = url.partition("://")
    if mark and scheme and _SCHEME.issuperset(scheme):
        return _text(_from_file_url(rest, base) if scheme.lower() == "file" else _from_url(rest))
    if ":" in url.partition("/")[0] and not _has_drive(url):
        return _text(_from_scp(url))
    return _text(_from_path(url, base))


def _from_url(rest: str) -> str:
    """``host/path`` of what follows ``scheme://``."""
    authority, path = _split(rest)
    user, _, server = authority.rpartition("@")
    host, port = _host_and_port(server)
    if "@" in path:
        after = path.rpartition("@")[2]
        if _is_credential(host, port, after):
            authority, path = _split(after)
            host, port = _host_and_port(authority)
        elif port or ":" in user:
            return ""  # either may be the first half of a password, with the host still to come
    return _named(host, path.partition("?")[0].partition("#")[0])


def _is_credential(host: str, port: str, after: str) -> bool:
    """Whether what stands in a host's place begins a password with a raw slash or question mark: ``user:pa/ss@host/path``."""
    if port and not port.isdecimal():
        return True
    return "." not in host and host != "localhost" and "." in _split(after)[0] and "/" in after


def _split(rest: str) -> tuple[str, str]:
    """Authority and path; a query or fragment stays with the path."""
    cut = min((place for mark in "/?#\\" if (place := rest.find(mark)) >= 0), default=len(rest))
    return rest[:cut], rest[cut:]


def _host_and_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):  # IPv6
        host, _, port = authority.partition("]")
        return host + "]", port.removeprefix(":")
    host, _, port = authority.partition(":")
    return host, port


def _from_scp(url: str) -> str:
    """``host/path`` of ``user@host:path``."""
    head = url.partition("/")[0]
    if "[" in head and "]:" in head:  # user@[host:port]:path, [user@host:port]:path, [::1]:path
        inner, _, path = url[url.index("[") + 1 :].partition("]:")
        host = inner.rpartition("@")[2]
        return _named(f"[{host}]" if host.count(":") > 1 else host.partition(":")[0], path)
    if ":" in head.rpartition("@")[2]:  # a password may stand before the last @
        host, _, path = url[head.rfind("@") + 1 :].partition(":")
        return _named(host, path)
    return ""  # user:password@host/path cannot be told from host:a@b/path


def _named(host: str, path: str) -> str:
    host = host.lower().rstrip(".")
    host = _ALIASES.get(host, host)
    if not _FORGES.isdisjoint(host.split(".")):
        path = path.lower()
    path = "/".join(part for part in path.split("/") if part)
    path = path.removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if host and path else host


def _from_file_url(rest: str, base: str) -> str:
    host, slash, path = _decoded(rest).partition("/")
    if _has_drive(path):
        return _from_path(path, base)
    host = host.rpartition("@")[2]
    return _from_path(slash + path if host in ("", "localhost") else f"//{host}/{path}", base)


def _decoded(text: str) -> str:
    """Percent escapes undone, as git does for file URLs; wrong ones stay."""
    first, *rest = text.split("%")
    out = os.fsencode(first)
    for part in rest:
        code = part[:2].lower()
        known = len(code) == 2 and _HEX.issuperset(code) and code != "00"
        out += bytes.fromhex(code) + os.fsencode(part[2:]) if known else b"%" + os.fsencode(part)
    return os.fsdecode(out)


def _from_path(path: str, base: str) -> str:
    if _has_drive(path) and os.sep == "/":
        real = path.replace("\\", "/").rstrip("/")
    else:
        try:
            real = os.path.realpath(os.path.join(base, path))
        except (OSError, ValueError):
            return ""
        # In git's order: a working tree, the folder itself, the folder with .git behind its name.
        if not os.path.lexists(real) and os.path.lexists(real + ".git"):
            real = os.path.realpath(real + ".git")
    return "file:" + real.replace(os.sep, "/").removesuffix("/.git")


# --- files named by people and agents


def relative_file(value: str, checkout: Checkout, cwd: str) -> str:
    """``value`` as a path relative to the repository's root, with slashes.

    A relative value is read from ``cwd`` first and from the root second: the first of the two that exists, else the first whose
    folder exists, else the first. InvalidInput (field ``file``) for what leaves the repository or cannot name a file.
    """
    path = _checked(value).replace("\\", "/")
    path = path.removeprefix("//?/")
    root = checkout.root.replace("\\", "/")
    absolute = path.startswith("/") or _has_drive(path)
    places = [path] if absolute else [f"{_real(cwd)}/{path}", f"{root}/{path}"]
    found = [inner for place in places if (inner := _inside(place, root)) is not None and not _has_drive(inner)]
    if not found:
        raise _refused(value, "lies outside the repository", f"Name a file below {checkout.root}.")
    chosen = found[0] if len(found) == 1 else _likelier(found, checkout.root)
    if not chosen:
        raise _refused(value, "names the repository itself, not a file", "Name a file in it, such as src/a.py.")
    if not _is_text(chosen):
        raise _refused(value, "is not valid UTF-8", "Rename the file or folder.")
    return chosen


def _checked(value: str) -> str:
    if len(value) > _LONGEST:
        raise _refused(value, f"is longer than {_LONGEST:,} characters", "Give the path alone.")
    if not value.strip():
        raise _refused(value, "is empty", "Name a file, such as src/a.py.")
    if _has_control(value):
        raise _refused(value, "contains control characters", "Give the path as one plain line.")
    if not _is_text(value):
        raise _refused(value, "is not valid UTF-8", "Rename the file or folder.")
    return value


def _refused(value: str, why: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"file {_shown(value)} {why}", field="file", remedy=remedy)


def _likelier(found: list[str], root: str) -> str:
    for inner in found:
        if os.path.exists(os.path.join(root, inner)):
            return inner
    for inner in found:
        if os.path.exists(os.path.join(root, os.path.dirname(inner))):
            return inner
    return found[0]


def _inside(place: str, root: str) -> str | None:
    """``place`` relative to ``root``, as it is written or, where that lies outside, as its symbolic links lead; None outside."""
    inner = _below(place, root)
    if inner is None and _is_native(place):
        # The folder's links first: a link that is itself a file of the repository keeps its name.
        folder, _, name = place.rpartition("/")
        inner = _below(f"{_real(folder or '/')}/{name}", root)
        if inner is None:
            inner = _below(_real(place), root)
    return inner


def _below(place: str, root: str) -> str | None:
    parts, top = _folded(place), _folded(root)
    head = parts[: len(top)]
    if top and _has_drive(top[0]):  # Windows folds case
        head, top = [part.lower() for part in head], [part.lower() for part in top]
    return "/".join(parts[len(top) :]) if head == top else None


def _folded(path: str) -> list[str]:
    out: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del out[-1:]
        elif part not in ("", "."):
            out.append(part)
    return out


def _real(path: str) -> str:
    """The real path with slashes; ``path`` itself where this system cannot tell (a Windows path elsewhere)."""
    if not _is_native(path):
        return path.replace("\\", "/")
    try:
        return os.path.realpath(path).replace("\\", "/")
    except (OSError, ValueError):
        return path.replace("\\", "/")


def _is_native(path: str) -> bool:
    return os.sep != "/" or not _has_drive(path)


def _has_drive(path: str) -> bool:
    return path[1:2] == ":" and path[:1].isalpha() and path[:1].isascii() and path[2:3] in ("", "/", "\\")


# --- git itself, off the quick path


def root_commits(checkout: Checkout) -> tuple[str, ...]:
    """The commits without parents that HEAD goes back to, sorted; () for a shallow clone, no commits, no git, or after a minute."""
    if checkout.shallow or not checkout.git_dir:
        return ()
    import subprocess

    # GIT_DIR and its kin are set in git's own hooks and would name another repository; grafts and replacements are local.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"LC_ALL": "C", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull, "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", f"--git-dir={checkout.git_dir}", "rev-list", "--max-parents=0", checkout.head or "HEAD", "--"]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    hashes = done.stdout.decode("ascii", "replace").split() if done.returncode == 0 else []
    return tuple(sorted(sha for sha in hashes if _is_hash(sha)))


# --- text


def _has_control(text: str) -> bool:
    return any(char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" for char in text)


def _is_text(text: str) -> bool:
    """Whether the text can be kept: bytes that are no UTF-8 come as surrogates, which neither SQLite nor JSON takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_path(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _text(text: str) -> str:
    return text if _is_text(text) else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _shown(value: str) -> str:
    return ascii(value if len(value) <= 80 else value[:79] + "…")
