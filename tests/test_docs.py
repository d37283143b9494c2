"""The pages say what the program does: nothing is missing from them, and nothing in them is made up."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hardwon import errors
from hardwon.doors import actor
from hardwon.doors.parse import parse
from hardwon.doors.verbs import BY_NAME, GLOBALS, VERBS, Verb
from hardwon.errors import HardwonError
from hardwon.settings import load
from hardwon.types import KINDS, OUTCOMES, STATUSES, TRUSTS, WHO
from hardwon.upkeep.risk import level
from tests.hostile import REPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Result

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "hardwon"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text()


def source() -> Iterator[tuple[Path, str]]:
    for file in sorted(SOURCE.rglob("*.py")):
        yield file, file.read_text()


def words_of(name: str) -> tuple[str, ...]:
    """The words of a closed set of hardwon/types.py, which exists for the type checker only."""
    for node in ast.walk(ast.parse((SOURCE / "types.py").read_text())):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return tuple(
                item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant) and isinstance(item.value, str)
            )
    raise LookupError(name)


def section(page: str, heading: str) -> str:
    """What stands below ``## heading``, up to the next one."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"no section {heading}"
    return found[1]


def commands(page: str) -> Iterator[str]:
    """Command lines in blocks of code without a language, comments cut off."""
    for block in re.findall(r"^```(?:sh|console)?\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("hardwon "):
                yield line


def parsed(line: str) -> None:
    words = shlex.split(line, comments=True)
    if "<" in words:
        words = words[: words.index("<")]
    parse(words[1:])


# verbs.md


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_each_verb_has_its_section_with_each_option_and_example(verb: Verb) -> None:
    text = section(read("docs/verbs.md"), f"`{verb.name}`")
    for option in verb.options:
        assert re.search(rf"`--{option.name}(?: [A-Z=|-]+)?`", text), f"--{option.name}"
        if option.short:
            assert re.search(rf"`-{option.short}(?: [A-Z]+)?`", text), f"-{option.short}"
        for choice in option.choices:
            if option.name != "kind" or verb.name == "record":  # the others refer to it
                assert f"`{choice}`" in text, choice
        if "default" in option.help:
            assert "Default" in text, option.name
    examples = list(commands(text))
    assert examples
    for example in verb.examples:
        assert example in examples


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_no_section_names_an_option_that_the_verb_lacks(verb: Verb) -> None:
    text = section(read("docs/verbs.md"), f"`{verb.name}`")
    known = {f"--{item.name}" for item in (*verb.options, *GLOBALS)} | {"--help"}
    own = set(re.findall(r"^\| `(--[a-z-]+)", text, re.MULTILINE))
    assert own <= known
    assert own | {"--k"} >= {f"--{item.name}" for item in verb.options} or verb.name == "ok"


def test_the_options_of_every_verb_have_their_table() -> None:
    text = section(read("docs/verbs.md"), "For every verb")
    for option in GLOBALS:
        assert f"--{option.name}" in text
        assert not option.short or f"`-{option.short} " in text


def test_verbs_md_has_no_verb_that_does_not_exist() -> None:
    headings = re.findall(r"^## `([a-z-]+)`", read("docs/verbs.md"), re.MULTILINE)
    assert headings == [verb.name for verb in VERBS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_documented_command_line_is_understood(page: Path) -> None:
    for line in commands(page.read_text()):
        parsed(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_names_a_verb_that_does_not_exist(page: Path) -> None:
    for name in re.findall(r"(?:^|`|\| )hardwon(?: -[pC] \S+)? ([a-z][a-z-]*)\b", page.read_text(), re.MULTILINE):
        assert name in BY_NAME, name


def test_examples_of_the_help_pages_are_understood() -> None:
    for verb in VERBS:
        for example in verb.examples:
            parsed(example)


def test_remedies_name_only_what_exists() -> None:
    """Messages send people to commands: those must be there."""
    for file, text in source():
        for line in re.findall(r"`(hardwon [^`{}\n]*)`", text):
            words = [word for word in shlex.split(line) if word not in ("VERB", "…")]
            if len(words) > 1:
                assert words[1] in BY_NAME, f"{file.name}: {line}"
                known = {f"--{item.name}" for item in (*BY_NAME[words[1]].options, *GLOBALS)}
                assert {word for word in words if word.startswith("--")} <= known, f"{file.name}: {line}"


# search.md


def test_the_figures_of_the_score_are_those_of_the_page() -> None:
    from hardwon.search import ask, bm25f, channels, rank

    page = read("docs/search.md")
    shown = lambda value: f"{value:g}".removeprefix("0")  # noqa: E731
    constant, share, size = rank.CALIBRATION
    assert f"log-odds = {constant:g} + {share:g} × ln(share) + {size:g} × ln(points)" in page
    assert f"floor at **{shown(rank.FLOOR)}**" in page and f"probability of {shown(rank.FLOOR)};" in page
    assert f"k1 is {bm25f.K1:g}." in page
    assert f"(1 + days/{bm25f.AGE_UNIT_DAYS:g})^-{shown(bm25f.AGE_POWER)}" in page
    assert f"(1 + added lines)^{shown(bm25f.SIZE_POWER)}" in page
    assert f"The {channels.WORD_CANDIDATES} memories" in page and f"{ask.CANDIDATE_TERMS} rarest terms" in page
    assert f"the {ask.SCORED_TERMS} rarest terms" in page
    for row in (("weight", bm25f.FIELD_WEIGHTS), ("length norm b", bm25f.LENGTH_NORMS)):
        assert f"| {row[0]} | " + " | ".join(map(shown, row[1])) + " |" in page
    for evidence in (rank.AT_SYMBOL, rank.AT_FILE, rank.TOUCHED_FILE):
        assert f"{evidence:.1f}" in page


# settings.md


def test_every_setting_has_its_line() -> None:
    page = read("docs/settings.md")
    used = {name for _, text in source() for name in re.findall(r"\b_?HARDWON_[A-Z_]+\b", text)}
    assert used
    listed = set(re.findall(r"^\| `(_?HARDWON_[A-Z_]+)`", page, re.MULTILINE))
    assert used == listed
    assert set(re.findall(r"\bHARDWON_[A-Z_]+\b", "".join(file.read_text() for file in PAGES))) <= used
    for variable, _ in actor.MARKERS:
        assert f"`{variable}`" in page
    for name in ("NO_COLOR", "XDG_DATA_HOME"):
        assert f"`{name}`" in page


def test_the_documented_defaults_are_the_real_ones() -> None:
    page = read("docs/settings.md")
    defaults = load({"HOME": "/home/ann"})
    assert f"`HARDWON_WAIT` | {defaults.wait:g} |" in page
    assert f"`HARDWON_BUDGET` | {defaults.budget} |" in page


# errors.md


def kinds_of_error() -> dict[str, type[HardwonError]]:
    found: dict[str, type[HardwonError]] = {}
    todo: list[type[HardwonError]] = [HardwonError]
    while todo:
        one = todo.pop()
        found[one.kind] = one
        todo += one.__subclasses__()
    return {kind: one for kind, one in found.items() if one.__module__ == errors.__name__}


def test_every_kind_of_error_has_its_line_with_its_exit_code() -> None:
    from hardwon.doors.cli import exit_code

    page = read("docs/errors.md")
    listed = dict(re.findall(r"^\| `([a-z_]+)` \| (\d) \|", page, re.MULTILINE))
    kinds = kinds_of_error()
    assert listed.keys() == kinds.keys()
    for kind, one in kinds.items():
        assert int(listed[kind]) == exit_code(one("")), kind
        assert f"`{one.__name__}`" in page


def test_the_tree_of_errors_is_drawn_whole() -> None:
    drawn = errors.__doc__ or ""
    for one in kinds_of_error().values():
        assert one.__name__ in drawn


# json.md, risk.md, trust.md


def test_every_word_of_the_closed_sets_is_explained() -> None:
    page = read("docs/json.md")
    for word in (
        *words_of("Action"),
        *words_of("RelationKind"),
        *words_of("AnchorState"),
        *KINDS,
        *OUTCOMES,
        *STATUSES,
        *TRUSTS,
        *WHO,
    ):
        assert f"`{word}`" in page, word
    trust = read("docs/trust.md")
    for word in TRUSTS:
        assert f"| `{word}` |" in trust, word


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in keys_of(item)}
    if isinstance(value, list):
        return {key for item in value for key in keys_of(item)}
    return set()


def test_every_key_that_is_printed_is_documented(project: Path, call: Callable[..., Result]) -> None:
    documented = set(re.findall(r"[\"`]([a-z_]+)[\"`]", read("docs/json.md")))
    head = call("status", "--json").data["head"]
    lines: list[list[str]] = [
        ["init"], *[["fail", "A.b", "broke", "--file", "a.py", "-d", "more"]] * 2, ["record", "a fact"], ["resolve", "1"], ["undo", "1"],
        ["query", "A.b"], ["query", "A.b", "--inject"], ["stats"], ["recall", "broke"], ["before", "--file", "a.py"], ["brief"],
        ["explain", "auth/service.py:2"],
        ["show", "1"], ["show", head], ["history", "1"], ["forget", "1", "--dry-run"], ["verify"], ["status"], ["useful", "1"],
        ["revise", "1", "broken"], ["diff", "1"], ["link", "2", "1", "--supports"], ["review"], ["undo"], ["ingest", "git"],
        ["ingest", "docs"], ["ingest", "deps", "--dry-run"], ["export", "e.jsonl"], ["import", "e.jsonl"], ["compact"],
        ["verify", "--secrets"], ["share"], ["ingest", "shared"], ["ingest", "code"], ["ingest", "junit", "report.xml"],
        ["ingest", "log", "report.xml"], ["ingest", "transcripts", "session.jsonl", "--dry-run"], ["stats", "--flaky"], ["refresh"],
        ["run", "true"], ["run", "--junit", "report.xml", "touch", "report.xml"], ["install", "codex", "--dry-run"],
        ["install", "codex", "--yes"], ["doctor"], ["uninstall", "codex", "--yes"], ["install", "git", "--dry-run"], ["status"],
        ["install", "--write-plugin", "plugin"],
    ]  # fmt: skip
    (project / "report.xml").write_text(REPORT)
    (project / "session.jsonl").write_text('{"role": "user", "content": "Make the test pass"}\n')
    answers = [call(*words, "--json").data for words in lines]
    answers.append({"error": call("show", "99", "--json").error})
    undocumented = keys_of(answers) - documented
    assert not undocumented


def test_the_levels_and_the_block_of_risk_md() -> None:
    page = read("docs/risk.md")
    for score in (0, 5, 10, 15):
        assert f"`{level(score)}`" in page
    assert "[PAST EXPERIENCE — AuthService.validate (risk: 11.20, caution)]" in page
    assert "Apply these lessons. Do not repeat these mistakes." in page


# README and links


def test_the_readme_has_its_two_commands() -> None:
    page = read("README.md")
    assert "make demo" in page
    assert "make test" in page
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    for name in re.findall(r"\bmake ([a-z]+)", page):
        if name in ("demo", "test", "check", "slow", "lint", "types", "imports"):
            assert name in targets


def test_the_readme_leads_to_every_page() -> None:
    page = read("README.md")
    assert {name for name in (f"docs/{file.name}" for file in DOCS.glob("*.md")) if f"]({name})" not in page} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_pages_that_the_source_points_to_exist() -> None:
    for file, text in source():
        for target in re.findall(r"\bdocs/[a-z]+(?:/[0-9]{4})?(?:\.md)?", text):
            found = list(ROOT.glob(f"{target}*"))
            assert found, f"{file.name}: {target}"


def test_the_architecture_names_every_module() -> None:
    page = read("docs/architecture.md")
    files = (ROOT / "src" / "hardwon").glob("*/**/*.py")
    modules = {path.stem for path in files if path.parent.name != "manifests"} - {"__init__"}  # one a language, named for it
    assert not {name for name in modules if not re.search(rf"\b{name}\b", page)}
