"""The map of the course: every unit once, arrows that lead forward, words that stay in their boxes."""

from __future__ import annotations

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from dpcourse import plots
from dpcourse.plots.course_map import STOPS, THEMES

ROOT = Path(__file__).resolve().parent.parent


def test_every_unit_is_on_the_map_and_linked_from_the_first_page() -> None:
    lectures = sorted(path.name for path in (ROOT / "lectures").glob("*.ipynb"))[1:]
    page = (ROOT / "lectures/00_start_here.ipynb").read_text("utf-8")
    assert list(STOPS) == list(range(1, 13))
    for name in lectures:
        assert int(name[:2]) in STOPS
        assert f"]({name})" in page
        assert f"](../exercises/{name})" in page


def test_arrows_lead_forward() -> None:
    for number, stop in STOPS.items():
        assert all(before < number and STOPS[before].place[0] < stop.place[0] for before in stop.needs)
    assert len({stop.place for stop in STOPS.values()}) == len(STOPS)
    assert {stop.theme for stop in STOPS.values()} == set(THEMES)


def test_words_stay_in_their_boxes() -> None:
    with plots.figure(10, 4.9) as (fig, ax):
        artists = plots.course_map(ax)
        FigureCanvasAgg(fig).draw()
        boxes = [box.get_window_extent() for box in artists if isinstance(box, FancyBboxPatch)]
        for words in (artist for artist in artists if isinstance(artist, Text)):
            place = words.get_window_extent()
            assert any(
                box.x0 <= place.x0 and place.x1 <= box.x1 and box.y0 <= place.y0 and place.y1 <= box.y1
                for box in boxes
            ), words.get_text()
