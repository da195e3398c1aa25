"""Whole games in a real browser: played by clicking, and judged by the kernel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from dpcourse.widgets.game_table.rules import BEST, TABLES
from dpcourse.widgets.game_table.state import ADVICE, AGAIN, ASK_A, MANY, replay
from tests.browser.conftest import SCREENSHOTS

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.lab import Lab

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def press(page: Lab, table: Locator, button: str) -> str:
    """Click a button and wait for the answer; what the table says then."""
    table.get_by_role("button", name=button, exact=True).click()
    page.settled(table)
    assert table.locator(".dp-failure").is_hidden()
    return str(table.locator(".dp-words").inner_text())


def revealed(words: str) -> tuple[int, int, str]:
    """The guess, the bit and the verdict of the final message."""
    found = re.match(r"You said (\d)\. The bit was (\d): you (win|lose)\.", words)
    assert found, words
    return int(found[1]), int(found[2]), found[3]


def kernel_bits(page: Lab, name: str, seed: int, games: int) -> list[int]:
    """The secrets of the first games, computed anew in the notebook's kernel."""
    source = f"print([Table({name!r}, seed={seed}, number=i).bit for i in range({games})])"
    said = page.ask(f"from dpcourse.widgets.game_table.state import Table; {source}")
    return [int(bit) for bit in re.findall(r"\d", said)]


def test_a_whole_game_is_played_by_clicking(page: Lab) -> None:
    """Ask, follow the advice, guess by the posterior; the verdict is right, and agrees with the kernel."""
    name, seed, ends = "two coins, one budget", 10, []
    table = page.show(f"explore.game_table(seed={seed})")
    said = table.locator(".dp-words").inner_text()
    assert "The bit was" not in said
    for game in range(4):
        said = press(page, table, ASK_A)
        assert said.startswith("Answers: “")
        while "Best now: ask" in said:
            said = press(page, table, ADVICE)
        guess = int(re.search(r"Best now: say (\d)", said)[1])  # type: ignore[index]
        chance = float(re.search(r"chance of bit 0 is [\d/]+ = ([\d.]+)", said)[1])  # type: ignore[index]
        assert guess == int(chance < 0.5)
        said = press(page, table, f"Say {guess}")
        ends.append(revealed(said))
        assert ends[-1][0] == guess
        won = sum(verdict == "win" for *_, verdict in ends)
        assert f"You won {won} of {game + 1}." in said
        if game == 0:
            table.screenshot(path=SCREENSHOTS / "game_table-won-or-lost.png")
        press(page, table, AGAIN)
    assert all((guess == bit) == (verdict == "win") for guess, bit, verdict in ends)
    assert {verdict for *_, verdict in ends} == {"win", "lose"}  # this series has games of both kinds
    assert {bit for _, bit, _ in ends} == {0, 1}
    assert [bit for _, bit, _ in ends] == kernel_bits(page, name, seed, len(ends))


def test_undo_goes_back_and_a_forbidden_move_is_explained(page: Lab) -> None:
    table = page.show("explore.game_table()")
    table.get_by_role("combobox").first.select_option("one coin, four times")
    page.settled(table)
    for _ in range(4):
        press(page, table, ASK_A)
    before = table.locator(".dp-words").inner_text()
    assert "Not possible" in press(page, table, ASK_A)
    assert press(page, table, "Undo") == before
    assert "Not possible" in press(page, table, "Ask B")


def test_many_games_stand_beside_the_exact_chance(page: Lab) -> None:
    table = page.show("explore.game_table()")
    press(page, table, MANY)
    said = press(page, table, MANY)
    score = replay(next(iter(TABLES)), BEST, 0, (MANY, MANY)).by_strategy
    assert f"“best play” won {score.won} of 400; its exact chance is 413/540 = 0.7648." in said
