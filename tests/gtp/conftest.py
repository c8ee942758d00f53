"""A GTP session inside the test process, and one as a process of its own, both over a test evaluator."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
import time

import pytest
from child import python

PATIENCE = 60.0
"""Seconds that anything may take on a loaded machine before a test gives up."""




@pytest.fixture(name="python")
def python_fixture():
    return python


class Client:
    """Speaks GTP over two file descriptors and reads replies without ever waiting for ever."""

    def __init__(self, writer, reader):
        self._writer = writer
        self._data = bytearray()
        self._changed = threading.Condition()
        self._closed = False
        self.reading = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self.reading.start()

    def _read(self, reader):
        while True:
            piece = os.read(reader, 65536)
            with self._changed:
                self._data += piece
                self._closed = not piece
                self._changed.notify_all()
            if not piece:
                return

    def send(self, data):
        os.write(self._writer, data if isinstance(data, bytes) else data.encode())

    def close(self):
        """Close the end that is written to, once: its number may soon be another file's."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            os.close(writer)

    def read_until(self, pattern):
        """Return everything up to the first match of the pattern, which is taken off too."""
        pattern = re.compile(pattern if isinstance(pattern, bytes) else pattern.encode(), re.DOTALL | re.MULTILINE)
        deadline = time.monotonic() + PATIENCE
        with self._changed:
            while not (match := pattern.search(self._data)):
                assert not self._closed, f"the engine left after {bytes(self._data)!r}"
                assert self._changed.wait(deadline - time.monotonic()), f"nothing but {bytes(self._data)!r}"
            text = bytes(self._data[: match.end()])
            del self._data[: match.end()]
        return text.decode()

    def reply(self):
        """Return the next whole reply, without its empty line."""
        return self.read_until(rb"\n\n")[:-2]

    def ask(self, line):
        """Send one command, return its whole reply."""
        self.send(line.rstrip("\n") + "\n")
        return self.reply()

    def ok(self, line):
        """Send one command that must succeed, return the body of its reply."""
        reply = self.ask(line)
        assert reply.startswith("="), f"{line}: {reply}"
        return reply.partition(" ")[2]

    def error(self, line):
        """Send one command that must fail, return the text of the error."""
        reply = self.ask(line)
        assert reply.startswith("?"), f"{line}: {reply}"
        return reply.partition(" ")[2]

    def rest(self):
        """Return what came until the other end closed."""
        deadline = time.monotonic() + PATIENCE
        with self._changed:
            while not self._closed:
                assert self._changed.wait(deadline - time.monotonic()), "the engine does not leave"
            return self._data.decode()


class LocalClient(Client):
    """A session in a thread of this process."""

    def __init__(self, player_settings, params, evaluator, trained_sizes=None):
        import engine.gtp.commands  # noqa: F401
        from engine.gtp.controller import Controller
        from engine.gtp.output import Output
        from engine.gtp.session import Session
        from engine.player.net import LoadedNet, ReadyNet
        from engine.player.player import Player

        input_end, writer = os.pipe()
        reader, output_end = os.pipe()
        self.net = ReadyNet(LoadedNet(evaluator, "test", trained_sizes))
        self.controller = Controller(lambda: Player(player_settings, params, self.net))
        output = os.fdopen(output_end, "wb")
        session = Session(self.controller, Output(output))
        session.start_reading(os.fdopen(input_end, "rb", buffering=0).read)
        self.code = None

        def run():
            self.code = session.run()
            with contextlib.suppress(OSError):
                output.close()

        self.worker = threading.Thread(target=run, daemon=True)
        self.worker.start()
        super().__init__(writer, reader)

    @property
    def game(self):
        return self.controller.player.game


@pytest.fixture
def make_client():
    """Return a function that starts a session in this process."""
    from engine.evaluator_fakes import HashEvaluator
    from engine.player.settings import PlayerSettings
    from engine.search.params import SearchParams

    clients = []

    def make(evaluator=None, *, trained_sizes=None, params=None, **settings):
        chosen = PlayerSettings(**{"visits": 20, "seed": 1, **settings})
        client = LocalClient(chosen, params or SearchParams(), evaluator or HashEvaluator(), trained_sizes)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()
        client.worker.join(PATIENCE)
        assert not client.worker.is_alive()


@pytest.fixture
def client(make_client):
    """A session in this process: Hash evaluator, 20 visits a move, seed 1."""
    return make_client()


class ProcessClient(Client):
    """A session as a process."""

    def __init__(self, options):
        command, environment = python("-m", "engine", "gtp", *options)
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        super().__init__(self.process.stdin.fileno(), self.process.stdout.fileno())
        self.errors = bytearray()
        self._errors_done = threading.Event()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line
        self._errors_done.set()

    def close(self):
        self.process.stdin.close()

    def finish(self):
        """Wait for the end; return the exit code and what was on stderr."""
        code = self.process.wait(PATIENCE)
        assert self._errors_done.wait(PATIENCE)
        return code, self.errors.decode()


@pytest.fixture
def start():
    """Return a function that starts `keisei gtp` as a process; by default on the Hash evaluator, 20 visits a move."""
    clients = []

    def run(*options):
        client = ProcessClient(options or ("--net", "fake:hash", "--visits", "20", "--seed", "1"))
        clients.append(client)
        return client

    yield run
    for client in clients:
        if client.process.poll() is None:
            client.process.kill()
            client.process.wait()
        client.reading.join(PATIENCE)  # else it may read from whatever gets the number of a closed stream
        for stream in (client.process.stdin, client.process.stdout, client.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()
