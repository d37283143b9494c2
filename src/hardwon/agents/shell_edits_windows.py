"""Which files a command of PowerShell changes: ``Set-Content``, ``Add-Content``, ``Out-File``, ``Remove-Item`` and the like.

What is written is known where it stands in the command as it is: behind ``-Value``, or in the text that is piped in.
"""

from __future__ import annotations

from hardwon.capture.event import Edit
from hardwon.capture.powershell import REPLACING
from hardwon.capture.programs import names_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.capture.shell import SimpleCommand

_SWITCHES = frozenset(
    (
        "-nonewline", "-force", "-append", "-noclobber", "-recurse", "-raw", "-passthru", "-confirm", "-whatif", "-asbytestream",
        "-verbose", "-r", "-rec", "-f", "-fo", "-rf",
    )
)  # fmt: skip
_PATHS = ("-path", "-literalpath", "-filepath", "-pspath", "-lp")
_NO_PATTERN = frozenset("\\.*[]^$+?(){}|")
_MOVING = frozenset(("Move-Item", "Copy-Item"))
_WRITING = frozenset(("Set-Content", "Add-Content", "Clear-Content", "Out-File", "Tee-Object"))
NAMES = _MOVING | _WRITING | {"Remove-Item", "New-Item"}


def changed(words: tuple[str, ...], before: SimpleCommand | None) -> list[Edit]:  # noqa: PLR0911  # one for each kind
    """The edits of one command; ``before``: what is piped into it, None for nothing. [] where it writes nothing that is known."""
    given, rest = _parameters(words[1:])
    if "-whatif" in given:
        return []
    name = words[0]
    paths = [given[option] for option in _PATHS if option in given][:1] or rest[:1]
    rest = rest if any(option in given for option in _PATHS) else rest[1:]
    files = [_path(path) for one in paths for path in (one.split(",") if name == "Remove-Item" else [one])]
    target = _path(given.get("-destination") or "".join(rest[:1]))
    if not files or not all(map(_is_known, files)) or (name in _MOVING and not _is_known(target)):
        return []
    if name == "Remove-Item":
        return [Edit(file, kind="delete") for file in files]
    if name in _MOVING:
        target = (
            f"{target.rstrip('/')}/{files[0].rpartition('/')[2]}" if target.endswith("/") or target in (".", "..") else target
        )
        return [Edit(files[0], kind="move", target=target) if name == "Move-Item" else Edit(target, kind="whole")]
    if name == "New-Item":
        made = given.get("-itemtype", given.get("-type", "")).lower() == "file" and "-name" not in given
        value = given.get("-value", "")
        text = _literal(value)
        return [Edit(files[0], new=text, kind="whole" if text == value else "change")] if made else []
    if name not in _WRITING:
        return []
    value = given.get("-value") or ("".join(rest[:1]) if name in ("Set-Content", "Add-Content") else "")
    return [_written(name, files[0], value, given, before)]


def printed(before: SimpleCommand | None) -> str:
    """The text that a command prints, where it is one that stands there as it is: one that is computed is not told by ``translated``."""
    return before.words[1] if before is not None and before.words[:1] == ("Write-Output",) and len(before.words) == 2 else ""


def _written(name: str, path: str, value: str, given: dict[str, str], before: SimpleCommand | None) -> Edit:
    adds = name == "Add-Content" or "-append" in given
    if before is not None and before.words[:1] == (REPLACING,):
        old, new = _replaced(before.words[1:])
        return Edit(path, old, new)
    text = _literal(value) or printed(before)
    # Without its text a whole write would say that nothing of the file is left.
    return Edit(path, new=text, kind="whole" if (text and not adds) or name == "Clear-Content" else "change")


def _replaced(words: Sequence[str]) -> tuple[str, str]:
    """What ``-replace 'a','b'`` replaces, where the pattern is plain text."""
    if len(words) != 2 or not words[0] or _NO_PATTERN.intersection(words[0]) or "$" in words[1]:
        return "", ""
    return words[0], words[1]


def _literal(text: str) -> str:
    return "" if "$" in text else text


def _path(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _is_known(path: str) -> bool:
    return names_file(path) and "," not in path


def _parameters(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Named ones, in small letters, and the others. What is not known to be a switch takes the next word."""
    given: dict[str, str] = {}
    rest: list[str] = []
    at = 0
    while at < len(words):
        name, colon, value = words[at].partition(":")
        if not (name.startswith("-") and name[1:].isalpha()):
            rest.append(words[at])
            at += 1
        elif name.lower() in _SWITCHES or colon:
            given[name.lower()] = value
            at += 1
        else:
            given[name.lower()] = "".join(words[at + 1 : at + 2])
            at += 2
    return given, rest
