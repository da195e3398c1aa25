"""The pages that `make site` builds: examined as files, and looked at in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import SCREENSHOTS
from tools import site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
LOOKED_AT = (
    "index",
    "lectures/03_group_privacy",
    "exercises/03_group_privacy",
    "docs/errata",
    "docs/api/loss",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors and without a fault."""
    home = tmp_path_factory.mktemp("site")
    assert site.main(home / "site", home / "pages") == []
    return home / "site"


def test_lectures_exercises_and_documents_are_pages(built: Path) -> None:
    for path in site.sources():
        if path.suffix in {".ipynb", ".md"} and path.name != "index.md":
            assert (built / path.relative_to(site.ROOT)).with_suffix(".html").is_file(), path
    assert not list(built.rglob("*solution*"))
    assert "dpcourse.laws.Laplace" in (built / "docs/api/laws.html").read_text("utf-8")


def test_the_pages_read_well_without_a_network(built: Path, browser: Any) -> None:
    wrong: list[str] = []
    for scheme in ("light", "dark"):
        page = browser.new_context(color_scheme=scheme, viewport={"width": 1400, "height": 1000}).new_page()
        page.on("request", lambda sent: sent.url.startswith(("file:", "data:")) or wrong.append(sent.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("requestfailed", lambda failed: wrong.append(failed.url))
        for name in LOOKED_AT:
            page.goto((built / f"{name}.html").as_uri())
            page.wait_for_load_state()
            mathematics(page, name)
            page.screenshot(path=SCREENSHOTS / f"site-{name.replace('/', '-')}-{scheme}.png")
        page.close()
    assert wrong == []


def mathematics(page: Any, name: str) -> None:
    """Wait for the formulas of a page; none may be left as it was written."""
    if page.locator("span.math, div.math").count():
        page.wait_for_function("window.MathJax?.startup?.promise?.then(() => true)", timeout=60_000)
        assert page.locator("mjx-container").count(), name
        assert page.locator("mjx-merror").count() == 0, name


# -- What the examination finds ---------------------------------------------------------------------


def test_a_broken_link_and_an_outside_request_are_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here">fine</a><a href="other.html#gone">x</a><a href="none.html">y</a>'
        '<a href="https://example.org">outside is fine for a link</a>'
        '<script src="https://cdn.example.org/a.js"></script><img src="data:image/png;base64,AA==">'
    )
    (tmp_path / "other.html").write_text('<h1 id="here">Here</h1>')
    (tmp_path / "a.css").write_text('@import url("//fonts.example.org/b.css");')
    assert site.faults(tmp_path) == [
        "index.html loads https://cdn.example.org/a.js",
        "index.html leads to other.html#gone, and there is no such place on that page",
        "index.html leads to none.html, which is not there",
        "a.css loads something from elsewhere",
    ]
    assert site.faults(tmp_path / "nowhere") == [f"{tmp_path / 'nowhere'} has no pages"]
