"""The slow search of puct_oracle.py where positions share nodes: what engine.search must agree with under `graph`.

Written from the docstrings of engine/search alone (walk.pyx, grow.pyx, tree.pyx). One evaluation at a time; every walk
plays its moves on a position of its own, so its past is the real one.
"""

import numpy as np
import puct_oracle

FLIP = {"win": "loss", "loss": "win", "draw": "draw"}


def closed_by_superko(position, color):
    return any(position.breaks_superko(a, color) for a in range(position.area))


class Node(puct_oracle.Node):
    def __init__(self, tree, position, color, pattern=None):
        super().__init__(tree, position.copy(), color, pattern)
        self.qs, self.proofs = {}, {}  # by action: worth of the edge at the node's last visit; proof of its child
        self.shared = self.foreign = self.rests_on_past = False
        self.closed = not self.terminal and closed_by_superko(position, color)

    def proof(self, action):
        return self.proofs.get(action)

    def q(self, action):
        return 0.0 if self.proof(action) == "draw" else self.qs[action]

    def reweigh(self):
        super().reweigh()
        for action, child in self.children.items():  # what a proof says comes first: see q
            self.qs[action] = float(np.float32(-child.sums[0] / child.visits))


class Tree(puct_oracle.Tree):
    def __init__(self, evaluator, params, position, color):
        self.places = {}
        self.links = self.catch_ups = self.partings = 0
        super().__init__(evaluator, params, position, color)
        self.position = position.copy()

    def root_of(self, position, color):
        root = Node(self, position, color)
        self.center = root.own[1] * (1 - self.params.dynamic_score_zero_weight)
        root.add_own()
        return root

    @staticmethod
    def place(position, color):
        """All that a position shows, who was closed out where, and how many moves were made."""
        moves = position.moves
        passes = 0
        while passes < min(2, len(moves)) and moves[-1 - passes][1] == position.area:
            passes += 1
        prisoners = None
        if position.rules.scoring == "TERRITORY":
            made = [sum(1 for c, a in moves if c == side and a < position.area) for side in (1, 2)]
            prisoners = (position.prisoners(1) - position.prisoners(2), made[0] - made[1])
        return (position.board().tobytes(), color, position.ko_action, passes, position.legal_mask(color).tobytes(),
                len(moves), position.handicap, prisoners)

    def follow(self, action):
        """Play a move and keep what still applies. Return False if nothing does: make another tree."""
        root = self.root.children.get(action)
        foreign = self.root.shared or self.root.foreign
        self.position.play(action, self.root_color)
        self.root_color = 3 - self.root_color
        if root is None or root.terminal or not self.same_moves(root, self.position, self.root_color):
            return False
        self.root = root
        nodes = self.nodes()
        parents = [id(child) for node in nodes for child in set(node.children.values())]
        root.foreign = root.foreign or foreign or root.shared
        for node in nodes:
            node.foreign = node.foreign or node.shared
            node.shared = parents.count(id(node)) > 1
        kept = {id(node) for node in nodes}
        self.places = {key: node for key, node in self.places.items() if id(node) in kept}
        self.center = root.sums[3] / root.visits * (1 - self.params.dynamic_score_zero_weight)
        for node in reversed(nodes):
            node.weigh()
            node.reweigh()
        return True

    def nodes(self):
        """Return every node once, parents first."""
        nodes, seen = [self.root], {id(self.root)}
        for node in nodes:
            for child in node.children.values():
                if id(child) not in seen:
                    seen.add(id(child))
                    nodes.append(child)
        return nodes

    def child(self, parent, action, position, color, pattern, own):
        """Return the node for the end of a walk, and whether it is new."""
        repeats = self.repeats(position)
        key = None if own or position.ended or repeats else self.place(position, color)
        known = self.places.get(key) if key else None
        if known is not None and known.proven is None and not known.rests_on_past:
            known.shared = True
            parent.children[action] = known
            self.links += 1
            return known, False
        node = parent.children[action] = Node(self, position, color, pattern)
        if key and known is None:
            self.places[key] = node
        return node, True

    def walk(self):
        position, color, node = self.position.copy(), self.root_color, self.root
        path, actions = [], []
        shared, checked = None, False
        new = False  # the walk ends at a node that it has made
        while True:
            checked = checked or node.shared or node.foreign
            if node.shared and shared is None:
                shared = len(path)
            if path and (node.terminal or node.proven):
                node.add_own(decided=node.proven is not None)
                self.count(path, actions, node)
                if node.proven and (path[-1].proof(actions[-1]) is None or (checked and shared is None)):
                    self.prove(path, actions, node)
                return
            if checked and node.closed and not self.same_moves(node, position, color):
                return self.part(path, actions, shared)
            action = node.choose()
            if checked and not position.is_legal(action, color):
                return self.part(path, actions, shared)
            child = node.children.get(action)
            before = node.taken.get(action, 0)
            path.append(node)
            actions.append(action)
            pattern = puct_oracle.pattern(_At(position, color), action) if child is None else None
            position.play(action, color)
            color = 3 - color
            if child is None:
                child, new = self.child(node, action, position, color, pattern, False)
                self.count(path, actions, child)
                if new and child.proven:
                    self.prove(path, actions, child)
                return
            if (checked and position.rules.ko == "SIMPLE" and action != position.area and not position.ended
                    and self.repeats(position) != child.terminal):
                return self.part(path, actions, shared)
            if child.visits > before and child.proven is None:
                self.catch_ups += 1
                self.count(path, actions, child)
                return
            node = child

    def part(self, path, actions, shared):
        """Play the walk's moves again as far as what is shared, or all of them, and give the last one a new node."""
        self.partings += 1
        depth = len(path) if shared is None else shared
        path, actions = path[:depth], actions[:depth]
        position, color = self.position.copy(), self.root_color
        for action in actions:
            pattern = puct_oracle.pattern(_At(position, color), action)
            position.play(action, color)
            color = 3 - color
        child, _ = self.child(path[-1], actions[-1], position, color, pattern, True)
        self.count(path, actions, child)
        if child.proven:
            self.prove(path, actions, child)

    @staticmethod
    def same_moves(node, position, color):
        return {a for a, _ in node.priors} == set(np.flatnonzero(position.legal_mask(color)).tolist())

    def count(self, path, actions, end):
        for node, action in zip(reversed(path), reversed(actions), strict=True):
            node.taken[action] = node.taken.get(action, 0) + 1
            node.visits += 1
            node.reweigh()

    def prove(self, path, actions, child):
        if not self.params.solver:
            return
        several = next((i for i, node in enumerate(path) if node.shared), len(path))
        for i in range(len(path) - 1, -1, -1):
            node = path[i]
            node.proofs[actions[i]] = child.proven
            if node.proven is not None:
                return
            node.prove()
            if node.proven is None:
                return
            if not (node.proven == "win" and child.terminal):
                if several <= i:
                    node.proven = None
                    return
                for above in path[:i + 1]:
                    above.rests_on_past = True
            child = node


class _At:
    """What puct_oracle.pattern looks at."""

    def __init__(self, position, color):
        self.position, self.color = position, color
