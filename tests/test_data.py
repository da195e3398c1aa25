"""The real table is the one that was stored, and generated data is what it says it is."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import data
from dpcourse.data import make_rand_health
from dpcourse.data.rand_health import FILE
from dpcourse.errors import BadInput

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "dpcourse" / "data"


@pytest.fixture(scope="module")
def table():
    return data.rand_health()


# Of the stored numbers rather than of the file: compressed bytes depend on the version of zlib.
HASH = "969cad2568f4ead8e249ff65bce1277d0af53f541b9ccb867254141bd81eb31d"


def test_the_table_is_the_one_that_was_stored(table):
    assert hashlib.sha256(table.tobytes()).hexdigest() == HASH


def test_size_and_columns(table):
    assert (FOLDER / FILE).stat().st_size < 150_000
    assert table.shape == (20_190,)
    assert table.dtype.names == tuple(data.COLUMNS)
    assert all(np.issubdtype(table.dtype[name], np.number) for name in table.dtype.names)
    assert np.isfinite(table["spending"]).all()


def test_means_are_those_of_the_source(table):
    """Computed once from the source's csv, columns as they are there."""
    means = {"visits": 2.860426, "year": 2.420109, "site": 3.298811, "female": 0.517038}
    means |= {"family": 3.954235, "coinsurance": 26.305597, "admissions": 0.112729, "chronic": 11.244492}
    for name, mean in means.items():
        assert table[name].mean(dtype=float) == pytest.approx(mean, abs=1e-6), name
    # These were rounded: to dollars, to cents, down to years.
    assert table["income"].mean() == pytest.approx(8037.409244, abs=0.05)
    assert table["spending"].mean() == pytest.approx(171.567898, abs=0.0005)
    assert 0 < 25.722328 - table["age"].mean() < 1
    shares = np.bincount(table["health"]) / len(table)
    assert shares[1:] == pytest.approx([0.362011, 0.077266, 0.014958], abs=1e-6)


def test_people_are_numbered_as_they_appear_and_have_one_row_a_year(table):
    people, first, counts = np.unique(table["person"], return_index=True, return_counts=True)
    assert people.tolist() == list(range(5912))
    assert np.all(np.diff(first) > 0)
    assert counts.max() == 5
    assert len(np.unique(table[["person", "year"]])) == len(table)


def test_each_call_gives_a_table_of_its_own(table):
    other = data.rand_health()
    other["visits"] = 0
    assert table["visits"].any()


def test_the_notes_name_source_and_licence():
    notes = (FOLDER / "README.md").read_text("utf-8")
    assert "public domain" in notes
    assert make_rand_health.SOURCE_SHA256[:8] in notes


def test_another_source_is_refused(tmp_path):
    other = tmp_path / "randhie.csv"
    other.write_text("plan\n1\n", "utf-8")
    with pytest.raises(BadInput, match="sha256 of the source"):
        make_rand_health.columns(other)


def test_the_wheel_holds_the_table_and_its_notes():
    wheel = pytest.importorskip("hatchling.builders.wheel")
    builder = wheel.WheelBuilder(str(ROOT))
    files = {f.distribution_path for f in builder.recurse_selected_project_files()}
    assert {f"dpcourse/data/{FILE}", "dpcourse/data/README.md"} <= {f.replace("\\", "/") for f in files}


@given(
    k=st.integers(1, 8),
    dim=st.integers(1, 12),
    norm=st.sampled_from((1, 2)),
    spread=st.floats(0.01, 0.9),
    seed=st.integers(0, 2**32),
)
def test_clusters_lie_in_the_ball_around_their_centres(k, dim, norm, spread, seed):
    made = data.clusters(200, k, dim, np.random.default_rng(seed), spread=spread, norm=norm)
    assert made.points.shape == (200, dim)
    assert made.centres.shape == (k, dim)
    assert np.linalg.norm(made.points, norm, axis=1).max() <= 1 + 1e-12
    offsets = made.points - made.centres[made.labels]
    assert np.linalg.norm(offsets, norm, axis=1).max() <= spread + 1e-12


def test_clusters_are_bells_around_their_centres(rng):
    """The squared radius is Beta(dim/2, 4), so its mean is (dim/2)/(dim/2 + 4) of the spread squared."""
    made = data.clusters(200_000, 5, 3, rng, spread=0.2)
    squares = np.square(made.points - made.centres[made.labels]).sum(1) / 0.2**2
    assert squares.mean() == pytest.approx(1.5 / 5.5, abs=0.002)


def test_centres_are_apart(rng):
    centres = data.clusters(0, 5, 2, rng).centres
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + 9 * np.eye(5)
    assert gaps.min() > 0.3


@given(rate=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_survey_answers_have_the_rate(rate, seed):
    answers = data.survey(10_000, rate, np.random.default_rng(seed))
    assert set(np.unique(answers)) <= {0, 1}
    # Hoeffding: a deviation above .04 has a chance below 3e-14.
    assert abs(answers.mean() - rate) < 0.04


def test_a_survey_of_many_questions(rng):
    assert data.survey(50, np.full((3, 2), 0.5), rng).shape == (50, 3, 2)


def test_visits_and_names_follow_their_ranks(rng):
    rows, sites = data.visits(20_000, rng, sites=10)
    counts = [sum(site in row for row in rows) for site in sites]
    assert np.allclose(np.array(counts) / 20_000, 0.8 / np.arange(1, 11), atol=0.02)
    assert all(site.endswith(".example") for site in sites)
    born, names = data.baby_names(50_000, rng, pool=20, exponent=1.0)
    shares = [(born == name).mean() for name in names]
    assert np.allclose(shares, 1 / np.arange(1, 21) / np.sum(1 / np.arange(1, 21)), atol=0.01)


def test_names_are_distinct():
    _, names = data.baby_names(1, np.random.default_rng(0), pool=2500)
    assert len(set(names)) == 2500


def test_the_same_seed_gives_the_same_data():
    one, two = (data.clusters(50, 3, 2, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one.points, two.points)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: data.clusters(10, 0, 2, rng), "k = 0 .*at least 1"),
        (lambda rng: data.clusters(10, 2, 2, rng, spread=1.5), "spread = 1.5 .*within the unit ball"),
        (lambda rng: data.clusters(10, 2, 2, rng, norm=3), "norm = 3 .*one of 1, 2"),
        (lambda rng: data.survey(10, 1.2, rng), "rate = 1.2 .*between 0 and 1"),
        (lambda rng: data.survey(-1, 0.2, rng), "n = -1"),
        (lambda rng: data.survey(3, 0.2, None), "rng = None"),
        (lambda rng: data.clusters(3, 2, 2, 7), "rng = 7"),
        (lambda rng: data.visits(3, None), "rng = None"),
        (lambda rng: data.baby_names(3, None), "rng = None"),
        (lambda rng: data.visits(10, rng, often=-1), "often = -1"),
        (lambda rng: data.baby_names(10, rng, pool=2501), "pool = 2501 .*at most 2500"),
    ],
)
def test_bad_input(call, message, rng):
    with pytest.raises(BadInput, match=message):
        call(rng)
