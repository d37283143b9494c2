"""What people say that is a decision, a rule or a correction, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hardwon.capture import routine, summary
from hardwon.capture.commands import works
from hardwon.capture.episode import State, step
from hardwon.capture.event import Edit, Event
from hardwon.capture.passages import difference, symbols, touched
from hardwon.capture.speech import heard
from hardwon.code.test_names import is_test

SAID = [
    (
        "Let's use Redis instead of memcached because it persists.",
        "decision",
        "Let's use Redis instead of memcached because it persists",
        "it persists",
        ("memcached",),
    ),
    (
        "We decided to keep SQLite, since one file is easier to back up.",
        "decision",
        "We decided to keep SQLite, since one file is easier to back up",
        "one file is easier to back up",
        (),
    ),
    (
        "ok, prefer composition over inheritance here",
        "decision",
        "Prefer composition over inheritance here",
        "",
        ("inheritance",),
    ),
    (
        "For the queue we're going with Postgres rather than Kafka.",
        "decision",
        "We're going with Postgres rather than Kafka",
        "",
        ("Kafka",),
    ),
    ("No, use pnpm not npm.", "decision", "Use pnpm not npm", "", ("npm",)),
    ("Use orjson, not json, everywhere.", "decision", "Use orjson, not json, everywhere", "", ("json",)),
    ("We use pytest, not unittest.", "decision", "We use pytest, not unittest", "", ("unittest",)),
    ("For this repo: use uv, never pip.", "decision", "Use uv, never pip", "", ("pip",)),
    (
        "Let's switch from REST to gRPC because latency matters.",
        "decision",
        "Let's switch from REST to gRPC because latency matters",
        "latency matters",
        (),
    ),
    ("In this project all dates must be UTC.", "rule", "All dates must be UTC", "", ()),
    ("Remember: migrations are forward only.", "rule", "Migrations are forward only", "", ()),
    ("Please remember that the staging database is shared.", "rule", "The staging database is shared", "", ()),
    ("We never deploy on Fridays.", "rule", "We never deploy on Fridays", "", ()),
    ("Always be explicit about time zones.", "rule", "Always be explicit about time zones", "", ()),
    ("Never commit generated files.", "rule", "Never commit generated files", "", ()),
    ("please always run make lint before committing", "rule", "Always run make lint before committing", "", ()),
    ("Don't use mocks in the integration tests.", "rule", "Don't use mocks in the integration tests", "", ()),
    ("From now on, all endpoints must be documented.", "rule", "From now on, all endpoints must be documented", "", ()),
    ("No, that's wrong.", "wrong", "No, that's wrong", "", ()),
    ("Revert that.", "wrong", "Revert that", "", ()),
    ("Revert changes, I mean the export.", "wrong", "Revert changes, I mean the export", "", ()),
    ("This is not what I asked for.", "wrong", "This is not what I asked for", "", ()),
    (
        "Wir nehmen Postgres statt MySQL, weil wir JSONB brauchen.",
        "decision",
        "Wir nehmen Postgres statt MySQL, weil wir JSONB brauchen",
        "wir JSONB brauchen",
        ("MySQL",),
    ),
    ("Das ist falsch.", "wrong", "Das ist falsch", "", ()),
    ("테스트에서 절대 sleep을 쓰지 마", "rule", "테스트에서 절대 sleep을 쓰지 마", "", ()),
    ("我们决定用 Postgres 而不是 MySQL。", "decision", "我们决定用 Postgres 而不是 MySQL", "", ("MySQL",)),
    ("不要用 npm，用 pnpm", "rule", "不要用 npm，用 pnpm", "", ()),
    ("所有接口必须写文档。", "rule", "所有接口必须写文档", "", ()),
    ("커밋 전에 항상 린트를 실행해야 합니다", "rule", "커밋 전에 항상 린트를 실행해야 합니다", "", ()),
    ("Don't run tests against the production database.", "rule", "Don't run tests against the production database", "", ()),
    ("Do not use new tools of the vendor in builds.", "rule", "Do not use new tools of the vendor in builds", "", ()),
]


@pytest.mark.parametrize(("text", "kind", "kept", "because", "rejected"), SAID)
def test_it_is_heard(text: str, kind: str, kept: str, because: str, rejected: tuple[str, ...]) -> None:
    (remark,) = heard(text, person=True)
    assert (remark.kind, remark.text, remark.because, remark.rejected) == (kind, kept, because, rejected)
    assert remark.passage == text


# What speaks of something in the sentence itself, or has words in common with what is for one task only.
HEARD = [
    "Never rename public fields because mobile clients depend on them.",
    "Never push directly to main, always open a pull request for it.",
    "Never use floats for money, use Decimal for that.",
    "All services must have a health check and an alert on it.",
    "Tests must never hit the network or depend on it.",
    "Never trust user input, validate all of it.",
    "Never log tokens or anything derived from them.",
    "Let's go with Tailwind instead of plain CSS, designers are used to it.",
    "Always ask for my approval before your plan changes anything.",
    "Let's keep it on SQLite rather than Postgres because we ship one binary.",
    "From now on, this repo uses pnpm.",
    "Always open the database read-only.",
    "All config mounts must be read-only.",
    "Never write to the read-only replica.",
    "Always run the linter for me before committing.",
    "Always use the reviewer agent before committing.",
    "Never use inline styles in components.\n\n```html\n<div>\n</div>\n```",
    "1. Fix the login bug\n2. Add a test for it\n3. Update the docs\n\nAlways use pnpm in this repo, never npm.",
    "You are the owner of this repo now. Always update the changelog.",
    "Act as before. Always run make lint.",
    "Always use min. two reviewers for changes of auth.",
    "Always quote shell variables, incl. paths in scripts.",
    "不要修改生成的文件",
    "不要在组件里直接请求接口",
    "必须使用pnpm安装依赖",
    "항상 pnpm을 사용해",
    "커밋 메시지는 항상 영어로 작성해 주세요",
]


@pytest.mark.parametrize("text", HEARD)
def test_a_rule_or_a_decision_is_heard_whatever_it_has_in_common_with_others(text: str) -> None:
    (remark,) = heard(text, person=True)
    assert remark.kind in ("rule", "decision")
    assert not remark.text.endswith((" min", "incl"))


NOTHING = [
    "Should we use Redis instead of memcached?",
    "What if we always cached?",
    "Maybe use a queue instead of polling.",
    "It always fails with a timeout.",
    "Fix the login bug.",
    "The retry never happens because the loop exits.",
    "don't commit yet",
    "Can we go with Postgres?",
    "I wonder whether we should never retry.",
    "If it is cold we always miss.",
    "```\nnever use x\n```",
    "> never use x",
    "    never use x\n",
    "`never use x` is in the linter's docs",
    '"we decided to use x instead of y"',
    "2026-01-01 10:00:00 ERROR never use x",
    'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: never use x',
    "<system-reminder>\nNever tell the user.\n</system-reminder>",
    "no problem",
    "No, thanks!",
    "说错了，是另一个分支",
    "Why do we use Celery over RQ?",
    "Write a function that returns a list instead of a tuple.",
    "x" * 5000,
    "",
    "?!",
    "never",
    "Explain why we never use mocks.",
    # What somebody says in passing, or for now.
    "Never mind, I found it.",
    "Never mind.",
    "Never heard of that option.",
    "Never had this before.",
    "Never again!",
    "Never seen such a thing.",
    "Always fails in CI.",
    "Always the same error when I click save.",
    "Always a pleasure.",
    "Always happy to help.",
    "You never run the tests!",
    "Do not write code, only plan.",
    "Don't write any code, just explain.",
    "Don't run the tests, they take an hour",
    "Don't use the tool for this one",
    "don't touch that",
    "Don't commit this.",
    "Don't edit my notes.",
    "All of this must be gone by Friday.",
    "All endpoints must be ready by tomorrow.",
    "Remember, I asked you to fix the tests.",
    "Remember to commit when you are done.",
    "Remember what we did last time?",
    "I remember that the build was slow.",
    "Use it, not that.",
    # Work that is handed out.
    "Let's do it.",
    "Let's do 3 for now",
    "let's do the small ones first",
    "Let's implement option 2.",
    "Let's go with B",
    "Let's keep going.",
    "Let's keep it simple for now",
    "Let's move to #17, the other one has conflicts",
    "Let's do these first:",
    "Let's make the button blue",
    "I'm going to continue with the reviews until there are no more bugs",
    "Final decision: whether a commit is made at all",
    "We should always do these:",
    "Go with the fix",
    "Let's keep working on it. it needs to be shorter",
    "Let's implement the idea for the search and do not open a browser",
    "We dont want it to be literal..thats why i said so",
    "Don't create a branch, just a commit",
    "Do not add a TODO, this is just a try",
    "Never do that again on your own.",
    "Do not touch those unless somebody asks.",
    "Do not introduce a second queue now.",
    "Stop hook says that nothing was reviewed, but I don't see why",
    "⎿ Stop says: no, that's wrong",
    "I told you that I would run the review myself.",
    "Please use the other one and not to forget the tests.",
    "I use vim, but that is not the point.",
    "Thanks, looks good. Revert changes to the lockfile before you commit.",
    "Undo the changes to config.ts",
    # For one task: nothing is to be changed, or not by such means.
    "Do not edit code.",
    "Do not edit files.",
    "Do NOT write project code — research only.",
    "do NOT use a subagent. read the page first",
    "Never touch the database, review only.",
    "Do not edit or run tests/formatters.",
    "Do not modify files or run formatters, linters, tests, builds, or network.",
    "don't run tests, linters or network commands",
    "Dont write code for me just help me understand",
    "Let's use an agent team to investigate",
    # What it speaks of stands elsewhere.
    "Do not use a different one.",
    "From now on this is where the prices come from.",
    "Keep it short, not a deep dive.",
    "Let's move to Phase 4 and write the views",
    "如果有，必须勾选",
    "⚠ The old name is deprecated. Please use the new one instead of it.",
    # What something is like, or has to be once.
    "차트 모양은 항상 같다.",
    "你必须先读完所有文档",
    "你要改的是聊天框，不要改老的页面",
    "Never write the contents of memories directly into it.",
    "Lets go with your picks and start, seems reasonable",
    "Use your suggestions instead of mine.",
    # It still fails: that tells nothing of how it was done.
    "还是不行，彻底排查",
]


PLAN = "# Plan\n\n" + "The shop gets a second queue, which takes the slow orders.\n" * 60


@pytest.mark.parametrize(
    "text",
    [
        PLAN + "\n## Steps\n\n- Never retry an order that was paid.\n",
        "You are a reviewer.\n" + "- Never start with praise.\n" * 6,
        "# Task\nMend it.\n# Limits\nNever touch the migrations.\n",
        "<shop_delegation>Never commit unless you are asked.</shop_delegation>",
        "Follow these steps.\n\n<steps critical='true'>\n1. Always load the whole workflow first.\n</steps>",
        "You are performing a cleanup. Never retry an order that was paid.",
        "/skill:cleanup\n\nUse the files as they are, not the summary.",
        "<!-- cleanup -->\nNever retry an order that was paid.",
        "1. Run the script once. All paths must be absolute.\n2. Read the file.\n3. Write the plan.\n",
    ],
)
def test_a_plan_or_a_template_that_was_pasted_sets_no_rules(text: str) -> None:
    assert heard(text, person=True) == ()
    assert heard("Never retry an order that was paid.", person=True)


@pytest.mark.parametrize(
    "text", ["thats not how i use it", "I didnt ask you to rewrite it.", "i didn't want that file on the page"]
)
def test_a_correction_is_heard_without_its_apostrophe(text: str) -> None:
    assert [one.kind for one in heard(text, person=True)] == ["wrong"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("no i mean the export, not the import. revert changes", "No i mean the export, not the import. Revert changes"),
        ("Did that help? Revert that.", "Revert that"),
        ("I looked at the difference. That's wrong. The total should include tax.", "That's wrong. The total should include tax"),
        ("The header is perfect now. That's wrong though, use cents", "That's wrong though, use cents"),
        ("ok. Revert that.", "Revert that"),
    ],
)
def test_a_correction_says_what_led_to_it(said: str, text: str) -> None:
    (remark,) = heard(said, person=True)
    assert (remark.kind, remark.text) == ("wrong", text)


@pytest.mark.parametrize(
    "text",
    [
        "Let's use Lichess for the moves, without going over the limit of the API",
        "Let's use Lichess (its limit is not what we need) for the moves",
    ],
)
def test_what_stands_in_brackets_or_is_gone_over_was_not_rejected(text: str) -> None:
    (remark,) = heard(text, person=True)
    assert remark.rejected == ()


def test_a_long_text_is_shorter_where_a_sign_is_a_word() -> None:
    rule = "所有接口必须写文档。"
    assert heard(rule + "这是一个说明。" * 20, person=True)
    assert heard(rule + "这是一个说明。" * 150, person=True) == ()


def test_a_sentence_ends_where_the_next_begins_small() -> None:
    (rule,) = heard("every endpoint must have auth. never skip it.", person=True)
    assert rule.text == "Every endpoint must have auth"
    (rule,) = heard("never open pull requests against release. make one for the fix", person=True)
    assert rule.text == "Never open pull requests against release"
    (rule,) = heard("never retry orders, refunds etc. when they were paid", person=True)
    assert rule.text.endswith("when they were paid")


def test_a_rule_has_nothing_that_was_rejected() -> None:
    (rule,) = heard("Do not hard-code names of hosts.", person=True)
    assert rule.rejected == ()


@pytest.mark.parametrize("text", NOTHING)
def test_it_says_nothing_of_the_kind(text: str) -> None:
    assert heard(text, person=True) == ()


@pytest.mark.parametrize(
    "text",
    [
        "I'll use grep to find it.",
        "Let's use httpx instead of requests.",
        "Never mind.",
        "That's wrong, I will fix it.",
        "I could use X instead of Y.",
        "Always happy to help.",
    ],
)
def test_the_agents_own_plans_are_no_decisions(text: str) -> None:
    assert heard(text, person=False) == ()


def test_a_decision_of_the_agent_has_a_reason_or_an_alternative() -> None:
    (remark,) = heard("I looked around. I decided to use a set instead of a list because lookups dominate.", person=False)
    assert (remark.because, remark.rejected) == ("lookups dominate", ("a list",))


@settings(max_examples=150)
@given(st.text(max_size=300))
def test_any_text_is_heard_without_an_error(text: str) -> None:
    heard(text + " instead of", person=True)
    heard("never " + text, person=False)


def test_hostile_text_takes_no_longer_than_its_length() -> None:
    for piece in (
        "never ",
        "instead of ",
        "no, ",
        "for the a ",
        "we decided ",
        "<system-reminder>",
        "<",
        "a must ",
        ". Never",
        "use x over ",
        "대신 ",
        "不要",
        "and also please ",
    ):
        heard(piece * 20_000, person=True)
        heard(piece * 20_000, person=False)


# --- routine failures

ROUTINE = [
    ("pytest -q", 127, "bash: pytest: command not found", "not found"),
    ("pytest --foo", 4, "error: unrecognized arguments: --foo", "usage"),
    ("pytest nope.py", 4, "ERROR: file or directory not found: nope.py\n", "path"),
    ("pytest", 137, "", "killed"),
    ("pytest", 1, "", "silent"),
    ("grep x y", 1, "", "no check"),
    ("git commit", 1, "nothing to commit", "no check"),
    ("ruff check .", 1, "E501 line too long", "style"),
    ("python a.py", 1, "requests.exceptions.ConnectionError: Max retries exceeded", "network"),
    ("node a.js", 1, "Error: listen EADDRINUSE", "environment"),
    ("hardwon ok X", 1, "x", "own"),
    ("python a.py", 1, "ModuleNotFoundError: No module named 'requests'", "environment"),
    ("npm run build", 1, "npm error code ENOTFOUND", "network"),
    ("make tset", 2, "make: *** No rule to make target 'tset'.", "not found"),
    ("npm run lnt", 1, 'npm error Missing script: "lnt"', "no check"),
    ("go test ./...", 1, "go: go.mod file not found in current directory", "path"),
]


@pytest.mark.parametrize(("command", "code", "output", "reason"), ROUTINE)
def test_a_routine_failure_is_known(command: str, code: int, output: str, reason: str) -> None:
    found = routine.reason(works(command)[0], code, "failed", output)
    assert found == reason or (found and reason == "no check")


@pytest.mark.parametrize(
    "output",
    [
        "FAILED tests/a.py::test_x - ValueError: permission denied for users\n1 failed in 0.1s\n",
        "ValueError: bad day\n",
        "ModuleNotFoundError: No module named 'shop.cart'",
    ],
)
def test_a_failure_of_the_code_is_none(output: str) -> None:
    assert routine.reason(works("pytest")[0], 1, "failed", output, frozenset(("shop", "cart"))) == ""


def test_what_one_test_says_of_the_network_is_routine() -> None:
    assert routine.of_failure("ConnectionRefusedError", "[Errno 111] Connection refused") == "environment"
    assert routine.of_failure("AssertionError", "assert 1 == 2") == ""


def test_packages_without_tests_beside_one_that_does_not_compile_make_it_no_routine() -> None:
    (work,) = works("go test ./...")
    output = "?   \tx/a\t[no test files]\n# x/b\nb/b.go:3:2: undefined: total\nFAIL\tx/b [build failed]\nFAIL\n"
    assert routine.reason(work, 1, "failed", output) == ""
    assert routine.reason(work, 1, "failed", "no Go files in /srv/x\n?   \tx/a\t[no test files]\n") == "path"


# --- passages


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def a():\n    pass\n\nasync def b(x):\n    pass", ("a", "b")),
        ("class A(B):\n    def f(self): ...", ("A", "f")),
        ("export default function load() {", ("load",)),
        ("const total = (items) => {", ("total",)),
        ("func (c *Cart) Add(n string) {", ("Cart.Add",)),
        ("func Sum[T any](a T) T {", ("Sum",)),
        ("pub(crate) async fn run() {", ("run",)),
        ("    public static int total(int a) {", ("total",)),
        ("impl Display for Cart {", ("Cart",)),
        ("enum class Color : int {", ("Color",)),
        ("    total(items) {", ("total",)),
        ("    run: func(args []string) error {", ()),
        ("    defer func() {", ()),
        ("    go func(n int) {", ()),
        ("    RunE: function (done) {", ()),
        ("async function (a) {", ()),
        ("function(a) {", ()),
        ("export default class extends Base {", ()),
        ("class {", ()),
        ("def ", ()),
        ("items.forEach(function (one) {", ()),
        ("describe('total', () => {", ()),
        ("useEffect(() => {", ()),
        ("foreach (items as item) {", ()),
        ("if (x) {\n  return y;\n}", ()),
        ("x = 1", ()),
        ("for (const a of b) {", ()),
        ("", ()),
    ],
)
def test_declarations_of_a_passage_are_found(text: str, found: tuple[str, ...]) -> None:
    assert symbols(text) == found


@pytest.mark.parametrize(
    "line", ["Ok(day) => {", "Err(_) => {", "Some(x) if x > 1 => {", "Day::Of(x) => {", "Ok(day) {", "None {"]
)
def test_an_arm_of_a_match_declares_nothing(line: str) -> None:
    assert symbols(f"        {line}\n            1\n        }}\n") == ()


def test_only_the_declaration_that_differs_is_touched() -> None:
    old = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
    assert touched(old, old.replace("return 2", "return 3")) == ("g",)
    assert touched(old, old.replace("return 1", "return 3")) == ("f",)
    assert touched(old, old + "\n    def h(self):\n        return 4\n") == ("h",)
    assert touched("    return 1", "    return 2") == ()


_CODE_LINES = st.sampled_from(
    ["", " ", "\t", "def a():", "    pass", "class A {", "}", "  run() {", "func (c *C) Add() {", "func (", "defer func() {"]
)
_CODE = st.one_of(st.lists(_CODE_LINES, max_size=12).map("\n".join), st.text(max_size=40))


@given(_CODE, _CODE)
@example("def a():\n    pass\n\ndef b():\n    pass\n", "\n")
@example("\n", "def a():\n    pass\n")
@example("def a():\n    pass\n", "")
def test_of_any_two_passages_it_is_told_what_differs(old: str, new: str) -> None:
    found = touched(old, new)
    assert len(found) <= 3 and len(set(found)) == len(found)
    assert set(found) <= {*symbols(old, 400), *symbols(new, 400)}
    shown = difference(old, new)
    assert (not shown) or all(line[:1] in "+-" for line in shown.split("\n"))
    assert not touched(old, old) or symbols(old)


def test_a_difference_shows_only_what_differs() -> None:
    assert difference("a\nb\nc", "a\nX\nc") == "-b\n+X"
    assert difference("a", "a") == ""


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/a.py", True),
        ("src/a_test.go", True),
        ("a.test.ts", True),
        ("spec/a_spec.rb", True),
        ("conftest.py", True),
        ("src/attest.py", False),
        ("contest/a.py", False),
        ("src\\tests\\a.cs", True),
        ("src/CartTest.java", True),
        ("Sources/CartTests.swift", True),
        ("src/latest.py", False),
        ("src/Latest.java", False),
        ("src/attests.py", False),
        ("scripts/test-hooks.sh", True),
        ("app/models/cart-test.js", True),
        ("src/testing-ground.ts", False),
        ("src/cart-spec.mjs", True),
        ("bin/smoke-test", True),
        ("docs/openapi-spec.yaml", False),
        ("api-spec.json", False),
        ("docker-compose-test.yml", False),
        ("test-plan.md", False),
        ("test-page.HTML", False),
        ("requirements-tests.txt", False),
        ("tests/openapi-spec.yaml", True),
        ("cart.test.json", True),
    ],
)
def test_files_of_tests_are_known(path: str, test: bool) -> None:
    assert is_test(path) is test


# --- summaries


def told(*events: Event) -> State:
    state = State(root="/r")
    for event in events:
        state, _ = step(state, event)
    return state


def test_a_summary_says_what_was_asked_decided_changed_and_left_open() -> None:
    state = told(
        Event("prompt", "c", "s", 1, "/r", text="Make the parser quicker. Let's use a table instead of regexes."),
        Event("after", "c", "s", 2, "/r", tool="edit", ended="ok", edits=(Edit("a.py", "def f():\n    a", "def f():\n    b"),)),
        Event(
            "after",
            "c",
            "s",
            3,
            "/r",
            tool="shell",
            command="pytest",
            ended="failed",
            exit_code=1,
            output="FAILED t.py::test_x - ValueError: bad\n1 failed in 0.1s\n",
        ),
        Event("stop", "c", "s", 4, "/r", text="The parser is quicker; one test still fails."),
    )
    text = summary.of(state)
    assert text.splitlines() == [
        "Asked: Make the parser quicker. Let's use a table instead of regexes.",
        "Decided: Let's use a table instead of regexes",
        "Failing when last run: t.py::test_x: ValueError: bad",
        "Changed: a.py (f)",
        *(["Learnt: Let's use a table instead of regexes"] if "Learnt" in text else []),
        "Last words: The parser is quicker; one test still fails.",
    ]


def _ran(command: str, output: str, code: int = 1) -> Event:
    return Event("after", "c", "s", 1, "/r", tool="shell", command=command, ended="failed", exit_code=code, output=output)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (
            _ran("pytest", "FAILED t.py::test_x - ValueError: bad\n1 failed in 0.1s\n"),
            "Failing when last run: t.py::test_x: ValueError: bad",
        ),
        (_ran("go build ./...", "cart/a.go:3:2: undefined: agent\n"), "Failing when last run: go build ./...: undefined: agent"),
        (_ran("python -c 'x'", 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n'), ""),
        (_ran("python /tmp/x.py", 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n'), ""),
        (_ran("node look.js", "TypeError: bad\n    at f (/usr/lib/node_modules/x/y.js:1:2)\n"), ""),
        (_ran("go test ./...", "FAIL\n"), ""),
        (Event("after", "c", "s", 1, "/r", tool="edit", ended="ok", edits=(Edit("/r/docs/a.md", "a", "b"),)), ""),
    ],
)
def test_a_summary_tells_of_failures_that_somebody_has_to_mend(event: Event, told: str) -> None:
    assert summary.of(step(State(root="/r"), event)[0]) == told


def test_a_session_without_edits_failures_or_decisions_has_no_summary() -> None:
    assert (
        summary.of(
            told(Event("prompt", "c", "s", 1, "/r", text="What does it do?"), Event("stop", "c", "s", 2, "/r", text="It parses."))
        )
        == ""
    )


def test_what_a_long_summary_leaves_out_is_not_what_still_fails() -> None:
    state = State(root="/r", asked=("Say more of days. " * 20,) * 3)
    names = tuple(f"a_very_long_name_of_a_function_{number}" for number in range(3))
    for at in range(12):
        event = Event(
            "after", "c", "s", at, "/r", tool="edit", ended="ok", call=str(at), edits=(Edit(f"{'deep/' * 12}m{at}.py", "1", "2"),)
        )
        state, _ = step(state, event, lambda edit: names)
    state, _ = step(state, _ran("pytest", "FAILED t.py::test_x - ValueError: bad\n1 failed in 0.1s\n"))
    text = summary.of(state)
    assert len(text) > 1_500 and "Failing when last run: t.py::test_x: ValueError: bad" in text


def test_a_summary_is_bounded() -> None:
    events = [Event("prompt", "c", "s", n, "/r", text="x" * 5000) for n in range(30)]
    events += [
        Event("after", "c", "s", n, "/r", tool="edit", ended="ok", edits=(Edit(f"{'d' * 200}/{n}.py", "a", "b"),))
        for n in range(200)
    ]
    assert 0 < len(summary.of(told(*events))) <= summary.LONGEST
