# Keisei: `make run` sets up and starts the engine (GTP on stdin/stdout), `make test` sets up and runs the tests.
# Every word that is not GTP goes to stderr, so a GUI can be pointed at `make -s -C DIR run`.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
TORCH_ARGS ?=
TESTS  ?=
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
STAMPS := $(VENV)/.stamps
PIN    := --constraint .ci/constraints.txt
# What the installed package is made of; a change to any of it reinstalls.
SOURCES := $(shell find engine weights -type f \( -name '*.py' -o -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' \
             -o -name '*.toml' -o -name '*.safetensors' \)) setup.py pyproject.toml

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run test test-slow test-peer golden lint types bench wheel clean check-tools install

help: ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

run: install ## Set up, then start the engine: GTP on stdin/stdout (ARGS="--net FILE ...")
	@exec $(BIN)/keisei gtp $(ARGS)

test: $(STAMPS)/test ## Set up, then run the tests (TESTS="tests/board -k ko" for some of them)
	@$(BIN)/pytest $(TESTS)

test-slow: $(STAMPS)/test ## Run the tests that take minutes
	@$(BIN)/pytest -m slow $(TESTS)

test-peer: $(STAMPS)/test ## Run the tests against other programs where they are installed
	@$(BIN)/pytest -m peer $(TESTS)

golden: $(STAMPS)/test ## Run the tests against golden outputs alone, all positions
	@$(BIN)/pytest -m 'slow or not slow' -k golden $(TESTS)

lint: $(STAMPS)/dev ## Check style (ruff, cython-lint)
	@$(BIN)/ruff check engine tests setup.py
	@PATH="$(abspath $(BIN)):$$PATH" cython-lint engine

types: $(STAMPS)/dev ## Check types (mypy)
	@$(BIN)/mypy

bench: install ## Print the benchmarks: board, net and search
	@$(BIN)/keisei bench board && $(BIN)/keisei bench net && $(BIN)/keisei bench search

wheel: $(STAMPS)/deps ## Build a wheel into dist/
	@$(PIP) install $(PIN) build </dev/null >&2
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist . </dev/null >&2

clean: ## Remove everything that was built, the virtual environment included
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	@find engine -name '*.so' -delete -o -name '*.c' -delete

install: $(STAMPS)/package

check-tools:
	@missing=; \
	command -v $(PYTHON) >/dev/null || missing="$$missing python3"; \
	command -v gcc >/dev/null || command -v cc >/dev/null || missing="$$missing gcc"; \
	command -v git >/dev/null || missing="$$missing git"; \
	if command -v $(PYTHON) >/dev/null; then \
	  $(PYTHON) -c '' || { echo "keisei: $(PYTHON) does not run (see above)" >&2; exit 1; }; \
	  $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || missing="$$missing python3-venv"; \
	  $(PYTHON) -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' \
	    || missing="$$missing python3-dev"; \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "keisei: needs Python 3.11 or newer; $(PYTHON) is older (make PYTHON=python3.12 ...)" >&2; exit 1; }; \
	fi; \
	if [ -n "$$missing" ]; then \
	  echo "keisei: missing:$$missing. On Debian: sudo apt-get install$$missing" >&2; exit 1; \
	fi

$(STAMPS)/venv: | check-tools
	@echo "keisei: setting up $(VENV) (once; downloads torch, openvino, numpy and a few small packages)" >&2
	@$(PYTHON) -m venv $(VENV) </dev/null >&2
	@mkdir -p $(STAMPS)
	@$(PIP) install --upgrade pip 'setuptools>=77' wheel </dev/null >&2
	@touch $@

$(STAMPS)/deps: .ci/constraints.txt pyproject.toml $(STAMPS)/venv
	@$(PIP) install $(PIN) $(TORCH_ARGS) torch </dev/null >&2
	@$(PIP) install $(PIN) cython numpy sgfmill safetensors tqdm </dev/null >&2
	@$(PIP) install $(PIN) openvino </dev/null >&2 \
	  || echo "keisei: OpenVINO cannot be installed here: nets will run by PyTorch, more slowly" >&2
	@touch $@

$(STAMPS)/package: $(SOURCES) $(STAMPS)/deps
	@echo "keisei: building and installing" >&2
	@if [ -d build ]; then find build -type f -path '*/lib*' ! -name '*.so' ! -name '*.pyd' -delete; fi
	@$(PIP) install $(PIN) --no-build-isolation . </dev/null >&2
	@touch $@

$(STAMPS)/test: $(STAMPS)/package
	@$(PIP) install $(PIN) 'pytest>=8' 'hypothesis>=6' 'matplotlib>=3.8' </dev/null >&2
	@touch $@

$(STAMPS)/dev: $(STAMPS)/test
	@$(PIP) install $(PIN) ruff mypy cython-lint build </dev/null >&2
	@touch $@
