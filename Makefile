# Everything runs in .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REPO ?= .
DEMO_HOME := $(VENV)/demo

.PHONY: demo test slow clients lint types imports check clean backends

# The main job on a real repository: read its history, ask it a question. REPO=path for any other than this checkout.
demo: $(VENV)/.installed
	@mkdir -p $(DEMO_HOME)
	HARDWON_HOME=$(abspath $(DEMO_HOME)) $(BIN)/hardwon -C "$(REPO)" init
	HARDWON_HOME=$(abspath $(DEMO_HOME)) $(BIN)/hardwon -C "$(REPO)" recall $(if $(Q),"$(Q)","why was this changed: crash, wrong result, lost data") -k 5 --explain
	@echo
	@echo "The demo kept its memory in $(DEMO_HOME). To use Hardwon for real: $(BIN)/hardwon -C REPO init"

test: $(VENV)/.tools
	$(BIN)/python -m pytest -n auto --dist loadfile

slow: $(VENV)/.tools
	$(BIN)/python -m pytest -m slow -n auto --dist loadfile

# The real coding agents, from npm, against a scripted model: docs/testing.md. Skipped, with the reason, where they cannot be installed.
clients: $(VENV)/.tools
	$(BIN)/python -m pytest -m clients -n auto --dist worksteal -rs tests/clients

lint: $(VENV)/.tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.tools
	$(BIN)/mypy

imports: $(VENV)/.tools
	$(BIN)/lint-imports

# The adapters of doors/backends with the packages that they are for, in an environment of their own.
backends: $(VENV)/bin/python pyproject.toml
	test -x $(VENV)/backends/bin/python || $(BIN)/python -m venv $(VENV)/backends
	$(VENV)/backends/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,backends,encryption]'
	$(VENV)/backends/bin/python -c "import agents, anthropic, google.adk, langgraph.store.base"  # else its tests would be passed over
	$(VENV)/backends/bin/python -m pytest tests/backends

check: test slow lint types imports

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.tools: $(VENV)/.installed pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,vectors,srvdb,encryption]'
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
