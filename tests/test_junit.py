"""Reports of tests as real runners write them, and those that nobody should be able to hurt us with."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.errors import InvalidInput
from hardwon.importers import junit

if TYPE_CHECKING:
    from hardwon.importers.junit import JUnitReport

REPORTS = Path(__file__).parent / "reports"


def read(raw: bytes | str, *files: str) -> JUnitReport:
    return junit.read(io.BytesIO(raw.encode() if isinstance(raw, str) else raw), lambda path: path in files)


def rows(name: str, *files: str) -> list[tuple[str, str, str, str, str]]:
    found = read((REPORTS / f"{name}.xml").read_bytes(), *files)
    assert not found.broken
    return [(one.test, one.file, one.went, one.kind, one.message) for one in found.tests]


EXPECTED = {
    "pytest-xunit1": [
        ("tests/test_money.py::test_total", "tests/test_money.py", "failed", "KeyError", "'prize'"),
        ("tests/test_money.py::test_vat", "tests/test_money.py", "passed", "", ""),
    ],
    "jest": [
        ("sum adds numbers", "", "passed", "", ""),
        ("sum rejects text", "", "failed", "Error", "expect(received).toThrow(expected)"),
        ("later", "", "skipped", "", ""),
    ],
    "vitest": [
        ("a.test.mjs > cart > sums", "a.test.mjs", "failed", "AssertionError", "expected 2 to be 3 // Object.is equality"),
        ("a.test.mjs > cart > is empty", "a.test.mjs", "passed", "", ""),
    ],
    "node": [
        ("adds", "", "passed", "", ""),
        ("group.breaks", "", "failed", "", "Expected values to be strictly equal:2 !== 3"),
    ],
    "surefire": [
        (
            "org.shop.CartTest.sums", "", "failed", "java.lang.ArrayIndexOutOfBoundsException",
            "Index 3 out of bounds for length 3",
        ),
        ("org.shop.CartTest.waits", "", "flaky", "org.opentest4j.AssertionFailedError", "expected: <2> but was: <1>"),
        ("org.shop.CartTest.later", "", "skipped", "", ""),
        ("org.shop.CartTest.adds", "", "passed", "", ""),
    ],
    "gotestsum": [
        ("example.org/shop/cart.TestSum/two", "", "failed", "", "sum of two is 4, not 3"),
        ("example.org/shop/cart.TestEmpty", "", "passed", "", ""),
        ("example.org/shop/cart.TestSlow", "", "skipped", "", ""),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_a_report_tells_each_test_and_why_it_failed(name: str) -> None:
    assert rows(name, "tests/test_money.py") == EXPECTED[name]


def test_both_families_of_pytest_name_a_test_as_its_command_line_does() -> None:
    assert rows("pytest-xunit2", "tests/test_money.py") == EXPECTED["pytest-xunit1"]
    # Of a file that the repository has not there is no telling where the module ends.
    assert rows("pytest-xunit2")[0][0] == "tests.test_money.test_total"


@pytest.mark.slow
def test_the_pytest_that_runs_this_is_understood(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\nclass TestIt:\n    @pytest.mark.parametrize('n', [1, 2])\n    def test_n(self, n):\n        assert n == 1\n"
    )
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", "r.xml"], cwd=tmp_path, check=False,
        capture_output=True, env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
    )  # fmt: skip
    found = read((tmp_path / "r.xml").read_bytes(), "test_it.py")
    assert [(one.test, one.went) for one in found.tests] == [
        ("test_it.py::TestIt::test_n[1]", "passed"),
        ("test_it.py::TestIt::test_n[2]", "failed"),
    ]
    assert "assert 2 == 1" in found.tests[1].said


@pytest.mark.parametrize(
    "raw",
    [
        b'<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuites><testsuite name="&b;"/></testsuites>',
        b'<!DOCTYPE t SYSTEM "file:///etc/passwd"><testsuites/>',
        b"",
        b"not XML at all",
        b"<html><body/></html>",
        b"\x00\x01\x02",
        b'<?xml version="1.0" encoding="nonsense"?><testsuites/>',
    ],
)
def test_what_is_no_report_or_means_harm_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidInput):
        read(raw)


def test_a_report_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    whole = (REPORTS / "surefire.xml").read_bytes()
    found = read(whole[: whole.index(b'<testcase name="later"')])
    assert [one.went for one in found.tests] == ["failed", "flaky"]
    assert found.broken


def test_suites_within_suites_are_all_read_and_the_memory_stays_small() -> None:
    inner = "".join(
        f'<testcase classname="a.B" name="t{number}"><system-out>{"x" * 500}</system-out></testcase>' for number in range(3000)
    )
    found = read(f'<testsuites><testsuite name="o"><testsuite name="i">{inner}</testsuite></testsuite></testsuites>')
    assert len(found.tests) == 3000
    assert {one.test for one in found.tests} == {f"a.B.t{number}" for number in range(3000)}


@given(
    st.text(max_size=40), st.text(max_size=60), st.sampled_from(["failure", "error", "skipped", "flakyFailure", "rerun", "odd"])
)
def test_any_words_in_a_report_are_taken_or_refused(name: str, message: str, child: str) -> None:
    from xml.sax.saxutils import quoteattr

    raw = f"<testsuite><testcase name={quoteattr(name)} classname='x'><{child} message={quoteattr(message)}/></testcase></testsuite>"
    try:
        found = read(raw.encode("utf-8", "replace"))
    except InvalidInput:
        return
    assert found.broken or len(found.tests) == 1
