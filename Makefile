# Needs only a bare Python 3.11 and make. `.venv` is built once, and again when requirements.lock changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
# Compiled programs are kept between runs, inside the repository's ignored folder.
export JAX_COMPILATION_CACHE_DIR := $(CURDIR)/.cache/jax

.PHONY: help setup test lint format bench demo results docs lock clean

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(STAMP)  ## Build .venv from the pinned versions

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Plait needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP)

test: setup  ## Run all tests
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: setup  ## Format, lint, types, import order
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright
	$(BIN)/lint-imports

format: setup  ## Format and mend what can be mended
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

demo: setup  ## Digits: a plain network against Bayesian ones
	$(BIN)/python -m plait.recipes.demo

bench: setup  ## The cost table (run with nothing else on the machine)
	$(BIN)/python -m plait.bench.cost --write docs/results/cost.md
	$(BIN)/python -m plait.bench.replicas --append docs/results/cost.md
	$(BIN)/python -m plait.bench.components --append docs/results/cost.md
	$(BIN)/python -m plait.bench.natural --append docs/results/cost.md

results: setup  ## The experiments on MNIST, ours beside the papers' (hours)
	$(BIN)/plait reproduce ktied
	$(BIN)/plait reproduce rank1

docs: setup  ## Build the documentation, strictly
	$(BIN)/mkdocs build --strict --quiet

lock:  ## Resolve the newest versions into requirements.lock
	rm -rf .cache/lock && $(PYTHON) -m venv .cache/lock
	.cache/lock/bin/python -m pip install --quiet hatchling==1.27.0 editables '.[test,lint,docs]'
	.cache/lock/bin/python -m pip freeze --exclude plait > requirements.lock

clean:  ## Remove what was built
	rm -rf $(VENV) .cache build dist site
