"""A slow, plain PUCT over Position copies, one evaluation at a time: what engine.search must agree with.

Written from the docstrings of engine/search alone; shares no code with it. Only what batch size 1, a fixed
symmetry and no noise need. Priors are cut to 11 bits of mantissa, q and weights to float32, as the search keeps them.
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


def student3(x):
    """Student's distribution with three degrees of freedom."""
    return 0.5 + (x * math.sqrt(3) / (3 + x * x) + math.atan(x / math.sqrt(3))) / math.pi


def pattern(node, action):
    """What a move has in common with others for the net's bias: mover, place, last move, ko, the 5x5 points around."""
    position = node.position
    last = position.moves[-1][1] if position.moves else None
    cells = []
    if action != position.area:
        y, x = divmod(action, position.width)
        for j in range(y - 2, y + 3):
            for i in range(x - 2, x + 3):
                if not (0 <= i < position.width and 0 <= j < position.height):
                    cells.append(None)
                    continue
                at = j * position.width + i
                color = position.color_at(at)
                cells.append((color, bool(color) and len(position.liberties(at)) == 1))
    return node.color, action, last, position.ko_action, tuple(cells)


class Node:
    def __init__(self, tree, position, color, pattern=None):
        self.position, self.color, self.tree = position, color, tree
        self.error, self.weight = 0.0, 0.0  # what it says of the net's bias in its pattern
        self.alike = tree.patterns.setdefault(pattern, []) if pattern else []
        self.alike.append(self)
        self.children, self.priors, self.proven, self.visits = {}, [], None, 0
        self.taken = {}  # visits of each edge
        self.errors = None  # of value and score, as the net says
        self.own_weight = self.mean_weight = 1.0  # of the own evaluation; of all visits
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
        if points is not None or repeats:
            self.errors = (0.0, 0.0) if tree.root.errors else None
        else:
            history = 1 if self.terminal else 5
            planes, globals_ = encode_position(
                position, tree.evaluator.encoding, to_play=color, max_history=history)
            e = tree.evaluator.evaluate(planes[None], globals_[None])
            self.own = tuple(float(a[0]) for a in (e.value, e.score_mean, e.score_stdev, e.lead))
            if e.shortterm_value_error is not None and e.shortterm_value_error[0] >= 0:
                self.errors = float(e.shortterm_value_error[0]), float(e.shortterm_score_error[0])
            legal = np.flatnonzero(position.legal_mask(color))
            logits = e.policy_logits[0][legal] / np.float32(tree.params.policy_temperature)
            p = np.exp(logits - logits.max(), dtype=np.float32)
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
        if position.rules.scoring == "TERRITORY" and position.rules.tax != "ALL" and owner.all():
            board = position.board()
            points = np.where(board == owner, 0, np.where(board == 0, 1, 2)) * np.where(owner == 1, 1, -1)
            return int(points.sum()) + position.prisoners(2) - position.prisoners(1)
        return None

    def add_own(self, decided=False):
        value, score, stdev, lead = self.own
        if decided:
            value = {"win": 1.0, "loss": -1.0, "draw": 0.0}[self.proven]
            score, stdev, lead = self.sums[3] / self.visits, 0.0, self.sums[4] / self.visits
        u = self.tree.utility(value, score, stdev, self.color)
        if not decided:
            u = self.own_utility = u + self.bias()
            self.weigh()
        return self.add(np.array([u, u * u, value, score, lead]), self.weight_again(decided))

    def weigh(self):
        """Find out how much the own evaluation counts."""
        if self.tree.params.uncertainty and self.errors:
            p, (value_error, score_error) = self.tree.params, self.errors
            slope = self.tree.slope(self.own[1], self.own[2], self.color)
            error = p.win_loss_utility * value_error + slope * score_error
            self.own_weight = float(np.float32(self.tree.weight(error)))

    def weight_again(self, proven):
        """How much one more visit counts that ends here."""
        if proven and self.tree.params.uncertainty and self.tree.root.errors:
            return self.tree.weight(0.0)
        return self.own_weight

    def bias(self):
        weight = sum(node.weight for node in self.alike)
        if weight < 0.001:
            return 0.0
        return self.tree.params.bias_share * sum(node.weight * node.error for node in self.alike) / weight

    def reweigh(self):
        """Make the sums anew: visits times the weighted means of the own evaluation and of the children."""
        p = self.tree.params
        children = [(q, self.children[a]) for a, q in self.priors if a in self.children]
        qs = [-child.sums[0] / child.visits for _, child in children]
        weights = [self.counted(a) for a, _ in self.priors if a in self.children]
        again = self.visits - 1 - sum(self.taken.values())  # visits that ended here
        again *= self.weight_again(self.proven)
        self.mean_weight = float(np.float32((self.own_weight + sum(weights) + again) / self.visits))
        if p.noise_prune_scale:
            for i in range(1, len(children)):
                before = sum(weights[:i])
                gap = sum(w * q for w, q in zip(weights[:i], qs[:i], strict=True)) / before - qs[i]
                fair = 2 * before * children[i][0] / sum(prior for prior, _ in children[:i])
                if gap > 0 and weights[i] > fair:
                    weights[i] = fair + (weights[i] - fair) * math.exp(-gap / p.noise_prune_scale)
        if p.value_weight_power and children:
            total = sum(weights)
            mean = sum(w * q for w, q in zip(weights, qs, strict=True)) / total
            chances = [student3((q - mean) * math.sqrt(1.5 * math.sqrt(w))) + 0.0001
                       for w, q in zip(weights, qs, strict=True)]
            weights = [w * chance**p.value_weight_power for w, chance in zip(weights, chances, strict=True)]
            weights = [w * total / sum(weights) for w in weights]
        value, score, stdev, lead = self.own
        said = self.tree.utility(value, score, stdev, self.color)
        if children:
            found = sum(w * q for w, q in zip(weights, qs, strict=True)) / sum(weights)
            self.error, self.weight = float(np.float32(found - said)), float(np.float32(sum(weights) ** 0.85))
        own = self.own_utility = said + (self.bias() if self is not self.tree.root else 0.0)
        means = self.own_weight * np.array([own, own * own, value, score, lead])
        for w, (_, child) in zip(weights, children, strict=True):
            means = means + w * child.sums / child.visits * np.array([-1, 1, -1, -1, -1])
        if again and self.proven:
            value = {"win": 1.0, "loss": -1.0, "draw": 0.0}[self.proven]
            score, lead = self.sums[3] / self.visits, self.sums[4] / self.visits
            own = self.tree.utility(value, score, 0.0, self.color)
        means = means + again * np.array([own, own * own, value, score, lead])
        self.sums = self.visits * means / (self.own_weight + sum(weights) + again)

    def add(self, figures, weight=1.0):
        before = self.visits * self.mean_weight
        self.visits += 1
        if self.tree.params.uncertainty:
            means = self.sums / max(1, self.visits - 1)
            self.sums = self.visits * (before * means + weight * figures) / (before + weight)
            self.mean_weight = float(np.float32((before + weight) / self.visits))
        else:
            self.sums = self.sums + figures
        return figures

    def counted(self, action):
        """Of the visits of an edge."""
        return self.taken[action] * self.children[action].mean_weight

    def proof(self, action):
        """Of the child."""
        return self.children[action].proven

    def q(self, action):
        child = self.children[action]
        if self.proof(action) == "draw" and self.tree.params.solver:
            return 0.0
        return float(np.float32(-child.sums[0] / child.visits))

    def choose(self):
        p, n = self.tree.params, max(1, self.visits - 1)
        if p.uncertainty:
            n = max(1, sum(self.counted(action) for action in self.children))
        explore = (p.cpuct + p.cpuct_log * math.log((n + p.cpuct_base) / p.cpuct_base)) * math.sqrt(n)
        mean = self.sums[0] / self.visits
        variance = max(0.0, self.sums[1] / self.visits - mean * mean)
        spread = math.sqrt((variance * self.visits + 2 * p.cpuct_stdev_prior**2) / (self.visits + 1))
        explore *= 1 + p.cpuct_stdev_scale * (spread / p.cpuct_stdev_prior - 1)
        mass = sum(prior for action, prior in self.priors if action in self.children)
        start = mean
        if p.fpu_mean_power:
            own = float(np.float32(self.own_utility))
            start = own + (mean - own) * mass**p.fpu_mean_power
        fpu = start - math.sqrt(mass) * (
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
                score = self.q(action) + explore * prior / (1 + self.counted(action))
                if self.proof(action) == "win" and p.solver:
                    score = -1e20 + self.q(action)
            if score > best_score:
                best, best_score = action, score
        return best

    def prove(self):
        proofs = [self.proof(action) for action in self.children]
        if "loss" in proofs:
            self.proven = "win"
        elif len(proofs) == len(self.priors) and None not in proofs:
            self.proven = "draw" if "draw" in proofs else "loss"


class Tree:
    def __init__(self, evaluator, params, position, color):
        self.evaluator, self.params, self.root = evaluator, params, None
        self.patterns = {}
        self.plain = not (params.noise_prune_scale or params.value_weight_power or params.bias_share
                          or params.uncertainty)
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

    def slope(self, score, stdev, color):
        """Utility that a point more is worth."""
        p, root_area = self.params, math.sqrt(self.area)
        center = self.center if color == self.root_color else -self.center

        def slope(mean, scale):
            return float((WEIGHTS * scale / (scale**2 + (mean + stdev * POINTS) ** 2)).sum() * 2 / math.pi)

        return (p.static_score_utility * slope(score, 2 * root_area)
                + p.dynamic_score_utility * slope(score - center, p.dynamic_score_scale * root_area))

    def weight(self, error):
        """Of an evaluation whose utility is off by so much."""
        p = self.params
        return p.uncertainty_coeff / (error**p.uncertainty_exponent + p.uncertainty_coeff / p.uncertainty_max_weight)

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
        path, actions = [self.root], []
        while True:
            node = path[-1]
            if node is not self.root and (node.terminal or node.proven):
                figures = node.add_own(decided=node.proven is not None)
                break
            action = node.choose()
            actions.append(action)
            if action not in node.children:
                position = node.position.copy()
                position.play(action, node.color)
                child = node.children[action] = Node(self, position, 3 - node.color, pattern(node, action))
                figures = child.sums
                path.append(child)
                break
            path.append(node.children[action])
        for node, action in zip(reversed(path[:-1]), reversed(actions), strict=True):
            figures = figures * np.array([-1, 1, -1, -1, -1])
            node.taken[action] = node.taken.get(action, 0) + 1
            if self.plain:
                node.add(figures)
            else:
                node.visits += 1
                node.reweigh()
        for node in reversed(path[:-1]):
            if self.params.solver and node.proven is None:
                node.prove()

    def search(self, visits):
        while self.root.visits < visits and not (self.root.proven and self.params.stop_when_proven):
            self.walk()
        return self.root
