"""The player's search: one searcher and one judge over one net, made when the net is there, kept game after game."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from engine.board.position import Position
from engine.errors import EngineError
from engine.evaluator import Evaluator
from engine.judge.net_judge import Judge
from engine.judge.settings import JudgeSettings
from engine.judge.types import Judgment
from engine.player.net import LoadedNet, NetSource
from engine.player.pace import Pace
from engine.player.preparing import Preparing
from engine.player.ranking import by_policy, judges_nothing
from engine.player.stop import StopToken
from engine.search.params import SearchParams
from engine.search.result import SearchResult
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

log = logging.getLogger(__name__)


_JUDGE_COLD, _JUDGE_WARM = 1.5, 0.15  # seconds of a judgment: the first on a board size, and a guess for the next
_REMEMBERED = 16  # judgments
_FORGET = 0.9  # of what a judgment takes, with each that takes less
_BATCHES, _SHORTEST_BATCH = 40.0, 0.002  # batches in a timed search at least; seconds
_SHORTEST = 1e-6  # seconds of a search that has no time left
PLAIN = RootOptions()


@dataclass(frozen=True, slots=True)
class Wish:
    """What the asker of one search wants besides the result."""

    token: StopToken = field(default_factory=StopToken)
    report: Callable[[SearchResult], None] | None = None  # called with the figures so far
    interval: float | None = None  # seconds between reports
    root: RootOptions = PLAIN

    @property
    def restricts(self) -> bool:
        """True if some moves are not to be looked at."""
        return bool(self.root.avoid or self.root.allow)


class Thinker:
    """Searches and judges positions.

    Args:
        params: section `search`.
        net: where the evaluator comes from.
        seed: of everything random; None takes another one for each game.
        judging: section `judge`.
    """

    def __init__(
        self, params: SearchParams, net: NetSource, seed: int | None, judging: JudgeSettings | None = None
    ) -> None:
        self._params = params
        self._net = net
        self._fixed_seed = seed
        self._searcher: Searcher | None = None
        self._judging = judging or JudgeSettings()
        self._judge: Judge | None = None
        self._judgments: dict[tuple[object, ...], Judgment] = {}  # the last ones, by judged_as
        self._judge_seconds: dict[tuple[int, int], float] = {}  # that a judgment takes at most, by board size
        self._preparing = Preparing(net)
        self._new_game = False  # since the last search
        self._searched: list[tuple[int, int]] = []  # the moves before the last search

    @property
    def params(self) -> SearchParams:
        """The settings of the search; changing them drops the tree."""
        return self._params

    @params.setter
    def params(self, params: SearchParams) -> None:
        if self._searcher is not None:
            self._searcher.params = params
        self._params = params

    @property
    def judging(self) -> JudgeSettings:
        """The settings of the judge; changing them forgets its judgments."""
        return self._judging

    @judging.setter
    def judging(self, settings: JudgeSettings) -> None:
        self._judging = settings
        self._judge = None

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers anew."""
        self._fixed_seed = seed
        self._searcher = None

    def new_game(self) -> None:
        """Say that another game begins, or the same one is sent anew; the moves before the next search tell which."""
        self._new_game = True

    def clear(self) -> None:
        """Forget everything that was found."""
        self._judge = None
        if self._searcher is not None:
            self._searcher.clear()

    def supports_size(self, width: int, height: int) -> bool:
        """Tell whether the net can play on such a board, as far as is known by now."""
        return self._net.supports_size(width, height)

    def wait(self, token: StopToken) -> bool:
        """Wait for the net; False if the token was stopped first. Raises WeightsError, Abandoned."""
        arrived = self._net.wait(token) is not None
        token.check()
        return arrived

    def net(self, position: Position, token: StopToken) -> LoadedNet:
        """Wait for the net and check that it plays on this board. Raises EngineError, Abandoned."""
        net = self._net.wait(token)
        token.check()
        if net is None:
            raise EngineError("stopped before the net was loaded")
        if not net.evaluator.supports_size(position.width, position.height):
            raise EngineError(f"the net {net.name} cannot play on {position.width}x{position.height}")
        return net

    def search(
        self, position: Position, color: int, limits: Limits, wish: Wish, pace: Pace | None = None
    ) -> SearchResult:
        """Search a position for `color`, until a limit or as long as the pace has it.

        Raises EngineError; Abandoned if the result is not wanted any more.
        """
        begin = time.monotonic()
        net = self.net(position, wish.token)
        searcher = self._prepared(net, position, color, limits.seconds)
        if limits.seconds is not None:  # a large tree may take a while to be freed
            gone = time.monotonic() - begin
            limits = replace(limits, seconds=max(limits.seconds - gone, _SHORTEST))
            if pace is not None:
                pace.begin_later(gone)
        if judges_nothing(net):
            limits, wish, pace = Limits(visits=1), replace(wish, report=None), None
        report, interval = (wish.report, wish.interval) if pace is None else watched(wish, pace, searcher.stop)
        with wish.token.calling(searcher.stop):
            result = searcher.search(
                limits,
                report=report,
                report_interval=interval,
                root=wish.root,
                stop_event=wish.token.event,
            )
        wish.token.check()
        return by_policy(result) if judges_nothing(net) else result

    def policy_only(self, token: StopToken) -> bool:
        """Wait for the net and tell whether it chooses moves but judges nothing. Raises WeightsError, Abandoned."""
        net = self._net.wait(token)
        token.check()
        return net is not None and judges_nothing(net)

    def judge(self, position: Position, token: StopToken) -> Judgment:
        """Judge a position. What was said once is said again when passes follow, so that statuses stay as they were."""
        net = self.net(position, token)
        if self._judge is None:
            self._judge = Judge(net.opinions or net.evaluator, self._judging, evaluator=net.evaluator)
            self._judgments.clear()
        key = judged_as(position)
        known = self._judgments.get(key)
        if known is not None and not position.rules.has_button:  # the button goes with the first pass
            return replace(known, passed=position.ended)
        begin = time.monotonic()
        judgment = self._judge.judge(position)
        self._note_judging(position, time.monotonic() - begin)
        if len(self._judgments) >= _REMEMBERED:
            self._judgments.clear()
        self._judgments[key] = judgment
        return judgment

    def judge_seconds(self, position: Position) -> float:
        """Return what a judgment takes at most, as far as is known; the first on a board size takes long.

        While the nets are being made ready it takes no one knows how long.
        """
        size = position.width, position.height
        if self._preparing.begun(*size):
            return math.inf
        known = self._judge_seconds.get(size)
        if known is None:
            ready = self._preparing.judging(*size)
            known = _JUDGE_COLD if ready is None else max(ready, _JUDGE_WARM)
        return max(known, 2.0 * self._judging.seconds)

    def _note_judging(self, position: Position, seconds: float) -> None:
        """Keep what judgments take; one that made the nets ready says nothing of the next."""
        size = position.width, position.height
        known = self._judge_seconds.get(size, self._preparing.judging(*size))
        self._judge_seconds[size] = _JUDGE_WARM if known is None else max(seconds, _FORGET * known)

    def prepare(self, width: int, height: int, *, may_wait: StopToken | None = None) -> None:
        """Have the nets made ready for a board size, beside whatever goes on.

        Args:
            may_wait: for that or for this token's stop, where a seed is set: a batch's numbers depend a little on what
                is compiled.
        """
        self._preparing.want(width, height, wait_for=None if self._fixed_seed is None else may_wait)

    def warm_up(self, position: Position, token: StopToken) -> None:
        """Make the judge ready for this board size, if that could not be done beside the game."""
        size = position.width, position.height
        if size not in self._judge_seconds and self._preparing.judging(*size) is None:
            self.judge(position, token)

    def _prepared(self, net: LoadedNet, position: Position, color: int, seconds: float | None) -> Searcher:
        """Return the searcher with the position in it, made ready for a search of at most so many seconds."""
        self._warn_of_size(net, position.width, position.height)
        if self._searcher is None:
            self._searcher = Searcher(net.evaluator, self._params, seed=self._fixed_seed)
        self._freshen(self._searcher, net.evaluator, position)
        self._searcher.params = self._params if seconds is None else in_short_batches(self._params, seconds)
        self._searcher.set_position(position, color)
        return self._searcher

    def _freshen(self, searcher: Searcher, evaluator: Evaluator, position: Position) -> None:
        """In another game take fresh chances (the same ones if a seed is set), and leave nothing of the last one.

        Some controllers set the board up anew before every move; then the game goes on and so does the tree.
        """
        moves = position.moves
        goes_on = bool(self._searched) and moves[: len(self._searched)] == self._searched
        if self._new_game and not goes_on:
            change = getattr(evaluator, "between_games", None)
            if change is not None and change():
                self._preparing.forget()
            searcher.clear()
            searcher.reseed(self._fixed_seed)  # without one, from the system
        self._new_game = False
        self._searched = moves

    def _warn_of_size(self, net: LoadedNet, width: int, height: int) -> None:
        size = (width, height)
        if net.trained_sizes is not None and size not in net.trained_sizes and size not in net.warned_sizes:
            net.warned_sizes.add(size)
            text = "the net %s was not trained on %dx%d boards; it plays, but not at its best"
            log.warning(text, net.name, width, height)


def watched(
    wish: Wish, pace: Pace, stop: Callable[[], None]
) -> tuple[Callable[[SearchResult], None], float]:
    """Return a report, and its interval, that does what the wish wants and stops the search when the pace says so."""
    due = math.inf if wish.report is None or wish.interval is None else wish.interval

    def report(result: SearchResult) -> None:
        nonlocal due
        elapsed = result.stats.elapsed
        if elapsed >= due and wish.report is not None and wish.interval is not None:
            wish.report(result)
            due = max(due + wish.interval, elapsed)
        if pace.enough(result):
            stop()

    return report, pace.interval if wish.interval is None else min(pace.interval, max(wish.interval, 0.001))


def judged_as(position: Position) -> tuple[object, ...]:
    """Return what a judgment of a position depends on: all but the passes at its end."""
    moves = position.moves
    while moves and moves[-1][1] == position.area:
        moves.pop()
    stones = tuple(position.setup_stones)
    return position.width, position.height, position.rules, position.komi, stones, tuple(moves)


def in_short_batches(params: SearchParams, seconds: float) -> SearchParams:
    """Return settings under which a search of so few seconds can end in time: it ends between batches only."""
    return replace(params, batch_seconds=min(params.batch_seconds, max(seconds / _BATCHES, _SHORTEST_BATCH)))
