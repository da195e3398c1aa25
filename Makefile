# Thin names for start.py, which does the work and also serves Windows.
# Variables: PYTHON=python3.12  PORT=8889  BROWSER=no  UPGRADE=yes  SOURCE=https://...

PYTHON ?= python3

.DEFAULT_GOAL := help
.PHONY: help lab test test-quick check bench notebooks site dist lock clean

help:
	@echo "make lab        open the course in JupyterLab (PORT=8889, BROWSER=no)"
	@echo "make test       everything: format, lint, types, all tests, all notebooks"
	@echo "make test-quick the quick tests alone: does it work here?"
	@echo "make check      while you work: formats, then lint, types, quick tests"
	@echo "make bench      measure the engine against its peers"
	@echo "make notebooks  run lectures and solutions again, release the exercises"
	@echo "make site       the course and its documentation as pages, in build/site"
	@echo "make dist       the packages, in dist/: wheel, sdist, archives for Colab and instructors"
	@echo "make lock       resolve the dependencies again (UPGRADE=yes for the newest)"
	@echo "make clean      remove the environments and the caches"
	@echo "PYTHON=python3.12 chooses the Python; without make: python start.py lab, and so on"

lab test test-quick check bench notebooks site dist lock:
	@$(PYTHON) start.py $@

clean:
	rm -rf .venv .venv-bench .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . \( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +
