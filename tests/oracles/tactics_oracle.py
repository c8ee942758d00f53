"""Slow reader of closed positions, on one number a color: which first moves save or capture a stone's chain?

Moves are tried on all points that no unconditionally living wall owns; a chain of the target's stones is captured when
one of them leaves the board. Kos are fought without outside threats; two passes, or a position that comes back on the
same line, leave the target standing. Written without the engine's reader, which made the positions.
"""

BUDGET = 400_000


class Undecided(Exception):
    """More nodes than the budget."""


class Reader:
    """Args: board: rows of 0, 1, 2 from the top. region: (y, x) points that may be played on. target: (y, x)."""

    def __init__(self, board, region, target):
        self.height, self.width = len(board), len(board[0])
        full = (1 << self.height * self.width) - 1
        column = sum(1 << y * self.width for y in range(self.height))
        self.not_first, self.not_last = full & ~column, full & ~(column << self.width - 1)
        self.full = full
        bits = {color: 0 for color in (1, 2)}
        for y, row in enumerate(board):
            for x, color in enumerate(row):
                if color:
                    bits[color] |= self.bit(y, x)
        self.start = bits[1], bits[2]
        self.region = [self.bit(y, x) for y, x in sorted(region)]
        self.defender = board[target[0]][target[1]]
        self.target = self.flood(self.bit(*target), bits[self.defender])
        self.known = {}
        self.nodes = 0

    def bit(self, y, x):
        return 1 << y * self.width + x

    def grow(self, bits):
        sideways = (bits << 1 & self.not_first) | (bits >> 1 & self.not_last)
        return (bits | sideways | bits << self.width | bits >> self.width) & self.full

    def flood(self, seed, within):
        while True:
            grown = self.grow(seed) & within
            if grown == seed:
                return seed
            seed = grown

    def play(self, black, white, color, point):
        """Return (black, white, ko) or None for suicide."""
        own, other = (black, white) if color == 1 else (white, black)
        own |= point
        taken, beside = 0, self.grow(point) & other
        while beside:
            chain = self.flood(beside & -beside, other)
            beside &= ~chain
            if not self.grow(chain) & ~(own | other):
                taken |= chain
        other &= ~taken
        chain = self.flood(point, own)
        free = self.grow(chain) & ~(own | other)
        if not free:
            return None
        lone = chain == point and taken and not taken & (taken - 1) and not free & (free - 1)
        return (own, other, taken if lone else 0) if color == 1 else (other, own, taken if lone else 0)

    def captured(self, black, white, color, ko, passes, path):
        """Return (captured?, whether that hangs on the line so far)."""
        if self.target & ~(black if self.defender == 1 else white):
            return True, False
        if passes == 2:
            return False, False
        key = black, white, color, ko, passes
        if key in self.known:
            return self.known[key], False
        if key in path:
            return False, True
        self.nodes += 1
        if self.nodes > BUDGET:
            raise Undecided
        attacker = color != self.defender
        path.add(key)
        result, hangs = not attacker, False
        for point in [*self.region, None]:
            if point is None:
                after = black, white, 3 - color, 0, passes + 1
            else:
                if point & (black | white) or point == ko:
                    continue
                played = self.play(black, white, color, point)
                if played is None:
                    continue
                after = *played[:2], 3 - color, played[2], 0
            value, on_line = self.captured(*after, path)
            hangs = hangs or on_line
            if value == attacker:
                result, hangs = attacker, on_line
                break
        path.remove(key)
        if not hangs:
            self.known[key] = result
        return result, hangs

    def winning_moves(self, color):
        """Return the (y, x) of the moves that reach the mover's goal: the target's rescue, or its capture."""
        found = set()
        for point in self.region:
            if point & (self.start[0] | self.start[1]):
                continue
            played = self.play(*self.start, color, point)
            if played is None:
                continue
            value, _ = self.captured(*played[:2], 3 - color, played[2], 0, set())
            if value == (color != self.defender):
                found.add(divmod(point.bit_length() - 1, self.width))
        return found
