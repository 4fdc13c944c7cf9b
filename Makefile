# Every target makes the virtual environment it needs; nothing is installed by hand.
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: demo test test-oldest lint docs bench fuzz dist clean

demo: $(VENV)/.core
	$(BIN)/vicinal compare waveform --methods lda,mlng,ejop --k 5 --out demo-run

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

# Source and wheel, checked, and the wheel tried in an environment of its own.
dist: $(VENV)/bin/python
	$(PIP) install --quiet build twine
	rm -rf dist && $(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip --disable-pip-version-check install --quiet dist/*.whl
	$(VENV)-wheel/bin/vicinal compare wine --methods lda --out $(VENV)-wheel/run --no-report

# Hostile files and numbers, for five minutes; FUZZ_ARGS="models --seconds 60 --seed 7".
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz $(FUZZ_ARGS)

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
	rm -rf $(VENV) $(VENV)-wheel $(OLDEST) demo-run docs/_build docs/gallery build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
