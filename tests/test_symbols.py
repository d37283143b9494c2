"""Outlines of code: what is declared, called and imported in each language, and what a fingerprint does and does not see."""

from __future__ import annotations

import pickle
import re
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.code import spans
from hardwon.code.outline import Outline
from hardwon.code.source import LARGEST, language_of, skipped_content, skipped_path
from hardwon.code.symbols import outline

# One realistic file a language: path, text, symbols (name, kind, lines), calls (caller, name, receiver), imports (module, name, alias).
SAMPLES: dict[str, tuple[str, str, list[str], list[str], list[str]]] = {
    "python": (
        "a.py",
        '''
        from __future__ import annotations
        import os.path as p, sys
        from ..store import get as fetch, put
        LIMIT = 3

        # Comes before.
        @cache
        def outer(x):
            """What it does."""
            def inner():
                return fetch(x)
            return inner()

        class Pool(Base):
            SIZE: int = 1
            async def take(self, n):
                self.free.pop().use(n)
        ''',
        [
            "LIMIT constant 5-5", "outer function 8-13", "outer.inner function 11-12", "Pool class 15-18", "Pool.SIZE constant 16-16",
            "Pool.take method 17-18",
        ],
        ["outer cache ", "outer.inner fetch ", "outer inner ", "Pool.take pop self.free", "Pool.take use self.free.pop()"],
        ["__future__ annotations annotations", "os.path  p", "sys  sys", "..store get fetch", "..store put put"],
    ),
    "javascript": (
        "a.jsx",
        """
        const fs = require('fs');
        const {join, sep: s} = require('path');
        import def, * as all from './all';
        export {one as two} from './one';
        const api = { get(id) { return fetch(id); }, users: { put: async () => api.get(1) } };
        exports.send = function (x) { return new Mail(x); };
        App.prototype.run = () => {};
        export const View = () => <Panel><b.Item/></Panel>;
        class Box { open = () => this.lid?.lift(); #shut() {} }
        export default function () { lazy(import('./late')); }
        """,
        [
            "api constant 6-6", "api.get method 6-6", "api.users.put method 6-6", "send function 7-7", "App.run method 8-8",
            "View function 9-9", "Box class 10-10", "Box.open method 10-10", "Box.#shut method 10-10", "default function 11-11",
        ],
        [
            " require ", " require ", "api.get fetch ", "api.users.put get api", "send Mail ", "View Panel ", "View Item b",
            "Box.open lift this.lid", "default lazy ",
        ],
        ["fs  fs", "path join join", "path sep s", "./all default def", "./all * all", "./one one two", "./late  "],
    ),
    "typescript": (
        "a.ts",
        """
        import type { A } from "./a";
        import q = require("q");
        /** The shop. */
        @Injectable()
        export abstract class Shop<T> {
          total(): number;
          total(x?: number): number { return sum<T>(x!); }
          abstract close(): void;
        }
        namespace N.M { export function f(): void {} }
        export interface Till { count(a: string): void }
        type Id = string;
        enum Colour { Red }
        export const MAX = 3;
        """,
        [
            "Shop class 5-10", "Shop.total method 7-7", "Shop.total method 8-8", "Shop.close method 9-9", "N.M module 11-11",
            "N.M.f function 11-11",
            "Till interface 12-12", "Till.count method 12-12", "Id type 13-13", "Colour class 14-14", "MAX constant 15-15",
        ],
        ["Shop Injectable ", "Shop.total sum "],
        ["./a A A", "q  q"],
    ),
    "go": (
        "a.go",
        """
        package shop

        import (
            "fmt"
            j "encoding/json"
            "example.org/till/v2"
            _ "embed"
        )
        const (
            Open = iota
            Shut
        )
        var ErrEmpty = errors.New("empty")
        // Till counts.
        type Till[T any] struct{ n int }
        type Counter interface{ Count(x int) error }
        type Fn = func()
        func (t *Till[T]) Count(x int) error {
            go func() { t.log.Print(x) }()
            return fmt.Errorf("x", Map[int](x), &Till[int]{n: 1}, till.Box{})
        }
        """,
        [
            "Open constant 11-11", "Shut constant 12-12", "ErrEmpty constant 14-14", "Till class 16-16", "Counter interface 17-17",
            "Counter.Count method 17-17", "Fn type 18-18", "Till.Count method 19-22",
        ],
        ["ErrEmpty New errors", "Till.Count Print t.log", "Till.Count Errorf fmt", "Till.Count Map ", "Till.Count Till ",
         "Till.Count Box till"],
        ["fmt  fmt", "encoding/json  j", "example.org/till/v2  till", "embed  "],
    ),
    "rust": (
        "a.rs",
        """
        use std::{io::{self, Read as R}, fmt::*};
        extern crate foo as bar;
        /// A till.
        #[derive(Debug)]
        pub struct Till<T> { n: T }
        impl<T> Count for Till<T> {
            const MAX: u8 = 1;
            fn new(n: T) -> Self { println!("{}", shop.open(n)); Self { n } }
        }
        trait Count { fn count(&self); }
        mod inner { pub fn f() { super::g::<u8>(1); a.b().c(); Till::new(2); } }
        enum Colour { Red }
        macro_rules! twice { ($x:expr) => { $x } }
        type Id = u8;
        """,
        [
            "Till class 5-6", "Till.MAX constant 8-8", "Till.new method 9-9", "Count interface 11-11", "Count.count method 11-11",
            "inner module 12-12", "inner.f function 12-12", "Colour class 13-13", "twice function 14-14", "Id type 15-15",
        ],
        [
            "Till.new println ", "Till.new open shop", "Till.new Self ", "inner.f g super", "inner.f b a", "inner.f c a.b()",
            "inner.f new Till",
        ],
        ["std::io  io", "std::io Read R", "std::fmt * ", "foo  bar"],
    ),
    "java": (
        "A.java",
        """
        import static java.util.List.of;
        import java.io.*;
        import java.util.Map;
        /** Counts. */
        @Deprecated
        public class Till extends Box {
          static final int MAX = 1;
          private int n = 2;
          Till() { super.open(); }
          public void count() { log.at(1).say(of()); new Box.Lid(1) { void shut() {} }; }
          enum Colour { RED }
          record Pair(int a) {}
        }
        interface Counter { int LEAST = 1; void count(); }
        """,
        [
            "Till class 6-14", "Till.MAX constant 8-8", "Till.Till method 10-10", "Till.count method 11-11",
            "Till.count.shut method 11-11", "Till.Colour class 12-12", "Till.Pair class 13-13", "Counter interface 15-15",
            "Counter.LEAST constant 15-15", "Counter.count method 15-15",
        ],
        ["Till.Till open super", "Till.count at log", "Till.count say log.at(1)", "Till.count of ", "Till.count Lid Box"],
        ["java.util.List of of", "java.io * ", "java.util.Map  Map"],
    ),
    "c": (
        "a.c",
        """
        #include <stdio.h>
        #include "dir/a.h"
        #define TWICE(x) ((x) + \\
          (x))
        #define MOST 3
        static int count(int);
        int *other(void);
        typedef struct till { int n; } till;
        enum colour { RED };
        /* Counts. */
        static int count(int n) { t->log(n); return puts("x"); }
        """,
        [
            "TWICE function 4-5", "MOST constant 6-6", "other function 8-8", "till type 9-9", "colour class 10-10",
            "count function 12-12",
        ],
        ["count log t", "count puts "],
        ["stdio.h  ", "dir/a.h  "],
    ),
    "cpp": (
        "a.cc",
        """
        #include <vector>
        using std::string;
        namespace shop { template <class T> class Till : Box {
          public: Till(); ~Till() {} void count() const; bool operator==(const Till&) const { return true; }
        }; }
        template <> void shop::Till<int>::count() const { std::move<int>(x); this->log(); new Lid(1); a::b(); }
        using Id = int;
        constexpr int kMost = 3;
        """,
        [
            "shop module 4-6", "shop.Till class 4-6", "shop.Till.Till method 5-5", "shop.Till.~Till method 5-5",
            "shop.Till.operator== method 5-5", "shop.Till.count method 7-7", "Id type 8-8", "kMost constant 9-9",
        ],
        ["shop.Till.count move std", "shop.Till.count log this", "shop.Till.count Lid ", "shop.Till.count b a"],
        ["vector  ", "std string string"],
    ),
}  # fmt: skip


def read(path: str, text: str) -> Outline:
    return outline(path, dedent(text).encode())


@pytest.mark.parametrize("language", SAMPLES)
def test_a_file_of_each_language(language: str) -> None:
    path, text, symbols, calls, imports = SAMPLES[language]
    found = read(path, text)
    assert (found.language, found.skipped, found.broken) == (language, "", False)
    assert [f"{one.qualified} {one.kind} {one.first}-{one.last}" for one in found.symbols] == symbols
    assert [f"{one.caller} {one.name} {one.receiver}" for one in found.calls] == calls
    assert [f"{one.module} {one.name} {one.alias}" for one in found.imports] == imports
    assert pickle.loads(pickle.dumps(found)) == found


def test_tsx_has_types_and_components() -> None:
    found = read("a.tsx", "export const View = (p: Props) => <Panel a={go(p)}/>;\ninterface Props { a: string }\n")
    assert [one.qualified for one in found.symbols] == ["View", "Props"]
    assert [(one.caller, one.name) for one in found.calls] == [("View", "Panel"), ("View", "go")]


@pytest.mark.parametrize("language", SAMPLES)
def test_lines_are_found_again_and_broken_code_yields_what_parses(language: str) -> None:
    path, text, *_ = SAMPLES[language]
    content = dedent(text).encode()
    found = outline(path, content)
    for one in found.symbols:
        assert spans.Text(b"x\n\n" + content.replace(b"\n", b"\r\n")).find(one) is not None
    broken = outline(path, content + b"\n)]} <<< (((\n")
    assert broken.broken
    assert len(broken.symbols) >= len(found.symbols) - 1


@pytest.mark.parametrize(
    ("path", "text", "signature", "doc"),
    [
        ("a.py", '@d\ndef f(a,\n      b) -> int:\n    """Does\n    it."""\n', "def f(a, b) -> int", "Does"),
        ("a.ts", "/**\n * Does it.\n */\nexport const f = async (a) => { x }", "export const f = async (a) =>", "Does it."),
        ("a.go", "package m\n\n// F does.\n// More.\nfunc F(a int) error {\n}\n", "func F(a int) error", "F does."),
        ("a.rs", "/// Does.\n#[inline]\npub fn f<T>(a: T) -> u8 { 1 }", "pub fn f<T>(a: T) -> u8", "Does."),
        ("a.c", "int x; /* not this */\nint f(void);\n", "int f(void)", ""),
        ("a.java", "class A {}\n\n// no\n\nclass B<T> extends C {}", "class A", ""),
    ],
)
def test_signature_and_doc(path: str, text: str, signature: str, doc: str) -> None:
    one = outline(path, text.encode()).symbols[0]
    assert (one.signature, one.doc) == (signature, doc)


# --- fingerprints


def mark(path: str, text: str) -> str:
    return outline(path, text.encode()).symbols[0].fingerprint


SAME = [
    (
        "a.py",
        "def f(a):\n  return a+1\n",
        "def f( a, ):\n    # why\n\n    return (a\n      + 1)\n".replace("(a\n      + 1)", "a + 1"),
    ),
    ("a.py", "def f(a):\n    return g(a)\n", 'def other(a):\n    """Doc."""\n    return g(\n        a,\n    )\n'),
    ("a.js", "function f(a){return g(a)}", "function h (a) {\n  // x\n  return g(a);\n}"),
    ("a.go", "package m\nfunc F(a int) { g(a, b) }", "package m\nfunc H(a int) {\n\tg(\n\t\ta, /* x */\n\t\tb,\n\t)\n}"),
    ("a.rs", "fn f(a: u8) -> u8 { g(a) }", "fn h(a: u8,) -> u8\n{\n    /// x\n    g(a)\n}"),
    ("a.java", "class A { void f(int a) { g(a); } }", "class B{\r\n  void f(int a)\r\n  { g(a); /* x */ }\r\n}"),
    ("a.c", "int f(int *a) { return g(a); }", "int h(int * a)\n{\n  return g(a); // x\n}"),
    ("a.cpp", "int f(vector<vector<int>> a) { return g(a); }", "int h(vector<vector<int> > a) {\n return g( a ); }"),
]
OTHER = [
    ("a.py", "def f(a):\n    if a:\n        x()\n    y()\n", "def f(a):\n    if a:\n        x()\n        y()\n"),
    ("a.py", "def f():\n    return (a,)\n", "def f():\n    return (a)\n"),
    ("a.py", 'def f():\n    return "a  b"\n', 'def f():\n    return "a b"\n'),
    ("a.py", 'def f():\n    return "f"\n', 'def f():\n    return "g"\n'),
    ("a.py", 'def f():\n    return "a \\n"\n', 'def f():\n    return "a\\n"\n'),
    ("a.js", "function f() { for (;;x) {} }", "function f() { for (x;;) {} }"),
    ("a.js", "function f() { return /a b/ }", "function f() { return /ab/ }"),
    ("a.rs", "fn f() { g((a,)) }", "fn f() { g((a)) }"),
    ("a.rs", "fn f() -> u8 { g() }", "fn f() -> u8 { g(); }"),
    ("a.go", "package m\nfunc F() { a == b }", "package m\nfunc F() { a != b }"),
    ("a.c", "char f(void) { return ' '; }", "char f(void) { return '\t'; }"),
    ("a.java", "class A { int f() { return 1; } }", "class A { int f() { return 2; } }"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "one", "other"), SAME)
def test_layout_comments_and_the_own_name_do_not_count(path: str, one: str, other: str) -> None:
    assert mark(path, one) == mark(path, other)


@pytest.mark.parametrize(("path", "one", "other"), OTHER)
def test_what_the_code_does_counts(path: str, one: str, other: str) -> None:
    assert mark(path, one) != mark(path, other)


def test_a_method_keeps_its_fingerprint_wherever_it_stands_in_its_class() -> None:
    methods = ["    def a(self):\n        if x:\n            return 1\n", "    def b(self):\n        return 2\n"]
    for order in (methods, methods[::-1]):
        found = {one.qualified: one for one in outline("a.py", ("class A:\n" + "".join(order)).encode()).symbols}
        assert {name: found[name].fingerprint for name in ("A.a", "A.b")} == {
            "A.a": outline("a.py", dedent(methods[0]).encode()).symbols[0].fingerprint,
            "A.b": outline("a.py", dedent(methods[1]).encode()).symbols[0].fingerprint,
        }


WORDS = st.sampled_from(["a", "b", "count", "1", "2.5", "'s t'", "x.y", "g(a)", "(a)"])
LINE = st.tuples(WORDS, st.sampled_from(["+", "-", "*", "==", "<", "and"]), WORDS)


@settings(deadline=None, max_examples=60)
@given(st.lists(LINE, min_size=1, max_size=6), st.data())
def test_python_reformatted_is_the_same_and_changed_is_not(lines: list[tuple[str, str, str]], data: st.DataObject) -> None:
    def text(name: str, indent: str, space: str, between: str, rows: list[tuple[str, str, str]]) -> str:
        body = [f"{indent}v = {one}{space or (' ' if sign == 'and' else '')}{sign}{space or ' '}{two}" for one, sign, two in rows]
        return f"def {name}(a, b):\n" + between.join(f"{line}\n" for line in body)

    plain = mark("a.py", text("first", "  ", " ", "", lines))
    spaces, indent = data.draw(st.sampled_from(["", " ", "   "])), data.draw(st.sampled_from(["\t", "    "]))
    between = data.draw(st.sampled_from(["", "\n", "# words\n"]))
    assert mark("a.py", text("second", indent, spaces, between, lines)) == plain
    assert mark("a.py", text("first", "  ", " ", "", lines).replace("\n", "\r\n")) == plain
    place = data.draw(st.integers(0, len(lines) - 1))
    one, sign, two = lines[place]
    changed = [*lines[:place], (one, "or" if sign != "or" else "and", two), *lines[place + 1 :]]
    assert mark("a.py", text("first", "  ", " ", "", changed)) != plain


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_comments_and_blank_lines_change_no_fingerprint(language: str, data: st.DataObject) -> None:
    path, text, *_ = SAMPLES[language]
    lines = dedent(text).splitlines()
    sign = "#" if language == "python" else "//"
    safe = [number for number, line in enumerate(lines) if not line.endswith("\\") and "/*" not in line]
    for number in sorted(data.draw(st.sets(st.sampled_from(safe), max_size=4)), reverse=True):
        if "#define" not in lines[number] and not lines[number - 1].endswith("\\"):
            lines[number] += f"  {sign} words"
        lines.insert(number + 1, "")
    before = [(one.qualified, one.fingerprint, one.tokens) for one in read(path, text).symbols]
    assert [(one.qualified, one.fingerprint, one.tokens) for one in outline(path, "\n".join(lines).encode()).symbols] == before


# --- what is not read


@pytest.mark.parametrize(
    "above", ["@Override public void g() { h(); }", "@Inject private A a;", "@A X, // why", "@Override void g() {} // {x"]
)
def test_a_declaration_with_an_annotation_in_its_line_annotates_nothing_below(above: str) -> None:
    one = next(s for s in outline("A.java", b"class A {\n  void f() {\n    g();\n  }\n}\n").symbols if s.name == "f")
    below = "  void f() {\n    g();\n  }\n}\n"
    assert spans.Text(f"class A {{\n  {above}\n{below}".encode()).find(one) == (3, 5)
    for annotation in ("@Override", '@Named("http://x")', '@Suppress({"a", "b"})', "#[test]"):
        assert spans.Text(f"class A {{\n  {annotation}\n{below}".encode()).find(one) is None


def test_languages_by_name() -> None:
    for path, language in (
        ("a.py", "python"), ("x/b.pyi", "python"), ("a.MJS", "javascript"), ("a.d.ts", "typescript"), ("a.h", "c"), ("a.C", ""),
        ("Makefile", ""), (".py", ""), ("a.txt", ""), ("a", ""),
    ):  # fmt: skip
        assert language_of(path) == language, path


def test_paths_that_are_not_read() -> None:
    for path, reason in (
        ("a.txt", "language"), ("vendor/x/a.go", "vendored"), ("web/node_modules/a/b.js", "vendored"), ("dist/a.js", "vendored"),
        ("src/dist/a.go", ""), ("build/tool.py", ""), ("build/lib/a.py", "vendored"), ("external/a.c", "vendored"),
        ("src/external/a.c", ""), ("a_pb2.py", "generated"), ("a.pb.go", "generated"), ("a.min.js", "generated"),
        ("a_generated.h", "generated"), ("a.py", ""), ("vendor.py", ""),
    ):  # fmt: skip
        assert skipped_path(path) == reason, path
    assert skipped_path("a.py", LARGEST + 1) == "large"


def test_texts_that_are_not_read() -> None:
    for content, reason in (
        (b"a\0b", "binary"), (b"x" * (LARGEST + 1), "large"), (b"// Code generated by x. DO NOT EDIT.\n", "generated"),
        (b"# @generated by y\n", "generated"), (b"/* GENERATED CODE */\n", "generated"), (b"s = '@generated'\n", ""),
        (b"# ids are generated here\n", ""), (b"var a=1;" * 1000, "generated"), (b"", ""), (b"\xff\xfe", ""),
    ):  # fmt: skip
        assert skipped_content(content) == reason, content[:40]
    assert outline("a.py", b"x\0").skipped == "binary"
    assert outline("a.txt", b"x").skipped == "language"


def test_a_header_of_cpp_is_read_as_such() -> None:
    assert outline("a.h", b"namespace a { class B { void f(); }; }\n").language == "cpp"
    assert outline("a.h", b"/* a class of\n * namespace */\nint f(void);\n").language == "c"


def test_positions_are_the_same_whatever_ends_a_line() -> None:
    path, text, *_ = SAMPLES["go"]
    plain = dedent(text).encode()
    for end in (b"\r\n", b"\r"):
        assert outline(path, plain.replace(b"\n", end)) == outline(path, plain)
    assert outline(path, b"\xef\xbb\xbf" + plain) == outline(path, plain)


def test_every_pattern_of_every_query_is_used_for_something() -> None:
    from hardwon.code.grammar import GRAMMARS, load

    for language in GRAMMARS:
        loaded = load(language)
        assert len(loaded.roles) == loaded.query.pattern_count
    assert not re.search(r"[^\x00-\x7f]", "".join(GRAMMARS))
