"""What a proof is asked for, and what it found.

A kind of proof is a module of this room with ``run(plan, progress) -> Outcome``, named in ``KINDS``.
"""

from __future__ import annotations

from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Progress: TypeAlias = Callable[[int, int], None]  # (done, of), in the same unit, as often as the proof likes


class Plan(Value):
    """What to run: the same ``seed`` gives the same steps. ``seconds`` is the budget of wall time; ``count`` ends it earlier, after
    so many cases (images, kills, points; 0: no such end). ``processes`` may work at once. ``folder`` exists, is this run's own, and
    holds its stores; what a violation leaves to be looked at goes there too, and stays."""

    seed: int
    seconds: float
    folder: str
    count: int = 0
    processes: int = 2


class Violation(Value):
    """A promise that was broken. ``case``: the number of the event, kill or point at which; ``kept``: the folder with what was found;
    ``again``: the command that shows it once more."""

    what: str
    operation: str = ""
    case: int = -1
    kept: str = ""
    again: str = ""


class Control(Value):
    """A run in which the disk, or we, break the promise on purpose: ``found`` cases of ``tried`` were noticed, and none at all means
    that the proof has no power."""

    name: str
    tried: int
    found: int


class Outcome(Value):
    """What one kind of proof came to. ``figures``: counts and measures by name, with the unit in the name where it has one."""

    kind: str
    seed: int
    seconds: float
    figures: Mapping[str, int | float] = {}
    violations: tuple[Violation, ...] = ()
    controls: tuple[Control, ...] = ()
    skipped: tuple[str, ...] = ()
    """What could not be tried here, and why, a sentence each."""

    @property
    def powerless(self) -> tuple[str, ...]:
        """The controls that showed nothing, though they must."""
        return tuple(control.name for control in self.controls if not control.found)

    @property
    def ok(self) -> bool:
        """Nothing was broken, and the proof could have noticed."""
        return not self.violations and not self.powerless


# Each kind, and the module of this room with its ``run``.
KINDS: dict[str, str] = {"power-loss": "powerloss", "faults": "faults", "kills": "kills", "clock": "clock"}


def run(kind: str, plan: Plan, progress: Progress) -> Outcome:
    """Run one kind of proof; the module is loaded only now."""
    name = f"hardwon.proof.{KINDS[kind]}"
    module = __import__(name, fromlist=["run"])
    outcome: Outcome = module.run(plan, progress)
    return outcome


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    import os
    import platform

    import apsw

    from hardwon.settings import VERSION

    system = os.uname()
    return {
        "hardwon": VERSION, "sqlite": apsw.sqlite_lib_version(), "python": platform.python_version(),
        "system": f"{system.sysname} {system.release} {system.machine}", "cores": str(os.cpu_count() or 0),
    }  # fmt: skip
