"""What training's commands say beyond figures: what is missing, why, and which command helps. And how they end."""

import json
import logging
import signal
import subprocess
import time

import child
import pytest
from few_games import RECIPE, write_games
from teacher_fake import some_samples

from engine.train.advice import how_to_label, unnamed_sizes
from engine.train.folder import FolderError, held
from engine.train.label import OneProcess, those_that_fit
from engine.train.label import main as label
from engine.train.recipe import read_recipe
from engine.train.records import RecordError
from engine.train.shards import ShardError, ShardFolder
from engine.train.train import main as train


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with small.toml, sgf/ of 30 games, and a home of its own; the current folder."""
    monkeypatch.setenv("KEISEI_DATA", str(tmp_path / "home"))
    (tmp_path / "small.toml").write_text(RECIPE.replace("[samples]", '[samples]\nexclude = ["never"]'))
    write_games(tmp_path / "sgf", 30)
    monkeypatch.chdir(tmp_path)
    return tmp_path


LABEL = ["--recipe", "small.toml", "--games", "sgf"]


def test_a_shortfall_is_explained(small, caplog):
    with caplog.at_level(logging.INFO):
        assert label([*LABEL, "--positions", "2000", "--per-game", "3"]) == 0
    (text,) = [r.getMessage() for r in caplog.records if " of 2000 positions" in r.getMessage()]
    games = json.loads((small / "home/small/shards/sources.json").read_text())["sgf"]["taken"]
    assert text.startswith(f"sgf: {3 * games} of 2000 positions: {games} games, at most 3 positions of each")
    assert f"games left out: {30 - games} held out" in text


def test_enough_is_no_shortfall(small, caplog):
    with caplog.at_level(logging.INFO):
        assert label([*LABEL, "--positions", "20"]) == 0
    assert "of 20 positions" not in caplog.text


def test_exclusions_that_are_not_at_hand_are_a_warning_with_own_games_alone(small, caplog):
    with caplog.at_level(logging.WARNING):
        assert label([*LABEL, "--positions", "20"]) == 0
    assert "never: the games that the recipe excludes are not at hand" in caplog.text
    with pytest.raises(RecordError, match=r"never: no such file or folder \(the recipe's paths are relative to --data"):
        label([*LABEL, "--data", str(small), "--out", "elsewhere"])  # who says where the data is has to have it


def test_exclusions_that_are_at_hand_are_left_out(small, caplog):
    (small / "never").mkdir()
    for name in ("0", "1", "2", "3", "4"):
        (small / "never" / f"{name}.sgf").write_bytes((small / "sgf" / f"{name}.sgf").read_bytes())
    assert label([*LABEL, "--positions", "20"]) == 0
    told = json.loads((small / "home/small/shards/sources.json").read_text())["sgf"]
    assert told["excluded"] + told.get("held out", 0) >= 5 and told["excluded"] >= 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--recipe", "small.toml"], "the recipe names no games: give --games"),
        (["--recipe", "first"], r"games/pro\.tsv\.xz: no such file or folder \(.*--data DIR\)"),
        (["--recipe", "small.toml", "--games", "absent"], "absent: no such file or folder$"),
        (["--recipe", "small.toml", "--games", "short.tsv"], "no position to label"),
    ],
)
def test_nothing_to_label_is_an_error_that_leaves_no_shards(small, words, message):
    (small / "short.tsv").write_text("size\tmoves\n9\taabb\n")
    with pytest.raises(RecordError, match=message):
        label(words)
    assert not list(small.glob("home/*/shards/*.json*"))


@pytest.mark.parametrize("number", ["0", "-3", "x"])
@pytest.mark.parametrize("option", ["--positions", "--batch", "--shard-size", "--per-game"])
def test_numbers_that_make_no_sense_are_wrong_usage(small, capsys, option, number):
    with pytest.raises(SystemExit) as error:
        label([*LABEL, option, number])
    assert error.value.code == 2 and capsys.readouterr().err.count("\n") == 1


def test_another_plan_is_named_and_nothing_is_overwritten(small):
    assert label([*LABEL, "--positions", "20"]) == 0
    before = (small / "home/small/shards/sources.json").read_text()
    with pytest.raises(ShardError, match=r"another plan \(plan: sources: .*--out"):
        label([*LABEL, "--positions", "30"])
    assert (small / "home/small/shards/sources.json").read_text() == before


def test_a_folder_labelled_in_parts_is_not_labelled_in_other_parts(small):
    assert label([*LABEL, "--positions", "20", "--part", "0/2"]) == 0
    before = {path.name: path.read_bytes() for path in (small / "home/small/shards").glob("*.npy")}
    with pytest.raises(ShardError, match="holds shards of part 0/2, not of 1; choose another folder"):
        label([*LABEL, "--positions", "20"])
    assert {path.name: path.read_bytes() for path in (small / "home/small/shards").glob("*.npy")} == before
    assert label([*LABEL, "--positions", "20", "--part", "1/2"]) == 0


def test_boards_that_the_teacher_cannot_play_on_are_left_out_and_told(caplog):
    samples = some_samples(4) + some_samples(3, size=7)
    assert those_that_fit(samples, None) == samples and not caplog.text
    assert those_that_fit(samples, lambda size: size == 7) == samples[4:]
    assert "4 positions left out: the teacher cannot play on 9x9" in caplog.text
    with pytest.raises(RecordError, match="the teacher plays on none of these boards"):
        those_that_fit(samples, lambda size: False)


def test_labelling_that_is_stopped_keeps_what_it_has_and_goes_on(small):
    assert label([*LABEL, "--positions", "80", "--out", "whole"]) == 0
    folder, labelled = small / "home/small/shards", []

    class Stops(OneProcess):
        def map(self, chunks):
            for number, pair in enumerate(super().map(chunks)):
                labelled.append(len(pair[1]))
                if number == 2:
                    signal.raise_signal(signal.SIGINT)
                yield pair

    patch = pytest.MonkeyPatch()
    patch.setattr("engine.train.label.OneProcess", Stops)
    with patch.context(), pytest.raises(KeyboardInterrupt) as error:
        label([*LABEL, "--positions", "80", "--batch", "2"])
    patch.undo()
    assert error.value.args == (signal.SIGINT,)
    assert sum(entry["positions"] for entry in ShardFolder(folder).entries) == sum(labelled[:3]) < 80
    assert label([*LABEL, "--positions", "80", "--batch", "2"]) == 0

    def games(path):
        opened = ShardFolder(path)
        return [row for entry in opened.entries for row in opened.open(entry["name"])["planes"].tobytes()]

    assert games(folder) == games(small / "whole")


def test_a_folder_serves_one_process_at_a_time(small):
    with held(small / "home/small/shards", "lock-0-of-1"), pytest.raises(FolderError, match="another process works in"):
        label([*LABEL, "--positions", "20"])
    assert label([*LABEL, "--positions", "60"]) == 0
    with held(small / "home/small/run"), pytest.raises(FolderError, match="small/run"):
        train(["--recipe", "small.toml", "--device", "cpu"])


@pytest.mark.parametrize(
    ("recipe", "command"),
    [
        ("first", "keisei label --recipe first --data DIR-OF-THE-COLLECTIONS [--teacher NET]"),
        ("gpu", "keisei label --recipe gpu --games GAMES.tsv.xz --positions N [--teacher NET]"),
        ("darkforest-small", "keisei label --recipe darkforest-small --data DIR-OF-THE-COLLECTIONS"),
        ("judgment", "keisei label --judgment --recipe judgment --data DIR-OF-THE-COLLECTIONS --teacher NET"),
        ("zero7", "keisei selfplay --net NET --visits 100 --out DIR (then --shards DIR/shards; keisei loop"),
    ],
)
def test_training_without_shards_names_the_command_that_makes_them(tmp_path, monkeypatch, recipe, command):
    monkeypatch.setenv("KEISEI_DATA", str(tmp_path))
    assert how_to_label(read_recipe(recipe), recipe).startswith(command)
    with pytest.raises(ShardError) as error:
        train(["--recipe", recipe, "--device", "cpu"])
    assert command in str(error.value) and str(tmp_path / recipe) in str(error.value)
    assert not (tmp_path / recipe).exists()


def test_labelled_sizes_that_no_share_names_are_told_and_so_is_a_missing_validation(small, caplog):
    (small / "small.toml").write_text((small / "small.toml").read_text().replace('"19" = 0.5, "9"', '"9"'))
    (small / "odd.toml").write_text((small / "small.toml").read_text().replace('"9" = 0.5', '"13" = 1.0'))
    assert label([*LABEL, "--positions", "80"]) == 0
    count = sum(entry["positions"] for entry in ShardFolder(small / "home/small/shards").entries)
    with pytest.raises(ShardError, match="0 of 16 on 13x13"):
        train(["--recipe", "odd.toml", "--device", "cpu", "--shards", "home/small/shards"])
    assert unnamed_sizes({9: count, 19: 5, 7: 0}, {"19": 1.0}) == (
        f"labelled, but not trained on, since [train] shares of the recipe do not name them: 9x9 ({count} positions)"
    )
    with caplog.at_level(logging.INFO):
        assert train(["--recipe", "small.toml", "--device", "cpu", "--no-tensorboard"]) == 0
    events = [json.loads(line) for line in (small / "home/small/run/log.jsonl").read_text().splitlines()]
    validated = "9" in events[-1]
    assert validated != ("no validation on 9x9" in caplog.text) and ("not_validated" in events[-1]) != validated
    with caplog.at_level(logging.WARNING):
        train(["--recipe", "small.toml", "--device", "cpu", "--no-tensorboard"])
    assert "all 12 steps of the run are done; --steps N prolongs it" in caplog.text


def test_a_stopped_training_saves_says_so_and_goes_on(small):
    assert label([*LABEL, "--positions", "80"]) == 0
    words = ["train", "--recipe", "small.toml", "--device", "cpu", "--threads", "1", "--no-tensorboard"]
    command, environment = child.python("-m", "engine", *words, "--steps", "100000")
    process = subprocess.Popen(command, env={**environment, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE, text=True)
    log, deadline = small / "home/small/run/log.jsonl", time.monotonic() + 120
    while not (log.exists() and log.read_text()) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors[-2000:]
    assert errors.endswith("keisei train: stopped; the same command goes on\n") and "Traceback" not in errors
    assert (small / "home/small/run/checkpoint.pt").exists()
