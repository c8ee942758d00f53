"""The shard format: packing, the manifest, resuming, and that training sees what play would encode."""

import numpy as np
import pytest
from teacher_fake import HEADER, run_label, some_samples, workers

from engine.board.planes import encode_position
from engine.board.position import Position
from engine.errors import ConfigError
from engine.train import label as label_module
from engine.train.dataset import Loader, Pool, make_batch
from engine.train.plane_store import load_planes, store_planes
from engine.train.records import Game
from engine.train.samples import Sample, replay
from engine.train.shards import Header, ShardError, ShardFolder, ShardWriter, make_header
from engine.train.targets import pack_policy, unpack_policy


def test_policies_survive_packing_within_the_stated_error():
    policy = np.random.default_rng(0).dirichlet(np.full(82, 0.1), size=50).astype(np.float32)
    policy[policy < 1e-4] = 0
    policy /= policy.sum(1, keepdims=True)
    back = unpack_policy(pack_policy(policy))
    np.testing.assert_allclose(back.sum(1), 1, rtol=1e-5)
    assert (back[policy == 0] == 0).all()
    large = policy > policy.max(1, keepdims=True) * 2**-15
    assert np.abs(np.log(back[large] / policy[large])).max() < 0.05
    best = np.take_along_axis(back, policy.argmax(1)[:, None], 1)[:, 0]
    assert (best >= back.max(1)).all()  # equal at worst


def test_planes_survive_packing_and_others_are_refused():
    planes = (np.random.default_rng(0).random((5, 22, 13, 13)) < 0.2).astype(np.float32)
    records = HEADER.empty(13, 5)
    store_planes(records, "katago-v7", planes)
    back = load_planes(records, "katago-v7", 22, 13)
    np.testing.assert_array_equal(back.reshape(planes.shape), planes)
    with pytest.raises(ShardError, match="0 or 1"):
        store_planes(records, "katago-v7", planes * 0.5)


def test_record_sizes_are_the_documented_ones():
    assert HEADER.record_type(19).itemsize == 1816
    assert HEADER.record_type(9).itemsize == 486
    kstep = make_header("katago-v7", ["next", "result"], next_moves=3)
    assert kstep.record_type(19).itemsize == 993 + 76 + 3 * 2 + 1 + 11


def read_all(out, size=9):
    folder = ShardFolder(out)
    return np.concatenate([folder.open(e["name"]) for e in folder.entries if e["size"] == size])


def test_training_sees_the_bytes_that_play_encodes(tmp_path):
    samples = some_samples(30)
    run_label(tmp_path, samples)
    records = read_all(tmp_path)
    assert len(records) == len(samples)
    batch = make_batch(records, HEADER, 9)
    for row, sample in enumerate(samples):
        spatial, globals_ = encode_position(replay(sample), "katago-v7")
        assert batch.spatial[row].numpy().astype(np.float32).tobytes() == spatial.tobytes()
        assert batch.globals_[row].numpy().tobytes() == globals_.tobytes()


def test_a_symmetry_turns_inputs_and_targets_together(tmp_path):
    samples = some_samples(16)
    run_label(tmp_path, samples)
    records = read_all(tmp_path)
    plain = make_batch(records, HEADER, 9)
    for symmetry in range(8):
        turned = make_batch(records, HEADER, 9, [symmetry])
        for row, sample in enumerate(samples):
            position = replay(sample)
            spatial, _ = encode_position(position, "katago-v7", symmetry=symmetry)
            np.testing.assert_array_equal(turned.spatial[row].numpy(), spatial)
            own = turned.targets["ownership"][row].reshape(9, 9).numpy()
            stones = spatial[1] + 2 * spatial[2]
            flat = encode_position(position, "katago-v7")[0]
            pairs = sorted(zip(stones.ravel(), own.ravel(), turned.targets["policy"][row, :-1].tolist(), strict=True))
            before = sorted(
                zip(
                    (flat[1] + 2 * flat[2]).ravel(),
                    plain.targets["ownership"][row].tolist(),
                    plain.targets["policy"][row, :-1].tolist(),
                    strict=True,
                )
            )
            assert pairs == before  # ownership and policy stay on their stones
            if sample.played >= 0:
                color = position.to_play
                position.play(sample.played, color)
                after, _ = encode_position(position, "katago-v7", symmetry=symmetry)
                assert (
                    after[2].ravel()[turned.targets["played"][row]] == 1
                    and spatial[2].ravel()[turned.targets["played"][row]] == 0
                )


def test_labelling_goes_on_where_it_was_stopped(tmp_path):
    samples = some_samples(40)
    run_label(tmp_path / "whole", samples)

    def broken():
        for number, sample in enumerate(samples):
            if number == 27:
                raise KeyboardInterrupt
            yield sample

    with pytest.raises(KeyboardInterrupt):
        label_module.label(workers(), HEADER, broken(), tmp_path / "halves", batch=1, capacity=7)
    assert 0 < len(read_all(tmp_path / "halves")) < 40
    label_module.label(workers(), HEADER, samples, tmp_path / "halves", batch=3, capacity=25)
    np.testing.assert_array_equal(read_all(tmp_path / "halves"), read_all(tmp_path / "whole"))


def test_a_manifest_line_that_was_torn_off_is_forgotten_and_its_shard_written_again(tmp_path):
    samples = some_samples(40)
    label_module.label(workers(), HEADER, samples, tmp_path, batch=1, capacity=8)
    whole, manifest = read_all(tmp_path), tmp_path / "manifest.jsonl"
    manifest.write_text(manifest.read_text()[:-25])  # killed in the middle of the last line
    assert len(ShardFolder(tmp_path).entries) > 1 and len(read_all(tmp_path)) < len(whole)
    label_module.label(workers(), HEADER, samples, tmp_path, batch=1, capacity=8)
    np.testing.assert_array_equal(read_all(tmp_path), whole)


def test_parts_add_up_to_the_whole(tmp_path):
    samples = some_samples(31)
    run_label(tmp_path / "whole", samples)
    for part in ("0/3", "1/3", "2/3"):
        run_label(tmp_path / "parts", samples, part)
    whole, parts = read_all(tmp_path / "whole"), read_all(tmp_path / "parts")
    assert sorted(r.tobytes() for r in whole) == sorted(r.tobytes() for r in parts)


def test_another_plan_or_a_damaged_folder_is_refused(tmp_path):
    run_label(tmp_path, some_samples(4))
    with pytest.raises(ShardError, match="another folder"):
        ShardWriter(tmp_path, Header("katago-v7", 22, 19, "somebody else", {}), 9)
    with pytest.raises(ShardError, match=r"manifest\.jsonl"):
        ShardFolder(tmp_path / "absent")
    (shard,) = tmp_path.glob("*.npy")
    shard.write_bytes(shard.read_bytes()[:300])
    with pytest.raises(ShardError, match=shard.name):
        ShardFolder(tmp_path).open(shard.name)


def test_validation_games_are_never_trained_on(tmp_path):
    run_label(tmp_path, some_samples(400))
    folder = ShardFolder(tmp_path)
    train, test = Pool([folder], 9), Pool([folder], 9, validation=True)
    (name,) = train.names()
    assert len(train.rows(name)) + len(test.rows(name)) == 400 and len(test.rows(name)) > 0
    games = folder.open(name.split("/")[1])["game"]
    assert not set(games[train.rows(name)]) & set(games[test.rows(name)])


def test_the_loader_resumes_to_the_very_batch_and_sees_every_position(tmp_path):
    run_label(tmp_path, some_samples(60))
    loader = Loader([tmp_path], 8, {9: 1.0}, seed=3)
    seen = [next(loader) for _ in range(5)]
    state = loader.state()
    expected = [next(loader) for _ in range(9)]
    again = Loader([tmp_path], 8, {9: 1.0}, seed=3)
    again.restore(state)
    for batch in expected:
        other = next(again)
        assert (batch.spatial == other.spatial).all() and (batch.targets["policy"] == other.targets["policy"]).all()
    usable = loader.positions()[9]
    fingerprints = {b.targets["value"][i].numpy().tobytes() for b in seen + expected for i in range(8)}
    assert len(fingerprints) >= 0.65 * usable  # (a few positions are equal: empty boards)


def test_a_position_without_labels_enough_says_so(tmp_path):
    run_label(tmp_path, some_samples(5))
    with pytest.raises(ShardError, match="not one batch"):
        next(Loader([tmp_path], 64, {9: 1.0}))


def test_replay_reports_moves_that_the_rules_forbid():
    from engine.train.records import RecordError

    with pytest.raises(RecordError, match="illegal"):
        replay(Sample(Game(9, "aaaa"), 2, 0, False, "chinese", 7.5, 0))
    assert isinstance(replay(Sample(Game(9, "aabb"), 2, 0, False, "chinese", 7.5, 0)), Position)


@pytest.mark.parametrize("part", ["", "2", "2/2", "-1/2", "a/b", "0/0", "1/2/3"])
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises(ConfigError, match="--part"):
        label_module.parse_part(part)
