"""The command line: what was said, and congruence with the help pages that click makes from the same table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.doors import pages
from hardwon.doors.cli import wants_json
from hardwon.doors.parse import parse
from hardwon.doors.verbs import BY_NAME, GLOBALS, VERBS, Argument, Option, Verb
from hardwon.errors import InvalidInput
from hardwon.types import KINDS, OUTCOMES
from tests.growth import takes_the_square

DAY = 86_400


def said(*words: str) -> dict[str, Any]:
    return dict(parse(words).given)


def refused(*words: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        parse(words)
    assert caught.value.message
    assert caught.value.field
    return caught.value


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("status", {}),
        ("status --json", {"json": True}),
        ("--json status", {"json": True}),
        ("-p shop status", {"project": "shop"}),
        ("status -p shop", {"project": "shop"}),
        ("-pshop status", {"project": "shop"}),
        ("--project=shop status", {"project": "shop"}),
        ("status --project shop", {"project": "shop"}),
        ("-C /tmp -p shop --json status", {"folder": "/tmp", "project": "shop", "json": True}),
        ("status -C /tmp", {"folder": "/tmp"}),
        ("-p one status -p two", {"project": "two"}),
        ("query", {}),
        ("query A.b", {"symbol": "A.b"}),
        ("query --top 5", {"top": 5}),
        ("query --top=5", {"top": 5}),
        ("query --all A.b --inject", {"symbol": "A.b", "all": True, "inject": True}),
        ("fail A.b lesson", {"symbol": "A.b", "lesson": "lesson"}),
        ("fail A.b lesson -d more", {"symbol": "A.b", "lesson": "lesson", "detail": "more"}),
        ("fail A.b lesson -dmore", {"symbol": "A.b", "lesson": "lesson", "detail": "more"}),
        ("fail --file=a=b.py A.b lesson", {"symbol": "A.b", "lesson": "lesson", "file": "a=b.py"}),
        ("fail A.b lesson --detail=--json", {"symbol": "A.b", "lesson": "lesson", "detail": "--json"}),
        ("fail A.b lesson --detail --force", {"symbol": "A.b", "lesson": "lesson", "detail": "--force"}),
        ("fail A.b lesson -d -", {"symbol": "A.b", "lesson": "lesson", "detail": "-"}),
        ("fail A.b lesson -d -1", {"symbol": "A.b", "lesson": "lesson", "detail": "-1"}),
        ("fail A.b -- --lesson", {"symbol": "A.b", "lesson": "--lesson"}),
        ("fail -- A.b --json", {"symbol": "A.b", "lesson": "--json"}),
        ("fail A.b -3", {"symbol": "A.b", "lesson": "-3"}),
        ("-- fail A.b lesson", {"symbol": "A.b", "lesson": "lesson"}),
        ("ok A.b", {"symbol": "A.b"}),
        ("ok A.b it worked --session s1", None),
        ("resolve 12", {"id": "12"}),
        ("resolve #12", {"id": "#12"}),
        ("record one two three", {"text": "one two three"}),
        ("record --tag a --tag b one two", {"text": "one two", "tag": ["a", "b"]}),
        ("record -", {"text": "-"}),
        ("record x --kind rule --outcome worked", {"text": "x", "kind": "rule", "outcome": "worked"}),
        ("record x --rejected a --rejected=b", {"text": "x", "rejected": ["a", "b"]}),
        ("record x --expires 30d --private", {"text": "x", "expires": 30 * DAY, "private": True}),
        ("recall why --k 5", {"task": "why", "k": 5}),
        ("recall why -k 5", {"task": "why", "k": 5}),
        ("recall why -k5", {"task": "why", "k": 5}),
        ("recall --kind lesson --kind change", {"kind": ["lesson", "change"]}),
        ("forget", {"id": []}),
        ("forget 1 2 #3 -y", {"id": ["1", "2", "#3"], "yes": True}),
        ("forget --older-than 2w --dry-run", {"id": [], "older-than": 14 * DAY, "dry-run": True}),
        ("before --file a.py --symbol A.b", {"file": "a.py", "symbol": "A.b"}),
        ("init --limit 100 --no-history", {"limit": 100, "no-history": True}),
    ],
)
def test_a_command_line_says(words: str, expected: dict[str, Any] | None) -> None:
    if expected is None:
        refused(*words.split())
    else:
        assert said(*words.split()) == expected


def test_names_may_hold_what_is_seen_and_texts_anything() -> None:
    for name in ("\u3042\u3000\u3044", "a\u202fb.png", "caf\u0065\u0301", "\U0001f600", "operator()", "a b", "\u200dx"):
        assert said("query", name) == {"symbol": name}
    for text in ("two\nlines", "\x1b[31mred", "bad \udcff byte", "a\u2028b"):
        assert said("fail", "A", text)["lesson"] == text


def test_repeatable_options_and_texts_are_told_apart() -> None:
    request = parse(["record", "text", "--tag", "a"])
    assert request.texts("tag") == ("a",)
    assert request.texts("rejected") == ()
    assert request.text("text") == "text"
    assert request.text("detail") == ""
    assert not request.flag("private")
    assert request.number("expires", 7) == 7


@pytest.mark.parametrize(
    "age", [("1m", 60), ("90m", 5400), ("12h", 43_200), ("30d", 30 * DAY), ("8w", 56 * DAY), ("1y", 365 * DAY)]
)
def test_an_age_is_told_in_seconds(age: tuple[str, int]) -> None:
    assert said("forget", "--older-than", age[0])["older-than"] == age[1]


@pytest.mark.parametrize(
    "age",
    ["", "d", "0d", "-1d", "1", "1.5d", "1 d", "1D", "101y", "9999999d", "1dd", "٣d", "³d", "1e3d", "tomorrow", "d" * 100_000],
)
def test_what_is_no_age_is_refused(age: str) -> None:
    error = refused("forget", "--older-than", age)
    assert error.field == "older-than"
    assert "30d" in error.remedy
    assert len(error.message) < 200


@pytest.mark.parametrize(
    "number", ["", "0", "-1", "1.5", "1e3", "0x10", "٣", "²", "1_000", " 5", "5 ", "1000000001", "9" * 100_000, "ten"]
)
def test_what_is_no_number_is_refused(number: str) -> None:
    error = refused("query", "--top", number)
    assert error.field == "top"
    assert len(error.message) < 200


@pytest.mark.parametrize(
    ("words", "field", "hint"),
    [
        (("recal", "x"), "verb", "did you mean recall?"),
        (("frobnicate",), "verb", "init"),
        (("",), "verb", "recall"),
        (("-5",), "verb", "recall"),
        (("--version=3",), "option", "--json"),
        (("--jsn", "status"), "option", "did you mean --json?"),
        (("--file", "a", "fail"), "option", "--folder"),
        (("query", "--tp", "3"), "option", "did you mean --top?"),
        (("status", "--top", "3"), "option", "--json"),
        (("query", "-x"), "option", "--top"),
        (("query", "--"), "", ""),
        (("status", "extra"), "arguments", "hardwon status"),
        (("resolve",), "id", "hardwon resolve 12"),
        (("resolve", ""), "id", "hardwon resolve 12"),
        (("fail", "A"), "lesson", "hardwon fail"),
        (("fail", "", "x"), "symbol", "hardwon fail"),
        (("fail", "A", "b", "c"), "arguments", "hardwon fail"),
        (("record",), "text", "hardwon record"),
        (("record", "", ""), "text", "hardwon record"),
        (("query", "--top"), "top", "--top N"),
        (("status", "-p"), "project", "--project NAME"),
        (("fail", "A", "b", "--file", "--json"), "file", "--file PATH"),
        (("fail", "A", "b", "-d", "--file=x"), "detail", "--detail TEXT"),
        (("status", "-p", "--"), "project", "--project NAME"),
        (("fail", "A", "b", "--file="), "file", "leave it out"),
        (("forget", "--session", " ", "--older-than", "1d"), "session", "leave it out"),
        (("status", "-p", ""), "project", "leave it out"),
        (("query", ""), "symbol", "leave it out"),
        (("fail", " ", "x"), "symbol", "hardwon fail"),
        (("fail", "A\nb", "x"), "symbol", "line breaks"),
        (("fail", "A\x1b[31m", "x"), "symbol", "escapes"),
        (("query", "\udcff"), "symbol", "line breaks"),
        (("recall", "x", "--tag", "a\0b"), "tag", "line breaks"),
        (("recall", "x", "--tag", "a\u2028b"), "tag", "line breaks"),
        (("query", "--all=yes"), "all", "write --all alone"),
        (("forget", "-yes"), "yes", "write --yes alone"),
        (("record", "x", "--kind", "change"), "kind", "rule"),
        (("record", "x", "--outcome", "maybe"), "outcome", "worked"),
        (("recall", "x", "--kind", "nonsense"), "kind", "lesson"),
    ],
)
def test_what_is_wrong_is_named_with_a_remedy(words: tuple[str, ...], field: str, hint: str) -> None:
    if not field:
        parse(words)
        return
    error = refused(*words)
    assert error.field == field
    assert hint in error.remedy


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_help_is_understood_anywhere(verb: str) -> None:
    for words in ([verb, "--help"], [verb, "-h"], ["--json", verb, "x", "--help"]):
        request = parse(words)
        assert request.help
        assert request.verb == BY_NAME[verb]
    assert parse([]).help
    assert parse(["--version"]).version
    assert parse(["--help", verb]).verb is None


def test_json_is_known_before_parsing() -> None:
    assert wants_json(["nonsense", "--json"])
    assert not wants_json(["status"])


# For any words at all


_NAMES = [f"--{item.name}" for verb in VERBS for item in (*verb.options, *GLOBALS)]
_WORDS = st.one_of(
    st.sampled_from([verb.name for verb in VERBS]),
    st.sampled_from(_NAMES),
    st.sampled_from(
        ["-p", "-C", "-k", "-d", "-y", "-k5", "-h", "--", "-", "--help", "--version", "--=", "-=", "=", "-5", "5", "1d", "#12"]
    ),
    st.builds("{}={}".format, st.sampled_from(_NAMES), st.text(max_size=8)),
    st.text(st.characters(), max_size=12),  # lone surrogates and NUL too
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.lists(_WORDS, max_size=10))
def test_any_words_are_understood_or_refused(words: list[str]) -> None:
    try:
        request = parse(words)
    except InvalidInput as error:
        assert error.message
        assert error.field
        return
    assert request.verb is None or request.verb in VERBS
    assert request.verb or request.help or request.version


def test_a_megabyte_of_words_is_parsed() -> None:
    refused("recall", "x", "--" + "o" * 1_000_000)
    refused("x" * 1_000_000)
    assert len(parse(["record", *["word"] * 20_000, "y" * 1_000_000]).text("text")) == 1_100_000
    assert not takes_the_square(parse, lambda length: ["record", *["word"] * length], 10_000)


# Congruence with click


_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=10).filter(str.strip)
_BARE = _TEXTS.filter(lambda text: not text.startswith("-"))
_AGES = st.builds("{}{}".format, st.integers(1, 99), st.sampled_from("mhdwy"))


def values(option: Option) -> st.SearchStrategy[str]:
    if option.choices:
        return st.sampled_from(option.choices)
    if option.form == "number":
        return st.integers(1, 1_000_000_000).map(str)
    return _AGES if option.form in ("age", "moment") else _TEXTS


@st.composite
def one_option(draw: st.DrawFn, option: Option) -> list[str]:
    if option.form == "flag":
        return [draw(st.sampled_from([f"--{option.name}", *([f"-{option.short}"] if option.short else [])]))]
    value = draw(values(option))
    forms = [[f"--{option.name}={value}"]]
    if not value.startswith("-"):  # else it may be an option
        forms.append([f"--{option.name}", value])
        if option.short:
            forms.append([f"-{option.short}", value])
    if option.short and "=" not in value:  # -p=b: the value begins after the sign here, and click keeps it
        forms.append([f"-{option.short}{value}"])
    return draw(st.sampled_from(forms))


@st.composite
def arguments(draw: st.DrawFn, argument: Argument) -> list[list[str]]:
    least = int(argument.required)
    words = draw(st.lists(_BARE, min_size=least, max_size=4 if argument.many else 1))
    return [[word] for word in words]


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[Verb, list[str], list[str]]:
    """A verb, valid words before it and valid words after it."""
    verb = draw(st.sampled_from(VERBS))
    before = [word for option in draw(st.lists(st.sampled_from(GLOBALS), max_size=2)) for word in draw(one_option(option))]
    positional: list[list[str]] = []
    for argument in verb.arguments:
        given_words = draw(arguments(argument))
        positional += given_words
        if not given_words:
            break
    options = [draw(one_option(item)) for item in draw(st.lists(st.sampled_from([*verb.options, *GLOBALS]), max_size=5))]
    groups = [("word", group) for group in positional]
    for option in options:
        groups.insert(draw(st.integers(0, len(groups))), ("option", option))
    if draw(st.booleans()):
        # Everything that follows the last option may stand behind --, whatever it looks like.
        last = max((index for index, (form, _) in enumerate(groups) if form == "option"), default=-1)
        groups.insert(last + 1, ("end", ["--"]))
    return verb, before, [word for _, group in groups for word in group]


def by_click(verb: Verb, before: list[str], after: list[str]) -> dict[str, Any]:
    """What click makes of the words, in the names and forms of the table."""
    group = pages._group()
    outer = group.make_context("hardwon", [*before, verb.name], resilient_parsing=False)
    command = group.commands[verb.name]
    inner = command.make_context(verb.name, list(after), parent=outer)
    found: dict[str, Any] = {}
    for name, value in [*outer.params.items(), *inner.params.items()]:
        if value not in (None, (), False):
            found[name.replace("_", "-")] = list(value) if isinstance(value, tuple) else value
    for argument in verb.arguments:
        if argument.joined and argument.name in found:
            found[argument.name] = " ".join(found[argument.name])
    return found


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(command_lines())
def test_click_would_understand_the_same(line: tuple[Verb, list[str], list[str]]) -> None:
    verb, before, after = line
    forms = {item.name: item.form for item in (*verb.options, *GLOBALS)}
    ours = {name: value for name, value in parse([*before, verb.name, *after]).given.items() if value != []}
    theirs = by_click(verb, before, after)
    for name, value in theirs.items():
        if forms.get(name) == "number":
            theirs[name] = int(value)
        elif forms.get(name) in ("age", "moment"):
            units = {"m": 60, "h": 3600, "d": DAY, "w": 7 * DAY, "y": 365 * DAY}
            ago = -1 if forms[name] == "moment" else 1
            theirs[name] = ago * int(value[:-1]) * units[value[-1]]
    assert ours == theirs


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_help_page_names_everything_of_the_table(verb: Verb) -> None:
    page = pages.help_page(verb)
    flat = " ".join(page.split())
    assert " ".join(verb.summary.split()) in flat
    for option in (*verb.options, *GLOBALS):
        assert f"--{option.name}" in page
        assert " ".join(option.help.split()) in flat
    for argument in verb.arguments:
        assert argument.name.upper() in page
    assert "Examples:" in page
    for example in verb.examples:
        assert example in page
        assert example.startswith(f"hardwon {verb.name}")


def test_the_table_is_sound() -> None:
    assert len(BY_NAME) == len(VERBS)
    for verb in VERBS:
        items = (*verb.options, *GLOBALS)
        names = [item.name for item in items]
        shorts = [item.short for item in items if item.short]
        assert len(set(names)) == len(names), verb.name
        assert len(set(shorts)) == len(shorts), verb.name
        assert verb.examples, verb.name
        assert all(item.form == "flag" or item.metavar for item in items), verb.name
        assert set(names).isdisjoint(argument.name for argument in verb.arguments), verb.name
    kinds = next(option for option in BY_NAME["record"].options if option.name == "kind").choices
    assert set(kinds) == set(KINDS) - {"change"}
    assert next(option for option in BY_NAME["record"].options if option.name == "outcome").choices == OUTCOMES
