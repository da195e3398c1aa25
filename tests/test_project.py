"""The files around the course agree with each other: versions, Pythons, commands, what is ignored."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import dpcourse
from dpcourse import cli

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def test_there_is_one_version() -> None:
    assert PROJECT["version"] == dpcourse.__version__ == loaded("CITATION.cff")["version"]
    assert PROJECT["license"] == loaded("CITATION.cff")["license"]


def test_the_workflow_runs_what_ci_runs_on_every_python() -> None:
    (job,) = loaded(".github/workflows/ci.yml")["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step][-1] == ".ci/run"
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == pythons
    assert all(f"{python}" in (ROOT / "README.md").read_text("utf-8") for python in pythons)


def test_ci_runs_the_tests_and_then_a_newcomer() -> None:
    lines = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    assert lines[-2:] == ["make test", ".venv/bin/python -m tools.fresh"]
    for script in (".ci/run", ".binder/postBuild"):
        assert os.name == "nt" or os.access(ROOT / script, os.X_OK)
        assert os.name == "nt" or subprocess.run(["bash", "-n", ROOT / script], check=False).returncode == 0


def test_the_hooks_run_commands_that_exist() -> None:
    (local,) = loaded(".pre-commit-config.yaml")["repos"]
    for hook in local["hooks"]:
        module, *arguments = hook["entry"].removeprefix(".venv/bin/python -m ").split()
        assert hook["language"] == "system"
        if module == "dpcourse":
            known = cli.commands().options()
            assert set(arguments[1:]) <= set(known[arguments[0]])
        else:
            assert module == "ruff"


@pytest.mark.parametrize("name", ["bug", "check", "mistake"])
def test_an_issue_template_asks_for_something(name: str) -> None:
    template = loaded(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "body"} <= set(template)
    fields = [part for part in template["body"] if part["type"] != "markdown"]
    assert all(part["validations"]["required"] and part["id"] for part in fields)


def test_binder_installs_the_lock() -> None:
    lines = (ROOT / ".binder/requirements.txt").read_text("utf-8").split("\n")
    assert lines[:2] == ["--require-hashes", "-r ../requirements.lock"]
    assert (ROOT / ".binder" / lines[1].split()[1]).resolve() == ROOT / "requirements.lock"
