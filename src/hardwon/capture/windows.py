"""What ``powershell -Command`` and ``cmd /c`` hand on, told in the language of ``shell``."""

from __future__ import annotations

from hardwon.capture.powershell import LIMIT, quoted, slashed, translated

_OF_POWERSHELL = ("powershell", "pwsh")
# Options of PowerShell itself that take a value, as far as they may be cut short.
_WITH_VALUE = ("ex", "ep", "wi", "wo", "wd", "w", "v", "in", "o", "conf", "psc", "set", "cus")


def handed_on(name: str, words: tuple[str, ...]) -> str:
    """The text that ``powershell -Command TEXT`` or ``cmd /c TEXT`` runs, in the language of ``shell``; "" where there is none."""
    folded = name.lower()
    if folded in _OF_POWERSHELL:
        return _of_powershell(folded, words)
    if folded == "cmd" and (words[0].lower() in ("cmd", "cmd.exe") or words[0][-4:].lower() == ".exe"):
        return _of_cmd(words)
    return ""


def _of_powershell(name: str, words: tuple[str, ...]) -> str:
    at, folder = 1, ""
    while at < len(words):
        option = words[at].lower()
        if option[:1] not in ("-", "/") or option == "-":
            # Without an option the newer one takes a file, the older one a command.
            return folder + translated(" ".join(words[at:])) if name == "powershell" and option != "-" else ""
        bare = option.lstrip("-/")
        if bare and "command".startswith(bare):
            return folder + translated(" ".join(words[at + 1 :]))
        if bare.startswith(("f", "enc", "ec")) or bare == "e":
            return ""
        value = bare.startswith(_WITH_VALUE) and bare != "noexit"
        if value and bare.startswith(("wo", "wd")) and at + 1 < len(words):
            folder = f"cd {quoted(slashed(words[at + 1]))}\n"
        at += 2 if value else 1
    return ""


def _of_cmd(words: tuple[str, ...]) -> str:
    at = 1
    while at < len(words) and words[at][:1] == "/":
        option = words[at].lstrip("/").lower()
        at += 1
        if option in ("c", "k"):
            rest = words[at:]
            text = rest[0] if len(rest) == 1 else " ".join(f'"{word}"' if " " in word else word for word in rest)
            return _from_cmd(text[:LIMIT])
    return ""


def _from_cmd(text: str) -> str:
    """cmd has one kind of quotes, ``^`` to escape, and ``&`` where a shell has ``;``."""
    if text[:1] == text[-1:] == '"' and text.count('"') != 2:
        text = text[1:-1]  # quotes around the whole are taken off
    parts: list[str] = []
    at, whole = 0, len(text)
    while at < whole:
        sign = text[at]
        at += 1
        if sign == '"':
            end = text.find('"', at)
            end = whole if end < 0 else end
            parts.append(quoted(text[at:end]))
            at = end + 1
        elif sign == "^":
            parts.append(quoted(text[at : at + 1]))
            at += 1
        elif sign == "&":
            parts.append("&&" if text.startswith("&", at) else ";")
            at += 1 if text.startswith("&", at) else 0
        elif sign in "\\'`$#;!":
            parts.append("/" if sign == "\\" else quoted(sign))
        else:
            parts.append(sign)
    told = "".join(parts)
    for written in ("cd /d ", "cd /D "):
        told = told.replace(written, "cd ")
    return told
