"""Bytes are damaged at random: a net file is refused with a WeightsError naming it, or loads; nothing else happens."""

import gzip

import leelazero_oracle
import nn_oracle
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import WeightsError
from engine.nn import checkpoint
from engine.nn.net import load_net
from engine.nn.new_spec import new_net_spec
from engine.nn.policy_value import build_module, fold_for_export


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    net = nn_oracle.random_net(15, seed=1, tip="point", meta=True)
    nn_oracle.write_net(net, folder / "a.bin.gz")
    nn_oracle.write_net(net, folder / "a.bin", packed=False)
    nn_oracle.write_net(nn_oracle.random_net(8), folder / "a.txt", packed=False, binary=False)
    leelazero_oracle.write_net(leelazero_oracle.random_net(blocks=0, channels=2), folder / "lz.txt.gz", 1)
    torch.manual_seed(0)
    spec = new_net_spec(blocks=1, channels=8, gpool_every=0)
    checkpoint.save(folder / "a.safetensors", spec, fold_for_export(build_module(spec, trainable=True)), {})
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@st.composite
def damage(draw):
    """Return (kind, where as a share of the length, bytes)."""
    kind = draw(st.sampled_from(["replace", "insert", "delete", "cut", "append", "double"]))
    where = draw(st.one_of(st.floats(0, 1), st.floats(0, 0.02)))
    words = st.sampled_from([b"9" * 9, b"-1", b" ", b"\n", b"nan ", b"1e99 "])
    junk = st.one_of(st.binary(min_size=1, max_size=9), words)
    return kind, where, draw(junk)


def apply(data, kind, where, junk):
    at = int(where * (len(data) - 1))
    if kind == "replace":
        return data[:at] + junk + data[at + len(junk) :]
    if kind == "insert":
        return data[:at] + junk + data[at:]
    if kind == "delete":
        return data[:at] + data[at + len(junk) :]
    if kind == "cut":
        return data[:at]
    return data + (junk if kind == "append" else data[at:])


FUZZ = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@pytest.mark.parametrize("name", ["a.bin.gz", "a.bin", "a.txt", "a.safetensors"])
@settings(max_examples=40, **FUZZ)
@given(first=damage(), second=st.one_of(st.none(), damage()), inside=st.booleans())
def test_damaged_bytes(originals, tmp_path_factory, name, first, second, inside):
    check_damaged(originals[name], tmp_path_factory, name, first, second, inside)


@settings(max_examples=6, **FUZZ)
@given(first=damage(), second=st.one_of(st.none(), damage()), inside=st.booleans())
def test_damaged_leela_zero_bytes(originals, tmp_path_factory, first, second, inside):
    check_damaged(originals["lz.txt.gz"], tmp_path_factory, "lz.txt.gz", first, second, inside)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.bin.gz", "a.bin", "a.txt", "a.safetensors", "lz.txt.gz"])
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=damage(), second=st.one_of(st.none(), damage()), inside=st.booleans())
def test_damaged_bytes_at_length(originals, tmp_path_factory, name, first, second, inside):
    check_damaged(originals[name], tmp_path_factory, name, first, second, inside)


def check_damaged(data, tmp_path_factory, name, first, second, inside):
    packed = name.endswith(".gz") and inside
    data = gzip.decompress(data) if packed else data
    for one in (first, second):
        data = apply(data, *one) if one else data
    path = tmp_path_factory.getbasetemp() / f"damaged-{name}"
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    try:
        net = load_net(path)
    except WeightsError as error:
        assert str(path) in str(error) and len(str(error)) < 1000 and "\n" not in str(error)
    else:
        assert net.description.parameters > 0


def test_checksum_of_gzip(originals, tmp_path):
    data = bytearray(originals["a.bin.gz"])
    data[-6] ^= 1
    path = tmp_path / "a.bin.gz"
    path.write_bytes(data)
    with pytest.raises(WeightsError, match="gzip"):
        load_net(path)


def test_endless_gzip_is_cut_short(tmp_path):
    """A file that unpacks to far more than a net can hold is refused without unpacking all of it."""
    path = tmp_path / "bomb.bin.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b" " * (1 << 20))
    with pytest.raises(WeightsError, match="white space"):
        load_net(path)
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"x" * (1 << 20))
    with pytest.raises(WeightsError, match="1024 characters"):
        load_net(path)


def test_a_long_word_among_many_costs_no_memory(tmp_path):
    """One word of a megabyte in a row of 100 000 numbers; padded to the longest they would take 100 GB."""
    row = b"1.5 " * 100_000 + b"7" * 1_000_000
    (tmp_path / "lz.txt").write_bytes(b"1\n" + b"\n".join([row] * 18))
    with pytest.raises(WeightsError, match="line 2: not a finite number"):
        load_net(tmp_path / "lz.txt")
    start = nn_oracle.file_bytes(nn_oracle.random_net(8), binary=False).split(b"\n")[:7]
    (tmp_path / "a.txt").write_bytes(b"\n".join([*start[:-1], b"1.5 " * 50 + b"7" * 50_000 + b" 1.5" * 2000]))
    with pytest.raises(WeightsError, match="number"):
        load_net(tmp_path / "a.txt")


def test_pickles_are_refused(tmp_path):
    ran = []

    class Trap:
        def __reduce__(self):
            return (ran.append, (1,))

    for name in ("net.pt", "net.pth", "net.bin.gz", "net.safetensors"):
        for zipped in (True, False):
            path = tmp_path / name
            torch.save({"weights": Trap()}, path, _use_new_zipfile_serialization=zipped)
            with pytest.raises(WeightsError, match="pickle") as caught:
                load_net(path)
            assert str(path) in str(caught.value)
    assert not ran


def test_missing_files(tmp_path):
    with pytest.raises(WeightsError, match="no such file"):
        load_net(tmp_path / "none.bin.gz")
    with pytest.raises(WeightsError, match="not a file"):
        load_net(tmp_path)
    (tmp_path / "empty.bin.gz").write_bytes(b"")
    with pytest.raises(WeightsError, match="ends where"):
        load_net(tmp_path / "empty.bin.gz")
