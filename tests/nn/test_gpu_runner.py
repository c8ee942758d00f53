"""The logic of the GPU runner on a stand-in device: order, padding, running out of memory, a lost device."""

import logging

import numpy as np
import pytest

from engine.errors import EngineError
from engine.nn.gpu_runner import GpuRunner
from engine.nn.several_runners import SeveralRunners


class FakeMemoryError(RuntimeError):
    pass


class FakeProgram:
    def __init__(self, device, width, height, batch):
        self.device, self.batch = device, batch
        self.buffer = np.full((batch, 1), np.nan, np.float32)
        self.queued = False

    def launch(self, spatial, globals_):
        assert len(spatial) <= self.batch
        assert not self.queued, "the buffers of a batch in flight were written over"
        self.device.say("launch", len(spatial), self.batch)
        self.buffer[: len(spatial), 0] = spatial.sum(axis=(1, 2, 3)) + globals_.sum(axis=1)
        self.queued = True

    def fetch(self, rows):
        self.queued = False
        self.device.say("fetch", rows, self.batch)
        return self.buffer[:rows].copy()


class FakeDevice:
    """Counts what it is asked; memory is for graphs of so many rows; `fail` maps a call's number to an error."""

    name = "fake:0"

    def __init__(self, room=1000, fail=None):
        self.room, self.fail = room, fail or {}
        self.log = []
        self.freed = 0

    def say(self, *what):
        self.log.append(what)
        error = self.fail.pop(len(self.log), None)
        if error:
            raise error

    def build(self, width, height, batch):
        self.say("build", width, height, batch)
        if batch > self.room:
            raise FakeMemoryError("no room")
        return FakeProgram(self, width, height, batch)

    def pinned(self, shape):
        return np.zeros(shape, np.float32)

    def free_cached_memory(self):
        self.freed += 1

    def is_out_of_memory(self, error):
        return isinstance(error, FakeMemoryError)


def batch(rows, seed=0, size=3):
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, 9, (rows, 2, size, size)).astype(np.float32),
        rng.integers(0, 9, (rows, 4)).astype(np.float32),
    )


def answer(spatial, globals_):
    return (spatial.sum(axis=(1, 2, 3)) + globals_.sum(axis=1))[:, None]


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 9, 16])
def test_padding(rows):
    device = FakeDevice()
    runner = GpuRunner(device, max_batch=16, keep=2)
    inputs = batch(rows)
    assert np.array_equal(runner.evaluate(*inputs), answer(*inputs))
    built = [entry[3] for entry in device.log if entry[0] == "build"]
    assert len(built) == 1 and built[0] >= rows and built[0] in (1, 2, 4, 8, 16) and built[0] < 2 * rows


def test_two_in_flight_in_order():
    device = FakeDevice()
    runner = GpuRunner(device, max_batch=8, keep=2)
    first, second = batch(4, 1), batch(4, 2)
    a, b = runner.start(*first), runner.start(*second)
    assert [entry[0] for entry in device.log].count("launch") == 2, "both are on the device at once"
    with pytest.raises(RuntimeError, match="more than 2"):
        runner.start(*first)
    with pytest.raises(RuntimeError, match="order"):
        runner.finish(b)
    assert np.array_equal(runner.finish(a), answer(*first))
    c = runner.start(*batch(4, 3))
    assert np.array_equal(runner.finish(b), answer(*second))
    assert np.array_equal(runner.finish(c), answer(*batch(4, 3)))


def test_graphs_are_built_once_and_dropped_by_size():
    device = FakeDevice()
    runner = GpuRunner(device, max_batch=4, keep=1)
    for size in (3, 3, 5, 3):
        runner.evaluate(*batch(2, size=size))
    assert [entry[1] for entry in device.log if entry[0] == "build"] == [3, 5, 3]


def test_out_of_memory_halves_the_batch_and_says_so(caplog):
    device = FakeDevice(room=3)
    runner = GpuRunner(device, max_batch=16, keep=2)
    inputs = batch(13)
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(runner.evaluate(*inputs), answer(*inputs))
    assert runner.limit == 2 and device.freed == 3
    assert [r.getMessage() for r in caplog.records] == [
        f"fake:0 is out of memory: batches are now at most {n}" for n in (8, 4, 2)
    ]
    assert [entry[1] for entry in device.log if entry[0] == "fetch"] == [2, 2, 2, 2, 2, 2, 1]


@pytest.mark.parametrize("call", [2, 3])
def test_out_of_memory_while_running(call):
    """At launch (2) or when the result is fetched (3), the rows are run again, smaller; both batches come out right."""
    device = FakeDevice(fail={call: FakeMemoryError("late")})
    runner = GpuRunner(device, max_batch=8, keep=2)
    inputs = batch(8)
    assert np.array_equal(runner.evaluate(*inputs), answer(*inputs))
    assert runner.limit == 4
    two = [runner.start(*batch(8, seed)) for seed in (1, 2)]
    for seed, handle in zip((1, 2), two, strict=True):
        assert np.array_equal(runner.finish(handle), answer(*batch(8, seed)))


def test_no_memory_at_all():
    runner = GpuRunner(FakeDevice(room=0), max_batch=4, keep=2)
    with pytest.raises(EngineError, match="even for one position"):
        runner.evaluate(*batch(4))
    assert len(runner._free_slots) == 2


@pytest.mark.parametrize("call", [1, 2, 3])
def test_a_lost_device_is_an_error_and_stays_one(call):
    device = FakeDevice(fail={call: RuntimeError("CUDA error: device-side assert")})
    runner = GpuRunner(device, max_batch=4, keep=2)
    with pytest.raises(EngineError, match="fake:0 failed: CUDA error"):
        runner.evaluate(*batch(2))
    calls = len(device.log)
    with pytest.raises(EngineError, match="fake:0 failed"):
        runner.evaluate(*batch(2))
    assert len(device.log) == calls, "nothing more is sent to it"


def test_several_devices_take_turns():
    devices = [FakeDevice(), FakeDevice(), FakeDevice()]
    runner = SeveralRunners([GpuRunner(device, max_batch=16, keep=2) for device in devices])
    inputs = [batch(rows, seed=rows) for rows in (3, 1, 8, 5, 2, 4)]
    handles = [runner.start(*each) for each in inputs]  # two on each
    for device in devices:
        assert sum(entry[0] == "launch" for entry in device.log) == 2
    with pytest.raises(RuntimeError, match="in flight"):
        runner.start(*inputs[0])
    for handle, each in zip(handles, inputs, strict=True):
        assert np.array_equal(runner.finish(handle), answer(*each))
    for rows in (1, 2, 7):  # all at once: a share on each
        each = batch(rows, seed=rows)
        assert np.array_equal(runner.evaluate(*each), answer(*each))
    assert max(len(device.log) for device in devices) - min(len(device.log) for device in devices) <= 6
    runner.close()
    assert [device.freed for device in devices] == [1, 1, 1]


def test_a_lost_device_of_several_is_an_error_that_names_it():
    devices = [FakeDevice(), FakeDevice(fail={2: RuntimeError("unplugged")})]
    runner = SeveralRunners([GpuRunner(device, max_batch=16, keep=2) for device in devices])
    with pytest.raises(EngineError, match="fake:0 failed: unplugged"):
        runner.evaluate(*batch(4))
