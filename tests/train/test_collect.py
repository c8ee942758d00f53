"""`keisei records`: SGF folders and tables into one table, each game once, and a manifest of what became of each."""

import json
import lzma
from collections import Counter

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.sgf import actions_to_letters, letters_to_actions
from engine.train.collect import main, parse_sizes
from engine.train.ends import final_owners, rules_of, scoring_of
from engine.train.records import Game, RecordError, read_any, read_sgf, write_table
from engine.train.samples import SamplePlan, SourcePlan, draw
from engine.train.selection import held_out, opening_key

OPEN = [40, 30, 31, 39, 49, 48, 50, 21, 22, 12, 13, 3, 4, 58]


def sgf(actions, size=9, extra="KM[7]RE[B+3.5]RU[Chinese]"):
    moves = "".join(f";{'BW'[i % 2]}[{actions_to_letters([a], size)}]" for i, a in enumerate(actions))
    return f"(;GM[1]SZ[{size}]{extra}{moves})"


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "mine"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.sgf").write_text(sgf(OPEN))
    (folder / "deep" / "b.SGF").write_text(sgf([*OPEN, 59, 60]))
    (folder / "deep" / "again.sgf").write_text(sgf(OPEN, extra=""))  # the same moves
    (folder / "short.sgf").write_text(sgf(OPEN[:4]))
    (folder / "handicap.sgf").write_text("(;GM[1]SZ[9]HA[2];B[cc];B[gg];W[ee]" + sgf(OPEN[1:])[11:].split("]", 4)[-1])
    (folder / "broken.sgf").write_text("(;GM[1]SZ[9];B[ee")
    (folder / "chess.sgf").write_text("(;GM[2]SZ[8])")
    (folder / "colors.sgf").write_text("(;GM[1]SZ[9];B[ee];W[dd];W[cc])")
    with lzma.open(tmp_path / "t.tsv.xz", "wt") as file:
        file.write("size\tkomi\tmoves\n9\t7\t" + actions_to_letters(OPEN, 9) + "\n9\tmany\tee\n")
        file.write("13\t7\t" + actions_to_letters(range(0, 40, 2), 13) + "\n")
    return folder, tmp_path / "t.tsv.xz"


def test_each_game_is_taken_once_and_the_rest_is_accounted_for(sources, tmp_path, caplog):
    folder, table = sources
    out = tmp_path / "out" / "games.tsv.xz"
    assert main([str(folder), str(table), "--out", str(out), "--sizes", "9", "--even", "--min-moves", "10"]) == 0
    games = list(read_any(out))
    manifest = json.loads((tmp_path / "out" / "games.tsv.xz.json").read_text())
    assert manifest["games"] == len(games) == 2 and {len(game.moves) for game in games} == {28, 32}
    mine, other = manifest["sources"][str(folder)], manifest["sources"][str(table)]
    counts = Counter(mine["games"])
    assert counts["taken"] == 2 and counts["too short"] == 1 and counts["unreadable"] == 3
    assert counts["another record of a game taken before"] == 1 and counts["handicap or set-up"] == 1
    assert counts["of them held out"] == sum(held_out(game) for game in games)
    reasons = {where.rsplit("/", 1)[-1]: why for where, why in mine["unreadable"]}
    assert set(reasons) == {"broken.sgf", "chess.sgf", "colors.sgf"} and "alternate" in reasons["colors.sgf"]
    wanted = {"another record of a game taken before": 1, "unreadable": 1, "another size": 1}
    assert {name: n for name, n in other["games"].items() if n} == wanted
    assert other["unreadable"][0][0].endswith("t.tsv.xz:3")
    assert "broken.sgf" in caplog.text
    first = games[0]
    assert (first.komi, first.rules, first.result, first.margin) == (7.0, "Chinese", 1, 3.5)


def test_excluded_games_are_not_taken(sources, tmp_path):
    folder, table = sources
    main([str(folder), "--out", str(tmp_path / "g.tsv"), "--exclude", str(table), "--min-moves", "10"])
    assert opening_key(read_sgf(folder / "a.sgf")) not in {opening_key(game) for game in read_any(tmp_path / "g.tsv")}
    with pytest.raises(RecordError, match="no such file"):
        main([str(tmp_path / "absent"), "--out", str(tmp_path / "g.tsv")])
    assert not (tmp_path / "g.tsv.part").exists() or (tmp_path / "g.tsv").exists()


def test_sizes_are_read_or_refused():
    assert parse_sizes("") == frozenset() and parse_sizes("9, 19") == {9, 19}
    for text in ("9,x", "1", "26", "9,,19"):
        with pytest.raises(ConfigError, match="--sizes"):
            parse_sizes(text)


def test_a_table_may_begin_with_a_byte_order_mark_and_end_its_lines_as_windows_does(tmp_path):
    (tmp_path / "w.tsv").write_bytes("\ufeffsize\tmoves\r\n9\teedd\r\n".encode())
    assert [game.moves for game in read_any(tmp_path / "w.tsv")] == ["eedd"]


def test_handicap_stones_that_black_plays_first_are_a_set_up(sources):
    game = read_sgf(sources[0] / "handicap.sgf")
    assert sorted(letters_to_actions(game.setup_black, 9)) == [20, 60] and game.first == 2


def test_a_table_reads_back_as_it_was_written(tmp_path):
    games = [
        Game(9, "eedd", 2, "aabb", "cc", 0.5, "Japanese", 1, True, "t", 2.5, "B" * 40 + "." + "W" * 40),
        Game(19, "pdzz", source="t"),
        Game(13, "aa", result=2, source="t"),
        Game(13, "aa", komi=-3.0, margin=0.0, source="t"),
    ]
    for name in ("t.tsv", "t.tsv.xz"):
        assert write_table(tmp_path / name, games) == 4
        assert list(read_any(tmp_path / name)) == games


def test_letters_and_actions():
    assert letters_to_actions("aasszz") == [0, 360, 361] and actions_to_letters([0, 360, 361]) == "aasszz"
    assert letters_to_actions(actions_to_letters(range(82), 9), 9) == list(range(82))


def table_of(path, games):
    write_table(path, games)
    return path.name


def test_a_game_in_two_collections_is_drawn_once_and_twins_of_held_out_games_never(tmp_path):
    rng = np.random.default_rng(1)
    games = [Game(9, actions_to_letters(rng.permutation(81)[:70], 9), komi=7.0) for _ in range(120)]
    kept = next(game for game in games if held_out(game))
    twins = [Game(9, kept.moves[:-2] + actions_to_letters([a], 9), komi=7.0) for a in range(81)]
    twin = next(game for game in twins if not held_out(game) and game.moves != kept.moves)
    assert opening_key(twin) == opening_key(kept)
    names = table_of(tmp_path / "a.tsv", games), table_of(tmp_path / "b.tsv", [twin, *games[:60]])
    plan = SamplePlan(tuple(SourcePlan(name, 10**6, 3) for name in names))
    told = {}
    samples = draw(plan, tmp_path, told)
    drawn = Counter(sample.game.moves for sample in samples)
    assert kept.moves not in drawn and twin.moves not in drawn and max(drawn.values()) <= 3
    assert told["b.tsv"]["another record of a game taken before"] == sum(not held_out(game) for game in games[:60])
    assert told["b.tsv"]["excluded"] == 1 and told["a.tsv"]["held out"] == sum(map(held_out, games))
    assert sum(counts["positions"] for counts in told.values()) == len(samples)


def played_out(margin, rules="Chinese", **more):
    """Black owns the left four columns and the fifth; White the other four: B 45, W 36 with walls at 4 and 5."""
    wall = [a for row in range(9) for a in (9 * row + 4, 9 * row + 5)]
    moves = actions_to_letters([*wall, 81, 81], 9)
    return Game(9, moves, komi=7.0, rules=rules, margin=margin, by_points=True, **more)


def test_owners_are_known_where_the_count_of_the_last_board_is_the_recorded_margin():
    owners = final_owners(played_out(2.0))
    assert owners.reshape(9, 9)[3].tolist() == [127] * 5 + [-127] * 4
    assert final_owners(played_out(3.0)) is None  # something was dead, or the record is wrong
    assert final_owners(played_out(2.0, rules="")) is None  # no rules, no count
    assert final_owners(played_out(2.0, rules="area")) is not None
    assert final_owners(played_out(2.0, rules="Japanese")) is not None  # territory 36 to 27, komi 7
    assert final_owners(Game(9, actions_to_letters(OPEN, 9), komi=0.0, rules="Chinese", margin=0.0)) is None
    told = played_out(50.0, ownership="W" * 81)
    assert (final_owners(told) == -127).all()  # what the players agreed on counts first


@pytest.mark.parametrize(
    ("text", "scoring"),
    [
        ("Chinese", "AREA"),
        ("area", "AREA"),
        ("territory", "TERRITORY"),
        ("JPN", ""),
        ("", ""),
        ("Korean", "TERRITORY"),
    ],
)
def test_rules_as_collections_write_them(text, scoring):
    assert scoring_of(text) == scoring and bool(rules_of(text)) == bool(scoring)


def test_a_byte_that_is_no_text_costs_its_row_alone(tmp_path):
    moves = "".join(f"{a}{b}" for a in "abcd" for b in "abcd")
    rows = [b"9\t" + moves.encode(), b"9\taa\xffbb" + moves.encode(), b"9\t" + moves[2:].encode()]
    (tmp_path / "t.tsv").write_bytes(b"size\tmoves\n" + b"\n".join(rows) + b"\n")
    assert main([str(tmp_path / "t.tsv"), "--out", str(tmp_path / "o.tsv")]) == 0
    told = json.loads((tmp_path / "o.tsv.json").read_text())["sources"][str(tmp_path / "t.tsv")]
    assert told["games"]["taken"] == 2 and told["games"]["unreadable"] == 1
    assert told["unreadable"][0][0].endswith("t.tsv:3")


def test_no_game_at_all_is_an_error_whose_manifest_says_why(tmp_path):
    (tmp_path / "t.tsv").write_text("size\tmoves\n9\taabb\n")
    with pytest.raises(RecordError, match="no game was taken"):
        main([str(tmp_path / "t.tsv"), "--out", str(tmp_path / "o.tsv")])
    assert json.loads((tmp_path / "o.tsv.json").read_text())["sources"][str(tmp_path / "t.tsv")]["games"] == {
        "too short": 1
    }


def test_a_table_that_cannot_be_written_leaves_no_half(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "t.tsv").write_text("size\tmoves\n9\t" + "aabbccddeeffgghhii" * 2 + "\n")
    with pytest.raises(OSError, match="out"):
        main([str(tmp_path / "t.tsv"), "--out", str(tmp_path / "out"), "--min-moves", "1"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "t.tsv"]
