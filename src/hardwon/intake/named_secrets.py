"""Values of secret-like names: assignments and headers, options of commands, prose ("the password is …")."""

from __future__ import annotations

from hardwon.intake.candidates import is_mixed, is_pair, is_plain, is_secret, is_telling, stands_in
from hardwon.intake.patterns import CLOSERS, DIGIT, IDENTIFIER, MARK, NAME_LETTERS, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.intake.patterns import Span

    Value = tuple[int, int, bool]  # start, end, whether it is quoted

_REACH = 300  # characters of a value that are judged; an accepted one is redacted to its end

_NAME = r"(?:pass(?:word|wd|phrase|code|wort|e)?|pwd|pw|secret|token|key|authorization|bearer|credentials|creds)(?![a-z])"
_ASSIGN = (
    r"(?:[_-]?\d{1,3}|[_-](?:base|value|prod|production|dev|staging|test|live|v\d))?[\"'`\\\]\[*]{0,5}"
    # A type between name and sign, but not the scheme of a header, whose value may end in "=".
    r"(?:\?|[ \t]?:[ \t]?(?!(?:basic|bearer|digest|negotiate|ntlm|token|apikey)[ \t]{1,4}[^\s=])"
    r"[a-z_&*][\w.\[\]<>&*| ]{0,40}?(?=[ \t]?=[^=]))?"
    r"[ \t]{0,20}(?::=|=>|:-|[:=](?![:=~>])|→|,(?=[ \t]?[\"']))[ \t*]{0,20}"
    r"(?:process\.env\.\w{1,40}[ \t]?(?:\|\||\?\?)[ \t]?)?"
)
# The name and its value as two entries: attributes of XML, entries of Kubernetes and ECS, blocks of Terraform, cells of a table.
_ENTRIES = (
    r"[\"']\s{1,8}value=(?=[\"'])|[\"']?,?\s{1,20}[\"']?value[\"']?[ \t]?[:=][ \t]?(?=\S)|[\"'],[ \t]?[\"']value[\"']:[ \t]?"
    r"|[\"'][ \t]?\{\s{1,8}(?:(?:type|description|sensitive)[ \t]*=[^\n]{1,100}\s{1,8}){0,3}default[ \t]*=[ \t]*"
    r"|[\"'`*]{0,3}[ \t]{0,20}\|[ \t]{0,20}(?=[^|\n]{6,120}\|)"
)
_AROUND = " \t\"'`\\][*?0123456789"  # what may stand between a name and its sign
_TAGGED = r">(?=[^\s<>]{3,300}</)"
_ENTRY_ENDS = ('"', "'", "`", "*", "|", ",", "\n", "\r")
_SCHEME = r"[\"'`]?(?:bearer|basic|token|apikey|api-key|bot|key|oauth|ntlm|negotiate)[ \t]{1,4}"
_SAID = (
    r"[\"'`*)]{0,2}(?:\s{1,3}(?:for|of|on|at|in|to)(?:[ \t]{1,3}[\w.@/'`-]{1,40}){1,4}?)??"
    r"(?:\s{1,3}(?:is|was|has\sbeen|got|will\sbe|would\sbe|are|es|est|ist|è|é|lautet)|'s)(?:\s{1,3}(?:now|still|currently|just|actually|again|always|temporarily))?"
    r"(?:\s{1,3}(?:set|changed|reset|updated|rotated)\sto)?(?:[ \t]?[:=])?\s{1,3}"
)
_TOLD = r"\s{1,3}(?:for|of|on|at|in|to)(?:[ \t]{1,3}[\w.@/'`-]{1,40}){1,4}?[ \t]?:[ \t]{1,3}"  # "api key for billing: …"
_TYPED = r",?[ \t]{1,3}(?:type|enter|use|try)[ \t]{1,3}"  # "it asks for a password, type …"
_TURNED = r"[\"'`*]{0,2}(?:\s{1,3}(?:set|changed|reset|updated|rotated))?\s{1,3}to\s{1,3}"
_QUOTE = r"(?:[bfru@]{0,2})\\{0,3}([\"'`])"
_VALUE = r"(?:[^\s\"'`,;&<]|[,;&](?![\s\"'`}\])]|[\w .-]{1,30}[=:]|$)){1,300}"
_PAIR = r"[\"'`)]?(?:\s{1,3}(?:is|are|was|were))?[ \t]{0,3}[:=]?[ \t]{0,3}[\"'`(]?[\w.@-]{1,60} ?[:/] ?([^\s\"'`,;)]{4,300})"
_MORE = r"[^\s\"'`<]+"
_COMMAND_END = r"[\"'`.]?\s*(?:$|\n|-|\||&|;|\\)"
_TEST = r"tests?_?\d+$"
_TEST_NAME = r"(?i:.*test|.*[/_.:-]|[a-z]+\d?$|[a-z]?\d+$)"
_NEXT_PAIR = r";[ ]?[A-Za-z][A-Za-z ]{1,30}=|;[\"'`]?$|;[\"'`]\s"  # of a connection string: "Password=…;Encrypt=True"
_CLAUSE = r"[.!?]*(?:[,;:)\]\"'`]|\s*$|\.?\s*\n|[.!?]\s)|\s+([a-z]+)\b"
_UNIT = r"[ \t\n-](?:random |more )?([a-z]+)"

_KIND_WORDS = {"bearer": "token", "creds": "credentials", "key": "api-key", "stated": "api-key"}
_SPOKEN = ("password", "secret", "token", "key", "stated")
_UNITS = "character char byte bit digit symbol letter word day hour minute second time attempt kb year week month percent item"
# What may follow a value in a sentence; after an adjective there is more: "stored in", "needed by".
_CLAUSES = "for on at in and but so now since because instead not before until till then today yesterday again"
_KEYS = (
    "api", "access", "secret", "private", "signing", "encryption", "auth", "account", "master", "license", "licence", "deploy",
    "subscription", "application", "app", "service", "hmac", "webhook", "client", "consumer", "rest", "shared", "x-functions",
)  # fmt: skip
# A value straight after the name needs an introduction of this kind.
_INTRODUCED = ("with", "using", "use", "and", "default", "root", "admin", "temporary", "temp", "same", "try", "new", "/", "the")
_CHANGES = ("set ", "chang", "updat")  # verbs before "the password to"
_FOREIGN = (" es", " est", " ist", " è", " é", " lautet")  # what follows may be a word of a language without stop words here
_SHORT = ("pw", "passcode")  # names that are written before a value only
_PAIRED = ("user/", "username/", "login/", "name/", "account/", "id/", "email/")
# Calls that give a name, quoted, a value: define("DB_PASS", "…"), os.getenv("TOKEN", "…"), setProperty("password", "…").
_GIVES = r"(?:define|default|property|header|(?:set|put|add|with|get|insert)\w{0,20}|\w{0,12}env)\([\"']$"
_STATED = ("the ", "our ", "my ", "your ", "this ")  # before a mere "key" that somebody tells


def named_secrets(text: str, low: str) -> Iterator[Span]:
    """Values of secret-like names; ``low`` is ``text`` in lower case, letter for letter."""
    done = 0
    for found in compiled(_NAME).finditer(low):
        start, end = found.span()
        kind = _kind(text, low, start, end) if start >= done else ""
        if not kind:
            continue
        for rule in _RULES:
            value = rule(text, low, start, end, kind)
            if value:
                done = _whole(text, value)
                yield value[0], done, _KIND_WORDS.get(kind, kind)
                break


def _kind(text: str, low: str, start: int, end: int) -> str:
    """What kind of secret the name at this place means; empty where it is part of another word, or of a mark."""
    word = low[start:end]
    if word == "key":
        before = low[max(0, start - 16) : start]
        if before.rstrip(" _-.").endswith(_KEYS):
            return word
        return "stated" if before.endswith(_STATED) else ""
    if word in ("pass", "pw", "pwd", "creds") and low[start - 1 : start].isalnum() and not text[start].isupper():
        return ""
    if low.rfind(MARK, max(0, start - 26), start) > low.rfind("]", max(0, start - 26), start):
        return ""
    return "" if _means_else(word, low, start) else "password" if word.startswith("p") else word


def _means_else(word: str, low: str, start: int) -> bool:
    """The French "passe" alone, the user of an address, ``/etc/passwd``."""
    if word == "passe" and low[max(0, start - 7) : start] != "mot de ":
        return True
    before = low[max(0, start - 40) : start].rstrip(NAME_LETTERS)
    return before.endswith("://") or (word == "passwd" and before.endswith("/"))


def _identifier(text: str, start: int, end: int) -> str:
    """The whole name that ends here, after the character before it: ``" DB_PASSWORD"``, ``"?access_token"``."""
    head = " " + text[max(0, start - 40) : start]
    return head[len(head.rstrip(NAME_LETTERS)) - 1 :] + text[start:end]


def _assigned(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``NAME=value``, ``"name": "value"``, ``name := value``, ``?name=value``, ``<name>value<``, ``Authorization: Bearer value``."""
    if low[end : end + 1] not in "_-" and low[end : end + 40].lstrip(_AROUND)[:1] not in ":=,→>":
        return None  # seen without compiling the pattern
    name = _identifier(text, start, end)
    found = compiled(_ASSIGN).match(low, end) or (compiled(_TAGGED).match(low, end) if name[0] == "<" else None)
    if not found or not _assigns(name, found[0], kind):
        return None
    at = found.end()
    if kind == "authorization":
        scheme = compiled(_SCHEME).match(low, at)
        at = scheme.end() if scheme else at
    if "," in found[0] and kind != "authorization":
        return _given(text, low, end, name, at, kind)
    loud = name.strip("\"' `([{,;\t\n-").isupper()
    sure = found[0] == "=" and (loud or name[0] in "?&;")
    value = _secret_at(text, at, kind, sure=sure, ends="#" if name[0] in "?&" else "")
    if value and name[1:].lower() == "pass" and found[0].lstrip()[:1] == ":" and not _is_no_test(text, value):
        return None
    if not value or value[2] or sure or found[0][-1] == ">" or _ends_there(text, value, kind, "=" in found[0], loud):
        return value
    return None


def _is_no_test(text: str, value: Value) -> bool:
    """Whether what follows ``pass:`` is a password and not the name of a test that passed."""
    word = text[value[0] : value[1]]
    return value[2] or word.count("-") > 2 or (is_mixed(word) and word.isascii() and not compiled(_TEST_NAME).match(word))


def _given(text: str, low: str, end: int, name: str, at: int, kind: str) -> Value | None:
    """The second of two quoted arguments: ``define("DB_PASS", "value")``; not of a call that compares or looks up."""
    begin = end - len(name) + 1
    value = _secret_at(text, at, kind) if compiled(_GIVES).search(low, max(0, begin - 40), begin) else None
    return value if value and value[2] and is_mixed(text[value[0] : value[1]]) else None


def _assigns(name: str, sign: str, kind: str) -> bool:
    """Whether this sign gives a name of that kind a value: not in ``"f(token, x)"``, ``"arn:…:secret:x"``."""
    return kind != "bearer" and name[0] + sign != "::"


def _ends_there(text: str, value: Value, kind: str, equals: bool, loud: bool) -> bool:
    """Whether an unquoted value reads as one, and not as code or as the first word of a sentence."""
    word = text[value[0] : value[1]]
    if not compiled(IDENTIFIER).match(word) or (kind == "authorization" and is_pair(word)):
        return True
    rest = text[value[1] : value[1] + 40]
    if compiled(_NEXT_PAIR).match(rest):
        return True
    if rest[:1] in ("(", "[", ")", ";", "<") or (rest[:1] == "," and equals):
        return False  # an argument, a statement
    if compiled(DIGIT).search(word):
        return True
    alone = not rest.strip(" \t,.!\"'`}").split("\n")[0].rstrip()
    return alone and (loud or (kind == "password" and "_" not in word))


def _flagged(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``--password value``."""
    gap = _gap(low, end, " \t")
    if not gap or not _identifier(text, start, end).lstrip(" \t\n`\"'([").startswith("-"):
        return None
    value = _secret_at(text, end + gap, kind)
    word = text[value[0] : value[1]] if value else "-"
    if word[0] == "-" or word.isupper():
        return None
    return value if value and (value[2] or not is_plain(word) or compiled(_COMMAND_END).match(text, value[1])) else None


def _said(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``password is value``, ``the token for staging was value``, ``set the password to value``."""
    if kind not in _SPOKEN or low[start:end] == "pass":
        return None
    for form in (_SAID, _TURNED, _TYPED, _TOLD):
        found = compiled(form).match(low, end)
        value = _secret_at(text, found.end(), kind) if found else None
        if value and found and _is_word(text, value) and (form == _TOLD or found[0].rstrip(" \t:=").endswith(_FOREIGN)):
            value = None
        if value and _reads_on(
            text, low, value, form == _SAID or any(verb in low[max(0, start - 40) : start] for verb in _CHANGES)
        ):
            return value
    return None


def _is_word(text: str, value: Value) -> bool:
    word = text[value[0] : value[1]]
    return not value[2] and is_plain(word)


def _reads_on(text: str, low: str, value: Value, stated: bool) -> bool:
    """Whether the words after the value leave it one: not "8 characters", not "stored in", and not a mere "password to enter"."""
    word = text[value[0] : value[1]]
    if word.isdigit():
        unit = compiled(_UNIT).match(low, value[1])
        return not unit or unit[1].rstrip("s") not in _UNITS.split()
    if not is_plain(word):
        return True
    clause = compiled(_CLAUSE).match(text, value[1])
    return stated and (value[2] or (clause is not None and (not clause[1] or clause[1] in _CLAUSES.split())))


def _beside(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``with password value``, ``login joe password value`` (netrc), ``PASSWORD "value"``, ``Bearer value``."""
    gap = 0 if kind == "authorization" or low[start:end] == "pass" else _gap(low, end, " \t")
    enclosed = text[end + gap : end + gap + 1] == "("
    value = _secret_at(text, end + gap + enclosed, kind, ends=")" * enclosed) if gap else None
    if not value:
        return None
    word = text[value[0] : value[1]]
    name = _identifier(text, start, end)
    begin = end - len(name) + 1
    before = low[max(0, begin - 60) : begin].split()[-2:]
    if len(before) == 2 and before[0] == "login":
        return value
    if before and before[-1] in ("env", "setx", "-gx") and name[0] in " \t":
        return value  # ENV NAME value of a Dockerfile
    if is_telling(word) or (kind == "bearer" and len(word) >= 16):
        return value
    hinted = value[2] or (bool(before) and before[-1].endswith(_INTRODUCED)) or low[start:end] in _SHORT
    telling = is_mixed(word) or word.count("-") >= 3 or word.isdigit()
    return value if kind == "password" and hinted and telling and len(word) >= 6 and not compiled(_TEST).match(word) else None


def _paired(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """``credentials: joe/value``, ``user/password joe:value``."""
    if kind not in ("credentials", "creds") and not low[max(0, start - 12) : start].endswith(_PAIRED):
        return None
    found = compiled(_PAIR).match(text, end)
    telling = found and (is_mixed(found[1]) or found[1].count("-") > 2)
    if not found or not telling or stands_in(found[1], quoted=False) or len(found[1]) < 6:
        return None
    return found.start(1), found.end(1), False


def _entered(text: str, low: str, start: int, end: int, kind: str) -> Value | None:
    """The value in an entry of its own after the name's: ``<add key="NAME" value="…"/>``, ``| NAME | … |``."""
    found = compiled(_ENTRIES).match(low, end) if low[end : end + 2].strip(" \t")[:1] in _ENTRY_ENDS else None
    if not found or kind in ("bearer", "authorization"):
        return None
    value = _secret_at(text, found.end(), kind)
    if not value or "|" not in found[0]:
        return value
    if low[start:end] == "pass":
        return None  # a table of tests
    word = text[value[0] : value[1]]
    return value if len(word) >= 6 and compiled(DIGIT).search(word) and is_mixed(word) else None


_RULES = (_paired, _assigned, _entered, _said, _flagged, _beside)


def _gap(low: str, at: int, space: str) -> int:
    """How many characters of white space stand there, of up to 8."""
    return len(low[at : at + 8]) - len(low[at : at + 8].lstrip(space))


def _secret_at(text: str, at: int, kind: str, *, sure: bool = False, ends: str = "") -> Value | None:
    """The value that begins here, if it reads as a secret: start, end, and whether it is quoted."""
    value = _value(text, at)
    if not value:
        return None
    start, end, quoted = value
    word = text[start:end]
    if ends and ends in word:
        word = word[: word.index(ends)]
    if stands_in(word, quoted) or not is_secret(word, kind, quoted=quoted, sure=sure):
        return None
    return start, start + len(word), quoted


def _value(text: str, at: int) -> Value | None:
    """Where the value that begins here starts and ends (at most ``_REACH`` on), and whether it is quoted."""
    quote = compiled(_QUOTE).match(text, at)
    if quote:
        at = quote.end()
        end = text.find(quote[1], at, at + _REACH)
        if end >= 0 and "\n" not in text[at:end]:
            end = at + len(text[at:end].rstrip("\\"))
            return (at, end, True) if end > at else None
    found = compiled(_VALUE).match(text, at)
    word = found[0].rstrip(CLOSERS) if found else ""
    return (at, at + len(word), False) if word else None


def _whole(text: str, value: Value) -> int:
    """The end of an accepted value, with what judging left off: a last mark of exclamation, all beyond its reach."""
    start, end, quoted = value
    if quoted:
        return end
    if end - start >= _REACH - 9:
        more = compiled(_MORE).match(text, end)
        return more.end() if more else end
    return end + len(text[end : end + 20]) - len(text[end : end + 20].lstrip("!?="))
