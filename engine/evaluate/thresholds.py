"""`keisei evaluate thresholds`: fits the judge's thresholds to a net on validation games, and stores them with it.

Validation games are those of a table of judged games that are not held out and that training leaves out for validation
too. Every game is asked about once; then the thresholds are tried one after the other, and the one with the most games
right is taken, the middle one where several are equally good. What is fitted: from which probability a group is dead;
from which ownership an empty point between both sides' stones is territory, and dame otherwise; up to which size a
region between them is dame whatever the ownership (settings of the judge); before these, with --beside, how much the
judgment net's word counts beside that of the net that plays.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError, EngineError
from engine.train.judged import JudgedGame, read_judged, replay_judged
from engine.train.shards import game_number
from engine.usage import Parser

from .answers import EXACT

if TYPE_CHECKING:
    from engine.board.position import Position
    from engine.judge.settings import JudgeSettings
    from engine.judge.types import Opinion

log = logging.getLogger(__name__)

MODULUS = 97  # as engine.train.dataset.VALIDATION_MODULUS (which lies beside torch)
TRIED: dict[str, list[float]] = {
    "dead": [round(0.05 * step, 2) for step in range(2, 19)],
    "territory": [round(0.1 * step, 2) for step in range(1, 10)],
    "small": [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20],
}
WEIGHTS = [0.5, 0.75, 1.0]  # of the judgment net beside a playing net


class Asked:
    """One validation game and what the net said of its end; thresholds that change nothing are not judged again.

    Args:
        judged: the game.
        position: its end.
        opinion: the net's word of it.
    """

    def __init__(self, judged: JudgedGame, position: Position, opinion: Opinion) -> None:
        from engine.judge.board import Board
        from engine.judge.settle import verdicts

        self.judged, self.position, self.opinion = judged, position, opinion
        self._board = Board(position)
        self._dead = [verdict.p_dead for verdict in verdicts(position, self._board, opinion)]
        self._known: dict[Any, tuple[int, bool]] = {}

    def outcome(self, settings: JudgeSettings) -> tuple[int, bool]:
        """Return how many stones are wrong and whether the score is exact, judged with these settings."""
        from engine.judge import Judge
        from engine.judge.asking import GivenOpinion
        from engine.judge.settle import contested_points

        dead = frozenset(chain for chain, p in enumerate(self._dead) if p > settings.dead)
        given = contested_points(self._board, set(dead), self.opinion.owner, settings.territory, settings.small)
        key = dead, frozenset(given.items())
        if key not in self._known:
            judgment = Judge(GivenOpinion(self.opinion), settings).judge(self.position)
            assert self.judged.dead is not None
            truth = {int(action) for action in self.judged.dead.nonzero()[0]}
            exact = self.judged.margin is not None and abs(judgment.score - self.judged.margin) < EXACT
            self._known[key] = len(truth ^ judgment.dead), exact
        return self._known[key]


def validation_games(path: Path, modulus: int, limit: int) -> list[JudgedGame]:
    """Return the games of a table that are for validation.

    Args:
        modulus: a game validates if its number is divisible by it; training must have left these out.
        limit: at most so many; 0: all.
    """
    games = (game for game in read_judged(path, only_held_out=False) if game_number(game.game.moves) % modulus == 0)
    found = list(games)
    return found[:limit] if limit else found


def ask(source: Any, games: Sequence[JudgedGame]) -> list[Asked]:
    """Ask a source of opinions about the ends of games."""
    asked = []
    for judged in games:
        try:
            position = replay_judged(judged)
            opinion = source.opinion(position)
        except EngineError as error:
            log.warning("left out: %s", error)
            continue
        if opinion is not None:
            asked.append(Asked(judged, position, opinion))
    return asked


def count_right(asked: Sequence[Asked], settings: JudgeSettings) -> dict[str, int]:
    """Return how many dead sets and how many scores are exactly right, and how many stones are wrong."""
    outcomes = [item.outcome(settings) for item in asked]
    return {
        "dead_exact": sum(wrong == 0 for wrong, _ in outcomes),
        "score_exact": sum(exact for _, exact in outcomes),
        "stones_wrong": sum(wrong for wrong, _ in outcomes),
    }


def blended(asked: Sequence[Asked], others: Sequence[Asked], weight: float) -> list[Asked]:
    """Return what two sources say together of the games that both were asked about.

    Args:
        weight: of the first one's word on the points, the other's being 1 - weight.
    """
    known = {item.judged.game.moves: item.opinion for item in others}
    together = []
    for item in asked:
        if (other := known.get(item.judged.game.moves)) is not None:
            owner = (weight * item.opinion.owner + (1.0 - weight) * other.owner).astype("float32")
            together.append(Asked(item.judged, item.position, dataclasses.replace(item.opinion, owner=owner)))
    return together


def fit_weight(
    asked: Sequence[Asked], others: Sequence[Asked], progress: Callable[[str], None] = log.info
) -> tuple[float, dict[str, dict[str, int]]]:
    """Return the best weight of the first source beside the other, and what every weight came to."""
    from engine.judge import JudgeSettings

    results = []
    for weight in WEIGHTS:
        results.append((weight, count_right(blended(asked, others, weight), JudgeSettings())))
        progress(f"weight {weight}: {json.dumps(results[-1][1])}")
    return best_of(results), {str(weight): result for weight, result in results}


def best_of(results: Sequence[tuple[float, dict[str, int]]]) -> float:
    """Return the middle of the longest run of best values: most dead sets and scores right, then fewest stones wrong.

    >>> right = lambda n: {"dead_exact": n, "score_exact": n, "stones_wrong": 0}
    >>> best_of([(0.1, right(3)), (0.2, right(5)), (0.3, right(5)), (0.4, right(5)), (0.5, right(4))])
    0.3
    """

    def worth(result: dict[str, int]) -> tuple[int, int]:
        return result["dead_exact"] + result["score_exact"], -result["stones_wrong"]

    best = max(worth(result) for _, result in results)
    runs: list[list[float]] = [[]]
    for value, result in results:
        if worth(result) == best:
            runs[-1].append(value)
        elif runs[-1]:
            runs.append([])
    longest = max(runs, key=len)
    return longest[(len(longest) - 1) // 2]


def fit(asked: Sequence[Asked], progress: Callable[[str], None] = log.info) -> dict[str, Any]:
    """Fit the thresholds one after the other.

    Returns: "thresholds", "games", and "tried": for each threshold, value → what count_right says.
    """
    from engine.judge import JudgeSettings

    settings = JudgeSettings()
    report: dict[str, Any] = {"games": len(asked), "before": count_right(asked, settings), "tried": {}}
    for name, values in TRIED.items():
        results = []
        for value in values:
            results.append((value, count_right(asked, _with(settings, name, value))))
            progress(f"{name} {value}: {json.dumps(results[-1][1])}")
        settings = _with(settings, name, best_of(results))
        report["tried"][name] = {str(value): result for value, result in results}
    report["thresholds"] = {name: getattr(settings, name) for name in TRIED}
    report["after"] = count_right(asked, settings)
    return report


def _with(settings: JudgeSettings, name: str, value: float) -> JudgeSettings:
    changes: dict[str, Any] = {name: value}
    return dataclasses.replace(settings, **changes)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei evaluate thresholds`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei evaluate thresholds", description=__doc__)
    parser.add_argument("--net", required=True, help="judgment net: file or name")
    parser.add_argument("--data", type=Path, action="append", required=True, help="table of judged games; repeatable")
    parser.add_argument("--beside", metavar="NET", help="playing net that is asked too, as `keisei judge` does")
    parser.add_argument("--symmetries", type=int, default=2, choices=[1, 2, 3, 4])
    parser.add_argument("--modulus", type=int, default=MODULUS, help="which games validate; the net must not know them")
    parser.add_argument("--games", type=int, default=0, help="at most so many of a table; 0: all")
    parser.add_argument("--write", action="store_true", help="store the thresholds in the net's file")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto", choices=["auto", "float32", "bfloat16", "float16"])
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    if options.modulus < 1:
        raise ConfigError("--modulus: at least 1")
    from engine import factory
    from engine.nn.settings import NetSettings

    settings = NetSettings(device=options.device, precision=options.precision, threads=options.threads, max_batch=16)
    source = factory.load_judgment(options.net, settings, symmetries=options.symmetries)
    games = [game for path in options.data for game in validation_games(path, options.modulus, options.games)]
    if not games:
        raise ConfigError("no validation games in these tables")
    asked = ask(source, games)
    weighed: dict[str, Any] = {}
    if options.beside:
        from engine.judge.asking import NetOpinion

        playing = NetOpinion(factory.load(options.beside, settings).evaluator, symmetries=options.symmetries)
        others = ask(playing, games)
        weight, weighed = fit_weight(asked, others)
        asked = blended(asked, others, weight)
    report = fit(asked)
    if weighed:
        report["thresholds"]["weight"] = weight
        report["tried"]["weight"] = weighed
    if options.write:
        store(options.net, report["thresholds"], f"{report['games']} validation games, modulus {options.modulus}")
    print(json.dumps(report))
    return 0


def store(net: str, thresholds: dict[str, float], where: str) -> None:
    """Write thresholds into a net's file. Raises WeightsError."""
    from engine.nn.catalog import find
    from engine.nn.judgment_evaluator import write_thresholds

    write_thresholds(find(net), thresholds, where)
