"""Slow, obvious ladder reader on nested lists (0 empty, 1 black, 2 white), from the words of docs/nets.md §2.4.

Every move is made on a copy of the board and every chain is found anew by flood fill; nothing is cut short. A reading
of more than `BUDGET` nodes raises `Undecided`: there the answer hangs on the order of moves, which no rule fixes.
"""

BUDGET = 4000


class Undecided(Exception):
    """The reading is larger than the oracle's budget."""


def beside(board, point):
    """List the points beside `point` that are on the board."""
    y, x = point
    return [
        (v, u)
        for v, u in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1))
        if 0 <= v < len(board) and 0 <= u < len(board[0])
    ]


def chain_at(board, point):
    """Return (stones, liberties) of the chain at `point`, as sets."""
    color = board[point[0]][point[1]]
    stones, liberties, todo = {point}, set(), [point]
    while todo:
        for y, x in beside(board, todo.pop()):
            if board[y][x] == 0:
                liberties.add((y, x))
            elif board[y][x] == color and (y, x) not in stones:
                stones.add((y, x))
                todo.append((y, x))
    return stones, liberties


def play(board, move, color):
    """Return (board after the move, ko point it leaves or None), or None if it would be suicide."""
    after = [list(row) for row in board]
    after[move[0]][move[1]] = color
    taken = set()
    for y, x in beside(after, move):
        if after[y][x] == 3 - color:
            stones, liberties = chain_at(after, (y, x))
            if not liberties:
                taken |= stones
    for y, x in taken:
        after[y][x] = 0
    stones, liberties = chain_at(after, move)
    if not liberties:
        return None
    lone = len(taken) == 1 and len(stones) == 1 and len(liberties) == 1
    return after, (taken.pop() if lone else None)


def gaining_captures(board, target):
    """List the moves that capture a chain in atari beside the chain at `target`."""
    color = board[target[0]][target[1]]
    moves = set()
    for stone in chain_at(board, target)[0]:
        for y, x in beside(board, stone):
            if board[y][x] == 3 - color:
                liberties = chain_at(board, (y, x))[1]
                if len(liberties) == 1:
                    moves |= liberties
    return moves


def is_ko_mouth(board, point, taker):
    """Tell whether `taker` at the empty point would take one lone stone among enemies and edges only."""
    around = beside(board, point)
    if any(board[y][x] != 3 - taker for y, x in around):
        return False
    capturable = [p for p in around if len(chain_at(board, p)[1]) == 1]
    return len(capturable) == 1 and len(chain_at(board, capturable[0])[0]) == 1


def double_ko_death(board, target, liberties):
    """Both liberties are ko mouths, filling either gains nothing, and no neighbour chain is in atari."""
    color = board[target[0]][target[1]]
    if not all(is_ko_mouth(board, point, 3 - color) for point in liberties) or gaining_captures(board, target):
        return False
    return all(len(chain_at(play(board, point, color)[0], target)[1]) <= 2 for point in liberties)


class Reading:
    """One reading of one chain."""

    def __init__(self, target):
        self.target = target
        self.nodes = 0

    def captured(self, board, ko, defender, root=False):
        """Tell whether the chain falls, the defender or the attacker to move."""
        self.nodes += 1
        if self.nodes > BUDGET:
            raise Undecided
        color = board[self.target[0]][self.target[1]]
        liberties = chain_at(board, self.target)[1]
        if defender:
            if len(liberties) >= 2 or (ko is not None and not root):
                return False
            moves, mover = gaining_captures(board, self.target) | liberties, color
            ko = None
        else:
            if len(liberties) != 2:
                return len(liberties) < 2
            if double_ko_death(board, self.target, liberties):
                return True
            moves, mover = liberties, 3 - color
        answers = (self._after(board, move, mover, ko, not defender) for move in sorted(moves) if move != ko)
        answers = (answer for answer in answers if answer is not None)
        return all(answers) if defender else any(answers)

    def _after(self, board, move, mover, ko, defender_next):
        played = play(board, move, mover)
        return None if played is None else self.captured(*played, defender_next)


def read_chain(board, ko, target):
    """Return (whether the chain at `target` is caught in a ladder now, the attacker's working first moves).

    The working moves are given for chains of two liberties only. Raises Undecided.
    """
    color = board[target[0]][target[1]]
    liberties = chain_at(board, target)[1]
    if len(liberties) == 1:
        return Reading(target).captured(board, None, defender=True, root=True), set()
    works = set()
    if len(liberties) == 2:
        for move in liberties - {ko}:
            played = play(board, move, 3 - color)
            if played is not None and Reading(target).captured(played[0], None, defender=True, root=True):
                works.add(move)
    return bool(works), works


def read_board(board, ko):
    """Return (stones caught in a ladder, working moves against Black's chains, against White's), as sets of points."""
    caught, works, seen = set(), {1: set(), 2: set()}, set()
    for y, row in enumerate(board):
        for x, color in enumerate(row):
            if color == 0 or (y, x) in seen:
                continue
            stones = chain_at(board, (y, x))[0]
            seen |= stones
            falls, moves = read_chain(board, ko, (y, x))
            if falls:
                caught |= stones
                works[color] |= moves
    return caught, works[1], works[2]
