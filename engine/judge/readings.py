"""Which chains are read to the end, and in which region: those without sure life whose surroundings are small.

A region is what safe stones of either side close in. Safe are unconditionally living chains, and groups that the
opinion takes for alive and that have two eyes, or much room, outside the region. The reading itself is reading.pyx.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from engine.board.position import EMPTY, Position
from engine.judge.board import Board
from engine.judge.groups import Body
from engine.judge.kos import Ko, find_kos
from engine.judge.reading import read_region
from engine.judge.settings import JudgeSettings
from engine.judge.settle import Verdict

MOST_POINTS = 64
NOT_SOUND = 0.02
"""Share of the readings that rest on opinion and are wrong (8 of 1650 in judged games, most of them wrong records)."""
ROOMY = 6
"""Points of a single eye that make a group safe for a reading."""
CAPTURED, SAFE = 1, -1


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading one chain came to. Moves are actions, the board's area for a pass, None where nothing helps."""

    chain: int
    attacked: int  # 1 captured, -1 safe, 0 unknown: if the attacker moves first
    defended: int  # the same if the defender moves first
    attack: int | None
    defence: int | None
    nodes: int
    sound: bool = False  # what closes the region in lives unconditionally, so that the reading is a proof

    @property
    def finished(self) -> bool:
        """True if both ways were read to the end."""
        return self.attacked != 0 and (self.defended != 0 or self.attacked == SAFE)

    @property
    def dead(self) -> bool | None:
        """True or False where it makes no difference who moves first; None where it does or is not known."""
        if self.attacked == SAFE:
            return False
        if self.attacked == CAPTURED and self.defended == CAPTURED:
            return True
        return None

    @property
    def verdict(self) -> Verdict:
        """What the reading says of the chain, if it says something: a fact, or nearly one."""
        p_dead = 1.0 if self.dead else 0.0
        return Verdict(p_dead if self.sound else abs(p_dead - NOT_SOUND), self.sound)

    @property
    def unsettled(self) -> bool:
        """True if whoever moves first decides."""
        return self.attacked == CAPTURED and self.defended == SAFE


@dataclass(frozen=True, slots=True)
class Region:
    """A closed part of the board: its points, and the points beside safe stones of each color."""

    points: tuple[int, ...]
    beside_safe: dict[int, frozenset[int]]
    walls: frozenset[int]  # the safe chains


def region_around(board: Board, chain: int, safe: set[int], most_empty: int) -> Region | None:
    """Return the region that safe chains close in around a chain; None if it is too large."""
    start = board.chains[chain][0]
    seen = {start}
    points = [start]
    empty = 0
    beside: dict[int, set[int]] = {1: set(), 2: set()}
    walls: set[int] = set()
    for action in points:  # grows while it is walked
        for near in board.neighbours[action]:
            other = board.chain_of[near]
            if other >= 0 and other in safe:
                beside[board.color[near]].add(action)
                walls.add(other)
            elif near not in seen:
                seen.add(near)
                points.append(near)
                empty += board.color[near] == EMPTY
        if len(points) > MOST_POINTS or empty > most_empty:
            return None
    beside_safe = {color: frozenset(found) for color, found in beside.items()}
    return Region(tuple(sorted(points)), beside_safe, frozenset(walls))


def read_chain(
    position: Position, board: Board, chain: int, region: Region, limit: int, price: Collection[int] = ()
) -> Reading:
    """Read a chain in its region, attacker first and, if it is captured then, defender first.

    Where kos come up and that makes no difference, territory rules have the last word: life and death are confirmed
    with the attacker first, and a taken ko may be taken back only after a pass (Japanese rules of 1989, article 7).

    Args:
        price: stones that the attacker must not lose for it.
    """
    index = {action: i for i, action in enumerate(region.points)}
    near = [[index[n] for n in board.neighbours[action] if n in index] for action in region.points]
    color = board.color_of(chain)
    stones = [[index[a] for a in region.points if board.color[a] == side] for side in (color, 3 - color)]
    firm = [[index[a] for a in region.beside_safe[side]] for side in (color, 3 - color)]
    target = [index[action] for action in board.chains[chain]]
    used, kos = 0, False

    def read(*, attacker_first: bool, confirming: bool = False) -> tuple[int, int | None]:
        nonlocal used, kos
        ko = position.ko_action
        mover = 3 - color if attacker_first else color
        barred = index.get(ko) if ko is not None and mover == position.to_play else None
        value, move, nodes, ko_seen = read_region(
            near, stones[0], stones[1], firm[0], firm[1], target, attacker_first=attacker_first, ko=barred, limit=limit,
            price=[index[stone] for stone in price], pass_for_ko=confirming,
        )  # fmt: skip
        used, kos = used + nodes, kos or ko_seen
        return value, None if move is None else board.area if move < 0 else region.points[move]

    attacked = read(attacker_first=True)
    defended = read(attacker_first=False) if attacked[0] == CAPTURED else (attacked[0] if attacked[0] < 0 else 0, None)
    reading = Reading(chain, attacked[0], defended[0], attacked[1], defended[1], used)
    if kos and reading.dead is not None and position.rules.scoring == "TERRITORY":
        confirmed, move = read(attacker_first=True, confirming=True)
        if confirmed != 0 and (confirmed == CAPTURED) != reading.dead:
            return Reading(chain, confirmed, confirmed, move, None, used)
    return replace(reading, nodes=used)


def safe_chains(
    board: Board, found: list[Verdict], groups: list[Body], chain: int, settings: JudgeSettings
) -> set[int]:
    """Return the chains that the reading of a chain takes for uncapturable.

    Proven life counts, and groups that the opinion is sure of and that have two eyes, or one with much room, none of
    them where the chain could play a part.
    """
    safe = {other for other, verdict in enumerate(found) if verdict.proven and verdict.p_dead == 0.0}
    concerned = set(board.liberties[chain]) | set(board.chains[chain])
    for body in groups:
        if chain in body.chains or any(found[other].p_dead > settings.sure for other in body.chains):
            continue
        eyes = [eye for eye in body.eyes if concerned.isdisjoint(eye)]
        if len(eyes) >= 2 or any(len(eye) >= ROOMY for eye in eyes):
            safe.update(body.chains)
    return safe


def wanted(board: Board, found: list[Verdict], groups: list[Body], settings: JudgeSettings) -> list[int]:
    """Return the chains to read: no proof, and doubted, dead, in atari, or without two eyes.

    Large chains come first, since what happens to the stones inside them follows; among them the most doubtful.
    """
    weak = {chain for body in groups if body.one_eyed for chain in body.chains}
    chosen = [
        chain
        for chain, verdict in enumerate(found)
        if not verdict.proven and (chain in weak or verdict.p_dead > settings.sure or len(board.liberties[chain]) == 1)
    ]
    return sorted(chosen, key=lambda chain: (len(board.chains[chain]) < 4, abs(1.0 - 2.0 * found[chain].p_dead)))


def read_all(
    position: Position, board: Board, found: list[Verdict], groups: list[Body], settings: JudgeSettings
) -> dict[int, Reading]:
    """Read the chains that need it, as far as the nodes of the settings reach. Return those that finished."""
    left = settings.nodes
    readings: dict[int, Reading] = {}
    kos = {ko.chain: ko for ko in find_kos(board)}
    regions: dict[int, Region] = {}
    for chain in wanted(board, found, groups, settings):
        if left <= 0:
            break
        if chain in kos and _follows(kos[chain], found, readings, settings):
            continue
        if _taken_by_the_dead(board, found, readings, chain):
            readings[chain] = Reading(chain, SAFE, SAFE, None, None, 0)
            continue
        region = region_around(board, chain, safe_chains(board, found, groups, chain, settings), settings.region)
        if region is None:
            continue
        reading = read_chain(position, board, chain, region, min(left, settings.chain_nodes))
        left -= reading.nodes
        sound = all(found[wall].proven and found[wall].p_dead == 0.0 for wall in region.walls)
        if reading.finished and (sound or believable(reading, found[chain].p_dead, settings)):
            readings[chain] = replace(reading, sound=sound)
            regions[chain] = region
    for chain in [chain for chain, reading in readings.items() if reading.dead]:
        readings[chain] = _at_a_price(position, board, readings, chain, regions[chain], min(left, settings.chain_nodes))
    for ko in kos.values():
        if ko.chain not in readings and (held := [readings[chain] for chain in ko.holders if chain in readings]):
            readings[ko.chain] = replace(held[0], chain=ko.chain)
    return {chain: _if_it_matters(board, found, readings, reading) for chain, reading in readings.items()}


def _follows(ko: Ko, found: list[Verdict], readings: dict[int, Reading], settings: JudgeSettings) -> bool:
    """Tell whether a ko's stone shares the fate of what holds the ko: one group, living or dead without doubt."""
    fates = {readings[chain].dead if chain in readings else _fate(found[chain], settings) for chain in ko.holders}
    return len(fates) == 1 and None not in fates


def _fate(verdict: Verdict, settings: JudgeSettings) -> bool | None:
    """Return whether an unread chain is dead, None if that is in doubt."""
    if verdict.p_dead <= settings.sure:
        return False
    return True if verdict.p_dead >= 1.0 - settings.sure else None


def _at_a_price(
    position: Position, board: Board, readings: dict[int, Reading], chain: int, region: Region, limit: int
) -> Reading:
    """Return the reading of a dead chain, or that it is safe if taking it costs the attacker what lives beside it.

    So it is in three points without capturing: the single stone can be taken, and five stones are then taken back.
    """
    price = [
        stone
        for other in board.touching(board.chains[chain])
        if other in readings and readings[other].nodes > 0 and readings[other].attacked == SAFE
        and board.color_of(other) != board.color_of(chain)
        for stone in board.chains[other]
        if stone in region.points
    ]
    if not price or limit <= 0:
        return readings[chain]
    again = read_chain(position, board, chain, region, limit, price)
    return replace(again, sound=readings[chain].sound) if again.attacked == SAFE else readings[chain]


def believable(reading: Reading, p_dead: float, settings: JudgeSettings) -> bool:
    """Tell whether a reading that rests on the opinion of its walls may contradict the opinion of the chain."""
    if reading.dead is False:
        return p_dead <= 1.0 - settings.sure
    return p_dead >= settings.sure


def _if_it_matters(board: Board, found: list[Verdict], readings: dict[int, Reading], reading: Reading) -> Reading:
    """Return a reading as it counts: what only dead stones could take is not taken."""
    if reading.attacked == SAFE or not _taken_by_the_dead(board, found, readings, reading.chain):
        return reading
    return replace(reading, attacked=SAFE, defended=SAFE, attack=None, defence=None)


def _taken_by_the_dead(board: Board, found: list[Verdict], readings: dict[int, Reading], chain: int) -> bool:
    """Tell whether a chain has opponents beside it or its liberties, all of them read or proven dead."""
    beside = board.touching(set(board.liberties[chain]) | set(board.chains[chain]))
    takers = [other for other in beside if board.color_of(other) != board.color_of(chain)]
    return bool(takers) and all(
        readings[other].dead is True if other in readings else found[other].proven and found[other].p_dead == 1.0
        for other in takers
    )
