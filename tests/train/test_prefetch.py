"""The prefetching loader gives the loader's own batches, resumes to the very one, and passes errors on."""

import numpy as np
import pytest
import torch
from teacher_fake import run_label, some_samples

from engine.train.dataset import Loader, show_simple_ko
from engine.train.prefetch import Prefetcher, measure
from engine.train.shards import ShardError


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    run_label(folder, some_samples(100))
    return folder


def same(a, b):
    return torch.equal(a.spatial, b.spatial) and torch.equal(a.targets["policy"], b.targets["policy"])


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_the_batches_are_the_loaders_own_and_resume_exactly(shards, workers):
    plain = Loader([shards], 8, {9: 1.0}, seed=4)
    expected = [next(plain) for _ in range(25)]
    source = Prefetcher(Loader([shards], 8, {9: 1.0}, seed=4), workers=workers, depth=3)
    for batch in expected[:13]:
        assert same(next(source), batch)
    state = source.state()
    again = Prefetcher(Loader([shards], 8, {9: 1.0}, seed=4), workers=workers)
    again.restore(state)
    for batch in expected[13:]:
        assert same(next(again), batch)
    next(source)
    source.restore(state)
    assert same(next(source), expected[13])
    source.close()
    again.close()


def test_an_error_in_a_thread_comes_out_where_the_batch_is_asked_for(shards):
    source = Prefetcher(Loader([shards], 8, {9: 1.0}), workers=1)
    source.loader.make = lambda draw: 1 / 0
    with pytest.raises(ZeroDivisionError):
        next(source)
    source.close()
    with pytest.raises(ShardError, match="not one batch"):
        next(Prefetcher(Loader([shards], 4096, {9: 1.0}), workers=1))


def test_speed_of_the_loader_alone(shards):
    source = Prefetcher(Loader([shards], 8, {9: 1.0}), workers=1)
    found = measure(source, 0.2)
    assert found["positions"] == pytest.approx(8 * found["batches"], rel=0.01) and found["megabytes"] > 0
    source.close()


def test_a_share_of_the_area_positions_is_shown_under_simple_ko():
    """Superko shows in globals 6 and 7 (1 and ±0.5), territory scoring in global 9; everything else stays."""
    rng = np.random.default_rng(3)
    before = rng.normal(size=(1000, 19)).astype(np.float32)
    before[:, 6], before[:, 7], before[:, 9] = 1.0, rng.choice([0.5, -0.5], 1000), rng.random(1000) < 0.4
    after = before.copy()
    show_simple_ko(after, 0.3)
    turned = (after[:, 6] == 0) & (after[:, 7] == 0)
    area = before[:, 9] == 0
    assert not turned[~area].any()
    assert 0.25 < turned[area].mean() < 0.35
    assert np.array_equal(after[~turned], before[~turned])
    others = [i for i in range(19) if i not in (6, 7)]
    assert np.array_equal(after[:, others], before[:, others])
    everywhere = before.copy()
    show_simple_ko(everywhere, 1.0)
    assert np.array_equal(everywhere[:, 6] == 0, area)


def test_the_loader_shows_simple_ko_where_the_encoding_says_the_ko_rule(shards, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "engine.train.dataset.show_simple_ko", lambda globals_, share: asked.append((len(globals_), share))
    )
    monkeypatch.setattr("engine.train.dataset.SIMPLE_KO", (Loader([shards], 8, {9: 1.0}).header.encoding,))
    next(Loader([shards], 8, {9: 1.0}))
    next(Loader([shards], 8, {9: 1.0}, simple_ko_share=0.25))
    assert asked == [(8, 0.25)]
    monkeypatch.setattr("engine.train.dataset.SIMPLE_KO", ("another",))
    with pytest.raises(ShardError, match="simple_ko_share"):
        Loader([shards], 8, {9: 1.0}, simple_ko_share=0.25)
