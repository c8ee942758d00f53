"""What a report must say of a tree of puct_oracle: variations, bounds, ownership; slow, and from the definitions."""

import math

import numpy as np

from engine.board.planes import encode_position
from engine.board.scoring import pass_alive, tromp_taylor


def own_ownership(node):
    """Return [H, W] what a node's own evaluation says of the points, Black positive; zeros where a ko ended it."""
    position, shape = node.position, (node.position.height, node.position.width)
    if node.terminal and position.ended and node.settled(position) is not None:
        plain = position.rules.scoring == "AREA" and not position.rules.friendly_pass_ok
        owner = (tromp_taylor(position)[0] if plain else pass_alive(position)).reshape(shape).astype(float)
        return np.where(owner == 1, 1.0, np.where(owner == 2, -1.0, 0.0))
    if node.terminal and not position.ended:
        return np.zeros(shape)
    history = 1 if node.terminal else 5
    planes, numbers = encode_position(
        position, node.tree.evaluator.encoding, to_play=node.color, max_history=history)
    mine = node.tree.evaluator.evaluate(planes[None], numbers[None], ownership=True).ownership[0].reshape(shape)
    return mine if node.color == 1 else -mine


def ownership(node):
    """Return ([H, W] mean, [H, W] standard deviation) over the visits of a subtree, Black positive."""
    views = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        alone = one.visits - sum(child.visits for child in one.children.values())
        views += [own_ownership(one)] * alone
        waiting += one.children.values()
    assert len(views) == node.visits
    return np.mean(views, axis=0), np.std(views, axis=0)


def variation(action, node, length):
    """Return (actions, visits of the positions) from a move on: each time a proven win, else the most visited reply."""
    actions, visits = [action], [node.visits]
    while len(actions) < length and node.children:
        order = [a for a, _ in node.priors if a in node.children]
        won = [a for a in order if node.children[a].proven == "loss" and node.tree.params.solver]
        best = won[0] if won else max(order, key=lambda a: node.children[a].visits)
        node = node.children[best]
        actions.append(best)
        visits.append(node.visits)
    return actions, visits


def bounds(node, params):
    """Return (lower bound of the utility, lower bound of the winrate) of a move to an undecided node."""
    n = node.visits
    mean, value = -node.sums[0] / n, -node.sums[2] / n
    spread = max(node.sums[1] / n - (node.sums[0] / n) ** 2, 0.0)
    radius = params.lcb_stdevs * math.sqrt((spread * n + 0.25) / (n + 1) / n)
    return mean - radius, 0.5 + 0.5 * value - 0.5 * radius / params.win_loss_utility
