"""What a module is called in short: the part of its name by which another file may be meant."""

from __future__ import annotations

# Ends of file names that may stand in an import: "./util.js", "dir/list.h".
_ENDS = frozenset(
    (
        "js",
        "jsx",
        "mjs",
        "cjs",
        "ts",
        "tsx",
        "mts",
        "cts",
        "json",
        "css",
        "vue",
        "svelte",
        "h",
        "hh",
        "hpp",
        "hxx",
        "inc",
        "c",
        "cc",
        "cpp",
    )
)
# Languages whose imports name files, so that a dot is no border between parts.
_BY_FILE = frozenset(("c", "cpp", "javascript", "typescript", "tsx", "jsx"))


def last_part(module: str, language: str = "") -> str:
    """The last part of a module as it is written, without a file's extension: ``List`` of ``java.util.List``, ``b`` of ``crate::a::b``,
    ``mod`` of ``..pkg.mod``, ``util`` of ``./lib/util.js``; "" where it has none (``..``)."""
    text = module.replace("::", "/")
    last = text.rpartition("/")[2]
    stem, dot, end = last.rpartition(".")
    if "/" in text or language in _BY_FILE:
        return (stem if dot and stem and end in _ENDS else last).strip(".")
    return end if dot else last
