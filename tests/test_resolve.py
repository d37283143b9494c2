"""Whom a call means: rules of each language, on small trees that real parsers read; and calls that mean nothing of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.code import heads, source
from hardwon.code.calling import GO, JAVA, PYTHON, RUST, SCRIPT, C, family
from hardwon.code.outline import Call
from hardwon.code.resolve import CERTAIN, Resolver, is_alike, split
from tests.codetree import reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PYTHON_TREE = {
    "src/shop/__init__.py": "from .store import Store\nfrom .helpers import clean as tidy\n",
    "src/shop/store.py": (
        "import os\nfrom shop.base import Base\nfrom . import helpers\nfrom .helpers import *\n\n\n"
        "class Store(Base):\n"
        "    def put(self, item):\n"
        "        self.check(item)\n"
        "        self.audit(item)\n"
        "        helpers.clean(item)\n"
        "        os.path.join('a', item)\n"
        "        self.unknown_thing(item)\n\n"
        "    def check(self, item):\n"
        "        return scrub(item)\n\n"
        "    def audit(self, item):\n"
        "        super().audit(item)\n\n\n"
        "def open_store() -> Store:\n"
        "    return Store()\n"
    ),
    "src/shop/base.py": "class Base:\n    def audit(self, item):\n        print(item)\n\n    def close_everything(self):\n        pass\n",
    "src/shop/helpers.py": "def clean(item):\n    return item.strip()\n\n\ndef scrub(item):\n    return clean(item)\n",
    "src/shop/types.py": "class Order:\n    def settle(self):\n        pass\n\n    def get(self):\n        pass\n",
    "src/shop/use.py": (
        "import types\nimport shop.helpers\nimport shop\nfrom shop import Store, tidy\nfrom shop.store import open_store as begin\n"
        "import typing as t\n\n\n"
        "def run(store: Store, other: 't.Optional[Store]', clean, anything):\n"
        "    store.put(1)\n"
        "    other.check(2)\n"
        "    clean(3)\n"
        "    tidy(4)\n"
        "    shop.helpers.clean(5)\n"
        "    shop.Store()\n"
        "    begin().check(6)\n"
        "    anything.close_everything()\n"
        "    anything.get()\n"
        "    order.get()\n"
        "    types.coroutine(run)\n"
        "    store.close_everything()\n"
        "    len(anything)\n"
        "    'a'.join(anything)\n"
        "    begin().put(7).check(8)\n\n\n"
        "def late():\n    from .helpers import clean as f\n    f(1)\n\n\n"
        "def later():\n    from .helpers import scrub as f\n    f(1)\n\n\n"
        "def outer():\n    def inner():\n        return inner2()\n\n    def inner2():\n        return 1\n\n    return inner()\n"
    ),
    "tests/test_shop.py": "class Fake:\n    def special_fake(self):\n        pass\n\n\ndef test_it(x):\n    x.special_fake()\n",
    "src/shop/more.py": "def f(x):\n    x.special_fake()\n",
}


def meant(tree: Mapping[str, str], folder: Path, path: str, written: str) -> str:
    """The likeliest target of the first call in a file that is written so, as ``path:symbol why``; "" where none is likely."""
    with reading(folder, tree) as reader:
        call = next(c for c in reader.calls_in(path) if (f"{c.receiver}.{c.name}" if c.receiver else c.name) == written)
        found = Resolver(reader).targets(path, call)
    likely = [one for one in found if one.certainty >= CERTAIN]
    return f"{likely[0].path}:{likely[0].symbol} {likely[0].why}" if likely else ""


@pytest.mark.parametrize(
    ("path", "written", "expected"),
    [
        ("src/shop/store.py", "self.check", "src/shop/store.py:Store.check receiver"),
        ("src/shop/store.py", "super().audit", "src/shop/base.py:Base.audit receiver"),
        ("src/shop/store.py", "helpers.clean", "src/shop/helpers.py:clean import"),
        ("src/shop/store.py", "os.path.join", ""),
        ("src/shop/store.py", "self.unknown_thing", ""),
        ("src/shop/store.py", "scrub", "src/shop/helpers.py:scrub import"),
        ("src/shop/store.py", "Store", "src/shop/store.py:Store same file"),
        ("src/shop/helpers.py", "clean", "src/shop/helpers.py:clean same file"),
        ("src/shop/use.py", "store.put", "src/shop/store.py:Store.put receiver"),
        ("src/shop/use.py", "other.check", "src/shop/store.py:Store.check receiver"),
        ("src/shop/use.py", "clean", ""),  # a parameter
        ("src/shop/use.py", "tidy", "src/shop/helpers.py:clean import"),
        ("src/shop/use.py", "shop.helpers.clean", "src/shop/helpers.py:clean import"),
        ("src/shop/use.py", "shop.Store", "src/shop/store.py:Store import"),
        ("src/shop/use.py", "begin().check", "src/shop/store.py:Store.check receiver"),
        ("src/shop/use.py", "anything.close_everything", "src/shop/base.py:Base.close_everything unique name"),
        ("src/shop/use.py", "order.get", "src/shop/types.py:Order.get receiver's name"),
        ("src/shop/use.py", "anything.get", ""),
        ("src/shop/use.py", "types.coroutine", ""),  # the library's, not the file of that name in the package
        ("src/shop/use.py", "store.close_everything", "src/shop/base.py:Base.close_everything receiver"),
        ("src/shop/use.py", "len", ""),
        ("src/shop/use.py", "'a'.join", ""),
        ("src/shop/use.py", "inner2", "src/shop/use.py:outer.inner2 same file"),
        ("tests/test_shop.py", "x.special_fake", "tests/test_shop.py:Fake.special_fake unique name"),
        ("src/shop/more.py", "x.special_fake", ""),  # what tests declare is for tests
    ],
)
def test_python(tmp_path: Path, path: str, written: str, expected: str) -> None:
    assert meant(PYTHON_TREE, tmp_path, path, written) == expected


def test_one_name_that_two_functions_import_as_different_things(tmp_path: Path) -> None:
    with reading(tmp_path, PYTHON_TREE) as reader:
        resolver = Resolver(reader)
        calls = [call for call in reader.calls_in("src/shop/use.py") if call.name == "f"]
        found = [resolver.targets("src/shop/use.py", call)[0].symbol for call in calls]
    assert found == ["clean", "scrub"]


SCRIPT_TREE = {
    "packages/kit/src/index.ts": 'export * from "./shapes.js";\n'
    'export { make as build } from "./make.js";\nexport * as math from "./math";\n',
    "packages/kit/src/shapes.ts": (
        "export interface Sized {\n  area(): number;\n}\n"
        "export class Shape implements Sized {\n  area() { return this.side(); }\n  side() { return 1; }\n  scaleUp() {}\n}\n"
        "export class Square extends Shape {\n  grow() { super.scaleUp(); this.area(); }\n}\n"
    ),
    "packages/kit/src/make.ts": 'import { Square } from "./shapes.js";\nexport const make = (): Square => new Square();\n',
    "packages/kit/src/math/index.ts": "export function half(x: number) { return x / 2; }\n",
    "packages/kit/src/Panel.tsx": "export default class Panel {\n  draw() {}\n}\n",
    "app/main.ts": (
        'import * as kit from "kit";\nimport { build, math } from "kit";\nimport Panel from "../packages/kit/src/Panel";\n'
        'import { readFile } from "fs";\nimport type { Sized } from "../packages/kit/src/shapes";\n'
        "const shape = new kit.Square();\nconst sized: Sized = build();\n"
        "export function main(s: Sized, callback: () => void) {\n"
        "  s.area();\n  kit.build().grow();\n  build();\n  math.half(2);\n  new Panel().draw();\n  readFile('x');\n"
        "  callback();\n  shape.grow();\n  sized.area();\n  [1].map(String);\n  console.log(1);\n  thing.scaleUp();\n  thing.push(1);\n}\n"
    ),
    "lib/old.js": "const make = require('./made');\nmodule.exports.run = function () { make.it(); };\n",
    "lib/made.js": "exports.it = function () {};\n",
}


@pytest.mark.parametrize(
    ("path", "written", "expected"),
    [
        ("packages/kit/src/shapes.ts", "this.side", "packages/kit/src/shapes.ts:Shape.side receiver"),
        ("packages/kit/src/shapes.ts", "this.area", "packages/kit/src/shapes.ts:Shape.area receiver"),
        ("packages/kit/src/shapes.ts", "super.scaleUp", "packages/kit/src/shapes.ts:Shape.scaleUp receiver"),
        ("packages/kit/src/make.ts", "Square", "packages/kit/src/shapes.ts:Square import"),
        ("app/main.ts", "s.area", "packages/kit/src/shapes.ts:Sized.area receiver"),
        ("app/main.ts", "build", "packages/kit/src/make.ts:make import"),
        ("app/main.ts", "kit.build", "packages/kit/src/make.ts:make import"),
        ("app/main.ts", "kit.build().grow", "packages/kit/src/shapes.ts:Square.grow receiver"),
        ("app/main.ts", "math.half", "packages/kit/src/math/index.ts:half import"),
        ("app/main.ts", "Panel", "packages/kit/src/Panel.tsx:Panel import"),
        ("app/main.ts", "new Panel().draw", "packages/kit/src/Panel.tsx:Panel.draw receiver"),
        ("app/main.ts", "readFile", ""),
        ("app/main.ts", "callback", ""),
        ("app/main.ts", "shape.grow", "packages/kit/src/shapes.ts:Square.grow receiver"),
        ("app/main.ts", "sized.area", "packages/kit/src/shapes.ts:Sized.area receiver"),
        ("app/main.ts", "[1].map", ""),
        ("app/main.ts", "console.log", ""),
        ("app/main.ts", "thing.scaleUp", "packages/kit/src/shapes.ts:Shape.scaleUp unique name"),
        ("app/main.ts", "thing.push", ""),
        ("lib/old.js", "make.it", "lib/made.js:it import"),
    ],
)
def test_typescript_and_javascript(tmp_path: Path, path: str, written: str, expected: str) -> None:
    assert meant(SCRIPT_TREE, tmp_path, path, written) == expected


GO_TREE = {
    "engine.go": (
        'package web\n\nimport (\n\t"fmt"\n\t"example.com/me/web/render"\n\tr "example.com/me/web/internal/rules"\n\t'
        '"github.com/stretchr/testify/assert"\n)\n\n'
        "type Group struct{}\n\nfunc (g *Group) Handle(path string) {}\n\n"
        "type Engine struct {\n\tGroup\n}\n\nfunc New() *Engine { return &Engine{} }\n\n"
        "func (engine *Engine) Run(c *Context, w render.Writer) {\n"
        '\tengine.start()\n\tengine.Handle("/")\n\tc.Next()\n\tw.Flush()\n\trender.Page(w)\n\tr.Check()\n\tfmt.Println(1)\n'
        "\tassert.Equal(1, 2)\n\tNew().start()\n\thelper()\n\tgo func(c *Context) { c.Next() }(c)\n}\n\n"
        "func (engine *Engine) start() {}\n"
    ),
    "context.go": "package web\n\ntype Context struct{}\n\nfunc (c *Context) Next() {}\nfunc (c *Context) Get() {}\nfunc helper() {}\n",
    "render/render.go": "package render\n\ntype Writer interface {\n\tFlush()\n}\n\nfunc Page(w Writer) { w.Flush() }\n",
    "internal/rules/rules.go": "package rules\n\nfunc Check() {}\n",
    "use_test.go": "package web\n\nfunc TestRun() {\n\tc := make()\n\tc.Get()\n\tresponse.Get()\n}\n",
}


@pytest.mark.parametrize(
    ("path", "written", "expected"),
    [
        ("engine.go", "engine.start", "engine.go:Engine.start receiver"),
        ("engine.go", "engine.Handle", "engine.go:Group.Handle receiver"),  # embedded
        ("engine.go", "c.Next", "context.go:Context.Next receiver"),
        ("engine.go", "w.Flush", "render/render.go:Writer.Flush receiver"),
        ("engine.go", "render.Page", "render/render.go:Page import"),
        ("engine.go", "r.Check", "internal/rules/rules.go:Check import"),
        ("engine.go", "fmt.Println", ""),
        ("engine.go", "assert.Equal", ""),
        ("engine.go", "New().start", "engine.go:Engine.start receiver"),
        ("engine.go", "helper", "context.go:helper same package"),
        ("engine.go", "Engine", "engine.go:Engine same file"),
        ("use_test.go", "c.Get", "context.go:Context.Get receiver's name"),  # as the package calls a Context everywhere
        ("use_test.go", "response.Get", ""),
        ("use_test.go", "make", ""),
    ],
)
def test_go(tmp_path: Path, path: str, written: str, expected: str) -> None:
    assert meant(GO_TREE, tmp_path, path, written) == expected


RUST_TREE = {
    "src/lib.rs": "pub mod store;\nmod util;\nuse crate::store::Store;\n\n"
    "pub fn open() -> Store { Store::new(1) }\npub fn go() { open().put(2); util::clean(3); }\n",
    "src/store.rs": (
        "use super::util::clean;\nuse std::fs;\npub struct Store;\nimpl Store {\n"
        "    pub fn new(x: u8) -> Self { clean(x); Self::check(); Store }\n"
        "    fn check() {}\n    pub fn put(&self, x: u8) { self.flush_all(); fs::write(x); }\n    fn flush_all(&self) {}\n}\n"
    ),
    "src/util.rs": "pub fn clean(x: u8) {}\npub fn both(s: &crate::store::Store) { s.put(1); }\n",
}


@pytest.mark.parametrize(
    ("path", "written", "expected"),
    [
        ("src/lib.rs", "Store.new", "src/store.rs:Store.new receiver"),
        ("src/lib.rs", "open().put", "src/store.rs:Store.put receiver"),
        ("src/lib.rs", "util.clean", "src/util.rs:clean import"),
        ("src/store.rs", "clean", "src/util.rs:clean import"),
        ("src/store.rs", "Self.check", "src/store.rs:Store.check receiver"),
        ("src/store.rs", "self.flush_all", "src/store.rs:Store.flush_all receiver"),
        ("src/store.rs", "fs.write", ""),
        ("src/util.rs", "s.put", "src/store.rs:Store.put receiver"),
    ],
)
def test_rust(tmp_path: Path, path: str, written: str, expected: str) -> None:
    assert meant(RUST_TREE, tmp_path, path, written) == expected


JAVA_TREE = {
    "src/main/java/org/shop/Base.java": "package org.shop;\npublic class Base {\n  protected void audit() {}\n}\n",
    "src/main/java/org/shop/Store.java": (
        "package org.shop;\nimport org.shop.util.Tool;\nimport static org.shop.util.Tool.clean;\nimport java.util.List;\n"
        "public class Store extends Base {\n  Store() { super(); }\n"
        "  void put(Tool tool, List<String> list) {\n    audit(); this.check(); tool.fix(); clean(1);\n"
        "    Tool.clean(2); list.add(3); new Tool().fix(); }\n"
        "  private void check() { Peer.hello(); }\n}\n"
    ),
    "src/main/java/org/shop/Peer.java": "package org.shop;\nclass Peer {\n  static void hello() {}\n}\n",
    "src/main/java/org/shop/util/Tool.java": "package org.shop.util;\npublic class Tool {\n"
    "  public void fix() {}\n  public static void clean(int x) {}\n}\n",
}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("audit", "Base.java:Base.audit same package"),
        ("this.check", "Store.java:Store.check receiver"),
        ("tool.fix", "util/Tool.java:Tool.fix receiver"),
        ("clean", "util/Tool.java:Tool.clean import"),
        ("Tool.clean", "util/Tool.java:Tool.clean receiver"),
        ("list.add", ""),
        ("new Tool().fix", "util/Tool.java:Tool.fix receiver"),
        ("Tool", "util/Tool.java:Tool import"),
        ("Peer.hello", "Peer.java:Peer.hello receiver"),
    ],
)
def test_java(tmp_path: Path, written: str, expected: str) -> None:
    found = meant(JAVA_TREE, tmp_path, "src/main/java/org/shop/Store.java", written)
    assert found.removeprefix("src/main/java/org/shop/") == expected


C_TREE = {
    "lib/net.h": "#ifndef NET_H\nint net_open(const char *name);\n#endif\n",
    "lib/net.c": '#include "net.h"\nstatic int check(int x) { return x; }\nint net_open(const char *name) { return check(1); }\n',
    "src/main.c": '#include "../lib/net.h"\n#include <stdio.h>\nstatic int check(int x) { return 2; }\n'
    'int main(void) { printf("x"); check(1); return net_open("y"); }\n',
    "gui/window.hpp": "namespace gui {\nclass Base { public: void close(); };\n"
    "class Window : public Base { public: void draw(); void paint() { draw(); this->close(); } };\n}\n",
    "gui/window.cpp": '#include "window.hpp"\nvoid gui::Base::close() {}\nvoid gui::Window::draw() { paint(); }\n'
    "void refresh(gui::Window &w, int n) { w.draw(); }\n",
}


@pytest.mark.parametrize(
    ("path", "written", "expected"),
    [
        ("lib/net.c", "check", "lib/net.c:check same file"),
        ("src/main.c", "check", "src/main.c:check same file"),
        ("src/main.c", "printf", ""),
        ("gui/window.hpp", "this.close", "gui/window.hpp:gui.Base.close receiver"),
    ],
)
def test_c_and_cpp(tmp_path: Path, path: str, written: str, expected: str) -> None:
    assert meant(C_TREE, tmp_path, path, written) == expected


@pytest.mark.parametrize(("path", "written", "ends"), [
    ("src/main.c", "net_open", "net_open"), ("gui/window.hpp", "draw", "Window.draw"), ("gui/window.cpp", "paint", "Window.paint"),
    ("gui/window.cpp", "w.draw", "Window.draw"),
])  # fmt: skip
def test_what_a_header_declares_and_another_file_defines_is_one(tmp_path: Path, path: str, written: str, ends: str) -> None:
    assert meant(C_TREE, tmp_path, path, written).split(":")[1].split(" ")[0].endswith(ends)


def test_several_of_one_name_are_told_as_unsure(tmp_path: Path) -> None:
    tree = {
        "a.py": "class A:\n    def recompute(self):\n        pass\n",
        "b.py": "class B:\n    def recompute(self):\n        pass\n",
        "c.py": "def f(x):\n    x.recompute()\n",
    }
    with reading(tmp_path, tree) as reader:
        found = Resolver(reader).targets("c.py", reader.calls_in("c.py")[0])
    assert [(one.path, one.symbol) for one in found] == [("a.py", "A.recompute"), ("b.py", "B.recompute")]
    assert {one.why for one in found} == {"name only"}
    assert sum(one.certainty for one in found) < CERTAIN


def test_a_base_stands_for_those_that_build_on_it(tmp_path: Path) -> None:
    tree = {
        "a.py": "class A:\n    def recompute(self):\n        pass\n\n\nclass B(A):\n    def recompute(self):\n        pass\n",
        "c.py": "def f(x):\n    x.recompute()\n",
    }
    assert meant(tree, tmp_path, "c.py", "x.recompute") == "a.py:A.recompute unique name"


def test_circles_of_imports_and_bases_end(tmp_path: Path) -> None:
    tree = {
        "a.py": "from b import *\nfrom b import thing\nclass A(B):\n    def f(self):\n        self.nothing_here()\n        thing()\n",
        "b.py": "from a import *\nfrom a import thing\nclass B(A):\n    pass\n",
        "x.ts": 'export * from "./y";\nexport const p = q;\n',
        "y.ts": 'export * from "./x";\nimport { z } from "./x";\nexport const q = p;\nz();\nq.run();\n',
    }
    assert meant(tree, tmp_path, "a.py", "thing") == ""
    assert meant(tree, tmp_path, "a.py", "self.nothing_here") == ""
    assert meant(tree, tmp_path, "y.ts", "z") == ""
    assert meant(tree, tmp_path, "y.ts", "q.run") == ""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a", [("a", False)]),
        ("a.b(x, (y)).c", [("a", False), ("b", True), ("c", False)]),
        ("new A()", [("A", True)]),
        ("ns::A()", [("ns", False), ("A", True)]),
        ("p->q", [("p", False), ("q", False)]),
        ("a?.b!.c", [("a", False), ("b", False), ("c", False)]),
        ("a[0]", []),
        ("'text'", []),
        ("a + b", []),
        ("f(x", []),
        ("", []),
    ],
)
def test_expressions_are_split_into_names(expression: str, expected: list[tuple[str, bool]]) -> None:
    assert split(expression) == expected


@pytest.mark.parametrize(
    ("variable", "name", "expected"),
    [
        ("runner", "CliRunner", True), ("ctx", "Context", True), ("cmd", "Command", True), ("router", "RouterGroup", True),
        ("my_store", "Store", True), ("engine", "Engine", True), ("x", "X", False), ("data", "Database", False), ("ctx", "Engine", False),
        ("result", "Runner", False), ("", "A", False),
    ],
)  # fmt: skip
def test_variables_that_are_called_after_their_class(variable: str, name: str, expected: bool) -> None:
    assert is_alike(variable, name) is expected


@pytest.mark.parametrize(
    ("head", "name", "language", "expected"),
    [
        ("def f(self, ctx: Context, x: t.Optional[Foo] = None) -> Bar", "x", PYTHON, "Foo"),
        ("def f(self, x: 'Foo | None' = g(1, 2))", "x", PYTHON, "Foo"),
        ("def f(self, x: Foo | Bar)", "x", PYTHON, ""),
        ("def f(a, *args: Foo)", "args", PYTHON, "Foo"),
        ("def f(a)", "b", PYTHON, None),
        ("func (c *Context) Get(key, other string, w http.ResponseWriter) (v any, ok bool)", "c", GO, "Context"),
        ("func (c *Context) Get(key, other string, w http.ResponseWriter) (v any, ok bool)", "key", GO, "string"),
        ("func (c *Context) Get(key, other string, w http.ResponseWriter) (v any, ok bool)", "w", GO, "http.ResponseWriter"),
        ("f(doc: Doc, g?: (x: A) => B, o: readonly Foo[]): Foo", "doc", SCRIPT, "Doc"),
        ("f(doc: Doc, g?: (x: A) => B, o: readonly Foo[]): Foo", "o", SCRIPT, "Foo"),
        ("f(doc: Doc, g?: (x: A) => B, o: readonly Foo[]): Foo", "x", SCRIPT, None),
        ("public static List<Foo> x(final Foo a, Map<K, V> m)", "a", JAVA, "Foo"),
        ("void f(const ns::Foo &x, Bar *y)", "x", C, "ns.Foo"),
        ("void f(const ns::Foo &x, Bar *y)", "y", C, "Bar"),
        ("pub fn f(&self, x: &mut Foo, y: Option<Box<dyn Bar>>) -> Self", "y", RUST, "Bar"),
    ],
)
def test_types_of_parameters(head: str, name: str, language: str, expected: str | None) -> None:
    assert heads.parameter(head, name, language) == expected


@pytest.mark.parametrize(
    ("head", "name", "language", "expected"),
    [
        ("def f(self, ctx: Context) -> Bar", "f", PYTHON, "Bar"),
        ("def f(self)", "f", PYTHON, ""),
        ("func New(a int) (*Engine, error)", "New", GO, "Engine"),
        ("func (e *E) New(a int) *Engine", "New", GO, "Engine"),
        ("func f()", "f", GO, ""),
        ("async make(x: A): Promise<Foo>", "make", SCRIPT, "Foo"),
        ("const make = (): Square =>", "make", SCRIPT, "Square"),
        ("public Foo x(final Foo a)", "x", JAVA, "Foo"),
        ("static int f(int x)", "f", C, "int"),
        ("pub fn f(&self) -> Result<X>", "f", RUST, "Result"),
    ],
)
def test_what_functions_give(head: str, name: str, language: str, expected: str) -> None:
    assert heads.returns(head, name, language) == expected


@settings(max_examples=300, deadline=None)
@given(st.text("abAB(){}[]<>,:=-|&* '\"./_$", max_size=60), st.sampled_from((PYTHON, SCRIPT, GO, RUST, JAVA, C)))
def test_no_head_and_no_receiver_breaks_the_reading(text: str, language: str) -> None:
    heads.parameter(text, "a", language)
    heads.returns(text, "a", language)
    heads.bases(text, language)
    heads.holds(text, "a", language)
    split(text)


def test_what_is_no_code_has_no_calls(tmp_path: Path) -> None:
    with reading(tmp_path, {"a.py": "f()\n"}) as reader:
        assert Resolver(reader).targets("README.md", Call("", "f", "", 1)) == []
        assert Resolver(reader).targets("nowhere.py", Call("", "f", "", 1)) == []


def test_every_language_of_the_index_belongs_to_a_family() -> None:
    for language, extensions in source._ENDINGS.items():
        assert all(family(f"a.{extension}") for extension in extensions), language
