"""Leela Zero files, written by the test's own writer, against a numpy pass that counts rows from the bottom."""

import leelazero_oracle
import numpy as np
import pytest

from engine.board.planes import encode_position
from engine.board.position import BLACK, WHITE, Position
from engine.board.vertex import parse_vertex
from engine.errors import UnsupportedBoardSize, WeightsError
from engine.nn.net import load_net
from engine.nn.net_evaluator import make_evaluator
from engine.nn.settings import NetSettings

SETTINGS = NetSettings(device="cpu", precision="float32", threads=1)
MOVES = ["Q16", "D3", "C17", "Q4", "R14", "K10", "pass", "F3", "T1", "A1"]


@pytest.fixture(scope="module")
def rows():
    return leelazero_oracle.random_net(seed=4, blocks=1, channels=4)


def position(n_moves):
    board = Position(19, rules="tromp-taylor", komi=7.5)
    for i, vertex in enumerate(MOVES[:n_moves]):
        board.play(parse_vertex(vertex, 19, 19), BLACK if i % 2 == 0 else WHITE)
    return board


@pytest.mark.parametrize(("version", "name"), [(1, "lz.txt.gz"), (2, "elf.txt")])
def test_against_numpy(tmp_path, rows, version, name):
    path = tmp_path / name
    leelazero_oracle.write_net(rows, path, version)
    net = load_net(path)
    assert (net.description.format, net.description.version) == ("leela-zero", version)
    assert (net.description.blocks, net.description.channels) == (1, 4)
    evaluator = make_evaluator(net, SETTINGS)
    values = []
    for n_moves in (9, 10):  # white, then black to move
        spatial, globals_ = encode_position(position(n_moves), "leelazero-18")
        found = evaluator.evaluate(spatial[None], globals_[None], ownership=True)
        logits, value = leelazero_oracle.forward(rows, spatial[:, ::-1].astype(np.float64), version)
        board = np.append(logits[:361].reshape(19, 19)[::-1].ravel(), logits[361])
        np.testing.assert_allclose(found.policy_logits[0], board, atol=1e-4)
        np.testing.assert_allclose(found.value[0], value, atol=1e-5)
        assert found.ownership is None and found.lead is None and found.no_result[0] == 0
        values.append(value)
    assert abs(values[0]) > 1e-3  # a side that was mixed up would show


def test_versions_differ_in_whose_value_it_is(tmp_path, rows):
    answers = {}
    for version in (1, 2):
        path = tmp_path / f"v{version}.txt"
        leelazero_oracle.write_net(rows, path, version)
        evaluator = make_evaluator(load_net(path), SETTINGS)
        for n_moves in (9, 10):
            spatial, globals_ = encode_position(position(n_moves), "leelazero-18")
            answers[version, n_moves] = float(evaluator.evaluate(spatial[None], globals_[None]).value[0])
    assert answers[1, 9] != 0 and answers[1, 9] == pytest.approx(-answers[2, 9], abs=1e-6)
    assert answers[1, 10] == pytest.approx(answers[2, 10], abs=1e-6)


def test_only_19(tmp_path, rows):
    path = tmp_path / "lz.txt"
    leelazero_oracle.write_net(rows, path, 1)
    evaluator = make_evaluator(load_net(path), SETTINGS)
    assert evaluator.supports_size(19, 19) and not evaluator.supports_size(9, 9)
    with pytest.raises(UnsupportedBoardSize):
        evaluator.evaluate(*evaluator.allocate(1, 13, 13))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.pop(), "lines"),
        (lambda r: r.append(r[0]), "lines"),
        (lambda r: r.__setitem__(0, r[0][:-1]), "line 2 .*instead of"),
        (lambda r: r.__setitem__(17, r[17][1:]), "line 19"),
        (lambda r: r[6].__setitem__(2, np.nan), "finite"),
        (lambda r: r[3].__setitem__(0, -1.0), "variance"),
        (lambda r: r.clear(), "lines"),
    ],
)
def test_damage_is_named(tmp_path, rows, change, words):
    rows = [row.copy() for row in rows]
    change(rows)
    path = tmp_path / "broken.txt.gz"
    leelazero_oracle.write_net(rows, path, 1)
    with pytest.raises(WeightsError, match=words) as caught:
        load_net(path)
    assert "broken.txt.gz" in str(caught.value)
