"""The moves of a search in order, and the word of a net that chooses moves but judges nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.player.net import LoadedNet
from engine.search.result import MoveInfo, SearchResult

LEAST_PRIOR = 0.01
"""Moves less likely than that are not reported where a net's policy is all there is."""


def judges_nothing(net: LoadedNet) -> bool:
    """Tell whether a net gives a policy alone."""
    return bool(getattr(net.evaluator, "policy_only", False))


def by_policy(result: SearchResult) -> SearchResult:
    """Return the result of one evaluation by a net that judges nothing: its likeliest moves, no figures besides.

    A move that the search was told to leave out stays out: the first move is the search's own.
    """
    if result.proven is not None:
        return result  # the rules say who has won
    first, policy = result.moves[0], result.raw.policy
    others = [a for a in np.argsort(-policy, kind="stable").tolist() if a != first.action and policy[a] >= LEAST_PRIOR]
    allowed = first.prior >= float(policy.max())  # else moves were left out, and nobody knows here which
    moves = [
        MoveInfo(
            action=action, visits=0, edge_visits=0, winrate=0.5, utility=0.0, score_mean=0.0, score_stdev=0.0, lead=0.0,
            prior=float(policy[action]), lcb=0.5, utility_lcb=0.0, weight=0.0, order=order, proven=None,
            pv=[action], pv_visits=[0], pv_edge_visits=[0])
        for order, action in enumerate([first.action, *(others if allowed else [])])
    ]  # fmt: skip
    return replace(result, moves=moves, judged=False, ownership=None, ownership_stdev=None)


def ranked_moves(result: SearchResult) -> list[int]:
    """Return the actions of a result, the chosen one first, then the others from the best to the worst."""
    rest = [move.action for move in result.moves if move.action != result.chosen]
    seen = {result.chosen, *rest}
    by_policy = np.argsort(-result.raw.policy, kind="stable").tolist()
    return [result.chosen, *rest, *(a for a in by_policy if a not in seen and result.raw.policy[a] > 0)]
