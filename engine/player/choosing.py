"""The choice of one move: a pass at once, the search, a level's gift, resigning, and what the end of the game asks for.

A `MoveChoice` lives for one move. It plays nothing: the player does, and keeps what outlives the move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.board.position import Position
from engine.errors import EngineError
from engine.judge.types import Judgment
from engine.player import decide, ending, policy_only
from engine.player.game import Game
from engine.player.level import NO_SCORE, LevelChooser, candidates_of, hopeless_lead, leads_after, likely_moves
from engine.player.level_settings import LevelSettings
from engine.player.pace import Turn
from engine.player.ranking import ranked_moves
from engine.player.settings import PlayerSettings
from engine.player.thinking import Thinker, Wish
from engine.search.result import MoveInfo, SearchResult
from engine.search.root import Limits, RootOptions

RESIGN = -1
"""A decision that is no action."""

_PASS_VISITS = 24  # of a pass that the search did not look at, when the board is settled
_PASS_SHARE, _PASS_SECONDS = 0.5, 0.05  # of the rest of the turn for that; less is no use
_SLOWER = 2.5  # times what judgments took so far that the next may take


@dataclass(frozen=True, slots=True)
class Decision:
    """What genmove decided."""

    action: int  # a legal action (the last one is pass) or RESIGN
    result: SearchResult  # in the view of the side that moved


@dataclass(slots=True)
class MoveChoice:
    """One move of `color`, to be chosen in its `turn`."""

    game: Game
    thinker: Thinker
    settings: PlayerSettings
    level: LevelSettings
    chooser: LevelChooser
    resignation: decide.Resignation
    color: int
    turn: Turn
    wish: Wish

    def decide(self, *, may_resign: bool) -> Decision:
        """Choose a move, a pass, or to resign."""
        position, wish, turn = self._position, self.wish, self.turn
        if self.thinker.policy_only(wish.token):
            return self._by_policy()
        if not turn.unlimited and turn.has(2.0 * self.thinker.judge_seconds(position)):
            self.thinker.warm_up(position, wish.token)
        if self._friendly and self._may_judge and self._passes_at_once():
            return Decision(position.area, self._glance(wish.root))
        if self.level.active and not wish.restricts:
            return self._at_level(may_resign=may_resign)
        result = self._search()
        if may_resign and self._resigns(result, self.settings):
            return Decision(RESIGN, result)
        if wish.restricts:
            return Decision(result.chosen, result)
        ranked = decide.without_pointless(position, self.color, ranked_moves(result))
        return self._ended(ending.without_eyes(position, self.color, ranked), result)

    def cleanup(self) -> Decision:
        """Choose a move that helps to capture the opponent's dead stones; a pass when there are none."""
        position = self._position
        judgment = self._judge(position)
        for bold in (False, True):  # a dead stone left on the board is claimed alive, so a stone may be risked
            moves = ending.capturing_moves(position, self.color, judgment, bold=bold)
            moves = [a for a in moves if decide.first_acceptable(self.game, self.color, [a], self.settings) == a]
            if moves:
                break
        else:
            return Decision(position.area, self._glance(self.wish.root))
        limits, pace = self.turn.search()
        wish = replace(self.wish, root=RootOptions(allow=tuple(moves)))
        result = self.thinker.search(position, self.color, limits, wish, pace)
        return Decision(result.chosen, result)

    # ------------------------------------------------------------------------------------------------ inside

    @property
    def _position(self) -> Position:
        return self.game.position

    @property
    def _friendly(self) -> bool:
        return self.settings.friendly_pass and not self.wish.restricts

    @property
    def _may_judge(self) -> bool:
        """True if there is time to ask the judge."""
        return self.turn.has(_SLOWER * self.thinker.judge_seconds(self._position))

    def _judge(self, position: Position) -> Judgment:
        return self.thinker.judge(position, self.wish.token)

    def _passes_at_once(self) -> bool:
        return decide.should_pass_at_once(self._position, self.color, self._judge, clean_up=self.settings.clean_up)

    def _search(self, visits: int | None = None) -> SearchResult:
        """Search as long as the turn allows, keeping time for the judge when the game may be over."""
        position = self._position
        late = ending.is_late(position, self.color)
        limits, pace = self.turn.search(_SLOWER * self.thinker.judge_seconds(position) if late else 0.0)
        if visits is not None:
            limits = replace(limits, visits=min(visits, limits.visits or visits))  # 1 where no time is left
        result = self.thinker.search(position, self.color, limits, self.wish, pace)
        self.turn.searched(result, limits, pace)
        return result

    def _glance(self, root: RootOptions) -> SearchResult:
        """Return the net's word on the position as a result."""
        return self.thinker.search(self._position, self.color, Limits(visits=1), Wish(self.wish.token, root=root))

    def _by_policy(self) -> Decision:
        """Choose by a net that judges nothing."""
        if self.level.active:
            raise EngineError(NO_SCORE)
        limits, _ = self.turn.search()
        result = self.thinker.search(self._position, self.color, limits, self.wish)
        if self.wish.restricts:
            return Decision(result.chosen, result)
        ranked = policy_only.moves_to_play(self._position, self.color, ranked_moves(result))
        return Decision(decide.first_acceptable(self.game, self.color, ranked, self.settings), result)

    def _resigns(self, result: SearchResult, settings: PlayerSettings) -> bool:
        """Take note of a move's figures; tell whether to resign. Never where the judge finds the game won."""
        if not self.resignation.note(self.color, result, self._position, settings):
            return False
        return not (self._may_judge and ending.is_won(self._position, self.color, self._judge))

    def _at_level(self, *, may_resign: bool) -> Decision:
        """Choose a move that gives away as much as the level does."""
        position, level = self._position, self.level
        result = self._search(level.visits)
        points = level.points
        settings = replace(self.settings, resign_lead=max(self.settings.resign_lead, hopeless_lead(position, points)))
        if may_resign and self._resigns(result, settings):
            return Decision(RESIGN, result)
        ranked = decide.without_pointless(position, self.color, ranked_moves(result))
        if ranked[0] != position.area and points > 0.0 and result.proven is None:
            likely = likely_moves(position, self.color, result.raw.policy, level.moves)
            evaluator = self.thinker.net(position, self.wish.token).evaluator
            leads = list(zip(likely, leads_after(evaluator, position, self.color, likely), strict=True))
            if likely and all(lead is None for _, lead in leads):
                raise EngineError(NO_SCORE)
            candidates = candidates_of(position, self.color, result, leads)
            chosen = self.chooser.choose(self.color, candidates, points, position.moves)
            ranked = [chosen.action, *ranked]
        return self._ended(ranked, result)

    def _ended(self, ranked: list[int], result: SearchResult) -> Decision:
        """Return the first acceptable of these moves, after those that the end of a game asks for."""
        position, color = self._position, self.color
        if not self._may_judge:
            ranked = ending.in_haste(position, color, ranked)
        elif ending.may_be_over(position, color, result):
            ranked = ending.instead(
                position, color, ranked, result, self._judge,
                clean_up=self.settings.clean_up, friendly=self._friendly, weigh_pass=self._weigh_pass,
                in_time=lambda: self._may_judge,
            )  # fmt: skip
        return Decision(decide.first_acceptable(self.game, color, ranked, self.settings), result)

    def _weigh_pass(self) -> MoveInfo | None:
        """Search a pass alone; None if there is no time for it."""
        rest, passing = self.turn.rest(), self._position.area
        seconds = None if rest is None else _PASS_SHARE * rest.hard
        if seconds is not None and seconds < _PASS_SECONDS:
            return None
        limits, wish = Limits(_PASS_VISITS, seconds=seconds), Wish(self.wish.token, root=RootOptions(allow=(passing,)))
        return self.thinker.search(self._position, self.color, limits, wish).move(passing)
