"""Puts a judgment together from verdicts on the chains: groups, statuses, marks of the points, what is open, score.

Invariants that it holds: chains of a group have one status; a dead stone's point is its opponent's; every point has
exactly one mark; the score is counted from the marks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from engine.board.position import BLACK, EMPTY, WHITE, Position
from engine.board.rules import Rules
from engine.board.scoring import pass_alive, territory
from engine.judge.board import Board
from engine.judge.exchanges import gainful_captures
from engine.judge.groups import Body, bodies, in_seki
from engine.judge.opening import neutral_points, open_items
from engine.judge.readings import Reading
from engine.judge.score import count
from engine.judge.settings import JudgeSettings
from engine.judge.settle import Verdict, contested_points, dead_chains, dead_mask
from engine.judge.types import ChainStatus, Group, Judgment, OpenItem, Opinion, Status

_PLAIN = Rules()
_TAXED = Rules(tax="SEKI")
_NO_READINGS: Mapping[int, Reading] = MappingProxyType({})
SCORE_QUANTILE = 1.2816  # a normal deviate is within so many standard deviations with 80 %


@dataclass(slots=True)
class Marks:
    """The marks of the points while they are made; all [H, W]."""

    dead: NDArray[np.bool_]
    plain: NDArray[np.uint8]  # owner of every point, eyes in seki included
    taxed: NDArray[np.uint8]  # without eyes in seki and points that must be filled


def assemble(
    position: Position,
    board: Board,
    found: list[Verdict],
    opinion: Opinion | None,
    settings: JudgeSettings,
    readings: Mapping[int, Reading] = _NO_READINGS,
) -> Judgment:
    """Return the judgment that follows.

    Args:
        position: as it stands, final passes included.
        found: of each chain of the board.
        readings: of chains, as far as they finished.
    """
    dead = dead_chains(board, found, settings.dead)
    marks = make_marks(position, board, dead, opinion, settings)
    facts = pass_alive(position)
    groups = bodies(board, dead, marks.plain, marks.taxed, facts)
    seki = in_seki(board, groups)
    chains, public = _statuses(board, found, dead, groups, seki, settings.temperature)
    counted = marks.plain if position.rules.tax == "NONE" else marks.taxed
    empty = (position.board() == EMPTY) | marks.dead
    land = np.where(empty, counted, EMPTY).astype(np.uint8)
    seki_points = _seki_points(board, groups, seki)
    if position.rules.tax != "NONE":
        land[seki_points] = EMPTY
    black, white = count(position, marks.dead, land)
    score = round(black.total - white.total, 4)
    shape = (board.height, board.width)
    open_, doubt = open_items(board, found, marks.dead, land, seki_points, opinion, settings, readings, facts)
    gainful = gainful_captures(position, board, found, groups, seki, settings) if settings.nodes > 0 else []
    open_ += gainful
    doubt += sum(item.swing for item in gainful)
    if position.rules.scoring == "AREA":
        open_ += neutral_points(board, marks.dead, land, seki_points, open_)
    expected, low, high = _expectation(score, opinion, open_)
    if position.rules.scoring == "AREA":  # nets say more than the board holds where one side is crushed
        most, beside = float(board.area), white.bonus - black.bonus
        expected, low, high = (max(-most - beside, min(most - beside, value)) for value in (expected, low, high))
    return Judgment(
        width=board.width, height=board.height, chains=chains, groups=public,
        owner=_signs(np.where(empty, marks.plain, position.board())),
        territory=_signs(land),
        dame=_dame(position, marks, land) & ~seki_points,
        seki_points=seki_points,
        confidence=_confidence(board, found, opinion, shape, settings.temperature),
        ownership=None if opinion is None else opinion.owner,
        score=score, black=black, white=white,
        finished=not open_, open=tuple(open_),
        expected_score=expected, score_low=low, score_high=high,
        winrate=_winrate(score, opinion, finished=not open_),
        doubt=doubt, source="" if opinion is None else opinion.name,
        passed=position.ended,
    )  # fmt: skip


def living_groups(
    position: Position, board: Board, found: list[Verdict], opinion: Opinion | None, settings: JudgeSettings
) -> list[Body]:
    """Return the groups of the chains that the verdicts let live; deaths without proof connect nobody."""
    dead = dead_chains(board, found, settings.dead)
    marks = make_marks(position, board, dead, opinion, settings)
    doubtful = {chain for chain in dead if not found[chain].proven}
    return bodies(board, dead, marks.plain, marks.taxed, pass_alive(position), doubtful)


def make_marks(
    position: Position, board: Board, dead: set[int], opinion: Opinion | None, settings: JudgeSettings
) -> Marks:
    """Return the owners of all points once the dead are off; where borders are open, as the opinion clearly says."""
    mask = dead_mask(board, dead)
    bare = position.copy()
    bare.set_rules(_PLAIN)
    plain = territory(bare, dead=mask)
    bare.set_rules(_TAXED)
    taxed = territory(bare, dead=mask)
    if opinion is not None:
        given = contested_points(board, dead, opinion.owner, settings.territory, settings.small)
        for action, color in given.items():
            plain.ravel()[action] = color
            taxed.ravel()[action] = color
    for marks in (plain, taxed):
        marks[mask] = 3 - position.board()[mask]  # a dead stone's point is its opponent's
    return Marks(mask, plain, taxed)


def _statuses(
    board: Board, found: list[Verdict], dead: set[int], groups: list[Body], seki: set[int], temperature: float
) -> tuple[tuple[ChainStatus, ...], tuple[Group, ...]]:
    """Return chains and groups; the dead ones are grouped by the region that they lie in."""
    members: list[tuple[int, Status, tuple[int, ...], tuple[int, ...]]] = []
    for index, body in enumerate(groups):
        status = Status.SEKI if index in seki else Status.ALIVE
        members.append((body.color, status, body.chains, tuple(sorted(sum(body.eyes, ())))))
    living = [chain >= 0 and chain not in dead for chain in board.chain_of]
    for region in board.regions(lambda action: not living[action]):
        for color in (BLACK, WHITE):
            inside = sorted({board.chain_of[action] for action in region if board.color[action] == color})
            if inside:
                members.append((color, Status.DEAD, tuple(inside), ()))
    chains: dict[int, ChainStatus] = {}
    public = []
    for index, (color, status, members_of, eyes) in enumerate(members):
        sure = []
        for chain in members_of:
            verdict = found[chain]
            confidence = verdict.confidence(status == Status.DEAD, temperature)
            sure.append(confidence)
            proven = verdict.proven and status != Status.SEKI and (verdict.p_dead > 0.5) == (status == Status.DEAD)
            chains[chain] = ChainStatus(color, board.chains[chain], status, confidence, proven, index)
        public.append(Group(color, members_of, status, min(sure), eyes))
    return tuple(chains[chain] for chain in range(len(board.chains))), tuple(public)


def _dame(position: Position, marks: Marks, land: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return the empty points that touch living stones of both sides, or that a tax takes."""
    board = np.where(marks.dead, EMPTY, position.board())
    touched = []
    for color in (BLACK, WHITE):
        here = np.pad(board == color, 1)
        touched.append(here[:-2, 1:-1] | here[2:, 1:-1] | here[1:-1, :-2] | here[1:-1, 2:])
    nobody = (position.board() == EMPTY) & (land == EMPTY)
    result: NDArray[np.bool_] = nobody & ((touched[0] & touched[1]) | (marks.plain != EMPTY))
    return result


def _seki_points(board: Board, groups: list[Body], seki: set[int]) -> NDArray[np.bool_]:
    """Return the empty points that belong to sekis: shared liberties and eyes of the groups in it."""
    points = np.zeros(board.area, dtype=np.bool_)
    for index in seki:
        body = groups[index]
        shared = frozenset().union(*(groups[other].dame for other in seki if groups[other].color != body.color))
        inside = [*(body.dame & shared), *body.false_points, *sum(body.eyes, ())]
        points[[action for action in inside if board.color[action] == EMPTY]] = True
    return points.reshape(board.height, board.width)


def _confidence(
    board: Board, found: list[Verdict], opinion: Opinion | None, shape: tuple[int, int], temperature: float
) -> NDArray[np.float32]:
    """Return how sure each point's mark is: a stone's as its chain's, an empty point's as the opinion says."""
    values = np.full(board.area, 0.5 if opinion is None else 0.0, dtype=np.float32)
    if opinion is not None:
        values[:] = (1.0 + np.abs(opinion.owner.ravel())) / 2.0
    for chain, verdict in enumerate(found):
        values[list(board.chains[chain])] = verdict.confidence(verdict.p_dead > 0.5, temperature)
    return values.reshape(shape)


SMALL_CHANGE = 10.0
"""Swing of all that is open up to which the count with that swing says more than the expectation of a net."""


def _expectation(score: float, opinion: Opinion | None, items: list[OpenItem]) -> tuple[float, float, float]:
    """Return the expected final score and bounds of it."""
    swing = sum(item.swing for item in items)
    small = swing <= SMALL_CHANGE and all(item.kind != "group" for item in items)
    if small or opinion is None or opinion.score_mean is None:
        return score, score - swing / 2.0, score + swing / 2.0
    width = SCORE_QUANTILE * (opinion.score_stdev or 0.0)
    return opinion.score_mean, opinion.score_mean - width, opinion.score_mean + width


def _winrate(score: float, opinion: Opinion | None, *, finished: bool) -> float | None:
    """Return Black's: the opinion's, or what the count says once nothing is open."""
    if finished:
        return 0.5 if score == 0 else float(score > 0)
    return None if opinion is None else opinion.winrate


def _signs(owners: NDArray[np.uint8]) -> NDArray[np.int8]:
    signs = np.zeros(owners.shape, dtype=np.int8)
    signs[owners == BLACK] = 1
    signs[owners == WHITE] = -1
    return signs
