import threading
from collections.abc import Callable

from engine.board.position import Position
from engine.evaluator import Evaluation, Evaluator

from .params import SearchParams
from .result import SearchResult
from .root import Limits, RootOptions

class Searcher:
    """One search tree over one evaluator. One thread at a time may search; `stop` may be called from any thread.

    Args:
        evaluator: what evaluates positions; an AsyncEvaluator keeps two batches in flight.
        params: the settings.
        seed: makes a search with a visit limit and a fixed batch size repeat itself; None takes one from the system.
    """

    def __init__(self, evaluator: Evaluator, params: SearchParams = ..., *, seed: int | None = None) -> None: ...
    @property
    def params(self) -> SearchParams: ...
    @params.setter
    def params(self, params: SearchParams) -> None: ...  # drops the tree unless only reports and the root change
    def set_position(self, position: Position, color: int | None = None) -> bool:
        """Make position the root, color (by default its to_play) to move.

        The subtree is kept when the position continues the last one by moves in turn: then True is returned. Another
        komi, rule, set-up, an undo or moves out of turn drop the tree.

        Raises UnsupportedBoardSize if the evaluator cannot play the size.
        """
    def search(
        self,
        limits: Limits = ...,
        *,
        report: Callable[[SearchResult], None] | None = None,
        report_interval: float | None = None,
        root: RootOptions = ...,
        stop_event: threading.Event | None = None,
    ) -> SearchResult:
        """Search until a limit, `stop`, or a full memory, and return what was found; the root is always evaluated.

        A `stop` before the search began is forgotten when it begins. To stop a search that may not have begun yet, give
        it a `stop_event` (looked at between batches) and set that, and call `stop` as well.

        Args:
            limits: Limits() searches until stopped.
            report: called from this thread every report_interval seconds with the state so far.
            report_interval: seconds.
            root: moves to avoid or allow, noise, temperatures, ownership.
            stop_event: ends the search when set.

        Raises EngineError if no legal move is allowed, or if the evaluator's answer is not finite.
        """
    def begin(self, limits: Limits = ..., *, root: RootOptions = ...) -> None:
        """Begin a search in steps, for a caller that evaluates the leaves of many searches together.

        `while rows := searcher.gather(): searcher.absorb(evaluation of those rows)`, then `finish`. The leaves are
        in the first rows of the arrays that the evaluator's `allocate` gave; its `evaluate` is not called. The tree is
        the one that `search` makes with one batch in flight. A search may be left in the middle: begin another.
        """
    def gather(self, patience: int = 0) -> int:
        """Write the next leaves into the evaluator's arrays and return how many rows they are; 0: the search is over.

        Args:
            patience: return -1 after so many rounds of walks that all ended where nothing is to be evaluated (as they
                do for ever in a small game known to its end); call again to go on. 0: no limit.

        Raises EngineError out of order, or if no legal move is allowed.
        """
    def absorb(self, evaluation: Evaluation, first: int = 0) -> None:
        """Take in the evaluation of the rows gathered: its rows from `first` on (more rows do no harm).

        Raises EngineError out of order, or if a value is not finite; nothing stays in flight then.
        """
    def finish(self) -> SearchResult:
        """Return what a search in steps found; it may also be ended early so, between absorb and gather."""
    def result(self, root: RootOptions = ...) -> SearchResult | None:
        """Return the tree's present state, or None if there is no tree. Not while a search runs."""
    def stop(self) -> None:
        """End the running search after the batch in flight. Returns at once."""
    def clear(self) -> None:
        """Drop tree and cache."""
    def drop_tree(self) -> None: ...
    def reseed(self, seed: int | None = None) -> None:
        """Start the random numbers anew; without a seed, from the system."""
    def signature(self) -> int:
        """Return a 64-bit hash of the whole tree: equal trees, equal numbers."""
    @property
    def visits(self) -> int: ...  # of the root; 0 without a tree. Like all below: not while another thread searches
    @property
    def tree_bytes(self) -> int: ...  # held by the tree now
    @property
    def in_flight(self) -> int: ...  # marks in the whole tree; 0 unless a search is running
    @property
    def position_color(self) -> int: ...  # the side to move at the root
