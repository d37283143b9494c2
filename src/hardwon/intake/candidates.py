"""Whether a candidate, the value of a secret-like name, reads as a secret or only stands where one would."""

from __future__ import annotations

from hardwon.intake.patterns import DIGIT, IDENTIFIER, compiled
from hardwon.intake.random_words import PIECES, is_hex, is_jumbled
from hardwon.intake.stop_words import COMMON, ENDINGS, is_ordinary

_CONSONANTS = r"[bcdfghjklmnpqrstvwxz]{6}"
_NAMED = r"pass|token|secret|key|pwd"
# What stands where a value would, and is none: code, paths, references, versions, amounts, tickets, names of techniques.
_CODE = r"[&*!-]{0,2}[a-z_][\w.]*(?:\(|\[|->|::|\?\.|\.\.\.)|&[a-z_]\w*$|(?:[a-z_]\w*\.)+[a-z_]\w*$"
_PLAIN = (
    r"\.{0,2}~?/[\w.^]|[a-z]{1,12}://"
    r"|[~^<>=v]{0,2}\d{1,4}(?:\.(?:\d+|x|\*))+(?:[+-][\w.+-]{1,20})?(?:\(|$)|\d{1,4}(?:-\d{1,4}){1,2}$"
    r"|[<>=~#-]*\d{1,3}(?:[a-z%+]{0,2}|[-/x]\d{1,3})$|0x[\da-f]+$|[a-z]{2,8}-\d+(?:-\d+)?$|#[\da-f]+$"
)
_CASES = r"[A-Z]?[a-z]+|[A-Z]+"
_MASKS = frozenset("x*.…-_•#?")
_REFERENCES = "env vault file fd op ssm arn ref keyring cmd secret from sha1 sha256 sha512 md5"  # "env:NAME"


def is_secret(word: str, kind: str, *, quoted: bool, sure: bool) -> bool:
    """Whether ``word``, which stands in for nothing, reads as a secret of that kind.

    A password may be a word of the dictionary; a token, key or secret looks random, unless the place says it all.
    """
    if quoted and any(char.isspace() for char in word):
        return kind == "password" and _is_phrase(word)
    if kind == "stated":  # "the key is …" is mostly of a dictionary or a table
        return is_telling(word)
    if word.isdigit():
        return len(word) >= (4 if kind == "password" else 10)
    wordy = kind == "password" or sure or (quoted and kind == "secret")
    if is_mixed(word):
        return len(word) >= 4 if wordy else len(word) >= 6 and not _is_variable(word, kind)
    return (kind == "authorization" and is_pair(word)) or _are_letters(word, kind, quoted=quoted, wordy=wordy)


def _are_letters(word: str, kind: str, *, quoted: bool, wordy: bool) -> bool:
    """Whether letters only, perhaps with hyphens, are a secret."""
    letters = word.replace("-", "").replace("_", "")
    if wordy:
        return len(letters) >= 3 and (letters.islower() or letters.isupper() or not compiled(_NAMED).search(letters.lower()))
    alike = len(word) >= 16 and letters == word.lower() and (quoted or kind in ("authorization", "bearer"))
    return len(letters) >= 12 and (alike or is_jumbled(word))


def _is_phrase(text: str) -> bool:
    """Whether several words are such as people choose for a password, and no label."""
    parts = text.split()
    talk = sum(part in COMMON or part.endswith(ENDINGS) for part in parts)
    return len(parts) > 2 and text.islower() and talk * 3 < len(parts)


def is_telling(word: str) -> bool:
    """Whether a word reads as a token wherever it stands: long, and in hexadecimal or as chance has it."""
    return len(word) >= 16 and (is_hex(word.replace("-", "")) or any(map(is_jumbled, compiled(PIECES).findall(word))))


def is_pair(word: str) -> bool:
    """Whether base64 (its end may be missing) holds ``user:secret``."""
    from binascii import Error, a2b_base64

    bare = word.rstrip("=")
    try:
        pair = a2b_base64(bare + "=" * (-len(bare) % 4), strict_mode=True)
    except (Error, ValueError):
        return False
    return pair.isascii() and b":" in pair[1:-1] and pair.decode().isprintable()


def _is_variable(word: str, kind: str) -> bool:
    """An identifier with a number in it: "tok2", "parseV2Token"."""
    if not compiled(IDENTIFIER).match(word) or sum(map(str.isdigit, word)) > 2 or is_jumbled(word):
        return False
    return not (kind in ("authorization", "bearer") and len(word) >= 12) and not compiled(_CONSONANTS).search(word.lower())


def is_mixed(word: str) -> bool:
    """Letters together with digits or odd symbols, or of both cases as chance would have them."""
    digit = compiled(DIGIT).search(word)
    if digit or any(char in "@!#$%^&*?+=~" for char in word):
        return any(map(str.isalpha, word))
    return len(word) >= 8 and word.isalpha() and not word.istitle() and len(compiled(_CASES).findall(word)) * 3 > len(word)


def is_plain(word: str) -> bool:
    """Letters only, and perhaps a hyphen or two; three make a phrase such as people choose for passwords."""
    return word.replace("-", "").isalpha() and word.count("-") < 3 and not is_mixed(word)


def stands_in(word: str, quoted: bool) -> bool:
    """Whether ``word`` only stands where a value would: a mask, a variable, code, a path, a version, or an ordinary word."""
    if is_mask(word):
        return True
    low = word.lower()
    if compiled(_PLAIN).match(low) or low.partition(":")[0] in _REFERENCES.split() or is_ordinary(low):
        return True
    return not quoted and ("()" in low or compiled(_CODE).match(low) is not None)


def is_mask(word: str) -> bool:
    """``<value>``, ``${VAR}``, ``%s``, ``****``, ``xxx``, ``...``"""
    first = word[:1]
    if first in "<{[()]}>" or set(word.lower()) <= _MASKS:
        return True
    if first == "$":
        named = word[1:2].isalpha() or word[1:2] == "_"
        return word[1:2] in ("{", "(", "") or (named and not any(char in "~^%@!&?*" for char in word))
    if first == "%":
        return len(word) < 4 or word.endswith("%") or word[1] in "({s."
    return "${" in word or "{{" in word or "%(" in word or "#{" in word or ("<" in word and word.endswith(">"))
