"""Makes the suite's positions on open boards: ladders and nets, drawn at random around cutting stones.

Four to seven stones of a chain cut the other side in two; further stones stand about the board. The slow ladder
reader says which ladders work; a strong net's search says that they matter: komi lies half way between the outcome of
the right move and that of the best other one, at least `GAP` points apart. Needs a net file: this is no test, but how
it was done.
"""

import random
import sys

import ladder_oracle
import numpy as np

from engine import factory
from engine.board.position import Position
from engine.board.vertex import format_vertex
from engine.search.params import SearchParams
from engine.search.root import Limits, RootOptions
from engine.search.searcher import Searcher

GAP = 7.0
MOST_KOMI = 40.0  # points: beyond what nets are trained with, positions would ask for komi, not tactics
CHECK, FINAL = 30, 300  # visits
TRIES = 40  # points for a stone that changes a ladder
NAMES = {1: "black", 2: "white"}


def inside(size, point):
    return all(0 <= c < size for c in point)


def draw_board(rng, size):
    """Return (nested lists, a point of the chain in question): its color is 1, its captors' 2.

    A chain stands between two groups at the bottom, of which the left one has a single eye, and can only run out to the
    right, into an open quarter with some stones of both sides. Its own side lives to the left and above, the other one
    to the right of the quarter.
    """
    head = rng.choice({9: (1,), 13: (2, 3), 19: (3, 4, 5)}[size])
    x = rng.choice({9: (3, 4), 13: (4, 5, 6), 19: (7, 8, 9)}[size])
    top = size - {9: 1, 13: 2, 19: 3}[size]
    right = size - {9: 2, 13: 3, 19: 4}[size]
    up = [[0] * size for _ in range(size)]  # rows from the bottom
    for y in range(size):
        for u in range(size):
            if (y <= head and u < x) or (y < head and u > x) or (u >= right and y < top - 1):
                up[y][u] = 2
            elif y <= head or y >= top or (u < x - 1 and y > head) or (u == x - 1 and y > head + 1):
                up[y][u] = 1 if y > head or u == x else 0
    for y in range(size):
        for u in range(size):
            near = [(y + dy, u + dx) for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0))]
            color = up[y][u]
            if color == 2 and u < x and (y, u) != (0, 0):
                continue  # the group to the left has one eye: it lives if the chain is caught
            surrounded = all(up[v][w] == color for v, w in near if inside(size, (v, w)))
            if color and (u + 2 * y) % 4 == 0 and u != x and surrounded:
                up[y][u] = 0
    free = [(y, u) for y in range(head + 2, top - 1) for u in range(x + 2, right - 1)]
    rng.shuffle(free)
    for i, (y, u) in enumerate(free[: rng.randrange(0, 3 + size // 3)]):
        if rng.random() < 0.8 or max(y - head, u - x) > 3:
            up[y][u] = 1 + i % 2
    return up[::-1], (size - 1 - head, x)


def sound(board):
    """Tell whether no chain but the target's is in atari."""
    size = len(board)
    return all(
        board[y][x] == 0 or len(ladder_oracle.chain_at(board, (y, x))[1]) >= 2 for y in range(size) for x in range(size)
    )


def questions(rng, board, target):
    """Yield (kind of question, board, color to play, right moves, moves to avoid, reason)."""
    try:
        falls, works = ladder_oracle.read_chain(board, None, target)
    except ladder_oracle.Undecided:
        return
    liberties = ladder_oracle.chain_at(board, target)[1]
    if len(liberties) != 2:
        return
    if falls and len(works) == 1:
        helpers = decisive(board, target, 2)
        stones = " or ".join(f"{{{p}}}" for p in helpers)
        text = f"; without the stone at {stones} it would not" if helpers else ""
        yield ("helped" if helpers else "works"), board, 2, works, set(), f"The ladder works from {{answer}}{text}."
    for start in sorted(liberties):
        played = ladder_oracle.play(board, start, 2)
        if played is None:
            continue
        after, ko = played
        free = ladder_oracle.chain_at(after, target)[1]
        if len(free) != 1 or ko is not None:
            continue
        try:
            caught = ladder_oracle.read_chain(after, None, target)[0]
        except ladder_oracle.Undecided:
            continue
        if ladder_oracle.gaining_captures(after, target):
            continue
        (run,) = free
        if caught:
            reason = "The ladder works: running out with {avoid} only adds to the loss."
            yield "runs in vain", after, 1, set(), {run}, reason
        else:
            breakers = decisive(after, target, 1)
            if breakers:
                stones = " or ".join(f"{{{p}}}" for p in breakers)
                reason = f"The stone at {stones} breaks the ladder: run out with {{answer}}."
                yield "broken", after, 1, {run}, set(), reason
    if not falls:
        breakers = decisive(board, target, 1)
        if breakers:
            stones = " or ".join(f"{{{p}}}" for p in breakers)
            reason = f"The stone at {stones} breaks the ladder: no {{avoid}}."
            yield "does not work", board, 2, set(), set(liberties), reason


def decisive(board, target, color):
    """Return the distant stones of a color without any one of which the ladder would end the other way."""
    try:
        before = ladder_oracle.read_chain(board, None, target)[0]
    except ladder_oracle.Undecided:
        return []
    found = []
    for y, row in enumerate(board):
        for x, stone in enumerate(row):
            if stone == color and max(abs(y - target[0]), abs(x - target[1])) >= 4:
                without = [list(line) for line in board]
                without[y][x] = 0
                try:
                    if ladder_oracle.read_chain(without, None, target)[0] != before:
                        found.append((y, x))
                except ladder_oracle.Undecided:
                    return []
    return found


def with_breaker(rng, board, target, color):
    """Return the board with a distant stone of that color that turns the ladder's outcome, or None."""
    size = len(board)
    far = [(y, x) for y in range(size) for x in range(size)
           if board[y][x] == 0 and max(abs(y - target[0]), abs(x - target[1])) >= 4]  # fmt: skip
    rng.shuffle(far)
    try:
        before = ladder_oracle.read_chain(board, None, target)[0]
        for y, x in far[:TRIES]:
            changed = [list(row) for row in board]
            changed[y][x] = color
            if sound(changed) and ladder_oracle.read_chain(changed, None, target)[0] != before:
                return changed
    except ladder_oracle.Undecided:
        pass
    return None


class Checker:
    """A strong net's search as a second opinion."""

    def __init__(self, net):
        settings = factory.make_settings(factory.preset("gtp"), {"net": {"threads": 1}})
        loaded = factory.load(net, settings.net)
        self.name = "g170-b6c96" if "g170" in loaded.name else loaded.name
        self.searcher = Searcher(loaded.evaluator, SearchParams(), seed=1)

    def lead(self, position, visits, root):
        self.searcher.set_position(position)
        result = self.searcher.search(Limits(visits=visits), root=root)
        return result.move(result.best_action).lead, result.best_action

    def gap(self, board, color, right, wrong, visits):
        """Return (lead with a right move, lead with the best other one), in the mover's view; None: not the best."""
        size = len(board)
        position = Position(size, rules="chinese-ogs", komi=7.5 if size > 9 else 7.0)
        position.set_up([(c, y * size + x) for y, row in enumerate(board) for x, c in enumerate(row) if c], color)
        chosen = tuple(y * size + x for y, x in (right or wrong))
        inner, _ = self.lead(position, visits, RootOptions(allow=chosen))
        outer, _ = self.lead(position, visits, RootOptions(avoid=chosen))
        return (inner, outer) if right else (outer, inner)


def text_of(name, kind, board, color, right, wrong, reason, leads, checked, swap):
    size = len(board)
    flip = (lambda c: 3 - c if c else 0) if swap else (lambda c: c)
    vertex = lambda p: format_vertex(p[0] * size + p[1], size, size)  # noqa: E731
    base = 7.5 if size > 9 else 7.0
    black = 1 if color == 1 else -1
    middle = sum(leads) / 2 * black + base  # komi at which Black would be even half way
    komi = np.floor(middle) + 0.5
    if swap:
        komi = -komi
    words = {"answer": " or ".join(sorted(map(vertex, right))), "avoid": " or ".join(sorted(map(vertex, wrong)))}
    for y in range(size):
        for x in range(size):
            reason = reason.replace(f"{{({y}, {x})}}", vertex((y, x)))
    for key, word in words.items():
        reason = reason.replace(f"{{{key}}}", word)
    moves = ("answer: " if right else "avoid: ") + " ".join(sorted(map(vertex, right or wrong)))
    head = [f"[{name}]", f"kind: {kind}", f"play: {NAMES[flip(color)]}", f"komi: {komi:g}", moves, f"reason: {reason}",
            f"checked: ladder reader; {checked}, {leads[0] - leads[1]:.0f} points apart"]  # fmt: skip
    return "\n".join([*head, *(" ".join(".XO"[flip(c)] for c in row) for row in board)]) + "\n"


WANTED = {"works": 7, "helped": 7, "broken": 8, "runs in vain": 5, "does not work": 6}


def main():
    seed, net = int(sys.argv[1]), sys.argv[2]
    rng, checker = random.Random(seed), Checker(net)
    count = dict.fromkeys(WANTED, 0)
    good = []  # boards on which something was found: worth another stone
    while any(count[k] < n for k, n in WANTED.items()):
        size = rng.choice((9, 13, 13, 13))
        stones = rng.choice(((), (1,), (1, 2)))  # one that breaks the ladder, and one that mends it
        if good and rng.random() < 0.7:
            board, target = good.pop(rng.randrange(len(good)))
            stones = (2,) if not ladder_oracle.read_chain(board, None, target)[0] else (1,)
        else:
            board, target = draw_board(rng, size)
        if not sound(board):
            continue
        for color in stones:
            board = board and with_breaker(rng, board, target, color)
        if board is None:
            continue
        for question, asked, color, right, wrong, reason in questions(rng, board, target):
            if count[question] >= WANTED[question]:
                continue
            leads = checker.gap(asked, color, right, wrong, CHECK)
            if leads[0] - leads[1] < GAP:
                continue
            leads = checker.gap(asked, color, right, wrong, FINAL)
            middle = sum(leads) / 2
            if leads[0] - leads[1] < GAP or abs(middle) > MOST_KOMI:
                continue
            count[question] += 1
            name = f"ladder-{question.replace(' ', '-')}-{count[question]:02}"
            checked = f"{checker.name}, {FINAL} visits"
            swap = rng.random() < 0.5
            print(text_of(name, "ladder", asked, color, right, wrong, reason, leads, checked, swap), flush=True)
            if (board, target) not in good:
                good += [(board, target)] * 2


if __name__ == "__main__":
    main()
