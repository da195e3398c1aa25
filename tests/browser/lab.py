"""A real JupyterLab and a real Chromium, for tests and benchmarks of what a student sees."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from tests.browser.conftest import LIGHT

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-extensions"),
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
HOME = {"127.0.0.1", "localhost", "::1"}
TOKEN = "course"

READY = """() => {
  const session = window.jupyterapp?.shell.currentWidget?.sessionContext?.session;
  return session?.kernel?.status === 'idle' && session.kernel.info.then(() => true);
}"""
LISTEN = """() => {
  window.complaints = [];
  window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.iopubMessage.connect((_, message) => {
    const type = message.header.msg_type, said = message.content;
    if (type === 'error') window.complaints.push(said.ename + ': ' + said.evalue);
    if (type === 'stream' && said.name === 'stderr') window.complaints.push(said.text);
  });
}"""
RUN = """async (source) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCell.model.sharedModel.setSource(source);
  await window.jupyterapp.commands.execute('notebook:run-cell');
}"""


def chromium() -> str | None:
    """The path of a Chromium on this machine, or None: CHROMIUM, the usual names, Playwright's own."""
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    with sync_playwright() as tools:
        own = tools.chromium.executable_path
    return own if Path(own).exists() else None


@contextmanager
def server() -> Iterator[str]:
    """JupyterLab in an empty folder with settings of its own; its address."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        for part in ("config", "runtime", "data", "settings", "workspaces", "ipython", "work"):
            (home / part).mkdir()
        quiet = home / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
        quiet.parent.mkdir(parents=True)
        quiet.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}), "utf-8")
        blank = {
            "cells": [
                {"cell_type": "code", "id": "only", "metadata": {}, "outputs": [], "source": "",
                 "execution_count": None}
            ],
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }  # fmt: skip
        (home / "work/blank.ipynb").write_text(json.dumps(blank), "utf-8")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        folders = {
            "JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_DATA_DIR": "data",
            "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "IPYTHONDIR": "ipython",
        }  # fmt: skip
        root = str(Path(__file__).resolve().parents[2])
        env = os.environ | {name: str(home / part) for name, part in folders.items()} | {"PYTHONPATH": root}
        options = [
            *("--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"),
            *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={home / 'work'}"),
            *("--ServerApp.port_retries=0", "--LabApp.expose_app_in_browser=True"),
        ]
        command = [sys.executable, "-m", "jupyterlab", *options]
        with (home / "log").open("w") as log:
            running = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=home)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/api?token={TOKEN}", running, home / "log")
            yield address
        finally:
            running.terminate()
            running.wait(20)


def _wait_for(address: str, running: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        try:
            urllib.request.urlopen(address, timeout=2).close()
        except OSError:
            if running.poll() is not None:
                break
            time.sleep(0.25)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text('utf-8')[-2000:]}")


QUIETLY = """async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  let said = '';
  const future = kernel.requestExecute({code, store_history: false});
  future.onIOPub = message => { if (message.header.msg_type === 'stream') said += message.content.text; };
  await future.done;
  return said;
}"""


class Lab:
    """An open notebook, by default one with one cell, and a list of all that went wrong in page or kernel."""

    def __init__(self, page: Page, address: str, notebook: str = "blank.ipynb") -> None:
        self.page = page
        self.themed = LIGHT
        self.wrong: list[str] = []
        page.on("console", lambda said: said.type == "error" and self.wrong.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"page: {error}"))
        page.on("request", lambda request: self._stay_home(request.url))
        page.goto(f"{address}/lab/workspaces/fresh/tree/{notebook}?token={TOKEN}&reset")
        page.wait_for_function(READY, timeout=90_000)
        page.evaluate(LISTEN)

    def _stay_home(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob"} and parts.hostname not in HOME:
            self.wrong.append(f"request to {url}")

    def run(self, source: str) -> None:
        """Put code into the cell and run it; returns when it is done."""
        self.page.evaluate(RUN, source)

    def ask(self, code: str) -> str:
        """Run code in the kernel without a cell; what it printed."""
        said: str = self.page.evaluate(QUIETLY, code)
        return said.strip()

    def show(self, source: str, count: int = 1) -> Locator:
        """Run code that shows explorers; the first of them, painted."""
        self.page.evaluate("() => document.querySelectorAll('.dp-explorer').forEach(old => old.remove())")
        self.run(source)
        shown = self.page.locator(".dp-explorer")
        self.page.wait_for_function(
            "count => document.querySelectorAll('.dp-explorer').length === count", arg=count, timeout=30_000
        )
        self.settled(shown.first)
        return shown.first

    def settled(self, explorer: Locator) -> None:
        """Wait until the picture belongs to the values of the controls, and has arrived."""
        explorer.page.wait_for_function(
            "el => el.dataset.wanted === el.dataset.painted && el.querySelector('img').complete",
            arg=explorer.element_handle(),
            timeout=30_000,
        )

    def theme(self, name: str) -> None:
        """Change the theme of JupyterLab and wait for it."""
        if name == self.themed:
            return
        self.themed = name
        change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
        self.page.evaluate(change, name)
        light = "true" if name == LIGHT else "false"
        self.page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def complaints(self) -> list[str]:
        """All that went wrong since the last time."""
        said: list[str] = self.page.evaluate("() => window.complaints.splice(0)")
        found, self.wrong[:] = [*self.wrong, *said], []
        return found


@contextmanager
def launched(path: str) -> Iterator[Browser]:
    """The Chromium at a path; a process can have only one at a time."""
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, **options: Any) -> Iterator[Lab]:
    """A JupyterLab with an open notebook in a browser."""
    options = {"viewport": {"width": 1440, "height": 1200}} | options
    with server() as address:
        yield Lab(browser.new_context(**options).new_page(), address)


@contextmanager
def lab(path: str, **options: Any) -> Iterator[Lab]:
    """A JupyterLab with an open notebook in the Chromium at a path."""
    with launched(path) as browser, opened(browser, **options) as notebook:
        yield notebook
