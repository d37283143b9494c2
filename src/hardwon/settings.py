"""Settings, read once. Flags win over HARDWON_* variables, these over defaults."""

from __future__ import annotations

import os
import sys

from hardwon.errors import InvalidInput
from hardwon.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = "0.1.0"


class Settings(Value):
    """``home``: where stores and the registry live; ``cache``: what can be made again. ``session``: the session that writes belong
    to. ``client``: the agent's name. ``wait``: seconds that a writer waits for the lock. ``budget``: tokens of a recalled block.
    ``vectors``: the index that is asked (one of VECTOR_INDEXES). ``embed_model``: the path of a local model, ``embed_url``: an
    endpoint, ``embed_name`` its model; both empty: the bundled model. ``background``: whether a process may be left in the background
    to bring the memory up to date (doors/background.py). ``deny``: when a hook refuses a call (one of DENIALS).
    ``hook_ms``: milliseconds that a hook may take, 0 for the usual ones (doors/hooks.py)."""

    home: str
    cache: str = ""
    session: str = ""
    client: str = ""
    wait: float = 30.0
    budget: int = 1500
    vectors: str = "auto"
    embed_model: str = ""
    embed_url: str = ""
    embed_name: str = ""
    background: bool = True
    deny: str = "risk"
    hook_ms: int = 0


# Where the code that a call touches is risky; only where this very call failed before; never.
DENIALS = ("risk", "repeat", "off")
VECTOR_INDEXES = (
    "auto", "flat", "signs", "srvdb", "srvdb:flat", "srvdb:hnsw", "srvdb:ivf", "srvdb:sq8", "srvdb:pq", "srvdb:auto",
)  # fmt: skip


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
    return _folder(environment, "XDG_DATA_HOME", ".local/share")


def _folder(environment: Mapping[str, str], variable: str, default: str) -> str:
    """``hardwon`` in a folder of the XDG specification, which says that a relative path is to be ignored."""
    above = environment.get(variable)
    if not above or not os.path.isabs(above):
        above = os.path.join(os.path.expanduser("~"), default)
    return os.path.join(above, "hardwon")


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from an environment (this process's own by default); InvalidInput names the variable that cannot be used."""
    environment = os.environ if environment is None else environment
    return Settings(
        home=default_home(environment),
        cache=_folder(environment, "XDG_CACHE_HOME", ".cache"),
        session=environment.get("HARDWON_SESSION", ""),
        client=environment.get("HARDWON_CLIENT", ""),
        wait=_number(environment, "HARDWON_WAIT", 30.0, 0.0, 3600.0),
        budget=int(_number(environment, "HARDWON_BUDGET", 1500, 50, 16000)),
        vectors=_choice(environment, "HARDWON_VECTORS", VECTOR_INDEXES),
        embed_model=environment.get("HARDWON_EMBED_MODEL", ""),
        embed_url=environment.get("HARDWON_EMBED_URL", ""),
        embed_name=environment.get("HARDWON_EMBED_NAME", ""),
        deny=_choice(environment, "HARDWON_DENY", DENIALS),
        hook_ms=int(_number(environment, "HARDWON_HOOK_MS", 0, 20, 60_000)),
        # A job of CI ends with its last command, and waits for whoever is left behind.
        background=_choice(environment, "HARDWON_BACKGROUND", ("off", "on") if environment.get("CI") else ("on", "off")) == "on",
    )


class Places(Value):
    """Where the clients of a user keep their configuration: ``home`` and ``config`` (XDG) are folders, ``mac`` says that it is macOS.
    ``claude``, ``codex``, ``gemini``, ``hermes``: the folders of those clients; ``claude_state``: the file that has Claude Code's
    servers; ``opencode``: the folder of its sessions."""

    home: str
    config: str
    claude: str
    claude_state: str
    codex: str
    gemini: str
    hermes: str
    mac: bool = False
    opencode: str = ""


def places(environment: Mapping[str, str] | None = None) -> Places:
    """The folders that an environment names (this process's own by default), by the clients' own variables."""
    environment = os.environ if environment is None else environment
    home = environment.get("HOME") or os.path.expanduser("~")
    config = environment.get("XDG_CONFIG_HOME", "")
    claude = environment.get("CLAUDE_CONFIG_DIR", "")
    data = environment.get("XDG_DATA_HOME", "")
    return Places(
        home=home,
        config=config if os.path.isabs(config) else os.path.join(home, ".config"),
        claude=os.path.abspath(claude) if claude else os.path.join(home, ".claude"),
        claude_state=os.path.join(os.path.abspath(claude) if claude else home, ".claude.json"),
        codex=os.path.abspath(environment.get("CODEX_HOME") or os.path.join(home, ".codex")),
        gemini=os.path.join(os.path.abspath(environment.get("GEMINI_CLI_HOME") or home), ".gemini"),
        hermes=os.path.abspath(environment.get("HERMES_HOME") or os.path.join(home, ".hermes")),
        mac=sys.platform == "darwin",
        opencode=os.path.join(data if os.path.isabs(data) else os.path.join(home, ".local", "share"), "opencode"),
    )


class KeySource:
    """The key of an encrypted store, as the environment brings it: ``identity`` itself, or the ``file`` that holds it; ``new``: the one
    to change to. "" for what is not set. No Value: those are printed and compared, and this must not be."""

    __slots__ = ("file", "identity", "new")

    def __init__(self, identity: str = "", file: str = "", new: str = "") -> None:
        self.identity = identity
        self.file = file
        self.new = new


def key_source(environment: Mapping[str, str] | None = None) -> KeySource:
    """What the environment says of keys (this process's own by default); judged only where a store is encrypted."""
    environment = os.environ if environment is None else environment
    return KeySource(*(environment.get(name, "") for name in ("HARDWON_KEY", "HARDWON_KEY_FILE", "HARDWON_NEW_KEY")))


def backup_passphrase(environment: Mapping[str, str] | None = None) -> str:
    """What backups are encrypted with, "" for nothing. Not a field: values are printed and compared, and this must not be."""
    return (os.environ if environment is None else environment).get("HARDWON_BACKUP_PASSPHRASE", "")


def embed_key(environment: Mapping[str, str] | None = None) -> str:
    """The endpoint's secret. Not a field: values are printed and compared, and this must not be."""
    return (os.environ if environment is None else environment).get("HARDWON_EMBED_KEY", "")


def _choice(environment: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    text = environment.get(name) or choices[0]
    if text not in choices:
        words = ", ".join(choices)
        raise InvalidInput(f"{name}={text[:80]!r} is none of {words}", field=name, remedy="unset it, or use one of these")
    return text


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
