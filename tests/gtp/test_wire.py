"""The bytes that real clients sent, replayed: every command is answered, in order, and with an error only where due."""

from __future__ import annotations

import json
import re

import pytest

FILES = (
    "cgos-gnugo", "gogui-gui-score-gnugo", "gomill-gnugo", "lizgoban-katago", "lizgoban-mock", "lizzieyzy-mock",
    "ogatak-katago", "q5go-katago", "qgo-gnugo", "sabaki-katago", "sabaki-mock-lz",
)  # fmt: skip

UNKNOWN = {
    "kata-get-models",  # LizGoban asks whether it is there
    "undefined_cmd",  # the recorder's own
}
"""Commands that are sent and that we do not know."""

OTHER_ERRORS = {("kata-get-param", "humanSLProfile")}  # an unknown parameter: how LizGoban asks for it


def commands_in(path):
    with path.open(encoding="utf-8") as file:
        chunks = [json.loads(line)["send"] for line in file]
    return chunks


@pytest.mark.parametrize("name", FILES)
def test_replay(make_client, shared_dir, name):
    chunks = commands_in(shared_dir / "data" / "client_wire" / f"{name}.jsonl")
    client = make_client(visits=2, resign=False)
    expected, partial = [], ""
    own_game = False  # a move of ours is on the board, so that what the client plays later may be illegal
    sent = set()  # vertices of the present board; Sabaki plays set-up stones that are there already
    for chunk in chunks:
        client.send(chunk)
        lines = (partial + chunk).split("\n")
        partial = lines.pop()
        for line in lines:
            words = line.split()
            number = words.pop(0) if words and words[0].isdigit() else ""
            if not words:
                continue
            expected.append((number, words))
            take_reply(client, number, words, illegal=own_game or (words[0] == "play" and words[2].upper() in sent))
            if words[0] in ("boardsize", "rectangular_boardsize", "clear_board"):
                own_game, sent = False, set()
            if words[0] in ("play", "set_free_handicap"):
                sent.update(word.upper() for word in words[1:])
            own_game = own_game or words[0] == "genmove" or "genmove_analyze" in words[0]
            if words[0] == "quit":
                client = make_client(visits=2, resign=False)
    assert expected and not partial


def take_reply(client, number, words, *, illegal):
    """Read the reply to one command and check its form. An analysis goes on, so only its header comes."""
    name = words[0]
    if name in ("kata-analyze", "lz-analyze"):
        if not client_ended(client, number, words):
            pytest.fail(f"{words}: no reply")
        return
    reply = client.read_until(r"\A(info [^\n]*\n)*\n?[=?](?:[^\n]*\n)+?\n")
    text = re.sub(r"\A(info [^\n]*\n)*\n?(?==|\?)", "", reply)
    due = name in UNKNOWN or tuple(words) in OTHER_ERRORS
    if text.startswith("?"):
        assert due or (illegal and name == "play" and text == f"?{number} illegal move\n\n"), f"{words}: {text}"
    else:
        assert not due and text.startswith(f"={number}"), f"{words}: {text}"


def client_ended(client, number, words):
    """The header of an analysis (after the end of the one before it, if that was still open)."""
    return client.read_until(rf"\A(info [^\n]*\n)*\n?={number}\n")
