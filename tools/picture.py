"""Take the README's picture: a game at the table, played in a real JupyterLab, in light and dark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from dpcourse.widgets.game_table.state import ADVICE, ASK_A
from tests.browser.conftest import DARK, LIGHT
from tests.browser.lab import chromium, lab

IMAGES = Path(__file__).resolve().parent.parent / "docs/images"
SEED, MOVES = 10, (ASK_A, ADVICE, ADVICE)


def take(page: Any, theme: str, path: Path) -> None:
    """Play the same moves and save what the table shows."""
    page.theme(theme)
    table = page.show(f"explore.game_table(seed={SEED})")
    for move in MOVES:
        button = table.get_by_role("button", name=move, exact=True)
        if button.is_enabled():
            button.click()
            page.settled(table)
    table.screenshot(path=path)


def main() -> int:
    """Two pictures; 1 if there is no Chromium to take them with."""
    path = chromium()
    if path is None:
        print("there is no Chromium here", file=sys.stderr)
        return 1
    IMAGES.mkdir(parents=True, exist_ok=True)
    with lab(path, device_scale_factor=2) as page:
        page.run("import dpcourse as dp; explore = dp.explore")
        for theme, name in ((LIGHT, "light"), (DARK, "dark")):
            take(page, theme, IMAGES / f"game-table-{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
