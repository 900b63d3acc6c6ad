# What a checkout needs, from one command each.  `make` alone lists them.
#
# Variables: PYTHON (the Python that makes the virtual environment), VENV (where it goes), PYTEST_ARGS, BENCH_ARGS, and
# TEST_PROCESSES (how many processes share the tests; each file's tests stay together, and 0 means one process).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := requirements/host.lock
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
PYTEST_ARGS ?=
# Many tests wait for sandboxes and programs, so two processes pay off on a small machine; more would build the same
# environments of tests side by side.
TEST_PROCESSES ?= 2
BENCH_ARGS ?=

# The first of these that starts, is new enough and can make virtual environments.  A pyenv shim of a version that
# is not selected does not start, and a Debian Python without python3-venv has no ensurepip: both are passed over.
CANDIDATES := python3 python3.13 python3.12 python3.11 python3.14
CHECK_PYTHON := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

.PHONY: help setup demo test lint bench environments clean

help:
	@echo "make demo    set everything up and grade three recorded systems on the built-in benchmark"
	@echo "make test    the tests, after building the environments they use"
	@echo "make lint    ruff, mypy and the import rules between packages"
	@echo "make bench   measurements that need no outside data"
	@echo "make setup   only the virtual environment with the commands bw and benchwright"
	@echo "make clean   remove the virtual environment, caches and results (built environments stay: bw env remove)"

setup: $(READY)/run

demo: $(READY)/run
	@$(BIN)/bw demo

test: $(READY)/development environments
	$(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES) --dist loadfile $(PYTEST_ARGS)

# All checks run, whatever the first ones say.
lint: $(READY)/development
	@status=0; \
	for check in "python -m ruff check" "python -m ruff format --check" "python -m mypy" "lint-imports"; do \
	    echo "$$check"; \
	    $(BIN)/$$check || status=1; \
	done; \
	exit $$status

bench: $(READY)/development environments
	@for script in $$(grep -ls '^# needs: nothing' benchmarks/*.py); do \
	    echo "== $$script"; \
	    $(BIN)/python $$script $(BENCH_ARGS); \
	done

# Environments that are built already are only opened, which takes a moment.
environments: $(READY)/run
	@$(BIN)/bw env build starter
	@obstacle=$$($(BIN)/bw env plan bigcodebench-light --json | $(BIN)/python -c "import json, sys; print(json.load(sys.stdin)['problem'])"); \
	if [[ -z $$obstacle ]]; then \
	    $(BIN)/bw env build bigcodebench-light; \
	else \
	    echo "bigcodebench-light is not built, what needs it is skipped: $$obstacle"; \
	fi

$(READY)/venv:
	@chosen=""; \
	for candidate in $(or $(PYTHON),$(CANDIDATES)); do \
	    if "$$candidate" -c '$(CHECK_PYTHON)' >/dev/null 2>&1; then chosen=$$candidate; break; fi; \
	done; \
	if [[ -z $$chosen ]]; then \
	    echo "No Python 3.11 or newer that can make virtual environments was found (tried: $(or $(PYTHON),$(CANDIDATES)))." >&2; \
	    echo "Install one (Debian and Ubuntu: apt install python3 python3-venv), or name it: make PYTHON=/path/to/python" >&2; \
	    exit 2; \
	fi; \
	echo "Making $(VENV) with $$("$$chosen" --version) ..."; \
	"$$chosen" -m venv --clear $(VENV); \
	mkdir -p $(READY)
	@touch $@

# The build back end comes from the lock as well, so nothing is resolved anew while installing.
$(READY)/run: $(READY)/venv pyproject.toml $(LOCK)
	@echo "Installing benchwright ..."
	@$(PIP) install --constraint $(LOCK) hatchling editables
	@$(PIP) install --constraint $(LOCK) --no-build-isolation --editable .
	@touch $@

$(READY)/development: $(READY)/run $(LOCK)
	@echo "Installing the tools for tests and checks ..."
	@$(PIP) install --requirement $(LOCK)
	@touch $@

# The lock is made by hand, when pyproject.toml asks for something else or versions shall move on.
.PHONY: lock
lock: $(READY)/run
	$(BIN)/uv pip compile pyproject.toml requirements/build.in --group test --group lint --universal \
	    --python-version 3.11 --no-header --no-annotate --no-emit-index-url --upgrade --output-file $(LOCK)

clean:
	rm -rf $(VENV) dist build benchwright-results .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +
