"""One JupyterLab and one Chromium for all browser tests of a process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
SCREENSHOTS = Path(__file__).parent / "screenshots"
HINT = "install Debian's chromium, Google Chrome, or run `python -m playwright install chromium`"


def _chromium() -> str:
    required = os.environ.get("DPCOURSE_BROWSER") == "required"
    try:
        from tests.browser.lab import chromium

        path = chromium()
    except ImportError as missing:
        path, hint = None, f"{missing.name} is not installed"
    else:
        hint = HINT
    if path is None:
        if required:
            pytest.fail(f"DPCOURSE_BROWSER=required, but no Chromium was found: {hint}")
        pytest.skip(f"no Chromium was found: {hint}")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The one Chromium; importing Playwright waits until it is known to be there."""
    path = _chromium()
    from tests.browser.lab import launched

    SCREENSHOTS.mkdir(exist_ok=True)
    with launched(path) as started:
        yield started


@pytest.fixture(scope="session")
def notebook(browser: Any) -> Iterator[Any]:
    """An open notebook."""
    from tests.browser.lab import opened

    with opened(browser) as lab:
        lab.run(
            "import dpcourse as dp; explore = dp.explore\n"
            "from dpcourse import plots\n"
            "from dpcourse.widgets.explorer import Explorer, Slider, View"
        )
        yield lab


@pytest.fixture
def page(notebook: Any) -> Iterator[Any]:
    """The notebook, with an empty list of complaints before the test and after."""
    notebook.complaints()
    yield notebook
    assert notebook.complaints() == []
