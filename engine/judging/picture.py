"""The picture of a judgment: the board, a square of the owner's color on each point, crosses on dame and in sekis.

A square grows with the certainty; dead stones carry the other side's square; open points, which may become anybody's,
carry a pale diamond of the side that they lean to; the score stands beside the board. The
drawing needs matplotlib (the extra `pictures`); the ending of the file's name chooses PNG or SVG.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.board.handicap import fixed_handicap
from engine.board.position import BLACK, EMPTY, Position
from engine.board.vertex import format_vertex
from engine.errors import EngineError
from engine.judge.text import area_words, bonus_parts, is_area, result_text
from engine.judge.types import Judgment, OpenItem, SideScore, Status
from engine.usage import install_hint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WOOD = "#e8c27a"
LINE = "#5b4520"
LARGEST = 0.62  # side of a certain point's square, in board units
DAME, IN_SEKI = "#c8321e", "#1f6fd6"  # colors of crosses
SHOWN = 6  # open items beside the board
FORMATS = (".png", ".svg")


def draw(position: Position, judgment: Judgment, path: str) -> None:
    """Draw a judgment into a file.

    Raises:
        EngineError: if the name ends otherwise than .png or .svg, or matplotlib is not installed.
    """
    figure = new_figure(path)
    axes = figure.add_axes((0.04, 0.04, 0.66, 0.92))
    draw_board(axes, judgment.width, judgment.height)
    _draw_stones(axes, position, judgment)
    _draw_squares(axes, judgment)
    _draw_crosses(axes, judgment)
    _draw_open(axes, judgment)
    head, *rest = _beside(position, judgment)
    figure.text(0.73, 0.95, head, va="top", ha="left", fontsize=22, fontweight="bold")
    figure.text(0.73, 0.88, "\n".join(rest), va="top", ha="left", fontsize=11, linespacing=1.45)
    _legend(figure.add_axes((0.73, 0.04, 0.25, 0.25)))
    figure.savefig(path)


def new_figure(path: str, width: float = 10.5, height: float = 7.6) -> Figure:
    """Return a figure for that file, after checking that it can be drawn. Raises EngineError."""
    if Path(path).suffix.lower() not in FORMATS:
        raise EngineError(f"{path}: pictures are .png or .svg")
    try:
        from matplotlib.figure import Figure as NewFigure
    except ImportError:
        raise EngineError(f"pictures need matplotlib: {install_hint('matplotlib')}") from None
    return NewFigure(figsize=(width, height), dpi=110)


def draw_board(axes: Axes, width: int, height: int) -> None:
    """Draw the empty board with its coordinates; point (x, y) from the top left lies at (x, y)."""
    axes.set_facecolor(WOOD)
    axes.set_xlim(-0.7, width - 0.3)
    axes.set_ylim(height - 0.3, -0.7)
    axes.set_aspect("equal")
    for x in range(width):
        axes.plot([x, x], [0, height - 1], color=LINE, lw=0.7, zorder=1)
    for y in range(height):
        axes.plot([0, width - 1], [y, y], color=LINE, lw=0.7, zorder=1)
    for action in _stars(width, height):
        axes.plot(action % width, action // width, "o", color=LINE, ms=3, zorder=1)
    axes.set_xticks(range(width), [format_vertex(x, width, height)[: -len(str(height))] for x in range(width)])
    axes.set_yticks(range(height), [str(height - y) for y in range(height)])
    axes.tick_params(length=0, labelsize=8)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _stars(width: int, height: int) -> list[int]:
    try:
        return list(fixed_handicap(9, width, height))
    except EngineError:
        return []


def _draw_stones(axes: Axes, position: Position, judgment: Judgment) -> None:
    dead = judgment.dead
    for action, color in enumerate(position.board().ravel().tolist()):
        if color == EMPTY:
            continue
        y, x = divmod(action, judgment.width)
        face = "black" if color == BLACK else "white"
        alpha = 0.35 if action in dead else 1.0
        axes.add_patch(_patch("Circle", (x, y), 0.47, facecolor=face, edgecolor="black", lw=0.8, alpha=alpha, zorder=3))


def _draw_squares(axes: Axes, judgment: Judgment) -> None:
    open_points = {action for item in judgment.open if item.kind == "border" for action in item.points}
    unsettled = np.zeros(judgment.territory.size, dtype=np.bool_)
    unsettled[list(open_points)] = True
    owned = (judgment.territory != 0) & ~unsettled.reshape(judgment.territory.shape)
    for y, x in np.argwhere(owned):
        sure = max(0.0, 2.0 * float(judgment.confidence[y, x]) - 1.0)
        _square(axes, int(x), int(y), LARGEST * max(0.25, sure), black=bool(judgment.territory[y, x] > 0))
    if judgment.ownership is None:
        return
    living = {action for chain in judgment.chains if chain.status != Status.DEAD for action in chain.stones}
    for action in np.flatnonzero((~owned & ~judgment.dame & ~judgment.seki_points).ravel()).tolist():
        if action not in living:  # open points: as far as the opinion leans
            y, x = divmod(action, judgment.width)
            lean = float(judgment.ownership[y, x])
            _diamond(axes, x, y, LARGEST * abs(lean), black=lean > 0)


def _square(axes: Axes, x: int, y: int, side: float, *, black: bool) -> None:
    if side < 0.04:
        return
    face = "black" if black else "white"
    corner = (x - side / 2, y - side / 2)
    axes.add_patch(_patch("Rectangle", corner, side, side, facecolor=face, edgecolor="#777777", lw=0.6, zorder=4))


def _diamond(axes: Axes, x: float, y: float, size: float, *, black: bool) -> None:
    if size < 0.04:
        return
    face, reach = "black" if black else "white", size / 2
    corners = [(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)]
    axes.add_patch(_patch("Polygon", corners, facecolor=face, edgecolor="none", alpha=0.45, zorder=4))


def _draw_crosses(axes: Axes, judgment: Judgment) -> None:
    """Put a red cross on dame, a blue one on stones in seki and their liberties and eyes."""
    seki = judgment.stones(Status.SEKI)
    for action in range(judgment.width * judgment.height):
        y, x = divmod(action, judgment.width)
        if action in seki or judgment.seki_points[y, x]:
            _cross(axes, x, y, IN_SEKI)
        elif judgment.dame[y, x]:
            _cross(axes, x, y, DAME)


def _draw_open(axes: Axes, judgment: Judgment) -> None:
    """Ring the moves that settle what is open, in the color of the side that plays there; dame need no ring."""
    for item in judgment.open:
        for move, color in ((item.black_move, "black"), (item.white_move, "white")):
            if item.kind != "dame" and move is not None and move < judgment.width * judgment.height:
                y, x = divmod(move, judgment.width)
                _ring(axes, x, y, black=color == "black")


def _ring(axes: Axes, x: float, y: float, *, black: bool) -> None:
    size, color = (0.30, "black") if black else (0.38, "white")
    axes.add_patch(_patch("Circle", (x, y), size, fill=False, edgecolor=color, lw=1.6, zorder=6))


def _cross(axes: Axes, x: float, y: float, color: str) -> None:
    reach = 0.17
    for slope in (1, -1):
        axes.plot([x - reach, x + reach], [y - slope * reach, y + slope * reach], color=color, lw=2, zorder=5)


def _legend(axes: Axes) -> None:
    """Explain the marks, one a line."""
    words = ("territory; the surer, the larger", "open; leans to Black, White",
             "dead stone", "dame", "in seki", "move that settles something open")
    axes.set_xlim(-0.6, 9.0)
    axes.set_ylim(len(words) - 0.4, -0.6)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.add_patch(_patch("Rectangle", (-0.6, -0.6), 1.2, len(words) + 0.2, facecolor=WOOD, zorder=0))
    _square(axes, 0, 0, LARGEST, black=True)
    for x, black in ((-0.25, True), (0.3, False)):
        _diamond(axes, x, 1, LARGEST, black=black)
    axes.add_patch(_patch("Circle", (0, 2), 0.44, facecolor="white", edgecolor="black", lw=0.8, alpha=0.35, zorder=3))
    _square(axes, 0, 2, 0.75 * LARGEST, black=True)
    _cross(axes, 0, 3, DAME)
    _cross(axes, 0, 4, IN_SEKI)
    for black in (True, False):
        _ring(axes, 0, 5, black=black)
    for line, text in enumerate(words):
        axes.text(0.9, line, text, va="center", ha="left", fontsize=9)


def _beside(position: Position, judgment: Judgment) -> list[str]:
    """Return the lines that stand beside the board, the result first."""
    score = judgment.score if judgment.finished else round(judgment.expected_score, 1)
    lines = [result_text(score) if score else "draw" if judgment.finished else "even"]
    if judgment.finished:
        lines.append("finished")
    else:
        low, high = (result_text(round(value, 1)) for value in (judgment.score_low, judgment.score_high))
        lines.append("not finished: expected score")
        lines.append(f"({low} to {high})")
        lines.append(f"as it stands {result_text(judgment.score)}")
        if judgment.winrate is not None:
            lines.append(f"Black wins: {100 * judgment.winrate:.1f} %")
    for name, side in (("Black", judgment.black), ("White", judgment.white)):
        lines += ["", f"{name}  {side.total:g}", *_parts(side)]
    lines += ["", f"{position.rules.scoring.lower()} scoring, komi {position.komi:g}"]
    opened = [_open_line(item, judgment) for item in judgment.open]
    more = [f"and {len(opened) - SHOWN} more"] if len(opened) > SHOWN else []
    return [*lines, *(["", "open:"] if opened else []), *opened[:SHOWN], *more]


def _open_line(item: OpenItem, judgment: Judgment) -> str:
    def name(action: int | None) -> str:
        return "?" if action is None else format_vertex(action, judgment.width, judgment.height)

    where = f"   {item.kind} {name(item.points[0])}"
    if is_area(item):
        return f"   {area_words(item, judgment.width, judgment.height)}"
    if item.kind == "dame":
        return f"   {len(item.points)} dame"
    if item.black_move == item.white_move:
        return f"{where}: {name(item.black_move)}"
    return f"{where}: B {name(item.black_move)}, W {name(item.white_move)}"


def _parts(side: SideScore) -> list[str]:
    parts = {"stones": side.stones, "territory": side.territory, "dead stones": side.dead, "prisoners": side.prisoners,
             "group tax": -side.tax, **bonus_parts(side)}  # fmt: skip
    return [f"   {name} {value:g}" for name, value in parts.items() if value]


def _patch(kind: str, *args: Any, **options: Any) -> Any:
    import matplotlib.patches

    return getattr(matplotlib.patches, kind)(*args, **options)
