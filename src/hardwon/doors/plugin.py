"""``install --write-plugin DIR``: the folders that are handed out, written for people who publish or share them."""

from __future__ import annotations

import io
import os
import zipfile

from hardwon.agents import bundles
from hardwon.doors.handle import Answer
from hardwon.doors.wiring_words import NOTHING_WRITTEN
from hardwon.errors import InvalidInput
from hardwon.settings import VERSION
from hardwon.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.doors.handle import Call

# An archive of the same files is the same to the byte.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_SAYS = """written below {folder}
Claude Code:    claude plugin marketplace add {folder} && claude plugin install hardwon@hardwon
Codex:          codex plugin marketplace add {folder} && codex plugin add hardwon@hardwon
Gemini CLI:     gemini extensions link {folder}/gemini-extension
desktop:        open {folder}/hardwon.mcpb
dev containers: "features": {{"./devcontainer-feature/hardwon": {{}}}} in .devcontainer, with that folder copied there
registry:       mcp-publisher publish, in {folder}, under a name of your own"""


def write(call: Call, named: str) -> Answer:
    """Write them; a folder that holds anything else is left alone."""
    folder = os.path.abspath(os.path.join(call.cwd, os.path.expanduser(named)))
    content = {name: (file.text.encode(), file.program) for name, file in bundles.files(VERSION).items()}
    content["hardwon.mcpb"] = (_archive(), False)
    for name in _names(folder):
        if name not in content:
            raise InvalidInput(
                f"{folder} holds {name}, which is not of a plugin", field="write-plugin", remedy="name a new or empty folder"
            )
    dry = call.request.flag("dry-run")
    for name, (data, program) in content.items():
        if not dry:
            files.rewrite(os.path.join(folder, name), data, mode=0o755 if program else 0o644)
    paths = [os.path.join(folder, name) for name in content]
    text = "\n".join([*(f"would be written {path}" for path in paths), NOTHING_WRITTEN]) if dry else _SAYS.format(folder=folder)
    made = [{"path": path, "action": "created", "about": ["plugin"]} for path in paths]
    return Answer(text, {"clients": [], "files": made, "diff": "", "notes": [], "dry_run": dry})


def _names(folder: str) -> list[str]:
    """The files below a folder, relative to it; none where there is no folder."""
    return [os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names]


def _archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in bundles.bundle(VERSION).items():
            archive.writestr(zipfile.ZipInfo(name, _ZIP_TIME), file.text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
