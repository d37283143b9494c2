"""What is seen from which branch: the cases of tests/branches, told as a table, with the leaks and losses counted.

Example::

    python bench/branches.py --json branches.json
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import machine, say


def main() -> int:
    """Runs every case; 1 where a memory leaked or was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", default="", help="where the report goes")
    arguments = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tests.branches.story import CASES, Story
    from tests.test_branches import MODULES

    os.environ.update({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull})
    rows = [_told(name, CASES[name], Story) for name in CASES]
    print(f"{'group':<14}{'case':<56}{'checks':>7}{'leaked':>8}{'lost':>6}")
    for row in rows:
        print(f"{row['group']:<14}{row['case']:<56}{row['checks']:>7}{len(row['leaked']):>8}{len(row['lost']):>6}")
    sums = {name: sum(len(row[name]) for row in rows) for name in ("leaked", "lost")}
    checks = sum(row["checks"] for row in rows)
    print(f"\n{len(rows)} cases in {len(MODULES)} groups, {checks} checks: {sums['leaked']} leaked, {sums['lost']} lost")
    if arguments.json:
        report = {"machine": machine(), "cases": rows, "checks": checks, **sums}
        Path(arguments.json).write_text(json.dumps(report, indent=1))
    return 1 if any(sums.values()) else 0


def _told(name: str, case: Callable[[Any], None], make: Callable[[Path, Path], Any]) -> dict[str, Any]:
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="branches-") as folder:
        story = make(Path(folder) / "home", Path(folder) / "r")
        case(story)
    say(f"{name}: {time.perf_counter() - began:.1f} s")
    return {
        "group": case.__module__.rpartition(".")[2],
        "case": name.replace("_", " "),
        "checks": story.checks,
        "leaked": [(what, leaked) for what, leaked, _ in story.wrong if leaked],
        "lost": [(what, lost) for what, _, lost in story.wrong if lost],
    }


if __name__ == "__main__":
    raise SystemExit(main())
