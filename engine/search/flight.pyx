"""A batch between search and evaluator: checks what the evaluator gives and hands it to leaf.pyx as plain pointers.

Large batches (a GPU's, or those of a CPU of many cores) are encoded, and their answers expanded, in several threads;
what the tree becomes does not depend on how many. Selecting and backing up are one thread's.
"""

import logging
import os
from concurrent.futures import ThreadPoolExecutor

import cython
import numpy as np

from engine.board.ladder cimport ladder_cache_free, ladder_cache_new

from .leaf cimport (
    Outputs, back_up_leaves, batch_close, batch_open, cancel, encode_leaves, fill_leaves, outputs_finite,
)
from .walk cimport Context

from engine.errors import EngineError

log = logging.getLogger(__name__)
LEAVES_A_SHARE = 8   # fewer leaves are not worth waking a thread: 8 take about half a millisecond
pool = None          # threads for all searches of the process, made when first needed


def share_threads(count=None):
    """Say how many threads may share a large batch; by default one a processor, 8 at most. Return what it is now."""
    global _threads
    if count is not None:
        _threads = max(1, min(MAX_SHARES, count))
    return _threads


_threads = max(1, min(MAX_SHARES, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
                      else os.cpu_count() or 1))


@cython.final
cdef class Flight:
    """One batch: its leaves, its input arrays, and how far it is."""

    def __cinit__(self, int leaves):
        if batch_open(&self.batch, leaves) < 0:
            raise MemoryError()

    def __dealloc__(self):
        cdef int i
        batch_close(&self.batch)
        for i in range(1, MAX_SHARES):
            ladder_cache_free(self.ladders[i])

    cdef int encode(self, Context* x, bint pad) except -1:
        cdef float[:, :, :, ::1] spatial = self.spatial
        cdef int shares = min(_threads, self.batch.n // LEAVES_A_SHARE)
        self.rows = self.batch.rows
        self.x = x
        if shares > 1:
            self.share_out(self._encode_share, shares)
        else:
            self._encode_share(0, 1)
        if pad and self.rows:
            self.rows = spatial.shape[0]
        return 0

    cdef int share_out(self, object work, int shares) except -1:
        global pool
        if pool is None:
            pool = ThreadPoolExecutor(MAX_SHARES, thread_name_prefix="leaves")
        waiting = [pool.submit(work, i, shares) for i in range(1, shares)]
        work(0, shares)
        for future in waiting:
            future.result()
        return 0

    def _encode_share(self, int share, int shares):
        cdef float[:, :, :, ::1] spatial = self.spatial
        cdef float[:, ::1] globals_ = self.globals_
        cdef int begin = self.batch.n * share // shares
        cdef int end = self.batch.n * (share + 1) // shares
        if share and self.ladders[share] == NULL:
            self.ladders[share] = ladder_cache_new()
        cdef LadderCache* ladders = self.ladders[share] if share else self.x.ladders
        with nogil:
            encode_leaves(self.x, &self.batch, begin, end, ladders, &spatial[0, 0, 0, 0], &globals_[0, 0])

    def _fill_share(self, int share, int shares):
        cdef int begin = self.batch.n * share // shares
        cdef int end = self.batch.n * (share + 1) // shares
        with nogil:
            fill_leaves(self.x, &self.batch, begin, end, &self.out)

    cdef int send(self, object evaluator, bint two_steps, bint ownership) except -1:
        inputs = self.spatial[:self.rows], self.globals_[:self.rows]
        if two_steps:
            self.ticket = evaluator.submit(*inputs, ownership=bool(ownership))
        else:
            self.evaluation = evaluator.evaluate(*inputs, ownership=bool(ownership))
        return 0

    cdef int receive(self, object evaluator) except -1:
        if self.ticket is not None:
            self.evaluation = evaluator.result(self.ticket)
            self.ticket = None
        return 0

    cdef int take(self, Context* x, str name) except -1:
        cdef list keep = []
        cdef int shares = min(_threads, self.batch.n // LEAVES_A_SHARE)
        if self.rows:
            keep = fill_outputs(self, x.tree.area, x.ownership, x.tree.mean.uncertainty, &self.out)
            if outputs_finite(x, &self.batch, &self.out) < 0:
                raise EngineError(f"search: {name} gave a value that is not finite")
        self.x = x
        if shares > 1:
            self.share_out(self._fill_share, shares)
        else:
            self._fill_share(0, 1)
        with nogil:
            back_up_leaves(x, &self.batch)
        self.evaluation = None
        keep.clear()
        return 0

    cdef int forget(self, Context* x, object evaluator) except -1:
        if self.ticket is not None:
            try:
                evaluator.result(self.ticket)  # the arrays are the evaluator's until then
            except Exception as error:
                log.debug("search: a forgotten batch failed: %s", error)
        self.ticket = None
        self.evaluation = None
        cancel(x, &self.batch)
        return 0


cdef list fill_outputs(Flight flight, int area, bint ownership, bint errors, Outputs* out):
    """Point out at the evaluation's arrays. Return the arrays, which must live as long as out is used."""
    e = flight.evaluation
    keep = []
    out.logits = take(keep, e.policy_logits, flight, area + 1, "policy_logits")
    out.value = take(keep, e.value, flight, 1, "value")
    score = e.score_mean if e.score_mean is not None else e.lead
    lead = e.lead if e.lead is not None else e.score_mean
    out.score_mean = take(keep, score, flight, 1, "score_mean")
    out.lead = take(keep, lead, flight, 1, "lead")
    out.score_stdev = take(keep, e.score_stdev, flight, 1, "score_stdev")
    out.ownership = take(keep, e.ownership if ownership else None, flight, area, "ownership")
    out.value_error = take(keep, e.shortterm_value_error if errors else None, flight, 1, "shortterm_value_error")
    out.score_error = take(keep, e.shortterm_score_error if errors else None, flight, 1, "shortterm_score_error")
    return keep


cdef const float* take(list keep, array, Flight flight, int columns, str name) except? NULL:
    """Return a pointer to the flight's rows of the array, columns floats each, or NULL for None."""
    cdef const float[::1] view
    if array is None:
        return NULL
    flat = np.ascontiguousarray(array, dtype=np.float32).reshape(-1)
    if flat.shape[0] < (flight.first + flight.rows) * columns:
        raise ValueError(
            f"evaluator: {name} has {flat.shape[0]} values, {flight.first + flight.rows} x {columns} expected")
    keep.append(flat)
    view = flat
    return &view[flight.first * columns]
