"""Nodes, edges and priors as they lie in the arena, and the accessors that everything in search uses.

A node's block is: the Node, then its priors (sorted, highest first, one for every legal move), then, with
NODE_WEIGHED, a Weight, then, with NODE_OWNERSHIP, its own evaluation's ownership. Its edges lie in a block of their own
that grows. Edge i belongs to prior i: the edges are always a prefix of the priors, some perhaps without a visit.
Views: a node's figures are its to_play's; an edge's q is that of the node it starts from. Only backup (tree.pyx) turns
one into the other.
"""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t

from .arena cimport Arena, arena_at

cdef enum:
    NODE_PENDING = 1       # in a batch; its priors hold legal actions in board order, without probabilities
    NODE_TERMINAL = 2      # the game is over here: no priors, no edges
    NODE_OWNERSHIP = 4     # the block ends with int16 ownership[area], scaled by OWNERSHIP_SCALE
    NODE_WEIGHED = 8       # a Weight stands behind the priors (setting `uncertainty`)

cdef enum:                     # Node.sharing, 0 without `graph`: walk.pyx says what they are for
    NODE_SHARED = 1            # several edges lead here
    NODE_FOREIGN = 2           # they did once: what lies below may come from other ways than there are now
    NODE_PROOFS = 4            # here or below is a proof that may not hold for another way here
    NODE_CLOSED = 8            # superko closed moves when the node was made
    NODE_SEEN = 16             # for a moment: while edges are counted

cdef enum:
    UNPROVEN = 0           # who wins with best play, seen from the side named where it is used
    PROVEN_WIN = 1
    PROVEN_LOSS = 2
    PROVEN_DRAW = 3

cdef enum:
    ACTION_MASK = 0x3FF    # Edge.action: the action
    PROOF_SHIFT = 10       # Edge.action: proof of the edge, parent's view
    NODE_UNITS = 7
    OWNERSHIP_SCALE = 32000

ctypedef struct Prior:     # 4 bytes
    uint16_t code          # probability: 5 bits of exponent and 11 of mantissa, see prior_value
    uint16_t action

ctypedef struct Edge:      # 16 bytes
    uint32_t child         # index of the child's node, 0 = none
    uint32_t visits        # visits backed up through this edge
    float q                # mean utility, the parent's to_play's view; 0 without visits
    uint16_t action        # action | proof << PROOF_SHIFT
    uint16_t in_flight     # walks through this edge that are not backed up yet

ctypedef struct Node:      # 112 bytes
    # Means times visits, to_play's view; written by backup and retally alone.
    double utility_sum
    double utility_sq_sum
    double value_sum       # win - loss
    double score_sum       # points, komi included
    double score_sq_sum    # of the score's second moment, so that the variance includes the net's own
    double lead_sum
    # The node's own evaluation, to_play's view.
    float value
    float score_mean
    float score_stdev
    float lead
    uint32_t visits
    uint32_t in_flight     # walks through this node that are not backed up yet
    uint32_t edges         # index of the block of edges, 0 = none
    uint16_t n_priors
    uint16_t n_edges       # edges in use, <= n_priors
    uint16_t cap_edges     # edges (units) in the block
    uint8_t flags
    uint8_t proven         # to_play's view
    uint8_t to_play
    uint8_t sharing
    uint8_t spare[2]
    # Bias of the net, see bias.pxd; 0 without one.
    uint32_t bias          # number of its pattern
    float bias_error       # what this node says of it, to_play's view
    float bias_weight      # and how much that counts
    float own_utility      # of its own evaluation, the bias taken off
    uint32_t place         # for a moment: 1 + its place in a list of nodes that is being made

ctypedef struct Weight:    # 16 bytes; without one, all visits weigh 1
    float value_error      # by which the net expects to be off, as it says; -1 where it does not
    float score_error      # points
    float own              # how much the node's own evaluation counts
    float mean             # mean weight of the node's visits

cdef inline Node* node_at(const Arena* a, uint32_t index) noexcept nogil:
    return <Node*> arena_at(a, index)

cdef inline Prior* node_priors(Node* node) noexcept nogil:
    return <Prior*> (<char*> node + NODE_UNITS * 16)

cdef inline Edge* node_edges(const Arena* a, const Node* node) noexcept nogil:
    return <Edge*> arena_at(a, node.edges)

cdef inline Weight* node_weight(const Node* node) noexcept nogil:
    """Return the weight of a node that has one."""
    return <Weight*> (<char*> node + (NODE_UNITS + (node.n_priors + 3) // 4) * 16)

cdef inline double mean_weight(const Node* node) noexcept nogil:
    return node_weight(node).mean if node.flags & NODE_WEIGHED else 1.0

cdef inline int16_t* node_ownership(Node* node) noexcept nogil:
    return <int16_t*> (node_weight(node) + (1 if node.flags & NODE_WEIGHED else 0))

cdef inline uint32_t block_units(int n_priors, int flags, int area) noexcept nogil:
    return (NODE_UNITS + (n_priors + 3) // 4 + (1 if flags & NODE_WEIGHED else 0)
            + ((area * 2 + 15) // 16 if flags & NODE_OWNERSHIP else 0))

cdef inline int edge_action(const Edge* edge) noexcept nogil:
    return edge.action & ACTION_MASK

cdef inline int edge_proof(const Edge* edge) noexcept nogil:
    return edge.action >> PROOF_SHIFT

cdef inline bint edge_known(const Arena* a, const Edge* edge) noexcept nogil:
    """Tell whether a visited edge leads to an evaluated node: with `graph`, a node may be put in another's place."""
    return edge.visits != 0 and edge.child != 0 and node_at(a, edge.child).visits != 0

cdef inline int flip_proof(int proof) noexcept nogil:
    return PROVEN_LOSS if proof == PROVEN_WIN else PROVEN_WIN if proof == PROVEN_LOSS else proof

cdef union FloatBits:
    float f
    uint32_t u

cdef inline float prior_value(uint16_t code) noexcept nogil:
    """Return the probability of a code: a float32 cut to 11 bits of mantissa, in [2^-31, 1]."""
    cdef FloatBits bits
    bits.u = (<uint32_t> code << 12) + (<uint32_t> 96 << 23)
    return bits.f

cdef inline uint16_t prior_code(float probability) noexcept nogil:
    """Return the nearest code; anything below 2^-31 becomes 2^-31, anything above 1 becomes 1."""
    cdef FloatBits bits
    bits.f = probability
    if not (probability > 4.656612873077393e-10):
        return 0
    if probability >= 1.0:
        return 31 << 11
    return <uint16_t> ((bits.u - (<uint32_t> 96 << 23) + (1 << 11)) >> 12)
