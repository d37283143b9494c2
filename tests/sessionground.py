"""A repository with a memory, a clock that stands still until it is told to go, and an agent's session that happens in it."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

from hardwon.capture.event import Edit, Event
from hardwon.engine import opening
from hardwon.engine.encryption import KeyWish
from hardwon.settings import KeySource
from hardwon.types import Anchor, Draft, Filter, Origin, Scope
from tests.gitmaker import GitRepo

if TYPE_CHECKING:
    from pathlib import Path

    from hardwon.engine.advice import Advice
    from hardwon.engine.core import Engine
    from hardwon.types import Memory

CODE = """class AuthService:
    def validate(self, token):
        return bool(token)

    def renew(self, token):
        return token + "1"
"""
PRICES = "def total(items):\n    return sum(items)\n"
RUBY = "class Cart\n  def total(items)\n    items.sum\n  end\n\n  def clear\n    @items = []\n  end\nend\n"
FILES = {"auth/service.py": CODE, "shop/prices.py": PRICES, "lib/cart.rb": RUBY, "README.md": "# Shop\n"}
VALIDATE = Edit("auth/service.py", "        return bool(token)", "        return token is not None")
DAY = 86_400_000
SESSION = "0d9d3a52-5f0e-4c1e-9b0b-000000000001"
RED = """F                                                                        [100%]
=================================== FAILURES ===================================
________________________________ test_validate _________________________________

    def test_validate():
>       assert AuthService().validate("x") == "x"
E       TypeError: can't compare offset-naive and offset-aware datetimes

auth/service.py:3: TypeError
=========================== short test summary info ============================
FAILED tests/test_auth.py::test_validate - TypeError: can't compare offset-naive and offset-aware datetimes
1 failed in 0.02s
"""
GREEN = ".                                                                        [100%]\n1 passed in 0.01s\n"


class SessionGround:
    """``engine`` is opened when first used; ``now`` is its clock, in milliseconds."""

    def __init__(self, folder: Path, *, make: bool = True, encrypt: bool = False) -> None:
        """Without ``make`` everything is there."""
        self.repo = GitRepo(folder / "repo")
        self.root = self.repo.path
        self.home = str(folder / "home")
        self.now = 1_800_000_000_000
        self._calls = itertools.count(1)
        self._engine: Engine | None = None
        if make:
            self.repo.commit("begin", FILES)
            made = opening.create(
                self.root, self.home, "shop", clock=self.clock, encrypt=KeyWish() if encrypt else None, keys=KeySource()
            )
            made.refresh_code()
            made.close()
        self.store = self.engine.store.path
        self.close()

    def clock(self) -> int:
        return self.now

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = opening.open_engine(self.root, self.home, clock=self.clock, wait=0.2, keys=KeySource())
        return self._engine

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def write(self, path: str, text: str) -> None:
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, path: str) -> str:
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    # What happens in a session

    def event(self, moment: Any, **fields: Any) -> Event:
        fields.setdefault("client", "claude-code")
        fields.setdefault("session", SESSION)
        fields.setdefault("cwd", self.root)
        if moment in ("before", "after"):
            fields.setdefault("call", f"call{next(self._calls)}")
        return Event(moment=moment, at=self.now, **fields)

    def tell(self, event: Event, deny: str = "risk") -> Advice:
        scope = Scope(Origin("agent", event.client, event.session, "hook"))
        return self.engine.on_event(event, scope, deny)

    def happens(self, moment: Any, deny: str = "risk", **fields: Any) -> Advice:
        return self.tell(self.event(moment, **fields), deny)

    def runs(self, output: str, code: int, **fields: Any) -> Event:
        """A test run that has ended."""
        return self.event(
            "after", tool="shell", tool_name="Bash", command="pytest -q tests/test_auth.py", exit_code=code, output=output,
            ended="failed" if code else "ok", **fields,
        )  # fmt: skip

    def edits(self, edit: Edit = VALIDATE, **fields: Any) -> Advice:
        """An edit that is carried out, and told of afterwards."""
        self.write(edit.path, self.read(edit.path).replace(edit.old, edit.new))
        return self.happens("after", tool="edit", tool_name="Edit", edits=(edit,), paths=(edit.path,), ended="ok", **fields)

    def episode(self, **fields: Any) -> None:
        """A failure, a fix, and a green run."""
        self.tell(self.runs(RED, 1, **fields))
        self.edits(**fields)
        self.tell(self.runs(GREEN, 0, **fields))

    # What is known

    def fail(
        self, symbol: str, path: str = "auth/service.py", times: int = 1, text: str = "", code: str = "", **fields: Any
    ) -> None:
        draft = Draft(text or f"{symbol} broke", "lesson", "failed", code=code, anchors=(Anchor(path, symbol),))
        scope = Scope(Origin(**{"who": "agent", "client": "claude-code", "session": "earlier", **fields}))
        for _ in range(times):
            self.now += 1
            self.engine.record(draft, scope)

    def memories(self, **where: Any) -> list[Memory]:
        with self.engine.store.read() as reader:
            return reader.find(Filter(derived=False, **where), -1)
