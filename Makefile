# Every target makes the virtual environment it needs; nothing is installed by hand.
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: demo test test-oldest lint docs bench clean

demo: $(VENV)/.core
	$(BIN)/vicinal compare digits --methods euclidean,lda,nca,mlng --k 3,7 --out demo-run

test: $(VENV)/.test lint
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

# Old libraries use what newer ones under them deprecate: those warnings are not ours.
test-oldest: $(OLDEST)/.test
	$(OLDEST)/bin/python -m pytest -n 2 --dist worksteal -W default::DeprecationWarning $(PYTEST_ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --quiet --editable .
	touch $@

$(VENV)/.lint $(VENV)/.docs: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --quiet --editable '.[$(@F:.%=%)]'
	touch $@ $(VENV)/.core

$(VENV)/.test $(VENV)/.bench: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --quiet --editable '.[$(@F:.%=%)]'
	touch $@ $(VENV)/.core $(VENV)/.docs $(VENV)/.test

$(OLDEST)/.test: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	PIP_CONSTRAINT=$(CURDIR)/constraints-oldest.txt $(OLDEST)/bin/python -m pip \
	  --disable-pip-version-check install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) $(OLDEST) demo-run docs/_build docs/gallery build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
