"""Credentials in URLs (``scheme://user:secret@host``) and on command lines (``curl -u user:secret``)."""

from __future__ import annotations

from hardwon.intake.candidates import is_mask, is_mixed, stands_in
from hardwon.intake.patterns import DIGIT, LONG_WORD, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.intake.patterns import Span

_USERINFO = r"([^\s/?#@:\"'<>`]{0,200})(?::([^\s/\"'<>`]{1,500}|[^\s:\"'<>`]{1,200}))?@(?=[\w.\[-])"
_QUERY = r"(?i:[?&](?:sig|key|jwt|auth|code|(?:x-(?:amz|goog)-)?signature|x-amz-security-token)=)([^\s&#\"'<>`]{16,})"
_COMMAND = r"[ =]?[\"']?(?:[a-z_][\w.@+-]{0,60}:)?([^\s\"':]{4,300})"
_URL_WORDS = ("password", "passwd", "pass", "pwd", "pw", "secret", "token", "port", "x-oauth-basic")
# What stands before "-p" when it means a password and no port: clients of databases, logins to registries.
_CLIENT = r"(?:mysql|mariadb|mysqldump|mysqladmin|(?:docker|podman|az|oc|helm|buildah|skopeo)[ ]+(?:[a-z]+[ ]+)?login)[ ][^\n;|&]{0,200}$"
_ATTACHED = r"([^\s\"'=]{4,100})|[\"']([^\"'\n]{4,100})[\"']"
_COMMANDS = ((" -u ", True), (" --user ", True), (" --user=", True), (" --proxy-user ", True), ("sshpass -p", False))


def url_credentials(text: str) -> Iterator[Span]:
    """The secret of ``scheme://user:secret@host``, and of query parameters whose names say little (``sig``, ``key``)."""
    at = text.find("://")
    while at >= 0:
        found = compiled(_USERINFO).match(text, at + 3)
        if found:
            user, secret = found.groups()
            if secret and _is_url_secret(secret):
                yield found.start(2), found.end(2), "url-credentials"
            elif secret is None and len(user) >= LONG_WORD and compiled(DIGIT).search(user) and not is_mask(user):
                yield found.start(1), found.end(1), "url-credentials"
        at = text.find("://", at + 3)
    if "?" in text:
        for found in compiled(_QUERY).finditer(text):
            if compiled(DIGIT).search(found[1]) and not is_mask(found[1]):
                yield found.start(1), found.end(1), "url-credentials"


def _is_url_secret(secret: str) -> bool:
    port = secret.lstrip("0123456789")
    if len(port) < len(secret) and port[:1] in ("/", "?", "#"):
        return False
    if "/" in secret and not compiled(DIGIT).search(secret):
        return False
    return not is_mask(secret) and secret.lower() not in _URL_WORDS


def command_credentials(text: str) -> Iterator[Span]:
    """Passwords on command lines: ``curl -u user:secret``, ``sshpass -p secret``."""
    for needle, with_user in _COMMANDS:
        at = text.find(needle)
        while at >= 0:
            found = compiled(_COMMAND).match(text, at + len(needle))
            if found and (":" in found[0]) == with_user and _is_typed(found[1]):
                yield found.start(1), found.end(1), "password"
            at = text.find(needle, at + len(needle))
    if " -p" in text:
        yield from _short_options(text)


def _is_typed(word: str) -> bool:
    return (is_mixed(word) or word.count("-") > 2) and not stands_in(word, quoted=False)


def _short_options(text: str) -> Iterator[Span]:
    """``mysql -psecret``, ``docker login -p secret``; elsewhere ``-p`` is a port, a path or a project."""
    at = text.find(" -p")
    while at >= 0:
        line = text[max(0, text.rfind("\n", 0, at) + 1, at - 260) : at + 1]
        gap = text[at + 3 : at + 4] == " "
        found = compiled(_ATTACHED).match(text, at + 3 + gap)
        if found and found[0][0] != "-" and compiled(_CLIENT).search(line) and gap == ("login" in line):
            group = found.lastindex or 1
            if not stands_in(found[group], quoted=group == 2):
                yield found.start(group), found.end(group), "password"
        at = text.find(" -p", at + 3)
