"""The prefetching loader gives the loader's own batches, resumes to the very one, and passes errors on."""

import pytest
import torch
from teacher_fake import run_label, some_samples

from engine.train.dataset import Loader
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
