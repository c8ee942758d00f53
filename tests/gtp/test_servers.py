"""What the programs of go servers and match controllers send beside plain GTP: KGS, CGOS, gomill."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from lopsided import Lopsided

from engine.gtp.cgos_text import LETTERS


@pytest.mark.parametrize(
    ("word", "ko", "scoring"),
    [("chinese", "POSITIONAL", "AREA"), ("aga", "SITUATIONAL", "AREA"), ("japanese", "SIMPLE", "TERRITORY"),
     ("new_zealand", "SITUATIONAL", "AREA"), ("Japanese", "SIMPLE", "TERRITORY")],
)  # fmt: skip
def test_kgs_rules(client, word, ko, scoring):
    client.ok("komi 6.5")
    assert client.ok(f"kgs-rules {word}") == ""
    assert (client.game.rules.ko, client.game.rules.scoring) == (ko, scoring) and client.ok("get_komi") == "6.5"


@pytest.mark.parametrize("line", ["kgs-rules", "kgs-rules ing", "kgs-rules chinese x", "kgs-rules {}"])
def test_other_kgs_rules_change_nothing(client, line):
    client.ok("kgs-rules japanese")
    assert client.error(line) in ("syntax error", "unknown rules")
    assert client.game.rules.scoring == "TERRITORY"


@pytest.mark.parametrize("line", ["kgs-game_over", "cgos-gameover B+3.5", "cgos-gameover B+Resign"])
def test_nothing_is_thought_after_the_game(make_client, line):
    client = make_client(ponder=True)
    client.ok("boardsize 9")
    client.ok("genmove b")
    searcher = client.controller.player._thinker._searcher
    deadline = time.monotonic() + 30
    while searcher.visits < 40 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert searcher.visits >= 40  # more than the move took
    assert client.ok(line) == ""
    found = searcher.visits
    time.sleep(0.2)
    assert searcher.visits == found and not client.controller.wants_to_ponder
    assert client.ok("genmove w")


def read_cgos(client, line):
    """Read a reply as CGOS's client does: line by line to an empty one; "play X" is the move, another line analysis."""
    client.send(line + "\n")
    move = analysis = None
    for text in client.reply().split("\n"):
        words = text[1:].strip() if text.startswith("=") else text.strip()
        assert not text.startswith("?")
        if words.startswith("play "):
            move = words.split(" ")[-1]
            break
        if words:
            analysis = words
    return move, analysis


@pytest.mark.parametrize(("color", "own"), [("b", "+"), ("w", "A")])
def test_cgos_analysis(make_client, color, own):
    client = make_client(Lopsided(), resign=False)
    client.ok("boardsize 9")
    move, line = read_cgos(client, f"cgos-genmove_analyze {color}")
    data = json.loads(line)
    assert " " not in re.sub(r'"pv":"[^"]*"', "", line) and list(data) == [
        "winrate", "score", "visits", "moves", "ownership"]  # fmt: skip
    assert data["winrate"] == pytest.approx(0.8 if color == "b" else 0.2)
    assert data["score"] == pytest.approx(10 if color == "b" else -10)
    assert data["ownership"] == own * 81 and data["visits"] == 20
    first = data["moves"][0]
    assert list(first) == ["move", "winrate", "score", "prior", "visits", "pv"]
    assert first["move"] == move == first["pv"].split(" ")[0]
    assert first["winrate"] == pytest.approx(data["winrate"], abs=0.01)
    assert client.game.position.n_moves == 1


def test_every_letter_of_an_ownership():
    import numpy as np

    from engine.gtp.cgos_text import ownership_letters

    assert ownership_letters(np.linspace(-1, 1, 63)) == LETTERS == "".join(dict.fromkeys(LETTERS))
    assert ownership_letters(np.array([-1.5, 0.0, 1.5])) == "Af+"


@pytest.mark.parametrize("line", ["kata-genmove_analyze w ownership true", "lz-genmove_analyze w 100000"])
def test_what_cgos_asks_of_other_engines(client, line):
    client.ok("boardsize 9")
    move, analysis = read_cgos(client, line)
    assert analysis.startswith("info move ") and re.fullmatch(r"[A-HJ][1-9]|pass", move)


def test_gomill(client):
    assert client.ok("gomill-explain_last_move") == ""
    client.ok("boardsize 9")
    move = client.ok("genmove b")
    text = client.ok("gomill-explain_last_move")
    assert re.fullmatch(rf"{move}: Black \d+\.\d %, (0|[BW]\+[\d.]+), 20 visits, expects {move}( \w+)*", text)
    client.ok("play w pass")
    assert client.ok("gomill-explain_last_move") == text
    client.ok("clear_board")
    assert client.ok("gomill-explain_last_move") == ""
    lines = client.ok("gomill-describe_engine").split("\n")
    assert lines[0] == "Keisei 1.20.0" and "20 visits" in lines[1]
    client.ok("kata-set-param maxVisits none")
    assert "clock" in client.ok("gomill-describe_engine")
    client.ok("kata-set-param level.rank 8.5k")
    lines = client.ok("gomill-describe_engine").split("\n")
    assert lines[:2] == ["Keisei 1.20.0, level 8.5k", "limit of a move: 32 visits"]
    client.ok("kata-set-param level.loss 2.5")
    assert client.ok("gomill-describe_engine").startswith("Keisei 1.20.0, giving away 2.5 points a move\n")


def test_a_resignation_is_explained_too(make_client):
    client = make_client(Lopsided(), resign_winrate=0.3, resign_moves=1)
    client.ok("boardsize 9")
    assert client.ok("genmove w") == "resign"
    assert client.ok("gomill-explain_last_move").startswith("resign: White 20.0 %, B+10, 20 visits")
    assert client.game.position.n_moves == 0


@pytest.mark.parametrize(
    ("words", "name", "version"),
    [
        ((), "Keisei", "1.20.0"),
        (("--mimic", "katago"), "KataGo", "1.15.3"),
        (("--mimic", "leela-zero"), "Leela Zero", "0.17"),
        (("--mimic", "katago", "--name", "Mine"), "Mine", "1.15.3"),
        (("--version", "0.99", "--mimic", "katago"), "KataGo", "0.99"),
    ],
)
def test_mimicry(start, words, name, version):
    client = start("--net", "fake:hash", *words)
    assert client.ok("name") == name and client.ok("version") == version
    client.ok("quit")


def test_mimicry_of_what_nobody_knows(python):
    import subprocess

    command, environment = python("-m", "engine", "gtp", "--mimic", "gnugo")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "gtp.mimic" in done.stderr and "katago" in done.stderr and done.stdout == ""


# What the schema of gtp2ogs 9.0.1 requires of each clock; it refuses to start over one key too few or too many.
GTP2OGS_CLOCKS = {
    "simple": {"per_move_time_range"},
    "byoyomi": {"main_time_range", "period_time_range", "periods_range"},
    "fischer": {"initial_time_range", "max_time_range", "time_increment_range"},
}


def test_the_configuration_for_ogs():
    text = (Path(__file__).parents[2] / "docs" / "servers" / "gtp2ogs.json5").read_text("utf-8")
    text = re.sub(r"(?m)(^|\s)//.*$", "", text)
    text = re.sub(r"(?m)([{,]\s*)(\w+):", r'\1"\2":', text)
    configuration = json.loads(re.sub(r",(\s*[}\]])", r"\1", text))
    live = configuration["allowed_live_settings"]
    assert {name: set(live[name]) for name in configuration["allowed_time_control_systems"]} == GTP2OGS_CLOCKS
    assert live["concurrent_games"] == 1
    for speed in ("rapid", "correspondence"):  # by default gtp2ogs plays 3 and 500 at a time, each with its own engine
        assert configuration[f"allowed_{speed}_settings"] is None
    assert configuration["bot"]["manager"] == "persistent" and "chinese-ogs" in configuration["bot"]["command"]
