"""The batches of a search and the evaluator they go to: how large they are, where they are, how long each step took."""

import time

import cython

from libc.stdint cimport int64_t

from .flight cimport Flight
from .node cimport node_at
from .walk cimport SYMMETRY_AVERAGE, Context, gather

from engine.errors import ConfigError

TRAVEL_SHARE = 0.3  # weight of the last batch in the mean of what batches take
IN_FLIGHT_SHARE = 16  # with batch_size 0 no more than this part of the tree's visits is in flight
AUTO_BATCH = 8  # leaves: on a CPU larger batches gain little (keisei bench net) and cost search quality


@cython.final
cdef class Pipeline:
    """One evaluator and the one, two or (several devices) more batches under way; the Context comes with each call."""

    def __init__(self, evaluator):
        self.evaluator = evaluator
        self.flights = []
        self.travel = 0.0
        self.restart()

    cdef int restart(self) except -1:
        """Begin a search: clocks at zero."""
        self.select_seconds = self.encode_seconds = self.net_seconds = self.backup_seconds = 0.0
        self.batches = 0
        self.last_answer = time.perf_counter()
        return 0

    cdef int allocate(self, Context* x, object params, bint seeded) except -1:
        """Make batches for the root's board size under these settings; nothing happens if they are there already."""
        width, height = x.root_state.geo.width, x.root_state.geo.height
        per_leaf = x.root_state.geo.n_symmetries if x.symmetry_mode == SYMMETRY_AVERAGE else 1
        most = self.evaluator.max_batch // per_leaf
        if most < 1:
            raise ConfigError(f"search.symmetry: average needs batches of {per_leaf}, "
                              f"{self.evaluator.name} takes {self.evaluator.max_batch}")
        x.root_symmetries = min(params.root_symmetries, x.root_state.geo.n_symmetries, self.evaluator.max_batch)
        self.fixed_size = params.batch_size
        self.pad = params.pad_batches or (seeded and params.batch_size > 0)
        self.leaves = min(most, params.batch_size or getattr(self.evaluator, "preferred_batch", AUTO_BATCH))
        self.row_limit = 0.0 if seeded else params.batch_seconds
        self.row_cap = self.leaves if self.row_cap < 1.0 else min(self.row_cap, <double> self.leaves)
        rows = max(self.leaves * per_leaf, x.root_symmetries)
        depth = 1
        if params.two_batches and hasattr(self.evaluator, "submit"):
            depth = max(2, getattr(self.evaluator, "in_flight", 2))  # several devices take two each
        if self.shape == (width, height, rows, self.leaves, depth):
            return 0
        self.flights = []
        self.travel = 0.0
        for _ in range(depth):
            flight = Flight(self.leaves)
            (<Flight> flight).spatial, (<Flight> flight).globals_ = self.evaluator.allocate(rows, width, height)
            self.flights.append(flight)
        self.shape = (width, height, rows, self.leaves, depth)
        return 0

    cdef int gather_into(self, Context* x, Flight flight, int want, int64_t most) except -1:
        cdef int rows = flight.spatial.shape[0]
        cdef int done
        cdef double begin = time.perf_counter()
        with nogil:
            done = gather(x, &flight.batch, want, rows, most)
        self.select_seconds += time.perf_counter() - begin
        return done

    cdef int want(self, Context* x, int others) except -1:
        """Return how many leaves to gather while so many other batches are in flight; 0: wait for those first.

        All that fit; or, with batch_size 0, such that no more than a sixteenth of the tree's visits is in flight, and
        that what is in flight takes no longer than batch_seconds, or is a single leaf a batch (not with a seed: time
        must not change the tree).
        """
        cdef int64_t allowed
        cdef int depth = len(self.flights)
        if self.fixed_size:
            return self.leaves
        allowed = node_at(&x.tree.arena, x.tree.root).visits // IN_FLIGHT_SHARE
        if others and allowed < depth:
            return 0
        allowed = min(self.leaves, allowed // depth)
        if self.row_limit > 0.0:
            allowed = min(allowed, <int64_t> self.row_cap)
        return max(1, allowed)

    cdef int send(self, Context* x, Flight flight) except -1:
        """Encode a batch and hand it to the evaluator."""
        cdef double begin = time.perf_counter()
        cdef double encoded
        flight.encode(x, self.pad)
        flight.sent = begin
        encoded = time.perf_counter()
        if flight.rows:
            flight.send(self.evaluator, len(self.flights) > 1, x.ownership)
            self.batches += 1
        self.encode_seconds += encoded - begin
        self.net_seconds += time.perf_counter() - encoded
        return 0

    cdef int receive(self, Context* x, Flight flight) except -1:
        """Wait for a batch's evaluation and back it up."""
        cdef double begin = time.perf_counter()
        cdef double waited
        flight.receive(self.evaluator)
        waited = time.perf_counter()
        flight.take(x, self.evaluator.name)
        self.net_seconds += waited - begin
        self.backup_seconds += time.perf_counter() - waited
        if flight.rows:
            self.travel += (waited - flight.sent - self.travel) * (TRAVEL_SHARE if self.travel else 1.0)
            self.time_batch(flight.rows)
        return 0

    cdef int time_batch(self, int rows) except -1:
        """Let batches grow while all that is in flight takes less than batch_seconds, and shrink where it takes more.

        What a batch takes is the time since the answer before. It need not grow with the rows: a GPU that takes as
        long for one as for many must not be held to one, which a mean time of a row would do.
        """
        cdef double now = time.perf_counter()
        cdef double took = (now - self.last_answer) * len(self.flights)
        self.last_answer = now
        if took > self.row_limit:
            self.row_cap = max(1.0, self.row_cap * max(0.5, self.row_limit / took))
        elif 2 * rows >= self.row_cap:
            self.row_cap = min(<double> self.leaves, self.row_cap * 1.25)
        return 0

    cdef int forget(self, Context* x) except -1:
        """Drop every batch under way after an error, so that nothing stays in flight; in order, as answers come."""
        cdef Flight flight
        for flight in sorted(self.flights, key=ticket_of):
            flight.forget(x, self.evaluator)
        return 0


def ticket_of(Flight flight):
    """Return a number by which flights are in the order of their submission."""
    return -1 if flight.ticket is None else flight.ticket
