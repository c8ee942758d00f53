"""Bit sets over padded points: the index of the lowest set bit of a word, on every compiler."""

from .types cimport uint64_t

cdef extern from *:
    """
    #ifndef KEISEI_LOWEST_BIT
    #define KEISEI_LOWEST_BIT
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int keisei_lowest_bit(unsigned long long word) {
        unsigned long index;
        _BitScanForward64(&index, word);
        return (int)index;
    }
    #else
    #define keisei_lowest_bit(word) __builtin_ctzll(word)
    #endif
    #endif
    """
    int lowest_bit "keisei_lowest_bit" (uint64_t word) noexcept nogil  # word != 0
