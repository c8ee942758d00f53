"""The command line: `keisei COMMAND …`. Parses options and hands over; every command lives in its own package.

Only what a command needs is imported, since `keisei gtp` has to answer at once. An error is one line on stderr, with
exit code 2 for wrong usage (an option, a setting, a recipe) and 1 for everything else (a file, a folder, a net that is
not there or not right). A command that was stopped says so and ends with 128 and the signal's number.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from engine import __version__
from engine.errors import ConfigError, EngineError
from engine.usage import Parser, install_hint

COMMANDS = {
    "gtp": ("engine.cli", "gtp", "speak GTP on standard input and output"),
    "analysis": ("engine.cli", "analysis", "answer queries in JSON, for programs such as KaTrain and Ogatak"),
    "match": ("engine.match.cli", "main", "play engines against each other, and say who is stronger"),
    "ladder": ("engine.match.ladder", "main", "rate the engines of several matches on one scale"),
    "cgos": ("engine.match.cgos", "main", "play on a CGOS server"),
    "judge": ("engine.judging.cli", "main", "judge positions: dead stones, territory, seki, score, what is open"),
    "bench": ("engine.cli", "bench", "measure the speed of board, net or search, and memory"),
    "nets": ("engine.nn.catalog", "main", "list the nets that come with the engine, or describe a net file"),
    "train": ("engine.train.train", "main", "train a net by a recipe"),
    "selfplay": ("engine.train.selfplay.command", "main", "play games of a net against itself, to train from"),
    "loop": ("engine.train.selfplay.loop_command", "main", "self-play, training and a match, over and over"),
    "records": ("engine.train.collect", "main", "gather game records into one table for training"),
    "label": ("engine.train.label", "main", "label positions with a net, to train another from"),
    "evaluate": ("engine.evaluate.cli", "main", "measure nets and judges on held-out games"),
    "export": ("engine.train.export", "main", "put a trained net into weights/"),
}
BENCHMARKS = ("board", "net", "search", "many", "memory")
RESUMABLE = ("train", "label", "selfplay", "loop")  # what was done is kept, and the same command goes on from there

Layer = dict[str, dict[str, Any]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if words else 2
    if words[0] == "--version":
        print(f"keisei {__version__}")
        return 0
    if words[0] not in COMMANDS or not exists(COMMANDS[words[0]][0]):
        from engine.config import nearest

        hint = nearest(words[0], available())
        print(f"keisei: unknown command {words[0]}{hint} (see keisei --help)", file=sys.stderr)
        return 2
    module, function, _ = COMMANDS[words[0]]
    try:
        code = getattr(importlib.import_module(module), function)(words[1:])
    except ConfigError as error:
        print(f"keisei {words[0]}: {error}", file=sys.stderr)
        return 2
    except EngineError as error:
        print(f"keisei {words[0]}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        goes_on = "; the same command goes on" if words[0] in RESUMABLE else ""
        print(f"keisei {words[0]}: stopped{goes_on}", file=sys.stderr)
        return 128 + (stop.args[0] if stop.args and isinstance(stop.args[0], int) else 2)
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "torch":
            raise
        print(f"keisei {words[0]}: needs PyTorch: {install_hint('torch')}", file=sys.stderr)
        return 1
    except OSError as error:  # a folder that cannot be written, a full disk
        print(f"keisei {words[0]}: {error}", file=sys.stderr)
        return 1
    return int(code or 0)


def usage() -> str:
    """Return the help text."""
    names = available()
    width = max(map(len, names))
    lines = [f"  {name:{width}}  {COMMANDS[name][2]}" for name in names]
    return "\n".join(
        ["usage: keisei COMMAND [OPTIONS]    (keisei COMMAND --help for its options)", "", *lines, "", "  --version"]
    )


def exists(module: str) -> bool:
    """Tell whether a module is part of this installation; it is not imported for that, only the packages around it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def available() -> list[str]:
    """Return the commands of this installation."""
    return [name for name, (module, _, _) in COMMANDS.items() if exists(module)]


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command with a net takes."""
    parser.add_argument("--net", metavar="FILE|NAME", help="net file, or a name of `keisei nets list`")
    parser.add_argument("--visits", metavar="N", help="visits a move")
    parser.add_argument("--time", metavar="SECONDS", help="longest time a move")
    parser.add_argument("--device", metavar="auto|cpu|cuda:N", help="where the net runs")
    parser.add_argument("--precision", metavar="auto|float32|bfloat16|float16|int8", help="number format of the net")
    parser.add_argument("--rules", metavar="NAME|JSON", help="rules until the controller names others")
    parser.add_argument("--seed", metavar="N", help="make the search repeat exactly")
    parser.add_argument("--config", metavar="FILE.toml", help="file with settings by section")
    parser.add_argument(
        "--set", metavar="SECTION.KEY=VALUE", action="append", default=[], help="change one setting; may be repeated"
    )


OPTION_SETTINGS = {
    "visits": ("player", "visits"),
    "time": ("player", "time"),
    "level": ("level", "rank"),
    "rules": ("player", "rules"),
    "seed": ("player", "seed"),
    "device": ("net", "device"),
    "precision": ("net", "precision"),
}


def layers(options: argparse.Namespace) -> list[Layer]:
    """Return the values that the common options give, from the weakest to the strongest: file, --set, options.

    Raises ConfigError.
    """
    from engine import config

    result: list[Layer] = []
    if options.config:
        result.append(config.load(options.config))
    for text in options.set:
        section, key, value = config.parse_assignment(text)
        result.append({section: {key: value}})
    for option, (section, key) in OPTION_SETTINGS.items():
        given = getattr(options, option, None)
        if given is not None:
            result.append({section: {key: given}})
    return result


def gtp_parser() -> Parser:
    """Return the parser of `keisei gtp`."""
    parser = Parser(prog="keisei gtp", description="Speak GTP on standard input and output.")
    add_common_options(parser)
    parser.add_argument("--level", metavar="RANK", help="play about like a player of this rank: 30k … 1k, 1d")
    parser.add_argument("--name", metavar="TEXT", help="what to answer to `name`, for GUIs that look at it")
    parser.add_argument("--version", metavar="TEXT", help="what to answer to `version`")
    parser.add_argument(
        "--mimic", metavar="katago|leela-zero", help="answer `name` and `version` as that engine, for GUIs that ask"
    )
    parser.add_argument("--list-settings", action="store_true", help="print every setting for --set, and leave")
    return parser


def front(options: argparse.Namespace) -> dict[str, str]:
    """Return what the options of `keisei gtp` say of section `gtp`."""
    given = {"name": options.name, "version": options.version, "mimic": options.mimic}
    return {key: value for key, value in given.items() if value is not None}


def gtp(argv: Sequence[str]) -> int:
    """Run `keisei gtp`."""
    from engine import factory

    options = gtp_parser().parse_args(list(argv))
    if options.list_settings:
        print(settings_text(factory.SECTIONS))
        return 0
    settings = factory.make_settings(factory.preset("gtp"), *layers(options), {"gtp": front(options)})
    factory.serve_gtp(settings, options.net)


def analysis(argv: Sequence[str]) -> int:
    """Run `keisei analysis`. It takes KataGo's options too, as clients give them: with one dash."""
    from engine import factory
    from engine.analysis.options import cfg_layer

    parser = Parser(prog="keisei analysis", description="Answer queries in JSON, one a line.")
    add_common_options(parser)
    parser.add_argument("-model", "--model", metavar="FILE|NAME", help="the same as --net")
    parser.add_argument("-config", metavar="FILE", action="append", default=[], dest="cfg",
                        help="a .cfg file of KataGo's, or a .toml file of ours; may be repeated")  # fmt: skip
    parser.add_argument("-override-config", "--override-config", metavar="K=V,...", action="append", default=[],
                        help="change what such a file says")  # fmt: skip
    parser.add_argument("-quit-without-waiting", "--quit-without-waiting", action="store_true",
                        help="at the end of the input leave at once, without finishing what is queued")  # fmt: skip
    parser.add_argument("-analysis-threads", "--analysis-threads", "-human-model", "--human-model", dest="ignored",
                        help="taken, without effect")  # fmt: skip
    parser.add_argument("--list-settings", action="store_true", help="print every setting for --set, and leave")
    options = parser.parse_args(list(argv))
    if options.list_settings:
        print(settings_text(factory.SECTIONS))
        return 0
    files = [*options.cfg, *([options.config] if options.config else [])]
    options.config = None
    first, unknown = cfg_layer(files, options.override_config)
    settings = factory.make_settings(factory.preset("analysis"), *first, *layers(options))
    if unknown:
        print(f"keisei: no such settings here, passed over: {unknown}", file=sys.stderr)
    factory.serve_analysis(settings, options.net or options.model, wait=not options.quit_without_waiting)


def settings_text(sections: Mapping[str, type]) -> str:
    """Return a paragraph for every setting: name, type, default, range, meaning."""
    from engine import config

    lines = []
    for section, cls in sections.items():
        for key, about in config.describe(cls).items():
            kind = "a list" if about.kind is tuple else about.kind.__name__
            if about.choices:
                kind = "|".join(about.choices)
            limits = "".join(f", {sign} {value:g}" for sign, value in ((">=", about.low), ("<=", about.high))
                             if value is not None)  # fmt: skip
            unit = f" {about.unit}" if about.unit else ""
            default = config.to_text(about.default)
            lines.append(f"{section}.{key} = {default}   ({kind}{' or none' if about.optional else ''}{limits}{unit})")
            lines.append(f"    {about.doc}")
    return "\n".join(lines)


def bench(argv: Sequence[str]) -> int:
    """Run `keisei bench board|net|search|many|memory`."""
    parts = [name for name in BENCHMARKS if exists(f"engine.bench.{name}")]
    if not argv or argv[0] not in parts:
        asked = bool(argv) and argv[0] in ("-h", "--help")
        print(f"usage: keisei bench {'|'.join(parts)} [OPTIONS]", file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    return int(importlib.import_module(f"engine.bench.{argv[0]}").main(list(argv[1:])) or 0)
