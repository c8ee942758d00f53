"""Keisei in the process of the match: the same moves as over GTP, shared batches, and nothing that hangs."""

import shlex
import sys
import threading
import time

import pytest

from engine import factory, sgf
from engine.errors import ConfigError, EngineError
from engine.evaluator_fakes import HashEvaluator
from engine.match.cli import main
from engine.match.engine_slot import EngineSlot
from engine.match.gtp_client import EngineFailed, GtpError
from engine.match.local import LocalSlot, NetPool, parse_local
from engine.match.words import ask_move, describe, last_lines
from engine.nn.settings import NetSettings
from engine.player.net import LoadedNet


def test_commands():
    assert parse_local("keisei:")[0] is None
    net, settings = parse_local("keisei:some.bin.gz@12 --set search.cpuct=1.5 --seed 3")
    assert (net, settings.player.visits, settings.search.cpuct, settings.player.seed) == ("some.bin.gz", 12, 1.5, 3)
    assert parse_local("keisei:@7")[0] is None and parse_local("keisei:@7")[1].player.visits == 7
    assert parse_local("keisei:--net x --visits 5")[0] == "x"
    for wrong in ("keisei:x --nonsense", "keisei:x --set search.cpukt=1", "keisei:x@many", "keisei:'x"):
        with pytest.raises(ConfigError):
            parse_local(wrong)
    for mimicry in ("--mimic katago", "--set gtp.mimic=katago"):
        with pytest.raises(ConfigError, match=r"list_commands.*\(--name gives"):
            parse_local(f"keisei:@1 {mimicry}")


def slot(command, pool=None, timeout=30.0):
    made = LocalSlot("A", command, timeout, pool or NetPool())
    made.start()
    return made


def test_a_player_that_is_dropped_thinks_no_more():
    """It went on until its time was up, beside the player that had taken its place."""
    engine = slot("keisei:fake:hash --visits 1000000000")
    controller, failed = engine._controller, []

    def think():
        try:
            engine.send("genmove b")
        except EngineFailed as error:
            failed.append(error)

    before = controller.token
    thread = threading.Thread(target=think)
    thread.start()
    while controller.token is before:
        thread.join(0.01)
    engine.drop()
    thread.join(20)
    assert not thread.is_alive() and len(failed) == 1
    engine.start()
    assert engine.send("name")
    engine.close()


def test_answers_as_a_process_does():
    """One seed, one net, one line of commands: the same replies from both."""
    words = ["--visits", "20", "--seed", "5", "--set", "search.batch_size=1", "--set", "search.two_batches=false"]
    arguments = ["gtp", "--net", "fake:hash", *words]
    script = f"import sys; from engine.cli import main; sys.exit(main({arguments!r}))"
    process = EngineSlot("B", shlex.join([sys.executable, "-P", "-c", script]), 60.0)
    process.start()
    local = slot("keisei:fake:hash " + " ".join(words))
    assert local.commands == process.commands
    commands = ["boardsize 7", "clear_board", "kata-set-rules chinese", "komi 6", "play b d4", "genmove w", "genmove b",
                "kata-genmove_analyze w 100000000", "kata-set-param maxVisits 3", "genmove b", "genmove w",
                "final_score", "showboard", "get_komi"]  # fmt: skip
    for command in commands:
        assert local.send(command) == process.send(command), command
    for command in ("nonsense", "play b d4", "boardsize 99", "komi x", "play b z44"):
        messages = []
        for one in (local, process):
            with pytest.raises(GtpError) as error:
                one.send(command)
            messages.append(str(error.value))
        assert messages[0] == messages[1]
    process.close()
    local.close()
    with pytest.raises(EngineFailed):
        local.start()


def test_a_net_that_is_not_there():
    with pytest.raises(EngineFailed, match=r"cannot.*no/such") as error:
        slot("keisei:/no/such.bin.gz")
    assert error.value.reason == "start"


class SlowEvaluator(HashEvaluator):
    """Takes its time, and counts."""

    batches: list

    def evaluate(self, spatial, globals_, *, ownership=False):
        time.sleep(0.02)
        self.batches.append(len(spatial))
        return super().evaluate(spatial, globals_, ownership=ownership)


class Pool(NetPool):
    def __init__(self, evaluator):
        super().__init__()
        self.evaluator = evaluator

    def get(self, net, settings):
        loaded = super().get(net, settings)
        return type(loaded)(self.evaluator, loaded.name)


def test_late_replies_and_aborts_end_soon():
    inner = SlowEvaluator()
    inner.batches = []
    late = slot("keisei:fake:hash@100000", Pool(inner), timeout=0.3)
    late.send("boardsize 9")
    started = time.monotonic()
    with pytest.raises(EngineFailed) as error:
        late.send("genmove b")
    assert error.value.reason == "timeout"
    aborted = slot("keisei:fake:hash@100000", Pool(inner), timeout=60)
    threading.Timer(0.3, aborted.abort).start()
    with pytest.raises(EngineFailed, match="over"):
        aborted.send("genmove b")
    assert time.monotonic() - started < 20


def test_players_share_a_net_and_keep_its_properties(monkeypatch):
    loads = []

    def load(net, settings, *, playing):
        assert playing
        loads.append(net)
        inner = HashEvaluator()
        inner.max_batch, inner.preferred_batch, inner.policy_only = 16, 8, net == "moves"
        return LoadedNet(inner, str(net), frozenset({(9, 9)}))

    monkeypatch.setattr(factory, "load", load)
    pool = NetPool(4)
    plain, other = NetSettings(), NetSettings(threads=1)
    first, second = pool.get("x", plain), pool.get("x", plain)
    assert loads == ["x"] and first.evaluator is not second.evaluator and first.name == "x"
    assert first.trained_sizes == frozenset({(9, 9)})
    assert first.evaluator.preferred_batch == 4 and not first.evaluator.policy_only
    assert pool.get("moves", plain).evaluator.policy_only
    pool.get("x", other)
    assert loads == ["x", "moves", "x"]
    inputs = first.evaluator.allocate(1, 5, 5)
    assert first.evaluator.evaluate(*inputs).value == second.evaluator.evaluate(*inputs).value
    pool.close()
    with pytest.raises(EngineError, match="closed"):
        first.evaluator.evaluate(*inputs)


def test_a_match_in_one_process(tmp_path, capsys):
    engines = ["many=keisei:fake:hash@16", "few=keisei:fake:hash@2", "uniform=keisei:fake:uniform@2"]
    out = tmp_path / "out"
    arguments = [*engines, "--games", "4", "--size", "5", "--jobs", "4", "--out", str(out)]
    assert main([*arguments, "--referee", "keisei:fake:hash"]) == 0
    captured = capsys.readouterr()
    assert "many - few" in captured.out and "12/12" in captured.err and "| 3 | " in captured.out
    record = sgf.read(out / "games" / "0000.sgf")
    assert record.black.startswith("many: Keisei") and len(record.moves) > 4
    assert "winrate" in record.comments[5] and record.comments[5].startswith("many, ")
    assert sorted(record.comments) == [0, *range(5, len(record.moves) + 1)]


def test_words_of_engines():
    line = ("info move Q16 visits 12 winrate 0.5312 scoreMean 1.25 scoreLead 1.3 prior 0.3 order 0 pv Q16 D4 pass "
            "info move D4 visits 3 winrate 0.1 scoreLead 9 pv D4")  # fmt: skip
    assert describe(line) == "winrate 53.1 %, lead +1.3, 12 visits on it, Q16 D4 pass"
    assert describe("info move Q16 visits 0 winrate 0.5 pv Q16") == "winrate 50.0 %, Q16"
    assert describe("info move Q16 visits x winrate y") == "" and describe("") == ""
    assert last_lines("a\n\n = 1\nb  c\nd\n" + "e" * 999).splitlines() == ["b c", "d", "e" * 160]


def test_standard_error_becomes_a_comment(tmp_path):
    script = (
        "import sys\nfor line in sys.stdin:\n"
        " if line.startswith('genmove'): print('thinking of ' + line.strip(), file=sys.stderr, flush=True)\n"
        " print('= D4\\n', flush=True)"
    )
    engine = EngineSlot("A", shlex.join([sys.executable, "-S", "-c", script]), 20.0, tmp_path / "log")
    engine.start()
    assert ask_move(engine, "B").text == "thinking of genmove B"
    assert ask_move(engine, "W").text == "thinking of genmove W"
    assert ask_move(engine, "W", comments=False).text == ""
    if sys.platform == "linux":
        assert engine.cpu_seconds() >= 0
    engine.close()
    assert engine.cpu_seconds() is None


def test_a_net_says_once_that_it_was_not_trained_on_a_size(caplog):
    pool = NetPool()
    players = [slot("keisei:@1", pool), slot("keisei:@2", pool)]
    for player in players:
        for command in ("boardsize 6", "clear_board", "genmove b"):
            player.send(command)
        player.close()
    pool.close()
    assert caplog.text.count("was not trained on 6x6") == 1
