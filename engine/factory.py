"""The composition root: from settings to a net, an evaluator, a player, a session. The only place that knows all.

Nothing heavy is imported at the top: a GTP session answers its first commands while the net still loads.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from engine import config
from engine.analysis.settings import AnalysisSettings
from engine.errors import ConfigError
from engine.gtp.settings import GtpSettings
from engine.judge.settings import JudgeSettings
from engine.nn.settings import NetSettings
from engine.player.level_settings import LevelSettings, checked
from engine.player.net import BackgroundNet, LoadedNet, NetSource
from engine.player.settings import PlayerSettings
from engine.search.params import SearchParams

if TYPE_CHECKING:
    from engine.evaluator import AsyncEvaluator
    from engine.gtp.stderr import StderrHandler
    from engine.judge.judgment_net import JudgmentNetOpinion
    from engine.judge.net_judge import Judge
    from engine.player.player import Player

log = logging.getLogger(__name__)

FAKES = ("fake:uniform", "fake:hash")  # nets for tests

SECTIONS: dict[str, type] = {
    "search": SearchParams,
    "net": NetSettings,
    "player": PlayerSettings,
    "judge": JudgeSettings,
    "level": LevelSettings,
    "gtp": GtpSettings,
    "analysis": AnalysisSettings,
}

Values = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of every component."""

    search: SearchParams
    net: NetSettings
    player: PlayerSettings
    judge: JudgeSettings
    level: LevelSettings
    gtp: GtpSettings
    analysis: AnalysisSettings


def preset(name: str) -> dict[str, dict[str, Any]]:
    """Return the values of a preset that comes with the engine."""
    return config.load(Path(__file__).parent / "presets" / f"{name}.toml")


def make_settings(*layers: Values) -> EngineSettings:
    """Make all settings from layers of values, from the weakest to the strongest. Raises ConfigError."""
    from engine.board.rules import parse_rules
    from engine.nn.devices import check_device

    settings = EngineSettings(**config.assemble(SECTIONS, *layers))
    parse_rules(settings.player.rules)
    check_device(settings.net.device)
    checked(settings.level)
    return settings


def load(net: str | None, settings: NetSettings, *, playing: bool = False) -> LoadedNet:
    """Load a net and make its evaluator.

    Args:
        net: a file, a name of `keisei nets list`, None for the net that comes with the engine, or, for tests,
            "fake:uniform" or "fake:hash".
        settings: section `net`.
        playing: it is to play games: precision auto may mean eight bits (engine.nn.make_evaluator).

    Raises:
        WeightsError: naming the net.
    """
    if net in FAKES:
        return _fake(net)
    from engine.nn.catalog import find

    path = find(net)
    from engine.nn.net import load_net
    from engine.nn.net_evaluator import make_evaluator

    loaded = load_net(path)
    description = loaded.description
    evaluator: AsyncEvaluator = make_evaluator(loaded, settings, playing=playing)
    judged = bool(loaded.spec["family"] != "k-step")
    if judged and settings.value_net not in ("auto", "none"):
        raise ConfigError(f"net.value_net: {description.name} judges positions itself")
    if not judged and settings.value_net != "none":
        evaluator = _with_value(evaluator, settings)
    return LoadedNet(evaluator, description.name, frozenset(description.sizes) or None)


def _with_value(moves: AsyncEvaluator, settings: NetSettings) -> AsyncEvaluator:
    """Return an evaluator with the moves of one net and the judgment of the one that net.value_net names."""
    from engine.nn.catalog import find
    from engine.nn.net import load_net
    from engine.nn.net_evaluator import make_evaluator
    from engine.nn.two_nets import TwoNets

    judge = load_net(find(None if settings.value_net == "auto" else settings.value_net))
    if judge.spec["family"] == "k-step":
        raise ConfigError(f"net.value_net: {judge.description.name} judges nothing either")
    return TwoNets(moves, make_evaluator(judge, settings))


def load_judgment(net: str | None, settings: NetSettings, *, symmetries: int = 1) -> JudgmentNetOpinion:
    """Load a judgment net as a source of opinions for engine.judge.Judge.

    Args:
        net: a file or a name of `keisei nets list`; None for the judgment net that comes with the engine.
        settings: section `net`.

    Raises:
        WeightsError: there is no such net, or it is none.
    """
    from engine.judge.judgment_net import JudgmentNetOpinion
    from engine.nn.catalog import find
    from engine.nn.maps_evaluator import make_maps_evaluator
    from engine.nn.net import load_net

    loaded = load_net(find("judgment" if net is None else net))
    return JudgmentNetOpinion(make_maps_evaluator(loaded, settings), symmetries=symmetries)


def make_player(settings: EngineSettings, net: NetSource) -> Player:
    """Make a player that will think with that net."""
    from engine.player.player import Player

    return Player(settings.player, settings.search, net, settings.judge, settings.level)


def make_judge(settings: EngineSettings, net: str | None) -> Judge:
    """Load a net, or a judgment net, and make a judge over it. Raises WeightsError."""
    from engine.judge.net_judge import Judge

    if net is not None and _is_judgment(net):
        return Judge(load_judgment(net, settings.net, symmetries=settings.judge.symmetries), settings.judge)
    loaded = load_judging(net, settings)
    return Judge(loaded.opinions or loaded.evaluator, settings.judge, evaluator=loaded.evaluator)


EVEN = 0.5  # what a judgment net's word counts beside a playing net's, where nothing else was fitted


def load_judging(net: str | None, settings: EngineSettings, *, playing: bool = False) -> LoadedNet:
    """Load a net and, if there is one to ask, the judgment net beside it. Raises WeightsError."""
    loaded = load(net, settings.net, playing=playing)
    wanted = settings.judge.net
    if wanted == "none" or net in FAKES or (wanted == "auto" and not _ships("judgment")):
        return loaded
    from engine.judge.asking import NetOpinion
    from engine.judge.blend import Blend

    beside = load_judgment(None if wanted == "auto" else wanted, settings.net, symmetries=settings.judge.symmetries)
    own = NetOpinion(loaded.evaluator, symmetries=settings.judge.symmetries)
    weight = beside.thresholds.get("weight", EVEN)
    return dataclasses.replace(
        loaded, opinions=Blend([own, beside], [1.0 - weight, weight], thresholds=beside.thresholds)
    )


def _ships(name: str) -> bool:
    from engine.nn.catalog import read_manifest

    return any(entry.name == name for entry in read_manifest())


def _is_judgment(net: str) -> bool:
    """Tell whether a file or name is a judgment net's. Raises WeightsError."""
    if net in FAKES:
        return False
    from engine.nn.catalog import find
    from engine.nn.net import load_net

    return bool(load_net(find(net)).spec["family"] == "judgment")


def serve_gtp(settings: EngineSettings, net: str | None) -> NoReturn:
    """Speak GTP on stdin and stdout until the end of the process."""
    from engine.gtp.controller import Controller
    from engine.gtp.process import claim_streams, serve

    claim_streams()
    _refuse_absent(net, settings)
    handler = _log_to_stderr()
    source = BackgroundNet(lambda: _load_to_play(net, settings), ask_sizes=_may_refuse_sizes(net))
    serve(Controller(lambda: make_player(settings, source), settings.gtp), source, handler)


def serve_analysis(settings: EngineSettings, net: str | None, *, wait: bool) -> NoReturn:
    """Answer queries in JSON on stdin and stdout until the end of the process.

    Args:
        wait: finish what is queued when the input ends.
    """
    import io
    import sys

    from engine.analysis.output import Output
    from engine.analysis.parse import Defaults
    from engine.analysis.process import serve
    from engine.gtp.output import claim_stdout, watch_closing
    from engine.gtp.process import claim_streams

    claim_streams()
    _refuse_absent(net, settings)
    handler = _log_to_stderr()
    stream = claim_stdout()
    source = BackgroundNet(lambda: _load_to_play(net, settings))
    serve(
        Defaults.of(settings.search, settings.player, settings.analysis),
        settings.judge,
        source,
        read=io.FileIO(sys.stdin.fileno(), closefd=False).read,
        output=Output(stream),
        handler=handler,
        wait=wait,
        watch=lambda call: watch_closing(stream, call),
    )


def _log_to_stderr() -> StderrHandler:
    """Have everything that is logged written to stderr, from a thread of its own."""
    import sys

    from engine.gtp.stderr import StderrHandler

    handler = StderrHandler(sys.stderr)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    return handler


def _refuse_absent(net: str | None, settings: EngineSettings) -> None:
    """Look at the device and at the files of all nets that a session was told to use.

    Only their beginnings are read, which takes no time; what is wrong further on comes out when they are loaded.

    Raises: WeightsError naming one that is not there, is no net file, or is to choose moves and cannot; EngineError for
    a GPU that is not there.
    """
    from engine.nn.catalog import find
    from engine.nn.devices import refuse_absent_gpu
    from engine.nn.peek import refuse_other_files

    if net in FAKES:
        return
    refuse_absent_gpu(settings.net.device)
    refuse_other_files(find(net), plays=True)
    for name in (settings.net.value_net, settings.judge.net):
        if name not in ("auto", "none"):
            refuse_other_files(find(name), plays=False)


def _load_to_play(net: str | None, settings: EngineSettings) -> LoadedNet:
    """Load a net for a long session: it may become faster while it plays."""
    loaded = load_judging(net, settings, playing=True)
    improve = getattr(loaded.evaluator, "improve", None)
    if improve is not None:
        improve()
    return loaded


def _fake(net: str) -> LoadedNet:
    from engine.evaluator_fakes import HashEvaluator, UniformEvaluator

    return LoadedNet(HashEvaluator() if net == "fake:hash" else UniformEvaluator(), net)


def _may_refuse_sizes(net: str | None) -> bool:
    """Tell whether a net might play on some board sizes only: Leela Zero's text files do, nothing else that loads."""
    return net is not None and Path(net).name.endswith((".txt", ".txt.gz"))


__all__ = [
    "SECTIONS",
    "ConfigError",
    "EngineSettings",
    "load",
    "load_judging",
    "load_judgment",
    "make_judge",
    "make_player",
    "make_settings",
    "preset",
    "serve_analysis",
    "serve_gtp",
]
