"""A search and a slow one that follow the same moves of a game, and what is kept of their trees."""

import numpy as np


def kept_as_oracle(compare, tree, searcher, position, evaluator, *, plies, seed):
    """Search, play one of the first three moves, and go on; return how often the tree was kept.

    Args:
        compare: searches with a tree and the searcher, compares them, and returns the searcher's result.
        tree: the slow one; where it does not follow a move a new one of its kind is made.
    """
    rng, kept = np.random.default_rng(seed), 0
    for _ in range(plies):
        result = compare(tree, searcher)
        action = int(rng.choice([move.action for move in result.moves[:3]]))
        position.play(action)
        if position.ended:
            break
        follows = tree.follow(action)
        assert searcher.set_position(position) == follows
        kept += follows
        if not follows:
            tree = type(tree)(evaluator, searcher.params, position, position.to_play)
    return kept
