# Every target sets up what it needs in .venv and then runs. `make demo` and `make test` are all a newcomer types.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(shell find native -name '*.?pp' 2>/dev/null)
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint format bench build clean compiler
.DEFAULT_GOAL := demo

demo: $(VENV)/.demo
	$(BIN)/widemargin demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(VENV)/.built $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'native/*.?pp')
	cp build/*/_core.pyi src/widemargin/_core.pyi  # generated; mypy reads it beside the sources
	$(BIN)/mypy

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files 'native/*.?pp')

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(ARGS)

build: $(VENV)/.built

compiler:
	@command -v $${CXX:-c++} >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 || { \
	  echo "Widemargin needs a C++20 compiler and found none: on Debian or Ubuntu 'apt-get install g++', on macOS 'xcode-select --install'."; \
	  exit 1; }

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Widemargin needs Python 3.11 or newer: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Build isolation is off so that an edit in native/ rebuilds only what it touches; setuptools is there for dependencies
# that come as sources (LIBLINEAR's Python package).
$(VENV)/.built: $(NATIVE) | compiler $(VENV)/bin/python
	$(PIP) 'scikit-build-core>=1.0,<2' 'nanobind>=3.0,<4' cmake ninja 'setuptools>=70.1'
	$(PIP) --no-build-isolation --editable .
	@touch $@

$(VENV)/.demo $(VENV)/.test $(VENV)/.lint $(VENV)/.bench: $(VENV)/.%: $(VENV)/.built
	$(PIP) --no-build-isolation --editable '.[$*]'
	@touch $@

clean:
	rm -rf build $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
