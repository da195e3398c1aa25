"""Explorers: `explore.group_privacy()` in a notebook opens a picture to play with."""

from dpcourse.widgets.composition import composition
from dpcourse.widgets.densities import densities
from dpcourse.widgets.explorer import Explorer
from dpcourse.widgets.exponential import exponential
from dpcourse.widgets.game_table import game_table
from dpcourse.widgets.gaussian import gaussian
from dpcourse.widgets.group_privacy import group_privacy
from dpcourse.widgets.histogram import histogram
from dpcourse.widgets.kl_lemma import kl_lemma
from dpcourse.widgets.lloyd import private_lloyd
from dpcourse.widgets.loss_distribution import loss_distribution
from dpcourse.widgets.martingale import martingale
from dpcourse.widgets.median import median
from dpcourse.widgets.net import net_mechanism
from dpcourse.widgets.noisy_max import noisy_max
from dpcourse.widgets.private_table import private_table
from dpcourse.widgets.proof import proof
from dpcourse.widgets.randomized_response import randomized_response
from dpcourse.widgets.reconstruction import reconstruction
from dpcourse.widgets.renyi import renyi
from dpcourse.widgets.sparse_vector import sparse_vector
from dpcourse.widgets.tradeoff import tradeoff
from dpcourse.widgets.weights import multiplicative_weights

__all__ = [
    "Explorer",
    "composition",
    "densities",
    "exponential",
    "game_table",
    "gaussian",
    "group_privacy",
    "histogram",
    "kl_lemma",
    "loss_distribution",
    "martingale",
    "median",
    "multiplicative_weights",
    "net_mechanism",
    "noisy_max",
    "private_lloyd",
    "private_table",
    "proof",
    "randomized_response",
    "reconstruction",
    "renyi",
    "sparse_vector",
    "tradeoff",
]
