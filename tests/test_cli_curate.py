"""The verbs by which memories are looked after, as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conftest import git
from tests.test_cli import FAILURE, OK, USAGE, at_a_terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Result

    Command = Callable[..., Result]

NOTHING = 3


def test_revise_diff_and_undo(project: Path, call: Command) -> None:
    call("record", "Sessions live in Redis", "--kind", "decision", "--tag", "auth")
    assert call("revise", "1", "Sessions live", "in Valkey", "--because", "the licence changed").out == "revised #1 (version 2)\n"
    shown = call("diff", "1")
    assert (
        "- Sessions live in Redis" not in shown.out.replace("-Sessions", "- Sessions") or "-Sessions live in Redis" in shown.out
    )
    assert "+Sessions live in Valkey" in shown.out
    assert "+the licence changed" in shown.out
    data = call("diff", "1", "--from", "1", "--to", "2", "--json").data
    assert {item["field"] for item in data["fields"]} == {"text", "because"}
    assert call("diff", "1", "--from", "7").code == USAGE
    assert call("history", "1").out.count("Sessions live in") >= 2
    assert call("undo", "1", "--json").data["action"] == "revised"
    assert call("show", "1", "--json").data["text"] == "Sessions live in Redis"
    assert call("diff", "1", "--from", "1", "--to", "3").out == "versions 1 and 3 say the same\n"


def test_revise_reads_standard_input_and_clears_what_is_given_empty(project: Path, call: Command) -> None:
    call("record", "Sessions live in Redis", "-d", "see the runbook", "--code", "-", stdin="redis.set()\n")
    assert call("revise", "1", "-", "--detail=", stdin="Sessions live in Valkey\n").code == OK
    shown = call("show", "1", "--json").data
    assert (shown["text"], shown["detail"], shown["code"]) == ("Sessions live in Valkey", "", "redis.set()")
    assert call("revise", "1").code == USAGE


def test_a_commit_has_no_versions_to_compare_and_no_words_to_revise(project: Path, call: Command) -> None:
    sha = git(project, "rev-parse", "HEAD")
    assert call("diff", sha).code == FAILURE
    refused = call("revise", sha, "other words", "--json")
    assert (refused.code, refused.error["field"]) == (USAGE, "id")


def test_link_needs_one_kind_and_says_both_ways(project: Path, call: Command) -> None:
    for text in ("Sessions live in Redis", "Sessions live in Postgres"):
        call("record", text, "--kind", "decision")
    assert call("link", "2", "1").code == USAGE
    assert call("link", "2", "1", "--replaces", "--supports").code == USAGE
    assert call("link", "2", "1", "--contradicts").out == "linked #2 (contradicts #1)\n"
    hits = call("recall", "where do sessions live", "--json").data["hits"]
    assert [hit["contradicted_by"] for hit in hits] == [["#1"], ["#2"]]
    assert "contradicted by" in call("recall", "where do sessions live").out
    assert call("link", "2", "1", "--replaces").code == OK
    assert call("show", "1", "--json").data["status"] == "replaced"
    assert call("undo").code == OK
    assert call("show", "1", "--json").data["status"] == "active"


def test_approve_and_reject_are_for_a_person_who_saw_the_memory(project: Path, call: Command) -> None:
    call("record", "Sessions live in Redis", "--kind", "decision")
    for verb in (("approve", "1"), ("reject", "1", "--yes")):
        refused = call(*verb, "--json")
        assert (refused.code, refused.error["field"]) == (USAGE, "who")
    code, text = at_a_terminal(project, "approve", "1", typed="n\n")
    assert (code, "Sessions live in Redis" in text) == (FAILURE, True)
    code, _ = at_a_terminal(project, "approve", "1", typed="y\n")
    assert (code, call("show", "1", "--json").data["trust"]) == (OK, "confirmed")
    assert call("undo", "1").code == USAGE
    code, _ = at_a_terminal(project, "reject", "1", typed="y\n")
    assert (code, call("show", "1", "--json").data["status"]) == (OK, "rejected")


def test_a_refused_write_says_so_and_fails(project: Path, call: Command) -> None:
    call("fail", "Pool.get", "the pool runs dry", "--file", "src/db.py")
    at_a_terminal(project, "reject", "1", "--yes")
    refused = call("fail", "Pool.get", "The pool runs dry", "--file", "src/db.py", "--json")
    assert (refused.code, refused.data["action"], refused.data["number"]) == (FAILURE, "refused", 1)
    assert "rejected" in call("record", "the pool runs dry").out


def test_review_lists_what_waits_and_is_quiet_when_nothing_does(project: Path, call: Command) -> None:
    assert call("review").out == "nothing waits for you\n"
    assert call("review", "--exit-code").code == NOTHING
    call("record", "JWT expiry not handled in validate", "--kind", "rule")
    call("record", "JWT expiry is not handled by validate", "--kind", "rule")
    text = call("review").out
    assert text.index("#2") < text.index("#1")
    assert "like #1" in text
    waiting = call("review", "--json", "--limit", "1").data["waiting"]
    assert [item["memory"]["number"] for item in waiting] == [2]
    assert waiting[0]["similar"][0]["number"] == 1


def test_feedback_is_counted(project: Path, call: Command) -> None:
    call("record", "uploads are retried twice")
    assert call("useful", "1").out == "useful #1 (useful 1, useless 0)\n"
    assert call("useless", "1", "--json").data["why"] == "useful 0, useless 1"
    assert call("show", "1", "--json").data["useless"] == 1


def test_undo_alone_brings_a_forgetting_back_as_a_whole(project: Path, call: Command) -> None:
    for text in ("one", "two", "three"):
        call("record", text, "--tag", "spike")
    call("forget", "--tag", "spike", "--yes")
    assert {item["number"] for item in call("undo", "--json").data["undone"]} == {1, 2, 3}
    assert call("undo").code == USAGE


def test_filters_narrow_and_combine(project: Path, call: Command) -> None:
    call("fail", "Pool.get", "the pool runs dry", "--file", "src/db.py")
    numbers = lambda *words: [hit["memory"]["kind"] for hit in call("recall", *words, "--json").data["hits"]]  # noqa: E731
    assert numbers("--path", "src", "--outcome", "failed", "--kind", "lesson") == ["lesson"]
    assert set(numbers("--path", "src/", "--ext", "py", "--kind", "change")) == {"change"}
    assert numbers("--author", "ANN", "--path", "src/db.py") == ["change"]
    assert numbers("--since", "1h") == ["lesson"]
    assert numbers("--until", "2023-11-16", "--branch", "main") == ["change"] * 2
    assert numbers("--status", "resolved") == []
    refused = call("recall", "x", "--ext", "zig", "--json")
    assert (refused.code, refused.error["field"], ".py" in refused.error["remedy"]) == (USAGE, "ext", True)
    for wrong in (
        ("--since", "yesterday"),
        ("--until", "2026-13-01"),
        ("--since", "9999-01-01T00:00:00+99:00"),
        ("--status", "gone"),
    ):
        assert call("recall", "x", *wrong).code == USAGE
