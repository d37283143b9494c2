"""Credentials in the forms of particular programs: SQL, ``.pgpass``, Docker's ``auth``, cookies, "login as joe / secret"."""

from __future__ import annotations

from hardwon.intake.candidates import is_mask, is_mixed, is_pair, stands_in
from hardwon.intake.patterns import DIGIT, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.intake.patterns import Span

_IDENTIFIED = r"(?:user|grant)\b[^\n;]{1,200}?identified by[ ]+[\"']([^\"'\n]{3,200})[\"']"
_PGPASS = r"(?:^|(?<=[\s\"'`]))[\w.*-]{1,100}:(?:\d{4,5}|\*):[\w*.-]{1,60}:[\w*.-]{1,60}:([^\s\"'`:]{4,200})"
_ENCODED_PAIR = r"[\"':]_?auth[\"']?[ ]*[:=][ ]*[\"']?([A-Za-z0-9+/]{8,400}={0,2})"
_COOKIE = r"cookie[\"']?[ ]?[:=][^\n]{0,2000}"
_CRUMB = r"[;: \"'][\w.-]{0,20}(?:sess|sid|auth|token|jwt|csrf)[\w.-]{0,20}=([^\s;,\"'<>]{12,})"
_LOGIN = r"login[ ](?:(?:with|as|using|is)[ ])?[\"'`]?[\w.@-]{2,40}[ ]?/[ ]?([^\s\"'`,;)/]{6,100})"
_STORED = (
    ("identified by", _IDENTIFIED, "password"),
    (":5432:", _PGPASS, "password"),
    ("auth", _ENCODED_PAIR, "credentials"),
    ("login ", _LOGIN, "password"),
)


def stored_credentials(text: str, low: str) -> Iterator[Span]:
    """Credentials in the forms of particular programs: SQL, ``.pgpass``, Docker's ``auth``, cookies, ``login as joe / secret``."""
    for needle, source, kind in _STORED:
        if needle in low:
            for found in compiled(source).finditer(low):
                start, end = found.span(1)
                if _is_stored(text[start:end], needle):
                    yield start, end, kind


def cookies(text: str, low: str) -> Iterator[Span]:
    """Session cookies: what logs a browser in is as good as a password."""
    for header in compiled(_COOKIE).finditer(low):
        for found in compiled(_CRUMB).finditer(low, *header.span()):
            if compiled(DIGIT).search(found[1]) and not is_mask(found[1]):
                yield found.start(1), found.end(1), "cookie"


def _is_stored(word: str, needle: str) -> bool:
    """Whether the value reads as a secret where it stands: an encoded pair, a quoted password, or at least no plain word."""
    if needle == "auth":
        return is_pair(word)
    return not stands_in(word, quoted=True) and (needle == "identified by" or is_mixed(word) or word.count("-") > 2)
