"""What shell commands are, which tests they name, and whether an exit code is theirs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.capture.commands import is_elsewhere, works
from hardwon.capture.episode import State, step
from hardwon.capture.event import Edit, Event
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


WRAPPED = [
    "volta run pytest -q tests/a.py",
    "volta run --node 20.1 pytest tests/a.py",
    "mise exec -- pytest tests/a.py",
    "mise x python@3.12 -- pytest tests/a.py",
    "mise exec -c 'pytest tests/a.py'",
    "direnv exec ./env pytest tests/a.py",
    "nix develop -c pytest tests/a.py",
    "nix develop .#ci --command bash -c 'pytest tests/a.py'",
    "nix shell nixpkgs#python3 -c pytest tests/a.py",
    "nix-shell -p python3 --run 'pytest tests/a.py'",
    "devenv shell -- pytest tests/a.py",
    "dotenv -e .env -- pytest tests/a.py",
    "cross-env CI=1 pytest tests/a.py",
    "poetry run pytest tests/a.py",
    "pipenv run pytest tests/a.py",
    "hatch run pytest tests/a.py",
    "hatch run dev:pytest tests/a.py",
    "pdm run pytest tests/a.py",
    "rye run pytest tests/a.py",
    "uv run bash -c 'pytest tests/a.py'",
    "docker compose exec -T -e CI=1 web pytest tests/a.py",
    "docker compose -f dev.yml run --rm web pytest tests/a.py",
    "docker-compose run web pytest tests/a.py",
    "docker exec -it -u root shop_web_1 sh -c 'pytest tests/a.py'",
    "podman exec shop pytest tests/a.py",
    "cmd /c pytest tests/a.py",
    r"cmd.exe /d /c 'pytest tests\a.py'",
    "cmd //c 'set CI=1&& pytest tests/a.py'",
    "powershell 'pytest tests/a.py'",
    "powershell.exe -NoLogo -Command 'pytest tests/a.py'",
    "pwsh -NoProfile -NonInteractive -ExecutionPolicy Bypass -c 'pytest tests/a.py'",
    r"""pwsh.exe -Command '$env:CI="1"; pytest tests\a.py 2>&1' """,
    r"""pwsh -Command '& ".\.venv\Scripts\python.exe" -m pytest tests/a.py' """,
    r"pwsh -Command '.\.venv\Scripts\Activate.ps1; pytest.exe tests/a.py; exit $LASTEXITCODE'",
    "pwsh -Command 'Write-Host \"run it\"\npytest `\n  tests/a.py'",
    r"$env:CI = '1'; Write-Output 'a; b'; pytest tests\a.py",
]


@pytest.mark.parametrize("command", WRAPPED)
def test_a_command_that_only_wraps_another_is_known_by_what_it_runs(command: str) -> None:
    (work,) = [work for work in works(command) if work.kind not in ("look", "other")]
    assert (work.kind, work.runner, work.targets, work.certain) == ("test", "pytest", ("tests/a.py",), True)


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("docker run --rm python:3.12 pytest", ["other"]),
        ("docker compose run --entrypoint sh web -c pytest", ["other"]),
        ("docker compose up -d web", ["other"]),
        ("docker compose exec web", ["other"]),
        ("docker build -t shop .", ["build"]),
        ("nix build", ["other"]),
        ("nix develop", ["other"]),
        ("nix-shell -p pytest", ["other"]),
        ("volta install pytest", ["other"]),
        ("mise install", ["other"]),
        ("mise run test", ["test"]),
        ("hatch run test", ["test"]),
        ("pdm run lint", ["lint"]),
        ("./cmd /c pytest", ["run"]),
        ("ls cmd /c", ["look"]),
        ("go test ./cmd/...", ["test"]),
        ("grep -rn 'pwsh -c pytest' docs", ["search"]),
        ("echo 'Set-Content; pytest'", ["look"]),
        ("echo powershell -Command pytest", ["look"]),
        ("pwsh pytest", ["other"]),
        ("powershell -File test.ps1", ["other"]),
        ("pwsh -EncodedCommand cHl0ZXN0", ["other"]),
        ("pwsh -Command 'Write-Output \"pytest; npm test\" # npm test'", ["look"]),
        ("pwsh -Command '$text = @\"\nnpm test\n\"@'", ["look"]),
        ("pwsh -Command 'Get-ChildItem | ForEach-Object { pytest $_ }'", ["look", "other"]),
        ("cmd /c 'echo ^& pytest'", ["look"]),
    ],
)
def test_what_only_looks_like_a_wrapper_is_none(command: str, kinds: list[str]) -> None:
    assert [work.kind for work in works(command)] == kinds


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("pytest", True),
        ("cd web; pytest", True),
        ("mypy && pytest", True),
        ("pytest; exit $LASTEXITCODE", True),
        ("pytest; Write-Output done", False),
        ("pytest | Out-Host", False),
        ("pytest 2>&1 | Select-Object -Last 20", False),
        ("pytest | Select-String failed", False),
        ("pytest; exit 0", False),
        ("pytest; if ($LASTEXITCODE -ne 0) { exit 1 }", False),
        ("$out = pytest 2>&1; $out | Select-Object -Last 3", False),
        ("if (Test-Path tests) { pytest }", False),
        ("try { pytest } catch { 'no' }", False),
    ],
)
def test_the_exit_code_of_powershell_is_that_of_its_last_command(text: str, certain: bool) -> None:
    (work,) = [work for work in works(f'pwsh -Command "{text.replace("$", chr(92) + "$")}"') if work.runner == "pytest"]
    assert work.certain is certain


def test_a_folder_that_powershell_goes_to_is_followed() -> None:
    keys = {works(f"pwsh -c '{text}'")[-1].key for text in ("cd web\\ui; npm test", "Set-Location -Path web/ui\nnpm.cmd test")}
    assert keys == {works("cd web/ui && npm test")[-1].key} == {works(r"cmd /c 'cd /d web\ui && npm test'")[-1].key}


def test_packages_are_told_behind_a_wrapper_too() -> None:
    assert works("volta run pnpm --filter ui test")[0].key == works("pnpm --filter ui test")[0].key


@given(st.text(alphabet="ab'\"$()`\\\n ;&|<>@{}[]#=-,.2^%", max_size=200))
def test_any_text_of_powershell_and_cmd_is_read_without_an_error(text: str) -> None:
    for words in (("pwsh", "-c", text), ("cmd", "/c", text)):
        works(" ".join("'" + word.replace("'", "'\\''") + "'" for word in words))


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("hatch run dev:pwsh -c 'pytest'", ["test"]),
        ("hatch run dev:powershell.exe -Command pytest", ["test"]),
        ("hatch run dev:cmd /c dir", ["other"]),
        ("hatch run dev:./cmd /c pytest", ["other"]),
        ("python -mpowershell -c x > a.py", ["other"]),
        ("uv run -m cmd /c x", ["other"]),
    ],
)
def test_a_shell_that_is_only_a_part_of_a_word_is_read_without_an_error(command: str, kinds: list[str]) -> None:
    assert [work.kind for work in works(command)] == kinds


@pytest.mark.parametrize(
    "command",
    [
        "docker compose exec {} npm test",
        "docker compose run --rm -e CI=1 {} npm test",
        "docker-compose -f dev.yml exec -T {} pytest -q",
        "docker exec -it {} bash -lc 'cd /app && pytest -q'",
        "podman exec {} make build",
        "op run -- sudo docker exec {} npm test",
        "bash -c 'docker exec {} npm test'",
    ],
)
def test_checks_of_two_containers_are_different(command: str) -> None:
    one, other = (works(command.format(name))[-1] for name in ("api", "web"))
    assert one.key != other.key and is_elsewhere(one.key, other.key)
    assert one == works(command.format("api"))[-1] and not is_elsewhere(one.key, one.key)


def test_a_check_in_a_container_is_not_that_outside_of_it() -> None:
    inside, outside = works("docker compose exec api pytest -q")[0], works("nix develop -c pytest -q")[0]
    assert is_elsewhere(inside.key, outside.key) and (inside.runner, inside.targets) == (outside.runner, outside.targets)
    assert not is_elsewhere(outside.key, works("npm test")[0].key)


NAMED = "FAILED tests/test_a.py::test_x - ValueError: bad day\n1 failed, 2 passed in 0.12s\n"
UNNAMED = "TypeError: x is not a function\n    at total (src/a.js:3:4)\n"


@pytest.mark.parametrize("red", [NAMED, UNNAMED])
@pytest.mark.parametrize(
    ("first", "second", "teaches"),
    [
        ("docker compose exec api {}", "docker compose exec api {}", True),
        ("docker compose exec api {}", "docker compose exec web {}", False),
        ("docker exec api sh -c '{}'", "docker exec web sh -c '{}'", False),
        ("docker compose run api {}", "{}", False),
        ("{}", "op run -- docker compose exec web {}", False),
    ],
)
def test_what_passes_in_another_container_mends_nothing(first: str, second: str, teaches: bool, red: str) -> None:
    """Neither has an edit in between helped, nor, without one, does a test come and go."""
    check = "pytest -q" if red == NAMED else "npm test"
    failed = Event(
        "after", "c", "s", 0, "/shop", tool="shell", command=first.format(check), output=red, exit_code=1, ended="failed"
    )
    edit = Edit("/shop/src/a.js", "function total() {\n  return x()\n}\n", "function total() {\n  return y()\n}\n")
    edited = Event("after", "c", "s", 0, "/shop", tool="edit", edits=(edit,), ended="ok")
    passed = failed.replace(command=second.format(check), output="3 passed in 0.12s\n", exit_code=0, ended="ok")
    for events in ((failed, edited, passed), (failed, passed), (passed, failed)):
        state, lessons = State(root="/shop"), []
        for at, event in enumerate(events):
            state, learnt = step(state, event.replace(at=at * 1000, call=str(at)))
            lessons += learnt
        assert bool(lessons) == teaches or (red == UNNAMED and len(events) == 2), events  # what has no name is never flaky
