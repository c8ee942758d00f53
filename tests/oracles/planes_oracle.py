"""Slow, obvious reference code for every encoding, from the words of docs/nets.md §2, §3, §5 and §8, in numpy.

A `Record` is replayed on flood-fill boards, one copied list a move; nothing here calls the engine. Ladders come from
`ladder_oracle`, areas from `scoring_oracle`. `encode` raises `ladder_oracle.Undecided` where a ladder is too large.
"""

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import ladder_oracle
import numpy as np
import scoring_oracle

BLACK, WHITE = 1, 2
SHAPES = {
    "katago-v3": (22, 14),
    "katago-v4": (22, 14),
    "katago-v5": (13, 12),
    "katago-v6": (22, 16),
    "katago-v7": (22, 19),
    "alphagozero-17": (17, 0),
    "leelazero-18": (18, 0),
    "darkforest-25": (25, 0),
    "patent-17": (17, 0),
    "judgment-18": (18, 0),
}


@dataclass
class Record:
    """A game that can be replayed. Actions are row-major, width * height is a pass; rules as in engine.board.rules."""

    width: int
    height: int
    rules: Any
    komi: float
    setup: list = field(default_factory=list)  # (color, action)
    first: int = BLACK
    moves: list = field(default_factory=list)  # (color, action)


class Game:
    """A record replayed: every board, ko point and pass that the encodings look back at."""

    def __init__(self, record):
        self.record = record
        board = [[0] * record.width for _ in range(record.height)]
        for color, action in record.setup:
            y, x = divmod(action, record.width)
            board[y][x] = color
        self.boards, self.kos, self.moves = [board], [None], []
        self.seen = [self.situation(board, record.first)]
        self.passes = 0
        self.button = record.rules.has_button  # still to be had
        self.button_bonus = 0.0
        for color, action in record.moves:
            self.play(color, action)

    def situation(self, board, next_color):
        """Return what superko forbids to come back."""
        key = tuple(map(tuple, board))
        return key if self.record.rules.ko == "POSITIONAL" else (key, next_color)

    def play(self, color, action):
        """Add one move."""
        if action == self.record.width * self.record.height:
            if self.button:
                self.button, self.passes = False, 0
                self.button_bonus = 0.5 if color == WHITE else -0.5
            else:
                self.passes += 1
            board, ko = self.boards[-1], None
        else:
            self.passes = 0
            board, ko = after(self.boards[-1], divmod(action, self.record.width), color)
        self.moves.append((color, action))
        self.boards.append(board)
        self.kos.append(ko)
        self.seen.append(self.situation(board, 3 - color))

    def banned(self, color):
        """List the points that ko or superko forbids to the side to move."""
        board, ko, rules = self.boards[-1], self.kos[-1], self.record.rules
        points = set()
        if ko is not None and self.moves[-1][0] == 3 - color:
            points.add(ko)
        if rules.ko == "SIMPLE":
            return points
        for y, row in enumerate(board):
            for x, stone in enumerate(row):
                if stone != 0:
                    continue
                result = after(board, (y, x), color)[0]
                suicide = result[y][x] == 0
                lone = suicide and all(board[v][u] != color for v, u in ladder_oracle.beside(board, (y, x)))
                if lone or (suicide and not rules.suicide):
                    continue
                if self.situation(result, 3 - color) in self.seen:
                    points.add((y, x))
        return points

    def handicap(self):
        """Count the stones of Black before White's first and any pass; none with a white set-up stone or N = 1."""
        if any(color == WHITE for color, _ in self.record.setup):
            return 0
        count = len(self.record.setup)
        for color, action in self.moves:
            if color == WHITE or action == self.record.width * self.record.height:
                break
            count += 1
        return count if count >= 2 else 0


def after(board, move, color):
    """Return (board, ko point or None) after a move, a suicide taking its own chain off."""
    played = ladder_oracle.play(board, move, color)
    if played is not None:
        return played
    result = [list(row) for row in board]
    result[move[0]][move[1]] = color
    for y, x in ladder_oracle.chain_at(result, move)[0]:
        result[y][x] = 0
    return result, None


@cache
def _ladders(board, ko):
    return ladder_oracle.read_board(board, ko)


def ladders(board, ko):
    """Read a board's ladders once."""
    return _ladders(tuple(map(tuple, board)), ko)


def history(game, color, limit):
    """List the last moves, newest first, as long as colors alternate from the opponent's."""
    found = []
    for i, (mover, action) in enumerate(reversed(game.moves)):
        if i >= limit or mover != (3 - color if i % 2 == 0 else color):
            break
        found.append(action)
    return found


def self_komi(game, color, draw_adjustment):
    """Return what the side to move gets beside the area on the board."""
    rules, record = game.record.rules, game.record
    stones = game.handicap()
    white = record.komi + draw_adjustment + game.button_bonus
    white += {"0": 0, "N": stones, "N-1": max(stones - 1, 0)}[rules.white_handicap_bonus]
    if rules.scoring == "TERRITORY":
        placed = record.setup + [m for m in game.moves if m[1] != record.width * record.height]
        white += sum(1 if mover == BLACK else -1 for mover, _ in placed)
    return white if color == WHITE else -white


def parity_wave(komi, area):
    """Return the triangle wave of the distance to the largest drawable komi below."""
    drawable = math.floor(komi)
    if (drawable - area) % 2:
        drawable -= 1
    rest = komi - drawable
    return rest if rest < 0.5 else 1 - rest if rest < 1.5 else rest - 2


def area_owner(encoding, game, under_suicide):
    """Return [H, W] owners for planes 18 and 19."""
    rules, board = game.record.rules, np.array(game.boards[-1], dtype=np.uint8)
    suicide = rules.suicide or under_suicide
    if encoding == "katago-v4":
        return scoring_oracle.pass_alive(board, suicide)
    if encoding == "katago-v3" or (rules.scoring == "AREA" and rules.tax == "NONE"):
        return scoring_oracle.full_area(board, suicide)
    if rules.scoring == "AREA":
        return scoring_oracle.independent_life(board, suicide, False, True)[0]
    return np.zeros_like(board)


def katago_planes(encoding, game, color, shown, under_suicide):
    """Return the spatial planes of versions 3 to 7 in the layout of version 7."""
    height, width = game.record.height, game.record.width
    board = game.boards[-1]
    planes = np.zeros((22, height, width), dtype=np.float32)
    planes[0] = 1
    for y in range(height):
        for x in range(width):
            if board[y][x]:
                planes[1 if board[y][x] == color else 2, y, x] = 1
                count = len(ladder_oracle.chain_at(board, (y, x))[1])
                if count <= 3:
                    planes[2 + count, y, x] = 1
    for y, x in game.banned(color):
        planes[6, y, x] = 1
    for i, action in enumerate(shown):
        if action != width * height:
            planes[9 + i, action // width, action % width] = 1
    if encoding == "katago-v5":
        return planes
    for ago in range(3):
        index = len(game.boards) - 1 - min(ago, len(shown))
        caught, against_black, against_white = ladders(game.boards[index], game.kos[index])
        for y, x in caught:
            planes[14 + ago, y, x] = 1
        if ago == 0:
            for y, x in against_white if color == BLACK else against_black:
                planes[17, y, x] = 1
    owner = area_owner(encoding, game, under_suicide)
    planes[18] = owner == color
    planes[19] = owner == 3 - color
    return planes


def katago(encoding, game, color, options):
    """Return (planes, globals) of a KataGo encoding."""
    rules, area = game.record.rules, game.record.width * game.record.height
    pass_ends = game.passes >= 1 and not game.button
    friendly = pass_ends and game.passes == 1 and rules.friendly_pass_ok and rules.scoring == "AREA"
    limit = min(options["max_history"], 5)
    if game.passes >= 2:
        limit = min(limit, 1)
    shown = [] if friendly else history(game, color, limit)
    planes = katago_planes(encoding, game, color, shown, options["pass_alive_under_suicide"])
    g = dict.fromkeys(range(19), 0.0)
    for i, action in enumerate(shown):
        g[i] = float(action == area)
    bound = area + (20 if encoding == "katago-v7" else 1)
    komi = max(-bound, min(bound, self_komi(game, color, options["draw_adjustment"])))
    g[5] = komi / (20 if encoding in ("katago-v6", "katago-v7") else 15)
    g[6], g[7] = {"SIMPLE": (0, 0), "POSITIONAL": (1, 0.5), "SITUATIONAL": (1, -0.5)}[rules.ko]
    g[8], g[9] = float(rules.suicide), float(rules.scoring == "TERRITORY")
    g[10], g[11] = {"NONE": (0, 0), "SEKI": (1, 0), "ALL": (1, 1)}[rules.tax]
    g[14] = float(pass_ends and not friendly and options["max_history"] > 0)
    g[15], g[16] = float(options["advantage"] != 0), 0.5 * options["advantage"]
    g[17] = float(game.button)
    g[18] = parity_wave(komi, area) if rules.scoring == "AREA" else 0.0
    order = list(range(19))
    if encoding == "katago-v6":
        order = [*range(15), 18]
    elif encoding == "katago-v5":
        order = [*range(10), 12, 13]
        planes = planes[[0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 20, 21]]
    elif encoding in ("katago-v3", "katago-v4"):
        order = [*range(10), 12, 13, 14, 18]
    return planes, np.array([g[i] for i in order], dtype=np.float32)


def zero(encoding, game, color):
    """Return the planes of the AlphaGo Zero or Leela Zero encoding, row 0 at the top."""
    planes = np.zeros((SHAPES[encoding][0], game.record.height, game.record.width), dtype=np.float32)
    for i, board in enumerate(reversed(game.boards[-8:])):
        planes[i] = np.array(board) == color
        planes[8 + i] = np.array(board) == 3 - color
    if color == BLACK:
        planes[16] = 1
    elif encoding == "leelazero-18":
        planes[17] = 1
    return planes, np.zeros(0, dtype=np.float32)


def patent(encoding, game, color):
    """Return the planes of the patent's move net (17) or judgment net (18): Black's boards, White's, who is to move."""
    planes = np.zeros((SHAPES[encoding][0], game.record.height, game.record.width), dtype=np.float32)
    for i, board in enumerate(reversed(game.boards[-8:])):
        planes[i] = np.array(board) == BLACK
        planes[8 + i] = np.array(board) == WHITE
    planes[16] = color == BLACK
    if encoding == "judgment-18":
        planes[17] = color == WHITE
    return planes, np.zeros(0, dtype=np.float32)


def ages(game):
    """Return (y, x) -> moves made since that stone was placed; the set-up position counts as the time before move 1."""
    placed = {}
    for n in range(1, len(game.boards)):
        color, action = game.moves[n - 1]
        point = divmod(action, game.record.width)
        if action < game.record.width * game.record.height and game.boards[n][point[0]][point[1]] == color:
            placed[point] = n
    last = len(game.moves)
    return {
        (y, x): last - placed.get((y, x), 0)
        for y, row in enumerate(game.boards[-1])
        for x, stone in enumerate(row)
        if stone != 0
    }


def nearest(board, color):
    """Return [H, W]: for each point, the least number of steps along rows and columns to a stone of a color."""
    y, x = np.indices(np.shape(board))
    steps = [abs(y - v) + abs(x - u) for v, u in np.argwhere(np.array(board) == color)]
    return np.min(steps, axis=0) if steps else np.full(y.shape, np.inf)


def darkforest(game, color):
    """Return DarkForest's 25 planes (docs/nets.md §8.2)."""
    board, ko = game.boards[-1], game.kos[-1]
    height, width = game.record.height, game.record.width
    planes = np.zeros((25, height, width), dtype=np.float32)
    age = ages(game)
    for y in range(height):
        for x in range(width):
            if board[y][x] == 0:
                planes[9, y, x] = 1
            else:
                side = 0 if board[y][x] == color else 1
                liberties = len(ladder_oracle.chain_at(board, (y, x))[1])
                planes[3 * side + min(liberties, 3) - 1, y, x] = 1
                planes[7 + side, y, x] = 1
                if age[y, x] <= 160:
                    planes[10 + side, y, x] = math.exp(-0.1 * age[y, x])
            if x in (0, width - 1) or y in (0, height - 1):
                planes[12, y, x] = 1
            square = (x - (width - 1) / 2) ** 2 + (y - (height - 1) / 2) ** 2
            planes[13, y, x] = math.exp(-0.5 * square) if square <= 32 else 0
    own, other = (nearest(board, c) for c in (color, 3 - color))
    planes[14], planes[15] = own < other, other < own
    if ko is not None and game.moves[-1][0] == 3 - color:
        planes[6][ko] = 1
    planes[16:] = 1
    return planes, np.zeros(0, dtype=np.float32)


def encode(
    game, encoding, color, *, symmetry=0, max_history=5, pass_alive_under_suicide=False, draw_adjustment=0.0,
    advantage=0.0,
):
    """Return (planes [C, H, W], globals [G]) of the end of a game for the side to move."""
    if encoding.startswith("katago"):
        options = {
            "max_history": max_history,
            "pass_alive_under_suicide": pass_alive_under_suicide,
            "draw_adjustment": draw_adjustment,
            "advantage": advantage,
        }
        planes, globals_ = katago(encoding, game, color, options)
    elif encoding == "darkforest-25":
        planes, globals_ = darkforest(game, color)
    elif encoding in ("patent-17", "judgment-18"):
        planes, globals_ = patent(encoding, game, color)
    else:
        planes, globals_ = zero(encoding, game, color)
    if symmetry & 1:
        planes = planes[:, ::-1]
    if symmetry & 2:
        planes = planes[:, :, ::-1]
    if symmetry & 4:
        planes = planes.transpose(0, 2, 1)
    return planes, globals_
