"""`keisei evaluate value`: a net's opinion of positions of held-out games, beside the record, the truth and a teacher.

Every position is looked at twice, under area and under territory rules, since nets differ there most. The figures come
in groups: rules, board size, phase of the game. With `--last` only the last position of every game counts, held out or
not: who has won? (For collections that nothing is trained on, such as the 50 games AlphaGo played against itself.)
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.usage import Parser

from .ends import final_owners, final_score, rules_of, scoring_of
from .nets import add_net_options, at_least, open_net
from .records import BLACK, Game, RecordError, read_any
from .samples import Sample, replay
from .selection import Selection

if TYPE_CHECKING:
    from engine.evaluator import Evaluation, Evaluator

RULES = {"area": ("chinese-ogs", 7.5), "territory": ("japanese", 6.5)}
PHASES = ((0.15, "opening"), (0.45, "middle"), (1e9, "end"))  # by moves played, as a share of the board's points
Row = dict[str, Any]


def phase_of(sample: Sample) -> str:
    """Return "opening", "middle" or "end"."""
    share = sample.ply / sample.game.size**2
    return next(name for limit, name in PHASES if share < limit)


def choose(games: Iterable[Game], *, positions: int, seed: int, last: bool) -> list[Sample]:
    """Return positions of held-out games, at most `positions` of each size, one a game; or the last of every game.

    Args:
        games: of any sizes.
        positions: of a size.
        seed: of the choice; the same seed chooses the same positions.
        last: the last position of every game, held out or not.
    """
    rng = random.Random(seed)
    chosen = list(games) if last else list(Selection(held_out=True).select(games))
    rng.shuffle(chosen)
    taken: dict[int, int] = {}
    samples = []
    for game in chosen:
        taken[game.size] = taken.get(game.size, 0) + 1
        if taken[game.size] > positions:
            continue
        ply = game.n_moves if last else rng.randrange(game.n_moves)
        samples.append(Sample(game, ply, 0, False, "", 0.0, 0))
    return samples


def under_rules(sample: Sample, family: str) -> Sample:
    """Return the sample under the record's rules and komi, where they are of this family, else under usual ones."""
    game = sample.game
    rules, komi = RULES[family]
    if game.size <= 9 and family == "area":
        komi = 7.0
    if scoring_of(game.rules).lower() == family:
        rules, komi = rules_of(game.rules), komi if game.komi is None else game.komi
    elif game.komi is not None and not scoring_of(game.rules):  # rules unknown, but the komi tells
        komi = game.komi
    return Sample(game, sample.ply, 0, False, rules, komi, 0)


def look(nets: Sequence[Evaluator], samples: Sequence[Sample], family: str, *, batch: int = 16) -> list[Row]:
    """Return one row a position: what the first net says, compared with the record and, if there is one, the second."""
    from engine.board.planes import encode_into

    rows: list[Row] = []
    for size in sorted({sample.game.size for sample in samples}):
        ours = [under_rules(sample, family) for sample in samples if sample.game.size == size]
        inputs = [net.allocate(batch, size, size) for net in nets]
        for start in range(0, len(ours), batch):
            kept: list[tuple[Sample, NDArray[np.bool_], int]] = []
            for sample in ours[start : start + batch]:
                try:
                    position = replay(sample)
                except RecordError:
                    continue
                for net, (spatial, globals_) in zip(nets, inputs, strict=True):
                    encode_into(position, net.encoding, spatial[len(kept)], globals_[len(kept)])
                kept.append((sample, position.legal_mask() > 0, position.to_play))
            if not kept:
                continue
            said = [
                net.evaluate(spatial[: len(kept)], globals_[: len(kept)], ownership=True)
                for net, (spatial, globals_) in zip(nets, inputs, strict=True)
            ]
            for number, (sample, legal, to_play) in enumerate(kept):
                row = {"rules": family, "size": size, "phase": phase_of(sample)}
                row |= beside_record(said[0], number, sample, legal, to_play)
                if len(said) > 1:
                    row |= beside_teacher(said[0], said[1], number, legal)
                rows.append(row)
    return rows


def log_policy(said: Evaluation, number: int, legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the log of the policy over the legal moves, -inf elsewhere."""
    logits = np.where(legal, said.policy_logits[number].astype(np.float64), -np.inf)
    logits -= logits.max()
    result: NDArray[np.float64] = logits - np.log(np.exp(logits).sum())
    return result


def beside_record(said: Evaluation, number: int, sample: Sample, legal: NDArray[np.bool_], to_play: int) -> Row:
    """Compare one opinion with the move played, the winner, the score and the owners, as far as they are known."""
    game, row = sample.game, Row()
    logs = log_policy(said, number, legal)
    if sample.played >= 0 and legal[sample.played]:
        rank = int((logs > logs[sample.played]).sum())
        row |= {"top1": float(rank < 1), "top5": float(rank < 5), "log_loss": -float(logs[sample.played])}
    same_rules = scoring_of(game.rules) in ("", scoring_of(sample.rules))
    if game.result and same_rules:
        row["winner"] = float((said.value[number] > 0) == (game.result == to_play))
    points = final_score(sample, to_play)
    if said.lead is not None and not np.isnan(points):
        row["score_error"] = abs(float(said.lead[number]) - points)
    owners = final_owners(game)
    if said.ownership is not None and owners is not None:
        truth = np.sign(owners if to_play == BLACK else -owners)
        opinion = said.ownership[number].ravel()
        row["owner_error"] = float(np.abs(opinion - truth).mean())
        row["owner_wrong"] = float((np.sign(opinion) != truth)[truth != 0].mean()) if truth.any() else 0.0
    return row


def beside_teacher(said: Evaluation, teacher: Evaluation, number: int, legal: NDArray[np.bool_]) -> Row:
    """Compare one opinion with a teacher's."""
    mine, its = (log_policy(opinion, number, legal) for opinion in (said, teacher))
    policy = np.exp(its)
    row = Row(
        teacher_top1=float(mine.argmax() == its.argmax()),
        teacher_kl=float((policy[legal] * (its[legal] - mine[legal])).sum()),
        teacher_value_sq=float(said.value[number] - teacher.value[number]) ** 2,
    )
    if said.lead is not None and teacher.lead is not None:
        row["teacher_lead"] = abs(float(said.lead[number] - teacher.lead[number]))
    if said.ownership is not None and teacher.ownership is not None:
        row["teacher_owner"] = float(np.abs(said.ownership[number] - teacher.ownership[number]).mean())
    return row


def summarise(rows: Sequence[Row]) -> dict[str, float]:
    """Return the number of positions and the mean of every figure over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row if name not in ("rules", "size", "phase"))
    found: dict[str, float] = {"positions": len(rows)}
    for name in names:
        values = [row[name] for row in rows if name in row]
        mean = float(np.mean(values))
        if name.endswith("_sq"):
            name, mean = name.removesuffix("_sq"), mean**0.5
        found[name] = round(mean, 4)
        if name == "winner":
            found["winner_right"], found["winner_of"] = sum(values), len(values)
    return found


def groups(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the figures of all rows, by rules, and by rules with size or phase."""
    found = {}
    for family in dict.fromkeys(row["rules"] for row in rows):
        mine = [row for row in rows if row["rules"] == family]
        found[family] = summarise(mine)
        for key in ("size", "phase"):
            for value in sorted({row[key] for row in mine}, key=str):
                found[f"{family}, {key} {value}"] = summarise([row for row in mine if row[key] == value])
    return found


def table_text(figures: dict[str, dict[str, float]]) -> str:
    """Return the figures as a table, a group a line."""
    names = list(dict.fromkeys(name for group in figures.values() for name in group))
    widths = {name: max(8, len(name)) for name in names}
    first = max(map(len, figures))
    lines = [" " * first + "".join(f"  {name:>{widths[name]}}" for name in names)]
    for group, values in figures.items():
        texts = {name: f"{values[name]:g}" if name in values else "" for name in names}
        lines.append(f"{group:{first}}" + "".join(f"  {texts[name]:>{widths[name]}}" for name in names))
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keisei evaluate value`. Errors go to the caller as EngineError."""
    parser = Parser(prog="keisei evaluate value", description=__doc__)
    parser.add_argument("--net", help="net file or shipped net; default: the shipped one")
    parser.add_argument("--teacher", help="net file or shipped net to compare with")
    parser.add_argument("--games", required=True, type=Path, action="append", help="table or SGF folder; repeatable")
    parser.add_argument("--positions", type=at_least(1), default=1000, help="of each board size, at most, one a game")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rules", choices=[*RULES, "both"], default="both")
    parser.add_argument("--last", action="store_true", help="the last position of every game, held out or not")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    add_net_options(parser)
    arguments = parser.parse_args(argv)
    games = [game for path in arguments.games for game in read_any(path)]
    samples = choose(games, positions=arguments.positions, seed=arguments.seed, last=arguments.last)
    if not samples:
        raise RecordError(f"{arguments.games[0]}: no {'' if arguments.last else 'held-out '}games")
    nets = [open_net(arguments.net, arguments, max_batch=16)[0]]
    if arguments.teacher:
        nets.append(open_net(arguments.teacher, arguments, max_batch=16)[0])
    families = list(RULES) if arguments.rules == "both" else [arguments.rules]
    figures = groups([row for family in families for row in look(nets, samples, family)])
    sys.stdout.write((json.dumps(figures) if arguments.json else table_text(figures)) + "\n")
    return 0
