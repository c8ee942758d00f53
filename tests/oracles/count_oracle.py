"""Counts a finished position by hand, from the stones that a person names dead and in seki. Slow and obvious.

Written from the rules alone, with sets of (row, column): under area rules a side has its living stones and the empty
points that only they touch; under territory rules (Japan 1989, articles 8 and 10) the empty points that only living
stones of one side touch, none of them in seki, and a point more for every dead stone. It knows nothing of the engine.
"""

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def points_of(vertices, height):
    """Return the set of (row, column) of vertices in a string."""
    return {(height - int(vertex[1:]), LETTERS.index(vertex[0])) for vertex in vertices.split()}


def spread(start, belongs, height, width):
    """Return what can be reached from `start` by neighbours that belong."""
    found, edge = {start}, [start]
    while edge:
        y, x = edge.pop()
        for point in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if 0 <= point[0] < height and 0 <= point[1] < width and point not in found and belongs(point):
                found.add(point)
                edge.append(point)
    return found


def count(rows, dead="", seki="", filled=""):
    """Return (area score, territory score), Black − White, without komi and earlier prisoners.

    Args:
        dead, seki: a stone of each chain that is dead, or in seki.
        filled: points inside a side's territory that it must fill in the end (false eyes): no territory.
    """
    height, width = len(rows), len(rows[0])
    stones = {(y, x): c for y, row in enumerate(rows) for x, c in enumerate(row) if c != "."}

    def chains(vertices):
        return {
            stone
            for start in points_of(vertices, height)
            for stone in spread(start, lambda p, s=start: stones.get(p) == stones[s], height, width)
        }

    gone, shared = chains(dead), chains(seki)
    living = {point: color for point, color in stones.items() if point not in gone}
    area, territory = {"X": 0, "O": 0}, {"X": 0, "O": 0}
    for color in living.values():
        area[color] += 1
    seen = set()
    for y in range(height):
        for x in range(width):
            if (y, x) in living or (y, x) in seen:
                continue
            region = spread((y, x), lambda p: p not in living, height, width)
            seen |= region
            around = {
                p
                for v, u in region
                for p in ((v - 1, u), (v + 1, u), (v, u - 1), (v, u + 1))
                if p in living
            }
            owners = {living[p] for p in around}
            if len(owners) != 1:
                continue
            (owner,) = owners
            area[owner] += len(region)
            if not around & shared:
                territory[owner] += len(region - points_of(filled, height))
    for point in gone:
        territory["X" if stones[point] == "O" else "O"] += 1
    return area["X"] - area["O"], territory["X"] - territory["O"]
