"""Answers that are not in the masters: other right ones earn the points, and what is not deserved none."""

from __future__ import annotations

import pytest

from dpcourse.grading.plan import plan
from dpcourse.grading.source import borrowed
from dpcourse.workbook.exercises import exercises
from dpcourse.workbook.notebook import text
from tests.test_exercises import UNITS, run

UNIT = {name[:2]: notebook for name, notebook in UNITS.items()}

RIGHT = {  # another formula, numpy, loops, lists for tuples, a helper with a name of the library's
    ("01", "tracker"): """
def tracker(n, smallest, target):
    others = sorted(set(range(n)).difference({target}))
    return [(1.0, np.array([*others[-smallest:], target])), (-1.0, np.array(others[-smallest:]))]
""",
    ("01", "two-releases"): """
def two_releases(k):
    pupils = np.arange(k * (k + 1))
    return pupils % k, pupils % (k + 1)
""",
    ("02", "respond"): """
def respond(coins, truth, odds, values):
    return truth if coins.flip((odds - 1) / (odds + values - 1)) else coins.integer(values)
""",
    ("02", "value"): """
def attack(candidates, epsilon):
    return np.zeros(candidates), np.ones(candidates), 0.0
""",
    ("02", "histogram"): """
def private_counts(epsilon, bins, replaced):
    moves = min(bins, 2) if replaced else 1
    whole = dp.laws.DiscreteLaplace
    return lambda data: dp.laws.Product(*[whole(data.count(b), moves / epsilon) for b in range(bins)])
""",
    ("03", "chain"): """
from itertools import chain
def chain_between(left, right):
    data, path = Counter(left), [list(left)]
    gone, new = data - Counter(right), Counter(right) - data
    for row, step in chain(((r, -1) for r in gone.elements()), ((r, 1) for r in new.elements())):
        data[row] += step
        path.append(list(data.elements()))
    return path
""",
    ("03", "group-delta"): """
def delta_for_group(epsilon, delta, size):
    return delta * math.expm1(size * epsilon) / math.expm1(epsilon) if epsilon else size * delta
""",
    ("03", "household"): """
def household_count(epsilon, size):
    return dp.Custom(lambda data: dp.laws.Laplace(len(data), size / epsilon), dp.PureDP(epsilon))
""",
    ("04", "books"): """
def admitted(tenths, prices):
    left, said = 10 * tenths, []
    for cents in (round(100 * price) for price in prices):
        said.append(cents <= left)
        left -= cents * said[-1]
    return said
""",
    ("04", "view"): """
def view(coins, bit, first, after_0, after_1):
    one = bit ^ (coins.integer(first + 1) == 0)
    return one, bit ^ (coins.integer((after_0, after_1)[one] + 1) == 0)
""",
    ("05", "read"): """
def read_off(points, centres):
    near = [min(range(len(centres)), key=lambda j: math.dist(p, centres[j])) for p in points]
    sums = np.zeros((len(centres), 2))
    for j, p in zip(near, points):
        sums[j] += p
    return np.bincount(np.array(near, dtype=int), minlength=len(centres)), sums
""",
    ("05", "budget"): """
def costly(step):
    return 1, -5, -5
""",
    ("05", "share"): """
def error(s, d, reach, size):
    return d * reach**2 / (1 - s) ** 2 + size / s**2
def best_split(d, reach, size):
    low, high = 1e-9, 1 - 1e-9
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if error(a, d, reach, size) < error(b, d, reach, size) else (a, high)
    return (low + high) / 2
""",
    ("05", "round"): """
def private_round(epsilon):
    def law(data):
        counts, sums = read_off(data, CENTRES)
        scales = [1 / (0.25 * epsilon)] * 2 + [1 / (0.75 * epsilon)] * 4
        return dp.laws.Product(dp.laws.Laplace([*counts, *sums[0], *sums[1]], scales))
    return law
""",
    ("06", "gauss-delta"): """
def gauss_delta(epsilon, sigma, sensitivity):
    t = epsilon * sigma**2 / sensitivity + sensitivity / 2
    delta = lambda mean: math.erfc((t - mean) / sigma / math.sqrt(2)) / 2
    return delta(sensitivity) - math.exp(epsilon) * delta(0)
""",
    ("06", "layers"): """
def layers(g):
    levels = sorted({Fraction(0), *g})
    return [(b - a, {y for y in range(4) if g[y] >= b}) for a, b in zip(levels, levels[1:])]
""",
    ("06", "sigma"): """
def least_sigma(epsilon, delta):
    low, high = 1e-3, 1e4
    while high / low > 1 + 1e-12:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if gauss_delta(epsilon, middle, 1) <= delta else (middle, high)
    digits = 3 - math.floor(math.log10(high))
    return math.ceil(high * 10**digits) / 10**digits
""",
    ("06", "means"): """
def private_means(epsilon, delta):
    scale = least_sigma(epsilon, delta) * math.sqrt(NUMBERS) / PEOPLE
    means = lambda data: [sum(column) / PEOPLE for column in zip(*data)]
    return lambda data: dp.laws.Product(dp.laws.Gaussian(means(data), scale))
""",
    ("06", "contest"): """
def noise(epsilon, delta):
    for reach in range(41):
        score = np.exp(-epsilon * np.abs(np.arange(-reach, reach + 1)))
        if score[0] <= delta * score.sum():
            return score / score.sum()
""",
    ("07", "exact-delta"): """
def exact_delta(epsilon, k, total):
    h, p, q = 1 / (1 + math.exp(-epsilon)), np.ones(1), np.ones(1)
    for _ in range(k):
        p, q = np.convolve(p, [1 - h, h]), np.convolve(q, [h, 1 - h])
    return np.maximum(p - math.exp(total) * q, 0).sum()
""",
    ("07", "worst"): """
def worst(epsilon, delta):
    e = math.exp(epsilon)
    p = [delta, (1 - delta) * e / (1 + e), (1 - delta) / (1 + e), 0.0]
    return lambda bit: dp.laws.Finite(range(4), p if bit == 0 else p[::-1])
""",
    ("08", "suspects"): """
def verdict(suspect):
    plan = {1: (5, 0), 2: (5, 2), 3: (3, 3)}
    if suspect not in plan:
        return None
    n, y = plan[suspect]
    return (0,) * (n + y), (1,) * n + (-1,) * y, np.arange(n + y) >= n
""",
    ("08", "symmetry"): """
def chance(noes, yeses):
    return 1 / ((noes + yeses + 1) * math.comb(noes + yeses, noes))
""",
    ("08", "draws"): """
def largest_error(queries, beta, scale):
    return -scale * math.log(-math.expm1(math.log1p(-beta) / (2 * queries)))
""",
    ("09", "smooth"): """
def smooth_of_median(data, beta):
    x, m = [0] * 60 + sorted(data) + [10] * 60, 60 + len(data) // 2
    ends = ((i, j) for i in range(m - 40, m + 1) for j in range(max(m, i + 1), m + 40))
    return max((x[j] - x[i]) * np.exp(-beta * (j - i - 1)) for i, j in ends)
""",
    ("09", "build"): """
def private_median(epsilon):
    q, (a, b) = dp.sensitivity.median(COUNT, low=0, high=10), constants(4.0)
    cauchy = dp.laws.GeneralizedCauchy
    return lambda data: cauchy(q(data), 2 * a / epsilon * q.smooth(data, epsilon / (2 * b)), 4.0)
""",
    ("09", "contest"): """
from fractions import Fraction
def design(epsilon):
    return [Fraction(3, 2), np.float64(0.4 * epsilon / 1.5), 2.5 / (2 * math.sqrt(1.5)) / (0.6 * epsilon)]
""",
    ("10", "clip"): """
def clipped(row, clip):
    return np.array(row) * min(1, clip / max(np.linalg.norm(row), 1e-300))
def clipped_sum(gradients, clip):
    return sum(clipped(row, clip) for row in gradients)
""",
    ("10", "leak"): """
def convict(epsilon, delta, target):
    p = np.array([1 - delta, delta, 0])
    return (p, p[[0, 2, 1]], 10_000) if delta else None
""",
    ("10", "tests"): """
def telling(second):
    x = np.linspace(0, 1, 100_001)[1:-1]
    y = np.minimum(1, x + np.sqrt(math.expm1(second) * x * (1 - x)))
    return [y[np.argmax(y - x)], x[np.argmax(y - x)]]
""",
    ("11", "best-test"): """
def best_misses(p, q, x):
    slopes = {a / b for a, b in zip(p, q) if b} | {0}
    return max(sum(min(a, t * b) for a, b in zip(p, q)) - t * x for t in slopes)
""",
    ("11", "compose"): """
def compose(masses, infinite, k):
    found = np.ones(1)
    for _ in range(k):
        found = np.convolve(found, masses)
    return [found, 1 - sum(found)]
""",
    ("12", "missing"): """
def normaliser(eta, p):
    return np.log1p(p * np.expm1(eta))
""",
    ("12", "update"): """
def bend(weights, query, answer, eta):
    way = np.sign(answer - np.average(query, weights=weights))
    new = np.array(weights) * np.exp(way * eta * np.array(query))
    return new / new.sum()
""",
}

UNDESERVED = {  # private and without waste, and about something else; or the library under another name
    ("02", "two-answers", "asked of the library"): """
def response_epsilon(a, b):
    def way(p, q):
        laws = (dp.laws.Finite((0, 1), (x, 1 - x)) for x in (p, q))
        return float(dp.loss.PrivacyLoss.between(*laws).epsilon(0.0))
    return max(way(a, b), way(b, a))
""",
    ("02", "respond", "right for two truths"): """
def respond(coins, truth, odds, values):
    if coins.flip(odds / (odds + values - 1)):
        return truth
    lie = coins.integer(values - 1)
    return lie + (lie >= bool(truth))
""",
    ("02", "histogram", "one bin only"): """
def private_counts(epsilon, bins, replaced):
    return lambda data: dp.laws.Laplace(float(data.count(0)), 1 / epsilon)
""",
    ("02", "people", "the check's own search"): """
def people_needed(low, high, epsilon, error, failure):
    fails = lambda n: 2 * dp.LaplaceMechanism(
        epsilon, sensitivity=sensitivity.mean_sensitivity(low, high, n, dp.REPLACE_ONE)
    ).law(0).sf(error)
    few, many = 0, 2**40
    while many - few > 1:
        n = (few + many) // 2
        few, many = (few, n) if fails(n) <= failure else (n, many)
    return many
""",
    ("03", "household", "the last household only"): """
def household_count(epsilon, size):
    return lambda data: dp.laws.Laplace(float(data.count("Dee")), size / epsilon)
""",
    ("06", "means", "one number"): """
def private_means(epsilon, delta):
    sigma = dp.gaussian_sigma(epsilon, delta, sensitivity=NUMBERS / PEOPLE)
    return lambda data: dp.laws.Gaussian(float(np.mean(data, axis=0).sum()), sigma)
""",
    ("07", "convict", "not the last claim"): """
def convict(claims, epsilon, slack):
    for k in range(1, len(claims)):
        if _excess(claims[k - 1], epsilon, k) > slack:
            return k
def _excess(total, epsilon, k):
    p = 1 / (1 + math.exp(-epsilon))
    return sum(
        math.comb(k, j) * max(p**j * (1 - p)**(k - j) - math.exp(total) * p**(k - j) * (1 - p)**j, 0)
        for j in range(k + 1)
    )
""",
    ("08", "program", "yeses in a row"): """
def program(coins, stream, cutoff):
    line, said, run = THRESHOLD + coins.integer(3) - 1, [], 0
    for q in stream:
        said.append(q + coins.integer(3) - 1 >= line)
        run = run + 1 if said[-1] else 0
        if run == cutoff:
            break
    return tuple(said)
""",
    ("09", "build", "the factor 2 forgotten in the scale"): """
def private_median(epsilon):
    q, (a, b) = dp.sensitivity.median(COUNT, low=0, high=10), constants(4.0)
    cauchy = dp.laws.GeneralizedCauchy
    return lambda data: cauchy(q(data), a / epsilon * q.smooth(data, epsilon / (2 * b)), 4.0)
""",
    ("09", "build", "the factor 2 forgotten in beta"): """
def private_median(epsilon):
    q, (a, b) = dp.sensitivity.median(COUNT, low=0, high=10), constants(4.0)
    cauchy = dp.laws.GeneralizedCauchy
    return lambda data: cauchy(q(data), 2 * a / epsilon * q.smooth(data, epsilon / b), 4.0)
""",
    ("10", "convert", "another name"): """
from dpcourse.accounting.theorems.moments import whole_orders as best
def converted(sigma, k, delta):
    return max(0.0, best(lambda a: a / (2 * sigma**2), k, delta, range(2, 101)))
""",
    ("10", "noise", "a thousandth of the answer"): """
def noisy(epsilon, delta, sensitivity):
    log = math.log(1 / delta)
    rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
    return lambda answer: laws.Gaussian(answer / 1000, sensitivity / math.sqrt(2 * rho) / 1000)
""",
}


@pytest.mark.parametrize(("unit", "name"), RIGHT, ids=lambda word: word)
def test_another_right_answer_passes(unit: str, name: str) -> None:
    exercise = next(one for one in exercises(UNIT[unit]) if one.name == name)
    assert len(list(run(UNIT[unit], exercise, RIGHT[unit, name]))) == 3


@pytest.mark.parametrize(("unit", "name", "how"), UNDESERVED, ids=lambda word: word)
def test_what_is_not_deserved_fails(unit: str, name: str, how: str) -> None:
    exercise = next(one for one in exercises(UNIT[unit]) if one.name == name)
    with pytest.raises(AssertionError, match="not yet"):
        list(run(UNIT[unit], exercise, UNDESERVED[unit, name, how]))


def test_every_unit_has_other_right_answers() -> None:
    assert {unit for unit, _ in RIGHT} == set(UNIT)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNIT)
def test_the_grader_knows_the_library_by_every_name(unit: str) -> None:
    """And neither the solutions nor the other right answers use what they must do without."""
    for task in plan(text(UNIT[unit]), "names").tasks:
        name = task.exercise.name
        for source in (
            RIGHT.get((unit, name), ""),
            next(c["source"] for c in UNIT[unit]["cells"] if c["id"] == name),
        ):
            assert borrowed([source], task.without) == []
        if "dpcourse" in task.without:
            for use in ("dp.laws", "expect.values", "check"):
                assert borrowed([f"def f(): return {use}"], task.without), (name, use)
