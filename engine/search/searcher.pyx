"""`Searcher`: the Python face of a search. It owns the tree and the cache and runs the loop of gathering, evaluating
and backing up. What happens inside each step is in walk.pyx, leaf.pyx and pipeline.pyx, what the results mean in
result.py.
"""

import dataclasses
import time

import cython
import numpy as np

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from engine.board.go cimport go_copy, go_free, go_pass_ends
from engine.board.ladder cimport ladder_cache_free, ladder_cache_new
from engine.board.position cimport Position

from .arena cimport arena_bytes
from .at_root cimport follow_moves, most_visits, recentre, root_priors, why_ended
from .bias cimport bias_bytes
from .cache cimport cache_close, cache_open
from .collect cimport banned_priors, collect_result, stored_priors
from .flight cimport Flight
from .graph cimport table_bytes
from .grow cimport same_moves
from .node cimport NODE_OWNERSHIP, node_at
from .pipeline cimport Pipeline
from .setup cimport apply_board, apply_evaluator, apply_limits, apply_params, salt
from .tree cimport clear_tree
from .walk cimport Context, begin_root
from .whole cimport bias_slack, tree_in_flight, tree_signature

from engine.errors import EngineError, UnsupportedBoardSize
from engine.search.params import SearchParams
from engine.search.result import SearchStats, choose
from engine.search.root import Limits, RootOptions, banned_at_root, move_limits, shifted

TRAVEL_MOST = 0.25                # of a search's seconds that are kept for the return of its last batch


@cython.final
cdef class Searcher:
    """One search tree over one evaluator; see searcher.pyi for the contract."""

    cdef Context x
    cdef Pipeline _pipeline
    cdef object _params
    cdef object _seed
    cdef object _rng
    cdef object _identity        # what must stay the same for a tree to be kept
    cdef list _moves             # of the root's position
    cdef object _tree_limits     # move limits the tree was searched with
    cdef object _root_priors     # keeps x.root_priors alive
    cdef bint _ready             # a position has been set
    cdef bint _cache_open
    cdef object _step            # of a search in steps: limits, options, when it began, why it ended
    cdef int64_t _step_visits    # where it ends; 0: the root is not ready yet
    cdef bint _waiting           # its rows are being evaluated

    def __cinit__(self, *args, **kwargs):
        memset(&self.x, 0, sizeof(Context))
        self.x.ladders = ladder_cache_new()

    def __init__(self, evaluator, params=None, *, seed=None):
        self._pipeline = Pipeline(evaluator)
        self._seed = seed
        self._moves = []
        self._tree_limits = ()
        apply_evaluator(&self.x, evaluator)
        self.reseed(seed)
        self._set_params(SearchParams() if params is None else params)

    def __dealloc__(self):
        clear_tree(&self.x.tree)
        cache_close(&self.x.cache)
        go_free(&self.x.root_state)
        ladder_cache_free(self.x.ladders)

    # -------------------------------------------------------------------------------------------------- settings

    @property
    def evaluator(self):
        return self._pipeline.evaluator

    @property
    def params(self):
        return self._params

    @params.setter
    def params(self, params):
        if params != self._params:
            self._set_params(params)

    def _set_params(self, params):
        cdef Context* x = &self.x
        if self._params is None or params.without_reports() != self._params.without_reports():
            clear_tree(&x.tree)
            cache_close(&x.cache)
            self._cache_open = False
        self._params = params
        apply_params(x, params, self._seed is not None)
        if self._ready:
            apply_board(x, params)

    def select_everywhere_full(self, on):
        """Tests: scan every prior at every node, which must give the same tree."""
        self.x.select.always_full = on

    def reseed(self, seed=None):
        sequence = np.random.SeedSequence(seed)
        self._rng = np.random.default_rng(sequence)
        self.x.rng = int(sequence.generate_state(1, np.uint64)[0])

    # -------------------------------------------------------------------------------------------------- the root

    def set_position(self, Position position, color=None):
        cdef Context* x = &self.x
        cdef int side = position.state.to_play if color is None else color
        width, height = position.width, position.height
        if not self._pipeline.evaluator.supports_size(width, height):
            raise UnsupportedBoardSize(f"unsupported board size: {width}x{height} for {self._pipeline.evaluator.name}")
        identity = (width, height, position.rules, position.komi, tuple(position.setup_stones), position._setup_to_play)
        moves = position.moves
        new_size = self._identity is None or identity[:2] != self._identity[:2]
        kept = not new_size and identity == self._identity and self._follow(moves, side)
        if not kept:
            clear_tree(&x.tree)
            self._tree_limits = ()
        advanced = len(moves) > len(self._moves)
        x.root_priors = NULL
        self._root_priors = None
        self._moves = moves
        x.root_color = side
        go_copy(&x.root_state, position.state)
        self._ready = True
        if new_size:
            cache_close(&x.cache)
            self._cache_open = False
        if identity != self._identity:
            self._identity = identity
            x.key_options.salt = salt(x, identity[:4], self._pipeline.evaluator)
        apply_board(x, self._params)
        if kept and advanced and x.conservative_pass and (go_pass_ends(&x.root_state) or x.root_state.ended):
            clear_tree(&x.tree)  # its evaluation knew that a pass would end the game
            kept = False
        if kept and x.tree.sharing and not same_moves(node_at(&x.tree.arena, x.tree.root), &x.root_state):
            clear_tree(&x.tree)  # another way there had another past
            kept = False
        return kept and x.tree.root != 0

    cdef bint _follow(self, list moves, int color) except -1:
        cdef int plies
        if not self._params.tree_reuse:
            return False
        plies = follow_moves(&self.x, self._moves, moves, color)
        if plies > 0:
            self._tree_limits = shifted(self._tree_limits, plies)
        return plies >= 0

    def clear(self):
        clear_tree(&self.x.tree)
        cache_close(&self.x.cache)
        self._cache_open = False
        self._tree_limits = ()

    def drop_tree(self):
        clear_tree(&self.x.tree)
        self._tree_limits = ()

    def stop(self):
        self.x.stop = 1

    # -------------------------------------------------------------------------------------------------- a search

    def search(self, limits=None, *, report=None, report_interval=None, root=None, stop_event=None):
        cdef Context* x = &self.x
        cdef double begin = time.perf_counter()
        limits = Limits() if limits is None else limits
        root = RootOptions() if root is None else root
        x.stop = 0
        self._start(root)
        if self._ensure_root() and x.tree.root:
            recentre(&self.x, self._params)
            self._shape_root(root)
            try:
                reason = self._loop(limits, begin, report, report_interval, root, stop_event)
            except BaseException:
                self._pipeline.forget(&self.x)
                raise
        else:
            raise EngineError("search: not enough memory for the root")
        return self._collect(root, begin, reason)

    def _start(self, root):
        """Make ready for one search: counters, move limits, ownership, cache, batches."""
        cdef Context* x = &self.x
        if not self._ready:
            raise EngineError("search: no position was set")
        x.playouts = x.evaluations = x.cache_hits = x.collisions = x.terminals = 0
        x.links = x.catch_ups = x.partings = 0
        x.memory_full = False
        self._pipeline.restart()
        self._set_limits(move_limits(root, x.root_color))
        x.ownership = root.ownership or root.moves_ownership
        if x.ownership and x.tree.root and not node_at(&x.tree.arena, x.tree.root).flags & NODE_OWNERSHIP:
            clear_tree(&x.tree)
        if not self._cache_open or (x.ownership and not x.cache.ownership):
            cache_close(&x.cache)
            if cache_open(&x.cache, <uint64_t> self._params.cache_memory << 20, x.tree.area, x.ownership,
                          x.tree.mean.uncertainty) < 0:
                raise EngineError(f"not enough memory for search.cache_memory = {self._params.cache_memory} MiB")
            self._cache_open = True
        self._pipeline.allocate(x, self._params, self._seed is not None)

    def _set_limits(self, limits):
        cdef Context* x = &self.x
        if limits != self._tree_limits:
            clear_tree(&x.tree)
        self._tree_limits = limits
        apply_limits(x, limits)

    def _ensure_root(self):
        """Evaluate the root if there is no tree. Return False if there is no memory for it."""
        cdef Flight flight = self._pipeline.flights[0]
        cdef int state
        if self.x.tree.root:
            return True
        state = begin_root(&self.x, &flight.batch)
        if state == 1:
            try:
                self._pipeline.send(&self.x, flight)
                self._pipeline.receive(&self.x, flight)
            except BaseException:
                self._pipeline.forget(&self.x)
                raise
        return state != 2

    def _shape_root(self, root):
        cdef float[::1] view
        self._root_priors, shaped = root_priors(&self.x, self._params, root, self._rng)
        self.x.root_priors = NULL
        if shaped:
            view = self._root_priors
            self.x.root_priors = &view[0]
        if self._banned().all():
            raise EngineError("search: no legal move is allowed")

    def _banned(self):
        """Return which of the root's priors may not be chosen, [n_priors]."""
        return banned_priors(&self.x, banned_at_root(self._tree_limits, self.x.root_color, self.x.tree.area + 1))

    def _loop(self, limits, double begin, report, report_interval, root, stop_event):
        """Gather, evaluate and take in until a limit; return which."""
        cdef Context* x = &self.x
        cdef int64_t most = most_visits(&self.x, limits)
        cdef double deadline = 1e300 if limits.seconds is None else begin + limits.seconds
        cdef double kept = 0.0 if limits.seconds is None else TRAVEL_MOST * limits.seconds
        cdef double next_report = 1e300
        cdef double now
        cdef Flight flight
        cdef int done, want
        cdef list idle = list(self._pipeline.flights)
        cdef list sent = []
        cdef str reason = ""
        if report is not None and report_interval is not None:
            next_report = begin + report_interval
        while True:
            now = time.perf_counter()
            if not reason:
                reason = why_ended(&self.x, most, now >= deadline - min(self._pipeline.travel, kept), stop_event)
            flight = None
            if not reason and idle:
                want = self._pipeline.want(x, len(sent))
                if want:
                    flight = idle.pop()
                    done = self._pipeline.gather_into(x, flight, want, most)
                    if flight.batch.n:
                        self._pipeline.send(&self.x, flight)
                        sent.append(flight)
                    else:
                        idle.append(flight)
                        flight = None
                        if done == 0 and not sent and not why_ended(&self.x, most, False, stop_event):
                            raise RuntimeError("search: no walk could be made")
            if sent and (flight is None or not idle):
                flight = sent.pop(0)
                self._pipeline.receive(&self.x, flight)
                idle.append(flight)
            elif reason and not sent:
                return reason
            if now >= next_report:
                report(self._collect(root, begin, ""))
                next_report = max(next_report + report_interval, now)

    # -------------------------------------------------------------------------------------------------- in steps

    def begin(self, limits=None, *, root=None):
        limits, root = Limits() if limits is None else limits, RootOptions() if root is None else root
        self._pipeline.forget(&self.x)   # of a search that was left in the middle
        self._waiting = False
        self.x.stop = 0
        self._start(root)
        self._step_visits = 0
        self._step = (limits, root, time.perf_counter(), "")

    def gather(self, int patience=0):
        cdef Flight flight
        cdef int state, rounds = 0
        if self._step is None or self._waiting:
            raise EngineError("search: a step was asked for out of order")
        flight = self._pipeline.flights[0]
        while True:
            state = self._step_into(flight, patience)
            if state <= 0:
                return state
            flight.encode(&self.x, False)
            if flight.rows:
                self._waiting = True
                return flight.rows
            flight.take(&self.x, self._pipeline.evaluator.name)   # all of them were in the cache
            rounds += 1
            if rounds == patience:
                return -1

    cdef int _step_into(self, Flight flight, int patience) except -2:
        """Gather leaves. 1: there are some, 0: the search is over, -1: none after so many rounds (0: no limit)."""
        cdef Context* x = &self.x
        cdef int state, rounds = 0
        limits, root, begin, _ = self._step
        if x.tree.root == 0:
            state = begin_root(x, &flight.batch)
            if state == 2:
                raise EngineError("search: not enough memory for the root")
            if state == 1:
                return 1
        if self._step_visits == 0:
            recentre(&self.x, self._params)
            self._shape_root(root)
            self._step_visits = most_visits(&self.x, limits)
        while True:
            late = limits.seconds is not None and time.perf_counter() - begin >= limits.seconds
            reason = why_ended(&self.x, self._step_visits, late, None)
            if reason:
                self._step = (limits, root, begin, reason)
                return 0
            state = self._pipeline.gather_into(x, flight, self._pipeline.want(x, 0), self._step_visits)
            if flight.batch.n:
                return 1
            if state == 0 and not why_ended(&self.x, self._step_visits, False, None):
                raise RuntimeError("search: no walk could be made")
            rounds += 1
            if rounds == patience:
                return -1

    def absorb(self, evaluation, int first=0):
        cdef Flight flight
        if first < 0 or not self._waiting:
            raise EngineError("search: an evaluation came that was not asked for")
        self._waiting = False
        flight = self._pipeline.flights[0]
        flight.evaluation = evaluation
        flight.first = first
        self._pipeline.batches += 1
        try:
            flight.take(&self.x, self._pipeline.evaluator.name)
        except BaseException:
            self._pipeline.forget(&self.x)
            raise
        finally:
            flight.first = 0

    def finish(self):
        if self._step is None or self._waiting or self.x.tree.root == 0:
            raise EngineError("search: a search in steps has not ended")
        _, root, begin, reason = self._step
        self._step = None
        return self._collect(root, begin, reason or "stop")

    # -------------------------------------------------------------------------------------------------- results

    def result(self, root=None):
        if self.x.tree.root == 0:
            return None
        root = RootOptions() if root is None else root
        return self._collect(root, time.perf_counter(), "")

    def _collect(self, root, double begin, reason):
        if self._root_priors is None:  # no walk began at the root yet
            self._root_priors = stored_priors(&self.x)
        priors = np.where(self._banned(), 0.0, self._root_priors)
        result = collect_result(&self.x, self._params, root, priors, self._stats(begin, reason))
        if root.temperature > 0.0 and reason:
            result = dataclasses.replace(result, chosen=choose(result, root.temperature, self._rng))
        return result

    def _stats(self, double begin, reason):
        cdef Context* x = &self.x
        cdef Pipeline p = self._pipeline
        return SearchStats(
            elapsed=time.perf_counter() - begin, playouts=x.playouts, evaluations=x.evaluations,
            batches=p.batches, travel=p.travel, cache_hits=x.cache_hits, collisions=x.collisions,
            terminal_visits=x.terminals, select_seconds=p.select_seconds,
            encode_seconds=p.encode_seconds, net_seconds=p.net_seconds,
            backup_seconds=p.backup_seconds, tree_bytes=self.tree_bytes, stopped_by=reason)

    def signature(self):
        return tree_signature(&self.x.tree)

    def bias_slack(self):
        """Tests: least and greatest weight that a pattern has beyond what the tree's nodes say of it."""
        cdef double least, most
        if bias_slack(&self.x.tree, &least, &most) < 0:
            raise MemoryError()
        return least, most

    def graph_counts(self):
        """Tests: of the last search with `graph`: edges led to known nodes, visits that caught up, ways that parted."""
        return self.x.links, self.x.catch_ups, self.x.partings

    @property
    def visits(self):
        return node_at(&self.x.tree.arena, self.x.tree.root).visits if self.x.tree.root else 0

    @property
    def tree_bytes(self):
        return arena_bytes(&self.x.tree.arena) + bias_bytes(&self.x.tree.bias) + table_bytes(&self.x.tree.table)

    @property
    def in_flight(self):
        return tree_in_flight(&self.x.tree)

    @property
    def position_color(self):
        return self.x.root_color
