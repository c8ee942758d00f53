"""Whether a chain of a small closed region can be captured: all positions that can come up, solved backwards. Slow.

What `engine.judge.reading` answers by search, without its shortcuts: a table of every position (stones, side to move,
barred kos, passes), and the set from which the attacker can force the end, grown until nothing is added. A position
that comes back therefore counts for the defender. Points are indices, stones frozensets.
"""

CAPTURED, SAFE = 1, -1


class TooLarge(Exception):
    """More positions than the limit."""


class Region:
    """One question; side 0 defends, 1 attacks.

    Args:
        near: neighbours of each point. firm: for each side the points beside stones that cannot be captured.
        target: the stones asked about.
        pass_for_ko: a taken ko stays barred until its loser passes (Japan 1989, article 7); else for one move.
    """

    def __init__(self, near, firm, target, *, pass_for_ko, limit=300_000):
        self.near, self.firm, self.target = near, [set(side) for side in firm], frozenset(target)
        self.pass_for_ko, self.limit = pass_for_ko, limit

    def chain(self, stones, start):
        found, edge = {start}, [start]
        while edge:
            for point in self.near[edge.pop()]:
                if point in stones and point not in found:
                    found.add(point)
                    edge.append(point)
        return found

    def has_liberty(self, chain, occupied, side):
        return bool(chain & self.firm[side]) or any(p not in occupied for q in chain for p in self.near[q])

    def play(self, sides, who, point):
        """Return (sides, barred point or None), or None for suicide."""
        mine, theirs = set(sides[who]) | {point}, set(sides[1 - who])
        taken = set()
        for near in self.near[point]:
            if near in theirs and near not in taken:
                chain = self.chain(theirs, near)
                if not self.has_liberty(chain, mine | theirs, 1 - who):
                    taken |= chain
        theirs -= taken
        chain = self.chain(mine, point)
        if not self.has_liberty(chain, mine | theirs, who):
            return None
        free = [p for p in self.near[point] if p not in mine and p not in theirs]
        ko = None
        if len(taken) == 1 and chain == {point} and point not in self.firm[who] and len(free) == 1:
            (ko,) = taken
        after = (frozenset(mine), frozenset(theirs)) if who == 0 else (frozenset(theirs), frozenset(mine))
        return after, ko

    def at_the_end(self, sides):
        if sides[0] & self.target:
            return SAFE
        empty = {p for p in range(len(self.near)) if p not in sides[0] and p not in sides[1]}
        room = [p for p in self.target if p in empty]
        if not room:
            return CAPTURED
        region = self.chain(empty, room[0])
        touched = region & self.firm[1] or any(p in sides[1] for q in region for p in self.near[q])
        return CAPTURED if touched else SAFE

    def followers(self, state):
        sides, who, barred, passes = state
        for point in range(len(self.near)):
            if point in sides[0] or point in sides[1] or point in barred[who]:
                continue
            made = self.play(sides, who, point)
            if made is None:
                continue
            after, ko = made
            bars = list(barred) if self.pass_for_ko else [frozenset(), frozenset()]
            bars = [frozenset(p for p in side if p not in after[0] and p not in after[1]) for side in bars]
            if ko is not None:
                bars[1 - who] = bars[1 - who] | {ko}
            yield after, 1 - who, tuple(bars), 0
        bars = [frozenset(), frozenset()]
        if self.pass_for_ko:
            bars[1 - who] = barred[1 - who]
        yield sides, 1 - who, tuple(bars), passes + 1

    def solve(self, defender, attacker, *, attacker_first, ko=None):
        """Return CAPTURED or SAFE. Raises TooLarge."""
        who = 1 if attacker_first else 0
        barred = [frozenset(), frozenset()]
        if ko is not None:
            barred[who] = frozenset({ko})
        start = ((frozenset(defender), frozenset(attacker)), who, tuple(barred), 0)
        before, left, edge, won = {start: []}, {}, [start], []
        while edge:
            state = edge.pop()
            if state[3] >= 2:
                if self.at_the_end(state[0]) == CAPTURED:
                    won.append(state)
                continue
            after = set(self.followers(state))
            left[state] = 1 if state[1] == 1 else len(after)
            for other in after:
                if other not in before:
                    before[other] = []
                    edge.append(other)
                    if len(before) > self.limit:
                        raise TooLarge
                before[other].append(state)
        done = set(won)
        while won:
            for state in before[won.pop()]:
                if state in done:
                    continue
                left[state] -= 1
                if left[state] == 0:
                    done.add(state)
                    won.append(state)
        return CAPTURED if start in done else SAFE
