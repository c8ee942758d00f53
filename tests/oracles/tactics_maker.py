"""Makes positions for the tactics suite: small problems drawn at random in a settled frame, read to the end, sorted.

A problem is a patch of a 9x9 board in a corner or at a side. The attacker's wall around it and the rest of the board
live unconditionally, so that nothing but the patch matters; komi lies half way between the outcomes. Kept are problems
that whoever moves first wins, and by few moves. What a problem is called follows from how it is won.
"""

import collections
import random
import sys
import time

from engine.judge.reading import read_region

SIZE = 9
LIMIT = 60_000
X, O = 1, 2  # the defender and the attacker while a problem is made; colors are swapped at random at the end
FRAMES = ((4, 3, 0), (5, 3, 0), (4, 4, 0), (6, 3, 0), (5, 4, 0), (7, 2, 0), (5, 3, 2), (5, 2, 2), (6, 3, 1), (4, 3, 3))
NEAR = {
    (x, y): [(u, v) for u, v in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)) if 0 <= u < SIZE and 0 <= v < SIZE]
    for x in range(SIZE)
    for y in range(SIZE)
}


def frame(width, height, left):
    """Return {point: color} of everything outside a patch of that size whose lower left point is (left, 0).

    The defender's stones at the top and the attacker's around the patch have about the same room, and eyes everywhere.
    """
    half = (SIZE * SIZE - width * height) / 2 - (SIZE - width) * height
    border = min(SIZE - 2, height + max(1 if left + width < 8 else 2, round(half / SIZE)))
    inside = {(x, y) for x in range(left, left + width) for y in range(height)}
    stones = {(x, y): O if y < border else X for x, y in NEAR if (x, y) not in inside}
    for x, y in sorted(NEAR):
        color = stones.get((x, y))
        if (x + 2 * y) % 4 == 0 and color and all(stones.get(near) == color for near in NEAR[x, y]):
            del stones[x, y]
    return stones


def chain_of(board, start):
    color, chain, todo = board[start], {start}, [start]
    while todo:
        for near in NEAR[todo.pop()]:
            if board.get(near) == color and near not in chain:
                chain.add(near)
                todo.append(near)
    return chain


def liberties(board, chain):
    return {near for point in chain for near in NEAR[point] if near not in board}


def play(board, point, color):
    """Return (board after the move, stones taken, simple ko point or None), or None for suicide."""
    after = {**board, point: color}
    taken = set()
    for near in NEAR[point]:
        if after.get(near) == 3 - color and near not in taken:
            chain = chain_of(after, near)
            if not liberties(after, chain):
                taken |= chain
    for stone in taken:
        del after[stone]
    own = chain_of(after, point)
    free = liberties(after, own)
    if not free:
        return None
    ko = next(iter(taken)) if len(taken) == 1 and len(own) == 1 and len(free) == 1 else None
    return after, taken, ko


class Problem:
    """A patch in its frame: the board, the points of the patch, the stones in question."""

    def __init__(self, board, patch, target):
        self.board, self.patch, self.target = board, sorted(patch), set(target)
        self.index = {point: i for i, point in enumerate(self.patch)}

    def captured(self, board, attacker_first, ko=None):
        """Return True or False, None if that is too much to read."""
        if not self.target <= {p for p, c in board.items() if c == X} and not any(
            board.get(p) == X for p in self.target
        ):
            return True
        near = [[self.index[n] for n in NEAR[p] if n in self.index] for p in self.patch]
        firm = {X: [], O: []}
        for p in self.patch:
            for n in NEAR[p]:
                if n not in self.index and n in board:
                    firm[board[n]].append(self.index[p])
        value, *_ = read_region(
            near,
            [self.index[p] for p in self.patch if board.get(p) == X],
            [self.index[p] for p in self.patch if board.get(p) == O],
            sorted(set(firm[X])),
            sorted(set(firm[O])),
            [self.index[p] for p in self.target if board.get(p) == X],
            attacker_first=attacker_first,
            ko=None if ko is None else self.index.get(ko),
            limit=LIMIT,
        )
        return None if value == 0 else value == 1

    def solutions(self, mover):
        """Return the moves that win for the mover, or None if unknown."""
        found = []
        for p in self.patch:
            if p in self.board:
                continue
            played = play(self.board, p, mover)
            if played is None:
                continue
            after, _, ko = played
            captured = self.captured(after, mover == X, ko)
            if captured is None:
                return None
            if captured == (mover == O):
                found.append(p)
        return found


def draw_patch(rng, width, height, left):
    """Return {point: color} of a patch: the defender's wall with holes, and something inside."""
    stones = {}
    mine, theirs = rng.choice(((0.12, 0.30), (0.06, 0.50), (0.30, 0.55), (0.20, 0.26)))
    for y in range(height):
        for x in range(left, left + width):
            rim = y == height - 1 or x == left + width - 1 or (left > 0 and x == left)
            roll = rng.random()
            if rim:
                color = X if roll < 0.78 else O if roll < 0.86 else None
            else:
                color = X if roll < mine else O if roll < theirs else None
            if color:
                stones[x, y] = color
    return stones


def draw(rng):
    """Return a problem that whoever moves first wins, or None."""
    width, height, left = rng.choice(FRAMES)
    board = frame(width, height, left)
    patch = [(x, y) for y in range(height) for x in range(left, left + width)]
    inner = draw_patch(rng, width, height, left)
    board.update(inner)
    free = [p for p in patch if p not in board]
    own = [p for p in inner if inner[p] == X]
    if not 4 <= len(free) <= 9 or len(own) < 4:
        return None
    chains, seen = [], set()
    for p in sorted(board):
        if p not in seen:
            chain = chain_of(board, p)
            seen |= chain
            if not liberties(board, chain):
                return None
            if p in inner:
                chains.append((board[p], chain))
    mine = [chain for color, chain in chains if color == X]
    if len(mine) > 2:
        return None
    target = max(mine, key=len)
    problem = Problem(board, patch, target)
    if len(liberties(board, target)) < 2 or problem.captured(board, True) is not True or problem.captured(board, False):
        return None
    return problem


def frame_between(width, height):
    """Return the frame of a patch in a corner that has the attacker's wall beside it and the defender's above it."""
    stones = {}
    for x, y in NEAR:
        if not (x < width and y < height):
            stones[x, y] = O if y < height or (x > width and y == height) else X
    for x, y in sorted(NEAR):
        color = stones.get((x, y))
        if (x + 2 * y) % 4 == 0 and color and all(stones.get(near) == color for near in NEAR[x, y]):
            del stones[x, y]
    return stones


def draw_capture(rng):
    """Return a problem of catching stones that try to reach living friends, which whoever moves first wins, or None."""
    width, height = rng.choice(((5, 3), (4, 4), (5, 4), (6, 3), (5, 5), (4, 5)))
    board = frame_between(width, height)
    patch = [(x, y) for y in range(height) for x in range(width)]
    mine, theirs = rng.choice(((0.2, 0.5), (0.25, 0.6), (0.15, 0.5)))
    for point in patch:
        roll = rng.random()
        if roll < theirs:
            board[point] = X if roll < mine else O
    if not 5 <= sum(point not in board for point in patch) <= 12:
        return None
    for color in (X, O):
        for chain in chains_in(board, sorted(board), color):
            if not liberties(board, chain):
                return None
    targets = [c for c in chains_in(board, patch, X) if len(c) >= 3 and not touches_wall(patch, c)]
    targets = [c for c in targets if not any(board.get(n) == X and n not in c for p in c for n in NEAR[p])]
    if not targets:
        return None
    target = max(targets, key=len)
    problem = Problem(board, patch, target)
    if len(liberties(board, target)) < 2 or problem.captured(board, True) is not True or problem.captured(board, False):
        return None
    return problem


def capture_kind(problem, solution):
    """Return what catching the stones by a move is called, and the line, or None for nothing of note."""
    kind, line = kind_of(problem, O, solution)
    if kind in ("snapback", "throw-in", "connect and die"):
        return kind, line
    after = play(problem.board, solution, O)[0]
    free = liberties(after, chain_of(after, min(problem.target)))
    beside = any(near in problem.target for near in NEAR[solution])
    if kind == "death" and len(free) >= 2 and not beside:
        return "net", line
    return None


def line_of(problem, mover, first, most=12):
    """Return a line of best play [(color, point, stones taken)] from a first move; the loser resists where it can."""
    board, color, ko, line = problem.board, mover, None, []
    point = first
    for _ in range(most):
        played = play(board, point, color)
        if played is None:
            break
        board, taken, ko = played
        line.append((color, point, frozenset(taken)))
        if not any(board.get(p) == X for p in problem.target):
            break
        color = 3 - color
        options = []
        for p in problem.patch:
            if p in board or p == ko:
                continue
            done = play(board, p, color)
            if done is None:
                continue
            captured = problem.captured(done[0], color == X, done[2])
            good = captured is not None and captured == (color == O)
            options.append((good, len(done[1]), -len(liberties(done[0], chain_of(done[0], p))), p))
        wins = [o for o in options if o[0]]
        if color == mover:
            if not wins:
                break
            point = max(wins, key=lambda o: (o[1], o[3]))[3]
        else:
            if not options:
                break
            point = max(options, key=lambda o: (o[1], -o[2], o[3]))[3]
    return line


def kind_of(problem, mover, solution):
    """Return what the problem is called, and the line of play it is called that for."""
    board = problem.board
    after, taken, _ = play(board, solution, mover)
    line = line_of(problem, mover, solution)
    if ko_matters(problem, mover, line):
        return "ko", line
    if len(line) > 2 and line[1][2] == {solution} and line[2][1] == solution and len(line[2][2]) > 1:
        return "snapback", line
    vacated = set()
    for color, point, gone in line:
        if color == mover and point in vacated:
            return "under the stones", line
        if color != mover and len(gone) > 1:
            vacated |= gone
    inside = [c for c in chains_in(board, problem.patch, O) if len(c) >= 3 and not touches_wall(problem.patch, c)]
    if inside:
        return "semeai", line
    own = chain_of(after, solution)
    if mover == O and not taken and len(own) == 1 and len(liberties(after, own)) == 1:
        return "throw-in", line
    if mover == O and not taken:
        for chain in chains_in(after, problem.patch, X):
            free = liberties(after, chain)
            if len(free) == 1:
                point = next(iter(free))
                done = play(after, point, X)
                if done and not done[1] and len(liberties(done[0], chain_of(done[0], point))) == 1:
                    return "connect and die", line
    return ("life" if mover == X else "death"), line


def chains_in(board, patch, color):
    seen, found = set(), []
    for p in patch:
        if board.get(p) == color and p not in seen:
            chain = chain_of(board, p)
            seen |= chain
            found.append(chain)
    return found


def touches_wall(patch, chain):
    return any(near not in patch for point in chain for near in NEAR[point])


def ko_matters(problem, mover, line):
    """Tell whether somebody takes a ko on the way and would lose if it could be taken back at once."""
    board = problem.board
    for color, point, _ in line:
        board, _, ko = play(board, point, color)
        if ko is None:
            continue
        back = play(board, ko, 3 - color)
        if back is not None:
            before = problem.captured(board, color == X, ko)  # the other side moves, barred from the ko
            if problem.captured(back[0], color == O, back[2]) is not before:
                return True
    return False


def vertex(point):
    return "ABCDEFGHJ"[point[0]] + str(point[1] + 1)


def turned(rng):
    """Return a random symmetry of the board as a function of points."""
    flip, swap = rng.random() < 0.5, rng.random() < 0.5
    up = rng.random() < 0.5

    def turn(point):
        x, y = point
        x, y = (SIZE - 1 - x if flip else x), (SIZE - 1 - y if up else y)
        return (y, x) if swap else (x, y)

    return turn


def text_of(name, kind, problem, mover, found, line, rng):
    """Return a problem as the suite's files have it, turned and its colors swapped at random."""
    turn, swap = turned(rng), rng.random() < 0.5
    color = (lambda c: 3 - c) if swap else (lambda c: c)
    names = {1: "black", 2: "white"}
    board = {turn(p): color(c) for p, c in problem.board.items()}
    area = {c: sum(1 for p, d in problem.board.items() if d == c and p not in problem.index) for c in (X, O)}
    eyes = [p for p in NEAR if p not in problem.board and p not in problem.index]
    for p in eyes:
        area[problem.board[NEAR[p][0]]] += 1
    margins = [area[X] + len(problem.patch) - area[O], area[X] - area[O] - len(problem.patch)]
    komi = sum(margins) / 2 * (-1 if swap else 1)
    komi = round(komi) + 0.5 if round(komi) % 2 == 0 else round(komi) - 0.5
    mover_name, deed = names[color(mover)].capitalize(), "lives" if mover == X else "kills"
    other_name, other = names[color(3 - mover)].capitalize(), "kills" if mover == X else "lives"
    goal = f"{'save' if mover == X else 'kill'} {vertex(turn(min(problem.target)))}"
    moves = " ".join(sorted(vertex(turn(p)) for p in found))
    shown = ", ".join(f"{names[color(c)][0].upper()} {vertex(turn(p))}" for c, p, _ in line[:7])
    only = " or ".join(moves.split())
    if "capture" in name:
        deed, other = "catches the stones", "saves them"
    answered = f"if {other_name} moves first, {other_name} {other}"
    reason = f"{mover_name} {deed} with {only} and nothing else; {answered}. {shown}."
    rows = [" ".join(".XO"[board.get((x, y), 0)] for x in range(SIZE)) for y in range(SIZE - 1, -1, -1)]
    head = [f"[{name}]", f"kind: {kind}", f"play: {names[color(mover)]}", f"komi: {komi:g}", f"goal: {goal}",
            f"answer: {moves}", f"reason: {reason}"]  # fmt: skip
    return "\n".join([*head, *rows]) + "\n"


WANTED = {"life": 14, "death": 14, "ko": 12, "snapback": 6, "under the stones": 6, "connect and die": 8, "throw-in": 8,
          "semeai": 14}  # fmt: skip
CAPTURES = {"net": 12, "snapback": 6, "throw-in": 8, "connect and die": 4}


def has_sacrifice(problem):
    """Tell whether the attacker can put a lone stone into atari that the defender must not let be."""
    for point in problem.patch:
        if point in problem.board:
            continue
        played = play(problem.board, point, O)
        if played and not played[1]:
            own = chain_of(played[0], point)
            if len(own) == 1 and len(liberties(played[0], own)) == 1 and problem.captured(played[0], False):
                return True
    return False


def make(seed, seconds, kinds=()):
    """Yield the texts of problems as they are found, until there are enough of each kind or the time is up."""
    rng, until = random.Random(seed), time.monotonic() + seconds
    count, seen = collections.Counter(), set()
    while time.monotonic() < until and any(
        count[kind] < wanted for kind, wanted in WANTED.items() if not kinds or kind in kinds
    ):
        problem = draw(rng)
        if problem is None or (kinds and not has_sacrifice(problem)):
            continue
        key = tuple(sorted(problem.board.items()))
        for mover in rng.sample((X, O), 2):
            found = problem.solutions(mover)
            if not found or len(found) > 2 or key in seen:
                continue
            kind, line = kind_of(problem, mover, found[0])
            if (not kinds or kind in kinds) and count[kind] < WANTED[kind] and len(line) > 1:
                count[kind] += 1
                seen.add(key)
                name = f"{kind.replace(' ', '-')}-{count[kind]:02}"
                yield text_of(name, kind, problem, mover, found, line, rng)


def make_captures(seed, seconds):
    """Yield the texts of capturing problems."""
    rng, until = random.Random(seed), time.monotonic() + seconds
    count = collections.Counter()
    while time.monotonic() < until and any(count[kind] < wanted for kind, wanted in CAPTURES.items()):
        problem = draw_capture(rng)
        found = problem and problem.solutions(O)
        if not found or len(found) > 2:
            continue
        named = capture_kind(problem, found[0])
        if named is None or count[named[0]] >= CAPTURES[named[0]] or len(named[1]) < 2:
            continue
        kind, line = named
        count[kind] += 1
        yield text_of(f"capture-{kind.replace(' ', '-')}-{count[kind]:02}", kind, problem, O, found, line, rng)


if __name__ == "__main__":
    if sys.argv[3:] == ["captures"]:
        for text in make_captures(int(sys.argv[1]), float(sys.argv[2])):
            print(text, flush=True)
        sys.exit()
    for text in make(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]):
        print(text, flush=True)
