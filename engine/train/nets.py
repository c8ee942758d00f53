"""The nets that training's commands run (a teacher, a net to measure): their options and how they are opened."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.evaluator import Evaluator


def at_least(low: int) -> Callable[[str], int]:
    """Return what reads an option's whole number that is not below `low`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
        if number < low:
            raise argparse.ArgumentTypeError(f"{number} is too small, at least {low}")
        return number

    return read


def add_net_options(parser: argparse.ArgumentParser) -> None:
    """Add --device, --precision and --threads."""
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda:N")
    parser.add_argument("--precision", default="auto", choices=["auto", "float32", "bfloat16", "float16"])
    parser.add_argument("--threads", type=at_least(0), default=0, help="CPU threads; 0 = one a physical core")


def add_ray_options(parser: argparse.ArgumentParser) -> None:
    """Add --ray and --ray-workers."""
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="let a Ray cluster work: its address, auto, or local (this machine's cores)"
    )
    parser.add_argument("--ray-workers", type=at_least(0), default=0, help="default: one a GPU, or one a processor")


def describe_net(name: str) -> tuple[str, str, Callable[[int], bool]]:
    """Return a net's encoding, its name with its hash, and what tells whether it takes a board size; starts nothing.

    Raises:
        WeightsError: there is no such net, or the file is none.
    """
    from engine.nn import load_net
    from engine.nn.catalog import find

    net = load_net(find(name))
    name_and_hash = f"{net.description.name} sha256 {net.description.sha256}"
    return net.spec["encoding"], name_and_hash, lambda size: net.supports_size(size, size)


def open_net(name: str | None, options: argparse.Namespace, *, max_batch: int) -> tuple[Evaluator, str]:
    """Return an evaluator of a net file or shipped net, and the net's name with its hash.

    Raises:
        WeightsError: there is no such net, or the file is none.
    """
    from engine.nn import NetSettings, load_net, make_evaluator
    from engine.nn.catalog import find

    net = load_net(find(name))
    settings = NetSettings(
        device=options.device, precision=options.precision, threads=options.threads, max_batch=max_batch
    )
    return make_evaluator(net, settings), f"{net.description.name} sha256 {net.description.sha256}"
