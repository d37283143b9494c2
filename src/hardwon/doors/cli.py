"""The command ``hardwon``: said (parse), meant (handle), done (print). The only place that knows exit codes."""

from __future__ import annotations

import os
import sys

from hardwon.errors import Busy, HardwonError, InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from hardwon.doors.handle import Answer, Call
    from hardwon.doors.parse import Request
    from hardwon.doors.verbs import Verb

FAILURE, USAGE, BUSY, INTERRUPTED = 1, 2, 4, 130
# The first class that fits; everything else is a failure.
EXIT_CODES: tuple[tuple[type[HardwonError], int], ...] = ((InvalidInput, USAGE), (Busy, BUSY))


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    words = sys.argv[1:] if words is None else words
    if special := _on_its_own(words):
        return special()
    _set_streams()
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except HardwonError as error:
        _tell(error, as_json=wants_json(words))
        return exit_code(error)
    except KeyboardInterrupt:
        print("hardwon: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # the reader went away (`| head`): leave quietly
        return 0
    except OSError as error:
        _drop_output()
        _tell(
            HardwonError(f"the system refused: {error}", remedy="see to what it names, and try again"), as_json=wants_json(words)
        )
        return FAILURE


def _on_its_own(words: Sequence[str]) -> Callable[[], int] | None:
    """What does not go the way of the other commands: completion, and hooks, where nothing that happens is told as an error."""
    if "_HARDWON_COMPLETE" in os.environ:
        from hardwon.doors.pages import complete

        return complete
    if words[:1] == ["hook"] and not {"-h", "--help"}.intersection(words):
        from hardwon.doors.hooks import run

        _set_streams()
        return lambda: run(words[1:])
    return None


def wants_json(words: Sequence[str]) -> bool:
    """Whether errors are to be told as JSON, known before anything is parsed."""
    return "--json" in words


def _set_streams() -> None:
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us; a file that is opened next must not take its place
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for the life of the process
        elif name == "stdin":
            continue
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _drop_output() -> None:
    """Keep the interpreter from flushing at its end into what cannot take it."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def exit_code(error: HardwonError) -> int:
    """0 ok, 1 failure, 2 usage, 3 nothing found (when asked for), 4 busy."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), FAILURE)


def _run(words: Sequence[str]) -> int:
    from hardwon.doors.parse import parse

    request = parse(words)
    if request.version:
        from hardwon.settings import VERSION

        print(f"hardwon {VERSION}")
        return 0
    if request.help or request.verb is None:
        from hardwon.doors.pages import help_page

        print(help_page(request.verb))
        return 0
    answer = _answer(request, request.verb)
    if request.flag("json"):
        import json

        _say(json.dumps(answer.data, ensure_ascii=False))
        return answer.exit
    if answer.text:
        _say(answer.text)
    elif sys.stderr.isatty() and not answer.quiet:
        print("hardwon: nothing that fits", file=sys.stderr)
    for line in answer.degraded:
        _say(f"hardwon: {line}", sys.stderr)
    return answer.exit


def _say(text: str, stream: TextIO | None = None) -> None:
    """Print it, without what drives a terminal."""
    if not text.replace("\n", "").isprintable():
        from hardwon.doors.shown import shown

        text = shown(text, stream is None and _is_painted())
    print(text, file=stream)


def _is_painted() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _handler(verb: Verb) -> Callable[[Call], Answer]:
    """The function of a verb, in the module that its row names."""
    name = f"hardwon.doors.{verb.module}"
    __import__(name)
    module = sys.modules[name]
    handler: Callable[[Call], Answer] = getattr(module, verb.name, None) or getattr(module, verb.name + "_")
    return handler


def _answer(request: Request, verb: Verb) -> Answer:
    from hardwon import settings as options
    from hardwon.doors import actor, handle
    from hardwon.doors.render import Paint
    from hardwon.types import Scope

    settings = options.load(os.environ)
    paint = Paint(_is_painted(), _columns())
    call = handle.Call(request, settings, Scope(actor.origin(os.environ, settings)), paint, _folder(request.text("folder")))
    try:
        answer = _handler(verb)(call)
    finally:
        call.close()
    return answer


def _columns() -> int:
    """The width of the terminal that is written to; 0 for none."""
    try:
        return os.get_terminal_size(1).columns
    except OSError:
        return 0


def _folder(named: str) -> str:
    """Where to work: the folder that was named, else the one we stand in; InvalidInput where it is none, or was removed under us."""
    try:
        place = os.path.abspath(os.path.expanduser(named or "."))
    except FileNotFoundError as error:
        raise InvalidInput(
            "the folder that this was started in is gone", field="folder", remedy="change to another, or name one with -C PATH"
        ) from error
    if named and not os.path.isdir(place):
        raise InvalidInput(f"{named[:200]!a} is not a folder", field="folder", remedy="name a folder that exists: -C PATH")
    return place


def _tell(error: HardwonError, *, as_json: bool) -> None:
    if as_json:
        import json

        body = {"kind": error.kind, "field": error.field, "message": error.message, "remedy": error.remedy}
        _say(json.dumps({"error": body}, ensure_ascii=False), sys.stderr)
        return
    _say(f"hardwon: {error.message}", sys.stderr)
    if error.remedy:
        _say(f"  {error.remedy}", sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
