"""Whether a file holds tests, by the usual names of its folders and its own. Pure and light."""

from __future__ import annotations

_FOLDERS = frozenset(("test", "tests", "spec", "specs", "__tests__", "testing", "testdata", "e2e"))
_STEMS = frozenset(("test", "tests", "conftest"))
_ENDINGS = ("_test", "_tests", "_spec")
# Only of scripts and sources: openapi-spec.yaml and docker-compose-test.yml hold no tests.
_DASHED_ENDINGS = ("-test", "-tests", "-spec")
_NO_CODE = frozenset((
    "yaml", "yml", "json", "jsonc", "json5", "jsonl", "toml", "md", "mdx", "rst", "adoc", "txt", "html", "htm", "css", "scss", "sass",
    "less", "xml", "svg", "csv", "tsv", "ini", "cfg", "conf", "env", "properties", "lock", "log", "png", "pdf",
))  # fmt: skip
_CAPITAL_ENDINGS = ("Test", "Tests", "Spec")  # CartTest.java, CartTests.swift: not what ends in "latest"


def is_test(path: str) -> bool:
    """Whether a file holds tests, or what only tests use."""
    *folders, name = path.replace("\\", "/").split("/")
    stem, folded = name.partition(".")[0], name.lower()
    bare = stem.lower()
    return (
        bare.startswith("test_")
        or bare in _STEMS
        or bare.endswith(_ENDINGS)
        or ((bare.startswith("test-") or bare.endswith(_DASHED_ENDINGS)) and folded.rpartition(".")[2] not in _NO_CODE)
        or stem.endswith(_CAPITAL_ENDINGS)
        or ".test." in folded
        or ".spec." in folded
        or not _FOLDERS.isdisjoint(folder.lower() for folder in folders)
    )
