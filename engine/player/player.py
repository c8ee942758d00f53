"""The player: one game, one search, one clock, and the moves that come of them.

All methods are called from one thread; only the stop tokens are touched from others. A method that raises leaves the
game as it was.
"""

from __future__ import annotations

import time
from typing import Any

from engine.board.rules import parse_rules
from engine.board.scoring import tromp_taylor
from engine.judge.board import chains
from engine.judge.score import all_alive
from engine.judge.score import final_score as judged_score
from engine.judge.settings import JudgeSettings
from engine.judge.types import Judgment, point_marks
from engine.player.choosing import RESIGN, Decision, MoveChoice
from engine.player.decide import score_for
from engine.player.level import LevelChooser
from engine.player.level_settings import LevelSettings, checked
from engine.player.net import NetSource
from engine.player.pace import Turn
from engine.player.rawnet import RawOutput, next_moves, raw_output
from engine.player.settings import PlayerSettings
from engine.player.stop import StopToken
from engine.player.table import Table
from engine.player.thinking import Thinker, Wish
from engine.search.params import SearchParams
from engine.search.result import SearchResult
from engine.search.root import Limits


class Player(Table):
    """Plays the game on its table.

    Args:
        settings: section `player`.
        params: section `search`.
        net: where the evaluator comes from.
        judging: section `judge`.
        level: section `level`.
    """

    def __init__(
        self,
        settings: PlayerSettings,
        params: SearchParams,
        net: NetSource,
        judging: JudgeSettings | None = None,
        level: LevelSettings | None = None,
    ) -> None:
        self._level = level or LevelSettings()
        self._params = params
        super().__init__(settings, Thinker(self._level.search(params), net, settings.seed, judging))
        self._chooser = LevelChooser(settings.seed)

    # ------------------------------------------------------------------------------------------------ thinking

    def genmove(self, color: int, wish: Wish, *, play: bool = True) -> Decision:
        """Choose a move for `color`, and play it unless told not to.

        Args:
            wish: token, reports, moves to leave out. The token can abandon the search or end it early.
            play: make the move on the board; without it there is no resigning either.

        Raises:
            Abandoned: if the token says so; nothing was played then.
        """
        started = wish.token.asked or time.monotonic()
        self._thinker.net(self.game.position, wish.token)
        self._wind_clock()
        self._prepare(may_wait=wish.token)
        budget = self.budget(color, time.monotonic() - started)
        turn = Turn(budget, self.settings, self._expected.get(color))
        decision = self._choice(color, turn, wish).decide(may_resign=play)
        now = time.monotonic()
        self.clock.answered(turn.late())
        if play:
            self.clock.spend(color, now - started + self.settings.lag)
            self._expected[color] = decision.result.winrate
            self._moved = [*self.game.position.moves, (color, decision.action)]
            self.last = decision
        if play and decision.action != RESIGN:
            self.game.play(color, decision.action)
            self._ponder_color = 3 - color if self.settings.ponder and not self._level.active else None
        return decision

    def study(self, color: int, wish: Wish, visits: int) -> SearchResult:
        """Search for `color` and return what was found. Neither the game nor the clock is touched.

        Raises:
            Abandoned: if the token says so.
        """
        return self._thinker.search(self.game.position, color, Limits(visits=visits), wish)

    def cleanup(self, color: int, wish: Wish) -> Decision:
        """Choose and play a move that helps to capture the opponent's dead stones; a pass when there are none.

        Never resigns. The judgment is the one that the game ended with.

        Raises:
            Abandoned: if the token says so; nothing was played then.
        """
        self._wind_clock()
        turn = Turn(self.budget(color), self.settings)
        self.last = self._choice(color, turn, wish).cleanup()
        self.clock.spend(color, time.monotonic() - turn.begun + self.settings.lag)
        self.game.play(color, self.last.action)
        return self.last

    def analyze(self, color: int, wish: Wish) -> None:
        """Search for `color` and report until the token is stopped."""
        if not self._thinker.wait(wish.token):
            return
        self._thinker.prepare(*self.size, may_wait=wish.token)  # a stop is not heard while a net is compiled
        if wish.token.stopped:
            return
        limits = Limits(visits=self.settings.analysis_visits)
        result = self._thinker.search(self.game.position, color, limits, wish)
        if not wish.token.stopped:  # enough visits, or the game is decided: rest until the analysis is ended
            if wish.report is not None:
                wish.report(result)
            wish.token.wait()

    @property
    def wants_to_ponder(self) -> bool:
        """True if the opponent's time should be used now."""
        return self._ponder_color is not None

    def ponder(self, token: StopToken) -> None:
        """Search for the opponent until the token is stopped or enough is found."""
        color, self._ponder_color = self._ponder_color, None
        if color is None or not self._thinker.wait(token):
            return
        limits = Limits(visits=self.settings.ponder_visits)
        self._thinker.search(self.game.position, color, limits, Wish(token))
        if token.stopped:
            self._ponder_color = color  # the line that came may not have been the opponent's move

    def ready(self, token: StopToken) -> None:
        """Wait for the net, and check that it plays on this board. Raises EngineError, Abandoned."""
        self._thinker.net(self.game.position, token)

    def raw_output(self, symmetry: int, color: int | None = None, *, token: StopToken) -> RawOutput:
        """Return what the net alone says of the position, `color` (by default to_play) to move, under one symmetry."""
        position = self.game.position
        return raw_output(self._thinker.net(position, token).evaluator, position, color or self.to_play, symmetry)

    def next_moves(self, *, token: StopToken) -> list[list[tuple[int, float]]]:
        """Return what the net alone expects of the next moves, to_play's first: (action, probability), best first.

        Most nets speak of the next move only.
        """
        position = self.game.position
        return next_moves(self._thinker.net(position, token).evaluator, position, self.to_play)

    def clear_cache(self) -> None:
        """Forget everything that searches have found."""
        self._thinker.clear()

    # ------------------------------------------------------------------------------------------------ the end

    def judgment(self, *, token: StopToken) -> Judgment:
        """Return which stones are dead, and the score without them."""
        return self._thinker.judge(self.game.position, token)

    def final_score(self, *, token: StopToken) -> float:
        """Return Black − White − komi; where the rules count every stone as alive, without asking anybody.

        Where most of the board is open it is the expected score, rounded to a possible one.
        """
        position = self.game.position
        if all_alive(position):
            return score_for(position, 1, None)
        return judged_score(position, self.judgment(token=token))

    def final_status(self, *, token: StopToken) -> list[tuple[str, list[int]]]:
        """Return every chain on the board with its status: alive, dead or seki."""
        position = self.game.position
        if all_alive(position):
            return [("alive", chain) for chain in chains(position)]
        return [(str(chain.status), list(chain.stones)) for chain in self.judgment(token=token).chains]

    def final_marks(self, *, token: StopToken) -> list[str]:
        """Return what each point is, by action: alive, dead, seki, black_territory, white_territory or dame."""
        position = self.game.position
        if not all_alive(position):
            return point_marks(self.judgment(token=token))
        stones = position.board().ravel().tolist()
        words = ("dame", "black_territory", "white_territory")
        owners = tromp_taylor(position)[0].ravel().tolist()
        return ["alive" if stone else words[owner] for stone, owner in zip(stones, owners, strict=True)]

    # ------------------------------------------------------------------------------------------------ settings

    def sections(self) -> dict[str, Any]:
        """Return the settings that can be changed during a game, by section."""
        return {
            "player": self.settings,
            "search": self._params,
            "judge": self._thinker.judging,
            "level": self._level,
        }

    def change(self, section: str, settings: Any) -> None:
        """Put changed settings of one section in force."""
        if section == "search":
            self._params = settings
            self._thinker.params = self._level.search(settings)
            return
        if section == "judge":
            self._thinker.judging = settings
            return
        if section == "level":
            self._level = checked(settings)
            self._thinker.params = self._level.search(self._params)
            return
        if settings.rules != self.settings.rules:
            self.set_rules(parse_rules(settings.rules))
        if settings.seed != self.settings.seed:
            self._thinker.set_seed(settings.seed)
            self._chooser = LevelChooser(settings.seed)
        self.settings = settings
        self.game.strict_play = settings.strict_play

    # ------------------------------------------------------------------------------------------------ inside

    def _choice(self, color: int, turn: Turn, wish: Wish) -> MoveChoice:
        return MoveChoice(
            game=self.game, thinker=self._thinker, settings=self.settings, level=self._level, chooser=self._chooser,
            resignation=self._resignation, color=color, turn=turn, wish=wish,
        )  # fmt: skip
