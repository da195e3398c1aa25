"""Explorers without a browser: the pure functions behind them, the controls, and what is sent to the page."""

from __future__ import annotations

import base64
import gc
import io
import math
import re
import sys
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.artist import Artist
from PIL import Image

import dpcourse as dp
from dpcourse import plots, widgets
from dpcourse.errors import BadInput
from dpcourse.plots.kept import KEPT, MOST_KEPT
from dpcourse.widgets.controls import Button, Choice, Moves, Slider, Switch, number
from dpcourse.widgets.explorer import STILL, Explorer, View
from dpcourse.widgets.front import Front

ONCE = "stop-or-spend, minus its mean once: no martingale"
EXPLORERS = [name for name in widgets.__all__ if name.islower()]
MINE = [
    *("composition", "densities", "exponential", "gaussian", "group_privacy", "histogram", "kl_lemma"),
    *("loss_distribution", "martingale", "noisy_max", "proof", "randomized_response", "renyi", "tradeoff"),
]


def made(name: str, **start: Any) -> Explorer:
    explorer: Explorer = getattr(widgets, name)(**start)
    return explorer


def pixels(png: bytes) -> Any:
    return np.asarray(Image.open(io.BytesIO(png)))


def some_values(control: Any, most: int = 3) -> list[Any]:
    """A few values of a control, its ends among them."""
    if isinstance(control, Slider):
        stops = control.stops
        return sorted({stops[0], stops[len(stops) // 2], stops[-1]})[:most]
    if isinstance(control, Choice):
        return list(control.options)[:4]
    if isinstance(control, Switch):
        return [False, True]
    if isinstance(control, Button):
        return [control.start, control.start + 1]
    return [(), *((option,) * times for option in control.options for times in (1, 6))]


# -- controls -----------------------------------------------------------------------------------


@given(st.integers(-3, 3), st.sampled_from([0.05, 0.1, 0.25, 0.5, 1, 2]), st.integers(1, 60))
def test_the_stops_of_a_slider_are_the_decimals_that_are_shown(low: int, step: float, count: int) -> None:
    stops = Slider("x", low, low + count * step, step, low).stops
    assert len(stops) == count + 1
    assert stops[0] == low
    assert all(abs(stop - (low + i * step)) < 1e-9 for i, stop in enumerate(stops))
    assert all(
        float(number(stop).replace("−", "-")) == pytest.approx(stop, rel=1e-3, abs=1e-12) for stop in stops
    )
    assert all(len(number(stop)) <= 9 for stop in stops)


def test_a_log_slider_has_whole_stops_if_it_starts_at_a_whole_number() -> None:
    assert Slider("k", 0, 3, 0.5, 10, log=True).stops == (1, 3, 10, 32, 100, 320, 1000)
    assert Slider("δ", -3, -1, 0.5, 0.01, log=True).stops == (0.001, 0.00316, 0.01, 0.0316, 0.1)


def test_a_start_between_two_stops_becomes_a_stop() -> None:
    spec = Slider("x", 0, 1, 0.5, 0.5).spec(0.7)
    assert spec["stops"] == [0, 0.5, 0.7, 1]
    assert spec["texts"] == ["0", "0.5", "0.7", "1"]


@pytest.mark.parametrize(
    ("control", "value", "message"),
    [
        (Slider("x", 0, 1, 0.5, 0.5), 2, "x = 2 breaks a rule: it must be between 0 and 1."),
        (Slider("x", 0, 1, 0.5, 0.5), "1", "between 0 and 1"),
        (Slider("x", 0, 1, 0.5, 0.5), math.nan, "between 0 and 1"),
        (Choice("x", ("a", "b")), "c", "it must be one of a, b"),
        (Switch("x"), 1, "it must be True or False"),
        (Button("x"), -1, "how often the button was pressed"),
        (Button("x"), True, "how often the button was pressed"),
        (Moves("x", ("a", "b")), ["a", "z"], "x = 'z' breaks a rule: it must be one of a, b"),
        (Moves("x", ("a",), most=1), ["a", "a"], "at most 1"),
    ],
)
def test_a_control_says_which_values_it_takes(control: Any, value: Any, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        control.read("x", value)


def test_an_unknown_parameter_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(BadInput, match=re.escape("it must be one of epsilon, delta, size, start")):
        widgets.group_privacy(sise=3)


# -- the base -----------------------------------------------------------------------------------


def line(x: float, mark: str = "o") -> View:
    if x == 3:
        raise ValueError("three & more")
    with plots.panels(4, 2) as (fig, (ax,)):
        ax.plot([0, x], [0, 1], mark)
        ax.set(xlim=(0, 5), ylim=(0, 1))
    return View(fig, f"x is {x} <b>")


def small(**start: Any) -> Explorer:
    return Explorer(
        "small", line, {"x": Slider("x", 0, 5, 1, 1), "mark": Choice("mark", ("o", "D"))}, **start
    )


def test_the_text_of_an_explorer_is_the_same_on_every_run() -> None:
    assert repr(small(x=2)) == "Explorer(small: x = 2, mark = o)"
    bundle = small(x=2)._repr_mimebundle_()
    assert bundle["text/plain"] == "Explorer(small: x = 2, mark = o)"
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}


def test_the_stored_picture_is_the_live_one() -> None:
    explorer = small(x=2, mark="D")
    page = explorer._repr_mimebundle_()["text/html"]
    stored = base64.b64decode(re.search(r"base64,([^\"]+)", page).group(1))  # type: ignore[union-attr]
    said, live = explorer.answer({"x": 2, "mark": "D"}, STILL)
    assert np.array_equal(pixels(stored), pixels(live))
    assert said["words"] == "x is 2 <b>"
    assert 'alt="x is 2 &lt;b&gt;"' in page  # a figure without a title has no better description
    assert "<p" in page
    assert "<b>" not in page
    assert (said["width"], said["height"]) == (400, 200)
    assert pixels(live).shape == (400, 800, 4)


@pytest.mark.parametrize("name", ["group_privacy", "composition", "proof"])
def test_what_is_kept_from_other_pictures_changes_no_pixel(name: str) -> None:
    kept = sys.modules["dpcourse.plots.kept"].KEPT.pieces  # type: ignore[attr-defined]
    explorer = made(name)
    kept.clear()
    fresh = explorer.answer(explorer.values)[1]
    assert kept
    assert explorer.answer(explorer.values)[1] == fresh


def test_an_error_inside_becomes_a_message() -> None:
    said, picture = small().answer({"x": 3, "mark": "o"})
    assert said == {"error": "ValueError: three & more"}
    assert picture == b""
    said, _ = small().answer({"x": 99, "mark": "o"})
    assert "between 0 and 5" in said["error"]


def asked(front: Front, **content: Any) -> tuple[dict[str, Any], bytes]:
    sent: list[Any] = []
    front.send = lambda said, buffers: sent.append((said, buffers[0]))  # type: ignore[method-assign]
    front._asked(front, content, [])
    (answer,) = sent
    return answer


def test_the_browser_gets_one_answer_to_each_question() -> None:
    explorer = small()
    explorer._repr_mimebundle_()
    (front,) = explorer.fronts
    said, picture = asked(front, ask={"x": 4, "mark": "o"}, key="k")
    assert said["key"] == "k"
    assert picture == explorer.answer({"x": 4, "mark": "o"})[1]
    front.values = {"x": 4, "mark": "o"}  # as the page says when it shows the picture
    assert explorer.values == {"x": 4, "mark": "o"}
    said, _ = asked(front, ask={"x": 5, "mark": "o"}, key="next", ahead=True)
    assert said["words"] == "x is 5 <b>"
    assert explorer.values["x"] == 4, "a guess is not what the reader chose"
    said, _ = asked(front, ask={"x": 3, "mark": "o"}, key="bad")
    assert said["error"]
    assert explorer.values["x"] == 4


def test_an_interrupt_still_answers() -> None:
    def stopped(x: float) -> View:
        if x:
            raise KeyboardInterrupt
        return line(1)

    explorer = Explorer("stopped", stopped, {"x": Slider("x", 0, 1, 1, 0)})
    explorer._repr_mimebundle_()
    sent: list[Any] = []
    (front,) = explorer.fronts
    front.send = lambda said, buffers: sent.append(said)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        front._asked(front, {"ask": {"x": 1}, "key": "k"}, [])
    assert sent[0]["key"] == "k"
    assert "interrupted" in sent[0]["error"]


def test_closing_an_explorer_frees_it() -> None:
    import ipywidgets

    before = len(ipywidgets.widget._instances)
    explorer = small()
    explorer._repr_mimebundle_()
    explorer._repr_mimebundle_()
    assert len(explorer.fronts) == 2
    gone = [weakref.ref(front) for front in explorer.fronts]
    explorer.close()
    assert explorer.fronts == []
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    assert len(ipywidgets.widget._instances) <= before


def test_closing_frees_also_what_a_cell_showed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell is remembered, so that running it again replaces what it showed; not what was closed."""
    shell = SimpleNamespace(
        execution_count=7, kernel=SimpleNamespace(get_parent=lambda _: {"metadata": {"cellId": "one"}})
    )
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    first, second = small(), small()
    first._repr_mimebundle_()
    second._repr_mimebundle_()  # of the same run: both stay
    assert len(first.fronts) == len(second.fronts) == 1
    gone = weakref.ref(first.fronts[0])
    first.close()
    gc.collect()
    assert gone() is None
    shell.execution_count = 8
    small()._repr_mimebundle_()
    assert second.fronts == []


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_slider_that_is_moved_for_long_leaves_nothing_behind(name: str) -> None:
    """After each picture only young garbage is collected, as in the page; no line or word may grow old."""
    explorer = made(name)
    key, slider = next((key, one) for key, one in explorer.controls.items() if isinstance(one, Slider))
    stops = (slider.stops * 12)[:14]

    def artists() -> int:
        return sum(isinstance(one, Artist) for one in gc.get_objects())

    counts = []
    for i, stop in enumerate(stops):
        said, _ = explorer.answer(explorer.values | {key: stop})
        assert "error" not in said
        gc.collect(1)
        if i in {9, 13}:
            counts.append(artists())
    assert counts[1] <= counts[0] + 8, "what was drawn is still there"
    assert 0 < KEPT.size <= MOST_KEPT


def test_two_explorers_share_nothing() -> None:
    one, two = widgets.group_privacy(), widgets.group_privacy()
    one._repr_mimebundle_()
    two._repr_mimebundle_()
    asked(one.fronts[0], ask=one.values | {"size": 9}, key="")
    one.fronts[0].values = one.values | {"size": 9}
    assert one.values["size"] == 9
    assert two.values["size"] == 5
    assert two.fronts[0].values["size"] == 5


def test_the_png_is_what_pillow_would_write() -> None:
    view = line(2)
    fig = view.figure
    expected = io.BytesIO()
    with plots.style.mpl.rc_context(plots.style.FIXED):  # type: ignore[attr-defined]
        fig.savefig(expected, format="png", dpi=100)
    assert np.array_equal(pixels(plots.png(fig)), pixels(expected.getvalue()))


# -- every explorer -----------------------------------------------------------------------------


UGLY = re.compile(r"\b(nan|inf|None)\b|e[-+]0|(?<![e\d/])-\d|\b1 (releases|rounds)")
"""What no sentence says: numbers that are none, a computer's notation, minus as a hyphen, a wrong plural."""


@pytest.mark.parametrize("name", EXPLORERS)
def test_corners_of_all_controls_at_once(name: str) -> None:
    """Ends of the ranges in combination: no error, nothing cut off at the edges, and only numbers."""
    explorer, rng = made(name), np.random.default_rng(8)
    ends = {key: some_values(control, 99) for key, control in explorer.controls.items()}
    corners: list[Any] = [{key: values[place] for key, values in ends.items()} for place in (0, -1)]
    corners += [
        {
            key: values[int(rng.choice([0, len(values) - 1, rng.integers(len(values))]))]
            for key, values in ends.items()
        }
        for _ in range(6)
    ]
    for values in corners:
        said, picture = explorer.answer(values)
        assert "error" not in said, (values, said)
        assert not UGLY.search(said["words"]), (values, said["words"])
        ink = pixels(picture)[..., 3]
        assert not ink[[0, -1]].any(), values
        assert not ink[:, [0, -1]].any(), values


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_picture_is_described_by_its_titles(name: str) -> None:
    view = made(name).view()
    if name != "proof":  # its words say the line in full
        assert view.alt != view.words
    assert len(view.alt) > 30
    assert "$" not in view.alt


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_control_moves_the_picture_and_nothing_jumps(name: str) -> None:
    explorer = made(name)
    said, first = explorer.answer(explorer.values)
    assert "error" not in said, said
    assert said["words"].strip()
    assert "nan" not in said["words"]
    for key, control in explorer.controls.items():
        seen = set()
        for value in some_values(control):
            changed, picture = explorer.answer(explorer.values | {key: value})
            assert "error" not in changed, (key, value, changed)
            assert (changed["width"], changed["height"]) == (said["width"], said["height"]), (
                "the layout jumps"
            )
            assert "nan" not in changed["words"], (key, value)
            seen.add((changed["words"], picture))
        assert len(seen) > 1, f"{key} changes nothing"
    assert explorer.answer(explorer.values)[1] == first, "not a pure function"


@pytest.mark.parametrize("name", EXPLORERS)
def test_labels_are_words_and_differ(name: str) -> None:
    explorer = made(name)
    assert "0x" not in repr(explorer), "an address, so that notebooks would not compare"
    labels = [control.label for control in explorer.controls.values()]
    assert len(set(labels)) == len(labels)
    assert all(label.strip() for label in labels)


# -- exact numbers ------------------------------------------------------------------------------


def words(name: str, **values: Any) -> str:
    return made(name, **values).view().words


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("group_privacy", {"epsilon": 0.5, "delta": 0.01, "size": 2}, "(1, 0.02649)-DP; kδ would say 0.02"),
        ("composition", {"epsilon": 0.1, "k": 100, "delta": 1e-6}, "exactly ε = 4.775 at δ = 1e-6"),
        ("composition", {"epsilon": 0.01, "k": 1, "delta": 0.1}, "1 release: exactly ε = 0 at δ = 0.1"),
        ("composition", {"epsilon": 0.01, "k": 1, "delta": 1e-12}, "a loss beyond ε has probability 0."),
        ("loss_distribution", {"k": 1, "epsilon": 0.85, "width": 0.4, "rounding": "down"}, "reports δ = 0;"),
        ("randomized_response", {"truth": 0.0}, "Nothing can be estimated"),
        ("martingale", {"time": 200, "kind": ONCE}, "but does not apply"),
        ("renyi", {"k": 1, "strength": 0.05, "delta": 1e-12}, "The best order is near 14"),
        ("renyi", {"k": 1, "mechanism": "randomized response, ε₀"}, "The best order is beyond 1000"),
        ("densities", {"epsilon": 0.5, "distance": 2.0}, "at most 1 anywhere"),
        ("densities", {"epsilon": 0.5, "distance": 2.0}, "this pair needs δ = 0.2212 at ε = 0.5"),
        ("densities", {"noise": "Gaussian"}, "no largest value.\nExactly, this pair needs δ = 0.1269"),
        ("randomized_response", {}, "ε = 1.0986"),
        ("randomized_response", {"truth": 0.25, "yes": 2 / 3}, "ε = 0.6931"),
        ("randomized_response", {"second": "the first coin again"}, "ε is infinite"),
        ("histogram", {}, "move by 2 in all"),
        ("histogram", {"change": "add a row"}, "with 2/ε 0.25"),
        ("exponential", {"a": 0, "b": 0, "c": 0, "d": 2, "exponent": "e^(εq)"}, "1.9131 against ε = 1"),
        ("noisy_max", {"a": 0, "b": 20, "c": 0, "noise": "1/ε"}, "log-ratio of 1.9367"),
        ("gaussian", {"epsilon": 1.0, "delta": 1e-5}, "σ = 3.7306 is enough"),
        ("gaussian", {"epsilon": 10.0, "delta": 0.1}, "has δ = 0.406, 4.06 times too much"),
        ("kl_lemma", {"epsilon": 1.0}, "ε tanh(ε/2) = 0.4621"),
        ("martingale", {"time": 100, "beta": math.exp(-2)}, "probability 0.02844 exactly"),
        ("renyi", {"k": 100, "strength": 0.25, "delta": 1e-5}, "ε = 15.12, with the improved"),
        ("renyi", {"k": 100, "strength": 0.25, "delta": 1e-5}, "conversion 14.13. Exactly ε = 13.21."),
        ("tradeoff", {"fpr": 0.05}, "misses 0.7405"),
        ("tradeoff", {"mechanism": "randomized response, ε₀ = strength", "fpr": 0.1}, "misses 0.7282"),
    ],
)  # fmt: skip
def test_the_words_carry_the_reference_numbers(name: str, values: dict[str, Any], said: str) -> None:
    assert said in words(name, **values)


@pytest.mark.parametrize(("strength", "k", "delta"), [(0.05, 1, 1e-12), (0.25, 100, 1e-5), (1.0, 1000, 0.1)])
def test_the_best_order_is_that_of_the_closed_form(strength: float, k: int, delta: float) -> None:
    """k α ε²/2 + ln(1/δ)/(α - 1) is least at α = 1 + sqrt(2 ln(1/δ) / (k ε²))."""
    best = 1 + math.sqrt(2 * math.log(1 / delta) / k) / strength
    found = re.search(r"near ([\d.]+): ε = ([\d.]+)", words("renyi", strength=strength, k=k, delta=delta))
    assert found
    assert float(found[1]) - 1 == pytest.approx(best - 1, rel=0.06)
    least = k * best * strength**2 / 2 + math.log(1 / delta) / (best - 1)
    assert float(found[2]) == pytest.approx(least, rel=2e-3)


@pytest.mark.parametrize(("people", "share"), [(10, 0.3), (100, 0.3), (40, 0.0)])
def test_the_survey_is_counted_not_approximated(people: int, share: float) -> None:
    said = words("randomized_response", people=people, share=share)
    found = re.search(r"within ([\d.]+) of the truth", said)
    assert found
    reach, chance = float(found[1]), 0.25 + share / 2

    def held(limit: float) -> float:
        near = (j for j in range(people + 1) if abs((j / people - 0.25) * 2 - share) <= limit)
        return sum(math.comb(people, j) * chance**j * (1 - chance) ** (people - j) for j in near)

    assert held(reach + 1e-4) >= 0.95
    assert held(reach - 1e-3) < 0.95


def test_stop_or_spend_escapes_azuma_as_the_engine_says() -> None:
    from dpcourse.adversaries.azuma import AzumaGap
    from dpcourse.widgets import martingale as module

    del module
    explore = sys.modules["dpcourse.widgets.martingale"]
    for time in (60, 94, 200):
        values, masses = explore.law(explore.ONCE, 1.0, time)  # type: ignore[attr-defined]
        limit = math.sqrt(2 * time * math.log(1 / 0.05))
        above = float(masses[values >= limit - 1e-9].sum())
        assert above == pytest.approx(AzumaGap(1.0, time, 0.05).probability(), rel=1e-9)


@pytest.mark.parametrize("kind", range(3))
def test_the_paths_follow_their_exact_law(kind: int) -> None:
    explore = sys.modules["dpcourse.widgets.martingale"]
    name = (explore.FAIR, explore.CENTRED, explore.ONCE)[kind]  # type: ignore[attr-defined]
    values, masses = explore.law(name, 0.7, 50)  # type: ignore[attr-defined]
    assert masses.sum() == pytest.approx(1)
    assert values @ masses == pytest.approx(0, abs=1e-9)
    ends = np.concatenate([explore.walks(name, 0.7, seed)[:, 50] for seed in range(40)])  # type: ignore[attr-defined]
    spread = math.sqrt(values**2 @ masses)
    assert abs(ends.mean()) < 5 * spread / math.sqrt(len(ends))
    assert ends.std() == pytest.approx(spread, rel=0.05)
    assert np.isin(np.round(ends, 6), np.round(values, 6)).all()


@given(
    st.sampled_from(["randomized response", "Laplace noise"]),
    st.sampled_from([0.1, 0.3, 0.75]),
    st.integers(1, 40),
    st.sampled_from([0.02, 0.1, 0.26]),
)
def test_rounding_up_is_safe_and_rounding_down_is_not(
    mechanism: str, epsilon: float, k: int, width: float
) -> None:
    explore = sys.modules["dpcourse.widgets.loss_distribution"]
    grid = np.linspace(0, k * epsilon, 15)
    exact = np.asarray((k * explore.one_release(mechanism, epsilon)).delta(grid))  # type: ignore[attr-defined]
    up, down = (
        explore.composed(mechanism, epsilon, k, width, side).delta(grid)  # type: ignore[attr-defined]
        for side in ("up", "down")
    )
    assert (up >= exact - 1e-12).all()
    assert (down <= exact + 1e-12).all()
    # All of the error is a shift of at most k grid steps.
    shifted = np.asarray((k * explore.one_release(mechanism, epsilon)).delta(grid - k * width))  # type: ignore[attr-defined]
    assert (up <= shifted + 1e-12).all()


@given(st.lists(st.integers(0, 10), min_size=4, max_size=4), st.sampled_from([0.3, 1.0, 2.0]))
def test_the_worst_neighbour_of_the_exponential_mechanism(scores: list[int], epsilon: float) -> None:
    explore = sys.modules["dpcourse.widgets.exponential"]
    array = np.array(scores, dtype=float)
    for exponent, share in ((explore.HALF, 1), (explore.FULL, 2)):  # type: ignore[attr-defined]
        other, worst = explore.worst_neighbour(array, epsilon, exponent, explore.BOTH)  # type: ignore[attr-defined]
        assert np.abs(other - array).max() <= 1
        assert worst <= share * epsilon + 1e-12
    monotone, worst = explore.worst_neighbour(array, epsilon, explore.FULL, explore.ONE)  # type: ignore[attr-defined]
    assert worst <= epsilon + 1e-12
    mechanism = dp.ExponentialMechanism(epsilon, monotone=True)
    assert worst == pytest.approx(
        max(
            mechanism.loss(array, monotone).max_divergence(), mechanism.loss(monotone, array).max_divergence()
        )
    )


# -- the proof walker ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(dp.proofs.book()))
def test_the_walker_walks_every_proof(name: str) -> None:
    from dpcourse.plots.walker import mathtext, readable

    proof = dp.proofs.book()[name]
    explorer = widgets.proof(proof)
    assert set(explorer.controls) >= {"line", *proof.domain.parameters}
    size = None
    for place in (1, len(proof.lines)):
        said, _ = explorer.answer(explorer.values | {"line": place})
        assert "error" not in said, said
        assert readable(proof.lines[place - 1].because) in said["words"]
        size = size or (said["width"], said["height"])
        assert size == (said["width"], said["height"])
    assert all(mathtext(step.latex).startswith("$") for step in proof.lines), "a formula that cannot be set"


def test_the_walker_shows_a_line_fail_when_its_hypothesis_is_dropped() -> None:
    proof = dp.proofs.book()["gaussian-privacy"]
    (hypothesis,) = proof.hypotheses
    explorer = widgets.proof(proof, domain=f"without: {hypothesis}", epsilon=10.0)
    assert "Fails here: small epsilon, statement." in explorer.view().words
    stated = widgets.proof(proof, epsilon=10.0).view().words
    assert "All lines hold." in stated
    assert "epsilon is kept at 1, where the theorem ends." in stated
    assert "kept at" not in widgets.proof(proof, epsilon=1.0).view().words
    broken = next(iter(dp.proofs.errata().values())).broken
    assert "Fails here" in widgets.proof(broken).view().words


def test_the_walker_knows_its_proofs_by_name() -> None:
    with pytest.raises(BadInput, match="group-privacy-pure"):
        widgets.proof("no such proof")
