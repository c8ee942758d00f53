"""Random walks over the board, compiled: what `keisei bench board` times and what fuzz tests run.

A walk picks random empty points, asks for full legality and plays. Its signature is a hash of all that happened, so
that two builds, or two ways to keep chains, can be told apart by one number.
"""

from .go cimport GoState, go_is_legal, go_play
from .position cimport Position
from .types cimport EMPTY, PASS, uint64_t

cdef inline uint64_t next_random(uint64_t* state) noexcept nogil:
    # Source: Marsaglia, "Xorshift RNGs", 2003 (13, 7, 17).
    cdef uint64_t x = state[0]
    x ^= x << 13
    x ^= x >> 7
    x ^= x << 17
    state[0] = x
    return x


cdef int random_move(const GoState* s, uint64_t* state, uint64_t* n_checks) noexcept nogil:
    # A random legal point; a pass when 64 empty points in a row are illegal or there are too few to be found.
    cdef int point
    cdef int checks = 0
    cdef int tries = 0
    while checks < 64 and tries < 4096:
        tries += 1
        point = s.geo.point_of_action[(<uint64_t>s.geo.area * (next_random(state) >> 32)) >> 32]
        if s.color[point] == EMPTY:
            checks += 1
            n_checks[0] += 1
            if go_is_legal(s, point, s.to_play):
                return point
    return PASS


cdef int walk_on(GoState* s, int moves, uint64_t* state, uint64_t* n_checks, uint64_t* signature) except -1 nogil:
    cdef int _
    for _ in range(moves):
        go_play(s, random_move(s, state, n_checks), s.to_play)
        signature[0] = signature[0] * <uint64_t>0x9E3779B97F4A7C15 + s.hash
    return 0


def random_walk(Position position, int moves, seed):
    """Play random legal moves from the position's to-play side on; the position's own record is not kept.

    Args:
        position: is changed; call its `clear` before using it for anything else.
        moves: how many moves, passes included.
        seed: any int but 0 mod 2^64.

    Returns (legality checks made, signature), the signature a 64-bit hash of every position passed through.
    """
    cdef uint64_t state = seed
    cdef uint64_t n_checks = 0
    cdef uint64_t signature = 0
    with nogil:
        walk_on(position.state, moves, &state, &n_checks, &signature)
    return n_checks, signature
