"""Which options belong to which source of ``ingest``, and to which way of ``install``: what does not is refused, never passed over."""

from __future__ import annotations

from hardwon.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardwon.doors.parse import Request

    Takers = Mapping[str, tuple[str, ...]]

INGEST: Takers = {
    "file": ("junit", "log", "transcripts"),
    "limit": ("git", "prs"),
    "commit": ("junit", "log"),
    "job": ("junit", "log"),
    "client": ("transcripts",),
    "since": ("transcripts",),
    "dry-run": ("git", "docs", "deps", "transcripts", "notes", "shared"),
}
# CLIENT is any of them but git, which has hooks of its own and no files of a user.
INSTALL: Takers = {
    "client": ("git", "CLIENT"),
    "scope": ("CLIENT", "--all"),
    "all": ("--all",),
    "write-plugin": ("--write-plugin",),
}


def check_ingest(request: Request, source: str) -> None:
    """InvalidInput for the first option that a source of ``ingest`` does not take."""
    _check(request, "ingest", source, INGEST)


def check_install(request: Request, verb: str) -> None:
    """InvalidInput for the first option that does not go with what ``install`` or ``uninstall`` was asked for."""
    client = request.text("client")
    way = "--write-plugin" if request.text("write-plugin") else "git" if client == "git" else "CLIENT" if client else "--all"
    _check(request, verb, way, INSTALL, client)


def _check(request: Request, verb: str, way: str, takers: Takers, named: str = "") -> None:
    for option, ways in takers.items():
        if not request.given.get(option) or way in ways:
            continue
        what = "no file" if option == "file" else "no client" if option == "client" and verb != "ingest" else f"no --{option}"
        asked = f"`{verb} {named if way == 'CLIENT' else way}`"
        others = ", ".join(f"`hardwon {verb} {one}`" for one in ways)
        raise InvalidInput(f"{asked} takes {what}", field=option, remedy=f"leave it out; it is for {others}")
