"""The clients' packages: installed once, from npm, into a cache folder outside the checkout.

The folder is ``$CLIENTS_CACHE``, else ``~/.cache/hardwon-clients``. It takes 1.3 GB and is kept from run to run; another version of
a client is another folder in it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from tests.clients.table import VERSIONS

NODE = 20  # the oldest that Gemini CLI runs on; the others bring what they need
PROGRAMS = ("claude", "codex", "gemini", "opencode")
TIMEOUT = 900  # seconds for the installation; 30 with a quick line
REACHED = ("--fetch-retries=1", "--fetch-timeout=15000")  # a registry that answers nothing is given up after half a minute


class Unavailable(Exception):
    """The clients cannot be installed here; the message says why."""


def cache(environment: dict[str, str]) -> Path:
    """The folder of the caches."""
    return Path(environment.get("CLIENTS_CACHE") or Path.home() / ".cache" / "hardwon-clients")


def installed(folder: Path) -> Path:
    """The folder of the clients' commands, after installing what is not there; Unavailable if that cannot be done."""
    digest = hashlib.sha256(json.dumps(VERSIONS, sort_keys=True).encode()).hexdigest()[:12]
    target = folder / digest
    commands = target / "node_modules" / ".bin"
    if (target / "complete").exists():
        return commands
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise Unavailable("npm is not here")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < NODE:
        raise Unavailable(f"Node.js is {version}, and has to be {NODE} or newer")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes of one run of the tests
        if not (target / "complete").exists():
            install(npm, target)
    return commands


def install(npm: str, target: Path) -> None:
    """Installs the packages at their versions; afterwards each command must be there."""
    name, version = next(iter(VERSIONS.items()))
    asked = [npm, "view", f"{name}@{version}", "version", "--loglevel=error", *REACHED]
    answer = subprocess.run(asked, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if version not in answer.stdout:
        raise Unavailable(f"npm does not find {name} {version}: {answer.stderr.strip()[:300]}")
    target.mkdir(exist_ok=True)
    (target / "package.json").write_text(json.dumps({"private": True, "dependencies": VERSIONS}))
    words = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"]
    try:
        done = subprocess.run(words, cwd=target, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm took more than {TIMEOUT} seconds") from None
    missing = [name for name in PROGRAMS if not os.access(target / "node_modules" / ".bin" / name, os.X_OK)]
    if done.returncode or missing:
        raise Unavailable(
            f"npm could not install them: {(done.stderr or done.stdout).strip()[-500:]} {' '.join(missing)}".strip()
        )
    (target / "complete").touch()
