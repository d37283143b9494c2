"""Help pages and shell completion, made by click from the table of verbs. Off the quick path."""

from __future__ import annotations

import click

from hardwon.agents.table import CLIENTS, row
from hardwon.doors.ingest import SOURCES
from hardwon.doors.verbs import GLOBALS, VERBS
from hardwon.errors import HardwonError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hardwon.doors.verbs import Argument, Option, Verb

_PROGRAM = "hardwon"
_INTRO = "Long-term, crash-safe memory for coding agents: what this repository has taught, brought back before the mistake is repeated."
_COMPLETION = (
    'Completion: eval "$(_HARDWON_COMPLETE=bash_source hardwon)" (or zsh_source; for fish: '
    "_HARDWON_COMPLETE=fish_source hardwon | source)."
)
_CODES = "Exit codes: 0 ok (also when nothing was found), 1 failure, 2 usage, 3 nothing found with --exit-code, 4 busy."


def help_page(verb: Verb | None) -> str:
    """The page of one verb, or of the program."""
    group = _group()
    if verb is None:
        return group.get_help(click.Context(group, info_name=_PROGRAM))
    command = group.commands[verb.name]
    parent = click.Context(group, info_name=_PROGRAM)
    return command.get_help(click.Context(command, info_name=verb.name, parent=parent))


def complete() -> int:
    """Answer the shell's question (``_HARDWON_COMPLETE``)."""
    import os

    from click.shell_completion import shell_complete

    return shell_complete(_group(), {}, _PROGRAM, "_HARDWON_COMPLETE", os.environ["_HARDWON_COMPLETE"])


def _group() -> click.Group:
    group = click.Group(_PROGRAM, help=_INTRO, epilog=f"{_COMPLETION}\n\n{_CODES}", params=[_option(item) for item in GLOBALS])
    for verb in VERBS:
        group.add_command(_command(verb))
    return group


def _command(verb: Verb) -> click.Command:
    examples = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in verb.examples)
    parameters: list[click.Parameter] = [_argument(verb, argument) for argument in verb.arguments]
    parameters += [_option(item) for item in (*verb.options, *GLOBALS)]
    arguments = "\n\n".join(f"{argument.name.upper()}: {argument.help}" for argument in verb.arguments)
    text = "\n\n".join(part for part in (verb.summary, arguments, verb.about) if part)
    return click.Command(verb.name, help=text, short_help=verb.summary, epilog=examples, params=parameters)


def _argument(verb: Verb, item: Argument) -> click.Argument:
    def offered(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        return [word for word in _words(verb.name, item.name) if word.startswith(begun)]

    return click.Argument(
        [item.name.replace("-", "_")],
        required=item.required,
        nargs=-1 if item.many else 1,
        type=click.Path() if item.name == "file" else None,
        shell_complete=offered if _words(verb.name, item.name) else None,
    )


def _words(verb: str, argument: str) -> tuple[str, ...]:
    """The words that an argument may be, as far as they are a closed set; the shell offers them."""
    if (verb, argument) == ("hook", "client"):
        return tuple(name for name in CLIENTS if (client := row(name)) is not None and client.dialect)
    return {"client": (*CLIENTS, "git"), "source": SOURCES, "what": ("vectors",)}.get(argument, ())


def _option(item: Option) -> click.Option:
    names = [f"--{item.name}"] + ([f"-{item.short}"] if item.short else [])
    kind: click.Choice[str] | click.Path | None = click.Choice(item.choices) if item.choices else None
    if item.name in ("file", "folder", "code"):
        kind = click.Path()
    return click.Option(
        names,
        help=item.help,
        is_flag=True if item.form == "flag" else None,  # False would make the value optional
        metavar=None if item.form == "flag" or item.choices else item.metavar or None,
        multiple=item.many,
        type=kind,
        shell_complete=_projects if item.name in ("project", "link") else None,
    )


def _projects(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """The registered names that begin so; none where the registry cannot be read: a completion has nowhere to say why."""
    from hardwon.settings import load
    from hardwon.store.registry import Registry

    try:
        return sorted(entry.name for entry in Registry(load().home).entries() if entry.name.startswith(begun))
    except HardwonError:
        return []
