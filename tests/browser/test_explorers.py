"""Every explorer in a real JupyterLab: it opens, answers each of its controls, and nothing complains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcourse import widgets
from tests.browser.conftest import DARK, LIGHT, SCREENSHOTS

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.lab import Lab

EXPLORERS = [name for name in widgets.__all__ if name.islower()]

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

FRONTS = """
from ipywidgets.widgets.widget import _instances
print(sorted(type(w).__name__ for w in _instances.values() if type(w).__name__ in ("Front", "Layout")))
"""


def state(explorer: Locator) -> str:
    return str(explorer.get_attribute("data-painted"))


def answers(page: Lab, explorer: Locator) -> None:
    """Wait for the picture, and see that it came without an error message."""
    page.settled(explorer)
    assert explorer.locator(".dp-failure").is_hidden(), explorer.locator(".dp-failure").inner_text()


def operate(page: Lab, explorer: Locator) -> int:
    """Use every control once, with the keyboard where there is a value to move; how many there were."""
    sliders = explorer.get_by_role("slider").all()
    for slider in sliders:
        before = state(explorer)
        slider.focus()
        at_end = slider.input_value() == slider.get_attribute("max")
        slider.press("ArrowLeft" if at_end else "ArrowRight")
        answers(page, explorer)
        assert state(explorer) != before, slider.get_attribute("id")
    choices = explorer.get_by_role("combobox").all()
    for choice in choices:
        for option in choice.locator("option").all_inner_texts():
            choice.select_option(option)
            answers(page, explorer)
    boxes = explorer.get_by_role("checkbox").all()
    for box in boxes:
        before = state(explorer)
        box.press("Space")
        answers(page, explorer)
        assert state(explorer) != before
    buttons = [b for b in explorer.locator(".dp-button button, .dp-moves button").all() if b.is_enabled()]
    for button in buttons:
        before = state(explorer)
        button.press("Enter")
        answers(page, explorer)
        assert state(explorer) != before
    return len(sliders) + len(choices) + len(boxes) + len(buttons)


def reached_by_tab(explorer: Locator) -> list[str]:
    """The controls that Tab reaches one after the other, from the first, by the name that is read out."""
    names = []
    controls = [c for c in explorer.locator("input, select, button").all() if c.is_enabled()]
    controls[0].focus()
    for control in controls:
        assert control.evaluate("el => el === document.activeElement"), "Tab goes elsewhere"
        names.append(control.evaluate("el => el.ariaLabel || el.labels?.[0]?.innerText || el.innerText"))
        explorer.page.keyboard.press("Tab")
    return [name.strip() for name in names]


@pytest.mark.parametrize("name", EXPLORERS)
def test_it_opens_and_answers_every_control(page: Lab, name: str) -> None:
    explorer = page.show(f"explore.{name}()")
    for theme in (page.themed, DARK if page.themed == LIGHT else LIGHT):
        page.theme(theme)
        explorer.screenshot(path=SCREENSHOTS / f"{name}-{theme.split()[1].lower()}.png")
    assert explorer.locator("img").get_attribute("alt")
    assert explorer.locator(".dp-words").inner_text()
    names = reached_by_tab(explorer)
    assert all(names), names
    assert len(set(names)) == len(names), "two controls of one name"
    first, size = state(explorer), explorer.locator("img").bounding_box()
    assert operate(page, explorer) >= 1
    explorer.get_by_role("button", name="Reset").click()
    answers(page, explorer)
    assert state(explorer) == first
    assert explorer.locator("img").bounding_box() == size, "the layout moved"


def test_two_copies_do_not_know_of_each_other(page: Lab) -> None:
    page.show("display(explore.group_privacy(), explore.group_privacy())", count=2)
    one, two = (page.page.locator(".dp-explorer").nth(i) for i in (0, 1))
    before = state(two)
    one.get_by_label("group size k").press("ArrowRight")
    answers(page, one)
    assert state(two) == before != state(one)
    two.get_by_label("group size k").press("ArrowLeft")
    answers(page, two)
    assert state(one) != state(two) != before


def test_an_error_is_shown_in_the_explorer_and_passes(page: Lab) -> None:
    page.run(
        "def draw(x):\n"
        "    if x == 3: raise ValueError('three is too many')\n"
        "    with plots.panels(4, 2) as (fig, (ax,)): ax.plot([0, x], [0, 1])\n"
        "    return View(fig, f'x is {x}')\n"
    )
    explorer = page.show("Explorer('fragile', draw, {'x': Slider('x', 1, 4, 1, 2)})")
    slider = explorer.get_by_label("x")
    slider.press("ArrowRight")
    page.settled(explorer)
    assert explorer.get_by_role("alert").inner_text() == "ValueError: three is too many"
    slider.press("ArrowRight")
    answers(page, explorer)
    assert explorer.locator(".dp-words").inner_text() == "x is 4"


def test_the_newest_value_wins_when_the_kernel_is_slow(page: Lab) -> None:
    page.run(
        "import time\n"
        "drawn = []\n"
        "def slow(x):\n"
        "    time.sleep(0.15); drawn.append(x)\n"
        "    with plots.panels(4, 2) as (fig, (ax,)): ax.plot([0, x], [0, 1])\n"
        "    return View(fig, f'x is {x}')\n"
    )
    explorer = page.show("Explorer('slow', slow, {'x': Slider('x', 0, 100, 1, 0)})")
    slider = explorer.get_by_label("x")
    for _ in range(40):
        slider.press("ArrowRight")
    page.settled(explorer)
    assert explorer.locator(".dp-words").inner_text() == "x is 40"
    assert int(page.ask("print(len(drawn))")) < 30, "every value was drawn, though most were old by then"


def test_running_a_cell_again_frees_what_it_showed(page: Lab) -> None:
    page.show("explore.group_privacy()")
    page.show("explore.group_privacy()")
    assert page.ask(FRONTS) == "['Front', 'Layout']"


def test_closing_one_takes_it_from_the_page_and_leaves_the_other(page: Lab) -> None:
    page.show("pair = explore.group_privacy(), explore.densities()\ndisplay(*pair)", count=2)
    page.ask("pair[0].close()")
    page.page.wait_for_function("() => document.querySelectorAll('.dp-explorer').length === 1")
    assert page.ask(FRONTS) == "['Front', 'Layout']"
    left = page.page.locator(".dp-explorer")
    before = state(left)
    left.get_by_label("output y").press("ArrowRight")
    answers(page, left)
    assert state(left) != before


def test_playing_moves_by_itself_and_pauses(page: Lab) -> None:
    explorer = page.show(
        "def still(x):\n"
        "    with plots.panels(4, 2) as (fig, (ax,)): ax.plot([0, x], [0, 1])\n"
        "    return View(fig, f'x is {x}')\n"
        "Explorer('time', still, {'x': Slider('time', 0, 60, 1, 0, play=True)})"
    )
    play = explorer.get_by_role("button", name="Play or pause time")
    play.click()
    page.page.wait_for_function("() => Number(document.querySelector('.dp-explorer input').value) >= 5")
    play.click()
    page.settled(explorer)
    there = explorer.locator("input").input_value()
    assert page.ask("import time; time.sleep(0.3); print('later')") == "later"  # three beats, had it gone on
    assert explorer.locator("input").input_value() == there
    explorer.get_by_role("button", name="One step of time").click()
    page.settled(explorer)
    assert explorer.locator(".dp-words").inner_text() == f"x is {int(there) + 1}"


def test_play_to_the_end_and_again_and_reset_on_the_way(page: Lab) -> None:
    explorer = page.show("explore.private_lloyd(step=9)")
    play = explorer.get_by_role("button", name="Play or pause half steps")
    value = "() => Number(document.querySelector('.dp-explorer input').value)"
    last = int(explorer.locator("input").first.get_attribute("max") or 0)
    play.click()
    page.page.wait_for_function(f"{value} === {last}")
    page.page.wait_for_function(
        "() => document.querySelector('.dp-explorer .dp-row button').innerText === 'Play'"
    )
    answers(page, explorer)
    play.click()  # from the end it begins again
    page.page.wait_for_function(f"() => {{ const now = ({value})(); return now > 0 && now < {last}; }}")
    explorer.get_by_role("button", name="Reset").click()
    answers(page, explorer)
    page.page.wait_for_timeout(400)  # four beats, had it gone on
    assert explorer.locator("input").first.input_value() == "9"
    assert play.inner_text() == "Play"


def test_a_silent_kernel_is_said_and_forgiven(page: Lab) -> None:
    """While a cell runs, nobody draws: the explorer says so, and goes on when the kernel is free again."""
    explorer = page.show("explore.densities()")
    page.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
        ".requestExecute({code: 'import time; time.sleep(5)', store_history: false}); }"
    )
    explorer.get_by_label("output y").press("ArrowRight")
    explorer.get_by_role("alert").wait_for(state="visible", timeout=10_000)
    assert "No answer from the kernel" in explorer.get_by_role("alert").inner_text()
    page.settled(explorer)
    assert explorer.get_by_role("alert").is_hidden()
    assert "At y = 2.25" in explorer.locator(".dp-words").inner_text()
