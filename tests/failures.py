"""Stack traces as programs print them, and what is to be read of them. Most were printed by the interpreters themselves (Python 3.11,
Node 20, Go 1.19, Rust 1.95, Java 17), with their folders renamed; the others follow what each is documented to print."""

# ruff: noqa: E101, E501, W291 - the logs stand here as they were printed

from __future__ import annotations

Frame = tuple[str, int, str]
# language, kind, message, frames innermost first
Told = tuple[str, str, str, list[Frame]]

CASES: dict[str, tuple[str, list[Told]]] = {}


def case(name: str, text: str, *told: Told) -> None:
    """One log and the failures in it."""
    assert name not in CASES
    CASES[name] = (text.lstrip("\n"), list(told))


# --- Python

case(
    "python cause", """
Traceback (most recent call last):
  File "/srv/app/store.py", line 7, in chained
    Store().load("user_id")
  File "/srv/app/store.py", line 4, in load
    return {}[key]
           ~~^^^^^
KeyError: 'user_id'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/app/main.py", line 24, in <module>
    else: globals()[w]() if w != "rec" else rec(0)
          ^^^^^^^^^^^^^^
  File "/srv/app/store.py", line 9, in chained
    raise RuntimeError(f"cannot load 0x{id(e):x}") from e
RuntimeError: cannot load 0x7fb9e852f2e0
""",
    ("python", "KeyError", "'user_id'", [("/srv/app/store.py", 4, "load"), ("/srv/app/store.py", 7, "chained")]),
    ("python", "RuntimeError", "cannot load 0x7fb9e852f2e0", [("/srv/app/store.py", 9, "chained"), ("/srv/app/main.py", 24, "")]),
)  # fmt: skip
case(
    "python during", """
Traceback (most recent call last):
  File "a.py", line 12, in during
    int("abc")
ValueError: invalid literal for int() with base 10: 'abc'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 24, in <module>
  File "a.py", line 14, in during
    None.foo
AttributeError: 'NoneType' object has no attribute 'foo'
""",
    ("python", "ValueError", "invalid literal for int() with base 10: 'abc'", [("a.py", 12, "during")]),
    ("python", "AttributeError", "'NoneType' object has no attribute 'foo'", [("a.py", 14, "during"), ("a.py", 24, "")]),
)  # fmt: skip
case(
    "python group", """
  + Exception Group Traceback (most recent call last):
  |   File "/srv/app.py", line 24, in <module>
  |     else: globals()[w]() if w != "rec" else rec(0)
  |           ^^^^^^^^^^^^^^
  |   File "/srv/app.py", line 16, in group
  |     raise ExceptionGroup("batch", [ValueError("a 1"), TypeError("b")])
  | ExceptionGroup: batch (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: a 1
    +---------------- 2 ----------------
    | TypeError: b
    +------------------------------------
""",
    ("python", "ValueError", "a 1", []),
    ("python", "TypeError", "b", []),
    ("python", "ExceptionGroup", "batch (2 sub-exceptions)", [("/srv/app.py", 16, "group"), ("/srv/app.py", 24, "")]),
)  # fmt: skip
case(
    "python group of tasks", """
  + Exception Group Traceback (most recent call last):
  |   File "m.py", line 12, in <module>
  |     asyncio.run(main())
  |   File "m.py", line 9, in main
  |     async with asyncio.TaskGroup() as group:
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "m.py", line 4, in fetch
    |     raise ConnectionError("refused")
    | ConnectionError: refused
    +------------------------------------
Done.
""",
    ("python", "ConnectionError", "refused", [("m.py", 4, "fetch")]),
    ("python", "ExceptionGroup", "unhandled errors in a TaskGroup (1 sub-exception)", [("m.py", 9, "main"), ("m.py", 12, "")]),
)  # fmt: skip
case(
    "python syntax error imported", """
Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "/srv/bad.py", line 1
    def f(:
          ^
SyntaxError: invalid syntax
""",
    ("python", "SyntaxError", "invalid syntax", [("/srv/bad.py", 1, ""), ("<string>", 1, "")]),
)  # fmt: skip
case(
    "python syntax error alone", """
  File "/srv/bad.py", line 3
    print "x"
    ^^^^^^^^^
SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?
""",
    ("python", "SyntaxError", "Missing parentheses in call to 'print'. Did you mean print(...)?", [("/srv/bad.py", 3, "")]),
)  # fmt: skip
case(
    "python recursion", """
Traceback (most recent call last):
  File "a.py", line 24, in <module>
    rec(0)
  File "a.py", line 17, in rec
    def rec(n): return rec(n+1)
                       ^^^^^^^^
  [Previous line repeated 996 more times]
RecursionError: maximum recursion depth exceeded
""",
    ("python", "RecursionError", "maximum recursion depth exceeded", [("a.py", 17, "rec"), ("a.py", 24, "")]),
)  # fmt: skip
case(
    "python without a message", """
Traceback (most recent call last):
  File "a.py", line 2, in <module>
    assert x
AssertionError
""",
    ("python", "AssertionError", "", [("a.py", 2, "")]),
)  # fmt: skip
case(
    "python dotted type", """
Traceback (most recent call last):
  File "/srv/api/client.py", line 88, in get
    response.raise_for_status()
  File "/usr/lib/python3/dist-packages/requests/models.py", line 940, in raise_for_status
    raise HTTPError(http_error_msg, response=self)
requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.example.org/v1/users/17
""",
    ("python", "requests.exceptions.HTTPError", "404 Client Error: Not Found for url: https://api.example.org/v1/users/17",
     [("/usr/lib/python3/dist-packages/requests/models.py", 940, "raise_for_status"), ("/srv/api/client.py", 88, "get")]),
)  # fmt: skip
case(
    "python in a log with times", """
2026-11-30 09:00:00,123 INFO worker: start
2026-11-30 09:00:01,000 ERROR worker: Traceback (most recent call last):
2026-11-30 09:00:01,000 ERROR worker:   File "w.py", line 9, in run
2026-11-30 09:00:01,000 ERROR worker:     step()
2026-11-30 09:00:01,001 ERROR worker:   File "w.py", line 4, in step
2026-11-30 09:00:01,001 ERROR worker: OSError: [Errno 28] No space left on device
2026-11-30 09:00:02,000 INFO worker: next
""",
    ("python", "OSError", "[Errno 28] No space left on device", [("w.py", 4, "step"), ("w.py", 9, "run")]),
)  # fmt: skip
case(
    "python of a container", """
web_1  | Traceback (most recent call last):
web_1  |   File "/app/web/views.py", line 31, in index
web_1  |     return render(page)
web_1  | django.template.exceptions.TemplateDoesNotExist: index.html
db_1   | LOG: ready
""",
    ("python", "django.template.exceptions.TemplateDoesNotExist", "index.html", [("/app/web/views.py", 31, "index")]),
)  # fmt: skip
case(
    "python in a pipeline", """
2026-11-30T08:00:00.1234567Z Traceback (most recent call last):
2026-11-30T08:00:00.1234999Z   File "/builds/x/setup.py", line 3, in <module>
2026-11-30T08:00:00.1235111Z     import numpy
2026-11-30T08:00:00.1235222Z ModuleNotFoundError: No module named 'numpy'
2026-11-30T08:00:00.1299999Z ##[error]Process completed with exit code 1.
""",
    ("python", "ModuleNotFoundError", "No module named 'numpy'", [("/builds/x/setup.py", 3, "")]),
)  # fmt: skip
case(
    "python in colours", '\x1b[31mTraceback (most recent call last):\x1b[0m\n  File \x1b[35m"c.py"\x1b[0m, line \x1b[35m5\x1b[0m, in \x1b[35mf\x1b[0m\n'
    "    \x1b[1;31mg()\x1b[0m\n\x1b[1;35mTypeError\x1b[0m: \x1b[35mg() missing 1 required positional argument: 'x'\x1b[0m\n",
    ("python", "TypeError", "g() missing 1 required positional argument: 'x'", [("c.py", 5, "f")]),
)  # fmt: skip
case(
    "python on Windows", """
Traceback (most recent call last):\r
  File "C:\\Users\\ann\\app\\src\\db.py", line 14, in connect\r
    raise TimeoutError("5 s")\r
TimeoutError: 5 s\r
""",
    ("python", "TimeoutError", "5 s", [("C:\\Users\\ann\\app\\src\\db.py", 14, "connect")]),
)  # fmt: skip
case(
    "python within JSON",
    '{"level": "error", "exc": "Traceback (most recent call last):\\n  File \\"/srv/q.py\\", line 5, in pull\\n    x()\\nKeyError: 1"}',
    ("python", "KeyError", "1", [("/srv/q.py", 5, "pull")]),
)  # fmt: skip
case(
    "python crash", """
Fatal Python error: Segmentation fault

Current thread 0x00007f0000000700 (most recent call first):
  File "/srv/native.py", line 8 in call
  File "/srv/main.py", line 3 in <module>
""",
    ("python", "Fatal Python error", "Segmentation fault", [("/srv/native.py", 8, "call"), ("/srv/main.py", 3, "")]),
)  # fmt: skip
case(
    "python qualified names", """
Traceback (most recent call last):
  File "a.py", line 5, in Outer.make.<locals>.inner
  File "a.py", line 9, in Pool.get
LookupError: none
""",
    ("python", "LookupError", "none", [("a.py", 9, "Pool.get"), ("a.py", 5, "inner")]),
)  # fmt: skip
case(
    "python twice", """
Traceback (most recent call last):
  File "a.py", line 5, in f
ValueError: one
some words
Traceback (most recent call last):
  File "b.py", line 6, in g
ValueError: two
Traceback (most recent call last):
  File "a.py", line 5, in f
ValueError: one
""",
    ("python", "ValueError", "one", [("a.py", 5, "f")]),
    ("python", "ValueError", "two", [("b.py", 6, "g")]),
)  # fmt: skip
case(
    "pytest short", """
=================================== FAILURES ===================================
___________________________________ test_div ___________________________________
test_x.py:5: in test_div
    helper(0)
test_x.py:3: in helper
    return 1 / x
           ^^^^^
E   ZeroDivisionError: division by zero
________________________________ TestA.test_eq _________________________________
test_x.py:9: in test_eq
    assert a == [1, 3]
E   assert [1, 2] == [1, 3]
E     
E     At index 1 diff: 2 != 3
=========================== short test summary info ============================
FAILED test_x.py::test_div - ZeroDivisionError: division by zero
""",
    ("python", "ZeroDivisionError", "division by zero", [("test_x.py", 3, "helper"), ("test_x.py", 5, "test_div")]),
    ("python", "AssertionError", "assert [1, 2] == [1, 3]", [("test_x.py", 9, "test_eq")]),
)  # fmt: skip
case(
    "pytest long", """
___________________________________ test_div ___________________________________

    def test_div():
>       helper(0)

test_x.py:5: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

x = 0

    def helper(x):
>       return 1 / x
               ^^^^^
E       ZeroDivisionError: division by zero

test_x.py:3: ZeroDivisionError
________________________________ TestA.test_eq _________________________________

self = <test_x.TestA object at 0x7fc740fb6310>

    def test_eq(self):
        a = [1, 2]
>       assert a == [1, 3]
E       assert [1, 2] == [1, 3]
E         Use -v to get more diff

test_x.py:9: AssertionError
""",
    ("python", "ZeroDivisionError", "division by zero", [("test_x.py", 3, "helper"), ("test_x.py", 5, "test_div")]),
    ("python", "AssertionError", "assert [1, 2] == [1, 3]", [("test_x.py", 9, "test_eq")]),
)  # fmt: skip
case(
    "pytest one line each", """
E   ZeroDivisionError: division by zero
/srv/test_x.py:3: ZeroDivisionError: division by zero
/srv/test_x.py:9: assert [1, 2] == [1, 3]
""",
    ("python", "ZeroDivisionError", "division by zero", [("/srv/test_x.py", 3, "")]),
    ("python", "AssertionError", "assert [1, 2] == [1, 3]", [("/srv/test_x.py", 9, "")]),
)  # fmt: skip
case(
    "pytest summary alone", """
FAILED tests/test_x.py::TestA::test_eq[1-2] - assert 1 == 2
ERROR tests/test_y.py::test_fix - OSError: no db
""",
    ("python", "AssertionError", "assert 1 == 2", [("tests/test_x.py", 0, "TestA.test_eq")]),
    ("python", "OSError", "no db", [("tests/test_y.py", 0, "test_fix")]),
)  # fmt: skip

# --- JavaScript

_NODE = """
    at Module._compile (node:internal/modules/cjs/loader:1521:14)
    at node:internal/main/run_main_module:28:49
"""
_INNER: list[Frame] = [
    ("node:internal/modules/cjs/loader", 1521, "Module._compile"), ("node:internal/main/run_main_module", 28, ""),
]  # fmt: skip
case(
    "node type error", """
/srv/js/app.js:2
class Svc { load(k) { return undefined.user; } }
                                       ^

TypeError: Cannot read properties of undefined (reading 'user')
    at Svc.load (/srv/js/app.js:2:40)
    at Object.<anonymous> (/srv/js/app.js:6:29)""" + _NODE + """
Node.js v20.20.2
""",
    ("javascript", "TypeError", "Cannot read properties of undefined (reading 'user')",
     [("/srv/js/app.js", 2, "Svc.load"), ("/srv/js/app.js", 6, ""), *_INNER]),
)  # fmt: skip
case(
    "node cause", """
Error: outer 42
    at inner (/srv/js/app.js:4:44)
    at async main (/srv/js/app.js:3:37) {
  code: 'E_OUTER',
  [cause]: TypeError: inner
      at inner (/srv/js/app.js:4:75)
      at async main (/srv/js/app.js:3:37)
}
""",
    ("javascript", "TypeError", "inner", [("/srv/js/app.js", 4, "inner"), ("/srv/js/app.js", 3, "main")]),
    ("javascript", "Error", "outer 42", [("/srv/js/app.js", 4, "inner"), ("/srv/js/app.js", 3, "main")]),
)  # fmt: skip
case(
    "node system error", """
node:fs:573
  return binding.open(
                 ^

Error: ENOENT: no such file or directory, open '/nope/x.json'
    at Object.openSync (node:fs:573:18)
    at Object.<anonymous> (/srv/js/app.js:8:22) {
  errno: -2,
  code: 'ENOENT',
  path: '/nope/x.json'
}
""",
    ("javascript", "Error", "ENOENT: no such file or directory, open '/nope/x.json'", [("node:fs", 573, "openSync"), ("/srv/js/app.js", 8, "")]),
)  # fmt: skip
case(
    "node assertion", """
AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

1 !== 2

    at Context.<anonymous> (test/a.spec.js:10:39)
""",
    ("javascript", "AssertionError", "Expected values to be strictly equal:", [("test/a.spec.js", 10, "")]),
)  # fmt: skip
case(
    "node modules", """
file:///srv/my%20app/mod.mjs:1
export function f() { missing(); }
                      ^

ReferenceError: missing is not defined
    at f (file:///srv/my%20app/mod.mjs:1:23)
    at new Pool (file:///C:/srv/pool.mjs:4:9)
    at file:///srv/my%20app/mod.mjs:2:1
    at async Promise.all (index 0)
    at Array.map (<anonymous>)
    at Object.run [as start] (/srv/x.js:3:1)
""",
    ("javascript", "ReferenceError", "missing is not defined",
     [("/srv/my app/mod.mjs", 1, "f"), ("C:/srv/pool.mjs", 4, "Pool"), ("/srv/my app/mod.mjs", 2, ""), ("/srv/x.js", 3, "run")]),
)  # fmt: skip
case(
    "node syntax error", """
/srv/js/bad.js:1
let a = ;
        ^

SyntaxError: Unexpected token ';'
    at wrapSafe (node:internal/modules/cjs/loader:1464:18)
""",
    ("javascript", "SyntaxError", "Unexpected token ';'", [("/srv/js/bad.js", 1, ""), ("node:internal/modules/cjs/loader", 1464, "wrapSafe")]),
)  # fmt: skip
case(
    "node rejection", """
(node:4711) UnhandledPromiseRejectionWarning: RangeError: bad page
    at list (/srv/js/list.js:9:11)
    at process.processTicksAndRejections (internal/process/task_queues.js:95:5)
(Use `node --trace-warnings ...` to show where the warning was created)
""",
    ("javascript", "RangeError", "bad page",
     [("/srv/js/list.js", 9, "list"), ("internal/process/task_queues.js", 95, "process.processTicksAndRejections")]),
)  # fmt: skip
case(
    "node test runner", """
not ok 1 - adds
  ---
  failureType: 'testCodeFailure'
  error: '2 == 3'
  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  stack: |-
    TestContext.<anonymous> (file:///srv/t.test.mjs:2:29)
    Test.run (node:internal/test_runner/test:796:25)
  ...
1..1
""",
    ("javascript", "AssertionError", "2 == 3", [("/srv/t.test.mjs", 2, ""), ("node:internal/test_runner/test", 796, "Test.run")]),
)  # fmt: skip
case(
    "node eval", """
EvalError: no
    at eval (eval at run (/srv/js/e.js:3:5), <anonymous>:1:7)
    at run (/srv/js/e.js:3:5)
""",
    ("javascript", "EvalError", "no", [("/srv/js/e.js", 3, "eval"), ("/srv/js/e.js", 3, "run")]),
)  # fmt: skip
case(
    "typescript with a loader", """
TSError: ⨯ Unable to compile TypeScript:
src/a.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.

    at createTSError (/srv/node_modules/ts-node/src/index.ts:859:12)
    at Service.start (/srv/src/service.ts:12:9)
""",
    ("javascript", "TSError", "⨯ Unable to compile TypeScript:",
     [("/srv/node_modules/ts-node/src/index.ts", 859, "createTSError"), ("/srv/src/service.ts", 12, "Service.start")]),
)  # fmt: skip
case(
    "webpack", """
Uncaught (in promise) TypeError: e.map is not a function
    at UserList (webpack:///./src/components/UserList.tsx?1a2b:21:15)
    at renderWithHooks (webpack-internal:///./node_modules/react-dom/cjs/react-dom.development.js:14985:18)
    at https://app.example.org/static/js/main.3f2a.js?v=2:2:1311
    at b (webpack://shop/./src/cart.ts:5:3)
""",
    ("javascript", "TypeError", "e.map is not a function",
     [("src/components/UserList.tsx", 21, "UserList"), ("node_modules/react-dom/cjs/react-dom.development.js", 14985, "renderWithHooks"),
      ("/static/js/main.3f2a.js", 2, ""), ("src/cart.ts", 5, "b")]),
)  # fmt: skip
case(
    "jest expectation", """
FAIL src/sum.test.js
  ● sums › adds numbers

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

      1 | test("adds", () => {
    > 2 |   expect(sum(1, 1)).toBe(3);
        |                     ^
      3 | });

      at Object.<anonymous> (src/sum.test.js:2:21)
      at new Promise (<anonymous>)

Test Suites: 1 failed, 1 total
""",
    ("javascript", "", "sums › adds numbers: expect(received).toBe(expected) // Object.is equality", [("src/sum.test.js", 2, "")]),
)  # fmt: skip
case(
    "jest error", """
  ● loads

    TypeError: Cannot read properties of null (reading 'id')

      5 | export function load(user) {
    > 6 |   return user.id;

      at load (src/load.ts:6:15)
      at Object.load (src/load.test.ts:4:10)
""",
    ("javascript", "TypeError", "Cannot read properties of null (reading 'id')", [("src/load.ts", 6, "load"), ("src/load.test.ts", 4, "load")]),
)  # fmt: skip
case(
    "firefox", """
Uncaught TypeError: user is undefined
render@https://app.example.org/static/app.js:12:5
Cart.prototype.add/<@https://app.example.org/static/cart.js:40:9
async*start@https://app.example.org/static/app.js:3:1
@https://app.example.org/static/app.js:90:2
""",
    ("javascript", "TypeError", "user is undefined",
     [("/static/app.js", 12, "render"), ("/static/cart.js", 40, "Cart.prototype.add"), ("/static/app.js", 3, "start"), ("/static/app.js", 90, "")]),
)  # fmt: skip
case(
    "node within JSON",
    '{"level":50,"err":{"type":"Error","stack":"Error: no route\\n    at find (/srv/r.js:7:3)\\n    at /srv/s.js:2:1"}}',
    ("javascript", "Error", "no route", [("/srv/r.js", 7, "find"), ("/srv/s.js", 2, "")]),
)  # fmt: skip
case(
    "node on Windows", """
Error: locked
    at Store.open (C:\\work\\app\\store.js:31:13)
    at async C:\\work\\app\\main.js:5:3
""",
    ("javascript", "Error", "locked", [("C:\\work\\app\\store.js", 31, "Store.open"), ("C:\\work\\app\\main.js", 5, "")]),
)  # fmt: skip
case(
    "node of a container", """
api-1  | ValidationError: "name" is required
api-1  |     at validate (/usr/src/app/lib/validate.js:18:11)
""",
    ("javascript", "ValidationError", '"name" is required', [("/usr/src/app/lib/validate.js", 18, "validate")]),
)  # fmt: skip

# --- Go

case(
    "go index", """
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
example.com/demo/pkg.Svc.At(...)
	/srv/demo/pkg/pkg.go:4
example.com/demo/pkg.Run(...)
	/srv/demo/pkg/pkg.go:5
main.main()
	/srv/demo/main.go:4 +0x3cb
exit status 2
""",
    ("go", "panic", "runtime error: index out of range [5] with length 3",
     [("/srv/demo/pkg/pkg.go", 4, "Svc.At"), ("/srv/demo/pkg/pkg.go", 5, "Run"), ("/srv/demo/main.go", 4, "main")]),
)  # fmt: skip
case(
    "go nil", """
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4818d9]

goroutine 1 [running]:
example.com/demo/pkg.(*Svc).Name(0xc000012345, {0x1, 0x2})
	/srv/demo/pkg/pkg.go:3 +0x19
main.main()
	/srv/demo/main.go:5 +0x399
""",
    ("go", "panic", "runtime error: invalid memory address or nil pointer dereference",
     [("/srv/demo/pkg/pkg.go", 3, "Svc.Name"), ("/srv/demo/main.go", 5, "main")]),
)  # fmt: skip
case(
    "go recovered", """
panic: runtime error: index out of range [7] with length 3 [recovered]
	panic: runtime error: index out of range [7] with length 3

goroutine 1 [running]:
main.main.func2()
	/srv/demo/main.go:9 +0x25
panic({0x492900, 0xc0000a4000})
	/usr/lib/go-1.19/src/runtime/panic.go:884 +0x212
example.com/demo/pkg.Svc.At(...)
	/srv/demo/pkg/pkg.go:4
main.main()
	/srv/demo/main.go:9 +0x469
""",
    ("go", "panic", "runtime error: index out of range [7] with length 3", [("/srv/demo/pkg/pkg.go", 4, "Svc.At"), ("/srv/demo/main.go", 9, "main")]),
)  # fmt: skip
case(
    "go goroutines", """
panic: boom

goroutine 18 [running]:
main.main.func1()
	/srv/demo/main.go:7 +0x105
created by main.main in goroutine 1
	/srv/demo/main.go:6 +0x1ca

goroutine 1 [chan receive]:
main.main()
	/srv/demo/main.go:8 +0x1
exit status 2
""",
    ("go", "panic", "boom", [("/srv/demo/main.go", 7, "main"), ("/srv/demo/main.go", 6, "main")]),
)  # fmt: skip
case(
    "go deadlock", """
fatal error: all goroutines are asleep - deadlock!

goroutine 1 [semacquire]:
sync.runtime_Semacquire(0x10?)
	/usr/lib/go-1.19/src/runtime/sema.go:62 +0x25
main.main()
	/srv/demo/main.go:8 +0x227
""",
    ("go", "fatal error", "all goroutines are asleep - deadlock!",
     [("/usr/lib/go-1.19/src/runtime/sema.go", 62, "runtime_Semacquire"), ("/srv/demo/main.go", 8, "main")]),
)  # fmt: skip
case(
    "go server", """
2026/11/30 09:00:00 http: panic serving 127.0.0.1:51234: assignment to entry in nil map
goroutine 35 [running]:
net/http.(*conn).serve.func1()
	/usr/local/go/src/net/http/server.go:1868 +0xb9
panic({0x1?, 0x2?})
	/usr/local/go/src/runtime/panic.go:920 +0x270
example.com/shop/cart.(*Cart).Add(0x0, 0xc000)
	/src/cart/cart.go:21 +0x1d
""",
    ("go", "panic", "assignment to entry in nil map", [("/src/cart/cart.go", 21, "Cart.Add")]),
)  # fmt: skip
case(
    "go tests", """
--- FAIL: TestRun (0.00s)
    pkg_test.go:3: got 3, want 4
--- FAIL: TestSub (0.00s)
    --- FAIL: TestSub/neg (0.00s)
        pkg_test.go:4: boom
FAIL
FAIL	example.com/demo/pkg	0.006s
""",
    ("go", "FAIL", "TestRun: got 3, want 4", [("pkg_test.go", 3, "TestRun")]),
    ("go", "FAIL", "TestSub/neg: boom", [("pkg_test.go", 4, "TestSub")]),
)  # fmt: skip
case(
    "go tests told as they run", """
=== RUN   TestRun
    pkg_test.go:3: got 3, want 4
--- FAIL: TestRun (0.00s)
=== RUN   TestSub
=== RUN   TestSub/neg
    pkg_test.go:4: boom
--- FAIL: TestSub (0.00s)
    --- FAIL: TestSub/neg (0.00s)
FAIL
""",
    ("go", "FAIL", "TestRun: got 3, want 4", [("pkg_test.go", 3, "TestRun")]),
    ("go", "FAIL", "TestSub/neg: boom", [("pkg_test.go", 4, "TestSub")]),
)  # fmt: skip
case(
    "go assertion library", """
--- FAIL: TestUser (0.00s)
    user_test.go:14: 
        	Error Trace:	/srv/user/user_test.go:14
        	Error:      	Not equal: 
        	            	expected: 1
        	            	actual  : 2

        	            	Diff:
        	            	--- Expected
        	            	+++ Actual
        	Test:       	TestUser
        	Messages:   	ids are given in order
FAIL
""",
    ("go", "FAIL", "TestUser: Not equal: expected: 1 actual: 2 (ids are given in order)", [("user_test.go", 14, "TestUser")]),
)  # fmt: skip
case(
    "go assertion library, an error in its own words", """
--- FAIL: TestLoad (0.00s)
    load_test.go:9: 
        	Error Trace:	/srv/user/load_test.go:9
        	Error:      	Received unexpected error:
        	            	open shop.toml: no such file or directory
        	Test:       	TestLoad
FAIL
""",
    ("go", "FAIL", "TestLoad: Received unexpected error: open shop.toml: no such file or directory", [("load_test.go", 9, "TestLoad")]),
)  # fmt: skip
case(
    "go logs before it fails", """
--- FAIL: TestTotal (0.00s)
    cart_test.go:8: made a cart
    cart_test.go:11: the total is off
--- FAIL: TestCount (0.00s)
    cart_test.go:18: made a cart
    cart_test.go:21: got 1, want 2

    cart_test.go:22: the cart was {1}
--- FAIL: TestNames (0.00s)
    cart_test.go:31: names differ:
        got:  [a]
        want: [a b]
FAIL
""",
    ("go", "FAIL", "TestTotal: the total is off", [("cart_test.go", 11, "TestTotal"), ("cart_test.go", 8, "TestTotal")]),
    (
        "go", "FAIL", "TestCount: got 1, want 2",
        [("cart_test.go", 21, "TestCount"), ("cart_test.go", 18, "TestCount"), ("cart_test.go", 22, "TestCount")],
    ),
    ("go", "FAIL", "TestNames: names differ: got: [a] want: [a b]", [("cart_test.go", 31, "TestNames")]),
)  # fmt: skip
case(
    "go pleased at the end", """
--- FAIL: TestArchive (0.00s)
    a_test.go:8: the archive of a should exist
    a_test.go:9: all are archived successfully
--- FAIL: TestRestore (0.00s)
    a_test.go:18: the copy is empty
    a_test.go:19: restoring completed
FAIL
""",
    ("go", "FAIL", "TestArchive: the archive of a should exist", [("a_test.go", 8, "TestArchive"), ("a_test.go", 9, "TestArchive")]),
    ("go", "FAIL", "TestRestore: the copy is empty", [("a_test.go", 18, "TestRestore"), ("a_test.go", 19, "TestRestore")]),
)  # fmt: skip
case(
    "go tests of which the end was kept", """
        	Messages:   	of another one
    a_test.go:9: got 1, want 2
--- FAIL: TestA (0.01s)
--- FAIL: TestB (0.01s)
FAIL
""",
    ("go", "FAIL", "TestA: got 1, want 2", [("a_test.go", 9, "TestA")]),
)  # fmt: skip
case(
    "go tests side by side", """
=== RUN   TestA
=== PAUSE TestA
=== RUN   TestB
=== PAUSE TestB
=== CONT  TestA
=== CONT  TestB
    b_test.go:5: got 2, want 3
=== NAME  TestA
    a_test.go:9: a line too many
--- FAIL: TestA (0.01s)
--- FAIL: TestB (0.02s)
=== RUN   TestA
    a_test.go:10: one too few
--- FAIL: TestA (0.01s)
FAIL
""",
    ("go", "FAIL", "TestA: a line too many", [("a_test.go", 9, "TestA")]),
    ("go", "FAIL", "TestB: got 2, want 3", [("b_test.go", 5, "TestB")]),
    ("go", "FAIL", "TestA: one too few", [("a_test.go", 10, "TestA")]),
)  # fmt: skip
case(
    "go generic and dotted package", """
panic: bad
goroutine 1 [running]:
gopkg.in/yaml%2ev3.(*Decoder).Decode(0x1)
	/root/go/pkg/mod/gopkg.in/yaml.v3@v3.0.1/yaml.go:100 +0x1
example.com/a.Map[...].Get(0x2)
	/srv/a/map.go:9 +0x2
""",
    ("go", "panic", "bad", [("/root/go/pkg/mod/gopkg.in/yaml.v3@v3.0.1/yaml.go", 100, "Decoder.Decode"), ("/srv/a/map.go", 9, "Map.Get")]),
)  # fmt: skip

# --- Rust

case(
    "rust with a backtrace", """
thread 'main' (25002) panicked at src/m.rs:2:50:
index out of bounds: the len is 3 but the index is 5
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616e1fa/library/std/src/panicking.rs:689:5
   1: core::panicking::panic_bounds_check
             at /rustc/59807616e1fa/library/core/src/panicking.rs:271:5
   2: <usize as core::slice::index::SliceIndex<[T]>>::index
             at /rustc/59807616e1fa/library/core/src/slice/index.rs:272:10
   6: m::Svc::at
             at ./src/m.rs:2:50
   7: m::run
             at ./src/m.rs:3:69
   8: m::main::{{closure}}
             at ./src/m.rs:6:203
   9: core::ops::function::FnOnce::call_once
             at /rustc/59807616e1fa/library/core/src/ops/function.rs:250:5
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
""",
    ("rust", "panic", "index out of bounds: the len is 3 but the index is 5",
     [("src/m.rs", 2, "Svc.at"), ("src/m.rs", 3, "run"), ("src/m.rs", 6, "main"), ("/rustc/59807616e1fa/library/core/src/ops/function.rs", 250, "FnOnce.call_once")]),
)  # fmt: skip
case(
    "rust without a backtrace", """
thread 'main' panicked at src/main.rs:3:5:
called `Option::unwrap()` on a `None` value
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
""",
    ("rust", "panic", "called `Option::unwrap()` on a `None` value", [("src/main.rs", 3, "")]),
)  # fmt: skip
case(
    "rust old form", """
thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: Os { code: 2 }', src/config.rs:12:40
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
""",
    ("rust", "panic", "called `Result::unwrap()` on an `Err` value: Os { code: 2 }", [("src/config.rs", 12, "")]),
)  # fmt: skip
case(
    "rust old form in several lines", """
thread 'tests::adds' panicked at 'assertion failed: `(left == right)`
  left: `2`,
 right: `3`', src/lib.rs:9:9
""",
    ("rust", "panic", "assertion failed: `(left == right)`", [("src/lib.rs", 9, "")]),
)  # fmt: skip
case(
    "rust test without places", """
---- tests::it_adds stdout ----

thread 'tests::it_adds' (25031) panicked at lib.rs:2:63:
assertion `left == right` failed
  left: 2
 right: 3
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616e1fa/library/std/src/panicking.rs:689:5
   4: lib::tests::it_adds
   5: lib::tests::it_adds::{{closure}}
   6: core::ops::function::FnOnce::call_once
note: Some details are omitted
""",
    ("rust", "panic", "assertion `left == right` failed", [("lib.rs", 2, "it_adds")]),
)  # fmt: skip
case(
    "rust trait and hash", """
thread 'main' panicked at 'boom', src/a.rs:1:1
stack backtrace:
   3: <app::Svc as app::Load>::load::h0123456789abcdef
             at src/a.rs:1:1
   4: app::cache::Map<K,V>::get
             at src/b.rs:2:2
""",
    ("rust", "panic", "boom", [("src/a.rs", 1, "Svc.load"), ("src/b.rs", 2, "Map.get")]),
)  # fmt: skip
case(
    "rust two threads", """
thread 'worker' (9) panicked at src/m.rs:2:50:
one
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

thread 'main' (8) panicked at src/m.rs:6:154:
called `Result::unwrap()` on an `Err` value: Any { .. }
""",
    ("rust", "panic", "one", [("src/m.rs", 2, "")]),
    ("rust", "panic", "called `Result::unwrap()` on an `Err` value: Any { .. }", [("src/m.rs", 6, "")]),
)  # fmt: skip
case(
    "rust error with a backtrace", """
Error: reading config

Caused by:
    No such file or directory (os error 2)

Stack backtrace:
   0: anyhow::context::<impl anyhow::Context<T,E> for core::result::Result<T,E>>::context
             at /home/ann/.cargo/registry/src/anyhow-1.0.75/src/context.rs:54:31
   1: app::config::read
             at ./src/config.rs:9:16
""",
    ("rust", "Error", "reading config",
     [("/home/ann/.cargo/registry/src/anyhow-1.0.75/src/context.rs", 54, "context"), ("src/config.rs", 9, "read")]),
)  # fmt: skip

# --- Java and Kotlin

case(
    "java causes and suppressed", """
Exception in thread "main" java.lang.IllegalArgumentException: line one
line two
	at com.acme.Main.deep(Main.java:7)
	at com.acme.Main.main(Main.java:8)
Caused by: java.lang.RuntimeException: cannot load user 17
	at com.acme.Main.wrap(Main.java:5)
	... 2 more
Caused by: java.lang.NullPointerException: key 42
	at java.base/java.util.Objects.requireNonNull(Objects.java:235)
	at com.acme.Main$Repo.load(Main.java:4)
	... 3 more
	Suppressed: java.lang.IllegalStateException: close failed
		at com.acme.Main$Repo.close(Main.java:4)
		... 3 more
""",
    ("java", "java.lang.NullPointerException", "key 42", [("java/util/Objects.java", 235, "Objects.requireNonNull"), ("com/acme/Main.java", 4, "Main.Repo.load")]),
    ("java", "java.lang.RuntimeException", "cannot load user 17", [("com/acme/Main.java", 5, "Main.wrap")]),
    ("java", "java.lang.IllegalArgumentException", "line one", [("com/acme/Main.java", 7, "Main.deep"), ("com/acme/Main.java", 8, "Main.main")]),
    ("java", "java.lang.IllegalStateException", "close failed", [("com/acme/Main.java", 4, "Main.Repo.close")]),
)  # fmt: skip
case(
    "java lambda", """
Exception in thread "worker-3" java.lang.ArithmeticException: / by zero
	at com.acme.Main.lambda$stream$0(Main.java:6)
	at java.base/java.util.stream.ReferencePipeline$3$1.accept(ReferencePipeline.java:197)
	at com.acme.Main$1.run(Main.java:9)
	at com.acme.Main.<init>(Main.java:2)
	at java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(Unknown Source)
""",
    ("java", "java.lang.ArithmeticException", "/ by zero",
     [("com/acme/Main.java", 6, "Main.stream"), ("java/util/stream/ReferencePipeline.java", 197, "ReferencePipeline.accept"),
      ("com/acme/Main.java", 9, "Main"), ("com/acme/Main.java", 2, "Main"), ("jdk/internal/reflect/", 0, "DirectMethodHandleAccessor.invoke")]),
)  # fmt: skip
case(
    "java in a log", """
2026-11-30 09:00:00.000 ERROR 1 --- [nio-8080-exec-1] c.a.web.Handler : Servlet.service() threw exception

org.springframework.dao.DataIntegrityViolationException: could not execute statement
	at org.springframework.orm.jpa.Vendor.translate(Vendor.java:276) ~[spring-orm-6.0.jar!/:6.0]
	at app//com.acme.web.UserController.create(UserController.java:41) ~[classes/:na]
	at com.acme.web.UserController$$FastClassBySpringCGLIB$$1.invoke(<generated>)
Caused by: org.postgresql.util.PSQLException: ERROR: duplicate key value violates unique constraint "users_pkey"
	at org.postgresql.core.v3.QueryExecutorImpl.receive(QueryExecutorImpl.java:2713)
	... 40 common frames omitted
""",
    ("java", "org.postgresql.util.PSQLException", 'ERROR: duplicate key value violates unique constraint "users_pkey"',
     [("org/postgresql/core/v3/QueryExecutorImpl.java", 2713, "QueryExecutorImpl.receive")]),
    ("java", "org.springframework.dao.DataIntegrityViolationException", "could not execute statement",
     [("org/springframework/orm/jpa/Vendor.java", 276, "Vendor.translate"), ("com/acme/web/UserController.java", 41, "UserController.create")]),
)  # fmt: skip
case(
    "java without a message", """
java.lang.StackOverflowError
	at com.acme.Tree.walk(Tree.java:12)
""",
    ("java", "java.lang.StackOverflowError", "", [("com/acme/Tree.java", 12, "Tree.walk")]),
)  # fmt: skip
case(
    "java behind words", """
Nov 30 09:00:00 host app[77]: Unexpected error: java.io.IOException: Broken pipe
	at sun.nio.ch.FileDispatcherImpl.write0(Native Method)
	at com.acme.Net.send(Net.java:9)
""",
    ("java", "java.io.IOException", "Broken pipe", [("sun/nio/ch/", 0, "FileDispatcherImpl.write0"), ("com/acme/Net.java", 9, "Net.send")]),
)  # fmt: skip
case(
    "java test", """
[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0
[ERROR] com.acme.FooTest.adds  Time elapsed: 0.02 s  <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <3> but was: <2>
	at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
	at com.acme.FooTest.adds(FooTest.java:14)
""",
    ("java", "org.opentest4j.AssertionFailedError", "expected: <3> but was: <2>",
     [("org/junit/jupiter/api/AssertionUtils.java", 55, "AssertionUtils.fail"), ("com/acme/FooTest.java", 14, "FooTest.adds")]),
)  # fmt: skip
case(
    "kotlin", """
Exception in thread "main" kotlin.KotlinNullPointerException
	at com.acme.FooKt.load(Foo.kt:12)
	at com.acme.FooKt$main$1.invokeSuspend(Foo.kt:20)
	at com.acme.Foo$Companion.create(Foo.kt:5)
	at com.acme.FooTest.my test name(FooTest.kt:3)
""",
    ("java", "kotlin.KotlinNullPointerException", "",
     [("com/acme/Foo.kt", 12, "load"), ("com/acme/Foo.kt", 20, "main"), ("com/acme/Foo.kt", 5, "Foo.Companion.create"),
      ("com/acme/FooTest.kt", 3, "FooTest.my test name")]),
)  # fmt: skip
case(
    "scala", """
scala.MatchError: 5 (of class java.lang.Integer)
	at com.acme.Shop$.price(Shop.scala:8)
	at com.acme.Shop.main(Shop.scala)
""",
    ("java", "scala.MatchError", "5 (of class java.lang.Integer)", [("com/acme/Shop.scala", 8, "Shop.price"), ("com/acme/Shop.scala", 0, "Shop.main")]),
)  # fmt: skip
case(
    "several languages", """
$ make all
Traceback (most recent call last):
  File "gen.py", line 2, in build
RuntimeError: no template
panic: no config

goroutine 1 [running]:
main.main()
	/srv/main.go:4 +0x1
TypeError: x is not a function
    at run (/srv/run.js:1:1)
""",
    ("python", "RuntimeError", "no template", [("gen.py", 2, "build")]),
    ("go", "panic", "no config", [("/srv/main.go", 4, "main")]),
    ("javascript", "TypeError", "x is not a function", [("/srv/run.js", 1, "run")]),
)  # fmt: skip
