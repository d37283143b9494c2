"""What was said in merged pull requests (GitHub, by ``gh``) and merge requests (GitLab, by ``glab``): asked of the person's own program.

It knows whom to ask and as whom; without it, without a network or without a login there is nothing, which is said and is no error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from datetime import datetime

from hardwon.capture import ours
from hardwon.types import Derived, Draft, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_PATIENCE = 120  # seconds for one question
_LARGEST = 50_000_000  # bytes of an answer
_PAGE = 100  # the most that GitLab gives at once
_BODY = 4_000  # characters, as of a commit's message
_FIELDS = "number,title,body,mergedAt,mergeCommit,author"
# Parts of templates that nobody filled in, and what bots add.
_COMMENTS = re.compile(r"<!--.{0,5000}?-->", re.DOTALL)
_BLANK_LINES = re.compile(r"\n{3,}")
_CHECKBOX = re.compile(r"^[ \t]*[-*] \[[ xX]\].*$", re.MULTILINE)


class Requests(Value):
    """``derived``: the requests as memories to be; ``program`` that was asked, "" for none; ``trouble``: why there is nothing, "" where it
    answered."""

    derived: tuple[Derived, ...] = ()
    program: str = ""
    trouble: str = ""


def ask(root: str, origin: str, limit: int) -> Requests:
    """The ``limit`` merged requests of the repository in ``root`` that are newest; ``origin`` is its remote, normalised."""
    program = _program(origin)
    if not program:
        return Requests(trouble="neither gh nor glab is installed")
    try:
        rows = _github(root, limit) if program == "gh" else _gitlab(root, limit)
    except _Refused as error:
        return Requests((), program, f"{program} did not answer: {error}")
    return Requests(tuple(_derived(rows)), program)


def _program(origin: str) -> str:
    host = origin.partition("/")[0]
    wanted = ["gh"] if host == "github.com" else ["glab", "gh"] if "gitlab" in host else ["gh", "glab"]
    return next((name for name in wanted if shutil.which(name)), "")


class _Refused(Exception):
    """The program could not do it; its own words."""


def _github(root: str, limit: int) -> list[dict[str, Any]]:
    found = _asked(root, ["gh", "pr", "list", "--state", "merged", "--limit", str(limit), "--json", _FIELDS])
    return [
        {
            "sign": "#", "number": one.get("number"), "title": one.get("title"), "body": one.get("body"), "at": one.get("mergedAt"),
            "commit": _inner(one, "mergeCommit", "oid"), "author": _inner(one, "author", "name") or _inner(one, "author", "login"),
        }
        for one in found
    ]  # fmt: skip


def _gitlab(root: str, limit: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for page in range(1, limit // _PAGE + 2):
        found = _asked(
            root, ["glab", "mr", "list", "--merged", "--output", "json", "--per-page", str(_PAGE), "--page", str(page)]
        )
        rows += [
            {
                "commit": one.get("squash_commit_sha") or one.get("merge_commit_sha") or one.get("sha"),
                "sign": "!", "number": one.get("iid"), "title": one.get("title"), "body": one.get("description"),
                "at": one.get("merged_at"),
                "author": _inner(one, "author", "name") or _inner(one, "author", "username"),
            }
            for one in found
        ]  # fmt: skip
        if len(found) < _PAGE or len(rows) >= limit:
            break
    return rows[:limit]


def _inner(row: Mapping[str, Any], field: str, inner: str) -> str:
    found = row.get(field)
    return str(found.get(inner) or "") if isinstance(found, dict) else ""


def _asked(root: str, command: Sequence[str]) -> list[dict[str, Any]]:
    """The list of objects that a program prints; _Refused with its words."""
    quiet = {
        "GH_PROMPT_DISABLED": "1",
        "GH_NO_UPDATE_NOTIFIER": "1",
        "NO_COLOR": "1",
        "NO_PROMPT": "1",
        "GLAB_CHECK_UPDATE": "false",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env={**kept, **quiet},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _Refused(f"no answer within {_PATIENCE} seconds") from None
    except OSError as error:
        raise _Refused(str(error)) from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"it ended with {done.returncode}"]
        raise _Refused(words[0][:200])
    if len(done.stdout) > _LARGEST:
        raise _Refused(f"its answer has more than {_LARGEST:,} bytes")
    try:
        found = json.loads(done.stdout or b"[]")
    except ValueError:
        raise _Refused("its answer is no JSON") from None
    if not isinstance(found, list):
        raise _Refused("its answer is no list")
    return [one for one in found if isinstance(one, dict)]


def _derived(rows: Iterable[Mapping[str, Any]]) -> Iterable[Derived]:
    for row in rows:
        number, title, at = row["number"], str(row["title"] or "").strip(), _milliseconds(row["at"])
        if not isinstance(number, int) or not title or at is None:
            continue
        body = _plain(str(row["body"] or ""))
        if not body:
            continue  # the title is the message of the commit
        name = f"{row['sign']}{number}"
        yield Derived(
            f"request:{name}", Draft(f"{title} ({name})", "doc", detail=body, tags=("pull-request",)), at,
            author=str(row["author"] or ""), commit=str(row["commit"] or ""), valid_from=at,
        )  # fmt: skip


def _plain(body: str) -> str:
    """What somebody wrote themselves: without a template's comments and boxes to tick."""
    text = _CHECKBOX.sub("", _COMMENTS.sub("", ours.strip(body.replace("\r\n", "\n"), whole=True)))
    return _BLANK_LINES.sub("\n\n", text).strip()[:_BODY]


def _milliseconds(stamp: Any) -> int | None:
    try:
        return int(datetime.fromisoformat(str(stamp)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
