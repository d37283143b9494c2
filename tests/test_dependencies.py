"""Dependencies as facts with validity, and upgrades that were taken back as failed attempts. Real git, real SQLite."""

# ruff: noqa: E501 - the samples of files read better unbroken
from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.engine import derived
from hardwon.engine.core import Engine
from hardwon.engine.derived import ingest_dependencies
from hardwon.importers import dependencies, snapshot
from hardwon.importers.manifests.table import kind_of, parse
from hardwon.types import Derived, Filter, Memory, Origin, Query, Scope
from tests.gitmaker import GitRepo

PERSON = Scope(Origin("person"))
Make = Callable[[str], Engine]
DAY = 86_400


def required(path: str, text: str | bytes) -> dict[str, str] | None:
    """``name`` or ``name[group]`` to version."""
    kind = kind_of(path)
    assert kind is not None, path
    found = parse(kind, text.encode() if isinstance(text, str) else text)
    return None if found is None else {f"{name}[{group}]" if group else name: wanted for (name, group), wanted in found.items()}


def harvest(repo: GitRepo) -> dependencies.Harvest:
    tree = snapshot.at_head(repo.path)
    assert tree is not None
    return dependencies.harvest(tree)


def facts(repo: GitRepo) -> dict[str, Derived]:
    return {item.draft.text: item for item in harvest(repo).derived if item.draft.kind == "fact"}


def attempts(repo: GitRepo) -> list[Derived]:
    return [item for item in harvest(repo).derived if item.draft.kind == "attempt"]


def kept(engine: Engine) -> list[Memory]:
    with engine.store.read() as reader:
        return reader.find(Filter(client="deps"), -1)


def needs(**versions: str) -> str:
    """A requirements.txt."""
    return "".join(f"{name}{wanted}\n" for name, wanted in versions.items())


# --- what the files say --------------------------------------------------------------------------------------------------

PYPROJECT = """
[build-system]
requires = ["hatchling>=1.2"]
[project]
requires-python = ">=3.11"
dependencies = ["Requests[socks] >=2.31, <3 ; python_version > '3.8'", "click", "own @ git+https://example.org/own.git", 7]
[project.optional-dependencies]
docs = ["sphinx==7.1"]
[dependency-groups]
dev = ["pytest>=8", {include-group = "docs"}]
[tool.poetry.dependencies]
python = "^3.11"
django = {version = "^4.2", optional = true}
numpy = [{version = "<2", python = "<3.12"}, {version = ">=2"}]
local = {path = "../local"}
[tool.poetry.group.test.dependencies]
coverage = "*"
[tool.uv]
dev-dependencies = ["ruff>=0.6"]
"""
PNPM = """lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      react:
        specifier: ^18.2.0
        version: 18.3.1
      '@scope/a':
        specifier: ^1
        version: 1.2.0(react@18.3.1)
      mine:
        specifier: workspace:*
        version: link:packages/mine
    devDependencies:
      vite:
        specifier: ^5
        version: 5.1.0

packages:

  deep@1.0.0:
    resolution: {integrity: sha512-x}
    dependencies:
      deeper: 2.0.0
"""
POM = """<?xml version="1.0"?><project xmlns="http://maven.apache.org/POM/4.0.0">
<parent><groupId>org.boot</groupId><artifactId>parent</artifactId><version>3.1.0</version></parent>
<properties><junit.version>${base}.1</junit.version><base>5.10</base></properties>
<dependencies>
  <dependency><groupId>org.a</groupId><artifactId>core</artifactId><version>1.2</version></dependency>
  <dependency><groupId>org.junit</groupId><artifactId>junit</artifactId><version>${junit.version}</version><scope>test</scope></dependency>
  <dependency><groupId>org.m</groupId><artifactId>managed</artifactId>
    <exclusions><exclusion><groupId>x</groupId><artifactId>y</artifactId></exclusion></exclusions></dependency>
</dependencies>
<build><plugins><plugin><artifactId>p</artifactId><dependencies>
  <dependency><groupId>no</groupId><artifactId>no</artifactId></dependency>
</dependencies></plugin></plugins></build></project>"""
GO = """module example.org/app

go 1.21 // at least
toolchain go1.22.3

require github.com/one/a v1.0.0
require (
	"github.com/two/b" v0.2.0-rc.1
	github.com/three/c v3.0.0+incompatible // indirect
	github.com/four/d v1.1.1 // why
)
replace github.com/four/d => ../d
exclude github.com/one/a v0.9.0
"""

READ: list[tuple[str, str, dict[str, str]]] = [
    (
        "pyproject.toml",
        PYPROJECT,
        {
            "python": ">=3.11 or ^3.11", "requests": ">=2.31,<3", "click": "", "own": "git+https://example.org/own.git",
            "sphinx[docs]": "==7.1", "pytest[dev]": ">=8", "ruff[dev]": ">=0.6", "django": "^4.2", "numpy": "<2 or >=2", "local": "",
            "coverage[test]": "", "hatchling[build]": ">=1.2",
        },
    ),
    (
        "requirements/base.txt",
        "# c\n-r other.txt\n-e .\nDjango==4.2  # lts\nzope.interface >= 5 \\\n  --hash=sha256:abc\n./local\nhttps://x.org/y.whl\nuvicorn[standard]~=0.2; x\n",
        {"django": "==4.2", "zope-interface": ">=5", "uvicorn": "~=0.2"},
    ),
    (
        "setup.cfg",
        "[options]\npython_requires = >=3.8\ninstall_requires =\n    attrs>=20\n    # no\n    six\n[options.extras_require]\ntest = pytest>=7; mock\n",
        {"python": ">=3.8", "attrs": ">=20", "six": "", "pytest[test]": ">=7", "mock[test]": ""},
    ),
    (
        "Pipfile",
        '[packages]\nflask = "==3.0"\nx = {version = ">=1", extras = ["y"]}\n[dev-packages]\nblack = "*"\n[requires]\npython_version = "3.11"\n',
        {"python": "3.11", "flask": "==3.0", "x": ">=1", "black[dev]": ""},
    ),
    ("Pipfile.lock", json.dumps({"default": {"flask": {"version": "==3.0.1"}}, "develop": {"black": {}}}), {"flask": "3.0.1"}),
    (
        "poetry.lock",
        '[[package]]\nname = "Foo_Bar"\nversion = "1.0"\n[package.dependencies]\nx = "*"\n\n[[package]]\nname = "baz"\nversion = "2"\n\n[metadata]\na = "b"\n',
        {"foo-bar": "1.0", "baz": "2"},
    ),
    ("uv.lock", 'version = 1\n\n[[package]]\nname = "a"\nversion = "1.2"\nsource = { registry = "x" }\n', {"a": "1.2"}),
    (
        "Cargo.lock",
        '# @generated\nversion = 3\n\n[[package]]\nname = "serde"\nversion = "1.0.1"\ndependencies = [\n "a",\n]\n\n[[package]]\nname = "serde"\nversion = "2.0.0"\n',
        {"serde": "1.0.1, 2.0.0"},
    ),
    (
        "package.json",
        json.dumps(
            {"dependencies": {"react": "^18", "bad": 3}, "devDependencies": {"vite": "~5"}, "peerDependencies": {"p": "*"}, "engines": {"node": ">=18"}}
        ),
        {"react": "^18", "bad": "", "vite[dev]": "~5", "p[peer]": "", "node": ">=18"},
    ),
    (
        "package-lock.json",
        json.dumps(
            {"packages": {"": {}, "node_modules/a": {"version": "1.0.0"}, "node_modules/a/node_modules/b": {"version": "9"}, "node_modules/@s/c": {"version": "2"}}}
        ),
        {"a": "1.0.0", "@s/c": "2"},
    ),
    ("npm-shrinkwrap.json", json.dumps({"dependencies": {"a": {"version": "1", "dependencies": {"b": {"version": "2"}}}}}), {"a": "1"}),
    (
        "yarn.lock",
        '# yarn lockfile v1\n\n"@s/a@^1.0.0", "@s/a@^1.1.0":\n  version "1.2.3"\n  resolved "x"\n  dependencies:\n    b "^2"\n\nb@^2:\n  version "2.0.1"\n',
        {"@s/a": "1.2.3", "b": "2.0.1"},
    ),
    (
        "packages/x/yarn.lock",
        '__metadata:\n  version: 6\n\n"a@npm:^1.0.0":\n  version: 1.5.0\n\n"root@workspace:.":\n  version: 0.0.0-use.local\n',
        {"a": "1.5.0"},
    ),
    ("pnpm-lock.yaml", PNPM, {"react": "18.3.1", "@scope/a": "1.2.0", "vite": "5.1.0"}),
    ("web/pnpm-lock.yaml", "lockfileVersion: 5.4\n\ndependencies:\n  a: 1.0.0_react@18\n\npackages:\n\n  /b/2.0.0:\n    dev: true\n", {"a": "1.0.0"}),
    (
        "go.mod",
        GO,
        {
            "go": "1.21", "go toolchain": "go1.22.3", "github.com/one/a": "v1.0.0", "github.com/two/b": "v0.2.0-rc.1",
            "github.com/four/d": "v1.1.1 (replaced by ../d)",
        },
    ),
    (
        "Cargo.toml",
        '[package]\nrust-version = "1.70"\n[dependencies]\nserde = { version = "1", features = ["derive"] }\nlog = "0.4"\nmine = { path = "../m" }\n'
        'new = { package = "real", version = "3" }\n[dev-dependencies]\nproptest = "1"\n[target."cfg(unix)".dependencies]\nlibc = "0.2"\n'
        '[workspace.dependencies]\ntokio = "1.3"\n',
        {"rust": "1.70", "serde": "1", "log": "0.4", "real": "3", "proptest[dev]": "1", "libc": "0.2", "tokio": "1.3"},
    ),
    ("pom.xml", POM, {"org.boot:parent": "3.1.0", "org.a:core": "1.2", "org.junit:junit[test]": "5.10.1", "org.m:managed": ""}),
    (
        "app/build.gradle",
        "plugins {\n  id 'java'\n  id 'org.boot' version '3.1'\n}\ndependencies {\n  implementation 'org.a:core:1.2'\n  // implementation 'no:no:1'\n"
        "  testImplementation(\"org.t:t:$v\")\n  api group: 'g', name: 'n', version: '4'\n  implementation project(':x')\n}\n",
        {"org.boot[plugin]": "3.1", "org.a:core": "1.2", "org.t:t[test]": "$v", "g:n": "4"},
    ),
    ("build.gradle.kts", 'dependencies {\n  implementation("org.a:core:1.2")\n}\nplugins { id("k") version "2" }\n', {"org.a:core": "1.2", "k[plugin]": "2"}),
    (
        "gradle/libs.versions.toml",
        '[versions]\na = "1.2"\nr = { strictly = "3" }\n[libraries]\ncore = { module = "org.a:core", version.ref = "a" }\n'
        'r = { group = "g", name = "r", version.ref = "r" }\ns = "g:s:4"\n[plugins]\nk = { id = "kt", version = "2" }\n',
        {"org.a:core": "1.2", "g:r": "3", "g:s": "4", "kt[plugin]": "2"},
    ),
    ("gradle.lockfile", "# c\norg.a:core:1.2=compileClasspath\nempty=annotation\n", {"org.a:core": "1.2"}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "expected"), READ, ids=[path for path, _, _ in READ])
def test_every_kind_of_file_is_read(path: str, text: str, expected: dict[str, str]) -> None:
    assert required(path, text) == expected
    assert required(path, text.replace("\n", "\r\n")) == expected
    assert required(path, b"\xef\xbb\xbf" + text.encode()) == expected


@pytest.mark.parametrize(
    "path", ["go.sum", "src/a.py", "node_modules/a/package.json", "vendor/x/go.mod", "requirements.md", "tests/fixtures/pom.xml"]
)
def test_other_files_are_no_manifests(path: str) -> None:
    assert kind_of(path) is None


PATHS = [path for path, _, _ in READ]


@given(st.sampled_from(PATHS), st.binary(max_size=400))
@settings(max_examples=150)
def test_no_bytes_make_a_reader_fail(path: str, data: bytes) -> None:
    required(path, data)


@given(st.sampled_from(READ), st.data())
@settings(max_examples=150)
def test_no_damage_makes_a_reader_fail(row: tuple[str, str, dict[str, str]], data: st.DataObject) -> None:
    path, text, _ = row
    at = data.draw(st.integers(0, len(text)))
    required(path, text[:at] + data.draw(st.text(max_size=5)) + text[at + data.draw(st.integers(0, 20)) :])


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]><project>&j;</project>"
)
BROKEN: dict[str, tuple[str, str | bytes]] = {
    "conflict": ("pyproject.toml", "[project]\n<<<<<<< HEAD\ndependencies = []\n=======\n>>>>>>> x\n"),
    "conflict_lock": ("yarn.lock", '<<<<<<< HEAD\na@1:\n  version "1"\n=======\n'),
    "toml": ("pyproject.toml", "[project\n"),
    "json": ("package.json", "{"),
    "json_list": ("package.json", "[]"),
    "json_comment": ("package.json", "// c\n{}"),
    "empty_json": ("package-lock.json", ""),
    "laughs": ("pom.xml", LAUGHS),
    "external": ("pom.xml", '<!DOCTYPE p SYSTEM "file:///etc/passwd"><project/>'),
    "xml": ("pom.xml", "<project><dependencies>"),
    "deep_xml": ("pom.xml", "<a>" * 200_000),
    "deep_json": ("package.json", '{"a":' * 100_000),
    "deep_toml": ("pyproject.toml", "a = " + "[" * 100_000),
    "dotted": ("pyproject.toml", ".".join("a" * 400_000) + " = 1"),
    "dotted_inside": ("Cargo.toml", "x = {" + ".".join("a" * 400_000) + " = 1}"),
    "dotted_header": ("pyproject.toml", "[" + ".".join("a" * 400_000) + "]"),
    "huge_number": ("pyproject.toml", "a = " + "9" * 100_000),
    "nul": ("go.mod", b"module x\0"),
    "no_module": ("go.mod", "require a v1\n"),
    "cfg": ("setup.cfg", "no section\n"),
    "cargo": ("Cargo.toml", "[dependencies\nx = 1"),
    "lock_shape": ("Cargo.lock", "[[package]] # c\nname = 'x'\n"),
}  # fmt: skip
ODD: dict[str, tuple[str, str | bytes]] = {
    "long_line": ("requirements.txt", "a" * 900_000),
    "long_names": ("package.json", json.dumps({"dependencies": {"x" * 10_000: "1", "y": "z" * 10_000, "b\n\u202ec": "1", "": "1"}})),
    "wrong_types": ("package.json", json.dumps({"dependencies": [1], "devDependencies": "x", "engines": 3})),
    "wrong_toml": ("pyproject.toml", 'project = 3\ntool = []\n"dependency-groups" = "x"\n'),
    "many": ("package.json", json.dumps({"dependencies": {f"p{n}": "1" for n in range(20_000)}})),
    "yarn_colons": ("yarn.lock", ":" * 500_000),
    "yarn_keys": ("yarn.lock", "a@" * 100_000 + ":\n"),
    "pnpm_deep": ("pnpm-lock.yaml", "importers:\n" + "".join(" " * n + "a:\n" for n in range(1_000))),
    "gradle_quotes": ("build.gradle", "implementation '" * 50_000),
    "gradle_colons": ("build.gradle", "implementation " + "a:" * 100_000),
    "go_parens": ("go.mod", "module x\n" + "require (\n" * 50_000),
    "lock_open": ("poetry.lock", "[[package]]\n" * 50_000),
    "properties": ("pom.xml", "<project><properties><a>${a}${a}</a></properties><dependencies><dependency><artifactId>${a}</artifactId></dependency></dependencies></project>"),
    "pep508": ("requirements.txt", "a[" * 100_000 + "\n" + "a" + " " * 100_000 + "x"),
    "latin": ("setup.cfg", b"[options]\ninstall_requires =\n    caf\xe9\n    six\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_manifests_are_told_apart(case: str) -> None:
    assert required(*BROKEN[case]) is None


@pytest.mark.parametrize("case", ODD)
def test_odd_manifests_are_read_within_bounds(case: str) -> None:
    found = required(*ODD[case])
    assert found is None or all(name.isprintable() and len(name) < 300 and len(wanted) < 300 for name, wanted in found.items())


# --- facts and their validity --------------------------------------------------------------------------------------------


def test_a_requirement_is_a_fact_that_holds_since_the_commit_that_set_it(repo: GitRepo) -> None:
    repo.commit("Start", {"requirements.txt": needs(requests=">=2.28", six="")}, at=DAY)
    second = repo.commit("Bump requests\n\nFor TLS.", {"requirements.txt": needs(requests=">=2.31", six="")}, at=3 * DAY)
    repo.commit("More", {"requirements.txt": needs(requests=">=2.31", six="") + "# c\n"}, at=5 * DAY)
    found = facts(repo)
    assert set(found) == {
        "requests is required as >=2.31 (requirements.txt)",
        "requests was required as >=2.28 until 1970-01-04 (requirements.txt)",
        "six is required in any version (requirements.txt)",
    }
    now, before, _ = (found[text] for text in sorted(found))
    assert (now.valid_from, now.valid_until, now.commit, now.author) == (3 * DAY * 1000, None, second, "Ada Example")
    assert (before.valid_from, before.valid_until) == (DAY * 1000, 3 * DAY * 1000)
    assert now.draft.detail == (
        "Version of the dependency requests in requirements.txt: >=2.31.\n"
        f"Upgrade of requests from >=2.28 on 1970-01-04 by Ada Example: Bump requests ({second[:10]})."
    )
    assert now.draft.tags == ("deps", "python")
    [anchor] = now.draft.anchors
    assert (anchor.path, anchor.commit, anchor.blob) == (
        "requirements.txt",
        second,
        repo.git("rev-parse", f"{second}:requirements.txt"),
    )


def test_what_went_has_an_end(repo: GitRepo) -> None:
    repo.commit("one", {"package.json": json.dumps({"dependencies": {"left-pad": "1.0"}})}, at=DAY)
    repo.commit("two", {"package.json": json.dumps({})}, at=2 * DAY)
    repo.commit(
        "three", {"package.json": json.dumps({"devDependencies": {"left-pad": "1.0"}}), "web/package.json": "{}"}, at=3 * DAY
    )
    repo.commit("four", {"package.json": None}, at=4 * DAY)
    found = facts(repo)
    assert [(item.valid_from, item.valid_until) for item in found.values()] == [
        (3 * DAY * 1000, 4 * DAY * 1000),
        (DAY * 1000, 2 * DAY * 1000),
    ]


def test_of_lock_files_only_what_a_manifest_names_is_told(repo: GitRepo) -> None:
    lock = "".join(f'[[package]]\nname = "{name}"\nversion = "1.0"\n\n' for name in ("flask", "werkzeug"))
    repo.commit("one", {"pyproject.toml": '[project]\ndependencies = ["Flask>=1"]\n', "poetry.lock": lock})
    assert set(facts(repo)) == {"flask is required as >=1 (pyproject.toml)", "flask is locked at 1.0 (poetry.lock)"}


def test_a_monorepo_has_facts_for_each_manifest(repo: GitRepo) -> None:
    repo.commit("one", {f"packages/{name}/package.json": json.dumps({"dependencies": {"react": "^18"}}) for name in "ab"})
    assert set(facts(repo)) == {f"react is required as ^18 (packages/{name}/package.json)" for name in "ab"}


def test_a_broken_version_is_passed_over_and_counted(repo: GitRepo) -> None:
    repo.commit("one", {"package.json": json.dumps({"dependencies": {"a": "1"}})}, at=DAY)
    repo.commit("two", {"package.json": "{<<<<<<< HEAD"}, at=2 * DAY)
    repo.commit("three", {"package.json": json.dumps({"dependencies": {"a": "1"}})}, at=3 * DAY)
    found = harvest(repo)
    assert found.broken == 1
    assert [(item.draft.text, item.valid_from) for item in found.derived] == [("a is required as 1 (package.json)", DAY * 1000)]


def test_a_manifest_that_was_never_whole_is_no_error(repo: GitRepo) -> None:
    repo.commit("one", {"package.json": "{", "Cargo.toml": "[", "pom.xml": LAUGHS})
    found = harvest(repo)
    assert (found.derived, found.files, found.broken) == ((), 3, 3)


def test_branches_that_raise_different_packages_do_not_undo_each_other(repo: GitRepo) -> None:
    def files(one: str, two: str) -> dict[str, str | bytes | None]:
        return {"requirements.txt": f"a=={one}\n\n\n\n\n\n\nb=={two}\n"}

    repo.commit("base", files("1", "1"))
    repo.branch("raise-a")
    repo.commit("raise a", files("2", "1"))
    repo.checkout("main")
    repo.branch("raise-b")
    repo.commit("raise b", files("1", "2"))
    repo.checkout("main")
    repo.merge("raise-a", "Merge pull request #1 from x/raise-a\n\nRaise a to 2")
    repo.merge("raise-b", "Merge pull request #2 from x/raise-b\n\nRaise b to 2")
    found = facts(repo)
    assert attempts(repo) == []
    assert {text for text, item in found.items() if item.valid_until is None} == {
        "a is required as ==2 (requirements.txt)",
        "b is required as ==2 (requirements.txt)",
    }
    assert "Raise a to 2" in found["a is required as ==2 (requirements.txt)"].draft.detail


def test_only_the_newest_steps_are_read_and_the_rest_is_counted(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "MANIFEST_STEPS", 3)
    for number in range(6):
        repo.commit(f"to {number}", {"requirements.txt": needs(a=f"=={number}", old="==1")}, at=(number + 1) * DAY)
    found = harvest(repo)
    assert found.cut == 3
    ours = {item.draft.text: item for item in found.derived}
    assert ours["old is required as ==1 (requirements.txt)"].valid_from is None
    assert ours["a was required as ==2 until 1970-01-05 (requirements.txt)"].valid_from is None
    assert len(ours) == 5


def test_facts_beyond_the_limit_are_the_oldest_that_ended(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "FACTS", 3)
    for number in range(6):
        repo.commit(f"to {number}", {"requirements.txt": needs(a=f"=={number}", old="==1")}, at=(number + 1) * DAY)
    found = harvest(repo)
    assert found.cut == 4
    assert [item.draft.text.split(" (")[0] for item in found.derived] == [
        "a is required as ==5",
        "old is required as ==1",
        "a was required as ==4 until 1970-01-07",
    ]


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "==1", "==2", "==3"])), min_size=1, max_size=5))
@settings(max_examples=10, deadline=None)
def test_spans_of_a_package_never_overlap_and_end_in_what_the_file_says(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str]]
) -> None:
    repo = GitRepo(tmp_path_factory.mktemp("spans"))
    for number, state in enumerate(states):
        repo.commit(f"{number}", {"requirements.txt": needs(**state) + f"# {number}\n"}, at=(number + 1) * DAY)
    found = list(facts(repo).values())
    for name in "abc":
        ours = sorted((item for item in found if item.name.split(":")[3] == name), key=lambda item: item.valid_from or 0)
        ends = [item.valid_until for item in ours]
        assert all(end is not None and end <= (later.valid_from or 0) for end, later in zip(ends, ours[1:], strict=False))
        wanted = [state.get(name) for state in states]
        changes = [now for before, now in zip([None, *wanted], wanted, strict=False) if now != before and now is not None]
        assert len(ours) == len(changes)
        assert (bool(ours) and ours[-1].valid_until is None) == (wanted[-1] is not None)


# --- upgrades that were taken back ---------------------------------------------------------------------------------------


def test_a_reverted_upgrade_is_a_failed_attempt_with_its_reason(repo: GitRepo) -> None:
    repo.commit("Start", {"requirements.txt": needs(django="==3.2", six="==1")}, at=DAY)
    tried = repo.commit("Upgrade django", {"requirements.txt": needs(django="==4.0", six="==1")}, at=2 * DAY)
    undone = repo.revert(tried, "The session table deadlocks under load.", at=3 * DAY)
    [attempt] = attempts(repo)
    assert attempt.draft.text == "upgrade of django from ==3.2 to ==4.0 was taken back"
    assert attempt.draft.outcome == "failed"
    assert attempt.draft.because == 'Revert "Upgrade django": The session table deadlocks under load.'
    assert attempt.draft.detail == (
        f"Tried on 1970-01-03 by Ada Example: Upgrade django ({tried[:10]}).\n"
        f'Taken back on 1970-01-04 by Ada Example: Revert "Upgrade django" ({undone[:10]}).'
    )
    assert [(anchor.path, anchor.commit) for anchor in attempt.draft.anchors] == [("requirements.txt", undone)]


def test_an_upgrade_that_is_taken_back_without_the_word_counts_as_well(repo: GitRepo) -> None:
    for wanted, subject in (("^1.0", "a"), ("^2.0", "to 2"), ("^1.0", "pin to 1 for now")):
        repo.commit(subject, {"package.json": json.dumps({"dependencies": {"x": wanted}})})
    assert [item.draft.because for item in attempts(repo)] == ["pin to 1 for now"]


@pytest.mark.parametrize(
    "versions",
    [["==2", "==1", "==2"], [">=1", "==1", ">=1"], ["==1", "==2", "==3"], ["==1", "==2"], [None, "==1", None]],
    ids=["lowered for a while", "pinned for a while", "onwards", "once", "dropped after years"],
)
def test_other_ways_back_are_no_attempts(repo: GitRepo, versions: list[str | None]) -> None:
    for number, wanted in enumerate(versions):
        repo.commit(f"step {number}", {"requirements.txt": (f"x{wanted}\n" if wanted else "") + f"# {number}\n"})
    assert attempts(repo) == []


def test_a_new_package_that_was_reverted_is_an_attempt(repo: GitRepo) -> None:
    repo.commit("one", {"Cargo.toml": "[dependencies]\n"})
    tried = repo.commit("Detect cycles", {"Cargo.toml": '[dependencies]\nclircle = "0.1"\n'})
    repo.revert(tried)
    assert [item.draft.text for item in attempts(repo)] == ["adding clircle 0.1 was taken back"]


def test_a_second_try_is_told(repo: GitRepo) -> None:
    for wanted in ("==1", "==2", "==1", "==2"):
        repo.commit(f"to {wanted}", {"requirements.txt": needs(x=wanted)})
    [attempt] = attempts(repo)
    assert attempt.draft.detail.splitlines()[-1].startswith("Done again on ")


def test_one_attempt_for_all_manifests_that_it_touched_and_none_more_for_the_lock(repo: GitRepo) -> None:
    def files(wanted: str, locked: str) -> dict[str, str | bytes | None]:
        manifest = json.dumps({"dependencies": {"x": wanted}})
        lock = json.dumps({"packages": {"node_modules/x": {"version": locked}}})
        return {"a/package.json": manifest, "b/package.json": manifest, "package-lock.json": lock}

    for wanted, locked in (("^1", "1.5.0"), ("^2", "2.0.0"), ("^1", "1.5.0")):
        repo.commit(f"to {wanted}", files(wanted, locked))
    [attempt] = attempts(repo)
    assert [anchor.path for anchor in attempt.draft.anchors] == ["a/package.json", "b/package.json"]


# --- ingest --------------------------------------------------------------------------------------------------------------


def test_questions_about_versions_find_what_holds(repo: GitRepo, open_at: Make) -> None:
    repo.commit("Start", {"requirements.txt": needs(requests=">=2.28", django="==3.2")}, at=DAY)
    tried = repo.commit("Upgrade django", {"requirements.txt": needs(requests=">=2.31", django="==4.0")}, at=2 * DAY)
    repo.commit("Revert django\n\nDeadlocks.", {"requirements.txt": needs(requests=">=2.31", django="==3.2")}, at=3 * DAY)
    engine = open_at(repo.path)
    report = ingest_dependencies(engine)
    assert (report.files, report.added) == (1, 6)
    hits = engine.recall(Query("which version of requests do we use?"), Scope()).hits
    assert hits[0].memory.text == "requests is required as >=2.31 (requirements.txt)"
    found = engine.recall(Query("when did we upgrade django"), Scope()).hits
    assert {hit.memory.text for hit in found if "django" in hit.memory.text} == {
        "upgrade of django from ==3.2 to ==4.0 was taken back",
        "django is required as ==3.2 (requirements.txt)",
    }
    [attempt] = [hit.memory for hit in found if hit.memory.kind == "attempt"]
    assert (attempt.outcome, attempt.trust, attempt.number) == ("failed", "history", None)
    assert tried[:10] in attempt.detail
    assert engine.verify() == []


def test_facts_follow_history_and_unchanged_manifests_cost_no_reading(
    repo: GitRepo, open_at: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("one", {"requirements.txt": needs(a="==1"), "src/a.py": "x\n"})
    engine = open_at(repo.path)
    ingest_dependencies(engine)
    assert ingest_dependencies(engine).unchanged == 1
    reads: list[int] = []
    real = dependencies.harvest
    monkeypatch.setattr(dependencies, "harvest", lambda place: reads.append(1) or real(place))
    repo.commit("two", {"src/a.py": "y\n"})
    assert ingest_dependencies(engine).unchanged == 1 and reads == []
    # To and fro between two runs: the file is as it was, and yet there is something to learn.
    repo.commit("three", {"requirements.txt": needs(a="==2")})
    repo.commit("four", {"requirements.txt": needs(a="==1")})
    report = ingest_dependencies(engine)
    assert reads == [1] and report.added == 3
    assert sorted(memory.kind for memory in kept(engine)) == ["attempt", "fact", "fact", "fact"]
    # History rewritten: what it no longer tells is gone.
    repo.git("reset", "-q", "--hard", "HEAD~2")
    assert ingest_dependencies(engine).removed == 3
    assert [memory.text for memory in kept(engine)] == ["a is required as ==1 (requirements.txt)"]
    assert engine.verify() == []


def test_a_fact_that_ended_says_so_and_is_no_longer_approved(repo: GitRepo, open_at: Make) -> None:
    repo.commit("one", {"requirements.txt": needs(a="==1")})
    engine = open_at(repo.path)
    ingest_dependencies(engine)
    [fact] = kept(engine)
    engine.approve(fact.id, PERSON)
    repo.commit("two", {"requirements.txt": needs(a="==2")})
    report = ingest_dependencies(engine)
    assert (report.added, report.changed) == (1, 1)
    with engine.store.read() as reader:
        [now] = reader.get([fact.id])
    assert "was required as ==1 until" in now.text and now.trust == "history" and now.valid_until is not None


def test_a_rejected_fact_stays_out_when_history_is_rewritten(repo: GitRepo, open_at: Make) -> None:
    repo.commit("one", {"requirements.txt": needs(a="==1", b="==1")})
    engine = open_at(repo.path)
    ingest_dependencies(engine)
    [fact] = [memory for memory in kept(engine) if memory.text.startswith("a ")]
    engine.reject(fact.id, PERSON)
    repo.git("commit", "-q", "--amend", "-m", "another")
    report = ingest_dependencies(engine)
    assert (report.refused, report.added, report.removed) == (1, 1, 1)
    assert [(memory.text[0], memory.status) for memory in sorted(kept(engine), key=lambda memory: memory.text)] == [
        ("a", "rejected"),
        ("b", "active"),
    ]


def test_an_interrupted_run_is_finished_by_the_next(repo: GitRepo, open_at: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "SLICE_AWAY", 2)
    repo.commit("one", {"requirements.txt": "".join(f"p{number}==1\n" for number in range(9))})
    engine = open_at(repo.path)

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest_dependencies(engine, stop)
    assert len(kept(engine)) == 2
    report = ingest_dependencies(engine)
    assert (report.added, report.unchanged, report.memories) == (7, 2, 9)
    assert engine.verify() == []


def test_outside_git_the_facts_of_now_are_told(tmp_path: Path, open_at: Make) -> None:
    place = tmp_path / "plain"
    place.mkdir()
    (place / "requirements.txt").write_text(needs(a="==1"))
    (place / "package.json").symlink_to("/etc/hostname")
    engine = open_at(str(place))
    assert ingest_dependencies(engine).added == 1
    assert [(memory.text, memory.valid_from) for memory in kept(engine)] == [("a is required as ==1 (requirements.txt)", None)]
    (place / "requirements.txt").write_text(needs(a="==2"))
    report = ingest_dependencies(engine)
    assert report.memories == 1 and kept(engine)[0].text == "a is required as ==2 (requirements.txt)"


def test_credentials_in_a_manifest_are_taken_out(repo: GitRepo, open_at: Make) -> None:
    repo.commit(
        "one", {"package.json": json.dumps({"dependencies": {"mine": "git+https://bob:hunter2secret@git.example.org/x.git"}})}
    )
    engine = open_at(repo.path)
    assert ingest_dependencies(engine).redacted >= 1
    assert "hunter2secret" not in "".join(f"{memory.text} {memory.detail}" for memory in kept(engine))


@pytest.mark.slow
def test_a_repository_full_of_hostile_manifests_is_ingested(
    repo: GitRepo, open_at: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dependencies, "FACTS", 300)
    cases = {**BROKEN, **ODD}
    files: dict[str, str | bytes | None] = {f"{case}/{path}": data for case, (path, data) in cases.items()}
    files |= {
        "a\nb/package.json": "{}",
        "-x/package.json": '{"dependencies": {"fine": "1"}}',
        "big/package.json": b" " * 1_500_000,
    }
    repo.commit("hostile\n\n" + "Revert " * 5_000, files, author="\u202eEve <e@x>")
    os.symlink("/etc/passwd", os.path.join(repo.path, "go.mod"))
    repo.git("add", "-A")
    repo.commit("a link")
    engine = open_at(repo.path)
    report = ingest_dependencies(engine)
    assert report.too_large == 1 and report.broken >= len(BROKEN)
    assert "fine is required as 1 (-x/package.json)" in {memory.text for memory in kept(engine)}
    assert all(memory.text.isprintable() and memory.author.isprintable() for memory in kept(engine))
    assert ingest_dependencies(engine).unchanged == report.memories


def test_a_partial_clone_tells_what_it_can_and_fetches_nothing(repo: GitRepo, open_at: Make, tmp_path: Path) -> None:
    repo.commit("one", {"requirements.txt": needs(a="==1")})
    repo.commit("two", {"requirements.txt": needs(a="==2")})
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(clone))
    engine = open_at(str(clone))
    report = ingest_dependencies(engine)
    assert (report.memories, report.unreadable) == (1, 1)
    assert kept(engine)[0].text == "a is required as ==2 (requirements.txt)"


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("<2,>=1.5", ">=1.5,<2", "Change"),
        (">=1.5,<2", "<3,>=1.6", "Upgrade"),
        ("1.4.0", "1.3.9", "Downgrade"),
        ("", ">=1", "Change"),
    ],
)
def test_the_order_of_bounds_is_no_change_of_version(old: str, new: str, word: str) -> None:
    assert dependencies._direction(old, new) == word
