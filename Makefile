# make demo and make test are all that a newcomer needs; both set up what they use. PYTHON is any Python from 3.10 on.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash
# One process a core; whoever has nothing left takes from the others.
SHARED := -n auto --dist worksteal

.PHONY: help demo test test-deep lint format generated test-gpu wheelhouse bench fuzz clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: ## build sample_project into a wheel for twelve GPUs, install it into a clean environment, run it there
	@$(PYTHON) -m tools.demo

test: lint ## set up, lint, run every test that needs no GPU
	$(BIN)/python -m pytest $(SHARED) -m "not gpu"

test-deep: $(VENV)/.stamp ## the same tests with DEEP times as many random programs, all codes of failures (default: 20)
	KBUILD_DEEP=$(or $(DEEP),20) $(BIN)/python -m pytest $(SHARED) -m "not gpu"

lint: $(VENV)/.stamp ## ruff (format, lint) and mypy --strict
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

format: $(VENV)/.stamp ## rewrite the sources as `make lint` wants them
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

generated: $(VENV)/.stamp ## rewrite the files that are made from the compiler's tables
	@for tool in reference stubs host_library; do $(BIN)/python -m tools.$$tool || exit; done

wheelhouse: ## collect in build/wheelhouse what `make test-gpu` installs (this is the step that needs a network)
	@$(PYTHON) -m tools.gpu_environment collect

test-gpu: ## run tests/gpu with PYTHON, from build/wheelhouse, without a network
	@$(PYTHON) -m tools.gpu_environment test

bench: $(VENV)/.stamp ## run the programs in benchmarks/ that need no GPU, and write docs/benchmarks.md
	@for program in build codesize report; do echo "== $$program"; $(BIN)/python benchmarks/$$program.py || exit; done

fuzz: $(VENV)/.stamp ## look for bundles that a reader neither reads nor refuses, for SECONDS (default: 60)
	@$(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[fuzz]' || echo "make: atheris cannot be installed here"
	@$(BIN)/python -m tests.fuzz.fuzz_bundle $(or $(SECONDS),60)

clean: ## remove everything that make made
	rm -rf $(VENV) build dist sample_project/build tests/gpu/project/build tests/gpu/clusters/build *.egg-info sample_project/src/*.egg-info
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find kbuild hooks tests tools sample_project -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "make: $(PYTHON) is older than Python 3.10; say PYTHON=…")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[build,cuda11,dev]'
	@touch $@
