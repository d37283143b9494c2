"""The memory provider of Hermes as an installation writes it: loaded over a stand-in for what it imports, asking the real command."""

from __future__ import annotations

import abc
import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Result

    Call = Callable[..., Result]

PROMPT = "why do frobnicator caches expire after the zebra handshake"
ABOUT = "frobnicator caches expire after the zebra handshake"


class MemoryProvider(abc.ABC):
    """What Hermes asks of a provider, as far as ours has to have it."""

    @property
    @abc.abstractmethod
    def name(self) -> str: ...

    @abc.abstractmethod
    def is_available(self) -> bool: ...

    @abc.abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None: ...

    @abc.abstractmethod
    def get_tool_schemas(self) -> list[dict[str, Any]]: ...


@pytest.fixture
def provider(person: Path, project: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ours, in a session of a memory."""
    assert call("install", "hermes", "--yes").code == 0
    agent, module = types.ModuleType("agent"), types.ModuleType("agent.memory_provider")
    module.MemoryProvider = MemoryProvider  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agent", agent)
    monkeypatch.setitem(sys.modules, "agent.memory_provider", module)
    path = person / ".hermes" / "plugins" / "hardwon" / "__init__.py"
    spec = importlib.util.spec_from_file_location("hardwon_provider_of_hermes", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    registered: list[Any] = []
    loaded.register(types.SimpleNamespace(register_memory_provider=registered.append))
    (ours,) = registered
    monkeypatch.chdir(project)
    ours.initialize("now", hermes_home=str(person / ".hermes"), platform="cli")
    return ours


def asked(provider: Any, tool: str, **given: object) -> Any:
    return json.loads(provider.handle_tool_call(tool, given))


def claimed(call: Call, text: str, monkeypatch: pytest.MonkeyPatch, client: str = "hermes", session: str = "earlier") -> None:
    """A claim of an agent, of an earlier session."""
    with monkeypatch.context() as patch:
        patch.setenv("HARDWON_CLIENT", client)
        patch.setenv("HARDWON_SESSION", session)
        assert call("record", "--kind", "fact", text).code == 0


def test_it_is_what_hermes_takes(provider: Any) -> None:
    assert isinstance(provider, MemoryProvider) and provider.name == "hardwon" and provider.is_available()
    for schema in provider.get_tool_schemas():
        assert set(schema["parameters"]["required"]) <= set(schema["parameters"]["properties"])


def test_a_turn_is_told_what_fits_once_in_a_session_and_else_nothing(
    provider: Any, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed(call, ABOUT, monkeypatch)
    assert provider.prefetch("what is the weather like in Lisbon on sundays?", session_id="now") == ""
    assert provider.prefetch("ok", session_id="now") == provider.prefetch("", session_id="now") == ""
    told = provider.prefetch(PROMPT, session_id="now")
    assert ABOUT in told and "unverified" in told and told.startswith("<hardwon-memory")
    assert provider.prefetch(PROMPT, session_id="now") == ""
    provider.on_session_switch("next", reset=True)
    assert ABOUT in provider.prefetch(PROMPT)


def test_what_was_imported_and_what_others_claim_is_told_to_who_asks_only(
    provider: Any, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.md").write_text(f"# Notes\n\n- {ABOUT}, says a file\n")
    assert call("import", str(tmp_path / "notes.md")).code == 0
    claimed(call, f"{ABOUT}, says somebody else", monkeypatch, client="codex")
    claimed(call, f"{ABOUT}, it was said a moment ago", monkeypatch, session="now")
    assert provider.prefetch(PROMPT, session_id="now") == ""
    answer = asked(provider, "hardwon_recall", task=PROMPT)["result"]
    assert "says a file" in answer and "says somebody else" in answer


def test_at_most_three_claims_and_500_tokens_come_unasked(provider: Any, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        claimed(call, f"{ABOUT} {number} " + "and so on " * 20, monkeypatch)
    told = provider.prefetch(PROMPT, session_id="now")
    assert told.count("unverified") == 3 and len(told) <= 2_000


def test_the_system_prompt_gets_the_brief(provider: Any, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_CLIENT", "hermes")
    call("record", "--kind", "rule", "call tests with nice")
    assert provider.system_prompt_block() == call("brief").out.strip()


def test_a_tool_keeps_what_it_is_told_for_hermes_and_its_session(provider: Any, call: Call) -> None:
    assert (
        "recorded"
        in asked(
            provider, "hardwon_outcome", symbol="AuthService.validate", lesson="dates", outcome="failed", file="auth/service.py"
        )["result"]
    )
    assert "created" in asked(provider, "hardwon_remember", text="Redis it is", kind="decision", because="it survives")["result"]
    lesson = call("query", "AuthService.validate", "--json").data["symbols"][0]["experiences"][0]
    assert lesson["type"] == "fail" and lesson["lesson"] == "dates"
    origin = call("show", str(lesson["number"]), "--json").data["origin"]
    assert (origin["who"], origin["client"], origin["session"]) == ("agent", "hermes", "now")
    assert "dates" in asked(provider, "hardwon_before", file="auth/service.py")["result"]
    assert asked(provider, "hardwon_outcome", symbol="AuthService.validate", lesson="mended", outcome="worked")["result"]


def test_only_an_empty_answer_is_nothing_that_fits(provider: Any) -> None:
    assert asked(provider, "hardwon_recall", task="zebra crossings of Lisbon") == {"result": "nothing that fits"}


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("hardwon_outcome", {"symbol": "A.b", "outcome": "failed"}, "lesson: missing"),
        ("hardwon_outcome", {"symbol": "A.b", "lesson": "x", "outcome": "perhaps"}, "failed or worked"),
        (
            "hardwon_outcome",
            {"symbol": "A.b", "lesson": "x", "outcome": "failed", "file": "/etc/passwd"},
            "outside the repository",
        ),
        ("hardwon_before", {"file": "../../x.py"}, "outside the repository"),
        ("hardwon_before", {"file": "a\0b"}, "could not be run"),
        ("hardwon_remember", {"text": "  "}, "text: missing"),
        ("hardwon_remember", {"text": "x", "kind": "summary of all"}, "kind"),
        ("hardwon_forget", {}, "there is no tool"),
    ],
)
def test_a_tool_that_fails_says_why(provider: Any, tool: str, given: dict[str, object], said: str) -> None:
    answer = asked(provider, tool, **given)
    assert answer.keys() == {"error"} and said in answer["error"]


def test_without_a_memory_it_is_silent_and_a_tool_says_so(provider: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    provider.initialize("now")
    assert provider.system_prompt_block() == provider.prefetch(PROMPT) == ""
    assert "hardwon init" in asked(provider, "hardwon_recall", task=PROMPT)["error"]
    assert not list((tmp_path / "elsewhere").iterdir())


def test_it_asks_where_hermes_works(provider: Any, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERMINAL_CWD", str(project))
    provider.initialize("now")
    assert "result" in asked(provider, "hardwon_recall", task=PROMPT)


def test_a_program_that_hangs_or_is_gone_is_told_and_disturbs_no_turn(
    provider: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    names = type(provider).ask.__globals__
    monkeypatch.setitem(names, "SECONDS", 0.2)
    monkeypatch.setitem(names, "PROGRAM", str(slow))
    assert provider.prefetch(PROMPT) == "" and "no answer within" in asked(provider, "hardwon_recall", task=PROMPT)["error"]
    monkeypatch.setitem(names, "PROGRAM", str(tmp_path / "gone"))
    assert provider.prefetch(PROMPT) == "" and "could not be run" in asked(provider, "hardwon_recall", task=PROMPT)["error"]
    assert not provider.is_available()


# The verb behind it


def test_recall_unasked_is_silent_without_a_session_too_but_remembers_nothing(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed(call, ABOUT, monkeypatch, client="tester")
    for _ in range(2):
        assert ABOUT in call("recall", "--unasked", "--block", PROMPT).out
    assert call("recall", "--unasked", "--block", "what is the weather like in Lisbon on sundays?").out.strip() == ""
    assert call("recall", "--unasked", PROMPT, "--json").data["hits"][0]["memory"]["text"] == ABOUT
    assert call("recall", "--unasked", PROMPT, "--kind", "decision", "--json").data["hits"] == []
    assert call("recall", "--unasked", "--exit-code", "ok").code == 3


def test_our_own_block_among_the_words_of_a_prompt_brings_nothing_to_mind(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed(call, ABOUT, monkeypatch, client="tester")
    block = call("recall", "--block", PROMPT).out
    assert call("recall", "--unasked", "--block", "-", stdin=block + "\nplease go on with that").out.strip() == ""


@pytest.mark.parametrize(
    "words", [("--unasked",), ("--unasked", "--kind", "rule"), ("--unasked", "why is it so", "--error", "-")]
)
def test_recall_unasked_is_about_words(project: Path, call: Call, words: tuple[str, ...]) -> None:
    done = call("recall", *words, "--json", stdin="Traceback")
    assert done.code == 2 and done.error["field"] in ("unasked", "task")
