"""Pictures: the only part that loads matplotlib. A function takes axes and data, and returns artists."""

from dpcourse.plots.accounting import comparison, comparison_over_k
from dpcourse.plots.approximate import (
    dimension_error,
    discounted_tail,
    excess,
    exposed,
    first_failures,
    membership,
    noisy_cells,
)
from dpcourse.plots.basics import neighbour_graph, noisy_counts, on_the_list, ranked, teeth, two_errors
from dpcourse.plots.budget import answers_list, gauge, plan_tree
from dpcourse.plots.clusters import (
    ball_prices,
    centres_among,
    error_of_share,
    extra_cost,
    played_losses,
    tipped,
    two_balls,
)
from dpcourse.plots.composition import block_answers, gain_of_listening, loss_ladder, peeking
from dpcourse.plots.course_map import course_map
from dpcourse.plots.decisions import Spot, decision_tree, knowledge, loss_walk, score
from dpcourse.plots.describe import described
from dpcourse.plots.failures import (
    crowds,
    fingerprints,
    gallery,
    recovery,
    rounding_errors,
    running_means,
    survivors,
    two_models,
)
from dpcourse.plots.game import roc
from dpcourse.plots.group import chain_of_neighbours, group_curves, hidden_data, two_inductions
from dpcourse.plots.laws import densities, log_ratio, shade
from dpcourse.plots.lloyd import costs_by_round, lloyd_map
from dpcourse.plots.many import epochs, power_laws, steps
from dpcourse.plots.panel import Panel
from dpcourse.plots.panels import panels, recycle
from dpcourse.plots.pixels import png
from dpcourse.plots.proofs import proof_bars, proof_slack
from dpcourse.plots.reconstruction import bitmap, phase
from dpcourse.plots.scenes import filter_at_work, policy_tree, table_scenario, two_policies
from dpcourse.plots.sensitivity import discounted, number_line, ratio_strip
from dpcourse.plots.sheet import Sheet, sheet
from dpcourse.plots.smooth import bars_of_error, dilated, ruled_out, tents, windows
from dpcourse.plots.sparse import claimed_loss, found_counts, price_of_streams, threshold_run
from dpcourse.plots.streams import borderline, curves, free_noes
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, STYLE, VERMILION, figure, label, show
from dpcourse.plots.synthetic import answer_errors, learned, net_errors, simplex_net, staircase

__all__ = [
    "BLUE",
    "GREEN",
    "INK",
    "PURPLE",
    "STYLE",
    "VERMILION",
    "Panel",
    "Sheet",
    "Spot",
    "answer_errors",
    "answers_list",
    "ball_prices",
    "bars_of_error",
    "bitmap",
    "block_answers",
    "borderline",
    "centres_among",
    "chain_of_neighbours",
    "claimed_loss",
    "comparison",
    "comparison_over_k",
    "costs_by_round",
    "course_map",
    "crowds",
    "curves",
    "decision_tree",
    "densities",
    "described",
    "dilated",
    "dimension_error",
    "discounted",
    "discounted_tail",
    "epochs",
    "error_of_share",
    "excess",
    "exposed",
    "extra_cost",
    "figure",
    "filter_at_work",
    "fingerprints",
    "first_failures",
    "found_counts",
    "free_noes",
    "gain_of_listening",
    "gallery",
    "gauge",
    "group_curves",
    "hidden_data",
    "knowledge",
    "label",
    "learned",
    "lloyd_map",
    "log_ratio",
    "loss_ladder",
    "loss_walk",
    "membership",
    "neighbour_graph",
    "net_errors",
    "noisy_cells",
    "noisy_counts",
    "number_line",
    "on_the_list",
    "panels",
    "peeking",
    "phase",
    "plan_tree",
    "played_losses",
    "png",
    "policy_tree",
    "power_laws",
    "price_of_streams",
    "proof_bars",
    "proof_slack",
    "ranked",
    "ratio_strip",
    "recovery",
    "recycle",
    "roc",
    "rounding_errors",
    "ruled_out",
    "running_means",
    "score",
    "shade",
    "sheet",
    "show",
    "simplex_net",
    "staircase",
    "steps",
    "survivors",
    "table_scenario",
    "teeth",
    "tents",
    "threshold_run",
    "tipped",
    "two_balls",
    "two_errors",
    "two_inductions",
    "two_models",
    "two_policies",
    "windows",
]
