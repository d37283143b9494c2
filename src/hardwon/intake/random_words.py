"""Words that look random: classes of characters change as chance would have it, and entropy is high."""

from __future__ import annotations

from hardwon.intake.patterns import DIGIT, LONG_WORD, compiled, is_escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardwon.intake.patterns import Span

RUN = r"[A-Za-z0-9+/_~.-]{20,}={0,2}"
PIECES = r"[A-Za-z0-9]{5,}"
_ELSEWHERE = r"://[^\s\"'<>`\\]*|;base64,[A-Za-z0-9+/=]*"  # addresses have a rule of their own, pictures none
_WORDS = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_SCRAMBLED = r"[A-Za-z0-9!#$%^&*@?~_-]{20,}"
# An unknown issuer's token in hexadecimal; of the size of a digest it may be one.
_PREFIXED_HEX = r"(?<![A-Za-z0-9_])[A-Za-z]{2,12}(?:_[a-z]{2,8}){0,2}_([0-9a-f]{36,})(?![0-9A-Za-z])"
_DIGEST_SIZES = (40, 48, 56, 64, 96, 128)
_HOST = r"@[a-z][a-z0-9-]*$"  # the half of an address before its first dot
_CLASSES = r"[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]"
_DIRECTIVES = r"%[-+ #0-9.*]*[hlLqjztI]*[A-Za-z0-9]|%[0-9A-F]{2}"  # of printf, and of addresses
_PATH_LIKE = r"[.~]{0,2}/(?:[a-z][a-z0-9._-]+|[A-Z][a-z]+)/|0[xX]"
_GROUPS = r"[A-Za-z0-9]{4,10}(?:[-_][A-Za-z0-9]{4,10}){2,8}$"  # a token in groups, as licences are written
_EXTENSION = r"\.[a-z]{1,5}\d?$"
# Words before a value that say it is public.
DIGESTS = (
    "sha-", "sha1", "sha2", "sha3", "sha5", "sha:", "sha=", "sha ", 'sha"', "md5", "hash", "checksum", "integrity", "digest",
    "fingerprint", "etag", "h1:", "public", "pubkey", "ssh-", "ecdsa-",
)  # fmt: skip


def random_words(text: str, words: list[str]) -> Iterator[Span]:
    """Long words of mixed characters that no name, path, hash or encoding explains."""
    at = 0
    public = _public_blocks(text) if "-----BEGIN" in text else []
    for word in words:
        at = text.find(word, at)
        body = word
        if "://" in word or ";base64," in word:
            body = compiled(_ELSEWHERE).sub(lambda found: " " * len(found[0]), word)
        if not any(start <= at < end for start, end in public):
            for found in compiled(RUN).finditer(body):
                span = _random_part(text, at + found.start(), found[0])
                if span:
                    yield *span, "high-entropy"
            for found in compiled(_PREFIXED_HEX).finditer(body):
                if len(found[1]) not in _DIGEST_SIZES:
                    yield at + found.start(), at + found.end(), "high-entropy"
            if any(symbol in body for symbol in "!#$%^&*@?~"):
                for found in compiled(_SCRAMBLED).finditer(body):
                    if _is_scrambled(found[0]):
                        first = at + found.start()
                        yield first + is_escaped(text, first), at + found.end(), "high-entropy"
        at += len(word)


def _public_blocks(text: str) -> list[tuple[int, int]]:
    """Certificates, public keys and signatures: encoded, yet open to all."""
    blocks: list[tuple[int, int]] = []
    at = text.find("-----BEGIN")
    while at >= 0 and len(blocks) < 100:
        end = text.find("-----END", at)
        if "PRIVATE" not in text[at : at + 60]:
            blocks.append((at, end if end >= 0 else len(text)))
        at = text.find("-----BEGIN", at + 10 if end < 0 else end)
    return blocks


def _random_part(text: str, start: int, run: str) -> tuple[int, int] | None:
    """The part of a run of token characters that looks random, if it is long and varied enough."""
    if compiled(_PATH_LIKE).match(run) or ("/" in run and compiled(_EXTENSION).search(run[-8:])):
        return None
    pieces = [found for found in compiled(PIECES).finditer(run) if is_jumbled(found[0])]
    whole = compiled(_GROUPS).match(run)
    if whole and not (run.isupper() or run.islower()) and is_jumbled(run.replace("-", "").replace("_", "")):
        pieces = [whole]
    if not pieces:
        return None
    first, last = pieces[0].start(), pieces[-1].end()
    if not compiled(DIGIT).search(run, first, last):
        return None
    weight = sum(len(piece[0]) for piece in pieces)
    if weight < 16 or weight * 2 < last - first or _entropy(run[first:last]) < (3.7 if last - first >= 24 else 3.4):
        return None
    before = text[max(0, start - 24) : start + first].lower()
    after = text[start + len(run) : start + len(run) + 1]
    if after == "@" or any(word in before for word in DIGESTS) or run[first : first + 4] == "AAAA":
        return None  # half of an address, a digest, a public key of ssh
    head = run.rfind("/", 0, first) + 1
    if head == 0 and is_escaped(text, start):
        head = 1
    return start + head, start + len(run.rstrip("."))


def _is_scrambled(run: str) -> bool:
    """Whether letters of both cases, digits and symbols alternate as a generator of passwords makes them."""
    bare, directives = compiled(_DIRECTIVES).subn("", run)
    bare = bare if directives > 2 else run
    if (
        len(bare) < LONG_WORD
        or compiled(_HOST).search(bare)
        or not compiled(DIGIT).search(bare)
        or bare.islower()
        or bare.isupper()
    ):
        return False
    symbols = sum(not char.isalnum() and char not in "-_" for char in bare)
    return 2 <= symbols * 2 < len(bare) and len(compiled(_CLASSES).findall(bare)) * 2 > len(bare) and _entropy(bare) > 3.7


def is_jumbled(piece: str) -> bool:
    """Whether classes of characters change as often as chance makes them: identifiers have words of four letters and more."""
    size, words = len(piece), len(compiled(_WORDS).findall(piece))
    if piece.isupper():
        return size >= 14 and words >= 3 and size <= 8 * words and not is_hex(piece)
    if piece.islower():
        return size >= 14 and words >= 5 and size <= 4.5 * words and not (is_hex(piece) or is_hex(piece[1:]))
    return words >= 4 and size <= (2.6 if size < 20 else 2.9) * words and not (size >= 20 and is_hex(piece[1:]))


def is_hex(word: str) -> bool:
    """Whether there are only hexadecimal digits, behind ``0x`` or alone."""
    return not word.lower().removeprefix("0x").strip("0123456789abcdef")


def _entropy(run: str) -> float:
    """Shannon's measure, in bits per character."""
    from math import log2

    size = len(run)
    return -sum((count := run.count(char)) / size * log2(count / size) for char in set(run))
