"""The settings of a search: one frozen dataclass, section `search` of a configuration.

How the tree is searched, what evaluations cost in memory, and what randomness is let in. What to look for in one search
(limits, moves left out, noise) is in root.py.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from engine.config import setting


@dataclass(frozen=True, slots=True)
class SearchParams:
    """Settings of `engine.search`. Utilities are in [-1, 1] for the value, a little more with the score."""

    cpuct: float = setting(1.0, "Exploration constant of PUCT.", low=0.0, high=100.0)
    cpuct_log: float = setting(
        0.45, "Growth of the exploration constant with the logarithm of the visits.", low=0.0, high=100.0
    )
    cpuct_base: float = setting(500.0, "Visits at which that growth sets in.", unit="visits", low=1.0, high=1e9)
    fpu_reduction: float = setting(0.2, "How far below its parent an unvisited move is taken to be.", low=0.0, high=2.0)
    root_fpu_reduction: float = setting(0.1, "The same at the root.", low=0.0, high=2.0)
    fpu_mean_power: float = setting(
        0.0,
        "Power of the policy already visited by which that starts from the mean of what was found rather than from the "
        "position's own evaluation; 0: from the mean.",
        low=0.0,
        high=10.0,
    )
    cpuct_stdev_scale: float = setting(
        0.0,
        "How far exploration follows the spread of the utilities found below a position; 0: not at all.",
        low=0.0,
        high=1.0,
    )
    cpuct_stdev_prior: float = setting(0.4, "The spread at which exploration is as set.", low=0.01, high=10.0)
    value_weight_power: float = setting(
        0.25, "Power of the chance to be the better move with which a move counts in its position's mean.",
        low=0.0, high=2.0,
    )
    noise_prune_scale: float = setting(
        0.15,
        "Utility by which a move must turn out worse for most of the visits beyond its share of the policy to count no "
        "more; 0: all count.",
        low=0.0,
        high=10.0,
    )
    bias_share: float = setting(
        0.45,
        "Share of the net's observed error in a local pattern that is taken off other evaluations of the pattern.",
        low=0.0,
        high=1.0,
    )
    uncertainty: bool = setting(
        False, "Let evaluations count more where the net says that it is sure, and less where it is not."
    )
    uncertainty_coeff: float = setting(
        0.25,
        "An evaluation weighs this / (expected error of its utility ^ uncertainty_exponent + this / "
        "uncertainty_max_weight).",
        low=0.0001,
        high=100.0,
    )
    uncertainty_exponent: float = setting(1.0, "Power of that error.", low=0.0, high=4.0)
    uncertainty_max_weight: float = setting(
        8.0, "Weight of what is certain: of proven results, and the most of an evaluation.", low=1.0, high=1000.0
    )
    graph: bool = setting(
        False, "Let move orders that lead to one position share its visits."
    )
    policy_temperature: float = setting(
        1.0,
        "Temperature of the net's policy, at every position: above 1 moves that it thinks little of count more, below "
        "1 less.",
        low=0.01,
        high=100.0,
    )
    move_mass: float = setting(
        0.0,
        "Look only at a position's first moves, in the net's order, until they hold this share of its policy; 0: at "
        "all moves. DarkForest has 0.8.",
        low=0.0,
        high=1.0,
    )
    move_count: int = setting(
        0,
        "Look only at so many of a position's moves, in the net's order; 0: at all. DarkForest has 20.",
        unit="moves",
        low=0,
        high=1000,
    )
    virtual_loss: float = setting(
        0.0,
        "Share of a lost visit that a walk still in flight counts as; 0 counts it as a visit only.",
        low=0.0,
        high=10.0,
    )

    win_loss_utility: float = setting(1.0, "Weight of winning.", low=0.0, high=10.0)
    static_score_utility: float = setting(0.1, "Weight of the score, measured from an even game.", low=0.0, high=10.0)
    dynamic_score_utility: float = setting(
        0.3, "Weight of the score, measured from the score expected now.", low=0.0, high=10.0
    )
    dynamic_score_scale: float = setting(
        0.75, "Width of the dynamic score utility, in square roots of the board's area.", low=0.01, high=100.0
    )
    dynamic_score_zero_weight: float = setting(
        0.2, "How far the expected score is drawn towards zero before it becomes the centre.", low=0.0, high=1.0
    )

    use_lcb: bool = setting(
        True, "Choose the move by the lower confidence bound of its utility instead of by visits alone."
    )
    lcb_stdevs: float = setting(5.0, "Width of the confidence bound.", unit="standard deviations", low=0.0, high=100.0)
    lcb_min_visits: float = setting(
        0.15,
        "Visits, as a share of the most visited move's, that a move needs to be chosen by its bound.",
        low=0.0,
        high=1.0,
    )

    solver: bool = setting(True, "Back proven results up the tree and treat decided moves as decided.")
    stop_when_proven: bool = setting(True, "End a search whose root is proven.")
    conservative_pass: bool = setting(
        True,
        "Hide from the net, at the root, that a pass would end the game, so that it looks for moves worth playing.",
    )
    tree_reuse: bool = setting(
        True, "Keep the part of the tree that still applies when the position continues the last one."
    )

    batch_size: int = setting(
        0, "Leaves in a batch; 0 lets the batch grow with the tree up to what suits the evaluator.", low=0, high=4096
    )
    pad_batches: bool = setting(
        False,
        "Evaluate full batches always, so that an evaluation never depends on how many there were; "
        "always so with a seed and a fixed batch size.",
    )
    batch_seconds: float = setting(
        0.05,
        "Time that one batch may take when the batch size is 0 and no seed is given.",
        unit="s",
        low=0.001,
        high=10.0,
    )
    two_batches: bool = setting(True, "Keep two batches in flight where the evaluator can.")

    symmetry: str = setting(
        "fixed", "Symmetry that positions are evaluated in.", choices=("fixed", "random", "average")
    )
    symmetry_index: int = setting(0, "The fixed symmetry.", low=0, high=7)
    root_symmetries: int = setting(1, "Symmetries averaged at the root.", low=1, high=8)

    tree_memory: int = setting(
        1024, "Memory that the tree may hold; a search ends when it is full.", unit="MiB", low=1, high=65536
    )
    cache_memory: int = setting(
        64, "Memory that the evaluation cache may hold; 0 for none.", unit="MiB", low=0, high=65536
    )
    cache_ignore_history: bool = setting(
        True, "Let positions share evaluations that differ in recent moves only. Never with a seed."
    )
    cache_symmetric: bool = setting(
        True,
        "Let positions of few stones share evaluations that are symmetric to each other; with symmetry fixed and "
        "cache_ignore_history only. Never with a seed.",
    )

    noise_fraction: float = setting(
        0.25, "Share of Dirichlet noise in the root priors when noise is asked for.", low=0.0, high=1.0
    )
    noise_alpha: float = setting(10.83, "Sum of the Dirichlet parameters over the legal moves.", low=0.01, high=1e6)
    wide_root_noise: float = setting(0.0, "Spread the root's visits over more moves, for analysis.", low=0.0, high=5.0)

    pv_length: int = setting(15, "Longest principal variation reported.", unit="moves", low=1, high=1000)

    def without_reports(self) -> SearchParams:
        """Return the settings with those at their defaults that neither the tree nor cached evaluations depend on."""
        defaults: dict[str, Any] = {f.name: f.default for f in fields(self) if f.name in REPORTS_AND_ROOT}
        return replace(self, **defaults)


# Settings that may change while a tree is kept.
REPORTS_AND_ROOT = frozenset(
    [
        "use_lcb",
        "lcb_stdevs",
        "lcb_min_visits",
        "pv_length",
        "noise_fraction",
        "noise_alpha",
        "wide_root_noise",
        "stop_when_proven",
        "batch_size",
        "pad_batches",
        "batch_seconds",
        "two_batches",
    ]
)
