"""Writes search results as analysis lines, in Leela Zero's integers (lz-) and KataGo's decimals (kata-).

Every figure is in the view of the side that searched. A line is: one "info" segment a move, the principal variation
last among the plain keys, then what was asked for beyond it; after all segments rootInfo, ownership, ownershipStdev.
A net that judges nothing gives priors alone: winrates, scores and utilities are left out rather than made up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.board.vertex import format_vertex
from engine.gtp.analysis_options import AnalysisOptions
from engine.search.result import FloatArray, MoveInfo, SearchResult

LZ, KATA = "lz", "kata"


@dataclass(frozen=True, slots=True)
class LineWriter:
    """Makes lines for one analysis.

    Args:
        dialect: LZ or KATA.
        options: what was asked for.
        pv_length: longest variation written, moves.
    """

    dialect: str
    options: AnalysisOptions
    pv_length: int = 15

    def line(self, result: SearchResult, least: int = 0) -> str:
        """Return the line for a result; empty if no move has been looked at yet.

        Args:
            least: moves to write at least, beyond what the options ask for.
        """
        moves = moves_to_show(result, max(self.options.min_moves, least), self.options.max_moves)
        if not moves:
            return ""
        write = self._lz_segment if self.dialect == LZ else self._kata_segment
        parts = [write(move, result) for move in moves]
        if self.options.wants("rootInfo"):
            parts.append(root_info(result))
        if self.options.wants("ownership") and result.ownership is not None:
            parts.append("ownership " + floats(result.ownership))
        if self.options.wants("ownershipStdev") and result.ownership_stdev is not None:
            parts.append("ownershipStdev " + floats(result.ownership_stdev))
        return " ".join(parts)

    def _lz_segment(self, move: MoveInfo, result: SearchResult) -> str:
        if not result.judged:
            return (
                f"info move {_vertex(result)(move.action)} visits {move.visits} prior {per_myriad(move.prior)} "
                f"order {move.order} {self._lines(move, result)}"
            )
        return (
            f"info move {_vertex(result)(move.action)} visits {move.visits} winrate {per_myriad(move.winrate)} "
            f"prior {per_myriad(move.prior)} lcb {per_myriad(move.lcb)} order {move.order} {self._lines(move, result)}"
        )

    def _kata_segment(self, move: MoveInfo, result: SearchResult) -> str:
        if not result.judged:
            return (
                f"info move {_vertex(result)(move.action)} visits {move.visits} edgeVisits {move.edge_visits} "
                f"prior {move.prior:.6f} order {move.order} {self._lines(move, result)}"
            )
        return (
            f"info move {_vertex(result)(move.action)} visits {move.visits} edgeVisits {move.edge_visits} "
            f"utility {move.utility:.6f} winrate {move.winrate:.6f} scoreMean {move.lead:.4f} "
            f"scoreStdev {move.score_stdev:.4f} scoreLead {move.lead:.4f} scoreSelfplay {move.score_mean:.4f} "
            f"prior {move.prior:.6f} lcb {move.lcb:.6f} utilityLcb {move.utility_lcb:.6f} weight {move.weight:.2f} "
            f"order {move.order} {self._lines(move, result)}"
        )

    def _lines(self, move: MoveInfo, result: SearchResult) -> str:
        length = self.pv_length
        text = "pv " + " ".join(map(_vertex(result), move.pv[:length]))
        if self.options.wants("pvVisits"):
            text += " pvVisits " + " ".join(map(str, move.pv_visits[:length]))
        if self.options.wants("pvEdgeVisits"):
            text += " pvEdgeVisits " + " ".join(map(str, move.pv_edge_visits[:length]))
        if self.options.wants("movesOwnership") and move.ownership is not None:
            text += " movesOwnership " + floats(move.ownership)
        return text


def moves_to_show(result: SearchResult, least: int, most: int | None) -> list[MoveInfo]:
    """Return the visited moves, best first, then unvisited ones by the net's policy until there are `least`."""
    moves = list(result.moves)
    if len(moves) < least:
        seen = {move.action for move in moves}
        for action in np.argsort(-result.raw.policy, kind="stable").tolist():
            if len(moves) >= least or result.raw.policy[action] <= 0:
                break
            if action not in seen:
                moves.append(unvisited(result, action, len(moves)))
    return moves if most is None else moves[:most]


def unvisited(result: SearchResult, action: int, order: int) -> MoveInfo:
    """Return a line for a move that the search has not looked at: the root's figures, the net's prior."""
    return MoveInfo(
        action=action,
        visits=0,
        edge_visits=0,
        winrate=result.winrate,
        utility=result.utility,
        score_mean=result.score_mean,
        score_stdev=result.score_stdev,
        lead=result.lead,
        prior=float(result.raw.policy[action]),
        lcb=0.0,
        utility_lcb=-1.0,
        weight=0.0,
        order=order,
        proven=None,
        pv=[action],
        pv_visits=[0],
        pv_edge_visits=[0],
    )


def root_info(result: SearchResult) -> str:
    """Return the figures of the root."""
    if not result.judged:
        return f"rootInfo visits {result.visits}"
    return (
        f"rootInfo visits {result.visits} utility {result.utility:.6f} winrate {result.winrate:.6f} "
        f"scoreMean {result.lead:.4f} scoreStdev {result.score_stdev:.4f} scoreLead {result.lead:.4f} "
        f"scoreSelfplay {result.score_mean:.4f} rawWinrate {result.raw.winrate:.6f} rawLead {result.raw.lead:.4f}"
    )


def per_myriad(probability: float) -> int:
    """Return a probability in Leela Zero's scale, 0 to 10000."""
    return min(max(round(probability * 10000), 0), 10000)


def floats(values: FloatArray) -> str:
    """Write a map row by row from the top left."""
    return " ".join(f"{value:.4f}" for value in values.ravel().tolist())


def _vertex(result: SearchResult) -> Callable[[int], str]:
    return lambda action: format_vertex(action, result.width, result.height)
