"""A slow, plain PUCT over Position copies, one evaluation at a time: what engine.search must agree with.

Written from the docstrings of engine/search alone; shares no code with it. Only what batch size 1, a fixed
symmetry and no noise need. Priors are cut to 11 bits of mantissa and q to float32, as the search keeps them.
"""

import math

import numpy as np

from engine.board.planes import encode_position
from engine.board.scoring import pass_alive, tromp_taylor

POINTS = np.arange(-8, 9) / 2  # where a normal score is looked at, in standard deviations
WEIGHTS = np.exp(-0.5 * POINTS**2) / np.exp(-0.5 * POINTS**2).sum()


def cut(p):
    bits = (int(np.float32(p).view(np.uint32)) + (1 << 11)) >> 12 << 12
    return float(np.uint32(max(bits, 96 << 23)).view(np.float32))


class Node:
    def __init__(self, tree, position, color):
        self.position, self.color, self.tree = position, color, tree
        self.children, self.proven, self.visits = {}, None, 0
        self.sums = np.zeros(5)  # utility, utility squared, value, score, lead
        self.terminal = tree.root is not None and position.ended
        repeats = tree.root is not None and tree.repeats(position)
        rules = position.rules
        points = self.settled(position) if self.terminal else None
        if points is not None:
            bonus = {"0": 0, "N": position.handicap, "N-1": max(0, position.handicap - 1)}
            score = (points - position.komi - bonus[rules.white_handicap_bonus]) * (1 if color == 1 else -1)
            self.own = np.sign(score), score, 0.0, score
            self.proven = ["draw", "win", "loss"][int(np.sign(score))]
        elif repeats:
            self.own, self.terminal = (0.0, 0.0, 0.0, 0.0), True
        else:
            history = 1 if self.terminal else 5
            planes, globals_ = encode_position(
                position, tree.evaluator.encoding, to_play=color, max_history=history)
            e = tree.evaluator.evaluate(planes[None], globals_[None])
            self.own = tuple(float(a[0]) for a in (e.value, e.score_mean, e.score_stdev, e.lead))
            legal = np.flatnonzero(position.legal_mask(color))
            p = np.exp(e.policy_logits[0][legal] - e.policy_logits[0][legal].max(), dtype=np.float32)
            p = p / p.sum(dtype=np.float32)
            self.priors = sorted(((int(a), cut(q)) for a, q in zip(legal, p, strict=True)), key=lambda x: -x[1])
        if tree.root is not None:
            self.add_own()

    @staticmethod
    def settled(position):
        """Black's points more than White's, or None where the rules leave something to judge (no dame here)."""
        if position.rules.scoring == "AREA" and not position.rules.friendly_pass_ok:
            return tromp_taylor(position)[1]
        owner = pass_alive(position)
        if position.rules.scoring == "AREA" and owner.all():
            return int((owner == 1).sum()) - int((owner == 2).sum())
        return None

    def add_own(self, decided=False):
        value, score, stdev, lead = self.own
        if decided:
            value = {"win": 1.0, "loss": -1.0, "draw": 0.0}[self.proven]
            score, stdev, lead = self.sums[3] / self.visits, 0.0, self.sums[4] / self.visits
        u = self.tree.utility(value, score, stdev, self.color)
        return self.add(np.array([u, u * u, value, score, lead]))

    def add(self, figures):
        self.visits += 1
        self.sums = self.sums + figures
        return figures

    def q(self, action):
        child = self.children[action]
        if child.proven == "draw" and self.tree.params.solver:
            return 0.0
        return float(np.float32(-child.sums[0] / child.visits))

    def choose(self):
        p, n = self.tree.params, max(1, self.visits - 1)
        explore = (p.cpuct + p.cpuct_log * math.log((n + p.cpuct_base) / p.cpuct_base)) * math.sqrt(n)
        mass = sum(prior for action, prior in self.priors if action in self.children)
        fpu = self.sums[0] / self.visits - math.sqrt(mass) * (
            p.root_fpu_reduction if self is self.tree.root else p.fpu_reduction)
        best, best_score = None, -math.inf
        count, reached = 0, 0.0
        for action, prior in self.priors:
            if (p.move_count and count == p.move_count) or (p.move_mass and reached >= p.move_mass):
                break
            count, reached = count + 1, reached + prior
            child = self.children.get(action)
            score = fpu + explore * prior
            if child:
                score = self.q(action) + explore * prior / (1 + child.visits)
                if child.proven == "win" and p.solver:
                    score = -1e20 + self.q(action)
            if score > best_score:
                best, best_score = action, score
        return best

    def prove(self):
        proofs = [child.proven for child in self.children.values()]
        if "loss" in proofs:
            self.proven = "win"
        elif len(proofs) == len(self.priors) and None not in proofs:
            self.proven = "draw" if "draw" in proofs else "loss"


class Tree:
    def __init__(self, evaluator, params, position, color):
        self.evaluator, self.params, self.root = evaluator, params, None
        self.root_color, self.area, self.center = color, position.area, 0.0
        self.root = self.root_of(position.copy(), color)

    def root_of(self, position, color):
        root = Node(self, position, color)
        self.center = root.own[1] * (1 - self.params.dynamic_score_zero_weight)
        root.add_own()
        return root

    def utility(self, value, score, stdev, color):
        p, root_area = self.params, math.sqrt(self.area)
        center = self.center if color == self.root_color else -self.center

        def bent(mean, scale):
            return float((WEIGHTS * np.arctan((mean + stdev * POINTS) / scale)).sum() * 2 / math.pi)

        return (p.win_loss_utility * value + p.static_score_utility * bent(score, 2 * root_area)
                + p.dynamic_score_utility * bent(score - center, p.dynamic_score_scale * root_area))

    def repeats(self, position):
        moves = position.moves
        if position.rules.ko != "SIMPLE" or moves[-1][1] == position.area:
            return False
        key = (position.board().tobytes(), position.to_play)
        earlier = position.copy()
        for _ in moves:
            earlier.undo()
            if (earlier.board().tobytes(), earlier.to_play) == key:
                return True
        return False

    def walk(self):
        path = [self.root]
        while True:
            node = path[-1]
            if node is not self.root and (node.terminal or node.proven):
                figures = node.add_own(decided=node.proven is not None)
                break
            action = node.choose()
            if action not in node.children:
                position = node.position.copy()
                position.play(action, node.color)
                child = node.children[action] = Node(self, position, 3 - node.color)
                figures = child.sums
                path.append(child)
                break
            path.append(node.children[action])
        for node in reversed(path[:-1]):
            figures = figures * np.array([-1, 1, -1, -1, -1])
            node.add(figures)
        for node in reversed(path[:-1]):
            if self.params.solver and node.proven is None:
                node.prove()

    def search(self, visits):
        while self.root.visits < visits and not (self.root.proven and self.params.stop_when_proven):
            self.walk()
        return self.root
