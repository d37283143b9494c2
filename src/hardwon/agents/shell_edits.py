"""Which files a shell command changes: redirections, ``sed -i``, ``perl -pi``, ``tee``, ``mv``, ``cp``, ``rm``, git's own, patches.

A file that only an expansion names (``$FILE``, ``*.py``) is left out: what it means is not known before the command runs.
"""

from __future__ import annotations

from hardwon.agents.edits import PATCH, is_patch
from hardwon.capture.event import Edit
from hardwon.capture.programs import names_file, program, unwrapped
from hardwon.capture.shell import flat, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.capture.shell import SimpleCommand

_MOST = 100
_SIGNS = (">", "sed", "perl", "tee", "mv", "cp", "rm", "git", PATCH, "unlink")
_OF_WINDOWS = ("-content", "-item", "out-file", "tee-object", "powershell", "pwsh", "@'", '@"')  # lowered
_APPENDS = (">>", "&>>")
_WRITES = (">", ">|", "&>", *_APPENDS)
_ADDRESS = "0123456789,$"


def changed(command: str, folder: str = "") -> tuple[Edit, ...]:
    """The edits of a command; paths relative to where it starts, behind ``folder`` if one is given. ``cd`` is followed."""
    of_windows = any(sign in command.lower() for sign in _OF_WINDOWS)
    if not of_windows and not any(sign in command for sign in _SIGNS):
        return ()
    if of_windows:  # seldom: other commands do not pay for its module
        from hardwon.agents import shell_edits_windows as windows
    found: list[Edit] = []
    before = None
    for one in flat(spoken(command), here=True):
        words = unwrapped(one.words)
        name = program(words[0]) if words else ""
        piped, before = before if one.joined == "|" else None, one
        if name in ("cd", "pushd"):
            folder = _joined(folder, words[1]) if len(words) > 1 and names_file(words[1]) else folder
            continue
        edits = [*_HANDLERS[name](words, one)] if name in _HANDLERS else []
        if of_windows and name in windows.NAMES:
            edits += windows.changed((name, *words[1:]), piped)
        elif of_windows and name in ("apply_patch", "applypatch") and not edits:
            edits += _patch((name, windows.printed(piped)), one)
        edits += _redirected(words, one)
        found += [_placed(edit, folder) for edit in edits]
        if len(found) >= _MOST:
            break
    return tuple(dict.fromkeys(found[:_MOST]))


def _placed(edit: Edit, folder: str) -> Edit:
    if not folder:
        return edit
    placed: Edit = edit.replace(path=_joined(folder, edit.path), target=edit.target and _joined(folder, edit.target))
    return placed


def _joined(folder: str, path: str) -> str:
    """``path`` seen from ``folder``; absolute ones, with a drive or from the home folder, stay."""
    if not folder or path.startswith(("/", "~", "\\")) or path[1:2] == ":":
        return path
    return f"{folder.rstrip('/')}/{path}"


def _redirected(words: tuple[str, ...], one: SimpleCommand) -> list[Edit]:
    edits = []
    text = _printed(words, one) if one.redirects else ""
    whole = "change" if text is None else "whole"  # a whole one without its text would say that nothing is left
    for redirect in one.redirects:
        if redirect.operator in _WRITES and names_file(redirect.target) and not redirect.target.startswith("&"):
            kind = "change" if redirect.operator in _APPENDS else whole
            edits.append(Edit(redirect.target, new=text or "", kind=kind))  # type: ignore[arg-type]  # one of two words
    return edits


def _printed(words: tuple[str, ...], one: SimpleCommand) -> str | None:
    """What a command prints, where it is written in it; "" for a program of which that is not known, None for a text of which a part is
    computed."""
    heredoc = next((redirect for redirect in one.redirects if redirect.operator in ("<<", "<<-")), None)
    name = words[0] if words else ""
    if heredoc and heredoc.body and (not words or program(name) in ("cat", "tee")):
        return None if heredoc.expands and _is_computed(heredoc.body) else heredoc.body
    if name == "echo":
        text = " ".join(word for word in words[1:] if word not in ("-n", "-e", "-E"))
        return None if _is_computed(text) or text.count("%") > 1 else text  # cmd has %NAME%
    if name == "printf":
        return words[1] if len(words) == 2 and not _is_computed(words[1]) else None
    if name in ("Write-Output", "-replace"):  # of PowerShell, where those that compute have been told from others
        return words[1] if name == "Write-Output" and len(words) == 2 else None
    return ""


def _is_computed(text: str) -> bool:
    """Whether a text may have something that a shell puts into it; one in single quotes looks no other here."""
    return "$" in text or "`" in text


def _files(words: tuple[str, ...], values: str = "") -> list[str]:
    """The files among the words that are known."""
    return [file for file in _named(words, values) if names_file(file)]


def _named(words: tuple[str, ...], values: str = "") -> list[str]:
    """The words that are no options, without those after an option of ``values`` (letters that take one)."""
    files, rest = [], list(words[1:])
    while rest:
        word = rest.pop(0)
        if word == "--":
            files += rest
            break
        if word.startswith("-") and len(word) > 1:
            if len(word) == 2 and word[1] in values and rest:
                rest.pop(0)
        else:
            files.append(word)
    return files


def _sed(words: tuple[str, ...], _: SimpleCommand) -> list[Edit]:
    options = [word for word in words[1:] if word.startswith("-")]
    if not any(
        word.startswith(("-i", "--in-place")) or (word[1:2] != "-" and "i" in word[1:] and "e" not in word) for word in options
    ):
        return []
    return _with_scripts(words, "ef")


def _perl(words: tuple[str, ...], _: SimpleCommand) -> list[Edit]:
    options = [word for word in words[1:] if word.startswith("-")]
    if not any("i" in word.partition("e")[0] for word in options):
        return []
    return _with_scripts(words, "eE")


def _with_scripts(words: tuple[str, ...], letters: str) -> list[Edit]:
    """The files of an editor that takes scripts after an option of ``letters``, else as its first word; ``-i ''`` is macOS's way."""
    scripts, files, rest = [], [], list(words[1:])
    while rest:
        word = rest.pop(0)
        if word.startswith("-") and len(word) > 1:
            if word[-1] in letters and word[1] != "-" and rest:
                scripts.append(rest.pop(0))
        elif word:
            files.append(word)
    if not scripts and files:
        scripts.append(files.pop(0))
    lines, old, new = _meaning(scripts[0]) if len(scripts) == 1 else (None, "", "")
    return [Edit(file, old, new, lines=lines) for file in files if names_file(file)]


def _meaning(script: str) -> tuple[tuple[int, int] | None, str, str]:
    """The lines of an editor's script, and what it replaces, where the pattern is plain text."""
    script = script.strip()
    address = script[: len(script) - len(script.lstrip(_ADDRESS))]
    first, _, last = address.partition(",")
    lines = None
    if first.isdigit() and (not last or last.isdigit()) and len(first) < 9 and len(last) < 9:
        start, end = int(first), int(last or first)
        lines = (start, end) if 0 < start <= end else None
    rest = script[len(address) :].lstrip()
    if rest[:1] == "s" and len(rest) > 3 and not rest[1].isalnum():
        parts = rest[2:].split(rest[1])
        if len(parts) == 3 and parts[0] and not set(parts[0]).intersection("\\.*[]^$+?(){}|"):
            return lines, parts[0], parts[1]
    return lines, "", ""


def _tee(words: tuple[str, ...], one: SimpleCommand) -> list[Edit]:
    text = _printed(words, one)
    kind = "change" if text is None or any(word in ("-a", "--append") for word in words[1:]) else "whole"
    return [Edit(file, new=text or "", kind=kind) for file in _files(words)]  # type: ignore[arg-type]  # one of two words


def _mv(words: tuple[str, ...], _: SimpleCommand) -> list[Edit]:
    sources, target = _sources(words)
    return [Edit(source, kind="move", target=_into(target, source, several=len(sources) > 1)) for source in sources]


def _cp(words: tuple[str, ...], _: SimpleCommand) -> list[Edit]:
    sources, target = _sources(words)
    return [Edit(_into(target, source, several=len(sources) > 1), kind="whole") for source in sources]


def _sources(words: tuple[str, ...]) -> tuple[list[str], str]:
    """The files that are moved or copied, and where to; none where that is not known."""
    *sources, target = _named(words, "S") or [""]
    return ([source for source in sources if names_file(source)], target) if names_file(target) else ([], "")


def _into(target: str, source: str, *, several: bool) -> str:
    """Where a file goes: below a folder, if it must be one."""
    if several or target.endswith("/") or target in (".", ".."):
        return f"{target.rstrip('/')}/{source.rsplit('/', 1)[-1]}"
    return target


def _rm(words: tuple[str, ...], _: SimpleCommand) -> list[Edit]:
    return [Edit(file, kind="delete") for file in _files(words)]


def _git(words: tuple[str, ...], one: SimpleCommand) -> list[Edit]:
    rest = words[1:]
    folder = ""
    while len(rest) > 1 and rest[0] in ("-C", "-c"):
        folder = rest[1] if rest[0] == "-C" else folder
        rest = rest[2:]
    if not rest:
        return []
    edits: list[Edit] = []
    if rest[0] in ("mv", "rm"):
        edits = (_mv if rest[0] == "mv" else _rm)(rest, one)
    elif rest[0] in ("checkout", "restore") and ("--" in rest or rest[0] == "restore"):
        files = rest[rest.index("--") :] if "--" in rest else rest
        if "--staged" not in rest or "--worktree" in rest:
            edits = [Edit(file, kind="whole") for file in _files(files, "s")]
    return [_placed(edit, folder) for edit in edits]


def _patch(words: tuple[str, ...], one: SimpleCommand) -> list[Edit]:
    text = next((word for word in words[1:] if is_patch(word)), "")
    text = text or next((redirect.body for redirect in one.redirects if redirect.body), "")
    if not is_patch(text):
        return []
    from hardwon.agents.patches import parse

    return list(parse(text))


_HANDLERS = {
    "sed": _sed, "gsed": _sed, "perl": _perl, "tee": _tee, "mv": _mv, "cp": _cp, "rm": _rm, "unlink": _rm, "git": _git,
    "apply_patch": _patch, "applypatch": _patch,
}  # fmt: skip
