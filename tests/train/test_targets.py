"""Targets of every code: stored, read back, turned; folders of different targets and formats in one run."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from teacher_fake import HEADER, run_label, some_samples, workers

from engine.board.planes import encode_position
from engine.board.position import Position
from engine.board.symmetry import symmetry_table
from engine.errors import ConfigError
from engine.train import plane_store
from engine.train.dataset import Loader, make_batch
from engine.train.kinds import make_kind
from engine.train.label import label, plan_header
from engine.train.plane_store import PlaneCodes, load_planes, store_planes
from engine.train.recipe import LabelPlan, Recipe, TrainPlan
from engine.train.records import Game, parse_margin
from engine.train.run import Run
from engine.train.samples import Sample, SamplePlan
from engine.train.shards import MANIFEST, Header, ShardError, ShardFolder, ShardWriter, make_header
from engine.train.targets import RECORD_TARGETS, TARGETS, TEACHER_TARGETS, pack_points, pack_policy

ALL = make_header("katago-v7", list(TARGETS), next_moves=3)


def some_records(count=16, size=5, header=ALL):
    rng = np.random.default_rng(3)
    records, area = header.empty(size, count), size * size
    for name in header.targets:
        code = TARGETS[name].code
        if code == "policy":
            records[name] = pack_policy(rng.dirichlet(np.ones(area + 1), count))
        elif code == "points":
            records[name] = pack_points(rng.uniform(-1, 1, (count, area)))
            records[name][:, 0] = -128
        elif code == "classes":
            records[name] = rng.integers(0, 4, (count, area))
        elif code in ("action", "actions"):
            records[name] = rng.integers(-1, area + 1, records[name].shape)
        else:
            records[name] = rng.integers(-1, 2, count)
    return records


@pytest.mark.parametrize("symmetry", range(8))
def test_every_target_turns_with_the_board(symmetry):
    records = some_records()
    plain, turned = (make_batch(records, ALL, 5, [s]).targets for s in (0, symmetry))
    table = symmetry_table(5, 5, symmetry)
    assert set(plain) == set(TARGETS)
    for name, before in plain.items():
        after, code = turned[name], TARGETS[name].code
        assert before.shape == after.shape and before.dtype == after.dtype
        if code in ("policy", "points", "classes"):
            for action in range(before.shape[1]):
                torch.testing.assert_close(after[:, table[action]], before[:, action], equal_nan=True)
        elif code in ("action", "actions"):
            expected = [table[a] if a >= 0 else -1 for a in before.flatten().tolist()]
            assert after.flatten().tolist() == expected
        else:
            torch.testing.assert_close(after, before)


def test_unknown_targets_are_unknown_when_read():
    batch = make_batch(ALL.empty(5, 2), ALL, 5, [6])
    for name, values in batch.targets.items():
        code = TARGETS[name].code
        if code in ("points", "number"):
            assert values.isnan().all(), name
        elif code in ("classes", "action", "actions"):
            assert (values == -1).all(), name
        else:
            assert (values == 0).all(), name


def test_a_folder_of_format_1_is_read_and_continued(tmp_path):
    samples = some_samples(40)
    run_label(tmp_path, samples[:20])
    lines = (tmp_path / MANIFEST).read_text().splitlines()
    old = {"format": "keisei-shards-1", "encoding": "katago-v7", "spatial": 22, "global_": 19}
    lines[0] = json.dumps({**old, "teacher": "nobody", "plan": {}})
    (tmp_path / MANIFEST).write_text("\n".join(lines) + "\n")
    folder = ShardFolder(tmp_path)
    assert folder.header == HEADER and folder.header.targets == TEACHER_TARGETS
    run_label(tmp_path, samples)
    folder.refresh()
    assert sum(len(folder.open(entry["name"])) for entry in folder.entries) == 40


def test_the_layout_of_format_1_has_not_moved():
    names = ["planes", "globals", *TEACHER_TARGETS, "ply", "game", "kind"]
    kinds = ["u1", "f4", "u1", "i1", "f2", "f2", "f2", "f2", "f2", "i2", "i1", "u2", "u8", "u1"]
    dtype = HEADER.record_type(9)
    assert list(dtype.names) == names
    assert [dtype[name].base.str[1:] for name in names] == kinds


def test_folders_of_different_targets_train_together(tmp_path):
    run_label(tmp_path / "taught", some_samples(60))
    records = Header("katago-v7", 22, 19, "", {}, RECORD_TARGETS, 2)
    label(
        workers(records, teacher=False),
        records,
        iter(some_samples(60, seed=1)),
        tmp_path / "records",
        batch=4,
        part="0/1",
    )
    loader = Loader([tmp_path / "taught", tmp_path / "records"], 32, {9: 1.0})
    batch = next(loader)
    taught = batch.targets["policy"].sum(1) > 0
    assert 5 < taught.sum() < 27
    assert batch.targets["value"][~taught].isnan().all() and not batch.targets["value"][taught].isnan().any()
    assert (batch.targets["next"][taught] == -1).all() and (batch.targets["next"][~taught, 0] >= 0).any()
    net = {"blocks": 1, "channels": 8, "head_channels": 8, "value_channels": 8}
    plan = TrainPlan(steps=3, batch=16, shares={"9": 1.0})
    run = Run(Recipe("mixed", SamplePlan(()), net, {}, plan), loader, tmp_path / "run")
    for _ in range(3):
        assert all(np.isfinite(float(value)) for value in run.train_step().values())
    assert all(np.isfinite(value) for value in run.validate().get("9", {}).values())
    with pytest.raises(ShardError, match="different encodings"):
        other = make_header("alphagozero-17", ["next"])
        ShardWriter(tmp_path / "other", other, 9)
        Loader([tmp_path / "taught", tmp_path / "other"], 32, {9: 1.0})


def test_planes_with_other_values_are_kept_exactly(monkeypatch):
    levels = np.array([0.0, 0.3, 0.1], np.float32)
    codes = PlaneCodes(constant=(4,), levels={1: lambda: levels}, exact=(2,))
    monkeypatch.setitem(plane_store.PLANE_CODES, "alphagozero-17", codes)
    plane_store.constant_planes.cache_clear()
    planes = (np.random.default_rng(0).random((5, 17, 9, 9)) < 0.2).astype(np.float32)
    planes[:, 1] = np.random.default_rng(1).choice(levels, (5, 9, 9))
    planes[:, 2] = np.random.default_rng(2).normal(size=(5, 9, 9))
    planes[:, 4] = 0
    header = make_header("alphagozero-17", ["search_policy", "z"])
    records = header.empty(9, 5)
    store_planes(records, "alphagozero-17", planes)
    back = load_planes(records, "alphagozero-17", 17, 9)
    assert back.reshape(planes.shape).tobytes() == planes.tobytes()
    for plane, value in ((1, 0.2), (4, 1.0), (0, 0.5)):
        wrong = planes.copy()
        wrong[2, plane, 3, 3] = value
        with pytest.raises(ShardError):
            store_planes(header.empty(9, 5), "alphagozero-17", wrong)
    plane_store.constant_planes.cache_clear()


@pytest.mark.parametrize("encoding", ["katago-v7", "alphagozero-17", "leelazero-18", "darkforest-25"])
def test_every_encoding_is_stored_as_the_play_code_makes_it(encoding):
    from engine.evaluator import ENCODING_SHAPES

    if encoding not in ENCODING_SHAPES:
        pytest.skip(f"there is no encoding {encoding} here")
    header = make_header(encoding, ["result"])
    rng = np.random.default_rng(5)
    for size in (9, 13, 19):
        position, made = Position(size), []
        for _ in range(60):
            legal = position.legal_mask()[:-1].nonzero()[0]
            position.play(int(rng.choice(legal)))
            made.append(encode_position(position, encoding)[0])
        planes = np.stack(made)
        records = header.empty(size, len(planes))
        store_planes(records, encoding, planes)
        back = load_planes(records, encoding, header.spatial, size)
        assert back.astype(np.float32).reshape(planes.shape).tobytes() == planes.tobytes()


def test_records_alone_say_next_moves_result_score_and_owners(tmp_path):
    owners = "B" * 40 + "." + "W" * 40
    game = Game(9, "eedddeedccgg", komi=7.0, rules="Chinese", result=2, by_points=True, margin=-7.0, ownership=owners)
    plain = Sample(game, 1, 0, False, "chinese", 6.5, 0)
    samples = [
        plain,
        dataclasses.replace(plain, ply=5),
        dataclasses.replace(plain, astray=2),
        dataclasses.replace(plain, rules="japanese"),
        dataclasses.replace(plain, komi=40.0),
    ]
    header = Header("katago-v7", 22, 19, "", {}, RECORD_TARGETS, 3)
    label(workers(header, teacher=False), header, iter(samples), tmp_path, batch=4, part="0/1")
    folder = ShardFolder(tmp_path)
    records = np.concatenate([folder.open(entry["name"]) for entry in folder.entries])
    assert records["next"].tolist() == [[30, 39, 31], [60, -1, -1], [-1, -1, -1], [30, 39, 31], [30, 39, 31]]
    assert records["result"].tolist() == [1, 1, 0, 1, 0]  # White moves at odd plies, and won
    np.testing.assert_array_equal(records["final_score"], np.array([6.5, 6.5, np.nan, np.nan, 40], np.float16))
    assert records["final_ownership"][0].tolist() == [-127] * 40 + [0] + [127] * 40
    assert (records["final_ownership"][2] == -128).all()


@pytest.mark.parametrize(
    ("text", "margin"),
    [("B+3.5", 3.5), ("W+7", -7.0), ("B+R", None), ("W+T", None), ("0", 0.0), ("Jigo", 0.0), ("?", None), ("", None)],
)
def test_margins(text, margin):
    assert parse_margin(text) == margin


def test_what_labels_hold_is_the_kinds_or_the_recipes_to_say():
    recipe = Recipe("x", SamplePlan(()), {"blocks": 1, "channels": 8}, {}, TrainPlan())
    assert plan_header(recipe, "", "").targets == RECORD_TARGETS
    wanted = LabelPlan(encoding="alphagozero-17", targets=("next",), next_moves=3)
    header = plan_header(dataclasses.replace(recipe, labels=wanted), "", "")
    assert (header.encoding, header.spatial, header.targets, header.next_moves) == ("alphagozero-17", 17, ("next",), 3)
    with pytest.raises(ConfigError, match="nonsense"):
        plan_header(dataclasses.replace(recipe, labels=LabelPlan(targets=("nonsense",))), "", "")
    with pytest.raises(ConfigError, match="nonsense"):
        plan_header(dataclasses.replace(recipe, labels=LabelPlan(encoding="nonsense")), "", "")


def test_a_kind_that_is_not_there_or_a_key_it_does_not_know_is_refused():
    with pytest.raises(ConfigError, match="policy-value"):
        make_kind({"kind": "nonsense"}, {})
    with pytest.raises(ConfigError, match="blokcs"):
        make_kind({"blokcs": 3}, {})
    with pytest.raises(ConfigError, match="did you mean"):
        make_kind({"blocks": 3, "channels": 16}, {"polcy": 1.0})


def test_a_net_is_not_trained_on_shards_that_tell_it_nothing(tmp_path):
    ShardWriter(tmp_path, make_header("katago-v7", ["z"]), 9)
    recipe = Recipe("x", SamplePlan(()), {"blocks": 1, "channels": 8}, {}, TrainPlan(shares={"9": 1.0}))
    with pytest.raises(ShardError, match="no target"):
        Run(recipe, Loader([tmp_path], 4, {9: 1.0}), tmp_path / "run")
