"""What a commit message says: subject and body, pull request, relations to earlier commits, the reason of a revert.

All functions are pure. Messages are written by anybody: no pattern here repeats two things that could match the same text, so
that none takes more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hardwon.types import Change, Relation, RelationKind

SUBJECT_LIMIT = 1_000  # characters; what goes on without an empty line is a body
BODY_LIMIT = 4_000  # characters
REASON_LIMIT = 400  # characters
# No message explains anything after this many characters; generated ones (squashes, vendor imports) reach megabytes.
SCAN_LIMIT = 100_000

# If a message says several things of one commit, the first of these counts.
STRENGTH: tuple[RelationKind, ...] = ("reverts", "fixes", "regression", "follows", "picks", "mentions")

# Any key that ends in "-by" names a person, whatever came before it.
_PEOPLE = re.compile(r"^[ \t]*(?:[\w-]+-by|cc|thanks-to|(?:co-)?authors?)[ \t]*:", re.IGNORECASE)

# A digit and a letter are asked for, so that dates and words like "deadbeef" are left alone; the look-arounds skip UUIDs.
_SHA = re.compile(
    r"\b(?<!-[0-9a-f]{4}-)(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,64}\b(?!-[0-9a-f]{4}-)",
)
_NOT_PASSIVE = r"(?!\s+(?:made\s+|provided\s+|merged\s+)?(?:in|on|by|with|via|from)\b)"
_SINCE = r"(?<!needed\ )(?<!necessary\ )(?<!used\ )(?<!required\ )(?<!available\ )\bsince\b"
# The nearest of these words before a hash tells the relation. "revert" as an infinitive counts only where a clause begins:
# "instead of having to revert 1234abc" reverts nothing, and a false revert would silence a good memory.
_WORD = re.compile(
    rf"""
    (?P<reverts>(?:\breverts\b|(?:^|[:\].]\s|\band\s|\balso\s)\W*(?:(?:partial(?:ly)?|partly)\s+)?
        (?:revert(?:ed|ing)?|back(?:s|ed)?[ ]out)\b{_NOT_PASSIVE})(?!\s+(?:back\s+)?to\b))
    |(?P<fixes>\bfix(?:e[sd]|ing|up)?\b{_NOT_PASSIVE})
    |(?P<follows>\bfollow(?:s|ing)?[- ]?up\b|\bfollows\b)
    |(?P<picks>\bcherry[- ]?pick\w*|\bbackport\w*|\bupstream\s+commit\b)
    |(?P<regression>\bregress\w*|\bintroduc\w+|\bbroken?\b|\bbreak(?:s|age)\b|{_SINCE}|\bcaus\w+|\bbugs?\s+(?:from|in)\b)
    |(?P<mentions>\breversing\b|\breappl\w+|\bre-?land\w*|\bsee\b|\bdepends\s+on\b)
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
# Said after a hash, these blame it as well: "1234abc broke the build".
_BLAME = re.compile(r"regress|introduc|broke|breaks|caus", re.IGNORECASE)
_UPSTREAM = re.compile(r"\W*upstream\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.;!?](?:\s|$)")
_QUOTED = re.compile(r'"[^"]*"')
_REACH = 300  # characters between a hash and the word that it belongs to
_WRAP_LIMIT = 24  # characters before a hash that may stand between it and a phrase that began on the line above

_REFERENCE = r"(?:[\w./-]*[#!]\d{1,9}|[0-9a-f]{7,64})"
_REVERTED_REQUEST = re.compile(
    r"^(?:this[ \t]+)?revert(?:s|ed|ing)?[ \t]+(?:the[ \t]+)?(?:changes[ \t]+(?:in|from)[ \t]+)?"
    r"(?:(?:PR|MR|pull[ \t]+request|merge[ \t]+request):?[ \t]+)?(?:[\w.-]{1,100}/[\w./-]{1,100})?[#!](\d{1,9})\b",
    re.IGNORECASE | re.MULTILINE,
)
# GitHub's squashed revert of a squashed pull request: Revert "Subject (#12)" (#15); or of a merge.
_REVERTED_SUBJECT = re.compile(r'^revert\s+"(?:.*\(|Merge pull request )#(\d{1,9})(?:\)"| from )', re.IGNORECASE)
_REVERTED_TITLE = re.compile(r'^revert\s+".*"', re.IGNORECASE)

_SUBJECT_REQUEST = re.compile(r"\((?:#|GH-|PR #)(\d{1,9})\)\s*$", re.IGNORECASE)
_REQUESTS = (
    re.compile(r"^[ \t]*merge (?:pull request|PR) #(\d{1,9})\b", re.IGNORECASE | re.MULTILINE),
    re.compile(r"^[ \t]*see merge request \S*!(\d{1,9})\b", re.IGNORECASE | re.MULTILINE),
    re.compile(r"^[ \t]*PR-URL:[ \t]*(?:\S*/pull/|\S*#)(\d{1,9})\b", re.IGNORECASE | re.MULTILINE),
    # In prose "PR #12" is nearly always another change; it is this one's where it begins the subject, stands alone in a line ...
    re.compile(r"\A(?:PR|pull request):? ?#(\d{1,9})\b", re.IGNORECASE),
    re.compile(r"^[^\w\n]{0,8}(?:PR|pull request):?[ \t]?#(\d{1,9})[^\w\n]{0,4}$", re.IGNORECASE | re.MULTILINE),
)
# ... or ends the subject, unless as in "note for PR #12".
_LAST_REQUEST = re.compile(r"(?:\b(\w+)\W{1,3})?\b(?:PR|pull request):? ?#(\d{1,9})\W{0,4}$", re.IGNORECASE)
_OTHERS = frozenset(
    {"revert", "reverts", "reverted", "fix", "fixes", "in", "by", "since", "from", "to", "of", "after", "before", "see"}
    | {"with", "than", "per", "and", "or", "also", "for", "follows", "the", "this"}
)

_THIS_REVERTS = re.compile(
    rf"""^[ \t]*(?:this\s+)?(?:commit\s+)?(?:(?:partial|partially|partly|effectively)\s+)?(?:reverts?|reverted|back(?:s|ed)?\s+out)\s+
    (?:of\s+)?(?:the\s+)?(?:changes?\s+(?:in|from|made\s+in)\s+)?(?:(?:commits?|changesets?|merge\s+requests?|pull\s+requests?|PRs?):?\s+)?
    {_REFERENCE}(?:(?:\s*,|\s+and|\s*,\s*and)\s+{_REFERENCE})*
    (?:\s*\((?:"[^"]*"|[^\n]*\d{{4}}-\d\d-\d\d)\))?
    (?:,?\s*reversing\s+changes\s+made\s+to\s+{_REFERENCE})?
    [ \t]*[.,:;]?""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_TRAILER = re.compile(
    r"^[ \t]*(?:[A-Za-z]+(?:-[A-Za-z]+)+:\s.*"
    r"|(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|references|bug|issues?|link|ticket|see(?: also)?|follow[- ]?up(?: to)?)\b:?"
    r"(?:[ \t,]+(?:and[ \t]+)?(?:https?://[^\s,]+|[\w./-]*[#!]\d+|[0-9a-f]{7,64}))+\.?(?:[ \t]+\(.*)?"
    r"|\(cherry[- ]picked from .*|[*-]?[ ]?revert(?:ed)?:? \".*)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
# Gerrit's form: the quoted message of the reverted change follows, which is not a reason.
_ORIGINAL = re.compile(r"^Original (?:change|commit|message|patch)\b", re.IGNORECASE | re.MULTILINE)
_REASON = re.compile(r"^[ \t]*reason(?: for (?:the |this )?revert(?:ing)?)?[ \t]*:[ \t]*", re.IGNORECASE | re.MULTILINE)
_REVERT_SUBJECT = re.compile(r"^(?:\S+:\s+)?(?:revert|back(?:ed)? out)\b", re.IGNORECASE)


def split_message(message: str) -> tuple[str, str]:
    """The subject (git's: the first paragraph on one line) and the body: without people's trailers, at most 4,000 characters."""
    lines = [line.rstrip() for line in message[:SCAN_LIMIT].strip().split("\n")]
    # A subject may well begin with "cc:"; the lines under it may not.
    lines[1:] = [line for line in lines[1:] if ":" not in line or not _PEOPLE.match(line)]
    end = lines.index("") if "" in lines else len(lines)
    subject = " ".join(line.strip() for line in lines[:end])
    body = "\n".join(lines[end:]).strip()
    if len(subject) > SUBJECT_LIMIT:
        subject, body = subject[:SUBJECT_LIMIT].rstrip(), f"{subject[SUBJECT_LIMIT:].lstrip()}\n\n{body}".rstrip()
    if "\n\n\n" in body:
        body = re.sub(r"\n{3,}", "\n\n", body)
    return subject, body[:BODY_LIMIT].rstrip()


def pull_request(subject: str, body: str) -> int | None:
    """The number of the pull (or merge) request that brought a commit; None if the message does not tell. Issues do not count."""
    if match := _SUBJECT_REQUEST.search(subject):
        return int(match[1])
    subject = _REVERTED_TITLE.sub("", subject)
    text = f"{subject}\n{body}"
    if "#" not in text and "!" not in text and "/pull/" not in text:
        return None
    for pattern in _REQUESTS:
        if match := pattern.search(text):
            return int(match[1])
    last = _LAST_REQUEST.search(subject)
    if last and (last[1] or "").lower() not in _OTHERS:
        return int(last[2])
    return None


def relations(sha: str, message: str) -> tuple[Relation, ...]:
    """The earlier commits (hashes as written, or ``#N``) that the message of commit ``sha`` names, in order of appearance."""
    message = message[:SCAN_LIMIT]
    kinds: dict[str, RelationKind] = {}
    if _SHA.search(message):
        for target, kind in _named(message.split("\n")):
            if not sha.startswith(target):
                kinds[target] = min(kind, kinds.get(target, "mentions"), key=STRENGTH.index)
    if "reverts" not in kinds.values():
        match = _REVERTED_REQUEST.search(message) or _REVERTED_SUBJECT.match(message)
        if match:
            kinds[f"#{match[1]}"] = "reverts"
    return tuple(Relation(kind, target) for target, kind in kinds.items())


def _named(lines: list[str]) -> Iterator[tuple[str, RelationKind]]:
    lead = ""
    for line in lines:
        text = _QUOTED.sub(_without_hashless, line)
        if _SHA.search(text):
            yield from _in_line(lead, text)
        # A sentence that goes on in the next line may have begun with the word that matters there.
        lead = text if text and text.rstrip()[-1:] not in ".;!?)\"'" else ""


def _without_hashless(quote: re.Match[str]) -> str:
    """Quoted subjects say "fix" and "broken" of something else; but a hash may be quoted itself."""
    return quote[0] if _SHA.search(quote[0]) else '""'


def _in_line(lead: str, line: str) -> Iterator[tuple[str, RelationKind]]:
    """The hashes of ``line``, each with the relation that the nearest words tell, which may stand in the ``lead`` above."""
    text = f"{lead}\n{line}"
    start = len(text) - len(line)
    words = _words(text)
    at = 0
    for sha in _SHA.finditer(text, start):
        while at < len(words) and words[at].end() <= sha.start():
            at += 1
        before = words[at - 1] if at else None
        if before and before.end() < start and sha.start() - start > _WRAP_LIMIT:
            before = None
        if before and before.lastgroup != "mentions" and _joined(text[before.end() : sha.start()]):
            yield sha[0], next(kind for kind in STRENGTH if kind == before.lastgroup)
        elif at < len(words) and _BLAME.match(words[at][0]) and _joined(text[sha.end() : words[at].start()]):
            yield sha[0], "regression"
        else:
            yield sha[0], "picks" if _UPSTREAM.match(text, sha.end()) else "mentions"


def _words(text: str) -> list[re.Match[str]]:
    words: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        # "Revert the change introduced in 1234abc" reverts it.
        if not (words and words[-1].lastgroup == "reverts" and word[0].lower().startswith("introduc")):
            words.append(word)
    return words


def _joined(gap: str) -> bool:
    """Whether a word and a hash with this text between them belong to one clause."""
    return len(gap) <= _REACH and not _CLAUSE_END.search(gap)


def revert_reason(change: Change) -> str:
    """Why ``change`` reverts another one: one paragraph of at most 400 characters; empty if it is no revert or does not say."""
    body = change.body
    known = _REVERT_SUBJECT.match(change.subject)
    # A list of titles is a squashed branch, which took back one of its own steps.
    if not known and (body.startswith("* ") or all(relation.kind != "reverts" for relation in change.relations)):
        return ""
    if original := _ORIGINAL.search(body):
        body = body[: original.start()]
    for pattern in (_THIS_REVERTS, _TRAILER, _REASON):
        body = pattern.sub("", body)
    squashed = _SUBJECT_REQUEST.search(change.subject)
    lines = [line for line in body.split("\n") if not _PEOPLE.match(line) and not (squashed and line.startswith("* "))]
    reason = " ".join(" ".join(lines).split()).lstrip(".,:;- ")
    if len(reason) <= REASON_LIMIT:
        return reason
    return reason[: REASON_LIMIT - 1].rpartition(" ")[0] + "…"
