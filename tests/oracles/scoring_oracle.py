"""Slow, obvious reference code for areas and scores, on a numpy [H, W] colour array (0 empty, 1 black, 2 white).

Written with sets of (row, column) from the published facts (Benson 1976 for pass-alive chains; the Tromp-Taylor rules;
docs/nets.md §2.3 for the network planes), and used only to check `engine.board.scoring` and the feature planes.
"""

import numpy as np

EMPTY, BLACK, WHITE = 0, 1, 2


def neighbours(board, point):
    """List the points beside `point` that are on the board."""
    y, x = point
    height, width = board.shape
    beside = [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    return [(v, u) for v, u in beside if 0 <= v < height and 0 <= u < width]


def all_points(board):
    """List every point, row by row."""
    return [(y, x) for y in range(board.shape[0]) for x in range(board.shape[1])]


def flood(board, start, belongs):
    """Return the set of points reachable from `start` over neighbours for which belongs(point) holds."""
    found, todo = {start}, [start]
    while todo:
        for beside in neighbours(board, todo.pop()):
            if beside not in found and belongs(beside):
                found.add(beside)
                todo.append(beside)
    return found


def components(board, belongs):
    """List the maximal connected sets of points for which belongs(point) holds."""
    seen, found = set(), []
    for point in all_points(board):
        if point not in seen and belongs(point):
            component = flood(board, point, belongs)
            seen |= component
            found.append(component)
    return found


def border(board, region):
    """Return the points outside `region` that touch it."""
    return {beside for point in region for beside in neighbours(board, point)} - set(region)


def benson(board, color, suicide):
    """Return (chains of `color` that are pass-alive, all its regions as (points, borders only pass-alive chains)).

    A region is a connected set of points without a stone of `color` that holds an empty point. It is vital for a chain
    if each of its empty points (each of its points, where suicide is legal) touches the chain.
    """
    chains = components(board, lambda p: board[p] == color)
    regions = [r for r in components(board, lambda p: board[p] != color) if any(board[p] == EMPTY for p in r)]

    def is_vital(region, chain):
        matter = region if suicide else {p for p in region if board[p] == EMPTY}
        return all(set(neighbours(board, p)) & chain for p in matter)

    living, sound = list(chains), list(regions)
    while True:
        still = [c for c in living if sum(is_vital(r, c) for r in sound) >= 2]
        alive_points = set().union(*still)
        good = [r for r in sound if {p for p in border(board, r) if board[p] == color} <= alive_points]
        if len(still) == len(living) and len(good) == len(sound):
            return still, [(r, r in good) for r in regions]
        living, sound = still, good


def _mark(board, color, suicide, unsafe_big, out):
    """Write into `out` what one side owns by Benson's analysis and the region rules of the planes."""
    chains, regions = benson(board, color, suicide)
    for chain in chains:
        for point in chain:
            out[point] = color
    for region, borders_only_living in regions:
        touching_none = [p for p in region if all(board[q] != color for q in neighbours(board, p))]
        holds_opponent = any(board[p] == 3 - color for p in region)
        if len(border(board, region)) == 0:
            continue  # the whole board: nobody's
        if borders_only_living and (len(touching_none) <= 1 or not holds_opponent):
            for point in region:
                out[point] = color
        elif unsafe_big and not holds_opponent:
            for point in region:
                if out[point] == EMPTY:
                    out[point] = color


def pass_alive(board, suicide):
    """Return [H, W] owners: pass-alive chains and the territory that they enclose."""
    out = np.zeros_like(board)
    _mark(board, BLACK, suicide, False, out)
    _mark(board, WHITE, suicide, False, out)
    return out


def one_coloured_area(board, suicide):
    """Return [H, W]: pass-alive area and empty regions that touch one colour only, without the remaining stones."""
    out = np.zeros_like(board)
    _mark(board, BLACK, suicide, True, out)
    _mark(board, WHITE, suicide, True, out)
    return out


def full_area(board, suicide):
    """Return [H, W]: pass-alive area, every other stone outside it, and empty regions that touch one colour only."""
    out = one_coloured_area(board, suicide)
    return np.where(out == EMPTY, board, out)


def liberties(board, point):
    """Return the set of liberties of the chain at `point`."""
    chain = flood(board, point, lambda p: board[p] == board[point])
    return {p for p in border(board, chain) if board[p] == EMPTY}


def independent_life(board, suicide, keep_territories, keep_stones):
    """Return ([H, W] owners, white minus black regions): what is left of the full area without the groups in seki.

    A connected one-owner piece of the area is in seki if it touches an empty point that nobody owns or holds a stone of
    its owner that is in atari.
    """
    area = full_area(board, suicide)
    out = np.zeros_like(board)
    difference = 0
    for color in (BLACK, WHITE):
        for piece in components(area, lambda p, color=color: area[p] == color):
            touches_dame = any(area[p] == EMPTY and board[p] == EMPTY for p in border(board, piece))
            in_atari = any(board[p] == color and len(liberties(board, p)) == 1 for p in piece)
            if touches_dame or in_atari:
                continue
            difference += 1 if color == WHITE else -1
            for point in piece:
                out[point] = color
    for point in all_points(board):
        own_stone = area[point] == board[point]
        if area[point] != EMPTY and ((keep_territories and not own_stone) or (keep_stones and own_stone)):
            out[point] = area[point]
    return out, difference


def tromp_taylor(board):
    """Return ([H, W] owners, black minus white): stones, and empty points that reach stones of one colour only."""
    out = board.copy()
    for region in components(board, lambda p: board[p] == EMPTY):
        reached = {int(board[p]) for p in border(board, region)}
        if len(reached) == 1:
            for point in region:
                out[point] = next(iter(reached))
    return out, int((out == BLACK).sum()) - int((out == WHITE).sum())


def territory(live, seki_tax):
    """Return [H, W] owners of the empty points of a board without dead stones that count as territory.

    With a seki tax: while a chain has one liberty in territory only, or a two-point region of territory is all that the
    chains around it have, and no dame links those chains to others with more, that territory is filled and lost.
    """
    owner, _ = tromp_taylor(live)
    owner = np.where(live == EMPTY, owner, EMPTY)
    board = live.copy()
    while seki_tax:
        lost = _false_territory(board, owner)
        if not lost:
            break
        for point in lost:
            board[point], owner[point] = owner[point], EMPTY
    return owner


def _false_territory(board, owner):
    chains = components_by_color(board)
    regions = components_by_color(owner)

    def contacts(chain):
        """Points of own territory beside the chain."""
        color = board[next(iter(chain))]
        return {p for p in border(board, chain) if owner[p] == color}

    def regions_beside(chain):
        return {i for i, region in enumerate(regions) if contacts(chain) & region}

    def linked(chain, has_more):
        """Tell whether a dame beside the chain touches another chain of its side for which has_more holds."""
        color = board[next(iter(chain))]
        dame = {p for p in border(board, chain) if board[p] == EMPTY and owner[p] == EMPTY}
        beside = border(board, dame)
        return any(
            other is not chain and board[next(iter(other))] == color and other & beside and has_more(other)
            for other in chains
        )

    for chain in chains:
        points = contacts(chain)
        if len(points) == 1 and not linked(chain, lambda other, mine=points: contacts(other) not in (set(), mine)):
            return points
    for i, region in enumerate(regions):
        if len(region) != 2:
            continue
        around = [chain for chain in chains if chain & border(board, region)]
        if all(regions_beside(chain) == {i} for chain in around) and not any(
            linked(chain, lambda other, i=i: regions_beside(other) not in (set(), {i})) for chain in around
        ):
            return region
    return set()


def components_by_color(board):
    """List the connected sets of equal non-zero entries in the order of their first points."""
    seen, found = set(), []
    for point in all_points(board):
        if board[point] != EMPTY and point not in seen:
            component = flood(board, point, lambda p, color=board[point]: board[p] == color)
            seen |= component
            found.append(component)
    return found
