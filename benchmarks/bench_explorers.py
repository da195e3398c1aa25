"""Explorers in a real JupyterLab and Chromium, against `interactive_output` with the same figure."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchmarks.harness import Row
from dpcourse import widgets
from dpcourse.widgets.controls import Moves, Slider

if TYPE_CHECKING:
    from tests.browser.lab import Lab

PRESSES = 9
REPEAT = 33  # ms until a key repeats
QUICK, PEER, MOVING = 40.0, 0.4, 0.2
PLAYED = ("Ask A", "Best move", "Best move", "New game", "Best move", "Best move", "Best move", "New game")
SHOWN = {"game_table": "explore.game_table(moves=('Play 200 games',))"}
"""Where the first picture is the same at every stop of the slider."""

SET_UP = """
import statistics, time
import ipywidgets
from IPython.display import display
from dpcourse import explore
from dpcourse.widgets.front import Front
get_ipython().run_line_magic('matplotlib', 'inline')

spent, asked = [], Front._asked

def timed(self, *message):
    before = time.process_time()
    asked(self, *message)
    spent.append(1000 * (time.process_time() - before))

Front._asked = timed

def peer(explorer, name, values):
    slider = ipywidgets.SelectionSlider(options=[(str(i), i) for i in range(len(values))])
    def show(i):
        figure = explorer.view(**{name: values[i]}).figure
        if not figure.axes:  # IPython shows no figure without axes
            figure.add_axes((0, 0, 1, 1)).set_axis_off()
        display(figure)
    display(slider, ipywidgets.interactive_output(show, {'i': slider}))
"""

# Each step changes a value as a hand would, and takes the time until the new picture can be seen.
STEPS = """async ([count, pause, change, shown]) => {
  const moment = () => new Promise(done => setTimeout(done));
  const [act, seen] = [new Function('step', change), new Function(shown)];
  const times = [];
  for (let step = 0; step < count; step++) {
    const before = seen().src;
    const start = performance.now();
    act(step);
    const late = () => performance.now() - start > 5000; // the picture is the same as before
    while ((seen()?.src === before || !seen()?.complete) && !late()) await moment();
    await seen().decode();
    if (!late()) times.push(performance.now() - start);
    await new Promise(done => setTimeout(done, pause));
  }
  return times;
}"""
PRESS_SLIDER = """
const sliders = document.querySelectorAll('.dp-explorer input[type=range]');
const slider = sliders[%d];
slider.value = Number(slider.value) + (slider.value === slider.max ? -1 : 1);
slider.dispatchEvent(new Event('input'));
"""
CLICK = """
const wanted = %s[step];
[...document.querySelectorAll('.dp-moves button')].find(one => one.textContent === wanted).click();
"""
PEER_KEY = """
const handle = document.querySelector('.jp-OutputArea .noUi-handle');
handle.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
"""
OUR_PICTURE = "return document.querySelector('.dp-explorer img')"
PEER_PICTURE = "return document.querySelector('.jp-OutputArea-output .jp-OutputArea-output img')"


def rows() -> Iterator[Row]:
    """The time in the kernel, from the slider to the picture, and of the moving pieces."""
    from tests.browser.lab import chromium, lab

    path = chromium()
    if path is None:
        yield Row("explorers in Chromium", None, None, "ms", "", None, "no Chromium was found")
        return
    kernel: dict[str, float] = {}
    with lab(path) as page:
        page.run(SET_UP)
        for name in (name for name in widgets.__all__ if name.islower()):
            ours, theirs, kernel[name] = _slider(page, name)
            label = f"{name}: slider to picture"
            note = f"{ours / theirs:.2f} of interactive_output; {kernel[name]:.0f} ms in the kernel"
            yield Row(label, ours, theirs, "ms", f"<= {PEER} x peer", ours <= PEER * theirs, note)
        for name, (ours, theirs) in (("private_lloyd", _lloyd(page)), ("game_table", _game(page))):
            label, note = f"{name}: a step to its picture", f"{ours / theirs:.2f} of interactive_output"
            yield Row(label, ours, theirs, "ms", f"<= {MOVING} x peer", ours <= MOVING * theirs, note)
    slowest = max(kernel, key=lambda name: kernel[name])
    most = kernel[slowest]
    label, goal = "kernel time of an update, slowest explorer", f"<= {QUICK:g} ms"
    yield Row(label, most, None, "ms", goal, most <= QUICK, f"{slowest}; median of {PRESSES} updates or more")


def _slider(page: Lab, name: str) -> tuple[float, float, float]:
    """Medians in ms of ours, of the peer, and of our time in the kernel, for the first slider.

    The steps come as fast as a key that is held down repeats.
    """
    made = SHOWN.get(name, f"explore.{name}()")
    controls = getattr(widgets, name)().controls
    key, slider = next((key, one) for key, one in controls.items() if isinstance(one, Slider))
    place = [key for key, one in controls.items() if isinstance(one, Slider)].index(key)
    page.show(made)
    page.ask("spent.clear()")
    ours = _median(page, REPEAT, PRESS_SLIDER % place, OUR_PICTURE)
    kernel = float(page.ask("print(statistics.median(spent))"))
    stops = slider.stops[-PRESSES - 1 :] if len(slider.stops) > PRESSES else slider.stops
    return ours, _peer(page, made, key, stops), kernel


def _lloyd(page: Lab) -> tuple[float, float]:
    """Half steps of k-means, as one who watches takes them: every third of a second."""
    page.show("explore.private_lloyd(step=0)")
    ours = _median(page, 330, PRESS_SLIDER % 0, OUR_PICTURE)
    return ours, _peer(page, "explore.private_lloyd()", "step", tuple(range(PRESSES + 1)))


def _game(page: Lab) -> tuple[float, float]:
    """Moves at the game table, as one who reads the answers makes them: twice a second."""
    moves = next(one for one in widgets.game_table().controls.values() if isinstance(one, Moves))
    assert set(PLAYED) <= set(moves.options)
    table = page.show("explore.game_table()")
    table.hover()
    ours = _median(page, 500, CLICK % json.dumps(PLAYED), OUR_PICTURE, len(PLAYED))
    games = tuple(PLAYED[:i] for i in range(len(PLAYED) + 1))
    return ours, _peer(page, "explore.game_table()", "moves", games, len(PLAYED))


def _peer(page: Lab, explorer: str, key: str, values: tuple[Any, ...], count: int = PRESSES) -> float:
    page.run(f"peer({explorer}, {key!r}, {values!r})")
    page.page.wait_for_selector(".jp-OutputArea-output .jp-OutputArea-output img")
    return _median(page, REPEAT, PEER_KEY, PEER_PICTURE, min(count, len(values) - 1))


def _median(page: Lab, pause: int, change: str, shown: str, count: int = PRESSES) -> float:
    times: list[float] = page.page.evaluate(STEPS, [count, pause, change, shown])
    return statistics.median(times)
