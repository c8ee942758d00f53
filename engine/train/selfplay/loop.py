"""The loop: self-play by the best net, training on the last generations, a match that decides whether to take over.

Everything of a generation lies in the run's folder and is kept when it is whole, so the same command goes on after a
kill: `gen-NNNN/` (games, shards, checkpoint), `nets/NNNN.safetensors` (0000 is random; NNNN is what generation NNNN - 1
trained) and `generations.jsonl`, a line a finished generation. Source: Silver et al. 2017 (AlphaGo Zero), Methods.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigError

from ..folder import mend_lines, write_whole
from .arena import play_match
from .plan import SelfplayPlan
from .run import play
from .store import GameStore, SelfplayError, read_object, read_store

if TYPE_CHECKING:
    from engine.evaluator import Evaluator

    from ..recipe import Recipe

log = logging.getLogger(__name__)
LINES = "generations.jsonl"
OpenNet = Callable[[Path], "tuple[Evaluator, str]"]


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """What a generation is."""

    generations: int = 20
    games: int = 128  # of self-play
    window: int = 6  # generations whose positions are trained on
    passes: float = 4.0  # times that each position is trained on in all
    gate_games: int = 40
    gate_share: float = 0.55  # of the points, for the candidate to become the best net
    gate_visits: int = 0  # a move; 0: as in self-play
    gate_temperature_moves: int = 30  # moves of a match that are drawn by visits, on 19x19; then the most visited
    resign_window: int = 4  # generations from which the threshold of resignation is learned

    def check(self) -> None:
        """Raises ConfigError where a value makes no sense."""
        for name in ("generations", "games", "window", "gate_games"):
            if getattr(self, name) < 1:
                raise ConfigError(f"[loop] {name} = {getattr(self, name)}: at least 1")
        if not 0 <= self.gate_share <= 1 or self.passes <= 0:
            raise ConfigError("[loop] gate_share is from 0 to 1, passes above 0")


class Loop:
    """A run of the loop in its folder.

    Args:
        recipe: with [selfplay] and [loop].
        folder: of the run.
        open_net: returns an evaluator of a net file and the net's name with its hash.
    """

    def __init__(self, recipe: Recipe, folder: Path, open_net: OpenNet) -> None:
        from ..fill import fill

        self.recipe, self.folder, self.open_net = recipe, folder, open_net
        selfplay = dict(recipe.selfplay)
        if "sizes" in selfplay:
            selfplay["sizes"] = tuple(selfplay["sizes"])
        self.plan, self.loop = fill(SelfplayPlan, selfplay, "selfplay"), fill(LoopPlan, recipe.loop, "loop")
        self.plan.check()
        self.loop.check()
        if self.plan.visits < 2:
            raise ConfigError("[selfplay] visits: the loop learns from a search, so 2 at least")
        folder.mkdir(parents=True, exist_ok=True)
        self._check_recipe()
        mend_lines(folder / LINES)
        try:
            text = (folder / LINES).read_text(encoding="utf-8") if (folder / LINES).exists() else ""
            self.lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
            [int(line["best"]) for line in self.lines]
        except (ValueError, TypeError, LookupError) as error:
            raise SelfplayError(f"{folder / LINES}: {error}") from error

    def _check_recipe(self) -> None:
        """Keep the recipe, or compare it with the one kept; [loop] may change from one start to the next."""
        names = ("name", "net", "loss", "train", "selfplay")
        table = json.loads(json.dumps(dataclasses.asdict(self.recipe)))
        text = json.dumps({name: table[name] for name in names}, indent=1)
        kept = self.folder / "recipe.json"
        if not kept.exists():
            write_whole(kept, text)
        elif kept.read_text(encoding="utf-8") != text:
            raise SelfplayError(f"{self.folder}: a run of another recipe (see recipe.json); choose another folder")

    @property
    def best(self) -> int:
        """Number of the best net so far."""
        return int(self.lines[-1]["best"]) if self.lines else 0

    def net(self, number: int) -> Path:
        """Return the file of a net."""
        return self.folder / "nets" / f"{number:04d}.safetensors"

    def generation(self, number: int) -> Path:
        """Return the folder of a generation."""
        return self.folder / f"gen-{number:04d}"

    def run(self, *, until: float = float("inf")) -> Iterator[dict[str, Any]]:
        """Yield the line of each generation as it ends, until the plan's number or a time (time.monotonic)."""
        from .learn import write_random_net

        if not self.net(0).exists():
            write_random_net(self.recipe, self.encoding, self.net(0))
        while len(self.lines) < self.loop.generations and time.monotonic() < until:
            line = self.one(len(self.lines))
            with (self.folder / LINES).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            self.lines.append(line)
            yield line

    @property
    def encoding(self) -> str:
        """The encoding of the nets and shards."""
        encoding = self.recipe.kind().encoding
        if not encoding:
            raise ConfigError("[net] encoding: the loop needs to be told")
        return encoding

    def one(self, number: int) -> dict[str, Any]:
        """Go through one generation, or through what is left of it."""
        from .learn import learn

        clock = [time.monotonic()]
        line: dict[str, Any] = {"generation": number, "player": self.best}
        line |= self.play(number)
        clock.append(time.monotonic())
        windowed = [self.generation(n) / "shards" for n in range(max(0, number + 1 - self.loop.window), number + 1)]
        steps = max(1, round(line["positions"] * self.loop.passes / self.recipe.train.batch))
        folders = self.generation(number - 1) if number else None, self.generation(number)
        line["training"] = learn(self.recipe, number, windowed, folders, steps, self.net(number + 1))
        clock.append(time.monotonic())
        line |= self.gate(number)
        clock.append(time.monotonic())
        names = ("play_seconds", "train_seconds", "gate_seconds")
        return line | {name: round(b - a, 1) for name, a, b in zip(names, clock, clock[1:], strict=False)}

    def play(self, number: int) -> dict[str, Any]:
        """Play a generation's games."""
        evaluator, name = self.open_net(self.net(self.best))
        plan = dataclasses.replace(self.plan, seed=self.plan.seed * 100_000 + number, part_games=self.loop.games)
        store = GameStore(self.generation(number), plan, name)
        first = max(0, number - self.loop.resign_window)
        earlier = [part for n in range(first, number) for part in read_store(self.generation(n))[1]]
        play(evaluator, plan, self.loop.games, store, earlier=earlier)
        sums = {
            key: sum(part[key] for part in store.parts)
            for key in ("games", "moves", "positions", "black_won", "white_won", "resigned", "cut_off")
        }
        resign = {key: store.parts[-1]["resign"][key] for key in ("threshold", "would_resign", "wrongly")}
        return {**sums, "resign": resign}

    def match_plan(self, seed: int) -> SelfplayPlan:
        """Return what the games of a match are: those of self-play, but for temperatures and visits."""
        return dataclasses.replace(
            self.plan,
            visits=self.loop.gate_visits or self.plan.visits,
            temperature=1.0,
            temperature_moves=self.loop.gate_temperature_moves,
            late_temperature=0.0,
            seed=seed,
        )

    def gate(self, number: int) -> dict[str, Any]:
        """Match the new net against the best one; return the score and which of them is the best now."""
        done = self.generation(number) / "gate.json"
        if not done.exists():
            candidate, best = self.open_net(self.net(number + 1))[0], self.open_net(self.net(self.best))[0]
            score = play_match(
                (candidate, best), self.match_plan(number), self.loop.gate_games, need=self.loop.gate_share
            )
            write_whole(done, json.dumps(score.figures()))
        figures = read_object(done)
        accepted = figures["share"] >= self.loop.gate_share
        return {"gate": figures, "accepted": accepted, "best": number + 1 if accepted else self.best}
