# Thin names for start.py, which does the work and also serves Windows.
# Variables: PYTHON=python3.12  PORT=8889  BROWSER=no  UPGRADE=yes

PYTHON ?= python3

.DEFAULT_GOAL := help
.PHONY: help lab test check bench notebooks lock clean

help:
	@echo "make lab        open the course in JupyterLab (PORT=8889, BROWSER=no)"
	@echo "make test       everything: format, lint, types, all tests, the lectures"
	@echo "make check      while you work: formats, then lint, types, quick tests"
	@echo "make bench      measure the engine against its peers"
	@echo "make notebooks  run the lectures again and store their outputs"
	@echo "make lock       resolve the dependencies again (UPGRADE=yes for the newest)"
	@echo "make clean      remove the environments and the caches"
	@echo "PYTHON=python3.12 chooses the Python; without make: python start.py lab, and so on"

lab test check bench notebooks lock:
	@$(PYTHON) start.py $@

clean:
	rm -rf .venv .venv-bench .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . \( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +
