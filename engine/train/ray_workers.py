"""Labelling and self-play by the workers of a Ray cluster, an optional extra (`ray`).

The driver (the command that was given) draws the work, hands it out in order, and alone writes files; workers get the
net as bytes and send arrays back, so they need no folder in common. What comes out is what one process would write, if
the machines compute alike. A worker that dies is started again and its work repeated.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.usage import install_hint

from .labeller import Labeller
from .nets import open_net
from .samples import Sample
from .shards import Header

if TYPE_CHECKING:
    from .label import Chunk

T = TypeVar("T")
AHEAD = 2  # pieces of work that wait at each worker


def connect(address: str) -> Any:
    """Return the module ray, connected to a cluster ("auto", HOST:PORT, ray://…) or to one of its own ("local").

    Raises:
        ConfigError: ray is not installed, or there is no cluster.
    """
    try:
        import ray
    except ImportError:
        raise ConfigError(f"--ray needs the package ray: {install_hint('ray')}") from None
    if not ray.is_initialized():
        own = {"include_dashboard": False} if address == "local" else {}
        try:
            ray.init(address=address, log_to_driver=False, **own)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ConfigError(f"--ray {address}: {str(error).splitlines()[0]}") from error
    return ray


def net_bytes(name: str | None) -> tuple[str, bytes]:
    """Return the file name and the bytes of a net file or shipped net."""
    from engine.nn.catalog import find

    path = Path(find(name))
    return path.name, path.read_bytes()


def open_sent_net(sent: tuple[str, bytes], options: dict[str, Any], max_batch: int) -> Any:
    """Return an evaluator of a net that came as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, sent[0])
        path.write_bytes(sent[1])
        return open_net(str(path), argparse.Namespace(**options), max_batch=max_batch)[0]


class Team:
    """Actors of one class, and the work that is on its way to them."""

    def __init__(self, address: str, count: int, cls: type, options: argparse.Namespace, *arguments: Any) -> None:
        """Start the actors.

        Args:
            address: see `connect`.
            count: of the actors; 0: one a GPU if the net is to run on GPUs, else one a processor.
            cls: their class.
            options: with device and threads of the net.
            arguments: of the class; sent once.
        """
        self.ray = connect(address)
        gpus = 1 if options.device.startswith("cuda") else 0
        resources = self.ray.cluster_resources()
        self.count = count or max(1, int(resources.get("GPU" if gpus else "CPU", 1)))
        remote = self.ray.remote(cls).options(num_cpus=1, num_gpus=gpus, max_restarts=-1, max_task_retries=3)
        self.shared = [self.ray.put(argument) for argument in arguments]  # kept: an actor that restarts asks again
        self.actors = [remote.remote(*self.shared) for _ in range(self.count)]

    def map(self, work: Iterable[T]) -> Iterator[tuple[T, Any]]:
        """Yield (piece, result) in the order of the pieces; a few for every actor are on their way at once."""
        coming: deque[tuple[T, Any]] = deque()
        for number, piece in enumerate(work):
            coming.append((piece, self.actors[number % self.count].work.remote(piece)))
            if len(coming) >= AHEAD * self.count:
                first, result = coming.popleft()
                yield first, self.ray.get(result)
        while coming:
            first, result = coming.popleft()
            yield first, self.ray.get(result)

    def close(self) -> None:
        """End the actors."""
        for actor in self.actors:
            self.ray.kill(actor)


class LabelActor:
    """A worker that labels chunks of samples."""

    def __init__(self, header: Header, batch: int, net: tuple[str, bytes] | None, options: dict[str, Any]) -> None:
        evaluator = open_sent_net(net, options, 4 * batch) if net else None
        self.labeller = Labeller(evaluator, header, batch)

    def work(self, samples: Sequence[Sample]) -> NDArray[Any]:
        """Return their records."""
        return self.labeller.label(samples)


class RayLabellers:
    """See label.Workers."""

    def __init__(self, address: str, count: int, options: argparse.Namespace, header: Header) -> None:
        """Start the workers; options are the command's."""
        net = net_bytes(options.teacher) if options.teacher else None
        self.team = Team(address, count, LabelActor, options, header, options.batch, net, net_options(options))

    def map(self, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, NDArray[Any]]]:
        """See label.Workers."""
        sent: deque[Chunk] = deque()

        def work() -> Iterator[list[Sample]]:
            for chunk in chunks:
                sent.append(chunk)
                yield chunk.samples

        for _, records in self.team.map(work()):
            yield sent.popleft(), records
        self.team.close()


def net_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that open_net reads, for a worker: a thread each unless told otherwise."""
    return {"device": options.device, "precision": options.precision, "threads": options.threads or 1}


class PlayActor:
    """A worker that plays games of a net against itself."""

    def __init__(self, plan: Any, net: tuple[str, bytes], options: dict[str, Any], max_batch: int) -> None:
        self.plan, self.evaluator = plan, open_sent_net(net, options, max_batch)

    def work(self, piece: tuple[Sequence[int], float | None]) -> list[Any]:
        """Return the games of these numbers, with this threshold of resignation."""
        from .selfplay.run import play_numbers

        return list(play_numbers(self.evaluator, self.plan, *piece))


class RayPlayers:
    """Plays the games of a part of a self-play run."""

    def __init__(self, address: str, count: int, options: argparse.Namespace, plan: Any, max_batch: int) -> None:
        """Start the workers; options are the command's."""
        arguments = (plan, net_bytes(options.net), net_options(options), max_batch)
        self.team = Team(address, count, PlayActor, options, *arguments)

    def __call__(self, numbers: Sequence[int], threshold: float | None) -> Iterator[Any]:
        """Yield the games of these numbers."""
        pieces = [(list(numbers[i :: self.team.count]), threshold) for i in range(self.team.count)]
        for _, games in self.team.map(piece for piece in pieces if piece[0]):
            yield from games
