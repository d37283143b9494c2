"""Text into token ids as the uncased BERT models expect them: basic tokens (clean, fold, split), then the longest known pieces.

The vocabulary is one token a line, its number the token's id; ``##`` begins a piece that continues a word.
"""

from __future__ import annotations

import os
import unicodedata

from hardwon.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BUNDLED_VOCABULARY = os.path.join(os.path.dirname(__file__), "bert_vocab.txt")
_LONGEST_WORD = 100  # characters; what is longer is one unknown token, as in the reference
# Remembered words of one process; notes and commits repeat theirs.
_CACHE_LIMIT = 50_000


class WordPiece:
    """A tokenizer. Not for use by two threads at once."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        """Unavailable when the vocabulary lacks one of the tokens that every text needs."""
        try:
            self._begin, self._end, self._unknown = (vocabulary[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        except KeyError as error:
            raise Unavailable(f"the vocabulary has no {error.args[0]}", remedy="use the vocabulary of a BERT model") from error
        self._vocabulary = vocabulary
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str, limit: int) -> list[int]:
        """Ids with the beginning and end marks, at most ``limit`` of them (2 and more)."""
        ids = [self._begin]
        for word in basic_tokens(text):
            ids += self._pieces(word)
            if len(ids) >= limit:
                break
        return [*ids[: limit - 1], self._end]

    def _pieces(self, word: str) -> list[int]:
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _CACHE_LIMIT:
                self._known.clear()
            found = self._known[word] = self._split(word)
        return found

    def _split(self, word: str) -> list[int]:
        """The longest known piece, again and again; unknown as a whole if any part is."""
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        ids = []
        begin = 0
        while begin < len(word):
            mark = "##" if begin else ""
            end = next((end for end in range(len(word), begin, -1) if mark + word[begin:end] in self._vocabulary), 0)
            if not end:
                return [self._unknown]
            ids.append(self._vocabulary[mark + word[begin:end]])
            begin = end
        return ids


def read_vocabulary(path: str) -> dict[str, int]:
    """Token -> id of a vocabulary file; Unavailable when it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return {line.rstrip("\n"): number for number, line in enumerate(file)}
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"the vocabulary {path} cannot be read: {error}", remedy="reinstall, or name another model") from error


def basic_tokens(text: str) -> Iterator[str]:
    """Words and single marks of punctuation: without control characters, in lower case, without accents."""
    for word in _cleaned(text).split():
        folded = unicodedata.normalize("NFD", word.lower())
        start = 0
        plain = folded if folded.isascii() else "".join(char for char in folded if unicodedata.category(char) != "Mn")
        for place, char in enumerate(plain):
            if _is_mark(char):
                if start < place:
                    yield plain[start:place]
                yield char
                start = place + 1
        if start < len(plain):
            yield plain[start:]


def _cleaned(text: str) -> str:
    """White space as blanks, ideographs as words of their own, no control characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_cleaned_char(char) for char in text)


def _cleaned_char(char: str) -> str:
    if char in "\t\n\r":
        return " "
    if char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if char.isspace():
        return " "
    return f" {char} " if _is_ideograph(ord(char)) else char


def _is_mark(char: str) -> bool:
    """Punctuation; of ASCII everything that is neither letter nor digit counts."""
    return not char.isalnum() if char.isascii() else unicodedata.category(char)[0] == "P"


def _is_ideograph(code: int) -> bool:
    """The blocks of Chinese characters; Japanese syllables and Korean letters are words like any others."""
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x2A6DF
        or 0x2A700 <= code <= 0x2CEAF
        or 0x2F800 <= code <= 0x2FA1F
    )
