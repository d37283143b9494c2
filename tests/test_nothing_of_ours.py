"""Nothing that we inject or run is ever captured: every door by which words become memories is handed our own blocks, refusals, answers of
tools, and commands, wrapped as clients wrap them; none of it may be anywhere in Hardwon's folder afterwards.

Each door is also handed the same words as somebody else's, and has to take those in: a door that takes nothing would prove nothing.
"""

from __future__ import annotations

import html
import io
import itertools
import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon.agents import payload as payloads
from hardwon.agents.table import row
from hardwon.doors import outcomes, tool_answers
from hardwon.doors.tools import TOOLS
from hardwon.engine import opening
from hardwon.engine.outcomes import RunOfTests, tree_at
from hardwon.engine.transcripts import ingest
from hardwon.importers import (
    beads,
    ci_log,
    claude_mem,
    code_memory,
    junit,
    lines,
    mem0,
    mif,
    notes,
    pull_requests,
    server_memory,
    shared,
)
from hardwon.importers.source import Source, offered
from hardwon.importers.transcripts.finding import Found, Roots, Transcript
from hardwon.search.pack import pack
from hardwon.search.stopped import stopped
from hardwon.settings import KeySource
from hardwon.store.ids import uuid7
from hardwon.types import Anchor, Block, Draft, ExportedMemory, Filter, Hit, Memory, Mode, Origin, Risk, Scope, SymbolReport
from tests import hook_payloads
from tests.mcptalk import Talk
from tests.sessionground import RED, VALIDATE, SessionGround
from tests.transcriptmaker import FORMS, Maker, Step
from tests.transcriptmaker import edit as edits
from tests.transcriptmaker import hook as injects
from tests.transcriptmaker import prompt as asks
from tests.transcriptmaker import said as says
from tests.transcriptmaker import shell as runs
from tests.transcriptmaker import tool as calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Result

MARK = "zebrafish"
AGENT = Scope(Origin("agent", "claude-code", "a session", "test"))
_COUNT = itertools.count(1)

# --- what is ours


def _memories() -> list[Memory]:
    texts = (f"the {MARK} pool runs dry", f"never {MARK} twice")
    return [
        Memory(
            f"id{number}", number, "lesson", "failed", text, detail=f"a {MARK} in detail\nand more {MARK}", because=f"of {MARK}",
            rejected=(f"a {MARK} cache",), anchors=(Anchor("auth/service.py", "AuthService.validate"),),
        )
        for number, text in enumerate(texts, 1)
    ]  # fmt: skip


HITS = tuple(Hit(memory, 0.9) for memory in _memories())
BLOCK = pack(HITS, 100_000, Mode()).block
REFUSAL = stopped(
    (SymbolReport(Risk("AuthService.validate", "auth/service.py", 12.0, "caution", 4, 0, 1, 0), tuple(_memories())),)
)[0]
_ANSWER = tool_answers.listed(Block(HITS, BLOCK, 1, 0, Mode()), "nothing")
TOOL_ANSWER = json.dumps(
    {"content": [{"type": "text", "text": _ANSWER.text}], "structuredContent": _ANSWER.data}, ensure_ascii=False
)
HOOK_ANSWER = json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": BLOCK}})
REFUSED = json.dumps({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": REFUSAL}})
OURS = (BLOCK, REFUSAL, TOOL_ANSWER, HOOK_ANSWER, REFUSED)


def _wrapped(text: str) -> str:
    return "\n".join(line[at : at + 41] for line in text.split("\n") for at in range(0, max(1, len(line)), 41))


WAYS: tuple[Callable[[str], str], ...] = (
    html.escape,
    lambda text: indent(text, "> "),
    lambda text: json.dumps({"type": "hook_success", "stdout": text}),
    lambda text: json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e"),
    lambda text: f"<system-reminder>\nUserPromptSubmit hook additional context: {text}\n</system-reminder>",
    lambda text: f"<hook_context>{text}</hook_context>",
    lambda text: f"```\n{text}\n```",
    _wrapped,
)  # fmt: skip
# Commands that run us, however they are started.
COMMANDS = (
    "hardwon recall 'the pool'", "hardwon -C . query AuthService.validate --all", "HARDWON_HOME=/tmp/h hardwon brief",
    "python3 -m hardwon show 1", "uvx hardwon@latest recall x", "/usr/local/bin/hardwon before --file auth/service.py",
    "bash -c 'cd /tmp && hardwon recall x'", 'bash -lc "hardwon recall \\"x y\\" | head -5"', "sh -c \"bash -c 'hardwon brief'\"",
    "cd auth && hardwon recall x 2>&1 | grep -v nothing", "time hardwon recall x", "echo '{}' | hardwon hook claude-code",
    "hardwon run -- pytest -q", "env -i PATH=$PATH hardwon recall x; true", "sudo -u ann hardwon status",
    "timeout 5 hardwon mcp </dev/null",
    "(hardwon recall x)", "x=$(hardwon recall x); echo $x", "printf '%s' \"$(hardwon show 3)\"",
    "hardwon recall x > /tmp/out; cat /tmp/out",
    "if hardwon recall x; then echo y; fi", "for i in 1 2; do hardwon show $i; done", "`which hardwon` recall x", "eval 'hardwon recall x'",
    "xargs -n1 hardwon show <<< '1 2'", "nohup hardwon serve &", "! hardwon recall x", "{ hardwon recall x; }", "watch hardwon status",
    "cat <(hardwon recall x)", "ssh box 'hardwon recall x'", "docker run --rm box hardwon recall x", "hardwon.exe recall x",
)  # fmt: skip
TOOLS_OF_OURS = tuple(
    form.format(one.name)
    for one in TOOLS
    for form in ("mcp__hardwon__{}", "mcp_hardwon_{}", "mcp__plugin_hardwon_hardwon__{}", "hardwon_{}", "hardwon.{}")
)


def _through(text: str, ways: list[Callable[[str], str]]) -> str:
    for way in ways:
        text = way(text)
    return text


ours = st.builds(_through, st.sampled_from(OURS), st.lists(st.sampled_from(WAYS), max_size=2))


# --- a repository, and what is kept of it


class Ground(SessionGround):
    """A repository with a memory, into which words come by every door."""

    @property
    def folder(self) -> Path:
        return Path(self.root).parent

    def kept(self) -> list[str]:
        """Each memory, whatever became of it, with all of its words."""
        with self.engine.store.read() as reader:
            found = [*reader.find(Filter(derived=False), -1), *reader.find(Filter(derived=True), -1)]
            found += reader.find(Filter(statuses=("inactive", "resolved", "forgotten", "replaced", "rejected", "expired")), -1)
        return [repr(vars(memory) if hasattr(memory, "__dict__") else memory) for memory in found]

    def begin_anew(self) -> None:
        """As if nothing had come in."""
        self.close()
        shutil.rmtree(self.home)
        opening.create(self.root, self.home, "shop", clock=self.clock, keys=KeySource()).close()

    def bytes_with(self, word: str) -> list[str]:
        """The files below Hardwon's folder that hold a word."""
        found = []
        for folder, _, names in os.walk(self.home):
            for name in names:
                data = (Path(folder) / name).read_bytes().lower()
                if word.encode() in data or word.encode("utf-16-le") in data:
                    found.append(os.path.join(folder, name))
        return found


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("HARDWON_", "GIT_")):
                patch.delenv(name)
        made = Ground(tmp_path_factory.mktemp("ours"))
        yield made
        made.close()


# --- the doors. Each takes a text and hands it over in every place that a text may stand in.


def _session() -> str:
    return f"0d9d3a52-5f0e-4c1e-9b0b-{next(_COUNT):012d}"


def by_hook(ground: Ground, text: str) -> None:
    """A session as hooks tell of it: what is asked, said, printed, written, and the last words."""
    at = {"session": _session()}
    ground.happens("start", source="startup", **at)
    ground.happens("prompt", text=f"Please fix the failing login.\n{text}", **at)
    ground.happens("prompt", text=f"We decided to use Redis instead of files because {text}", **at)
    ground.happens("said", text=f"I decided to use a lock instead of a queue because it is simpler.\n{text}", **at)
    ground.happens("said", text=text, **at)
    ground.now += 1_000
    where = RED.index("E       TypeError")
    for output in (
        f"{text}\n{RED}",
        f"{RED[:where]}{text}\n{RED[where:]}",
        RED.replace("can't compare", f"can't compare {text}", 1),
    ):
        ground.tell(ground.runs(output, 1, **at))
    new = f"        return token is not None  # {text}"
    edit = VALIDATE.replace(new=new)
    ground.tell(ground.event("before", tool="edit", tool_name="Edit", edits=(edit,), paths=(edit.path,), **at))
    ground.tell(ground.event("after", tool="edit", tool_name="Edit", edits=(edit,), paths=(edit.path,), ended="ok", **at))
    ground.tell(ground.runs(f"{text}\n.                [100%]\n1 passed in 0.01s\n", 0, **at))
    ground.happens("prompt", text=f"No, that is wrong. {text}", **at)
    for moment in ("compact", "stop", "end"):
        ground.happens(moment, text=f"Done. {text}", **at)


def by_payload(ground: Ground, text: str) -> None:
    """Every recorded payload of every client, with the text wherever a text stands that the client does not need to be understood."""
    for name, case in hook_payloads.cases():
        client = row(name.partition("/")[0])
        assert client is not None
        value = _filled(case["payload"], text, ground.root)
        event = payloads.read(value, client, case.get("environment") or {}, ground.now)
        if event is not None:
            ground.tell(event.replace(session=f"{event.session}-{next(_COUNT) // 500}", cwd=ground.root))
        ground.now += 5_000


_FILLED = {
    "prompt", "text", "message", "last_assistant_message", "prompt_response", "output", "stdout", "stderr", "error", "content",
    "new_string", "newString", "new_str", "file_text", "newText", "user_prompt", "response", "llmContent", "returnDisplay",
    "result", "reason", "summary", "errorMessage", "aggregated_output", "initialPrompt", "textResultForLlm", "task", "stop_response",
}  # fmt: skip


def _filled(value: Any, text: str, root: str) -> Any:
    if isinstance(value, dict):
        return {
            key: f"{item}\n{text}" if key in _FILLED and isinstance(item, str) else _filled(item, text, root)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_filled(item, text, root) for item in value]
    return value


def by_transcript(ground: Ground, text: str) -> None:
    """A session in the files of every client."""
    for form in FORMS:
        _read(ground, form, _steps(ground, text))


def _steps(ground: Ground, text: str) -> list[Step]:
    path = os.path.join(ground.root, "auth/service.py")
    return [
        asks(f"Please fix the failing login.\n{text}"),
        injects(text),
        says(f"I decided to use a lock instead of a queue because it is simpler.\n{text}"),
        asks(f"We decided to use Redis instead of files because {text}"),
        runs("pytest -q tests/test_auth.py", RED.replace("can't compare", f"can't compare {text}", 1) + text, 1),
        edits(path, VALIDATE.old, f"        return token is not None  # {text}"),
        runs("pytest -q tests/test_auth.py", f"{text}\n.                 [100%]\n1 passed in 0.01s\n", 0),
        asks(f"No, that is wrong. {text}"),
        says(f"Done. {text}"),
    ]


def _read(ground: Ground, form: str, steps: list[Step]) -> None:
    home = ground.folder / f"client{next(_COUNT)}"
    Maker(home, ground.root).write(form, steps, _session())
    roots = Roots(
        (str(home / ".claude"),), str(home / ".codex"), str(home / ".gemini"), str(home / ".local" / "share" / "opencode")
    )
    found = ground.engine.find_transcripts(roots, FORMS)
    if form == "transcript":
        path = str(next((home / "notes").glob("*.jsonl")))
        found = Found((Transcript("transcript", _session(), (path,), ground.root, os.path.getsize(path), next(_COUNT)),), (), 0)
    assert found.transcripts, form
    report = ingest(ground.engine, found)
    assert not report.unreadable


def _imported(ground: Ground, incoming: Any) -> None:
    from hardwon.engine.exchange import import_memories

    import_memories(ground.engine, incoming, AGENT)


def _source(content: Any, name: str = "a file") -> Source:
    raw = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    return Source(io.BytesIO(raw), name)


def by_server_memory(ground: Ground, text: str) -> None:
    graph = [
        {"type": "entity", "name": "shop", "entityType": "project", "observations": [text, f"It has a pool. {text}"]},
        {"type": "relation", "from": "shop", "to": text, "relationType": "uses"},
    ]
    _imported(ground, server_memory.read(_source("\n".join(map(json.dumps, graph)))))


def by_mem0(ground: Ground, text: str) -> None:
    listed = [
        {"id": f"m{next(_COUNT)}", "memory": f"It has a pool. {text}", "metadata": {"note": text, "more": [text]}},
        {"id": f"m{next(_COUNT)}", "memory": text},
    ]
    _imported(ground, mem0.read(_source(listed)))


def by_mif(ground: Ground, text: str) -> None:
    memories = [
        {
            "id": f"x{next(_COUNT)}",
            "content": f"It has a pool.\n{text}",
            "created_at": "2026-01-01T00:00:00Z",
            "metadata": {"a": text},
        },
        {"id": f"x{next(_COUNT)}", "content": text, "created_at": "2026-01-01T00:00:00Z"},
    ]
    _imported(ground, mif.read(_source({"mif_version": "2.0", "memories": memories})))


def by_beads(ground: Ground, text: str) -> None:
    lines = [
        {"id": f"bd-{next(_COUNT)}", "title": "Pool runs dry", "description": text, "design": text, "status": "closed", "issue_type": "bug",
         "close_reason": text, "comments": [{"id": 1, "author": "ann", "text": text}]},
        {"id": f"bd-{next(_COUNT)}", "title": f"It has a pool {text}", "status": "open", "issue_type": "task"},
        {"_type": "memory", "key": f"k{next(_COUNT)}", "value": f"It has a pool. {text}"},
    ]  # fmt: skip
    _imported(ground, beads.read(_source("\n".join(map(json.dumps, lines)))))


def by_claude_mem(ground: Ground, text: str) -> None:
    path = ground.folder / f"claude-mem{next(_COUNT)}.db"
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, project TEXT, text TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT,"
        " type TEXT, created_at_epoch INTEGER);"
        "CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, request TEXT, learned TEXT, completed TEXT,"
        " created_at_epoch INTEGER)"
    )
    values = (
        "shop",
        text,
        f"It has a pool. {text}",
        text,
        json.dumps([text]),
        text,
        "discovery",
        1_700_000_000_000 + next(_COUNT),
    )
    connection.execute(
        "INSERT INTO observations (project, text, title, subtitle, facts, narrative, type, created_at_epoch)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        values,
    )
    connection.execute(
        "INSERT INTO observations (project, text, type, created_at_epoch) VALUES ('shop', ?, 'discovery', 1)", (text,)
    )
    connection.execute(
        "INSERT INTO session_summaries (project, request, learned, completed, created_at_epoch) VALUES ('shop', ?, ?, ?, 2)",
        (f"Mend the pool {text}", text, text),
    )
    connection.close()
    _imported(ground, claude_mem.read(str(path), "shop"))


def by_code_memory(ground: Ground, text: str) -> None:
    path = ground.folder / f"cm{next(_COUNT)}.db"
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE symbols (id INTEGER PRIMARY KEY, project TEXT, name TEXT, file TEXT);"
        "CREATE TABLE experiences (id INTEGER PRIMARY KEY, symbol_id INTEGER, type TEXT, lesson TEXT, detail TEXT, session_id TEXT,"
        " status TEXT, created_at TEXT);"
        "INSERT INTO symbols VALUES (1, 'shop', 'total', 'shop/prices.py')"
    )
    connection.execute(
        "INSERT INTO experiences VALUES (1, 1, 'fail', ?, ?, 's', 'active', '2026-01-01 00:00:00')", (f"pool {text}", text)
    )
    connection.close()
    _imported(ground, code_memory.read(str(path), "shop"))


def by_notes(ground: Ground, text: str) -> None:
    note = f"# The pool\n\nIt runs dry.\n\n{text}\n\n## Rules\n\n- [rule] never twice\n{indent(text, '- ')}\n"
    _imported(ground, notes.read(_source(note, "pool.md")))
    folder = ground.folder / f"notes{next(_COUNT)}"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(f"# Memory\n\n- The pool is capped.\n{text}\n", encoding="utf-8")
    (folder / "CLAUDE.md").write_text(f"{text}\n", encoding="utf-8")
    _imported(ground, notes.read_folder(str(folder)))


def by_shared(ground: Ground, text: str) -> None:
    """A file that somebody else put into the repository, and that says of itself that a person wrote it."""
    item = _exported(text)
    folder = Path(ground.root) / ".hardwon" / "memories"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{item.memory.id}.json").write_text(shared.write(item), encoding="utf-8")
    report = ground.engine.ingest_shared(AGENT)
    (folder / f"{item.memory.id}.json").unlink()
    assert not report.bad, report.troubles


def by_lines(ground: Ground, text: str) -> None:
    """An export for which nobody vouches."""
    told = f"{lines.HEADER}\n{lines.to_line(_exported(text))}\n"
    _imported(ground, lines.read(_source(told).lines()))


def _exported(text: str) -> ExportedMemory:
    at = 1_700_000_000_000 + next(_COUNT)
    memory = Memory(
        uuid7(at, os.urandom(10)), None, "lesson", "failed", f"the pool runs dry {at} {text}".replace("\n", " ")[:900],
        detail=text, code=text, because=text, rejected=(text,), tags=("pool",), origin=Origin("person", "cli", "", "cli"),
        trust="confirmed", created_at=at, updated_at=at, anchors=(Anchor("shop/prices.py", "total"),),
    )  # fmt: skip
    item = offered("here", memory).item
    assert item is not None
    return item


def by_junit(ground: Ground, text: str) -> None:
    said = html.escape(text)
    number = next(_COUNT)
    report = (
        f'<testsuite name="s" tests="1" failures="1"><testcase classname="tests.test_auth" name="test_{number}">'
        f'<failure message="TypeError: it broke {said}">{said}\nauth/service.py:3: TypeError\n{said}</failure>'
        f"<system-out>{said}</system-out><system-err>{said}</system-err></testcase></testsuite>"
    )
    found = junit.read(io.BytesIO(report.encode()), lambda path: False)
    _outcomes(ground, found.tests)
    passed = f'<testsuite name="s" tests="1"><testcase classname="tests.test_auth" name="test_{number}"/></testsuite>'
    _outcomes(ground, junit.read(io.BytesIO(passed.encode()), lambda path: False).tests)


def by_ci_log(ground: Ground, text: str) -> None:
    body = RED.replace("test_validate", f"test_{next(_COUNT)}").replace("can't compare", f"can't compare {text}", 1)
    stamp = "2026-11-01T10:00:00.1234567Z "
    log = "\n".join(stamp + line for line in f"##[group]Run pytest\n##[endgroup]\n{text}\n{body}\n##[error]{text}".splitlines())
    _outcomes(ground, ci_log.read(log).outcomes)
    _outcomes(ground, ci_log.read(body).outcomes)


def _outcomes(ground: Ground, found: Any) -> None:
    ground.now += 60_000
    ground.engine.take_outcomes(
        RunOfTests(tuple(found), tree_at(ground.engine, 0), ground.now, "file", "", f"r{next(_COUNT)}"), AGENT
    )


def by_pull_request(ground: Ground, text: str) -> None:
    from hardwon.engine.derived import add

    merged = [
        {"sign": "#", "number": next(_COUNT), "title": f"Cap the pool {text.splitlines()[0]}", "body": f"It ran dry.\n\n{text}",
         "at": "2026-01-01T00:00:00+00:00", "commit": "", "author": "ann"}
    ]  # fmt: skip
    add(ground.engine, "requests", tuple(pull_requests._derived(merged)))


def by_commit(ground: Ground, text: str) -> None:
    ground.repo.commit(f"Cap the pool\n\nIt ran dry.\n\n{text}", {"shop/pool.py": f"POOL = {next(_COUNT)}\n"})
    # Only this one: commits of other doors add lines to files, whose words the index of history holds, and rightly so.
    ground.engine.ingest_history(limit=1)


def by_document(ground: Ground, text: str) -> None:
    ground.repo.commit(
        "Say it", {"AGENTS.md": f"# Rules of the shop\n\nPools are capped ({next(_COUNT)}).\n\n{text}\n\n## More\n\n{text}\n"}
    )
    ground.engine.ingest_documents()


def by_record(ground: Ground, text: str) -> None:
    """What an agent records itself, by the command or by a program."""
    draft = Draft(
        f"the pool runs dry {next(_COUNT)} {text}", "lesson", "failed", detail=text, code=text, because=text, rejected=(text,),
        anchors=(Anchor("shop/prices.py", "total"),),
    )  # fmt: skip
    ground.engine.record(draft, AGENT)


DOORS: dict[str, Callable[[Ground, str], None]] = {
    one.__name__.removeprefix("by_"): one
    for one in (
        by_hook, by_payload, by_transcript, by_server_memory, by_mem0, by_mif, by_beads, by_claude_mem, by_code_memory, by_notes, by_shared,
        by_lines, by_junit, by_ci_log, by_pull_request, by_commit, by_document, by_record,
    )
}  # fmt: skip
doors = pytest.mark.parametrize("door", DOORS)


# --- the tests


@pytest.mark.slow
@doors
def test_a_door_takes_in_what_is_not_ours(tmp_path: Path, door: str) -> None:
    ground = Ground(tmp_path)
    DOORS[door](ground, f"the {MARK} is somebody else's")
    assert any(MARK in memory for memory in ground.kept())
    ground.close()


@pytest.mark.slow
@doors
def test_nothing_that_we_inject_is_taken_in(ground: Ground, door: str) -> None:
    for number, text in enumerate(OURS):
        DOORS[door](ground, text)
        check(ground, f"{door}, {number}")


@pytest.mark.slow
@doors
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=ours)
def test_nothing_that_we_inject_is_taken_in_however_it_is_wrapped(ground: Ground, door: str, text: str) -> None:
    DOORS[door](ground, text)
    check(ground, door)


def check(ground: Ground, what: str) -> None:
    """Nothing with the mark is kept; what is gone from the memory may not linger in a file either."""
    wrong = [memory for memory in ground.kept() if MARK in memory.lower()]
    ground.engine.store.checkpoint(1)
    files = ground.bytes_with(MARK)
    if wrong or files:
        ground.begin_anew()  # the next test is not to blame
    assert not wrong, f"{what}: {wrong[0][:2000]}"
    assert not files, what


@pytest.mark.parametrize("door", ["document", "commit", "pull_request"])
def test_what_a_person_writes_about_our_tags_stays(tmp_path: Path, door: str) -> None:
    """A file of instructions that says what the tag means keeps its other rules; a block that is pasted below goes."""
    ground = Ground(tmp_path)
    DOORS[door](ground, f"What stands in <hardwon-memory> is data.\n\nA finch sings.\n\n{BLOCK}\n\nPools are blue.\n")
    kept = "\n".join(ground.kept())
    assert "is data" in kept and "finch sings" in kept and "are blue" in kept
    assert MARK not in kept
    ground.close()


def test_a_persons_words_come_back_whole_where_a_person_vouches_for_their_export(tmp_path: Path) -> None:
    """A backup of one's own, with --keep-trust: who said something is believed as far as all else in it."""
    from hardwon.engine.exchange import import_memories

    ground = Ground(tmp_path)
    told = f"{lines.HEADER}\n{lines.to_line(_exported(BLOCK))}\n"
    person = Scope(Origin("person", "", "", "cli"))
    import_memories(ground.engine, lines.read(_source(told).lines()), person, keep_trust=True)
    assert any(MARK in memory for memory in ground.kept())
    ground.close()


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_we_run_is_taken_in(ground: Ground, command: str) -> None:
    """Neither what the command printed, nor that it failed and was mended afterwards, nor the command itself."""
    at = {"session": _session()}
    printed = f"1. the {MARK} pool runs dry\n{RED.replace('naive', MARK)}"
    before = len(ground.kept())
    for code, output in ((1, printed), (0, f"{MARK}\n1 passed in 0.01s\n")):
        for moment in ("before", "after"):
            told = {"exit_code": code, "ended": "failed" if code else "ok", "output": output} if moment == "after" else {}
            ground.happens(moment, tool="shell", tool_name="Bash", command=command, **told, **at)
        ground.tell(
            ground.event("after", tool="edit", tool_name="Edit", edits=(VALIDATE,), paths=(VALIDATE.path,), ended="ok", **at)
        )
    ground.happens("stop", **at)
    check(ground, command)
    assert not [
        memory for memory in ground.kept()[before:] if "hardwon" in memory.lower().replace(str(ground.folder).lower(), "")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_no_transcript_tells_of_what_we_ran(ground: Ground, form: str) -> None:
    path = os.path.join(ground.root, "auth/service.py")
    red = RED.replace("naive", MARK)
    steps: list[Step] = [asks("Please fix the failing login.")]
    for command in COMMANDS:
        steps += [
            runs(command, f"{MARK}\n{red}", 1),
            edits(path, VALIDATE.old, VALIDATE.new),
            runs(command, f"{MARK}\n1 passed in 0.1s\n"),
        ]
    for name in TOOLS_OF_OURS:
        steps += [calls(name, f"the {MARK}", f"We decided to use {MARK} instead of files because it is quicker.\n{red}")]
    _read(ground, form, steps)
    check(ground, form)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOOLS_OF_OURS)
def test_nothing_that_a_tool_of_ours_says_is_taken_in(ground: Ground, name: str) -> None:
    at = {"session": _session(), "tool": "mcp", "tool_name": name}
    for moment, told in (("before", {}), ("after", {"ended": "failed", "output": RED.replace("naive", MARK)})):
        ground.happens(moment, text=f"We decided to use {MARK} instead of files because it is quicker", **told, **at)
    ground.happens("stop", session=at["session"])
    check(ground, name)


def test_what_an_agent_hands_back_to_our_tools_is_without_our_blocks(project: Path) -> None:
    talk = Talk(project)
    for number, text in enumerate(OURS):
        told = talk.tool(
            "remember", text=f"Pools are capped, {number}. {text}", detail=text, because=text, code=text, rejected=[text]
        )
        assert told["action"] == "created"
        told = talk.tool(
            "outcome", symbol="Pool.get", outcome="failed", lesson=f"it ran dry {number} {text}", detail=text, file="src/db.py"
        )
        assert told["action"] == "created"
    assert talk.wrong("remember", text=BLOCK)
    engine = opening.open_engine(str(project), os.environ["HARDWON_HOME"])
    with engine.store.read() as reader:
        found = reader.find(Filter(derived=False), -1)
    engine.close()
    assert len(found) == 2 * len(OURS)
    assert not [memory for memory in found if MARK in repr(vars(memory))]


def test_our_passage_in_a_file_of_instructions_is_no_document(project: Path, call: Callable[..., Result]) -> None:
    """`export --format agents-md` and `install` write passages between marks into AGENTS.md; what the repository itself says stays."""
    (project / "AGENTS.md").write_text("# Rules\n\nPools are capped.\n")
    engine = opening.open_engine(str(project), os.environ["HARDWON_HOME"])
    engine.record(Draft(f"never {MARK} twice", "rule"), Scope(Origin("person")))
    engine.close()
    assert call("export", "AGENTS.md", "--format", "agents-md").code == 0
    assert MARK in (project / "AGENTS.md").read_text()
    from tests.conftest import git

    git(project, "add", ".")
    git(project, "commit", "-qm", "Rules")
    assert call("ingest", "docs").code == 0
    hits = call("recall", "--json", "--kind", "doc", "-k", "50").data["hits"]
    assert any("capped" in hit["memory"]["detail"] for hit in hits)
    assert not [hit for hit in hits if MARK in json.dumps(hit)]
    assert call("import", "AGENTS.md").code == 0
    engine = opening.open_engine(str(project), os.environ["HARDWON_HOME"])
    with engine.store.read() as reader:
        found = [memory.text for memory in reader.find(Filter(), -1) if MARK in repr(vars(memory))]
    engine.close()
    assert found == [f"never {MARK} twice"]


def test_a_rule_of_ours_that_is_a_whole_file_is_neither_a_note_nor_a_document(project: Path, call: Callable[..., Result]) -> None:
    """What `install cursor --scope project` writes; Cursor's own rules beside it are notes as any others."""
    from tests.conftest import git

    assert call("install", "cursor", "--scope", "project", "--yes").code == 0
    rules = project / ".cursor" / "rules"
    assert [one.name for one in rules.iterdir()] == ["hardwon.mdc"]
    (rules / "style.mdc").write_text("---\ndescription: Style\nglobs: *.py\n---\n\n# Style\n\nFour spaces.\n")
    assert call("import", str(rules), "--json").data["new"] == 1
    git(project, "add", ".")
    git(project, "commit", "-qm", "Rules")
    assert call("ingest", "docs").code == 0
    hits = call("recall", "--json", "--kind", "doc", "--kind", "fact", "-k", "50").data["hits"]
    kept = json.dumps([hit["memory"]["text"] + hit["memory"]["detail"] for hit in hits])
    assert "Four spaces" in kept
    assert "This repository has a memory" not in kept


def test_what_run_and_the_plugin_of_pytest_say_of_a_failure_is_not_taken_in(ground: Ground) -> None:
    """It stands in the output of a command that is not ours."""
    found = ["tests/test_auth.py::test_validate:", *(f"  {line}" for line in outcomes.known(HITS))]
    assert MARK in "\n".join(found)
    said = "".join(f"hardwon: {line}\n" for line in found)
    at_end = RED.index("=========================== short")
    for output in (RED + said, f"{RED[:at_end]}===== hardwon =====\n{said}{RED[at_end:]}"):
        at = {"session": _session()}
        for code, printed in ((1, output), (0, f"{said}1 passed in 0.01s\n")):
            command = {"tool": "shell", "tool_name": "Bash", "command": "make test", "exit_code": code}
            ground.happens("after", output=printed, ended="failed" if code else "ok", **command, **at)
            ground.happens("after", tool="edit", tool_name="Edit", edits=(VALIDATE,), paths=(VALIDATE.path,), ended="ok", **at)
        ground.happens("end", **at)
        check(ground, output)


@pytest.mark.slow
def test_a_run_of_our_own_commands_records_nothing(project: Path, run: Callable[..., Result]) -> None:
    us = f"{shlex.quote(sys.executable)} -m hardwon"
    assert run("fail", "Pool.get", f"the {MARK} ran dry", "--file", "src/db.py").code == 0
    before = run("stats", "--json").data
    for words in (
        [sys.executable, "-m", "hardwon", "query", "Pool.get"],
        ["bash", "-c", f"{us} query Pool.get; exit 1"],
        ["sh", "-c", f"{us} recall 'the pool' && echo '1 failed in 0.1s' && false"],
        [sys.executable, "-m", "hardwon", "run", "--", "false"],
    ):
        assert run("run", "--json", "--", *words).data["recorded"] is False
    assert run("stats", "--json").data == before
