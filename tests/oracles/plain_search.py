"""Settings of a search whose means are those over visits, for tests that compare with plain sums.

By default a node's figures are weighted means of its children's and lean on what was found in the same patterns, which
changes when part of a tree is dropped.
"""

from engine.search.params import SearchParams

DEFAULTS = {key: getattr(SearchParams(), key) for key in ("value_weight_power", "noise_prune_scale", "bias_share")}
PLAIN = dict.fromkeys(DEFAULTS, 0.0)
