"""What a shell command is called when something was learnt about it: its program and the words that stay the same from one call to the
next. ``cd web && npm run build --mode=production`` is ``$ npm run build --mode``. Pure and light.

The name stands where that of a symbol does, so that a command has lessons and a risk as code has.
"""

from __future__ import annotations

from hardwon.capture.programs import is_python, program, proper
from hardwon.capture.shell import flat, handed_on, split

MARK = "$ "
_MOST, _LONGEST_WORD, _MOST_WORDS = 8, 30, 8  # commands of a text, characters of a word, words of a name
# What is run all day, and of which nobody learns anything by its name alone.
_PLAIN = frozenset(
    (
        "cd", "ls", "echo", "printf", "cat", "head", "tail", "pwd", "true", "false", "test", "[", "[[", "export", "set", "source", ".",
        "grep", "rg", "egrep", "fgrep", "find", "fd", "sort", "uniq", "wc", "cut", "tr", "which", "type", "command", "sleep", "date",
        "read", "local", "return", "exit", "mkdir", "touch", "less", "more", "tee", "diff", "stat", "basename", "dirname", "unset",
        "Get-Content", "Get-ChildItem", "Get-Item", "Get-Location", "Get-Process", "Get-Date", "Write-Output", "Write-Host",
        "Select-Object",
        "Select-String", "Sort-Object", "Where-Object", "ForEach-Object", "Measure-Object", "Format-Table", "Format-List", "Out-Host",
        "Out-String", "Out-Null", "Test-Path", "Resolve-Path", "Join-Path", "Start-Sleep", "Pop-Location", "Get-Command",
        "for", "case", "function", "shift", "break", "continue", "wait", "trap", "pushd", "popd", "seq", "env", ":",
    )
)  # fmt: skip
# Programs whose first plain word is a script, by which the command is known.
_INTERPRETERS = frozenset(("node", "deno", "ruby", "perl", "php", "bash", "sh", "zsh", "Rscript", "lua", "tsx", "ts-node", "bun"))


def names(command: str) -> tuple[str, ...]:
    """The names of the commands in a text, in their order, each once."""
    found: dict[str, None] = {}
    for one in flat(split(command)):
        if not handed_on(one) and (name := name_of(proper(one.words))):
            found[name] = None
        if len(found) >= _MOST:
            break
    return tuple(found)


def name_of(words: tuple[str, ...]) -> str:
    """The name of one command by its words, quotes taken off; "" for one that goes by none."""
    if not words or words[0] in _PLAIN or not _is_word(words[0], also=".0123456789"):
        return ""
    python = is_python(words[0])
    kept = ["python" if python else words[0]]
    script = python or words[0] in _INTERPRETERS
    value = False  # the word behind an option is most often its value
    for word in words[1:]:
        if word.startswith("-"):
            option = word.partition("=")[0]
            plain = word != "--" and _is_word(option)
            value = plain and option == word and not script  # one with its value attached takes none
            kept += [option] if plain else []
            continue
        if value:
            value = False
            continue
        name = program(word) if script else word
        if _is_word(name, also=".0123456789" if script else ""):
            kept.append(name)
        script = False
        if len(kept) >= _MOST_WORDS:
            break
    return MARK + " ".join(kept)


def _is_word(word: str, also: str = "") -> bool:
    """Whether a word is one that stays: letters, and what joins them; no path, no number, no variable, no text."""
    return (
        0 < len(word) <= _LONGEST_WORD
        and word.isascii()
        and all(char.isalpha() or char in "-_:@+" or char in also for char in word)
    )
