"""``install`` and ``uninstall``: which files change for which client, shown first, then done as a whole or not at all."""

from __future__ import annotations

import os

from hardwon.agents import parts as texts
from hardwon.agents import table, targets
from hardwon.agents.site import Site
from hardwon.doors import configuration, program, taken, wired, wiring_words
from hardwon.doors.configuration import Change, Shelf
from hardwon.doors.handle import Answer
from hardwon.doors.shown import shown
from hardwon.errors import HardwonError, InvalidInput
from hardwon.settings import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from hardwon.agents.parts import Part
    from hardwon.agents.site import Scope
    from hardwon.doors.handle import Call

    Wanted = list[tuple[str, Site]]


def install(call: Call) -> Answer:
    """Wire clients in."""
    request = call.request
    _refuse_project(call)
    taken.check_install(request, "install")
    if folder := request.text("write-plugin"):
        from hardwon.doors import plugin

        return plugin.write(call, folder)
    if request.text("client") == "git":
        from hardwon.doors import git_hooks

        return git_hooks.install(call)
    if not request.text("client") and not request.flag("all"):
        return _listed(call)
    wanted = _wanted(call)

    def plan(shelf: Shelf) -> list[Change]:
        changes: list[Change] = []
        for client, site in wanted:
            changes = _merged(changes, [_put(shelf, client, site, part, changes) for part in targets.parts(client, site)])
        return changes

    return _carry_out(call, plan, wanted)


def uninstall(call: Call) -> Answer:
    """Take clients out again: of the user and of this project, unless one of the two is named."""
    _refuse_project(call)
    taken.check_install(call.request, "uninstall")
    if call.request.text("client") == "git":
        from hardwon.doors import git_hooks

        return git_hooks.uninstall(call)
    wanted = _installed(call)

    def plan(shelf: Shelf) -> list[Change]:
        changes: list[Change] = []
        for client, site in wanted:
            changes = _merged(changes, [_take(shelf, client, site, part, changes) for part in targets.parts(client, site)])
            changes += _of_earlier_versions(shelf, client, site, changes)
        return [change for change in changes if _concerned(shelf, change)]

    return _carry_out(call, plan, wanted)


# What is there


def _listed(call: Call) -> Answer:
    """The clients of this machine, and how to go on."""
    found = wired.here(_sites(call))
    data = {"found": [{**vars(one), "wired": list(one.wired)} for one in found], **_data("install", [], [], ""), "dry_run": False}
    return Answer(wiring_words.listed(found, call.paint), data)


def at_init(call: Call, told: dict[str, Any]) -> list[str]:
    """What ``init`` says of clients that are here and know nothing of us; ``told``: its data, which gets their names. VS Code runs what is
    wired into Claude Code."""
    found = wired.here(_sites(call))
    names = {one.client for one in found}
    waiting = [one for one in found if not one.wired and not (one.client == "vscode" and "claude-code" in names)]
    told["unwired"] = [one.client for one in waiting]
    return wiring_words.offered(waiting)


def _sites(call: Call) -> dict[Scope, Site]:
    return {scope: site_of(call, scope, leaving=True) for scope in targets.SCOPES}


# What is wanted


def site_of(call: Call, scope: Scope, *, leaving: bool = False) -> Site:
    """Where the files of a scope are for this call. ``leaving``: only to take out, for which no command has to be installed."""
    root = _root(call.cwd) if scope == "project" else ""
    name = program.NAME if leaving or scope == "project" else program.installed()
    return Site(places(), scope, root, name)


def _refuse_project(call: Call) -> None:
    if call.request.text("project") and call.request.text("client") != "git":
        raise InvalidInput(
            "-p names a memory, and this is about files", field="project", remedy="change to the folder, or -C PATH"
        )


def _root(folder: str) -> str:
    """The root of the checkout, or the folder itself outside git."""
    from hardwon.code.repo import locate

    return locate(folder).root or folder


def _wanted(call: Call) -> Wanted:
    request = call.request
    client, scope = request.text("client"), _scope(call)
    if client:
        _check(client)
        return [(client, site_of(call, scope or targets.scopes(client)[0]))]
    found = wired.used()
    if not found:
        raise InvalidInput("no client was found here", field="client", remedy="name one: " + ", ".join(table.CLIENTS))
    chosen = [(name, scope or targets.scopes(name)[0]) for name in found]
    return [(name, site_of(call, one)) for name, one in chosen if one in targets.scopes(name)]


def _scope(call: Call) -> Scope | None:
    """The scope that was asked for, None for none."""
    named = call.request.text("scope")
    return next((scope for scope in targets.SCOPES if scope == named), None)


def _installed(call: Call) -> Wanted:
    request = call.request
    client, scope = request.text("client"), _scope(call)
    if client:
        _check(client)
    elif not request.flag("all"):
        raise InvalidInput("no client was named", field="client", remedy="name one, or `hardwon uninstall --all`")
    names = [client] if client else list(table.CLIENTS)
    scopes = [scope] if scope else list(targets.SCOPES)
    sites = {one: site_of(call, one, leaving=True) for one in scopes}
    return [(name, sites[one]) for name in names for one in scopes if one in targets.scopes(name)]


def _check(client: str) -> None:
    if table.row(client) is None:
        from difflib import get_close_matches

        near = get_close_matches(client, table.CLIENTS, 1)
        remedy = f"did you mean {near[0]}?" if near else "one of: " + ", ".join(table.CLIENTS)
        raise InvalidInput(f"there is no client {client[:60]!r}", field="client", remedy=remedy)


# The changes


def _now(part: Part, planned: Sequence[Change]) -> tuple[bytes | None, bytes | None, Change | None]:
    """A file as it is on the disk, as it will be after what is planned already, and that plan."""
    change = next((one for one in planned if one.path == part.path), None)
    if change is not None:
        return change.before, change.after, change
    content = configuration.read(part.path)
    return content, content, None


def _text(part: Part, content: bytes | None) -> str:
    return configuration.text(part.path, content) if content is not None else ""


def _put(shelf: Shelf, client: str, site: Site, part: Part, planned: Sequence[Change]) -> Change:
    _refuse_outside(site, part.path)
    before, current, plan = _now(part, planned)
    if _is_foreign(shelf, part, before):
        return Change(part.path, before, before, before, (), part.about)
    owners = plan.owners if plan else _owners(shelf, part.path)
    base = plan.base if plan else _base(shelf, part, before)
    with _About(part.path):
        after = texts.put(part, _text(part, current)).encode()
    owner = f"{client}:{site.scope}"
    return Change(part.path, before, after, base, tuple(dict.fromkeys((*owners, owner))), part.about, _mode(part, site))


def _is_foreign(shelf: Shelf, part: Part, content: bytes | None) -> bool:
    """Whether a file that would be ours as a whole is somebody else's: neither as we left it nor known by what is in it."""
    if content is None or part.form not in ("file", "script") or shelf.base(part.path, content)[0]:
        return False
    return texts.is_foreign(part, content.decode("utf-8", "replace"))


def _refuse_outside(site: Site, path: str) -> None:
    """InvalidInput where a link of the repository would have us write somewhere else: it may come from anybody."""
    if site.scope == "project" and not os.path.realpath(path).startswith(os.path.realpath(site.root) + os.sep):
        raise InvalidInput(
            f"{path} leads out of the repository", field=path, remedy="replace the link by a file, or --scope user"
        )


def _take(shelf: Shelf, client: str, site: Site, part: Part, planned: Sequence[Change]) -> Change:
    before, current, plan = _now(part, planned)
    owner = f"{client}:{site.scope}"
    owners = tuple(one for one in (plan.owners if plan else _owners(shelf, part.path)) if one != owner)
    as_left, base = shelf.base(part.path, before)
    after: bytes | None
    if current is None or _is_foreign(shelf, part, before):
        after = current
    elif not owners and as_left:
        after = base
    else:
        with _About(part.path):
            after = _without(part, current, base, bool(_owners(shelf, part.path)))
            for other in _others(owners, site, part.path):
                after = texts.put(other, _text(other, after)).encode()
    return Change(part.path, before, after, base, owners, part.about, _mode(part, site))


def _of_earlier_versions(shelf: Shelf, client: str, site: Site, planned: Sequence[Change]) -> list[Change]:
    """Files that an earlier version made or changed and that this one does not know: given back where they are as it left them."""
    found = []
    owner = f"{client}:{site.scope}"
    for path, row in shelf.known.items():
        here = site.scope == "user" or path.startswith(site.root + os.sep)
        if row.owners == (owner,) and here and all(change.path != path for change in planned):
            before = configuration.read(path)
            as_left, base = shelf.base(path, before)
            found.append(Change(path, before, base if as_left else before, base, ()))
    return found


def _mode(part: Part, site: Site) -> int:
    """The rights of a new file: what lies in the home folder is nobody else's, for clients keep tokens in such files later."""
    mode = 0o755 if part.form == "script" else 0o644
    return mode & 0o700 if site.scope == "user" else mode


def _without(part: Part, content: bytes, base: bytes | None, known: bool) -> bytes | None:
    """A file's bytes without the part; None where nothing is left of a file that was made for us."""
    text = _text(part, content)
    hint = _text(part, base) if base is not None else "" if known else None
    left = texts.take(part, text, hint)
    whole = part.form in ("file", "script")
    if not left.strip() and (whole or (known and base is None)):
        return None
    return content if left == text else left.encode()


def _base(shelf: Shelf, part: Part, before: bytes | None) -> bytes | None:
    """What a file was before us, or would be without us."""
    as_left, base = shelf.base(part.path, before)
    if before is None or as_left:
        return base if as_left else None
    with _About(part.path):
        return _without(part, before, base, part.path in shelf.known)


def _owners(shelf: Shelf, path: str) -> tuple[str, ...]:
    row = shelf.known.get(path)
    return row.owners if row else ()


def _others(owners: Sequence[str], site: Site, path: str) -> list[Part]:
    """The parts that other clients have in the same file."""
    found = []
    for owner in owners:
        client, _, scope = owner.partition(":")
        if table.row(client) is not None and scope == site.scope:
            found += [part for part in targets.parts(client, site) if part.path == path]
    return found


def _merged(planned: list[Change], more: list[Change]) -> list[Change]:
    """One change a file, the latest of each."""
    by_path = {change.path: change for change in (*planned, *more)}
    return list(by_path.values())


def _concerned(shelf: Shelf, change: Change) -> bool:
    return change.action != "unchanged" or change.owners != _owners(shelf, change.path)


class _About:
    """Says which file an error is about."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HardwonError) and self.path not in error.message:
            error.message = f"{self.path}: {error.message}"
            error.remedy = f"{error.remedy}; nothing was changed" if error.remedy else "nothing was changed"


# Showing and doing


def _carry_out(call: Call, plan: Callable[[Shelf], list[Change]], wanted: Wanted) -> Answer:
    """Show, ask, and do it, unless the files are others by then."""
    request = call.request
    verb = request.verb.name if request.verb else ""
    shelf = Shelf(call.settings.home, call.settings.wait)
    changes = plan(shelf)
    real = [change for change in changes if change.action != "unchanged"]
    diff = wiring_words.diff(real)
    dry = request.flag("dry-run")
    if real and not dry:
        for change in real:
            configuration.check_writable(change.path)
        if call.can_ask() and not request.flag("yes"):
            print(shown(wiring_words.painted(diff, call.paint), call.paint.on))
        if not call.confirmed(wiring_words.question(real)):
            return Answer("nothing was changed", {**_data(verb, wanted, [], diff), "dry_run": True}, 1)
    if changes and not dry:
        with shelf:
            shelf.apply(_again(plan(shelf), changes))
    data = {**_data(verb, wanted, changes, diff), "dry_run": dry}
    return Answer(wiring_words.report(verb, wanted, changes, diff if dry else None, call.paint), data)


def _again(now: list[Change], shown: list[Change]) -> list[Change]:
    """The changes as they are by now, where only who else uses a file is another; InvalidInput where a file is."""
    if [(one.path, one.before, one.after) for one in now] != [(one.path, one.before, one.after) for one in shown]:
        path = next((one.path for one, other in zip(now, shown, strict=False) if one != other), "a file")
        raise InvalidInput(f"{path} was changed meanwhile", field="files", remedy="nothing was changed; try again")
    return now


def _data(verb: str, wanted: Wanted, changes: Sequence[Change], diff: str) -> dict[str, object]:
    clients = [{"client": client, "scope": site.scope} for client, site in wanted]
    files = [{"path": change.path, "action": change.action, "about": list(change.about)} for change in changes]
    return {"clients": clients, "files": files, "diff": diff, "notes": wiring_words.notes(verb, wanted, changes)}
