"""Remotes: what git's configuration says of them, and one name for all the ways to write one."""

from __future__ import annotations

import os

from hardwon.code.paths import LONGEST, as_text, has_control, has_drive

_HEX = frozenset("0123456789abcdef")
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}
_FORGES = frozenset(("github", "gitlab", "bitbucket"))
# Hosts that the forges offer beside their own, for networks that let only some ports through.
_ALIASES = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}


def normalise_remote(url: str, base: str = "") -> str:
    """One name for all the ways to write a remote: ``host/path``, or ``file:`` and a real path for a local one.

    User, password, port, query and a final ``.git`` go; the host's case is folded, on GitHub, GitLab and Bitbucket the path's too.
    A relative local path is taken from ``base``. "" for what cannot be understood, or cannot be told apart from a credential.
    """
    url = url.strip()
    if not url or len(url) > LONGEST or has_control(url) or not _is_path(url):
        return ""
    helper, mark, address = url.partition("::")
    if mark and _SCHEME.issuperset(helper):  # a remote helper, such as codecommit::eu-west-1://name
        scheme, mark, rest = address.partition("://")
        return as_text(_from_url(rest)) if mark and _SCHEME.issuperset(scheme) else ""
    scheme, mark, rest = url.partition("://")
    if mark and scheme and _SCHEME.issuperset(scheme):
        return as_text(_from_file_url(rest, base) if scheme.lower() == "file" else _from_url(rest))
    if ":" in url.partition("/")[0] and not has_drive(url):
        return as_text(_from_scp(url))
    return as_text(_from_path(url, base))


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
    return _one_forge(host, path) if host and path else host


def _one_forge(host: str, path: str) -> str:
    """``host/path`` for the forges whose paths differ between https and ssh.

    Azure DevOps: ``dev.azure.com/org/project/_git/name``, ``org.visualstudio.com/[DefaultCollection/]project/_git/name`` and
    ``ssh.dev.azure.com:v3/org/project/name`` (before that, ``vs-ssh.visualstudio.com``); where the project is called like the
    repository, https may leave it out. Bitbucket's own servers put ``scm/`` before the path of https.
    """
    parts = path.split("/")
    if host in ("ssh.dev.azure.com", "vs-ssh.visualstudio.com") and parts[0].lower() == "v3":
        return "dev.azure.com/" + _decoded("/".join(parts[1:])).lower()
    organisation = host.removesuffix(".visualstudio.com")
    if "_git" in parts[:-1] and (host == "dev.azure.com" or organisation != host):
        at = parts.index("_git")
        before = [part for part in parts[:at] if part.lower() != "defaultcollection"]
        before = before if organisation == host else [organisation, *before]
        named = before if len(before) > 1 else [*before, parts[at + 1]]
        return "dev.azure.com/" + _decoded("/".join([*named, *parts[at + 1 :]])).lower()
    if parts[0] == "scm" and len(parts) > 2:
        path = "/".join(parts[1:])
    return f"{host}/{path}"


def _from_file_url(rest: str, base: str) -> str:
    host, slash, path = _decoded(rest).partition("/")
    if has_drive(path):
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
    if has_drive(path) and os.sep == "/":
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


def _is_path(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


# --- the configuration file


def read_remotes(text: str) -> dict[str, str]:
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
