"""Settings from TOML and text: types, ranges, nearest keys, layers."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from engine import config
from engine.config import setting
from engine.errors import ConfigError


@dataclass(frozen=True)
class Sample:
    visits: int | None = setting(None, "Visits a move.", unit="visits", low=1)
    cpuct: float = setting(1.1, "Exploration.", low=0.0, high=10.0)
    ponder: bool = setting(False, "Think on the opponent's time.")
    device: str = setting("auto", "Where the net runs.", choices=("auto", "cpu"))
    label: str = setting("x", "Free text.")
    sizes: tuple[int, ...] = setting((9, 19), "Board sizes.", low=1)


@dataclass(frozen=True)
class Other:
    name: str = setting("Keisei", "The name.")


def test_defaults_and_descriptions():
    assert config.build(Sample, "s", {}) == Sample()
    table = config.describe(Sample)
    assert list(table) == ["visits", "cpuct", "ponder", "device", "label", "sizes"]
    visits = table["visits"]
    assert (visits.kind, visits.optional, visits.low, visits.unit, visits.doc) == (
        int, True, 1, "visits", "Visits a move.")  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("visits", "100", 100),
        ("visits", 100, 100),
        ("visits", "none", None),
        ("visits", None, None),
        ("cpuct", "2", 2.0),
        ("cpuct", 2, 2.0),
        ("cpuct", "1e-1", 0.1),
        ("cpuct", 10, 10.0),
        ("ponder", "Yes", True),
        ("ponder", "0", False),
        ("ponder", True, True),
        ("device", "cpu", "cpu"),
        ("sizes", "9,13", (9, 13)),
        ("sizes", "9 13", (9, 13)),
        ("sizes", [9, 13], (9, 13)),
        ("sizes", "", ()),
    ],
)
def test_values(key, value, expected):
    result = getattr(config.build(Sample, "s", {key: value}), key)
    assert result == expected and type(result) is type(expected)
    assert getattr(config.replace(Sample(), key, value), key) == expected


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("visits", "0", "s.visits = 0: must be at least 1"),
        ("visits", "1.5", "s.visits = 1.5: must be a whole number or none"),
        ("visits", 1.5, "s.visits = 1.5: must be a whole number or none"),
        ("visits", "9" * 20, "s.visits = 99999999999999999999: must be between 1 and 9223372036854775807"),
        ("visits", "9" * 400, f"s.visits = {'9' * 400}: must be between 1 and 9223372036854775807"),
        ("cpuct", "9" * 400, f"s.cpuct = {'9' * 400}: must be a number"),
        ("visits", True, "s.visits = True: must be a whole number or none"),
        ("visits", "abc", "s.visits = abc: must be a whole number or none"),
        ("cpuct", "11", "s.cpuct = 11: must be between 0.0 and 10.0"),
        ("cpuct", "nan", "s.cpuct = nan: must be a number"),
        ("cpuct", "inf", "s.cpuct = inf: must be a number"),
        ("cpuct", False, "s.cpuct = False: must be a number"),
        ("cpuct", [1.0], "s.cpuct = [1.0]: must be a number"),
        ("cpuct", None, "s.cpuct = None: must be a number"),
        ("ponder", "maybe", "s.ponder = maybe: must be true or false"),
        ("ponder", 1, "s.ponder = 1: must be true or false"),
        ("device", "tpu", "s.device = tpu: must be one of auto, cpu"),
        ("label", 3, "s.label = 3: must be text"),
        ("sizes", 9, "s.sizes = 9: must be a list, each a whole number"),
        ("sizes", "9,x", "s.sizes = x: must be a list, each a whole number"),
        ("sizes", "9,0", "s.sizes = 0: must be at least 1"),
        ("cpuckt", "1", "unknown setting s.cpuckt (did you mean cpuct?)"),
        ("qqqqqq", "1", "unknown setting s.qqqqqq"),
    ],
)
def test_refusals(key, value, message):
    with pytest.raises(ConfigError) as error:
        config.build(Sample, "s", {key: value})
    assert str(error.value) == message
    with pytest.raises(ConfigError):
        config.replace(Sample(), key, value)


def test_replace_leaves_the_original():
    first = Sample()
    second = config.replace(first, "visits", "7", section="s")
    assert first.visits is None and second.visits == 7


@pytest.mark.parametrize("value", [None, 3, 2.5, True, False, (1, 2), "word"])
def test_text_reads_back(value):
    text = config.to_text(value)
    key = {bool: "ponder", int: "visits", float: "cpuct", tuple: "sizes", str: "label"}.get(type(value), "visits")
    assert getattr(config.replace(Sample(), key, text), key) == value


def test_load_and_layers(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('[s]\nvisits = 5\ncpuct = 3\n[o]\nname = "A"\n', encoding="utf-8")
    section, key, value = config.parse_assignment("s.cpuct = 4")
    made = config.assemble({"s": Sample, "o": Other}, config.load(path), {section: {key: value}})
    assert made["s"] == Sample(visits=5, cpuct=4.0) and made["o"] == Other("A")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("visits = 1\n", "outside a section"),
        ("[s\n", "a.toml"),
        ("[s]\nvisits = \n", "a.toml"),
    ],
)
def test_broken_files(tmp_path, content, words):
    path = tmp_path / "a.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        config.load(path)


def test_missing_and_binary_files(tmp_path):
    with pytest.raises(ConfigError, match=r"missing\.toml"):
        config.load(tmp_path / "missing.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"b\.toml"):
        config.load(tmp_path / "b.toml")


def test_deep_nesting_and_devices_are_refused(tmp_path):
    deep = tmp_path / "deep.toml"
    deep.write_text("[search]\nx = " + "[" * 100_000, encoding="utf-8")
    for path in (deep, os.devnull):
        with pytest.raises(ConfigError) as error:
            config.load(path)
        assert str(path) in str(error.value)


def test_unknown_section_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown section serch \(did you mean search\?\)"):
        config.assemble({"search": Sample}, {"serch": {}})


@pytest.mark.parametrize("text", ["", "a", "a=1", ".a=1", "a.=1", "a.b"])
def test_bad_assignments(text):
    with pytest.raises(ConfigError, match=r"section\.key=value"):
        config.parse_assignment(text)
