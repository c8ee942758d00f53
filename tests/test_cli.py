"""The command line: dispatch, options as layers of settings, one-line errors and exit codes."""

from __future__ import annotations

import importlib.machinery
import os
import signal
import subprocess
import sys
import types

import pytest

from engine import __version__, cli, factory
from engine.errors import ConfigError


def run(*words):
    root = os.path.dirname(os.path.dirname(cli.__file__))
    return subprocess.run(
        [sys.executable, "-P", "-m", "engine", *words],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def options(*words):
    parser = cli.Parser(prog="test")
    cli.add_common_options(parser)
    return parser.parse_args(list(words))


def settings(*words):
    return factory.make_settings(factory.preset("gtp"), *cli.layers(options(*words)))


def test_version_and_help(capsys):
    assert cli.main(["--version"]) == 0 and capsys.readouterr().out == f"keisei {__version__}\n"
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all((f"  {name} " in out) == cli.exists(module) for name, (module, _, _) in cli.COMMANDS.items())
    assert all(f"  {name} " in out for name in ("gtp", "match", "bench", "cgos"))
    assert cli.main([]) == 2


def test_unknown_command(capsys):
    assert cli.main(["gpt"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "keisei: unknown command gpt (did you mean gtp?) (see keisei --help)\n"
    assert captured.out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "search.cpukt=1"], "unknown setting search.cpukt (did you mean cpuct?)"),
        (["--set", "serch.cpuct=1"], "unknown section serch (did you mean search?)"),
        (["--set", "cpuct=1"], "'cpuct=1': a setting is written section.key=value"),
        (["--visits", "0"], "player.visits = 0: must be at least 1"),
        (["--visits", "many"], "player.visits = many: must be a whole number or none"),
        (["--time", "x"], "player.time = x: must be a number or none"),
        (["--precision", "float8"], "net.precision = float8: must be one of"),
        (["--rules", "nonsense"], "unknown rules: nonsense"),
        (["--config", "/nowhere/x.toml"], "cannot read /nowhere/x.toml"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["--visits"], "expected one argument"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(capsys, words, message):
    try:
        code = cli.main(["gtp", *words])
    except SystemExit as error:
        code = error.code
    captured = capsys.readouterr()
    assert code == 2 and captured.out == ""
    assert captured.err.count("\n") == 1 and captured.err.startswith("keisei gtp: ") and message in captured.err


def test_options_override_set_which_overrides_the_file(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('[player]\nvisits = 5\ntime = 2\nlag = 1\n[net]\ndevice = "cpu"\n', encoding="utf-8")
    made = settings("--config", str(path), "--set", "player.time=3", "--set", "player.visits=6", "--visits", "7")
    assert (made.player.visits, made.player.time, made.player.lag) == (7, 3.0, 1.0)
    assert made.net.device == "cpu"
    made = settings("--seed", "5", "--rules", "japanese", "--device", "cuda:1", "--precision", "float32")
    assert (made.player.seed, made.player.rules) == (5, "japanese")
    assert (made.net.device, made.net.precision) == ("cuda:1", "float32")


def test_rules_as_json():
    assert settings("--rules", '{"ko":"SIMPLE"}').player.rules == '{"ko":"SIMPLE"}'
    with pytest.raises(ConfigError):
        settings("--rules", '{"ko":"NONE"}')


def test_every_setting_is_documented_and_within_its_own_range():
    from engine import config

    for name, cls in factory.SECTIONS.items():
        for key, about in config.describe(cls).items():
            assert about.doc, f"{name}.{key}"
            assert config.convert(about, config.to_text(about.default), key) == about.default


def test_errors_of_the_process():
    done = run("gtp", "--set", "search.cpukt=1")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    no_nets = [["--net", name] for name in ("fake:nothing", "/nowhere/x.bin.gz", __file__, "judgment")]
    for words in (*no_nets, ["--set", "judge.net=nonet"]):
        done = run("gtp", *words)
        assert (done.returncode, done.stdout) == (1, "") and "GTP ready" not in done.stderr
        assert done.stderr.startswith("keisei gtp: ") and done.stderr.count("\n") == 1, words
    done = run("bench")
    assert done.returncode == 2 and "usage: keisei bench board" in done.stderr


@pytest.mark.parametrize(
    ("command", "stop", "code", "said"),
    [
        ("train", KeyboardInterrupt(), 130, "keisei train: stopped; the same command goes on\n"),
        ("label", KeyboardInterrupt(signal.SIGTERM), 143, "keisei label: stopped; the same command goes on\n"),
        ("evaluate", KeyboardInterrupt(), 130, "keisei evaluate: stopped\n"),
    ],
)
def test_a_command_that_was_stopped_says_so(capsys, monkeypatch, command, stop, code, said):
    def stopped(words):
        raise stop

    monkeypatch.setitem(cli.COMMANDS, command, ("tests_stopped", "main", ""))
    monkeypatch.setitem(sys.modules, "tests_stopped", module := types.ModuleType("tests_stopped"))
    module.__spec__ = importlib.machinery.ModuleSpec("tests_stopped", None)
    module.main = stopped
    assert cli.main([command]) == code
    assert capsys.readouterr().err == said


def test_nothing_far_fetched_is_suggested(capsys):
    for word in ("run", "foo", "stop"):
        assert cli.main([word]) == 2 and "did you mean" not in capsys.readouterr().err, word
    for word, meant in (("trian", "train"), ("eval", "evaluate"), ("label s", "label")):
        assert cli.main([word]) == 2 and f"(did you mean {meant}?)" in capsys.readouterr().err.splitlines()[-1]


def test_settings_are_listed(capsys):
    assert cli.main(["gtp", "--list-settings"]) == 0
    text = capsys.readouterr().out
    assert "player.visits = none   (int or none, >= 1 visits)\n    Visits of the tree" in text
    assert "net.precision = auto   (auto|float32|bfloat16|float16|int8)" in text
    assert all(f"\n{name}." in "\n" + text for name in factory.SECTIONS)


def test_gtp_help_names_the_common_options():
    done = run("gtp", "--help")
    assert done.returncode == 0
    for option in (
        "--net", "--visits", "--time", "--device", "--precision", "--rules", "--seed", "--config", "--set", "--name",
    ):  # fmt: skip
        assert option in done.stdout


def test_what_cannot_be_written_is_one_line(tmp_path, capsys):
    (tmp_path / "settings.json").mkdir()
    assert cli.main(["match", "a", "b", "--games", "1", "--size", "5", "--out", str(tmp_path)]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("keisei match: ") and "settings.json" in errors and errors.count("\n") == 1
