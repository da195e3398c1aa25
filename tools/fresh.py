"""Try the course as a newcomer does: clone it to an empty folder, test it, open it, run its first page.

`python -m tools.fresh` uses what is committed, a new environment, and a Chromium that is already here.
Packages may be cached; nothing of ours is.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from playwright.sync_api import sync_playwright

from dpcourse.workbook.course import FIRST_PAGE
from tests.browser.lab import FLAGS, TOKEN, Lab, chromium

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 180
"""Seconds that set-up may take on a warm registry."""

COUNTS = """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell .jp-InputPrompt')]
  .map(prompt => prompt.textContent)"""


def main() -> int:
    """0 if a newcomer succeeds."""
    with tempfile.TemporaryDirectory(prefix="fresh-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        clone, env = home / "course", environment(home)
        subprocess.run(
            ["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(clone)], check=True, env=env
        )
        start = time.perf_counter()
        subprocess.run(
            ["make", "--silent", "help"], cwd=clone, env=env, check=True, stdout=subprocess.DEVNULL
        )
        subprocess.run(["make", "test-quick"], cwd=clone, env=env, check=True)
        print(f"fresh: set up and tested in {time.perf_counter() - start:.0f} s", flush=True)
        start = time.perf_counter()
        with served(clone, home, env) as address:
            print(f"fresh: serves after {time.perf_counter() - start:.0f} s", flush=True)
            complaints = first_page(address)
    for complaint in complaints:
        print(f"fresh: {complaint}", file=sys.stderr)
    print("fresh: the first page runs" if not complaints else "fresh: the first page does not run")
    return int(bool(complaints))


def environment(home: Path) -> dict[str, str]:
    """Ours, without the traces of this checkout: no active environment, no settings of Jupyter."""
    ours = os.environ.get("VIRTUAL_ENV", str(Path(sys.prefix)))
    path = [
        part for part in os.environ.get("PATH", os.defpath).split(os.pathsep) if not part.startswith(ours)
    ]
    dropped = {"VIRTUAL_ENV", "PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "MAKEFLAGS", "MAKELEVEL"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    own = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    return kept | own | {"PATH": os.pathsep.join(path), "IPYTHONDIR": str(home / "ipython")}


@contextmanager
def served(clone: Path, home: Path, env: dict[str, str]) -> Iterator[str]:
    """`make lab BROWSER=no`, until it serves; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = home / "config/jupyter_lab_config.json"  # so that the tests can ask the page what it does
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"LabApp": {"expose_app_in_browser": True}}), "utf-8")
    options = env | {"PORT": str(port), "BROWSER": "no", "JUPYTER_TOKEN": TOKEN}
    with (home / "log").open("w") as log:
        lab = subprocess.Popen(["make", "lab"], cwd=clone, env=options, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(4 * LIMIT):
            try:
                urlopen(f"{address}/api?token={TOKEN}", timeout=2).close()
                break
            except OSError:
                if lab.poll() is not None:
                    raise RuntimeError(f"make lab ended:\n{(home / 'log').read_text('utf-8')}") from None
                time.sleep(0.25)
        yield address
        urlopen(Request(f"{address}/api/shutdown?token={TOKEN}", method="POST"), timeout=30).close()
        lab.wait(30)
    finally:
        lab.terminate()
        lab.wait(30)


def first_page(address: str) -> list[str]:
    """Open the start page in Chromium and run it; what went wrong."""
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = Lab(browser.new_context().new_page(), address, FIRST_PAGE)
        page.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        prompts: list[str] = page.page.evaluate(COUNTS)
        # The widget manager asks a kernel that has no ipywidgets yet: a line in its log, on no page.
        wrong = [said for said in page.complaints() if "No such comm" not in said]
        browser.close()
    wanted = [f"[{n}]:" for n in range(1, len(prompts) + 1)]
    return [*wrong, *([] if prompts and prompts == wanted else [f"cells ran as {prompts}"])]


if __name__ == "__main__":
    sys.exit(main())
