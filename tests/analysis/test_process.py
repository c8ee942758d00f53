"""`keisei analysis` as a process: options, torn lines, floods, the end of the input, signals, closed streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import engine

PATIENCE = 120.0
ROOT = os.path.dirname(os.path.dirname(engine.__file__))
SMALL = {"boardXSize": 5, "maxVisits": 2}


@pytest.fixture
def start():
    """Return a function that starts `keisei analysis` over a test evaluator."""
    processes = []

    def run(*options, net="fake:hash", **words):
        command = [sys.executable, "-P", "-m", "engine", "analysis", *(["--net", net] if net else []), *options]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        environment = {**os.environ, "PYTHONPATH": ROOT}
        processes.append(subprocess.Popen(command, env=environment, **{**pipes, **words}))
        return processes[-1]

    yield run
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def talk(process, *queries):
    """Send queries, close the input, return (answers, errors, code)."""
    text = "".join(query if isinstance(query, str) else json.dumps(query) + "\n" for query in queries)
    out, err = process.communicate(text.encode(), timeout=PATIENCE)
    return [json.loads(line) for line in out.decode().splitlines()], err.decode(), process.returncode


def test_the_end_of_the_input_finishes_what_is_queued(start):
    answers, errors, code = talk(start(), *({**SMALL, "id": f"{n}"} for n in range(50)))
    assert code == 0 and sorted(int(a["id"]) for a in answers) == list(range(50))
    assert all(line.startswith("keisei: ") for line in errors.splitlines())


def test_a_last_line_without_its_end(start):
    answers, _, code = talk(start(), json.dumps({**SMALL, "id": "a"}) + "\n" + json.dumps({**SMALL, "id": "b"}))
    assert [a["id"] for a in answers] == ["a", "b"] and code == 0
    answers, _, code = talk(start(), '{"id": "a", "boardXS')
    assert "Could not parse" in answers[0]["error"] and len(answers) == 1 and code == 0


def test_quit_without_waiting(start):
    process = start("-quit-without-waiting")
    process.stdin.write(json.dumps({**SMALL, "boardXSize": 9, "id": "a", "maxVisits": 10**8}).encode() + b"\n")
    process.stdin.write(b'{"id": "v", "action": "query_version"}\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == "v"
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    assert process.stdout.read() == b""


def test_lines_torn_into_bytes_and_lines_glued_together(start):
    process = start()
    line = json.dumps({**SMALL, "id": "torn", "moves": [["B", "C3"]]}) + "\n"
    for piece in line[:60]:
        process.stdin.write(piece.encode())
        process.stdin.flush()
    process.stdin.write((line[60:] + line + line.rstrip("\n")).encode())
    process.stdin.flush()
    assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == ["torn"] * 2
    out, _ = process.communicate(b"\n", timeout=PATIENCE)
    assert json.loads(out)["id"] == "torn"


def test_ten_megabytes_and_bottomless_lines(start):
    wide = json.dumps({**SMALL, "id": "wide", "x": "y" * (10 << 20)}) + "\n"
    long_game = {**SMALL, "id": "long", "moves": [["B", "pass"], ["W", "pass"]] * 50_000}
    answers, _, code = talk(start(), wide, "[" * (1 << 20) + "\n", {"id": "n", "komi": float("nan")}, long_game)
    assert code == 0 and [a.get("field") for a in answers if "warning" in a] == ["x"]
    errors = [a["error"] for a in answers if "error" in a]
    assert len(errors) == 2 and all(error.startswith("Could not parse") for error in errors)
    assert {a["id"]: a["turnNumber"] for a in answers if "turnNumber" in a} == {"wide": 0, "long": 100_000}


def test_ten_thousand_queries_then_terminate_all(start):
    """Nobody reads the answers meanwhile, and still every query is taken."""
    process = start()
    huge = {"boardXSize": 9, "maxVisits": 1 << 50, "moves": [["B", "E5"]]}
    for n in range(10_000):
        process.stdin.write(json.dumps({**huge, "id": f"{n}"}).encode() + b"\n")
    process.stdin.write(b'{"id": "stop", "action": "terminate_all"}\n')
    out, _ = process.communicate(timeout=PATIENCE)
    answers = [json.loads(line) for line in out.splitlines()]
    ids = [answer["id"] for answer in answers if "action" not in answer]
    assert process.returncode == 0 and sorted(map(int, ids)) == list(range(10_000))


@pytest.mark.parametrize("action", [{"action": "terminate", "terminateId": "a"}, {"action": "terminate_all"}])
def test_a_search_without_end_on_a_board_where_no_tree_can_grow_ends_when_told(start, action):
    process = start()
    query = {"id": "a", "boardXSize": 2, "komi": 1, "maxVisits": 10**400, "reportDuringSearchEvery": 0.05}
    process.stdin.write(json.dumps(query).encode() + b"\n")
    process.stdin.flush()
    while json.loads(process.stdout.readline())["rootInfo"]["visits"] < 2000:
        pass
    out, _ = process.communicate(json.dumps({"id": "t", **action}).encode() + b"\n", timeout=PATIENCE)
    answers = [json.loads(line) for line in out.splitlines()]
    assert answers[-1]["id"] == "a" and not answers[-1]["isDuringSearch"] and process.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
def test_sigterm_in_the_middle(start):
    process = start()
    process.stdin.write(
        json.dumps({"boardXSize": 9, "id": "a", "maxVisits": 10**8, "reportDuringSearchEvery": 0.05}).encode() + b"\n"
    )
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["isDuringSearch"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    tail = process.stdout.read()
    assert not tail or tail.endswith(b"\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes differ")
@pytest.mark.parametrize("busy", [True, False])
def test_closed_output(start, busy):
    """Whether something is being searched or not: once nobody reads, the process ends without a word."""
    process = start()
    process.stdin.write(b'{"id": "v", "action": "query_version"}\n')
    if busy:
        process.stdin.write(json.dumps({"boardXSize": 9, "id": "a", "maxVisits": 10**8}).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    assert b"Traceback" not in process.stderr.read()


def test_an_error_does_not_wait_behind_a_search(start):
    process = start()
    process.stdin.write(json.dumps({"boardXSize": 9, "id": "a", "maxVisits": 10**8}).encode() + b"\n")
    process.stdin.flush()
    time.sleep(0.2)
    process.stdin.write(json.dumps({"boardXSize": 9, "id": "b", "moves": [["B", "E5"], ["W", "E5"]]}).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline()) == {
        "error": "Illegal move 1: E5 (occupied)",
        "field": "moves",
        "id": "b",
    }


CFG = """
# as KataGo's own files are written
logDir = analysis_logs   # nothing here
numAnalysisThreads = 2
nnMaxBatchSize = 64
cudaUseFP16 = auto
reportAnalysisWinratesAs = WHITE
maxVisits = 3
wideRootNoise = 0.02
"""


def test_options_as_clients_pass_them(start, tmp_path):
    cfg = tmp_path / "a.cfg"
    cfg.write_text(CFG)
    process = start("-model", "fake:hash", "-config", str(cfg), "-override-config", "homeDataDir=/x,maxVisits=5",
                    "-quit-without-waiting", "-analysis-threads", "4", net=None)  # fmt: skip
    process.stdin.write(b'{"id": "a", "boardXSize": 5}\n')
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["rootInfo"]["visits"] == 5
    _, errors = process.communicate(timeout=PATIENCE)
    assert b"passed over" not in errors


def test_unknown_keys_of_a_file_are_told_once(start, tmp_path):
    cfg = tmp_path / "a.cfg"
    cfg.write_text(CFG + "frobnicate = 3\nquux = 5\n@include b.cfg\n")
    (tmp_path / "b.cfg").write_text("quux = 6\nanalysisPVLen = 1\n")
    answers, errors, code = talk(start("-config", str(cfg)), {**SMALL, "id": "a", "maxVisits": 20})
    lines = [line for line in errors.splitlines() if "passed over" in line]
    assert lines == ["keisei: no such settings here, passed over: frobnicate, quux"] and code == 0
    assert max(len(info["pv"]) for info in answers[0]["moveInfos"]) == 2


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["-config", "/nowhere.cfg"], "cannot read /nowhere.cfg"),
        (["-override-config", "maxVisits"], "not KEY=VALUE"),
        (["-override-config", "maxVisits=many"], "player.visits = many"),
        (["-override-config", "wideRootNoise=99"], "wide_root_noise = 99"),
        (["--frobnicate"], "unrecognized arguments"),
    ],
)
def test_wrong_options(start, options, word):
    process = start(*options)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2 and out == b"" and word in errors.decode() and errors.count(b"\n") == 1


def test_a_broken_file(start, tmp_path):
    cfg = tmp_path / "a.cfg"
    cfg.write_text("maxVisits = 3\nthis is no setting\n")
    _, errors = start("-config", str(cfg)).communicate(timeout=PATIENCE)
    assert b"a.cfg, line 2" in errors
    loop = tmp_path / "loop.cfg"
    loop.write_text("@include loop.cfg\n")
    _, errors = start("-config", str(loop)).communicate(timeout=PATIENCE)
    assert b"too deeply" in errors


def test_a_toml_file_of_ours(start, tmp_path):
    file = tmp_path / "a.toml"
    file.write_text('[analysis]\nversion = "9.8.7"\nvisits = 6\n')
    answers, _, _ = talk(
        start("-config", str(file)), {"id": "v", "action": "query_version"}, {"id": "a", "boardXSize": 5}
    )
    assert answers[0]["version"] == "9.8.7" and answers[1]["rootInfo"]["visits"] == 6


def test_a_net_that_is_not_there(start):
    process = start(net="nonet")
    process.stdin.write(json.dumps({**SMALL, "id": "a"}).encode() + b"\n")
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and out == b"" and b"nonet" in errors


def test_the_same_seed_gives_the_same_answers(start):
    queries = [{"boardXSize": 7, "maxVisits": 30, "id": f"{n}"} for n in range(5)]
    one, two = (talk(start("--seed", "5"), *queries)[0] for _ in range(2))
    assert one == two
