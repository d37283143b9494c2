"""Shell commands taken apart: programs, words, redirections. Enough of the language to tell what a command runs and which files it
writes, for bash, sh and zsh. No expansion: ``$NAME`` and ``$(…)`` stay in the words as they are written.

Every tool call passes here, so it is made without ``re`` and ``shlex`` (docs/decisions/0019), in one pass over the text.
"""

from __future__ import annotations

from hardwon.capture.programs import in_container, program, proper
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIMIT = 131_072  # characters that are read; a command is never that long, and a heredoc of that size tells enough
_DEEPEST = 12  # substitutions and subshells inside one another
_MOST = 2_000  # commands of one text
_HEREDOCS = 40

_BLANKS = frozenset(" \t\r")
_SPECIAL = frozenset(" \t\r\n'\"\\$`;&|<>()")
_IN_DOUBLE = frozenset('"\\$`')
_BETWEEN = frozenset(";&|()\n")
_REDIRECTS = ("<<-", "<<<", "&>>", "<<", ">>", ">|", "&>", "<>", ">&", "<&", ">", "<")
# Words that begin a compound command: the command proper comes after them.
_BEFORE_COMMANDS = frozenset(("if", "then", "elif", "else", "do", "while", "until", "!", "{", "time", "coproc"))
_AFTER_COMMANDS = frozenset(("fi", "done", "esac", "}"))
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "b": "", "e": ""}
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish"))
# Programs that run a text in a shell, and the options before it.
_TEXT_BEHIND = {"nix-shell": ("--run", "--command"), "mise": ("-c", "--command")}


class Redirect(Value):
    """``operator`` as written (``>``, ``>>``, ``>|``, ``&>``, ``&>>``, ``<``, ``<>``, ``>&``, ``<&``, ``<<``, ``<<-``, ``<<<``), ``target``
    the file, the descriptor (``>&``) or the delimiter of a heredoc, whose text is ``body``; ``descriptor`` as written, else None;
    ``expands``: what ``body`` names is put into it (its delimiter has no quotes)."""

    operator: str
    target: str
    descriptor: int | None = None
    body: str = ""
    expands: bool = False


class SimpleCommand(Value):
    """One program with its words, quotes taken off. ``joined``: what stands between it and the one before (``&&``, ``||``, ``;``, ``|``,
    ``|&``, ``&``, a newline is ``;``), "" for the first one of its list. ``inner``: the commands of ``$(…)``, backticks and ``<(…)`` in its
    words. ``words`` is empty where there are only assignments or redirections."""

    words: tuple[str, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    joined: str = ""
    inner: tuple[SimpleCommand, ...] = ()


def split(command: str) -> list[SimpleCommand]:
    """The commands of a text, in order; those of subshells and compound commands stand in the same list. Never raises: what is not
    understood ends a word or is taken literally. Linear in the text, of which LIMIT characters are read."""
    return [draft.made() for draft in _Reader(command[:LIMIT]).commands("", 0)]


def spoken(command: str) -> list[SimpleCommand]:
    """The commands of a text as an agent gives it: that of a client which runs PowerShell is read as such, where it has commands that
    no other shell has."""
    listed = split(command)
    if (listed and "@" in command) or any("-" in one.words[0] for one in listed if one.words):
        from hardwon.capture.powershell import is_begun, is_spoken, translated

        if (is_begun(command) and not handed_on(listed[0])) or any(is_spoken(one.words) for one in listed):
            return split(translated(command))
    return listed


def flat(commands: Iterable[SimpleCommand], deepest: int = 3, *, here: bool = False) -> Iterator[SimpleCommand]:
    """Each command, followed by those inside it: substitutions, and the texts that ``bash -c`` and ``eval`` run. ``here``: none of what
    runs in a container, whose files are not ours."""
    for command in commands:
        yield command
        if deepest:
            yield from flat(command.inner, deepest - 1, here=here)
            text = "" if here and in_container(command.words) else handed_on(command)
            if text:
                yield from flat(split(text), deepest - 1, here=here)


def handed_on(command: SimpleCommand) -> str:  # noqa: PLR0911  # one for each kind of program
    """The text that a command hands to a shell (``bash -lc 'TEXT'``, ``eval TEXT``, ``bash <<EOF``, ``nix-shell --run TEXT``); "" where
    it does not. That of PowerShell and cmd is told in the language of this module."""
    words = proper(command.words)
    if not words:
        return ""
    name = words[0]
    if name == "eval":
        return " ".join(words[1:])
    if name.lower() in ("powershell", "pwsh", "cmd"):
        from hardwon.capture.windows import handed_on as of_windows

        # Behind a runner it may be a part of a word (``hatch run dev:pwsh``).
        written = next((word for word in command.words if program(word) == name), name)
        return of_windows(name, (written, *words[1:]))
    if name in _TEXT_BEHIND:
        return next((words[at + 1] for at, word in enumerate(words[:-1]) if word in _TEXT_BEHIND[name]), "")
    if name not in _SHELLS:
        return ""
    for at, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return words[at + 1] if at + 1 < len(words) else ""
        if not word.startswith(("-", "+")):
            return ""
    return next((redirect.body for redirect in command.redirects if redirect.operator in ("<<", "<<-")), "")


class _Draft:
    """A command while it is read. Heredocs get their text after the line, so values are made when everything is read."""

    def __init__(self, joined: str) -> None:
        self.joined = joined
        self.words: list[str] = []
        self.assignments: list[tuple[str, str]] = []
        self.redirects: list[list[str]] = []  # operator, target, descriptor, body, "$" where it expands
        self.inner: list[_Draft] = []

    @property
    def empty(self) -> bool:
        return not (self.words or self.assignments or self.redirects or self.inner)

    def add(self, word: str, quoted: bool) -> None:
        if not quoted and not self.words:
            if word in _BEFORE_COMMANDS or word in _AFTER_COMMANDS:
                return
            name, equals, value = word.partition("=")
            if equals and _is_name(name.removesuffix("+")):
                self.assignments.append((name.removesuffix("+"), value))
                return
        self.words.append(word)

    def made(self) -> SimpleCommand:
        redirects = tuple(
            Redirect(sign, target, int(number) if number else None, body, bool(expands))
            for sign, target, number, body, expands in self.redirects
        )
        inner = tuple(draft.made() for draft in self.inner)
        return SimpleCommand(tuple(self.words), tuple(self.assignments), redirects, self.joined, inner)


class _Reader:
    """Reads a text once, from left to right; every method leaves ``at`` behind what it has read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.commands_left = _MOST
        self.heredocs_left = _HEREDOCS
        self.waiting: list[list[str]] = []  # heredocs whose text begins on the next line

    def commands(self, closing: str, depth: int) -> list[_Draft]:
        """Up to ``closing`` (")" or "`"), which is read too, or to the end."""
        found: list[_Draft] = []
        draft = _Draft("")
        groups = 0
        while self.at < len(self.text) and self.commands_left:
            sign = self.text[self.at]
            if sign == closing and not groups:
                self.at += 1
                break
            if sign in _BLANKS:
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif sign == "#":
                self._to("\n")
            elif sign == "(" and draft.empty and self.text.startswith("((", self.at):
                self._to("))")
            elif sign in _BETWEEN and not (sign == "&" and self.text.startswith(">", self.at + 1)):
                groups = max(0, groups + (sign == "(") - (sign == ")"))
                draft = self._next(draft, found)
            elif sign in "<>&" and not self.text.startswith("(", self.at + 1):
                self._redirect(draft, "", closing, depth)
            else:
                self._piece(draft, closing, depth)
        if not draft.empty:
            found.append(draft)
        return found

    def _next(self, draft: _Draft, found: list[_Draft]) -> _Draft:
        """What stands between two commands is read; the draft to go on with."""
        operator = self._operator()
        if draft.empty:
            if operator not in (";", "(", ")"):  # "( a ) && b": what follows the parenthesis joins
                draft.joined = operator if found else ""
            return draft
        self.commands_left -= 1
        found.append(draft)
        return _Draft(";" if operator in ("(", ")") else operator)

    def _operator(self) -> str:
        if self.text[self.at] == "\n":
            self.at += 1
            self._bodies()
            return ";"
        for operator in ("&&", "||", "|&", ";;"):
            if self.text.startswith(operator, self.at):
                self.at += 2
                return ";" if operator == ";;" else operator
        self.at += 1
        return self.text[self.at - 1]

    def _to(self, mark: str) -> None:
        end = self.text.find(mark, self.at)
        self.at = len(self.text) if end < 0 else end + (len(mark) if mark != "\n" else 0)

    def _piece(self, draft: _Draft, closing: str, depth: int) -> None:
        """A word, or the number in front of a redirection."""
        start = self.at
        word, quoted = self._word(draft, closing, depth)
        if self.at == start:  # a sign that means nothing here
            self.at += 1
            return
        following = self.text[self.at : self.at + 1]
        if following and following in "<>" and word.isascii() and word.isdigit() and not quoted and len(word) < 4:
            self._redirect(draft, word, closing, depth)
            return
        draft.add(word, quoted)
        if draft.words == ["[["]:
            self._test(draft, closing, depth)

    def _test(self, draft: _Draft, closing: str, depth: int) -> None:
        """``[[ a > b ]]``: the signs compare, they redirect and join nothing."""
        while self.at < len(self.text) and draft.words[-1] != "]]":
            sign = self.text[self.at]
            if sign in "\n" or sign == closing:
                return
            if sign in _SPECIAL and sign not in "'\"\\$`":
                self.at += 1
                continue
            word, _ = self._word(draft, closing, depth)
            draft.words.append(word)

    def _redirect(self, draft: _Draft, number: str, closing: str, depth: int) -> None:
        operator = next((sign for sign in _REDIRECTS if self.text.startswith(sign, self.at)), self.text[self.at])
        self.at += len(operator)
        while self.text[self.at : self.at + 1] in ("\t", " "):
            self.at += 1
        target, quoted = self._word(draft, closing, depth)
        redirect = [operator, target, number, "", ""]
        if operator in ("<<", "<<-"):
            if not target or not self.heredocs_left:
                return
            self.heredocs_left -= 1
            redirect[4] = "" if quoted else "$"
            self.waiting.append(redirect)
        draft.redirects.append(redirect)

    def _bodies(self) -> None:
        """The texts of the heredocs that began on the line before."""
        for redirect in self.waiting:
            start = self.at
            end, self.at = self._end_of_heredoc(redirect[1], redirect[0] == "<<-")
            redirect[3] = self.text[start:end]
        self.waiting.clear()

    def _end_of_heredoc(self, delimiter: str, tabs: bool) -> tuple[int, int]:
        """Where the text ends, and where reading goes on; both the end of everything where the delimiter has no line of its own."""
        text, at, whole = self.text, self.at, len(self.text)
        while (found := text.find(delimiter, at)) >= 0:
            line, after = found, found + len(delimiter)
            while tabs and line > at and text[line - 1] == "\t":
                line -= 1
            if (line == self.at or text[line - 1] == "\n") and text[after : after + 1] in ("", "\n", "\r"):
                return line, after
            at = after
        return whole, whole

    def _word(self, draft: _Draft, closing: str, depth: int) -> tuple[str, bool]:
        """The word at hand with its quotes taken off, and whether it had any."""
        text, parts, quoted, start = self.text, [], False, self.at
        while self.at < len(text):
            sign = text[self.at]
            if sign not in _SPECIAL:
                parts.append(self._plain())
            elif sign == "'":
                parts.append(self._single())
                quoted = True
            elif sign == '"':
                self.at += 1
                parts.append(self._double(draft, depth))
                quoted = True
            elif sign == "\\":
                quoted = quoted or not text.startswith("\\\n", self.at)
                parts.append(self._escaped())
            elif sign == closing and sign == "`":
                break
            elif sign in "$`":
                parts.append(self._dollar(draft, depth))
            elif sign in "<>" and not parts and text.startswith("(", self.at + 1):
                parts.append(self._substitution(draft, 2, ")", depth))
            else:
                break
        assigns = bool(parts) and "=" in parts[0] and self.text.startswith(parts[0], start)  # NAME='a value': no quotes in front
        return "".join(parts), quoted and not assigns

    def _plain(self) -> str:
        text, start, at = self.text, self.at, self.at
        end = len(text)
        while at < end and text[at] not in _SPECIAL:
            at += 1
        self.at = at
        return text[start:at]

    def _single(self) -> str:
        start = self.at + 1
        end = self.text.find("'", start)
        self.at = len(self.text) if end < 0 else end + 1
        return self.text[start : self.at - 1 if end >= 0 else self.at]

    def _escaped(self) -> str:
        sign = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        return "" if sign == "\n" else sign

    def _double(self, draft: _Draft, depth: int) -> str:
        text, parts = self.text, []
        while self.at < len(text):
            start = self.at
            while self.at < len(text) and text[self.at] not in _IN_DOUBLE:
                self.at += 1
            parts.append(text[start : self.at])
            sign = text[self.at : self.at + 1]
            if sign == '"':
                self.at += 1
                break
            if sign == "\\":
                following = text[self.at + 1 : self.at + 2]
                parts.append(
                    following if following and following in _IN_DOUBLE else "" if following == "\n" else sign + following
                )
                self.at += 2
            elif sign:
                parts.append(self._dollar(draft, depth, double=True))
        return "".join(parts)

    def _dollar(self, draft: _Draft, depth: int, *, double: bool = False) -> str:
        """``$(…)``, `` `…` ``, ``$((…))`` and ``$'…'``; a plain ``$`` is a letter like others."""
        text, at = self.text, self.at
        if text[at] == "`":
            return self._substitution(draft, 1, "`", depth)
        if text.startswith("$((", at):
            self._to("))")
            return text[at : self.at]
        if text.startswith("$(", at):
            return self._substitution(draft, 2, ")", depth)
        if text.startswith("$'", at) and not double:
            return self._ansi()
        self.at += 1
        return "$"

    def _substitution(self, draft: _Draft, opening: int, closing: str, depth: int) -> str:
        """The text as written; the commands in it become ``inner`` ones."""
        start = self.at
        self.at += opening
        if depth < _DEEPEST:
            draft.inner += self.commands(closing, depth + 1)
        else:
            self._to(closing)
        return self.text[start : self.at]

    def _ansi(self) -> str:
        parts: list[str] = []
        self.at += 2
        while self.at < len(self.text):
            sign = self.text[self.at]
            self.at += 1
            if sign == "'":
                break
            if sign == "\\":
                sign = self.text[self.at : self.at + 1]
                sign = _ESCAPES.get(sign, sign)
                self.at += 1
            parts.append(sign)
        return "".join(parts)


def _is_name(text: str) -> bool:
    return text.isidentifier() and text.isascii()
