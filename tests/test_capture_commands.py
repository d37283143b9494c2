"""What shell commands are, which tests they name, and whether an exit code is theirs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.capture.commands import works
from hardwon.capture.programs import proper

TABLE = [
    ("pytest -q", "test", "pytest", ()),
    ("python3 -m pytest tests/a.py::T::test_x -x", "test", "pytest", ("tests/a.py::T::test_x",)),
    ("cd backend && uv run --frozen pytest tests/a.py", "test", "pytest", ("backend/tests/a.py",)),
    ("python -m unittest tests.test_a", "test", "unittest", ("tests.test_a",)),
    ("python manage.py test app.tests", "test", "unittest", ("app.tests",)),
    ("coverage run -m pytest tests/unit", "test", "pytest", ("tests/unit",)),
    ("npm test -- src/a.test.ts", "test", "npm", ("src/a.test.ts",)),
    ("npm run test:unit", "test", "npm test:unit", ()),
    ("pytest tests/", "test", "pytest", ()),
    ("pytest tests/unit/", "test", "pytest", ("tests/unit",)),
    ("cd web && npx jest ./src/", "test", "jest", ("web/src",)),
    ("pnpm --filter @shop/ui test", "test", "pnpm", ("@shop/ui",)),
    ("pnpm --filter=@shop/ui test", "test", "pnpm", ("@shop/ui",)),
    ("pnpm -F ui run test:unit", "test", "pnpm test:unit", ("ui",)),
    ("pnpm --filter ui exec vitest run a.test.ts", "test", "vitest", ("a.test.ts", "ui")),
    ("pnpm -C web test a.test.ts", "test", "pnpm", ("web/a.test.ts",)),
    ("npm --prefix web run test", "test", "npm", ()),
    ("npm -w ui test", "test", "npm", ("ui",)),
    ("npm test --workspace=ui -- --filter x", "test", "npm", ("ui", "x")),
    ("yarn workspace ui test", "test", "yarn", ("ui",)),
    ("bun --filter @shop/ui build", "build", "bun build", ("@shop/ui", "build")),
    ("corepack pnpm run typecheck", "types", "pnpm typecheck", ("run", "typecheck")),
    ("corepack pnpm --filter ui test", "test", "pnpm", ("ui",)),
    ("corepack enable", "install", "corepack", ()),
    ("node --run test", "test", "node", ()),
    ("mise run test", "test", "mise", ()),
    ("npx turbo run test", "test", "turbo", ()),
    ("nx test shop", "test", "nx", ("shop",)),
    ("nx run-many -t test", "test", "nx", ()),
    ("mix precommit", "test", "mix", ()),
    ("pnpm -s check-types", "types", "pnpm check-types", ()),
    ("npm run check:format", "format", "npm check:format", ()),
    ("make check-lint", "lint", "make check-lint", ("check-lint",)),
    ("npm run check", "test", "npm check", ()),
    ("pytest --collect-only", "look", "pytest", ()),
    ("cargo test --no-run", "look", "cargo", ()),
    ("yarn jest src/a.test.ts", "test", "jest", ("src/a.test.ts",)),
    ("pnpm exec vitest run a.test.ts", "test", "vitest", ("a.test.ts",)),
    ("npx mocha", "test", "mocha", ()),
    ("node --test", "test", "node", ()),
    ("go test ./...", "test", "go", ()),
    ("go test ./pkg/cart", "test", "go", ("pkg/cart",)),
    ("cargo test --release parses", "test", "cargo", ("parses",)),
    ("cargo nextest run", "test", "cargo", ()),
    ("./mvnw -q test", "test", "maven", ()),
    ("./gradlew :app:test", "test", "gradle", ()),
    ("ctest --test-dir build", "test", "ctest", ()),
    ("bundle exec rspec spec/a_spec.rb", "test", "rspec", ("spec/a_spec.rb",)),
    ("make test", "test", "make", ()),
    ("bash -lc 'pytest -q'", "test", "pytest", ()),
    ("go build ./...", "build", "go", ()),
    ("cargo check", "build", "cargo", ()),
    ("npx tsc", "build", "tsc", ()),
    ("npx tsc --noEmit", "types", "tsc", ()),
    ("mypy src", "types", "mypy", ("src",)),
    ("ruff check .", "lint", "ruff", ()),
    ("ruff format .", "format", "ruff", ()),
    ("npx eslint --fix src", "format", "eslint", ()),
    ("pip install -e .", "install", "pip", ()),
    ("uv sync", "install", "uv", ()),
    ("npm ci", "install", "npm", ()),
    ("apt-get install -y jq", "install", "apt-get", ()),
    ("git commit -m x", "git", "git", ()),
    ("rg -n foo src", "search", "rg", ()),
    ("sed -n 1,20p a.py", "look", "sed", ()),
    ("sed -i s/a/b/ a.py", "other", "sed", ()),
    ("curl -s https://example.com", "network", "curl", ()),
    ("python scripts/load.py", "run", "python", ("scripts/load.py",)),
    ("./run.sh", "run", "run.sh", ()),
    ("hardwon status", "own", "hardwon", ()),
]


@pytest.mark.parametrize(("command", "kind", "runner", "targets"), TABLE)
def test_a_command_is_what_it_does(command: str, kind: str, runner: str, targets: tuple[str, ...]) -> None:
    work = works(command)[-1]
    assert (work.kind, work.runner) == (kind, runner)
    if kind in ("test", "types", "run"):
        assert work.targets == targets or not targets


@pytest.mark.parametrize(
    "command", ["pytest -q", "cd a && pytest -q", "FOO=1 pytest -q", "set -o pipefail; pytest -q | tail -3", "pytest -q && ls"]
)
def test_an_exit_code_belongs_to_a_command_that_decides_it(command: str) -> None:
    assert next(work for work in works(command) if work.kind == "test").certain


@pytest.mark.parametrize("command", ["pytest -q | tail -3", "pytest -q || true", "pytest -q; echo $?", "pytest -q & wait"])
def test_an_exit_code_does_not_belong_to_a_command_that_others_follow(command: str) -> None:
    assert not next(work for work in works(command) if work.kind == "test").certain


def test_the_same_check_has_the_same_key_however_it_is_spelt() -> None:
    (one,), (other,) = works("pytest -q tests/a.py --tb=short"), works("python -m pytest tests/a.py -vv")
    assert one.key == other.key
    assert one.key != works("pytest tests/b.py")[0].key


def test_checks_of_two_packages_are_different() -> None:
    for command in (
        "pnpm --filter {} test",
        "pnpm --filter={} build",
        "npm -w {} test",
        "pnpm -C {} test",
        "yarn workspace {} typecheck",
    ):
        one, other = works(command.format("ui")), works(command.format("core"))
        assert one[0].key != other[0].key, command


def test_narrowing_and_stopping_are_told() -> None:
    (work,) = works("pytest -x -k 'total and not slow' tests/a.py")
    assert (work.narrow, work.stops, work.targets) == ("total and not slow", True, ("tests/a.py",))


def test_who_runs_what_is_looked_through() -> None:
    assert proper(("sudo", "-u", "me", "env", "A=1", "uv", "run", "--with", "x", "python", "-m", "pytest", "-q")) == (
        "pytest",
        "-q",
    )
    assert proper(("python", "-c", "print(1)")) == ("python", "-c", "print(1)")
    assert proper(()) == ()


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    works(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "pytest",
                "-x",
                "-k",
                "&&",
                "|",
                ";",
                "'",
                '"',
                "$(",
                ")",
                "cd",
                "..",
                "/",
                "uv",
                "run",
                "-m",
                "python",
                "hardwon",
                "bash",
                "-c",
                "\\",
                "\n",
            ]
        ),
        max_size=30,
    )
)
def test_any_sequence_of_words_is_read_without_an_error(words: list[str]) -> None:
    works(" ".join(words), "a/b")


@pytest.mark.parametrize(
    ("command", "inline"),
    [
        ("python -c 'print(1)'", True),
        ("python -Ic 'print(1)'", True),
        ("python -W error -c 'print(1)'", True),
        ("python3 - <<E\nprint(1)\nE", True),
        ("python3 <<E\nprint(1)\nE", True),
        ("uv run python <<'E'\nprint(1)\nE", True),
        ("node --input-type=module <<'E'\nawait 1\nE", True),
        ("node -e 'x()'", True),
        ("php -r 'x();'", True),
        ("cat load.py | python3", True),
        ("ruby < load.rb", True),
        ("cat days.txt | python3 load.py", False),
        ("python -X dev load.py -c", False),
        ("node -r esm load.js", False),
        ("python load.py < days.txt", False),
    ],
)
def test_a_program_that_stands_on_the_line_is_told_from_one_in_a_file(command: str, inline: bool) -> None:
    (work,) = [work for work in works(command) if work.kind == "run"]
    assert work.inline is inline


def test_tests_that_cargo_skips_are_not_those_that_it_runs() -> None:
    (skipped,), (named,) = works("cargo test -- --skip config"), works("cargo test config")
    assert (skipped.narrow, skipped.targets) == ("not config", ()) and skipped.key != named.key


@pytest.mark.parametrize(
    ("line", "chained"),
    [
        ("mypy && pytest", [True, False]),
        ("mypy && ruff check && pytest", [True, True, False]),
        ("mypy; pytest", [False, False]),
        ("mypy || pytest", [False, False]),
        ("mypy | tail && pytest", [False, True, False]),
    ],
)
def test_what_stands_before_and_ran_only_where_it_passed(line: str, chained: list[bool]) -> None:
    assert [work.chained for work in works(line)] == chained
