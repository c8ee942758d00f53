"""Zobrist keys: fixed, the same on every machine and in every run (made by splitmix64 from constants)."""

from .types cimport MAX_POINTS, uint64_t

cdef uint64_t[MAX_POINTS][4] zobrist_stone  # [point][color]; rows are indexed by padded point
cdef uint64_t[4] zobrist_to_play            # [color]
