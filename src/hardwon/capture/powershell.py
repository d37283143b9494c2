"""Texts of PowerShell, told in the language of ``shell``, so that all readers of commands understand them.

Enough of the language to tell programs, words, pipes and redirections. What is computed (``$name``, ``(…)``, ``@{…}``) stays
unknown, and so does what runs in a block that is handed to another command (``ForEach-Object { … }``). A grammar of tree-sitter was
rejected: hooks read commands, and they load no grammars.
"""

from __future__ import annotations

LIMIT = 131_072  # characters that are read, as in ``shell``
_DEEPEST = 12  # brackets and texts inside one another
_ENDS = frozenset(";|&\n{})")
_BLANKS = frozenset(" \t\r")
_SPECIAL = _ENDS | _BLANKS | frozenset("'\"`$(<>@,")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "b": "", "e": ""}
UNKNOWN = "$()"  # a word, or a part of one, that is computed
# Words that begin a block, those with a condition in brackets first.
_CONDITIONS = frozenset(("if", "elseif", "while", "foreach", "for", "switch", "until", "catch", "param"))
_BLOCKS = frozenset(("else", "try", "finally", "do", "begin", "process", "end", "return", "throw", "trap"))
REPLACING = "-replace"  # the name of an expression that replaces: it is no program, but changes texts as ``sed`` does
_OPERATORS = frozenset(("-replace", "-creplace", "-ireplace"))
# Commands of PowerShell by what they are called, in any case; each is known by the first name.
_NAMES = (
    "Set-Content sc", "Add-Content ac", "Clear-Content clc", "Out-File", "New-Item ni", "Get-Content gc cat type", "Tee-Object tee",
    "Remove-Item rm del erase rd ri rmdir", "Copy-Item cp copy cpi", "Move-Item mv move mi", "Select-String sls",
    "Get-ChildItem gci ls dir", "Write-Output echo write", "Write-Host", "Select-Object select", "Sort-Object sort",
    "Where-Object where ?", "ForEach-Object %", "Measure-Object measure", "Format-Table ft", "Format-List fl", "Out-Host oh",
    "Out-String", "Out-Null", "Test-Path", "Get-Item gi", "Get-Command gcm", "Get-Location gl pwd", "Resolve-Path rvpa",
    "Get-Process gps ps", "Get-Date", "Start-Sleep sleep", "Join-Path", "Pop-Location popd",
    "cd Set-Location sl chdir", "pushd Push-Location", "curl Invoke-WebRequest iwr Invoke-RestMethod irm",
)  # fmt: skip
_CALLED = {name.lower(): names.split()[0] for names in _NAMES for name in names.split()}


def is_begun(command: str) -> bool:
    """Whether a text begins with one over several lines (``@'`` … ``'@``), which no other shell has."""
    first = command.lstrip()[:300].partition("\n")[0].rstrip()
    return first.endswith(("@'", '@"')) and f"\n{first[-1]}@" in command


def is_spoken(words: tuple[str, ...]) -> bool:
    """Whether a command is one that only PowerShell has, by its full name (``Set-Content``)."""
    return bool(words) and "-" in words[0] and words[0].lower() in _CALLED


def translated(text: str) -> str:
    """A text of PowerShell in the language of ``shell``. Linear in the text; never raises."""
    return _Reader(text[:LIMIT]).told()


def quoted(word: str) -> str:
    """A word as ``shell`` reads it as one, whatever it holds."""
    return "'" + word.replace("'", "'\\''") + "'"


def slashed(word: str) -> str:
    """A path with slashes."""
    return word.replace("\\", "/")


class _Reader:
    """Reads once from left to right; every method leaves ``at`` behind what it has read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.out: list[str] = []
        self.open = False  # a command stands before what comes
        self.heredoc = False  # PowerShell has none: the text is for a shell, as Codex takes ``apply_patch <<EOF``
        self.redirects: list[str] = []  # those of the command at hand

    def told(self) -> str:
        while self.at < len(self.text):
            start = self.at
            self._next()
            self.at = max(self.at, start + 1)
        return self.text if self.heredoc else " ".join(self.out)

    def _next(self) -> None:
        text, sign = self.text, self.text[self.at]
        if sign in _BLANKS:
            self.at += 1
        elif sign == "#":
            self._to("\n")
        elif text.startswith("<#", self.at):
            self._to("#>")
        elif sign == "`":
            self.at += 2
        elif sign in _ENDS:
            self._between(sign)
        else:
            self._command()

    def _to(self, mark: str) -> None:
        end = self.text.find(mark, self.at)
        self.at = len(self.text) if end < 0 else end + (len(mark) if mark != "\n" else 0)

    def _between(self, sign: str) -> None:
        """What stands between two commands; ``&`` in front of one only calls it."""
        twice = self.text.startswith(sign * 2, self.at) and sign in "&|"
        self.at += 2 if twice else 1
        if not self.open:
            return
        self.open = False
        if sign == "}":
            self.out.append("\ntrue")  # a block may not have run: no exit code is that of what stands in it
        self.out.append(sign * 2 if twice else sign if sign in "&|" else "\n")

    def _command(self) -> None:
        text, start = self.text, self.at
        sign = text[start]
        if sign in "'\"" and self._is_called():
            self._words(self._word()[0])
        elif sign == "$" and self._assigned():
            return
        elif sign in "'\"$@([-" or sign.isdigit() or sign in ",<>":
            self._expression()
        else:
            self._words(self._bare())

    def _is_called(self) -> bool:
        """Whether ``&`` stands in front of a quoted name."""
        at = self.at - 1
        while at >= 0 and self.text[at] in _BLANKS:
            at -= 1
        return at >= 0 and self.text[at] in "&." and self.text[at - 1 : at] != "&"

    def _bare(self) -> str:
        start, end = self.at, self.at
        while self.text[end : end + 1].isalpha():
            end += 1
        if self.text[start:end].lower() in _CONDITIONS:
            self.at = end
            self._blanks()
            if self.text.startswith("(", self.at):
                self._balanced(0)
                return ""
            self.at = start
        word = self._word()[0]
        folded = word.lower()
        if folded in ("function", "filter"):
            self._blanks()
            self._word()
            return ""
        return "" if folded in _BLOCKS or folded == "catch" else word

    def _blanks(self) -> None:
        while self.text[self.at : self.at + 1] in ("\t", " ", "\r"):
            self.at += 1

    def _assigned(self) -> bool:
        """``$env:NAME = …`` and ``$name = …``; what is assigned to a name of PowerShell is read as a command of its own."""
        text, at = self.text, self.at + 1
        while at < len(text) and (text[at].isalnum() or text[at] in "_:"):
            at += 1
        name = text[self.at + 1 : at]
        while text[at : at + 1] in ("\t", " "):
            at += 1
        at += text.startswith("+=", at)
        if text[at : at + 1] != "=" or not name:
            return False
        self.at = at + 1
        if name.lower().startswith("env:") and name[4:].isidentifier() and name.isascii():
            self._blanks()
            words, literal = self._tokens(expression=True)
            value = words[0] if literal and len(words) == 1 else UNKNOWN
            self.out.append(f"{name[4:]}={quoted(value)}")
            self.open = True
        return True

    def _expression(self) -> None:
        """A value: it is printed, and known where it is written as it is."""
        start = self.at
        words, literal = self._tokens(expression=True)
        if self.at == start:
            self.at += 1
            return
        self.open = True
        rest = words[1:]
        if literal:
            self.out += ["Write-Output", quoted("\n".join(words))]
        elif rest and rest[0].lower() in _OPERATORS:
            self.out += [REPLACING, *(quoted(word) for word in rest[1:])] if words[0] == UNKNOWN else [REPLACING]
        else:
            self.out.append(REPLACING if ".Replace(" in self.text[start : self.at] else "Write-Output")
        self.out += self.redirects

    def _words(self, name: str) -> None:
        """A program with its words."""
        if not name:
            return
        known = _CALLED.get(name.lower(), "")
        words, literal = self._tokens(expression=False)
        if known == "Write-Output" and not literal and any("$" in word for word in words):
            words = []  # what it prints is computed, as where an expression is
        if name.lower() == "exit" and words[:1] in ([], ["$LASTEXITCODE"], ["$lastexitcode"]):
            self.open = False  # the exit code stays that of what ran before
            if self.out and self.out[-1] == "\n":
                self.out.pop()
                self.open = True
            return
        self.open = True
        if known in ("cd", "pushd"):
            words = [slashed(word) for word in words if word.lower() not in ("-path", "-literalpath")]
        plain = slashed(name)
        if not known and plain.rsplit("/", 1)[-1].lower() in ("activate", "activate.ps1"):
            self.out.append("source")
        if plain[1:2] == ":" and plain[-4:].lower() == ".exe":
            plain = plain.rsplit("/", 1)[-1]  # a program of the machine, and no script of the project
        self.out += [quoted(known or plain), *(quoted(word) for word in words), *self.redirects]

    def _tokens(self, *, expression: bool) -> tuple[list[str], bool]:
        """The words up to the end of a command, and whether an expression is nothing but texts as they are written (several with
        commas between them). Redirections are put aside."""
        self.redirects = []
        words: list[str] = []
        literal, comma = True, True
        while self.at < len(self.text):
            start, sign = self.at, self.text[self.at]
            if sign == "{" and not expression:
                self._balanced(0)
                words.append("{}")
            elif sign in _ENDS:
                break
            elif sign in _BLANKS:
                self.at += 1
            elif self.text.startswith("`\n", self.at) or self.text.startswith("`\r\n", self.at):
                self._to("\n")
                self.at += 1
            elif sign == "#":
                self._to("\n")
            elif sign in "<>" or (sign in "123456*" and self.text.startswith(">", self.at + 1)):
                self._redirect(sign)
            elif sign == "," and expression:
                self.at += 1
                literal = literal and not comma
                comma = True
            else:
                word, whole = self._word(stops=expression)
                literal = literal and whole and comma
                comma = False
                self.at = max(self.at, start + 1)
                if not expression and words and words[-1].endswith(","):  # "a, b" is one word
                    word = words.pop() + word
                words.append(word)
        return words, literal and bool(words) and not comma

    def _redirect(self, sign: str) -> None:
        if self.text.startswith("<<", self.at):
            self.heredoc, self.at = True, len(self.text)
            return
        descriptor = "" if sign in "<>" else sign
        self.at += len(descriptor)
        operator = ">>" if self.text.startswith(">>", self.at) else self.text[self.at]
        self.at += len(operator)
        if self.text.startswith("&", self.at):
            self.at += 2
            self.redirects.append("2>&1")
            return
        self._blanks()
        target, _ = self._word()
        target = "/dev/null" if target.lower() == "$null" else slashed(target)
        if target and operator != "<":
            self.redirects += [("&" if descriptor == "*" else descriptor) + operator, quoted(target)]

    def _word(self, *, stops: bool = False) -> tuple[str, bool]:
        """The word at hand, and whether it is one text as it is written. ``stops``: at a comma."""
        parts: list[str] = []
        text, pieces, literal = self.text, 0, True
        while self.at < len(text):
            sign = text[self.at]
            if sign in _BLANKS or sign in _ENDS or (sign in "<>" and parts):
                break
            if sign == "," and stops:
                break
            pieces += 1
            if sign == "'":
                parts.append(self._single())
            elif sign == '"':
                part, known = self._double(0)
                parts.append(part)
                literal = literal and known
            elif sign == "@" and text[self.at + 1 : self.at + 2] in ("'", '"'):
                part, known = self._here()
                parts.append(part)
                literal = literal and known
            elif sign == "(" or text.startswith(("$(", "@(", "@{", "${"), self.at):
                self.at += sign != "("
                self._balanced(0)
                parts.append(UNKNOWN)
                literal = False
            elif sign == "`":
                following = text[self.at + 1 : self.at + 2]
                self.at += 2
                if following in ("\n", "\r", ""):
                    break
                parts.append(following)
                literal = False
            else:
                start = self.at
                self.at += 1
                while self.at < len(text) and text[self.at] not in _SPECIAL:
                    self.at += 1
                parts.append(text[start : self.at])
                literal = False
        if not pieces and self.at < len(text) and text[self.at] not in _ENDS and text[self.at] not in _BLANKS:
            self.at += 1
        return "".join(parts), literal and pieces == 1

    def _single(self) -> str:
        parts: list[str] = []
        while True:
            start = self.at + 1
            end = self.text.find("'", start)
            if end < 0:
                self.at = len(self.text)
                return "".join((*parts, self.text[start:]))
            self.at = end + 1
            parts.append(self.text[start:end])
            if not self.text.startswith("'", self.at):
                return "".join(parts)
            parts.append("'")

    def _double(self, depth: int) -> tuple[str, bool]:
        """The text in double quotes, and whether nothing in it is computed."""
        text, parts, known = self.text, [], True
        self.at += 1
        while self.at < len(text):
            sign = text[self.at]
            if sign == '"':
                self.at += 1
                if not text.startswith('"', self.at):
                    break
                parts.append('"')
                self.at += 1
            elif sign == "`":
                following = text[self.at + 1 : self.at + 2]
                parts.append(_ESCAPES.get(following, following))
                self.at += 2
            elif text.startswith("$(", self.at):
                self.at += 1
                self._balanced(depth)
                parts.append(UNKNOWN)
                known = False
            else:
                following = text[self.at + 1 : self.at + 2]
                known = known and not (sign == "$" and (following.isalnum() or following in ("_", "{", "?")))
                start = self.at
                self.at += 1
                while self.at < len(text) and text[self.at] not in '"`$':
                    self.at += 1
                parts.append(text[start : self.at])
        return "".join(parts), known

    def _here(self) -> tuple[str, bool]:
        """``@'`` … ``'@`` on lines of their own; in double quotes names are computed."""
        quote = self.text[self.at + 1]
        start = self.text.find("\n", self.at + 2) + 1
        end = self.text.find(f"\n{quote}@", max(start - 1, 0)) if start else -1
        if end < 0:
            start, self.at = self.at + 2, len(self.text)
            return self.text[start:], False
        self.at = end + 3
        body = self.text[start:end] + "\n" if end >= start else ""
        return body.replace("\r\n", "\n"), quote == "'" or not ("$" in body or "`" in body)

    def _balanced(self, depth: int) -> None:
        """Past the bracket that closes the one at hand; texts in between are no brackets."""
        text, open_ = self.text, 0
        if depth > _DEEPEST:
            self.at = len(text)
            return
        while self.at < len(text):
            sign = text[self.at]
            if sign == "'":
                self._single()
                continue
            if sign == '"':
                self._double(depth + 1)
                continue
            if sign == "@" and text[self.at + 1 : self.at + 2] in ("'", '"'):
                self._here()
                continue
            self.at += 2 if sign == "`" else 1
            open_ += (sign in "({[") - (sign in ")}]")
            if open_ <= 0:
                return
