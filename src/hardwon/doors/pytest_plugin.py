"""The plugin of pytest: off unless asked for, by ``--hardwon``, the setting ``hardwon`` of pytest, or HARDWON_PYTEST=on.

Loaded by every pytest of an environment that has Hardwon, so that it imports nothing: what records is in pytest_recorder.py.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest

_HELP = "Record how the tests went in the memory of this repository (hardwon)."


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--hardwon``, ``--no-hardwon`` and the setting ``hardwon``."""
    group = parser.getgroup("hardwon")
    group.addoption("--hardwon", dest="hardwon", action="store_true", default=None, help=_HELP)
    group.addoption(
        "--no-hardwon", dest="hardwon", action="store_false", help="Do not record it, whatever the configuration says."
    )
    parser.addini("hardwon", _HELP, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Turn it on where it is asked for; of several processes that share the tests only in the one that hears of all."""
    if hasattr(config, "workerinput") or not _wanted(config):
        return
    from hardwon.doors.pytest_recorder import Recorder

    config.pluginmanager.register(Recorder(config), "hardwon-recorder")


def _wanted(config: pytest.Config) -> bool:
    asked = config.getoption("hardwon")
    if asked is not None:
        return bool(asked)
    return bool(config.getini("hardwon")) or os.environ.get("HARDWON_PYTEST", "") == "on"
