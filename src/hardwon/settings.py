"""Settings, read once. Flags win over HARDWON_* variables, these over defaults."""

from __future__ import annotations

import os

from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Settings(Value):
    """``home``: where stores and the registry live. ``session``: the session that writes belong to. ``client``: the agent's name.
    ``wait``: seconds that a writer waits for the lock. ``budget``: tokens of a recalled block."""

    home: str
    session: str = ""
    client: str = ""
    wait: float = 30.0
    budget: int = 1500


def default_home(environment: Mapping[str, str]) -> str:
    """``HARDWON_HOME``, else ``hardwon`` in the XDG data folder."""
    chosen = environment.get("HARDWON_HOME")
    if chosen:
        home = os.path.expanduser(chosen)
        if not os.path.isabs(home) or (os.path.exists(home) and not os.path.isdir(home)):
            what = "is not a folder" if os.path.isabs(home) else "is not an absolute path"
            raise InvalidInput(
                f"HARDWON_HOME={chosen[:200]!r} {what}",
                field="HARDWON_HOME",
                remedy="unset it, or name a folder outside of repositories",
            )
        return os.path.normpath(home)
    data = environment.get("XDG_DATA_HOME")
    # The specification says that a relative XDG path is to be ignored.
    if not data or not os.path.isabs(data):
        data = os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "hardwon")


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from an environment (this process's own by default); InvalidInput names the variable that cannot be used."""
    environment = os.environ if environment is None else environment
    return Settings(
        home=default_home(environment),
        session=environment.get("HARDWON_SESSION", ""),
        client=environment.get("HARDWON_CLIENT", ""),
        wait=_number(environment, "HARDWON_WAIT", 30.0, 0.0, 3600.0),
        budget=int(_number(environment, "HARDWON_BUDGET", 1500, 50, 16000)),
    )


def _number(environment: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    text = environment.get(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise InvalidInput(
            f"{name}={text!r} is not a number from {low:g} to {high:g}", field=name, remedy=f"unset it, or use {default:g}"
        )
    return value
