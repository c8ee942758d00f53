"""From SearchParams, RootOptions and an evaluator to the fields of a Context, which compiled code reads."""

import hashlib

from libc.stdint cimport uint64_t
from libc.string cimport memset

from engine.board.planes cimport (
    ENC_DARKFOREST_25, ENC_KATAGO_V7, ENC_SECOND, default_options, encoding_code,
)
from engine.board.types cimport MAX_ACTIONS

from .walk cimport MAX_LIMITS, SYMMETRY_AVERAGE, SYMMETRY_FIXED, SYMMETRY_RANDOM, Context

from engine.errors import EngineError
from engine.search.root import EVERYWHERE

SYMMETRY_MODES = {"fixed": SYMMETRY_FIXED, "random": SYMMETRY_RANDOM, "average": SYMMETRY_AVERAGE}


cdef int apply_evaluator(Context* x, object evaluator) except -1:
    x.encoding = encoding_code(evaluator.encoding)
    default_options(&x.encode_options)
    x.encode_options.pass_alive_under_suicide = bool(getattr(evaluator, "pass_alive_under_suicide", False))
    x.history = x.encode_options.max_history
    x.key_options.history = 0
    x.key_options.boards = 0
    x.key_options.ages = False
    for code in (x.encoding % <int>ENC_SECOND, x.encoding // <int>ENC_SECOND):
        if code == ENC_DARKFOREST_25:
            x.key_options.ages = True
        elif code > ENC_KATAGO_V7:
            x.key_options.boards = 7
        elif code > 0:
            x.key_options.history = x.history
            x.key_options.boards = max(x.key_options.boards, 2)   # ladders are read on them
    return 0


cdef int apply_params(Context* x, object params, bint seeded) except -1:
    """Put the settings in. The tree must be empty if any differs that it was made with."""
    x.select.cpuct = params.cpuct
    x.select.cpuct_log = params.cpuct_log
    x.select.cpuct_base = params.cpuct_base
    x.select.fpu_reduction = params.fpu_reduction
    x.select.root_fpu_reduction = params.root_fpu_reduction
    x.select.fpu_mean_power = params.fpu_mean_power
    x.select.stdev_scale = params.cpuct_stdev_scale
    x.select.stdev_prior = params.cpuct_stdev_prior
    x.select.move_mass = params.move_mass if params.move_mass > 0.0 else 1e30
    x.select.move_count = params.move_count if params.move_count > 0 else MAX_ACTIONS
    x.select.weighed = params.uncertainty
    x.select.virtual_loss = params.virtual_loss
    x.policy_scale = <float> (1.0 / params.policy_temperature)
    x.tree.prove = params.solver
    x.tree.sharing = params.graph
    x.tree.mean.value_power = params.value_weight_power
    x.tree.mean.prune_scale = params.noise_prune_scale
    x.tree.mean.bias_share = params.bias_share
    x.tree.mean.uncertainty = params.uncertainty
    x.tree.mean.error_coeff = params.uncertainty_coeff
    x.tree.mean.error_power = params.uncertainty_exponent
    x.tree.mean.most_weight = params.uncertainty_max_weight
    x.tree.mean.plain = not (
        params.value_weight_power or params.noise_prune_scale or params.bias_share or params.graph
        or params.uncertainty)
    x.tree.utility.win_loss = params.win_loss_utility
    x.tree.utility.static_weight = params.static_score_utility
    x.tree.utility.dynamic_weight = params.dynamic_score_utility
    x.stop_when_proven = params.stop_when_proven
    x.conservative_pass = params.conservative_pass
    x.symmetry_mode = SYMMETRY_MODES[params.symmetry]
    x.key_options.ignore_history = params.cache_ignore_history and not seeded
    x.key_options.symmetric = params.cache_symmetric and params.symmetry == "fixed"
    x.defer_hits = seeded
    x.place_options.salt = 1
    x.place_options.ignore_history = True
    # Shares of patterns and of the table of positions: grow.pyx.
    parts = 16 + (1 if params.bias_share != 0.0 else 0) + (2 if params.graph else 0)
    x.tree.arena.limit_bytes = (<uint64_t> params.tree_memory << 20) // <uint64_t> parts * 16
    return 0


cdef int apply_board(Context* x, object params) except -1:
    cdef int area = x.root_state.geo.area
    x.tree.area = area
    x.tree.utility.static_scale = 2.0 * area ** 0.5
    x.tree.utility.dynamic_scale = params.dynamic_score_scale * area ** 0.5
    x.fixed_symmetry = params.symmetry_index % x.root_state.geo.n_symmetries
    return 0


cdef int apply_limits(Context* x, tuple limits) except -1:
    cdef int i
    if len(limits) > MAX_LIMITS:
        raise EngineError(f"search: more than {MAX_LIMITS} avoid or allow entries")
    x.n_limits = len(limits)
    for i, (allow, limit) in enumerate(limits):
        x.limits[i].color = limit.color
        x.limits[i].until = min(limit.until_depth, EVERYWHERE)
        x.limits[i].allow = allow
        memset(x.limits[i].actions, 0, sizeof(x.limits[i].actions))
        for action in limit.actions:
            if not 0 <= action <= x.tree.area:
                raise EngineError(f"search: no such action: {action}")
            x.limits[i].actions[action] = 1
    return 0


cdef uint64_t salt(Context* x, object identity, object evaluator) except? 0:
    """Return a hash of what is the same for every position of a search: size, rules, komi, net and encoding."""
    text = repr((identity, evaluator.encoding, evaluator.name, bool(x.encode_options.pass_alive_under_suicide)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
