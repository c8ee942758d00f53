"""Random and damaged input: one well-formed reply to every line that deserves one, and never a spoiled game."""

from __future__ import annotations

import random
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.gtp import commands, registry
from engine.gtp.protocol import parse

assert commands

VERTICES = ["d4", "C3", "pass", "a1", "J9", "z9", "i5", "a0", "(1,2)", "resign", "aa1", ""]
WORDS = [
    "b", "w", "black", "x", "0", "1", "-1", "9", "25", "26", "7.5", "nan", "1e9", "true", "false", "interval", "avoid",
    "allow", "minmoves", "ownership", "pvVisits", "all", "dead", "alive", "seki", "japanese", '{"ko":"SIMPLE"}', "{",
    "search.cpuct", "maxVisits", "d4,e5", "\\", "''", "é", "#", "\t",
]  # fmt: skip
SAFE = [name for name in sorted(registry.COMMANDS) if name not in ("quit", "printsgf", "loadsgf")]
ANALYSES = ("lz-analyze", "kata-analyze")


def random_line(rng):
    name = rng.choice([*SAFE, "play", "play", "genmove", "undo", "nonsense", "Play", ""])
    words = [name] + [rng.choice(WORDS + VERTICES) for _ in range(rng.choice((0, 1, 2, 2, 3, 4)))]
    if rng.random() < 0.3:
        words.insert(0, str(rng.choice((0, 7, 2**31, 10**20))))
    if rng.random() < 0.05:
        return b"# interrupt"
    data = bytearray(" ".join(words).encode())
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data).replace(b"\n", b"")


def check_reply(client, request):
    """Read the reply to one request and check its form; whatever is open before it must have ended."""
    number = re.escape(request.id)
    reply = client.read_until(rf"\A[=?]{number}(?: [^\n]*)?\n(?:[^\n]+\n)*\n")
    assert "Traceback" not in reply
    if reply.startswith("?"):
        assert re.fullmatch(rf"\?{number} [a-z/'\"{{(][^\n]*[^.\n]\n\n", reply), reply
        assert "internal error" not in reply, f"{request}: {reply}"
    return reply.startswith("=")


def snapshot(client):
    game = client.game
    position = game.position
    return (position.width, position.height, position.moves, position.setup_stones, position.komi, game.rules)


def test_random_lines_never_get_out_of_step(make_client):
    for seed in range(8):
        rng = random.Random(seed)
        client = make_client(visits=2, seed=seed)
        client.ok("boardsize 9")
        for _ in range(120):
            line = random_line(rng)
            request = parse(line)
            if request is not None and request.name in ("quit", "loadsgf", "printsgf"):
                continue
            before = snapshot(client)
            client.send(line + b"\n")
            if request is None:
                continue
            if request.name in ANALYSES:
                client.send(b"\n")
            if not check_reply(client, request):
                assert snapshot(client) == before, f"{line!r} changed the game though it failed"
        client.ok("boardsize 9")
        assert client.ok("genmove b") and client.ok("name")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=60).filter(lambda data: b"quit" not in data), max_size=8))
def test_random_bytes(client, lines):
    wanted = [request for line in lines for part in line.split(b"\n") if (request := parse(part)) is not None]
    client.send(b"".join(line + b"\n" for line in lines))
    for request in wanted:
        check_reply(client, request)
    assert client.ok("name")
