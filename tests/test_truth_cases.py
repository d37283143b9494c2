"""Cases that real histories showed: what a memory's state is, in a repository of two commits made for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hardwon.engine import opening
from hardwon.types import Anchor, Draft, Origin, Scope

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gitmaker import GitRepo

SCOPE = Scope(Origin("agent", "tester"))
LONG = """\
    total = first + second * 3
    for each in range(total):
        print(each, total, first, second)
    return [total, first]
"""
PROPERTY = """\
class A:
    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self._x = value
"""
REQUEST = """\
package a

func performRequest(a int, b int) int {
	c := a * b
	if c > 3 {
		return c + a - b
	}
	return c
}
"""
BLOCK = "def f(x):\n    if x:\n        x += 1\n        x += 2\n    return x\n"
BROKEN = "def f(\n    first,\n    second,\n):\n    return first(\n        second,\n        [first, second],\n    )\n"
VALUE = "export interface Pipe { a: string }\nexport const Pipe = make('Pipe', (one) => one.a);\n"
OVERLOAD = "export function f(a: string): string;\nexport function f(a: any) { return a }\n"
GROUP = "package a\n\ntype (\n\tForm struct{ Name string }\n\tJSON struct{}\n)\n"

UNION = "export function f(a: string | number): (string | null) {\n  const made: A | B = make(a || 1);\n  return made;\n}\n"
BARS = """\
export function f(
  a:
    | string
    | number,
): (
  | string
  | null
) {
  const made:
    | A
    | B = make(a || 1);
  return made;
}
"""
# Name, path, symbol, before, after, state, where it is now ("" for nothing said).
CASES = (
    ("a bar before a union", "a.ts", "f", UNION, BARS, "same", ""),
    ("a bar less in a union", "a.ts", "f", UNION, BARS.replace("    | string\n", ""), "changed", ""),
    (
        "quotes",
        "a.py",
        "f",
        "def f(x):\n    return x['one'] + g('two')\n",
        'def f(x):\n    return x["one"] + g("two")\n',
        "same",
        "",
    ),
    ("broken lines", "a.py", "f", "def f(first, second):\n    return first(second, [first, second])\n", BROKEN, "same", ""),
    (
        "docstring",
        "a.py",
        "f",
        'def f(x):\n    """One."""\n    return 1\n',
        'def f(x):\n    """Two."""\n    return 1\n',
        "same",
        "",
    ),
    ("second half of a property", "a.py", "A.x", PROPERTY, PROPERTY.replace("= value", "= -value"), "changed", ""),
    ("value beside an interface", "a.ts", "Pipe", VALUE, VALUE.replace("one.a", "one.b"), "changed", ""),
    ("interface beside a value", "a.ts", "Pipe", VALUE, VALUE.replace("a: string", "b: string"), "changed", ""),
    ("overload", "a.ts", "f", OVERLOAD, OVERLOAD.replace("(a: string)", "(a: string, b: number)"), "changed", ""),
    ("case", "a.go", "performRequest", REQUEST, REQUEST.replace("perform", "Perform"), "moved", "a.go:PerformRequest"),
    ("type into a group", "a.go", "Form", "package a\n\ntype Form struct{ Name string }\n", GROUP, "same", ""),
    ("decorator", "a.py", "f", f"def f(first, second):\n{LONG}", f"@cached\ndef f(first, second):\n{LONG}", "changed", ""),
    ("white space that counts", "a.py", "f", BLOCK, BLOCK.replace("        x += 2", "    x += 2"), "changed", ""),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_states(repo: GitRepo, home: Path, case: tuple[str, str, str, str, str, str, str]) -> None:
    _, path, symbol, before, after, state, now = case
    repo.commit("Before", {path: before})
    memory = recorded(repo, home, path, symbol)
    repo.write({path: after})
    assert shown(repo, home, memory)[0] in {state, "unknown"}  # not committed, not indexed: nobody parsed it
    repo.commit("After", {path: after})
    assert shown(repo, home, memory)[0] in {state, "unknown"}
    refresh(repo, home)
    assert shown(repo, home, memory) == (state, now)


def test_in_a_renamed_file_the_same_name_is_the_symbol(repo: GitRepo, home: Path) -> None:
    """However short it is and however much it changed: the file was renamed, as git sees it."""
    lines = [f"def keep{number}(value):\n    return value * {number}\n\n\n" for number in range(12)]
    repo.commit("Before", {"old/a.py": "".join(lines) + "def f():\n    pass\n\n\ndef g():\n    return old(1)\n"})
    same, changed = recorded(repo, home, "old/a.py", "f"), recorded(repo, home, "old/a.py", "g")
    after = "".join(lines[3:]) + "def f():\n    pass\n\n\ndef g():\n    for one in new():\n        yield other(one)\n"
    repo.commit("After", {"old/a.py": None, "new/b.py": after})
    refresh(repo, home)
    assert shown(repo, home, same) == ("moved", "new/b.py:f")
    assert shown(repo, home, changed)[0] == "changed"


def test_changed_by_names_the_commit_that_changed_code(repo: GitRepo, home: Path) -> None:
    repo.commit("Before", {"a.py": 'def f(x):\n    """One."""\n    return x + 1\n'})
    memory = recorded(repo, home, "a.py", "f")
    repo.commit("Words", {"a.py": 'def f(x):\n    """Two."""\n    # Why\n    return x + 1\n'})
    changed = repo.commit("Code", {"a.py": 'def f(x):\n    """Two."""\n    # Why\n    return x + 2\n'})
    repo.commit("More", {"a.py": 'def f(x):\n    """Two."""\n    # Why\n    return x + 3\n'})
    refresh(repo, home)
    engine = opening.open_engine(repo.path, str(home))
    anchor = engine.show(memory, SCOPE)[0].anchors[0]
    engine.close()
    assert (anchor.state, anchor.changed_by) == ("changed", changed)


def recorded(repo: GitRepo, home: Path, path: str, symbol: str) -> str:
    opening.create(repo.path, str(home)).close()
    refresh(repo, home)
    engine = opening.open_engine(repo.path, str(home))
    memory = engine.record(Draft(f"Care with {symbol}", "lesson", "failed", anchors=(Anchor(path, symbol),)), SCOPE).id
    engine.close()
    assert shown(repo, home, memory) == ("same", "")
    return memory


def refresh(repo: GitRepo, home: Path) -> None:
    engine = opening.open_engine(repo.path, str(home))
    engine.refresh_code()
    engine.close()


def shown(repo: GitRepo, home: Path, memory: str) -> tuple[str, str]:
    engine = opening.open_engine(repo.path, str(home))
    anchor = engine.show(memory, SCOPE)[0].anchors[0]
    engine.close()
    return anchor.state, f"{anchor.now_path}:{anchor.now_symbol}".strip(":")
