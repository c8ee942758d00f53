"""The judges that can be measured, by name: `net:NAME`, `judgment:NAME`, `engine:NAME`, `influence`, …

All but programs are judges of the engine; nets are sources of opinions behind one judge, so what differs between them
is the opinion.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from engine.board.position import Position
from engine.errors import ConfigError, EngineError

from .answers import Answer
from .gtp_judge import GtpJudge

if TYPE_CHECKING:
    from engine.judge import Judgment
    from engine.judge.settings import JudgeSettings

KINDS = {
    "net": "ownership of a policy/value net (a file or a name of `keisei nets list`; none: the shipped one)",
    "judgment": "a judgment net (file or name; none: the shipped one)",
    "engine": "what `keisei judge` says with a net (file or name; none: the shipped one), all that it asks included",
    "influence": "the influence function, no net",
    "facts": "unconditional life and death alone",
    "gtp": "a GTP program; {rules} in its command line becomes chinese or japanese",
}


class Judging(Protocol):
    """A judge that can be measured."""

    name: str

    def judge(self, position: Position, rules: str) -> Answer:
        """Judge a position that is played under the rules of that name."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class OwnJudge:
    """A judge of the engine.

    Args:
        name: for tables.
        judge: anything with judge(position) -> engine.judge.Judgment.
    """

    def __init__(self, name: str, judge: Any) -> None:
        self.name = name
        self._judge = judge

    def judge(self, position: Position, rules: str) -> Answer:
        """Judge a position; what the rules are the position knows itself."""
        start = time.monotonic()
        try:
            judgment = self._judge.judge(position)
        except EngineError as error:
            return Answer(time.monotonic() - start, error=str(error))
        seconds = time.monotonic() - start
        sign = judgment.owner.ravel().astype(np.int8)
        if judgment.ownership is not None:
            sign = np.where(sign == 0, np.sign(judgment.ownership.ravel()), sign)
        owner = np.array([0, 1, 2], np.uint8)[sign.astype(int)]  # -1 is the last: White
        return Answer(seconds, judgment.dead, judgment.score, owner, judgment.expected_score)

    def judgment(self, position: Position) -> Judgment:
        """Return the whole judgment. Raises what the judge raises."""
        found: Judgment = self._judge.judge(position)
        return found

    def close(self) -> None:
        """Nothing is held."""


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    """Add --judge and what goes with it."""
    kinds = "; ".join(f"{kind}: {text}" for kind, text in KINDS.items())
    parser.add_argument("--judge", action="append", required=True, metavar="KIND[:WHAT]",
                        help=f"may be repeated. {kinds}")  # fmt: skip
    parser.add_argument("--set", action="append", default=[], metavar="judge.KEY=VALUE", help="a setting of the judge")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N")
    parser.add_argument("--precision", default="auto", choices=["auto", "float32", "bfloat16", "float16"])
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of a net")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one reply of a program")


def make_judge(text: str, options: argparse.Namespace) -> Judging:
    """Return the judge of that name.

    Raises:
        ConfigError: there is no such kind.
        WeightsError: there is no such net.
    """
    kind, _, what = text.partition(":")
    if kind not in KINDS:
        from engine.config import nearest

        raise ConfigError(f"no judge is called {kind!r}{nearest(kind, KINDS)} (there are {', '.join(KINDS)})")
    if kind == "gtp":
        if not what:
            raise ConfigError("gtp: needs a command line, as in 'gtp:gnugo --mode gtp'")
        return GtpJudge(what, timeout=options.timeout)
    if kind == "influence":
        from engine.judge.influence_judge import InfluenceJudge

        return OwnJudge(text, InfluenceJudge())
    if kind == "engine":
        return OwnJudge(text, _engine(what or None, options))
    from engine.judge import Judge

    settings = _settings(options.set)
    return OwnJudge(text, Judge(_source(kind, what or None, options, settings.symmetries), settings))


def _source(kind: str, what: str | None, options: argparse.Namespace, symmetries: int) -> Any:
    """Return an evaluator with ownership, an OpinionSource, or None for facts alone."""
    if kind == "facts":
        return None
    from engine import factory
    from engine.nn.settings import NetSettings

    settings = NetSettings(
        device=options.device, precision=options.precision, threads=options.threads, max_batch=16
    )
    if kind == "judgment":
        return factory.load_judgment(what, settings, symmetries=symmetries)
    return factory.load(what, settings).evaluator


def _engine(what: str | None, options: argparse.Namespace) -> Any:
    """Return the judge as the engine makes it for its own use."""
    from engine import config, factory

    layers: list[dict[str, dict[str, Any]]] = [
        {"net": {"device": options.device, "precision": options.precision, "threads": options.threads}}
    ]
    for text in options.set:
        section, key, value = config.parse_assignment(text)
        layers.append({section: {key: value}})
    return factory.make_judge(factory.make_settings(factory.preset("gtp"), *layers), what)


def _settings(assignments: list[str]) -> JudgeSettings:
    """Return the judge's settings: the defaults and what the command line says."""
    from engine import config
    from engine.judge import JudgeSettings

    layers: list[dict[str, dict[str, Any]]] = []
    for text in assignments:
        section, key, value = config.parse_assignment(text)
        if section != "judge":
            raise ConfigError(f"--set {text}: only the section 'judge' applies here")
        layers.append({section: {key: value}})
    settings: JudgeSettings = config.assemble({"judge": JudgeSettings}, *layers)["judge"]
    return settings
