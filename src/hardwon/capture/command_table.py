"""Which programs test, build, check, install, search or only look, as tables; and what of their options matters."""

from __future__ import annotations

TESTERS = {
    "pytest": "pytest", "py.test": "pytest", "unittest": "unittest", "nose2": "unittest", "nosetests": "unittest",
    "tox": "tox", "nox": "tox",
    "jest": "jest", "vitest": "vitest", "mocha": "mocha", "ava": "ava", "ctest": "ctest", "rspec": "rspec", "phpunit": "phpunit",
    "pest": "phpunit", "gotestsum": "go", "playwright": "playwright", "cypress": "cypress", "jasmine": "mocha", "tap": "node",
    "karma": "karma",
}  # fmt: skip
# Programs of which a word decides: program, the word, what it is.
BY_WORD: dict[str, dict[str, tuple[str, str]]] = {
    "go": {
        "test": ("test", "go"), "build": ("build", "go"), "vet": ("lint", "go"), "run": ("run", "go"), "get": ("install", "go"),
        "mod": ("install", "go"), "install": ("install", "go"), "fmt": ("format", "go"), "list": ("look", "go"),
        "env": ("look", "go"),
        "version": ("look", "go"), "doc": ("look", "go"),
    },
    "cargo": {
        "test": ("test", "cargo"), "t": ("test", "cargo"), "nextest": ("test", "cargo"), "build": ("build", "cargo"),
        "b": ("build", "cargo"),
        "check": ("build", "cargo"), "c": ("build", "cargo"), "clippy": ("lint", "cargo"), "fmt": ("format", "cargo"),
        "run": ("run", "cargo"),
        "r": ("run", "cargo"), "add": ("install", "cargo"), "install": ("install", "cargo"), "update": ("install", "cargo"),
        "fetch": ("install", "cargo"), "bench": ("run", "cargo"), "doc": ("build", "cargo"), "tree": ("look", "cargo"),
    },
    "mvn": {
        "test": ("test", "maven"), "verify": ("test", "maven"), "integration-test": ("test", "maven"),
        "install": ("test", "maven"),
        "surefire:test": ("test", "maven"), "compile": ("build", "maven"), "package": ("test", "maven"),
        "test-compile": ("build", "maven"),
    },
    "gradle": {
        "test": ("test", "gradle"), "check": ("test", "gradle"), "build": ("test", "gradle"), "assemble": ("build", "gradle"),
        "compileJava": ("build", "gradle"), "classes": ("build", "gradle"), "compileKotlin": ("build", "gradle"),
        "run": ("run", "gradle"),
    },
    "dotnet": {"test": ("test", "dotnet"), "build": ("build", "dotnet"), "run": ("run", "dotnet"),
    "restore": ("install", "dotnet")},
    "swift": {"test": ("test", "swift"), "build": ("build", "swift"), "run": ("run", "swift")},
    "nx": {"test": ("test", "nx"), "e2e": ("test", "nx"), "build": ("build", "nx"), "lint": ("lint", "nx")},
    "mix": {"test": ("test", "mix"), "precommit": ("test", "mix"), "compile": ("build", "mix"),
    "deps.get": ("install", "mix"), "format": ("format", "mix")},
    "deno": {"test": ("test", "deno"), "check": ("types", "deno"), "lint": ("lint", "deno"), "fmt": ("format", "deno"),
    "run": ("run", "deno")},
    "bazel": {"test": ("test", "bazel"), "build": ("build", "bazel"), "run": ("run", "bazel")},
    "meson": {"test": ("test", "meson"), "compile": ("build", "meson"), "setup": ("build", "meson")},
    "sbt": {"test": ("test", "sbt"), "compile": ("build", "sbt")},
    "zig": {"test": ("test", "zig"), "build": ("build", "zig"), "run": ("run", "zig")},
    "rails": {"test": ("test", "minitest")},
    "rake": {"test": ("test", "minitest"), "spec": ("test", "rspec")},
    "bin/rails": {"test": ("test", "minitest")},
    "ruff": {"check": ("lint", "ruff"), "format": ("format", "ruff")},
    "ng": {"test": ("test", "karma"), "build": ("build", "ng"), "lint": ("lint", "ng")},
    "vite": {"build": ("build", "vite")},
    "next": {"build": ("build", "next"), "lint": ("lint", "next")},
    "docker": {"build": ("build", "docker")},
    "cmake": {"--build": ("build", "cmake")},
    "terraform": {"validate": ("build", "terraform"), "plan": ("run", "terraform"), "fmt": ("format", "terraform")},
    "pip": {"list": ("look", "pip"), "show": ("look", "pip"), "freeze": ("look", "pip")},
}  # fmt: skip
SAME_AS = {"mvnw": "mvn", "gradlew": "gradle", "cargo-nextest": "cargo"}
INTERPRETERS = frozenset(("ruby", "php", "java", "bun", "ts-node", "tsx", "lua", "Rscript", "julia", "elixir"))
SETS: tuple[tuple[str, str], ...] = (
    ("build", "tsc gcc g++ clang clang++ cc c++ rustc javac kotlinc scalac ninja webpack rollup esbuild swc babel make gmake cmake protoc"),
    ("types", "mypy pyright basedpyright pyre pytype flow ty vue-tsc"),
    ("lint", "flake8 pylint eslint golangci-lint rubocop shellcheck stylelint biome oxlint lint-imports bandit xo pre-commit"),
    ("format", "black isort prettier gofmt goimports rustfmt clang-format autopep8 yapf dprint shfmt"),
    ("install", "pip pip3 pipx gem apt apt-get brew dnf yum apk pacman conda mamba nvm rustup asdf composer corepack"),
    (
        "search",
        "grep egrep fgrep rg ag ack find fd fdfind locate which whereis type command hash apropos Select-String Get-Command",
    ),
    (
        "look",
        "cat head tail less more ls tree stat file wc sort uniq cut tr nl diff cmp comm echo printf pwd env printenv date test [ [[ true "
        "false id whoami uname hostname ps top free df du jq yq xxd od hexdump strings md5sum sha256sum basename dirname realpath readlink "
        "sleep bat column seq expr lsof uptime history man awk cd pushd popd export set source . read wait tee "
        "Get-Content Get-ChildItem Get-Item Get-Location Get-Process Get-Date Write-Output Write-Host Select-Object "
        "Sort-Object Where-Object "
        "Measure-Object Format-Table Format-List Out-Host Out-String Out-Null Test-Path Resolve-Path Join-Path Start-Sleep Pop-Location",
    ),
    ("network", "curl wget ssh scp rsync ping nc dig nslookup host telnet ftp http httpie gh glab aws gcloud az kubectl helm"),
    ("git", "git hg svn jj"),
)  # fmt: skip
NARROWING = {
    "pytest": ("-k", "-m", "--deselect", "--ignore"), "jest": ("-t", "--testNamePattern"), "vitest": ("-t", "--testNamePattern"),
    "mocha": ("-g", "--grep", "-f", "--fgrep"),
    "go": ("-run",), "cargo": ("--skip",), "ctest": ("-R", "-L"), "rspec": ("-e", "--example"), "maven": ("-Dtest",),
    "gradle": ("--tests",),
    "node": ("--test-name-pattern",), "dotnet": ("--filter",), "unittest": ("-k",), "minitest": ("-n", "--name"),
    "playwright": ("-g", "--grep"), "phpunit": ("--filter",),
}  # fmt: skip
VALUES = frozenset(
    (
        "-c", "-o", "-p", "-n", "--maxfail", "--tb", "--rootdir", "--confcutdir", "--cov", "--cov-report", "--junitxml",
        "--durations", "-W",
        "--timeout", "-count", "-timeout", "-j", "--jobs", "--config", "--reporter", "--package", "--features", "-F",
        "--manifest-path", "--test",
        "--bin", "--example", "--target", "--color", "--format", "--ignore", "--deselect", "--test-dir", "-C", "-s", "-t",
        "-pl", "-f", "--file",
        "--project", "--maxWorkers", "--dist", "--log-level", "--verbosity", "--exclude", "--max-warnings", "--ext", "-P",
        "--profile", "-tags", "--tags",
    )
)  # fmt: skip
# What writes what is expected anew.
UPDATING = frozenset(
    ("-u", "--updateSnapshot", "--update", "--snapshot-update", "--update-snapshots", "--inline-snapshot=fix", "--force-regen")
)
# What shows tests or options and runs nothing.
LISTING = frozenset(
    ("--collect-only", "--co", "--fixtures", "--markers", "--listTests", "--list", "-list", "--no-run", "--dry-run", "--help")
)
STOPPING = frozenset(
    (
        "-x", "--exitfirst", "--maxfail", "--maxfail=1", "--bail", "-b", "-failfast", "--failfast", "--fail-fast", "-f",
        "--stop-on-failure", "--lf",
    )
)  # fmt: skip
