"""How a client is started without a terminal: in a home of its own, with next to no environment, against the scripted model.

Nothing of the machine gets in, and nothing gets out: every address but the model's is sent to a port where nobody listens.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.clients.table import Client, Place

TIMEOUT = 120  # seconds for one turn of a client; a usual one takes 1 to 10
NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens


@dataclass(frozen=True)
class Turn:
    """How a client ended. ``killed``: it did not end by itself within ``TIMEOUT``."""

    code: int
    out: str
    err: str
    killed: bool = False

    def __repr__(self) -> str:
        return f"exit {self.code}{' killed' if self.killed else ''}\nout: {self.out[-3000:]}\nerr: {self.err[-3000:]}"


def environment(client: Client, place: Place) -> dict[str, str]:
    """The whole environment of a run: the client's own needs, a path, a home, and a proxy that leads nowhere."""
    node = shutil.which("node") or ""
    folders = [str(place.bin), os.path.dirname(node), os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]
    path = os.pathsep.join(dict.fromkeys(folder for folder in folders if folder))
    proxies = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), NOWHERE)
    local = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    own = {"PATH": path, "HOME": str(place.home), "XDG_CACHE_HOME": str(place.cache), "LANG": "C.UTF-8", "TERM": "dumb"}
    return {**own, **proxies, **local, **client.environment(place)}


def run(client: Client, place: Place, prompt: str, goes_on: bool = False, extra: Mapping[str, str] | None = None) -> Turn:
    """One prompt, to the end of the client's process."""
    return command(client, place, client.command(prompt, goes_on), extra)


def command(client: Client, place: Place, arguments: Sequence[str], extra: Mapping[str, str] | None = None) -> Turn:
    """Any command of the client; its whole process group is ended if it takes longer than ``TIMEOUT``."""
    process = subprocess.Popen(
        [str(place.bin / client.program), *arguments],
        cwd=place.repo,
        env={**environment(client, place), **(extra or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Turn(process.returncode, out, err, killed=True)
    return Turn(process.returncode, out, err)
