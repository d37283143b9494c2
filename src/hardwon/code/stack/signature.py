"""Messages of failures without what differs from run to run, so that one failure is known again."""

from __future__ import annotations

from hardwon.code.pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

LONGEST = 300  # characters of a signature
_READ = 1_000  # characters of a message that are looked at

# Kinds whose quoted words name what the code declares or asks for, not what a run happened to meet.
_NAMES_CODE = Pattern(
    r"(?:Name|Attribute|Key|Import|ModuleNotFound|Type|Reference|UnboundLocal|NoSuch\w{1,20}|ClassNotFound|NullPointer)"
    r"(?:Error|Exception)$"
)
_MARK = Pattern(r"<[a-z]{1,7}>")
_PLAIN = Pattern(r"[A-Za-z_][A-Za-z_.]{0,60}(?:\(\))?\Z")
_CODE = Pattern(r"[^\d/\\]{1,60}\Z")  # between backticks
_QUOTED = Pattern(r"""(?<![A-Za-z0-9_])(?:"((?:[^"\\\n]|\\.){0,300}+)"|'((?:[^'\\\n]|\\.){0,300}+)'|`([^`\n]{0,300}+)`)""")
_MARKED = (
    ("<id>", r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"),
    ("<time>", r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\b"),
    ("<url>", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>)\]]{1,500}+"),
    ("<mail>", r"(?<![\w.+-])[\w.+-]{1,60}+@[\w-]{1,60}+\.[\w.-]{1,60}+"),
    ("<path>", r"(?<![\w.~/\\-])(?:[A-Za-z]:[\\/]|\\\\|~?/|\.{1,2}/)[^\s\"'<>:;,()\[\]]{1,500}+"),
    ("<path>", r"(?<![\w./-])[\w.-]{1,80}+(?:/[\w.@-]{1,80}+){2,40}+"),
    ("<address>", r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b|\b0[xX][0-9a-fA-F]{1,40}+"),
    ("<hex>", r"\b(?=[0-9a-f]{0,40}?\d)(?=[0-9a-f]{0,40}?[a-f])[0-9a-f]{7,64}\b"),
    ("<n>", r"(?<![A-Za-z_])[-+]?\d[\d_]{0,60}+(?:[.,]\d{1,60}+)?(?:e[-+]?\d{1,4})?"),
)  # fmt: skip
_FOLDS = tuple((mark, Pattern(source)) for mark, source in _MARKED)


def signature(kind: str, message: str) -> str:
    """``kind: message`` with marks for ids, times, addresses, paths, numbers and quoted values; the same failure in two runs has the
    same one. Words in quotes stay where they are plain names and the kind speaks of names (``KeyError: 'user'``)."""
    keep = bool(_NAMES_CODE.search(kind))

    def quoted(found: re.Match[str]) -> str:
        inner = found[1] or found[2] or found[3] or ""
        plain = _CODE.match(inner) if found[3] else keep and _PLAIN.match(inner)
        return f"'{inner}'" if plain else "<text>"

    text = message.partition("\n")[0][:_READ]
    text = _QUOTED.sub(quoted, text)
    for mark, pattern in _FOLDS:
        text = pattern.sub(mark, text)
    said = " ".join(text.split())
    return (f"{kind}: {said}" if kind and said else kind or said)[:LONGEST]


def words(marked: str) -> str:
    """A signature as words to search by: without its marks."""
    return _MARK.sub(" ", marked)
