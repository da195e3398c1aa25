"""Private k-means: exact sums, right noise, honest accounting, and centres worth having."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import dpcourse as dp
from dpcourse import data
from dpcourse.algorithms.kmeans import (
    Ball,
    LloydRound,
    PrivateKMeans,
    assign,
    best_share,
    cost,
    lloyd,
    noises,
    recentre,
    rounds_for,
    spread,
    unsound,
)
from dpcourse.algorithms.kmeans.ball import GRID
from dpcourse.algorithms.kmeans.exact import statistics
from dpcourse.contract import Case, faults
from dpcourse.errors import BadInput
from dpcourse.interactive import PureFilter

INF = math.inf
NORMS = (1, 2, INF)
balls = st.builds(Ball, st.integers(1, 6), st.sampled_from(NORMS))


def clouds(dim, top=30):
    return arrays.arrays(float, st.tuples(st.integers(0, top), st.just(dim)), elements=st.floats(-3, 3))


# --- the ball -----------------------------------------------------------------------------------------


@given(ball=balls, data_=st.data())
def test_projected_points_are_inside_to_the_last_bit(ball, data_):
    """In exact arithmetic: the norm is at most 1, and no norm exceeds `reach`."""
    points = data_.draw(clouds(ball.dim))
    for row in ball.project(points).tolist():
        exact = [abs(Fraction(v)) for v in row]
        assert all((v * int(GRID)).denominator == 1 for v in exact)
        size = {1: sum(exact), 2: sum(v * v for v in exact), INF: max(exact)}[ball.norm]
        assert size <= 1
        assert sum(exact) <= Fraction(ball.reach(1))
        assert sum(v * v for v in exact) <= Fraction(ball.reach(2)) ** 2


@given(ball=balls, data_=st.data())
def test_points_inside_stay_and_points_outside_keep_their_direction(ball, data_):
    points = data_.draw(clouds(ball.dim))
    size = np.linalg.norm(points, ball.norm, axis=1) if len(points) else np.zeros(0)
    found = ball.project(points)
    inside = size <= 1
    assert np.all(np.abs(found[inside] - points[inside]) <= 1 / GRID)
    if ball.norm != INF:
        moved = points[~inside] / size[~inside][:, None]
        assert np.all(np.abs(found[~inside] - moved) <= 1.01 / GRID)
    assert np.array_equal(ball.project(found), found)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dim", [1, 2, 4, 64])
def test_reach_is_attained(norm, dim):
    ball = Ball(dim, norm)
    corner = np.ones(dim) / np.linalg.norm(np.ones(dim), norm)
    axis = np.eye(dim)[0]
    for q in (1, 2):
        assert ball.reach(q) == pytest.approx(max(np.linalg.norm(corner, q), np.linalg.norm(axis, q)))


@pytest.mark.parametrize("norm", NORMS)
def test_samples_are_uniform_in_the_ball(norm, rng):
    """Half of the radius holds the 2^-d part, and second moments are those that `best_share` uses."""
    ball = Ball(3, norm)
    draws = ball.sample(rng, 200_000)
    size = np.linalg.norm(draws, norm, axis=1)
    assert size.max() <= 1
    assert (size <= 0.5).mean() == pytest.approx(1 / 8, abs=0.004)
    typical = {1: 6 / 20, 2: 3 / 5, INF: 1.0}[norm]
    assert np.square(draws).sum(1).mean() == pytest.approx(typical, abs=0.005)
    assert np.abs(draws.mean(0)).max() < 0.01


def test_a_box_of_public_bounds():
    ball = Ball.box((0, 0), (100, 1000))
    assert ball.project([[0, 0], [100, 1000], [50, 2000]]).tolist() == [[-1, -1], [1, 1], [0, 1]]
    assert ball.restore(ball.project([[25, 750]])).tolist() == [[25, 750]]


@pytest.mark.parametrize("adjacency", [dp.ADD_REMOVE, dp.REPLACE_ONE], ids=repr)
def test_the_number_moved_is_released_with_noise_or_not_at_all(adjacency, rng):
    pairs = adjacency.pairs(((0.5,), (3.0,)), 2)
    assert faults(Case("outside", Ball(1).outside(0.5, adjacency), pairs, tight=True), rng) == []
    points = rng.normal(size=(1000, 2))
    trace = PrivateKMeans(2, Ball(2), dp.PureDP(1.0)).run(points, rng)
    assert trace.not_private == ()


@pytest.mark.parametrize(
    ("ball", "said"),
    [
        (Ball(2), "points outside the l2 ball are moved to its border"),
        (Ball(2, norm=1), "points outside the l1 ball are moved to its border"),
        (Ball.box((0, 0), (1, 1)), "points outside the box are moved to its border"),
    ],
)
def test_a_run_says_what_it_did_to_the_points(ball, said, rng):
    trace = PrivateKMeans(2, ball, dp.PureDP(1.0), empty="uniform").run(np.full((9, 2), 7.0), rng)
    assert said in trace.note
    assert "clusters that look empty start anew (uniform)" in trace.note


# --- one round, exactly -------------------------------------------------------------------------------


@given(ball=balls, k=st.integers(1, 5), seed=st.integers(0, 99), data_=st.data())
def test_statistics_against_fractions(ball, k, seed, data_):
    """Counts and sums are those of exact arithmetic, ties go to the first centre: no rounding anywhere."""
    unit = ball.project(data_.draw(clouds(ball.dim)))
    centres = ball.sample(np.random.default_rng(seed), k)
    centres[-1] = centres[0]  # a tie at every point of the first cluster
    counts, sums = [0] * k, [[Fraction(0)] * ball.dim for _ in range(k)]
    labels = []
    for row in unit.tolist():
        gaps = [
            sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(row, c, strict=True))
            for c in centres.tolist()
        ]
        j = gaps.index(min(gaps))
        labels.append(j)
        counts[j] += 1
        sums[j] = [s + Fraction(v) for s, v in zip(sums[j], row, strict=True)]
    found = statistics(unit, centres)
    assert found[0].tolist() == counts
    assert [[Fraction(v) for v in row] for row in found[1].tolist()] == sums
    assert assign(unit, centres).tolist() == labels


def test_statistics_do_not_depend_on_the_order_of_the_rows(rng):
    """Also not in the last bit, nor at ties, nor at the borders of the chunks."""
    ball = Ball(5)
    points = np.repeat(ball.sample(rng, 20), 500, axis=0)
    centres = points[::600][:8] * np.array([[1], [1], [1], [1], [-1], [-1], [-1], [-1]])
    counts, sums = statistics(points, centres)
    for _ in range(5):
        again = statistics(rng.permutation(points), centres)
        assert np.array_equal(again[0], counts)
        assert np.array_equal(again[1], sums)


def moves(ball, centres, adjacency, norm, grid):
    """The largest change of counts and of sums over all neighbours on a grid, by brute force."""
    domain = [p for p in itertools.product(grid, repeat=ball.dim) if np.linalg.norm(p, ball.norm) < 1 + 1e-9]
    largest = np.zeros(2)
    for left, right in adjacency.pairs(tuple(domain), 1):
        pair = [statistics(ball.project(rows), centres) for rows in (left, right)]
        gaps = [np.linalg.norm(np.ravel(a - b), norm) for a, b in zip(*pair, strict=True)]
        largest = np.maximum(largest, gaps)
    return largest


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("adjacency", [dp.ADD_REMOVE, dp.REPLACE_ONE], ids=repr)
@pytest.mark.parametrize("budget", [dp.PureDP, dp.GDP])
def test_sensitivities_by_brute_force(norm, adjacency, budget):
    """Over a grid that holds the worst points, the sensitivities are reached, and never exceeded."""
    ball = Ball(2, norm)
    grid = (-1.0, -math.sqrt(0.5), 0.0, 0.5, math.sqrt(0.5), 1.0)
    mechanisms = noises(budget(1.0, adjacency=adjacency), ball)
    found = np.zeros(2)
    for centres in ([[0.0, 0.0]], [[-0.5, 0.0], [0.5, 0.0]], [[0.0, -1.0], [0.0, 1.0]]):
        found = np.maximum(found, moves(ball, np.array(centres), adjacency, mechanisms[0].norm, grid))
    stated = np.array([m.sensitivity for m in mechanisms])
    assert np.all(found <= stated * (1 + 1e-15))
    assert found == pytest.approx(stated, abs=1e-5)  # the grid of `project` takes up to 1e-6 off


@pytest.mark.parametrize(("norm", "d", "factor"), [(1, 9, 1), (2, 9, 3), (INF, 9, 9)])
def test_noise_scales_of_the_textbook(norm, d, factor):
    """1/eps' on counts; 1, sqrt(d) or d times that on sums; twice as much where rows are replaced."""
    step = 1.0 / (2 * 5)
    for adjacency, times in ((dp.ADD_REMOVE, 1), (dp.REPLACE_ONE, 2)):
        kmeans = PrivateKMeans(3, Ball(d, norm), dp.PureDP(1.0, adjacency=adjacency), counts_share=0.5)
        for counts, sums in kmeans.noises():
            assert counts.scale == pytest.approx(times / step)
            assert sums.scale == pytest.approx(times * factor / step)


def cases():
    corners = {1: ((-1.0, 0.0), (1.0, 0.0), (0.25, -0.5)), 2: ((0.0, 0.0), (0.6, -0.8), (-1.0, 0.0))}
    corners[INF] = ((0.0, 0.0), (1.0, 1.0), (-1.0, 1.0))
    for adjacency, norm in itertools.product((dp.ADD_REMOVE, dp.REPLACE_ONE), NORMS):
        pairs = adjacency.pairs(corners[norm], 2)
        for budget in (dp.PureDP(0.6, adjacency=adjacency), dp.GDP(0.6, adjacency=adjacency)):
            kmeans = PrivateKMeans(2, Ball(2, norm), budget, rounds=1)
            mechanism = kmeans.mechanism([[-0.5, 0.0], [0.5, 0.0]])
            # A point of l1 norm sqrt(2) in the l2 ball is not on the grid; a replaced row moves Gaussian
            # counts and sums the most in different pairs.
            gaussian = isinstance(budget, dp.GDP)
            tight = adjacency is dp.ADD_REMOVE if gaussian else norm != 2
            yield Case(f"{adjacency!r}, norm {norm}, {budget!r}", mechanism, pairs, tight, draws=4000)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_one_round_keeps_the_contract(case, rng):
    assert faults(case, rng) == []


def test_a_round_is_two_mechanisms_composed(rng):
    """The same law and promise as counts and sums asked one after the other."""
    kmeans = PrivateKMeans(3, Ball(2), dp.PureDP(1.0), rounds=1)
    points = data.clusters(50, 3, 2, rng).points
    step = kmeans.mechanism(spread(kmeans.ball, 3, rng))
    parts = []
    for part, noise in enumerate((step.counts, step.sums)):

        def query(rows, part=part):
            return np.ravel(statistics(step.ball.project(rows), step.centres)[part])

        parts.append(dp.LaplaceMechanism(noise.epsilon, sensitivity=noise.sensitivity, query=query))
    both = dp.Composed(*parts)
    assert both.law(points).mean() == pytest.approx(step.law(points).mean())
    assert both.law(points).variance() == pytest.approx(step.law(points).variance())
    assert both.guarantee == step.guarantee


# --- the budget ---------------------------------------------------------------------------------------


@given(
    rounds=st.integers(1, 12),
    growth=st.floats(0.5, 3),
    share=st.none() | st.floats(0.05, 0.95),
    ball=balls,
    adjacency=st.sampled_from((dp.ADD_REMOVE, dp.REPLACE_ONE)),
)
def test_rounds_spend_the_budget_and_no_more(rounds, growth, share, ball, adjacency):
    pure = PrivateKMeans(
        3, ball, dp.PureDP(0.8, adjacency=adjacency), rounds, growth=growth, counts_share=share
    )
    assert pure.guarantee.epsilon(0) == pytest.approx(0.8, rel=1e-12)
    assert pure.guarantee.adjacency is adjacency
    for budget in (dp.ZCDP(0.08, adjacency=adjacency), dp.GDP(0.4, adjacency=adjacency)):
        gaussian = PrivateKMeans(3, ball, budget, rounds, growth=growth, counts_share=share)
        assert gaussian.guarantee.mu == pytest.approx(0.4, rel=1e-12)
    assert sum(pure.shares) == pytest.approx(1)
    assert np.all(np.isclose(np.diff(np.log(pure.shares)), math.log(growth)))


def test_approximate_budget_uses_the_exact_gaussian():
    kmeans = PrivateKMeans(3, Ball(2), dp.ApproxDP(1.0, 1e-5), rounds=7)
    assert kmeans.guarantee.delta(1.0) == pytest.approx(1e-5, rel=1e-6)
    assert kmeans.guarantee.epsilon(1e-5) == pytest.approx(1.0, abs=1e-9)


def test_trace_accounts_for_every_round(rng):
    kmeans = PrivateKMeans(3, Ball(2), dp.PureDP(1.0), rounds=4, growth=2.0)
    trace = kmeans.run(data.clusters(500, 3, 2, rng).points, rng)
    budget = PureFilter(1.0)
    paid = [r.paid for r in trace.rounds]
    assert budget.refuses(paid[:-1], paid[-1]) == ""
    assert budget.refuses(paid, dp.PureDP(1e-6)) != ""
    assert [r.spent.epsilon(0) for r in trace.rounds] == pytest.approx([1 / 15, 3 / 15, 7 / 15, 1.0])
    assert trace.guarantee == trace.rounds[-1].spent
    assert trace.guarantee.epsilon(0) == pytest.approx(kmeans.guarantee.epsilon(0))


def test_worst_case_says_more_than_the_guarantee():
    kmeans = PrivateKMeans(3, Ball(2), dp.PureDP(1.0), rounds=30)
    loss = kmeans.worst_case()
    assert loss.max_divergence() == pytest.approx(1.0)
    assert loss.epsilon(1e-6) < 0.6 < kmeans.guarantee.epsilon(1e-6)
    gaussian = PrivateKMeans(3, Ball(2), dp.ZCDP(0.5), rounds=30)
    assert gaussian.worst_case().epsilon(1e-6) == pytest.approx(gaussian.guarantee.epsilon(1e-6))


def error_of_a_typical_centre(budget, ball, share):
    counts, sums = noises(budget, ball, share)
    d = ball.dim
    typical = {1: 2 * d / ((d + 1) * (d + 2)), 2: d / (d + 2), INF: d / 3}[ball.norm]
    return float(d * sums.noise(0.0).variance() + typical * counts.noise(0.0).variance())


@given(ball=balls, budget=st.sampled_from((dp.PureDP(1.0), dp.GDP(1.0))), other=st.floats(0.01, 0.99))
def test_the_default_share_is_the_best(ball, budget, other):
    best = error_of_a_typical_centre(budget, ball, best_share(budget, ball))
    assert best <= error_of_a_typical_centre(budget, ball, other) * (1 + 1e-9)


@given(size=st.integers(10, 10**6), k=st.integers(1, 9), epsilon=st.floats(0.01, 5), ball=balls)
def test_more_points_or_budget_carry_more_rounds(size, k, epsilon, ball):
    """And the noise of the rounds that are chosen is as small as stated, unless there are only two."""
    rounds = rounds_for(size, k, ball, dp.PureDP(epsilon))
    assert 2 <= rounds <= rounds_for(2 * size, k, ball, dp.PureDP(epsilon)) <= 8
    assert rounds <= rounds_for(size, k, ball, dp.PureDP(2 * epsilon))
    assert rounds >= rounds_for(size, k, ball, dp.PureDP(epsilon, adjacency=dp.REPLACE_ONE))
    *_, (_, sums) = PrivateKMeans(k, ball, dp.PureDP(epsilon), rounds).noises()
    error = math.sqrt(2 * ball.dim) * sums.scale * k / size
    assert rounds == 2 or error <= 0.1 * (1 + 1e-9)


# --- runs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [dp.PureDP(1.0), dp.ZCDP(0.1)], ids=["laplace", "gaussian"])
def test_what_is_released_has_the_stated_noise(budget):
    """On no data at all, the first round of many runs is pure noise of the right scale: KS at 1e-9."""
    from scipy import stats

    kmeans = PrivateKMeans(4, Ball(2), budget, rounds=1)
    ((counts, sums),) = kmeans.noises()
    runs = [kmeans.run(np.zeros((0, 2)), np.random.default_rng(seed)).rounds[0] for seed in range(150)]
    law = stats.laplace if isinstance(budget, dp.PureDP) else stats.norm
    for noise, values in (
        (counts, np.concatenate([r.noisy_counts for r in runs])),
        (sums, np.concatenate([r.noisy_sums.ravel() for r in runs])),
    ):
        scale = noise.noise(0.0).scale
        assert len(values) == 150 * 4 * (1 if noise is counts else 2)
        assert stats.kstest(values, law(scale=scale).cdf).pvalue > 1e-9


def test_runs_see_the_data_only_through_counts_and_sums(rng):
    """Rows in another order, or others with the same statistics, give the same run to the last bit."""
    kmeans = PrivateKMeans(3, Ball(2), dp.PureDP(1.0))
    points = data.clusters(2000, 3, 2, rng).points
    one = kmeans.run(points, np.random.default_rng(5))
    two = kmeans.run(rng.permutation(points), np.random.default_rng(5))
    assert np.array_equal(one.path, two.path)
    alone = PrivateKMeans(1, Ball(2), dp.PureDP(1.0))  # one cluster: only the number and the sum count
    wide, narrow = [[0.5, 0.0], [-0.5, 0.0]], [[0.0, 0.25], [0.0, -0.25]]
    runs = [alone.run(rows, np.random.default_rng(5)).path for rows in (wide, narrow)]
    assert np.array_equal(*runs)


def test_start_is_the_same_whatever_the_data(rng):
    kmeans = PrivateKMeans(5, Ball(3), dp.PureDP(1.0))
    starts = [
        kmeans.run(points, np.random.default_rng(1)).path[0]
        for points in (np.zeros((0, 3)), rng.normal(size=(50, 3)))
    ]
    assert np.array_equal(*starts)
    gaps = np.linalg.norm(starts[0][:, None] - starts[0], axis=2) + 9 * np.eye(5)
    assert gaps.min() > 0.4


@pytest.mark.parametrize("budget", [dp.PureDP(1e7), dp.GDP(1e7)], ids=repr)
def test_with_hardly_any_noise_it_is_lloyd(budget):
    points = data.clusters(3000, 4, 2, np.random.default_rng(3)).points
    ball = Ball(2)
    compared = 0
    for seed in range(5):
        exact = lloyd(points, 4, 6, ball, np.random.default_rng(seed))
        trace = PrivateKMeans(4, ball, budget, rounds=6).run(points, np.random.default_rng(seed))
        if not any(r.revived.any() for r in trace.rounds):  # Lloyd's empty clusters stay where they are
            assert np.allclose(trace.centres, exact, atol=1e-4)
            compared += 1
    assert compared >= 2


def test_lloyd_lowers_the_cost_every_round():
    points = data.clusters(2000, 5, 3, np.random.default_rng(0)).points
    ball = Ball(3)
    costs = [cost(points, lloyd(points, 5, t, ball, np.random.default_rng(2)), ball) for t in range(1, 9)]
    assert np.all(np.diff(costs) <= 1e-3)


def test_cost_is_the_sum_of_squared_distances(rng):
    ball = Ball.box((0, 0), (10, 10))
    points, centres = rng.uniform(0, 10, (200, 2)), rng.uniform(0, 10, (4, 2))
    gaps = np.square(points[:, None] - centres).sum(2).min(1) / 25
    assert cost(points, centres, ball) == pytest.approx(gaps.sum(), rel=1e-4)


@pytest.mark.parametrize("empty", ["split", "uniform"])
@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.full((40, 2), 0.3)], ids=["none", "one spot"])
def test_empty_clusters_get_centres_in_the_ball(empty, points):
    kmeans = PrivateKMeans(6, Ball(2), dp.PureDP(0.5), empty=empty)
    for seed in range(20):
        trace = kmeans.run(points, np.random.default_rng(seed))
        assert np.isfinite(trace.path).all()
        assert np.linalg.norm(trace.path, axis=2).max() <= 1
        assert any(r.revived.any() for r in trace.rounds)


def test_a_revived_cluster_starts_beside_the_largest(rng):
    ball = Ball(2)
    noise = noises(dp.PureDP(10.0), ball)
    step = LloydRound(ball, ball.sample(rng, 4), *noise)
    counts = np.array([1000.0, 400.0, -3.0, 0.5])
    sums = np.array([[500.0, 0.0], [0.0, 200.0], [9.0, 9.0], [9.0, 9.0]])
    after, revived = recentre(step, counts, sums, "split", rng)
    assert revived.tolist() == [False, False, True, True]
    assert after[:2].tolist() == [[0.5, 0.0], [0.0, 0.5]]
    # 1000 is split into 500 and 500, and then still is the largest.
    assert np.linalg.norm(after[2:] - after[0], axis=1).max() <= 0.1001


def test_splitting_beats_the_textbook_restart():
    """Over the same 20 runs the mean cost is lower; that is why it is the default."""
    costs = {}
    for empty in ("split", "uniform"):
        found = []
        for seed in range(20):
            points = data.clusters(5000, 6, 3, np.random.default_rng(seed)).points
            kmeans = PrivateKMeans(6, Ball(3), dp.PureDP(1.0), empty=empty)
            trace = kmeans.run(points, np.random.default_rng(seed))
            found.append(cost(points, trace.centres, kmeans.ball))
        costs[empty] = np.mean(found)
    assert costs["split"] < 0.8 * costs["uniform"]


def test_exact_assignment_is_kept_apart_and_only_on_demand(rng):
    points = data.clusters(300, 3, 2, rng).points
    kmeans = PrivateKMeans(3, Ball(2), dp.PureDP(1.0), rounds=2)
    plain = kmeans.run(points, np.random.default_rng(0))
    shown = kmeans.run(points, np.random.default_rng(0), reveal=True)
    assert plain.not_private == ()
    assert np.array_equal(plain.path, shown.path)
    assert [labels.shape for labels in shown.not_private] == [(300,), (300,)]
    gaps = np.square(points[:, None] - shown.rounds[0].centres).sum(2)
    assert np.mean(gaps.argmin(1) == shown.not_private[0]) > 0.999


def test_data_coordinates_in_and_out(rng):
    """A box in dollars and years gives centres in dollars and years."""
    table = data.rand_health()
    points = np.stack([table["age"], table["income"]], axis=1).astype(float)
    ball = Ball.box((0, 0), (70, 30_000))
    trace = PrivateKMeans(3, ball, dp.ZCDP(0.1)).run(points, rng)
    assert trace.path.shape == (6, 3, 2)
    assert np.all((trace.path >= 0) & (trace.path <= (70, 30_000)))
    assert np.ptp(trace.centres[:, 1]) > 1000


# --- how it is got wrong ------------------------------------------------------------------------------

LEAKS = [
    (unsound.wrong_ball(4), 0.300, 1.5),
    (unsound.wrong_ball(16), 0.500, 2.5),
    (unsound.wrong_ball(64), 0.900, 4.5),
    (unsound.rescaled_by_the_data(), 9.8, 98.0),
    (unsound.replaced_row(), 0.4, 2.0),
    (unsound.undivided_round(), 0.4, 2.0),
    (unsound.skips_empty_clusters(), INF, INF),
]


@pytest.mark.parametrize(("trap", "loss", "leak"), LEAKS, ids=lambda v: getattr(v, "name", ""))
def test_traps_leak_exactly(trap, loss, leak, rng):
    assert trap.loss().max_divergence() == pytest.approx(loss)
    assert trap.leak == pytest.approx(leak)
    found = {f.rule for f in faults(Case(trap.name, trap.mechanism, ((trap.left, trap.right),)), rng)}
    assert "promise" in found
    assert "neighbours" not in found


def test_every_trap_is_listed():
    assert [trap.name for trap in unsound.traps()] == [trap.name for trap, _, _ in LEAKS]


@pytest.mark.parametrize("dim", [4, 16, 64])
def test_the_right_noise_survives_the_same_pair(dim):
    trap = unsound.wrong_ball(dim)
    sound = PrivateKMeans(1, Ball(dim), dp.PureDP(0.2), rounds=1, counts_share=0.5)
    mechanism = sound.mechanism(np.zeros((1, dim)))
    loss = mechanism.loss(trap.left, trap.right)
    assert loss.max_divergence() == pytest.approx(0.2, rel=1e-12)  # and no smaller noise would do


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Ball(0), "dim = 0"),
        (lambda: Ball(2000), "dim = 2000 .*at most 1024.*public map"),
        (lambda: Ball(2, norm=3), "norm = 3 .*one of 1, 2, inf"),
        (lambda: Ball(2, radius=0), "radius = 0 .*known without the data"),
        (lambda: Ball(2, radius=(1, 2, 3)), "radius = .*a number or 2 numbers"),
        (lambda: Ball(2, centre=(0, math.nan)), "centre = .*finite"),
        (lambda: Ball.box((0, 5), (1, 5)), "high = .*above low"),
        (lambda: Ball(2).project([[1, 2, 3]]), "rows of 2 numbers"),
        (lambda: Ball(2).project([[1, math.nan]]), "points = .*finite.*public default"),
        (lambda: rounds_for(0, 2, Ball(2), dp.PureDP(1)), "size = 0"),
        (lambda: lloyd([[0, 0]], 2, 3, Ball(2), 3, [[0, 0]]), "start = '1 rows' .*2 rows"),
        (lambda: PrivateKMeans(0, Ball(2), dp.PureDP(1)), "k = 0"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1), 0), "rounds = 0"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(0)), "budget = .*above 0"),
        (lambda: PrivateKMeans(2, Ball(2), dp.ZCDP(0)), "budget = .*above 0"),
        (lambda: PrivateKMeans(2, Ball(2), dp.RDP(lambda a: a)), "budget = .*PureDP, ApproxDP, ZCDP or GDP"),
        (lambda: PrivateKMeans(2, Ball(2), dp.ApproxDP(1, 0)), "delta = 0.* above 0 for Gaussian"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1), growth=0), "growth = 0"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1), growth=1e300), r"growth = 1e\+300 .*some budget"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1), growth=1e-9), "growth = 1e-09 .*some budget"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(math.inf)), "budget = .*and finite"),
        (lambda: PrivateKMeans(2, 3, dp.PureDP(1)), "ball = 3 .*a Ball"),
        (
            lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1), counts_share="a"),
            "counts_share = 'a' .*a real number",
        ),
        (lambda: PrivateKMeans(1, Ball(1), dp.PureDP(1)).mechanism([[0]], 5), "index = 5 .*below 5"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1), counts_share=1), "counts_share = 1 .*both parts"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1), empty="drop"), "empty = 'drop'"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1)).mechanism([[0, 0]]), "centres = '1 rows' .*2 rows"),
        (lambda: PrivateKMeans(2, Ball(2), dp.PureDP(1)).run([[0, 0]], 3), "rng = 3 .*Generator"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(BadInput, match=message):
        call()


@pytest.mark.parametrize("norm", [1, 2, math.inf])
@pytest.mark.parametrize("ball", [{}, {"radius": 1e-10}, {"centre": -1e308}])
def test_the_farthest_points_end_at_the_border_on_their_ray(norm, ball):
    """Squares of such numbers overflow: without care a point at infinity ends in the centre."""
    at = Ball(2, norm, **ball).project([[1e308, 1e308], [1e200, 1e200]] if not ball else [[1e308, 1e308]])
    assert np.allclose(at, 2.0 ** (-1 / norm), atol=1e-5)
    assert Ball(2, norm, **ball).outside(1.0).law([(1e308, 1e308)]).loc == 1
