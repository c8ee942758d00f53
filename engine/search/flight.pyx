"""A batch between search and evaluator: checks what the evaluator gives and hands it to leaf.pyx as plain pointers."""

import logging

import cython
import numpy as np

from .leaf cimport Outputs, batch_close, batch_open, cancel, encode_batch, outputs_finite, take_in
from .walk cimport Context

from engine.errors import EngineError

log = logging.getLogger(__name__)


@cython.final
cdef class Flight:
    """One batch: its leaves, its input arrays, and how far it is."""

    def __cinit__(self, int leaves):
        if batch_open(&self.batch, leaves) < 0:
            raise MemoryError()

    def __dealloc__(self):
        batch_close(&self.batch)

    cdef int encode(self, Context* x, bint pad) except -1:
        cdef float[:, :, :, ::1] spatial = self.spatial
        cdef float[:, ::1] globals_ = self.globals_
        with nogil:
            self.rows = encode_batch(x, &self.batch, &spatial[0, 0, 0, 0], &globals_[0, 0])
        if pad and self.rows:
            self.rows = spatial.shape[0]
        return 0

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
        cdef Outputs out
        cdef list keep = []
        if self.rows:
            keep = fill_outputs(self, x.tree.area, x.ownership, &out)
            if outputs_finite(x, &self.batch, &out) < 0:
                raise EngineError(f"search: {name} gave a value that is not finite")
        with nogil:
            take_in(x, &self.batch, &out)
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


cdef list fill_outputs(Flight flight, int area, bint ownership, Outputs* out):
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
