"""`keisei cgos` against a server of our own on a real socket."""

import contextlib
import json
import os
import signal
import socket
import threading

import pytest
from cgos_server import CgosServer

from engine import sgf
from engine.errors import ConfigError
from engine.lines import MAX_LINE
from engine.match import cgos_game
from engine.match.cgos import _interrupts, main
from engine.match.cgos_client import CgosClient
from engine.match.cgos_line import Account, Disconnected, Line, Refused
from engine.match.cgos_text import CgosError, analysis_json, parse_setup
from engine.match.engine_slot import EngineSlot
from engine.match.engines import Engine, make_slot
from engine.match.gtp_client import GtpProcess
from engine.match.local import NetPool


@pytest.fixture
def play(mock, tmp_path):
    """Return a function: plays an engine on a server, and returns the client when all games are over."""

    def run(server, *options, command=None, games=1, reserve=0.2, password="secret"):
        nets = NetPool()
        slot = make_slot(Engine("engine", command or mock(*options)), timeout=20, log=tmp_path / "log", nets=nets)
        server.start()
        account = Account("127.0.0.1", server.port, "tester", password)
        client = CgosClient(account, slot, folder=tmp_path / "games", games=games, reserve=reserve, pause=0.05)
        try:
            client.run()
        finally:
            slot.close()
            nets.close()
        server.join(10)
        assert server.fault is None
        return client

    return run


@pytest.mark.parametrize("color", ["w", "b"])
def test_a_game_is_played_to_its_end_and_kept(play, tmp_path, color, caplog):
    server = CgosServer(player_is=color, plies=4)
    caplog.set_level("INFO")
    client = play(server)
    assert "logging in, then waiting for a game" in caplog.messages[0]  # which may be long
    assert client.finished == server.results == ["W+3.5"]
    assert server.said[-1] == "quit"
    (path,) = (tmp_path / "games").glob("*.sgf")
    record = sgf.read(path)
    assert list(record.moves) == server.positions[0].moves
    assert (record.result, record.komi) == ("W+3.5", 7.5)
    assert ("tester" in record.white) == (color == "w")


def test_lines_in_pieces_of_any_size():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        line = Line(Account("127.0.0.1", listener.getsockname()[1], "tester", "secret"))
        server, _ = listener.accept()
        with server:
            server.sendall(b"info a\r\n\ninfo b\ninf")
            assert [line.read(lambda: False) for _ in range(3)] == ["info a", "", "info b"]
            assert line.read(lambda: True) is None
            server.sendall("o \u00e9\n".encode())
            assert line.read(lambda: False) == "info \u00e9"
        with pytest.raises(Disconnected, match="closed"):
            line.read(lambda: False)
        line.close()


@pytest.mark.parametrize("end", [b"\n", b""])
def test_an_endless_line_is_refused(end):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        line = Line(Account("127.0.0.1", listener.getsockname()[1], "tester", "secret"))
        server, _ = listener.accept()

        def flood():
            with contextlib.suppress(OSError):
                server.sendall(b"x" * (MAX_LINE + 2) + end)

        with server:
            sending = threading.Thread(target=flood)
            sending.start()
            with pytest.raises(Disconnected, match="more than 1 MiB"):
                line.read(lambda: False)
            line.close()
            sending.join()


def test_several_games_in_one_session(play, tmp_path):
    server = CgosServer(games=3, plies=2)
    assert len(play(server, games=3).finished) == 3
    assert server.connections == 1
    assert len(list((tmp_path / "games").glob("*.sgf"))) == 3


def test_a_game_goes_on_after_a_lost_connection(play):
    server = CgosServer(drop_after=[3, 7], plies=6)
    client = play(server)
    assert server.connections == 3
    assert client.finished == ["W+3.5"]


def test_a_slow_engine_does_not_lose_on_time(play):
    server = CgosServer(milliseconds=8000, plies=4)
    play(server, "--slow", 30, reserve=0.3)
    assert server.results[0] in ("W+3.5", "B+3.5")  # decided on the board
    assert "Time" not in server.results[0]


def test_an_engine_that_hangs_over_a_move_of_the_opponents_does_not_lose_on_time(play, monkeypatch):
    """It was waited for as long as there was time left."""
    monkeypatch.setattr(cgos_game, "TOLD", 0.5)
    server = CgosServer(milliseconds=8000, plies=6)
    play(server, "--fault", "deaf", "--at", 1, reserve=0.3)
    assert server.results[0] in ("W+3.5", "B+3.5")  # decided on the board


@pytest.mark.parametrize("fault", ["crash", "illegal", "nonsense", "offboard"])
def test_a_failing_engine_is_replaced_for_that_move(play, fault):
    server = CgosServer(plies=4)
    assert play(server, "--fault", fault, "--at", 1).finished == ["W+3.5"]


def test_a_resignation_is_passed_on(play, tmp_path):
    server = CgosServer(plies=6)
    assert play(server, "--fault", "resign", "--at", 2).finished == ["B+Resign"]
    assert sgf.read(next((tmp_path / "games").glob("*.sgf"))).result == "B+R"


def test_figures_are_sent_with_the_moves(play):
    server = CgosServer(plies=4)
    play(server, command="keisei:fake:hash --visits 8 --set player.resign=false")
    figures = json.loads(server.figures[0])
    assert figures["visits"] > 0 and 0 <= figures["winrate"] <= 1
    assert figures["moves"][0]["move"]


def test_a_wrong_password_is_final(play):
    with pytest.raises(Refused, match="password"):
        play(CgosServer(password="another"))


def test_noise_is_survived(play):
    server = CgosServer(noise=["info hello", "", "fandango 1 2 3", "\x00\x01", "play", "genmove"], plies=2)
    assert play(server).finished == ["W+3.5"]


def test_stop_ends_before_the_next_game(mock, tmp_path):
    server = CgosServer(games=2, plies=2)
    server.start()
    slot = make_slot(Engine("engine", mock("--slow", 0.3)), timeout=20, log=tmp_path / "log", nets=NetPool())
    client = CgosClient(Account("127.0.0.1", server.port, "tester", "secret"), slot, pause=0.05)
    thread = threading.Thread(target=client.run)
    thread.start()
    while not server.moves and not server.results:
        thread.join(0.05)
    client.stop.set()
    thread.join(20)
    assert not thread.is_alive()
    assert len(client.finished) == 1
    slot.close()


def test_setup_with_analysis_among_its_moves():
    figures = '{"winrate":0.5,"moves":[{"move":"C3","pv":"D4 C3"}]}'
    setup = parse_setup(f"12 9 7.0 300000 a(1500?) b-c(2000) E5 {figures} 290000 pass 280000 D4 1000")
    assert setup.moves == (("E5", 290000), ("pass", 280000), ("D4", 1000))
    assert (setup.white, setup.white_rating, setup.black, setup.komi, setup.size) == ("a", "1500?", "b-c", 7.0, 9)


@pytest.mark.parametrize(
    "text", ["", "1 9 7.0", "1 nine 7.0 3000 a b", "1 9 7.0 3000 a( b", "../x 9 7 3000 a b", "1 99 7 3 a b"]
)
def test_a_broken_setup_is_an_error(text):
    with pytest.raises(CgosError):
        parse_setup(text)


def test_analysis_is_rewritten():
    line = "info move Q16 visits 10 winrate 0.51 scoreLead 1.25 prior 0.3 order 0 pv Q16 D4 "
    line += "info move D4 visits 2 winrate 0.4 pv D4"
    found = json.loads(analysis_json(line))
    assert found["visits"] == 12 and found["score"] == 1.25
    assert found["moves"][0] == {"move": "Q16", "visits": 10, "winrate": 0.51, "score": 1.25, "prior": 0.3, "pv": "D4"}
    assert analysis_json("info nothing") == ""


@pytest.mark.parametrize("words", [["--server", "x"], ["--server", "x:0"], ["--server", "x:1", "--name", "a b"]])
def test_wrong_options(words, monkeypatch):
    monkeypatch.setenv("KEISEI_CGOS_PASSWORD", "secret")
    name = [] if "--name" in words else ["--name", "tester"]
    with pytest.raises(ConfigError):
        main([*words, *name])


@pytest.mark.parametrize("plays, said", [(False, "ending"), (True, "ending after the game in progress")])
def test_ctrl_c_says_what_is_waited_for(plays, said, caplog):
    stop = threading.Event()
    with _interrupts(stop, lambda: plays):
        signal.raise_signal(signal.SIGINT)
    assert stop.is_set() and caplog.messages[0].split(";")[0] == said


def test_a_folder_that_cannot_be_made_is_found_out_before_a_game_begins(tmp_path, monkeypatch):
    monkeypatch.setenv("KEISEI_CGOS_PASSWORD", "secret")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot make"):
        main(["--server", "127.0.0.1:1", "--name", "tester", "--out", str(tmp_path / "file" / "games")])


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_a_second_ctrl_c_does_not_ask_a_thinking_engine_to_quit(mock, monkeypatch):
    """It waited for the answer to `quit` and then for the engine's end."""
    monkeypatch.setenv("KEISEI_CGOS_PASSWORD", "secret")
    closed, send, ended = [], EngineSlot.send, threading.Event()

    def press_again():
        """An interrupt that comes while Python runs a finalizer is lost."""
        while not ended.wait(0.2):
            os.kill(os.getpid(), signal.SIGINT)

    def interrupt(slot, command):
        if command.startswith("genmove"):
            os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=press_again, daemon=True).start()
        return send(slot, command)

    def abort(slot, kill=EngineSlot.abort):
        ended.set()
        kill(slot)

    monkeypatch.setattr(EngineSlot, "send", interrupt)
    monkeypatch.setattr(EngineSlot, "abort", abort)
    monkeypatch.setattr(GtpProcess, "close", lambda process: closed.append(process))
    server = CgosServer(milliseconds=600_000)
    server.start()
    engine = mock("--fault", "hang", "--at", 1)
    try:
        with pytest.raises(KeyboardInterrupt):
            main(["--server", f"127.0.0.1:{server.port}", "--name", "tester", "--engine", engine])
    finally:
        ended.set()
    assert not closed
