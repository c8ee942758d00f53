"""What the beginning of a file says: what is no net is refused before a session begins."""

import gzip
import json

import pytest

from engine import factory
from engine.errors import ConfigError, WeightsError
from engine.nn.catalog import find
from engine.nn.peek import refuse_other_files


def ours(family):
    text = json.dumps({"__metadata__": {"keisei_net": json.dumps({"format": 1, "spec": {"family": family}})}}).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    "name, data",
    [
        ("game.sgf", b"(;GM[1]SZ[9];B[ee])"),
        ("empty.bin.gz", b""),
        ("text.txt", b"Keisei\nis a Go engine\n"),
        ("text.txt.gz", gzip.compress(b"# a page\n")),
        ("cut.bin.gz", b"\x1f\x8b\x08"),
        ("broken.bin.gz", b"\x1f\x8b\x08" + bytes(20)),
        ("foreign.safetensors", (2).to_bytes(8, "little") + b"{}"),
        ("short.safetensors", b"abc"),
        ("huge.safetensors", b"\xff" * 40),
        ("list.safetensors", (2).to_bytes(8, "little") + b"[]"),
    ],
)
def test_what_is_no_net_is_refused(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(WeightsError) as error:
        refuse_other_files(path, plays=True)
    assert str(error.value) == f"{path} is not a net file"


@pytest.mark.parametrize(
    "name, data",
    [
        ("k.bin.gz", gzip.compress(b"g170-b6c96\n8\n22\n19\nmodel\n@BIN@\x00\xff" + bytes(400))),
        ("k.txt", b"name\n15\n22\n"),
        ("lz.txt.gz", gzip.compress(b"1\n0.5 0.25\n")),
        ("ours", ours("policy-value")),
        ("pickle.pt", b"PK\x03\x04 refused later, with its reason"),
    ],
)
def test_what_may_be_one_is_not(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    refuse_other_files(path, plays=True)


def test_a_judgment_net_judges_and_does_not_play(tmp_path):
    path = tmp_path / "j.safetensors"
    path.write_bytes(ours("judgment"))
    refuse_other_files(path, plays=False)
    with pytest.raises(WeightsError, match=r"j\.safetensors: judges positions, but chooses no moves"):
        refuse_other_files(path, plays=True)
    refuse_other_files(find(None), plays=True)


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0,tpu", "", "cpu:0"])
def test_what_is_no_device_is_refused_with_the_settings(name):
    with pytest.raises(ConfigError, match="unknown device"):
        factory.make_settings({"net": {"device": name}})


@pytest.mark.parametrize("name", ["auto", "cpu", "cuda", "cuda:7", "cuda:0,cuda:1"])
def test_device_names_are_settings_whether_the_device_is_there_or_not(name):
    assert factory.make_settings({"net": {"device": name}}).net.device == name
