"""The repository's own documents as memories: one a heading, one a release of a changelog. Pure, but for what the snapshot reads."""

from __future__ import annotations

import os
import re

from hardwon.capture import ours
from hardwon.importers.headings import FORMATS, Block, decode, pieces, read
from hardwon.importers.snapshot import Touch, is_foreign
from hardwon.types import Anchor, Derived, Draft, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hardwon.importers.headings import Document, Section
    from hardwon.importers.snapshot import File

FILE_LIMIT = 1_000_000  # bytes; a larger file is data, or was made by a program
PASSAGE_LIMIT = 4_000  # characters
CODE_LIMIT = 12_000  # characters of a code block that is kept in one piece
RELEASE_LIMIT = 12_000  # characters of one release
RELEASES = 200  # the newest of a changelog
FILE_PASSAGES = 500  # of one file; more headings than that are a list
PIECES = 20  # of one section; what is longer is a table or a log
REASON_LIMIT = 1_500  # characters of an ADR's decision and consequences
# Raised when the same file would give other passages, so that what was read before is read again.
VERSION = 3
BREADCRUMB = " › "

# Names of documents wherever they lie, with the tag that they bring.
_NAMED = {
    "readme": "readme", "contributing": "contributing", "hacking": "contributing", "developing": "contributing",
    "development": "contributing", "changelog": "changelog", "changes": "changelog", "history": "changelog", "news": "changelog",
    "releases": "changelog", "release-notes": "changelog", "agents": "agents", "claude": "agents", "gemini": "agents",
    "architecture": "", "design": "", "security": "", "testing": "", "upgrading": "", "migrating": "", "migration": "",
    "install": "", "faq": "", "roadmap": "", "conventions": "", "styleguide": "", "troubleshooting": "",
}  # fmt: skip
_RULES = frozenset((".cursorrules", ".windsurfrules", ".clinerules"))
_FOLDERS = frozenset(("doc", "docs", "documentation", ".github"))
# Where agents' clients look for the rules of a repository.
_AGENTS = frozenset((".cursor", ".windsurf", ".clinerules", ".roo", ".continue", ".openhands"))
_DECISIONS = frozenset(("adr", "adrs", "decisions", "architecture-decisions", "decision-records"))
# What lies among documents and is none: lists of names, terms of use, requirements, scripts' input.
_NO_DOCUMENT = re.compile(
    r"(?:licen[cs]e|copying|copyright|notice|authors|contributors|thanks|maintainers|codeowners|requirements|constraints|robots"
    r"|cmakelists|code[-_]of[-_]conduct|manifest|makefile|dockerfile|version)\b",
    re.IGNORECASE,
)
_OPEN_NAME = re.compile(r"[A-Z][A-Z0-9_-]+$")  # a document without an extension is written in capitals


class Passages(Value):
    """What one file gave: its memories, and how many passages went beyond the limits of a section, a changelog or a file."""

    derived: tuple[Derived, ...]
    cut: int = 0


def is_document(path: str) -> bool:
    """Whether a file is one of the repository's own documents."""
    if is_foreign(path):
        return False
    *folders, name = path.lower().split("/")
    stem, extension = os.path.splitext(name)
    if name in _RULES or extension == ".mdc":
        return True
    if extension not in FORMATS or _NO_DOCUMENT.match(stem):
        return False
    if _role(stem) is not None:
        return True
    if all(known.isdisjoint(folders) for known in (_FOLDERS, _DECISIONS, _AGENTS)):
        return False
    return bool(extension) or bool(_OPEN_NAME.match(path.rpartition("/")[2]))


def tags_of(path: str) -> tuple[str, ...]:
    """``docs``, and what kind of document it is."""
    *folders, name = path.lower().split("/")
    if (
        name in _RULES
        or name.endswith((".mdc", ".instructions.md"))
        or name == "copilot-instructions.md"
        or not _AGENTS.isdisjoint(folders)
    ):
        return ("docs", "agents")
    role = _role(os.path.splitext(name)[0])
    if role:
        return ("docs", role)
    return ("docs", "adr") if not _DECISIONS.isdisjoint(folders) else ("docs",)


def _role(stem: str) -> str | None:
    """The tag of a document that is known by its name ("" for none of its own); None for any other name. ``README.de`` counts."""
    stem = stem.replace("_", "-")
    return "readme" if stem.startswith(("readme.", "readme-")) else _NAMED.get(stem)


def order(files: Iterable[File]) -> list[File]:
    """The files in the order in which they are worth the room: those known by name and the highest first, changelogs last."""

    def worth(file: File) -> tuple[bool, int, int, str]:
        tags = tags_of(file.path)
        return "changelog" in tags, file.path.count("/"), -len(tags), file.path

    return sorted(files, key=worth)


def passages(file: File, data: bytes, touch: Touch) -> Passages | None:
    """The memories of one file; None where it is no text."""
    text = decode(data)
    if text is None:
        return None
    text = ours.strip(text, whole=True)  # what we wrote into a file of instructions is known already
    stem, extension = os.path.splitext(file.path.rpartition("/")[2])
    form = "markdown" if stem.lower() in _RULES else FORMATS.get(extension.lower(), "text")
    document = read(text, form)
    tags = tags_of(file.path)
    if "changelog" in tags and (releases := _releases(document)):
        return _of_releases(file, releases, touch, tags)
    if "adr" in tags:
        return _of_decision(file, document, touch, tags)
    return _of_sections(file, document, touch, tags)


def _of_sections(file: File, document: Document, touch: Touch, tags: tuple[str, ...], note: str = "") -> Passages:
    names = _Names(file.path)
    derived: list[Derived] = []
    cut = 0
    for section in document.sections:
        if len(derived) >= FILE_PASSAGES:
            cut += bool(section.blocks)
            continue
        texts = pieces(section.blocks, PASSAGE_LIMIT, CODE_LIMIT)
        if not texts:
            continue
        name = names.of(section.path)
        text = _breadcrumb(file.path, document.title, section.path) + note
        cut += max(0, len(texts) - PIECES)
        for number, detail in enumerate(texts[:PIECES]):
            derived.append(_derived(file, touch, f"{name}~{number + 1}" if number else name, text, detail, tags))
    return Passages(tuple(derived), cut)


def _derived(file: File, touch: Touch, name: str, text: str, detail: str, tags: tuple[str, ...], because: str = "") -> Derived:
    # The commit that last changed the file, not HEAD: the content is the same, and it does not age with every commit to others.
    anchor = Anchor(file.path, "", touch.sha, file.blob)
    draft = Draft(text=text, kind="doc", detail=detail, because=because, anchors=(anchor,), tags=tags)
    return Derived(name=name, draft=draft, at=touch.at, author=touch.author, commit=touch.sha, valid_from=touch.at or None)


class _Names:
    """Names of a file's passages: the path of headings, numbered where it occurs again, so that every one is unique."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.seen: dict[str, int] = {}

    def of(self, headings: Sequence[str]) -> str:
        slug = "/".join(_slug(heading) for heading in headings)
        times = self.seen[slug] = self.seen.get(slug, 0) + 1
        return f"doc:{self.path}#{slug}" + (f"+{times}" if times > 1 else "")


def _slug(heading: str) -> str:
    return "-".join("".join(char if char.isalnum() else " " for char in heading.lower()).split())


def _breadcrumb(path: str, title: str, headings: Sequence[str]) -> str:
    """``CONTRIBUTING › Tests › Running``: the file, its title, its headings."""
    *folders, name = path.split("/")
    stem = os.path.splitext(name)[0] or name
    if stem.lower().strip("_") in ("readme", "index") and folders:
        stem = f"{folders[-1]}/{stem.strip('_')}"
    parts = [stem]
    for heading in (title, *headings):
        if heading and _slug(heading) not in (_slug(parts[-1]), ""):
            parts.append(heading)
    return BREADCRUMB.join(parts)


# --- changelogs

_RELEASE = re.compile(
    r"\W{0,6}(?:(?:version|release|changes in|what's new in)\s+)?(?:[\w./@-]{1,40}?[ @-])?\W{0,3}"
    r"(?:v?(\d{1,6}(?:\.(?:\d{1,6}|x)){1,4})(?:[-.+~]?[a-z0-9][\w.+-]{0,40})?|unreleased\b)",
    re.IGNORECASE,
)
_RELEASE_LINE = re.compile(r"(?:(?:version|release)\s+)?v?\d{1,6}(?:\.\d{1,6}){1,4}\S{0,20}(?:\s+.{0,60})?$", re.IGNORECASE)


class _Release(Value):
    heading: str
    version: tuple[int, ...]
    text: str


def _releases(document: Document) -> list[_Release]:
    """The releases of a changelog, newest first; none where its headings name no versions."""
    flat = [item for section in document.sections for item in _lines_as_releases(section)]
    found: list[tuple[str, int, list[str]]] = []  # heading, depth, texts
    for path, body in flat:
        match = _RELEASE.match(path[-1]) if path else None
        if match and (not found or len(path) <= found[-1][1] or not _RELEASE.match(found[-1][0])):
            found.append((path[-1], len(path), [body]))
        elif found and len(path) > found[-1][1]:
            found[-1][2].append(f"{path[-1]}\n{body}" if body else "")
        elif found and not match:
            found.append((path[-1] if path else "", len(path), []))  # ends the release before it
    releases = [_Release(heading, _version(heading), "\n\n".join(filter(None, texts))) for heading, _, texts in found]
    releases = [release for release in releases if release.text and _RELEASE.match(release.heading)]
    numbered = [release.version for release in releases if release.version]
    return releases[::-1] if numbered and numbered[0] < numbered[-1] else releases


def _lines_as_releases(section: Section) -> Iterator[tuple[tuple[str, ...], str]]:
    """A section as (path, text); lines that are nothing but a version and a date begin a release, as headings do."""
    path = section.path
    texts: list[str] = []
    for block in section.blocks:
        first, _, rest = block.text.partition("\n")
        if not block.whole and _RELEASE_LINE.match(first.strip("*_ ")):
            yield path, "\n\n".join(texts)
            path, texts = (*section.path, first.strip("*_ ")), [rest] if rest else []
        else:
            texts.append(block.text)
    yield path, "\n\n".join(texts)


def _version(heading: str) -> tuple[int, ...]:
    match = _RELEASE.match(heading)
    return tuple(int(part) for part in match[1].lower().split(".") if part != "x") if match and match[1] else ()


def _of_releases(file: File, releases: Sequence[_Release], touch: Touch, tags: tuple[str, ...]) -> Passages:
    names = _Names(file.path)
    derived = []
    cut = max(0, len(releases) - RELEASES)
    for release in releases[:RELEASES]:
        texts = pieces([Block(part) for part in release.text.split("\n\n")], RELEASE_LIMIT, RELEASE_LIMIT)
        cut += len(texts) - 1
        text = _breadcrumb(file.path, "", (release.heading,))
        derived.append(_derived(file, touch, names.of((release.heading,)), text, texts[0], tags))
    return Passages(tuple(derived), cut)


# --- records of decisions

_STATUS = re.compile(r"^[ \t>*_-]{0,6}status[*_]{0,2}[ \t]*:[ \t*_]{0,4}\[?(\w+)", re.IGNORECASE | re.MULTILINE)
_FIRST_WORD = re.compile(r"\W{0,8}(\w+)")
_OVER = ("superseded", "deprecated", "rejected", "replaced", "obsolete", "withdrawn")
_DECISION = re.compile(r"(?:the )?decision(?: outcome)?$|decided$|resolution$", re.IGNORECASE)
_REASONS = re.compile(r"(?:positive )?consequences$|rationale$|justification$|reasons?$|why$", re.IGNORECASE)


def _of_decision(file: File, document: Document, touch: Touch, tags: tuple[str, ...]) -> Passages:
    """An ADR by its headings. What is accepted carries decision and consequences as the reason of its first passage; what holds no
    longer says so in every passage."""
    status = _status(document)
    over = status if status in _OVER else ""
    found = _of_sections(file, document, touch, (*tags, over) if over else tags, f" ({over})" if over else "")
    because = _reason(document) if status == "accepted" else ""
    if not because or not found.derived:
        return found
    first, *rest = found.derived
    return Passages((first.replace(draft=first.draft.replace(because=because)), *rest), found.cut)


def _status(document: Document) -> str:
    if document.status:
        return document.status.lower().split()[0]
    for section in document.sections:
        text = "\n".join(block.text for block in section.blocks[:5])
        if section.path and section.path[-1].lower() == "status":
            word = _FIRST_WORD.match(text)
            return word[1].lower() if word else ""
        if len(section.path) <= 1 and (stated := _STATUS.search(text[:PASSAGE_LIMIT])):
            return stated[1].lower()
    return ""


def _reason(document: Document) -> str:
    """What the sections on the decision and its reasons say, those that are marked clearly."""
    parts = [
        "\n\n".join(block.text for block in section.blocks)
        for wanted in (_DECISION, _REASONS)
        for section in document.sections
        if section.blocks and any(wanted.match(heading.strip(" :")) for heading in section.path[1:])
    ]
    text = "\n\n".join(dict.fromkeys(parts))
    return text if len(text) <= REASON_LIMIT else text[: REASON_LIMIT - 1].rpartition(" ")[0] + "…"
