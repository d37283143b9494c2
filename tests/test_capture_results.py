"""What test runners and compilers print: counts, failing tests, the message that tells why."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.capture.results import failure, read
from tests.excerpts.judge import cases

# runner's output, passed, failed, names of failing tests, words of the first message
TABLE = {
    "pytest": (
        "FAILED tests/a.py::test_x - ValueError: bad day\nFAILED tests/a.py::T::test_y[1] - assert 1 == 2\n=== 2 failed, 3 "
        "passed, 1 warning in 0.12s ===\n",
        3,
        2,
        ["tests/a.py::test_x", "tests/a.py::T::test_y[1]"],
        "bad day",
    ),
    "pytest cut by tail": ("2 failed, 3 passed in 1.20s\n", 3, 2, [], ""),
    "unittest": (
        "F.\n=====\nFAIL: test_u (tests.test_a.T.test_u)\n-----\nTraceback (most recent call last):\n  File "
        '"/x/tests/test_a.py", line 4, in test_u\n'
        "    self.assertEqual(1, 2)\nAssertionError: 1 != 2\n\n-----\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n",
        1,
        1,
        ["tests.test_a.T.test_u"],
        "1 != 2",
    ),
    "jest": (
        "FAIL ./a.test.js\n  ● total › is zero\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: "
        "0\n    Received: 1\n\n"
        "Tests:       1 failed, 2 passed, 3 total\n",
        2,
        1,
        ["total › is zero"],
        "Expected: 0 Received: 1",
    ),
    "vitest": (
        " FAIL  a.test.ts > total > is zero\nAssertionError: expected 1 to be +0\n\n Test Files  1 failed (1)\n      Tests  1 "
        "failed | 2 passed (3)\n",
        2,
        1,
        ["total > is zero"],
        "expected 1 to be",
    ),
    "mocha": (
        "  1 passing (3ms)\n  1 failing\n\n  1) total\n       is zero:\n     TypeError: x is null\n",
        1,
        1,
        ["total is zero"],
        "x is null",
    ),
    "go": (
        "--- FAIL: TestSum (0.00s)\n    --- FAIL: TestSum/two (0.00s)\n        a_test.go:9: got 0, want 2\nFAIL\n"
        "FAIL\texample.com/a\t0.01s\nFAIL\n",
        0,
        1,
        ["TestSum/two"],
        "got 0, want 2",
    ),
    "cargo": (
        "running 2 tests\ntest tests::a ... ok\ntest tests::b ... FAILED\n\n---- tests::b stdout ----\nthread 'tests::b' "
        "panicked at src/lib.rs:9:9:\n"
        "attempt to divide by zero\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
        1,
        1,
        ["tests::b"],
        "attempt to divide by zero",
    ),
    "maven": (
        "[ERROR] shop.CartTest.total -- Time elapsed: 0.006 s <<< FAILURE!\n[ERROR]   CartTest.total:11 expected: <6> but "
        "was: <5>\n"
        "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n",
        1,
        1,
        ["shop.CartTest.total"],
        "expected: <6> but was: <5>",
    ),
    "gradle": (
        "CartTest > total() FAILED\n    java.lang.AssertionError: expected 6\n\n2 tests completed, 1 failed\n",
        1,
        1,
        ["CartTest.total"],
        "expected 6",
    ),
    "ctest": (
        "67% tests passed, 1 tests failed out of 3\n\nThe following tests FAILED:\n\t  2 - sum_adds (Failed)\n",
        2,
        1,
        ["sum_adds"],
        "",
    ),
    "rspec": (
        "  1) Cart is zero\n     Failure/Error: total\n\n     NoMethodError:\n       undefined method `sum'\n     # "
        "./lib/a.rb:3\n\n3 examples, 1 failure\n\n"
        "rspec ./spec/a_spec.rb:7 # Cart is zero\n",
        2,
        1,
        ["Cart is zero"],
        "undefined method",
    ),
    "node": (
        "TAP version 13\nnot ok 1 - adds\n  ---\n  error: 'two'\n  name: 'AssertionError'\n  ...\nok 2 - zero\n"
        "# tests 2\n# pass 1\n# fail 1\n",
        1,
        1,
        ["adds"],
        "two",
    ),
    "deno": ("FAILED | 2 passed | 1 failed (3ms)\n", 2, 1, [], ""),
    "dotnet": (
        "  Failed Shop.Tests.Total [3 ms]\n  Error Message:\nFailed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3\n",
        2,
        1,
        ["Shop.Tests.Total"],
        "Error Message",
    ),
    "phpunit": (
        "1) CartTest::testTotal\nFailed asserting that 5 matches 6.\n\nFAILURES!\nTests: 3, Assertions: 3, Failures: 1.\n",
        2,
        1,
        ["CartTest::testTotal"],
        "Failed asserting",
    ),
}


@pytest.mark.parametrize("runner", TABLE)
def test_a_report_is_read(runner: str) -> None:
    output, passed, failed, names, said = TABLE[runner]
    found = read(output)
    assert found is not None
    assert (found.passed, found.failed, found.verdict) == (passed, failed, False)
    assert [one.name for one in found.failing if one.name] == names
    assert said in " ".join(f"{one.kind}: {one.message}" for one in found.failing)


GREEN = [
    "3 passed in 0.01s\n",
    "Ran 2 tests in 0.001s\n\nOK\n",
    "Tests:       3 passed, 3 total\n",
    " Test Files  1 passed (1)\n      Tests  3 passed (3)\n",
    "  2 passing (3ms)\n",
    "ok  \texample.com/a\t0.004s\n",
    "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
    "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n",
    "BUILD SUCCESSFUL in 3s\n",
    "100% tests passed, 0 tests failed out of 3\n",
    "3 examples, 0 failures\n",
    "# tests 1\n# pass 1\n# fail 0\n",
    "OK (3 tests, 3 assertions)\n",
]


@pytest.mark.parametrize("output", GREEN)
def test_a_green_run_is_told(output: str) -> None:
    found = read(output)
    assert found is not None and found.verdict is True and not found.failing


# Runs that say of themselves that no test ran, or that all were skipped: most of them end with exit code 0.
NOTHING_RAN = {
    "go": "testing: warning: no tests to run\nPASS\nok  \texample.com/a\t0.5s [no tests to run]\n",
    "go, a package": "ok  \texample.com/a\t0.005s [no tests to run]\n",
    "go, with coverage": "PASS\ncoverage: 0.0% of statements\nok  \tx/a\t0.005s\tcoverage: 0.0% of statements [no tests to run]\n",
    "go, its program": "testing: warning: no tests to run\nPASS\n",
    "go, no file": "?   \texample.com/a\t[no test files]\n",
    "go, skipped": "=== RUN   TestA\n    a_test.go:3: no network\n--- SKIP: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n",
    "gotestsum": "DONE 0 tests in 0.412s\n",
    "cargo": "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n",
    "nextest": "     Summary [   0.001s] 0 tests run: 0 passed, 3 skipped\n",
    "pytest": "collected 0 items\n\n====== no tests ran in 0.01s ======\n",
    "pytest, deselected": "====== 3 deselected in 0.01s ======\n",
    "pytest, skipped": "====== 3 skipped in 0.01s ======\n",
    "unittest": "\n-----\nRan 0 tests in 0.000s\n\nOK\n",
    "unittest, newer": "\n-----\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n",
    "unittest, skipped": "s\n-----\nRan 1 test in 0.000s\n\nOK (skipped=1)\n",
    "jest": "No tests found, exiting with code 0\n",
    "jest, skipped": "Test Suites: 1 skipped, 0 of 1 total\nTests:       2 skipped, 2 total\n",
    "vitest": "No test files found, exiting with code 0\n",
    "vitest, skipped": " Test Files  1 skipped (1)\n      Tests  2 skipped (2)\n",
    "vitest, to do": " Test Files  1 skipped (1)\n      Tests  2 skipped | 1 todo (3)\n",
    "mocha": "  0 passing (2ms)\n  2 pending\n",
    "node": "# tests 0\n# pass 0\n# fail 0\n",
    "deno": "ok | 0 passed | 0 failed (2ms)\n",
    "bun": " 0 pass\n 0 fail\n",
    "maven": "[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n",
    "maven, skipped": "[INFO] Tests are skipped.\n[INFO] BUILD SUCCESS\n",
    "maven, all skipped": "[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 2\n[INFO] BUILD SUCCESS\n",
    "gradle": "> Task :app:compileJava\n> Task :app:test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n",
    "ctest": "No tests were found!!!\n",
    "rspec": "No examples found.\n\nFinished in 0.0 seconds\n0 examples, 0 failures\n",
    "rspec, pending": "2 examples, 0 failures, 2 pending\n",
    "minitest": "Run options: --seed 1\n\n0 runs, 0 assertions, 0 failures, 0 errors, 0 skips\n",
    "phpunit": "No tests executed!\n",
    "phpunit, skipped": "OK, but incomplete, skipped, or risky tests!\nTests: 2, Assertions: 0, Skipped: 1, Incomplete: 1.\n",
    "dotnet": "No test matches the given testcase filter `Total` in /src/bin/Shop.Tests.dll\n",
    "dotnet, none": "No test is available in /src/bin/Shop.Tests.dll. Make sure that the test project has a runner.\n",
    "swift": "Test Suite 'All tests' passed at 09:00.\n\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 seconds\n",
    "sbt": "[info] No tests were executed.\n",
    "prove": "Files=0, Tests=0,  0 wallclock secs\nResult: NOTESTS\n",
}


@pytest.mark.parametrize("runner", NOTHING_RAN)
def test_a_run_without_a_test_has_neither_passed_nor_failed(runner: str) -> None:
    found = read(NOTHING_RAN[runner])
    assert found is not None and (found.verdict, found.passed, found.failed) == (None, 0, 0)


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        ("ok  \texample.com/a\t0.5s\nok  \texample.com/b\t0.5s [no tests to run]\n", 1),
        (
            "PASS\nok  \texample.com/a\t0.5s\ntesting: warning: no tests to run\nPASS\nok  \texample.com/b\t0.5s [no tests to run]\n",
            2,
        ),
        ("--- SKIP: TestA (0.00s)\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n", 2),
        ("running 0 tests\n\ntest result: ok. 0 passed; 0 failed;\n\nrunning 1 test\ntest result: ok. 1 passed; 0 failed;\n", 1),
        (" Test Files  1 passed (1)\n      Tests  3 passed | 1 skipped (4)\n", 3),
        ("OK (skipped=1)\n\nRan 3 tests in 0.1s\n\nOK (skipped=1)\n", 2),
        ("> Task :a:test NO-SOURCE\n> Task :b:test\n\nBUILD SUCCESSFUL in 1s\n", 1),
        ("> Task :a:test UP-TO-DATE\n\nBUILD SUCCESSFUL in 1s\n", 1),
        ("[INFO] No tests to run.\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1\n[INFO] BUILD SUCCESS\n", 1),
        ("[INFO] BUILD SUCCESS\n", 1),
        ("3 examples, 0 failures, 1 pending\n", 2),
        ("OK, but incomplete, skipped, or risky tests!\nTests: 3, Assertions: 2, Skipped: 1.\n", 2),
    ],
)
def test_beside_what_did_not_run_what_passed_counts(output: str, passed: int) -> None:
    found = read(output)
    assert found is not None and (found.verdict, found.passed) == (True, passed)


@pytest.mark.parametrize("output", ["Summary [ 0.1s] 10 tests run: 10 passed\n", "10 runs, 12 assertions, 0 failures\n"])
def test_a_number_that_ends_in_zero_is_not_none(output: str) -> None:
    assert read(output) is None  # of runners whose counts are not read


@pytest.mark.parametrize(
    "output", ["", "hello\n", "On branch main\nnothing to commit\n", "total 12\n-rw-r--r-- a\n", "no tests ran in 0.01s\n"]
)
def test_other_output_is_no_report(output: str) -> None:
    found = read(output)
    assert found is None or found.verdict is None


def test_every_red_run_of_the_excerpts_has_a_name_or_a_message() -> None:
    silent = []
    for case in cases("dev"):
        for event in case["events"]:
            found = read(event.get("output", "")) if event.get("command") and "hardwon" not in event["command"] else None
            if found and found.verdict is False and not any(one.name or one.message for one in found.failing):
                silent.append(case["name"])
    assert silent == []


COMPILERS = {
    "rustc": ("error[E0308]: mismatched types\n --> src/lib.rs:4:5\n", "E0308", "mismatched types", "src/lib.rs", 4),
    "tsc": (
        "user.ts(4,10): error TS18048: 'user.name' is possibly 'undefined'.\n",
        "TS18048",
        "'user.name' is possibly 'undefined'.",
        "user.ts",
        4,
    ),
    "gcc": ("a.c:3:5: error: expected ';' before '}' token\n", "", "expected ';' before '}' token", "a.c", 3),
    "mypy": ("src/a.py:3: error: Incompatible return value type\n", "", "Incompatible return value type", "src/a.py", 3),
    "go": ("./cart.go:6:49: undefined: bb\n", "", "undefined: bb", "./cart.go", 6),
    "javac through maven": ("[ERROR] /x/A.java:[3,5] cannot find symbol\n", "", "cannot find symbol", "/x/A.java", 3),
}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_compilers_first_error_is_told(compiler: str) -> None:
    output, kind, message, path, line = COMPILERS[compiler]
    found = failure(output)
    assert found is not None
    assert (found.kind, found.message, found.frames[0][:2]) == (kind, message, (path, line))


@settings(max_examples=60)
@given(st.lists(st.sampled_from([line for output, *_ in TABLE.values() for line in output.split("\n")]), max_size=60))
def test_any_mixture_of_lines_is_read_without_an_error(lines: list[str]) -> None:
    read("\n".join(lines))
    failure("\n".join(lines))


def test_hostile_output_takes_no_longer_than_its_length() -> None:
    for piece in (
        "FAILED ",
        "● ",
        "E  ",
        "--- FAIL: ",
        "1) a\n",
        "Tests:  ",
        " passed",
        "at (a:1:1)\n",
        "[ERROR]   ",
        "not ok 1 - ",
        "   ",
        "____ ",
    ):
        read(f"3 passed in 0.1s\n{piece * 40_000}")
        failure(piece * 40_000)


def test_gos_last_word_counts_where_what_failed_is_cut_off() -> None:
    told = read("ok  \tshop/cart\t(cached)\nok  \tshop/tax\t0.1s\nFAIL\n")
    assert told is not None and told.verdict is False


def test_a_bundlers_error_stands_behind_its_place_or_under_it() -> None:
    behind = failure(
        "Error: Build failed with 2 errors:\nsrc/a.ts:3:4: ERROR: Expected a name\n    at run (/x/lib/main.js:1:2)\n"
    )
    assert behind is not None and (behind.message, behind.frames, behind.compiled) == (
        "Expected a name",
        (("src/a.ts", 3, ""),),
        True,
    )
    alone = failure("Error: Build failed with 1 error\n    at run (/x/lib/main.js:1:2)\n")
    assert alone is not None and alone.compiled


ALIKE = {
    "vitest": (
        " FAIL  src/a.test.tsx > home > is shown\n FAIL  src/b.test.tsx > menu > opens\nError: no provider\n"
        " ❯ Module.useTheme src/theme.ts:18:11\n     16|   const theme = use()\n     17|   at (x.ts:1:2)\n"
        " ❯ Object.<anonymous> node_modules/react/cjs/react.js:154:18\n ❯ src/a.test.tsx:7:3\n\n⎯⎯⎯[1/2]⎯\n\n"
        " FAIL  src/b.test.tsx > menu > closes\nTypeError: x is null\n ❯ close src/menu.ts:3:4\n\n"
        " Test Files  2 failed (2)\n      Tests  3 failed (3)\n",
        {
            "home > is shown": ("no provider", [("src/theme.ts", 18, "useTheme"), ("node_modules/react/cjs/react.js", 154, "")]),
            "menu > opens": ("no provider", [("src/theme.ts", 18, "useTheme"), ("node_modules/react/cjs/react.js", 154, "")]),
            "menu > closes": ("x is null", [("src/menu.ts", 3, "close")]),
        },
    ),
    "jest": (
        "FAIL src/a.test.js\n  ● cart › adds\n\n    TypeError: x is null\n\n      1 | a\n\n      at add (src/add.js:3:4)\n\n"
        "  ● cart › drops\n\n    TypeError: x is null\n\n      at drop (src/drop.js:5:6)\n\nTests:       2 failed, 2 total\n",
        {
            "cart › adds": ("x is null", [("src/add.js", 3, "add")]),
            "cart › drops": ("x is null", [("src/drop.js", 5, "drop")]),
        },
    ),
    "mocha": (
        "  0 passing (3ms)\n  2 failing\n\n  1) cart\n       adds:\n     TypeError: x is null\n      at add (src/add.js:3:4)\n\n"
        "  2) cart\n       drops:\n     TypeError: x is null\n      at drop (src/drop.js:5:6)\n",
        {"cart adds": ("x is null", [("src/add.js", 3, "add")]), "cart drops": ("x is null", [("src/drop.js", 5, "drop")])},
    ),
    "node": (
        "✖ adds (0.5ms)\n✖ drops (0.5ms)\nℹ tests 2\nℹ pass 0\nℹ fail 2\n\n✖ failing tests:\n\ntest at a.test.js:3:1\n✖ adds (0.5ms)\n"
        "  TypeError [ERR_BAD]: x is null\n      at add (src/add.js:3:4)\n\ntest at a.test.js:9:1\n✖ drops (0.5ms)\n"
        "  TypeError [ERR_BAD]: x is null\n      at drop (src/drop.js:5:6)\n",
        {"adds": ("x is null", [("src/add.js", 3, "add")]), "drops": ("x is null", [("src/drop.js", 5, "drop")])},
    ),
    "node, as TAP": (
        "TAP version 13\nnot ok 1 - adds\n  ---\n  location: '/x/a.test.js:3:1'\n  error: 'x is null'\n  name: 'TypeError'\n  stack: |-\n"
        "    add (src/add.js:3:4)\n  ...\nnot ok 2 - drops\n  ---\n  error: 'x is null'\n  name: 'TypeError'\n  stack: |-\n"
        "    drop (src/drop.js:5:6)\n  ...\n# tests 2\n# pass 0\n# fail 2\n",
        {"adds": ("x is null", [("src/add.js", 3, "add")]), "drops": ("x is null", [("src/drop.js", 5, "drop")])},
    ),
    "bun": (
        "a.test.ts:\n1 | a\nTypeError: x is null\n      at add (src/add.ts:3:4)\n(fail) cart > adds [0.1ms]\n(pass) cart > is [0.1ms]\n"
        "error: expect(received).toBe(expected)\n\nExpected: 1\nReceived: 2\n\n      at drop (src/drop.ts:5:6)\n(fail) cart > drops\n\n"
        " 1 pass\n 2 fail\n",
        {
            "cart > adds": ("x is null", [("src/add.ts", 3, "add")]),
            "cart > drops": ("expect(received).toBe(expected) Expected: 1 Received: 2", [("src/drop.ts", 5, "drop")]),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("runner", ALIKE)
def test_each_test_has_its_own_error_and_trace_though_others_say_the_same(runner: str) -> None:
    output, expected = ALIKE[runner]
    told = read(output)
    assert told is not None
    found = {one.name: (one.message, list(one.frames[:2])) for one in told.failing}
    assert {name: (message, frames[: len(expected[name][1])]) for name, (message, frames) in found.items()} == expected


FILES = {
    "tests of the file are named": (
        "✖ tests/a.test.ts (9ms)\nℹ tests 2\nℹ pass 0\nℹ fail 2\n\n✖ failing tests:\n\ntest at tests/a.test.ts:3:1\n✖ adds (0.5ms)\n"
        "  TypeError: x is null\n\ntest at tests/a.test.ts:1:1\n✖ tests/a.test.ts (9ms)\n  'test failed'\n",
        [("adds", "x is null")],
    ),
    "those of another are": (
        "ℹ tests 2\nℹ pass 0\nℹ fail 2\n\n✖ failing tests:\n\ntest at tests/b.test.ts:3:1\n✖ adds (0.5ms)\n  TypeError: x is null\n\n"
        "test at tests/a.test.ts:1:1\n✖ tests/a.test.ts (9ms)\n  'test failed'\n",
        [("adds", "x is null"), ("tests/a.test.ts", "")],
    ),
    "a test of the name's end failed elsewhere": (
        "ℹ tests 2\nℹ pass 0\nℹ fail 2\n\n✖ failing tests:\n\ntest at cart-total.test.js:3:1\n✖ adds (0.5ms)\n"
        "  TypeError: x is null\n\ntest at total.test.js:1:1\n✖ total.test.js (9ms)\n  'test failed'\n",
        [("adds", "x is null"), ("total.test.js", "")],
    ),
    "the file is told by its whole path": (
        "ℹ tests 2\nℹ pass 0\nℹ fail 2\n\n✖ failing tests:\n\ntest at test/total.test.js:3:1\n✖ adds (0.5ms)\n"
        "  TypeError: x is null\n\ntest at test/total.test.js:1:1\n✖ /r/test/total.test.js (9ms)\n  'test failed'\n",
        [("adds", "x is null")],
    ),
    "the file of no test is told, and one file failed": (
        "ℹ tests 2\nℹ pass 0\nℹ fail 2\n\n✖ failing tests:\n\n✖ adds (0.5ms)\n  TypeError: x is null\n\n"
        "✖ a.test.js (9ms)\n  'test failed'\n",
        [("adds", "x is null")],
    ),
    "the file of no test is told, and several failed": (
        "ℹ tests 3\nℹ pass 0\nℹ fail 3\n\n✖ failing tests:\n\n✖ adds (0.5ms)\n  TypeError: x is null\n\n"
        "✖ a.test.js (9ms)\n  'test failed'\n\n✖ b.test.js (9ms)\n  'test failed'\n",
        [("adds", "x is null"), ("a.test.js", ""), ("b.test.js", "")],
    ),
    "the file alone, with what stopped it": (
        "Error: no key\n    at load (/x/src/load.ts:3:4)\n\nℹ tests 1\nℹ pass 0\nℹ fail 1\n\n✖ failing tests:\n\n"
        "test at tests/a.test.ts:1:1\n✖ tests/a.test.ts (9ms)\n  'test failed'\n",
        [("tests/a.test.ts", "no key")],
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_a_failure_of_its_own_only_where_its_tests_are_not_named(kind: str) -> None:
    output, expected = FILES[kind]
    told = read(output)
    assert told is not None and [(one.name, one.message) for one in told.failing] == expected


LISTED = "Error: Unable to index files:\n- ./a.ts: {}\n- ./b.ts: Unexpected token\n\n    at run (/x/lib/main.js:1:2)\n"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (LISTED.format("Unexpected token (3:4)"), LISTED.format("Unexpected token (9:4)"), True),  # the same, further down
        (LISTED.format("Unexpected token"), LISTED.format("Missing semicolon"), False),
        (LISTED.format("Unexpected token"), LISTED.replace("- ./a.ts: {}\n", ""), False),
        ("a.ts(1,2): error TS2339: No x\n", "a.ts(9,2): error TS2339: No x\n", True),
        ("a.ts(1,2): error TS2339: No x\nb.ts(1,2): error TS2339: No y\n", "a.ts(1,2): error TS2339: No x\n", False),
        ("a.py:1: error: No x\nFound 12 errors in 3 files\n", "a.py:1: error: No x\nFound 5 errors in 3 files\n", False),
        ("a.py:1: error: No x\nFound 5 errors in 3 files\n", "a.py:2: error: No x\nFound 5 errors in 3 files\n", True),
        ("E   ValueError: Bad rows:\nE     1: a\nFAILED t.py::x - ValueError: Bad rows:\n1 failed in 0.1s\n",
         "E   ValueError: Bad rows:\nE     1: b\nFAILED t.py::x - ValueError: Bad rows:\n1 failed in 0.1s\n", False),
    ],
)  # fmt: skip
def test_what_follows_a_headline_belongs_to_what_a_failure_says(one: str, other: str, same: bool) -> None:
    first, second = (told.failing[0] if (told := read(text)) else failure(text) for text in (one, other))
    assert first is not None and second is not None and first.signature
    assert (first.signature == second.signature) is same
