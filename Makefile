# Every target makes the virtual environment it needs; nothing is installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: demo test lint docs bench clean

demo: $(VENV)/.core
	$(BIN)/vicinal compare digits --methods euclidean,lda,nca,mlng --k 3,7 --out demo-run

test: $(VENV)/.test lint
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.test
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --quiet --editable .
	touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --quiet --editable '.[test]'
	touch $@ $(VENV)/.core

$(VENV)/.bench: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --quiet --editable '.[bench]'
	touch $@ $(VENV)/.test $(VENV)/.core

clean:
	rm -rf $(VENV) demo-run docs/_build docs/gallery build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
