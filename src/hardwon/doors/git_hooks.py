"""``install git`` and ``uninstall git`` in words."""

from __future__ import annotations

from hardwon.code.repo import locate
from hardwon.doors import program, wiring_words
from hardwon.doors.handle import Answer, agreed
from hardwon.engine import git_hooks
from hardwon.errors import GitFailed, InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hardwon.code.repo import Checkout
    from hardwon.doors.handle import Call
    from hardwon.engine.git_hooks import HookFile, HookPlan


def install(call: Call) -> Answer:
    """Our block in git's hooks; NoStore where the folder has no memory."""
    checkout = call.engine.home.checkout
    return _done(call, checkout, git_hooks.plan_install(checkout, program.installed()), install=True)


def uninstall(call: Call) -> Answer:
    """Git's hooks as they were."""
    checkout = locate(call.cwd)
    return _done(call, checkout, git_hooks.plan_uninstall(checkout), install=False)


def offer(call: Call) -> list[str]:
    """At ``init`` on a terminal: ask whether git shall tell of commits; what to say of it."""
    checkout = call.engine.home.checkout
    silent = call.request.flag("json") or call.request.flag("yes")  # a yes to something else
    if silent or not (call.can_ask() and checkout.git_dir) or git_hooks.installed(checkout):
        return []
    try:
        plan = git_hooks.plan_install(checkout, program.installed())
    except (InvalidInput, GitFailed):
        return []  # `install git` says why
    if not any(file.changes for file in plan.files):
        return []
    if not agreed("Keep the memory up to date after each commit, by git's hooks?"):
        return ["later: hardwon install git"]
    git_hooks.carry_out(checkout, plan, install=True)
    return _lines(plan, install=True, dry=False)


def _done(call: Call, checkout: Checkout, plan: HookPlan, *, install: bool) -> Answer:
    dry = call.request.flag("dry-run")
    data: dict[str, Any] = {
        "client": "git", "dry_run": dry, "folder": plan.folder, "manager": plan.manager, "shared": plan.shared,
        "tracked": plan.tracked, "snippet": plan.snippet,
        "files": [
            {"hook": one.hook, "path": one.path, "action": _action(one), "why": one.refused, "remedy": one.remedy} for one in plan.files
        ],
    }  # fmt: skip
    changed = [file.path for file in plan.files if file.changes]
    if changed and not dry and not call.confirmed(f"change {', '.join(changed)}?"):
        return Answer("nothing was changed", {**data, "dry_run": True}, 1)
    if not dry:
        git_hooks.carry_out(checkout, plan, install=install)
    refused = [file for file in plan.files if file.refused]
    lines = [*_lines(plan, install=install, dry=dry), *(wiring_words.of_home() if install else [])]
    if dry:
        lines.append(wiring_words.NOTHING_WRITTEN)
    return Answer("\n".join(lines), data, 1 if refused else 0)


def _action(file: HookFile) -> str:
    if file.refused:
        return "refused"
    if not file.changes:
        return "unchanged"
    return "created" if file.before is None else "removed" if file.after is None else "changed"


def _lines(plan: HookPlan, *, install: bool, dry: bool) -> list[str]:
    lines = []
    for file in plan.files:
        why = f": {file.refused}; {file.remedy}" if file.refused else ""
        lines.append(f"{'would be ' if dry and file.changes else ''}{_action(file)}: {file.path}{why}")
    if plan.snippet:
        lines += ["", plan.snippet]
    if plan.tracked and install:
        lines.append(f"{plan.folder} belongs to the repository: commit the files, or keep them to yourself; they do nothing in a clone "
                     "without a memory")  # fmt: skip
    if plan.shared and install:
        lines.append(f"{plan.folder} is used by other repositories as well; in those without a memory the block does nothing")
    return lines or ["there is nothing of Hardwon in git's hooks"]
