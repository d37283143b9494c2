"""Passwords in other languages than English: ``Kennwort für X: …``, ``la contraseña es …``, ``пароль от базы …``, ``密码是 …``.

Only texts with other letters than those of ASCII are looked at; "Passwort" and "mot de passe" are known to ``named_secrets``.
There are no lists of ordinary words for these languages, so a value counts only where it is none: letters with digits or symbols,
or a phrase of four words and more.
"""

from __future__ import annotations

from hardwon.intake.candidates import is_mixed, stands_in
from hardwon.intake.patterns import CLOSERS, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.intake.patterns import Span

_NAMES = (
    r"(?:passwort|kennwort|losungswort|mot de passe|mdp|contrase(?:ñ|n)a|clave(?: de acceso)?|senha|palavra-passe|parola d'ordine"
    r"|wachtwoord|has[łl]o|heslo|lösenord(?:et)?|adgangskode|passord(?:et)?|salasana|şifre|jelsz[oó]|парол[ьяюе]м?|код доступа"
    r"|密码|密碼|口令|パスワード|暗証番号|비밀번호|(?:api|zugangs)-?schlüssels?|clé api|clave api|chave api|api-sleutel)"
)
_SIGN = r"[\"'`»)]{0,2}[ \t]{0,3}(?:[:：=]|—|–|是|为|為|は|는|은)[ \t]{0,3}"
_VERB = (
    r"(?:[ \t]{1,3}[^\s:=]{1,24}){0,4}?[ \t]{1,3}(?:ist|lautet|war|es|era|est|était|é|è|is|was|to|jest|это|был)[ \t]*:?[ \t]{1,3}"
)
_NEXT = r"(?:[ \t]{1,3}[^\x00-\x7f]{1,24}){0,3}[ \t]{1,3}"  # scripts of other letters: what is ASCII among them is the value
_VALUE = r"[\"'`«(]?([^\s\"'`»,;<>\x80-\U0010ffff]{4,200})"


def foreign_passwords(text: str, low: str) -> Iterator[Span]:
    """Values of names for passwords and keys in some twenty languages; ``low`` is ``text`` in lower case, letter for letter."""
    for name in compiled(_NAMES).finditer(low):
        for form in (_SIGN, _VERB, _NEXT):
            found = compiled(form + _VALUE).match(low, name.end())
            start = found.start(1) if found else 0
            word = text[start : found.end(1)].rstrip(CLOSERS) if found else ""
            if len(word) >= 4 and (is_mixed(word) or word.count("-") > 2) and not stands_in(word, quoted=False):
                yield start, start + len(word), "password"
                break
