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

GAP = 9.0
CHECK, FINAL = 100, 500  # visits
NAMES = {1: "black", 2: "white"}


def inside(size, point):
    return all(0 <= c < size for c in point)


def draw_board(rng, size):
    """Return (nested lists, the cutting chain's points): target color 1, its captors 2."""
    board = [[0] * size for _ in range(size)]
    y, x = (rng.randrange(3, size - 3) for _ in range(2))
    chain = [(y, x)]
    while len(chain) < rng.choice((2, 3, 3, 4)):
        cy, cx = rng.choice(chain)
        dy, dx = rng.choice(((0, 1), (1, 0), (0, -1), (-1, 0)))
        if inside(size, (cy + dy, cx + dx)) and (cy + dy, cx + dx) not in chain:
            chain.append((cy + dy, cx + dx))
    for y, x in chain:
        board[y][x] = 1
    free = sorted(ladder_oracle.chain_at(board, chain[0])[1])
    rng.shuffle(free)
    for y, x in free[2:]:
        board[y][x] = 2
    near = [(y + dy, x + dx) for y, x in chain for dy in range(-3, 4) for dx in range(-3, 4)]
    near = [p for p in set(near) if inside(size, p) and board[p[0]][p[1]] == 0 and p not in free[:2]]
    rng.shuffle(near)
    for i, (y, x) in enumerate(near[: rng.randrange(5, 11)]):
        board[y][x] = 2 if i % 2 else 1
    lines = [2, 3] if size < 13 else [2, 3, 3, 4]
    for i in range(rng.randrange(2, 4 if size < 13 else 9) * 2):
        y, x = rng.choice(lines), rng.randrange(2, size - 2)
        y = y if rng.random() < 0.5 else size - 1 - y
        y, x = (y, x) if rng.random() < 0.5 else (x, y)
        if all(board[y + dy][x + dx] == 0 for dy in (-1, 0, 1) for dx in (-1, 0, 1) if inside(size, (y + dy, x + dx))):
            board[y][x] = 1 + i % 2
    return board, chain[0]


def sound(board):
    """Tell whether no chain but the target's is in atari."""
    size = len(board)
    return all(
        board[y][x] == 0 or len(ladder_oracle.chain_at(board, (y, x))[1]) >= 2 for y in range(size) for x in range(size)
    )


def in_atari_beside(board, target):
    """Tell whether a chain beside the target's has fewer than three liberties (the ladder would not be the point)."""
    stones = ladder_oracle.chain_at(board, target)[0]
    return any(
        board[v][u] == 2 and len(ladder_oracle.chain_at(board, (v, u))[1]) < 3
        for stone in stones
        for v, u in ladder_oracle.beside(board, stone)
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


WANTED = {"works": 7, "helped": 6, "broken": 7, "runs in vain": 5, "does not work": 5}


def main():
    seed, net = int(sys.argv[1]), sys.argv[2]
    rng, checker = random.Random(seed), Checker(net)
    count = dict.fromkeys(WANTED, 0)
    while any(count[k] < n for k, n in WANTED.items()):
        size = rng.choice((9, 13, 13, 19))
        board, target = draw_board(rng, size)
        if not sound(board) or in_atari_beside(board, target):
            continue
        for question, asked, color, right, wrong, reason in questions(rng, board, target):
            if count[question] >= WANTED[question]:
                continue
            leads = checker.gap(asked, color, right, wrong, CHECK)
            if leads[0] - leads[1] < GAP:
                continue
            leads = checker.gap(asked, color, right, wrong, FINAL)
            if leads[0] - leads[1] < GAP:
                continue
            count[question] += 1
            name = f"ladder-{question.replace(' ', '-')}-{count[question]:02}"
            checked = f"{checker.name}, {FINAL} visits"
            swap = rng.random() < 0.5
            print(text_of(name, "ladder", asked, color, right, wrong, reason, leads, checked, swap), flush=True)
            break


if __name__ == "__main__":
    main()
