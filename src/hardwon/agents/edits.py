"""Which files and lines a tool call changes. Clients name the same things in a dozen ways; they are read alike, so that a new version
of one, or a tool that we have not met, is mostly understood."""

from __future__ import annotations

from hardwon.agents import fields
from hardwon.capture.event import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hardwon.capture.event import Tool

PATCH = "*** Begin Patch"  # how a patch begins that agents write
PATHS = (
    "file_path", "filePath", "notebook_path", "path", "absolute_path", "target_file", "filename", "file", "relative_path", "TargetFile",
    "uri",
)  # fmt: skip
_OLD = ("old_string", "oldString", "old_str", "oldText", "old_text", "TargetContent", "search")
_NEW = ("new_string", "newString", "new_str", "newText", "new_text", "ReplacementContent", "replace", "insert_text")
_WHOLE = ("content", "contents", "file_text", "fileText", "new_source", "text", "code", "CodeContent", "streamContent")
_SEVERAL = ("edits", "replacements", "changes", "ReplacementChunks")
_PATCHES = ("patch", "patchText", "input", "diff", "command")
_FOLDERS = ("workdir", "working_directory", "directory", "dir_path", "cwd")


def is_patch(text: str) -> bool:
    """Whether a text is a patch of that form, perhaps with something around it."""
    return PATCH in text[:400]


def changed(tool: Tool, name: str, given: Mapping[str, object]) -> tuple[Edit, ...]:
    """The edits of a call: ``tool`` in our words, ``name`` as the client spells it, ``given`` what it is called with."""
    if tool == "shell":
        from hardwon.agents.shell_edits import changed as by_command

        return by_command(command(given), fields.path(given, *_FOLDERS))
    if tool not in ("edit", "write"):
        return ()
    patch = next((text for field in _PATCHES if is_patch(text := fields.text(given, field, most=fields.PASSAGE))), "")
    if patch:
        from hardwon.agents.patches import parse

        return parse(patch)
    path, several = fields.path(given, *PATHS), fields.mappings(given, *_SEVERAL)
    if path and "delete" in name.lower():
        return (Edit(path, kind="delete"),)
    if path or several:
        return tuple(edit for item in several or (given,) for edit in _one(fields.path(item, *PATHS) or path, item, tool))
    return tuple(Edit(file) for file in fields.texts(given, "files", "paths"))  # VS Code tells no more of them


def _one(path: str, given: Mapping[str, object], tool: Tool) -> Iterable[Edit]:
    if not path:
        return []
    if "diff" in given:
        from hardwon.agents.patches import replacements

        if marked := replacements(fields.text(given, "diff", most=fields.PASSAGE)):
            return [Edit(path, old, new) for old, new in marked]
    old = fields.text(given, *_OLD, most=fields.PASSAGE)
    new = fields.text(given, *_NEW, most=fields.PASSAGE)
    if old or new or any(field in given for field in _OLD):
        return [Edit(path, old, new, lines=_lines(given))]
    whole = fields.text(given, *_WHOLE, most=fields.PASSAGE)
    is_part = tool == "edit" and not any(field in given for field in ("content", "contents", "file_text", "fileText"))
    return [Edit(path, new=whole, kind="change" if is_part else "whole", lines=_lines(given))]


def _lines(given: Mapping[str, object]) -> tuple[int, int] | None:
    """The lines that a call names itself."""
    first = fields.number(given, "start_line", "startLine", "StartLine", "insert_line")
    last = fields.number(given, "end_line", "endLine", "EndLine")
    if first is None or first < 1:
        return None
    return (first, last) if last is not None and last >= first else (first, first)


def command(given: Mapping[str, object]) -> str:
    """The command of a shell call: a text, or words in a list (Codex), of which ``bash -lc TEXT`` is TEXT."""
    value = given.get("command")
    if isinstance(value, list):
        words = [fields.clean(word[: fields.SAID]) for word in value[: fields.MANY] if isinstance(word, str)]
        if len(words) == 3 and words[1] in ("-c", "-lc") and words[0].endswith("sh"):
            return words[2][: fields.SAID]
        return " ".join(_quoted(word) for word in words)[: fields.SAID]
    return fields.text(given, "command", "cmd", "command_line", "commandLine", "CommandLine", "script")


def _quoted(word: str) -> str:
    plain = word and all(char.isalnum() or char in "-_./=:,@%+" for char in word)
    return word if plain else "'" + word.replace("'", "'\\''") + "'"


def paths(given: Mapping[str, object], edits: Iterable[Edit]) -> tuple[str, ...]:
    """Every file that a call names: the edited ones first."""
    named = [path for edit in edits for path in (edit.path, edit.target) if path]
    own = fields.path(given, *PATHS)
    return tuple(dict.fromkeys((*named, *([own] if own else ()), *fields.texts(given, "files", "paths"))))[: fields.MANY]
