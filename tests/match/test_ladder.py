"""`keisei ladder` over folders that matches have left."""

import itertools
import json

import pytest

from engine.match.bradley_terry import Rating
from engine.match.ladder import main
from engine.match.picture import draw_ladder


def folder(path, engines, results, **settings):
    """Write a match folder: results are (black, white, winner)."""
    path.mkdir()
    kept = {"engines": engines, "width": 9, "height": 9, "komi": 7.0, "rules": "chinese", "time": None, "visits": None}
    (path / "settings.json").write_text(json.dumps({**kept, **settings}))
    lines = [json.dumps({"game": i, "black": b, "white": w, "winner": won}) for i, (b, w, won) in enumerate(results)]
    (path / "games.jsonl").write_text("".join(line + "\n" for line in lines) + '{"game": 99, "bla')
    return str(path)


@pytest.fixture
def folders(tmp_path):
    one = folder(tmp_path / "1", {"A": "gnugo", "net": "keisei:x@1"}, [("A", "net", "net"), ("net", "A", None)] * 5)
    two = folder(tmp_path / "2", {"net": "keisei:x@1", "B": "gnugo"}, [("net", "B", "net"), ("B", "net", "B")] * 5)
    three = folder(tmp_path / "3", {"net": "keisei:x@1", "best": "y"}, [("net", "best", "best")] * 4)
    return [one, two, three]


def test_engines_of_several_folders_meet(folders, tmp_path, capsys):
    png, out, page = (tmp_path / name for name in ("l.png", "l.json", "l.md"))
    options = ["--anchor", "gnugo=1000", "--png", str(png), "--json", str(out), "--markdown", str(page)]
    assert main([*folders, *options]) == 0
    found = json.loads(out.read_text())
    assert [row["name"] for row in found["ladder"]] == ["best", "net", "gnugo"]
    assert [(row["games"], row["points"]) for row in found["ladder"]] == [(4, 4), (24, 12.5), (20, 7.5)]
    gnugo = found["ladder"][2]
    assert (gnugo["elo"], gnugo["error95"]) == (1000, 0)
    assert {"for": "net", "against": "gnugo", "points": 12.5} in found["results"]
    text = capsys.readouterr().out
    assert page.read_text() == text and "12.5-7.5" in text
    assert png.read_bytes().startswith(b"\x89PNG\r\n")


def test_two_names_of_one_engine(folders, tmp_path, capsys):
    stranger = folder(tmp_path / "5", {"p": "keisei:x@1", "q": "q"}, [("p", "q", "q")])
    assert main([*folders, stranger, "--same", "p=net", "--same", "gnugo=anchor", "--anchor", "anchor=0"]) == 0
    text = capsys.readouterr().out
    assert "| q" in text and "| anchor" in text and "| p" not in text and "gnugo" not in text


def test_what_cannot_be_joined(folders, tmp_path, capsys):
    other = folder(tmp_path / "4", {"net": "keisei:x@1", "z": "z"}, [("net", "z", "z")], komi=6.5)
    stranger = folder(tmp_path / "5", {"p": "p", "q": "q"}, [("p", "q", "q")])
    empty = folder(tmp_path / "6", {"p": "p", "q": "q"}, [])
    cases = [
        ([*folders, other], "komi is 6.5"),
        ([*folders, stranger], "no games link"),
        ([empty], "no finished game"),
        ([str(tmp_path / "none")], "no match folder"),
        ([folders[0], "--anchor", "nobody=3"], "nobody did not play"),
        ([folders[0], "--anchor", "net"], "NAME=ELO"),
        ([folders[0], "--same", "net"], "NAME=OTHER"),
        ([folders[0], "--same", "net=gnugo"], "two engines"),
    ]
    for arguments, text in cases:
        assert main(arguments) == 1
        assert text in capsys.readouterr().err
    assert main([*folders, other, "--mixed"]) == 0
    (tmp_path / "6" / "settings.json").write_text('{"a": "x", "b": "y"}')
    assert main([empty]) == 1


def test_another_command_under_the_same_name_is_told(folders, tmp_path, caplog):
    other = folder(tmp_path / "4", {"net": "keisei:x@9", "best": "y"}, [("net", "best", "best")])
    assert main([*folders, other]) == 0
    assert "keisei:x@9" in caplog.text


def test_a_picture_of_many_and_of_long_names(tmp_path):
    ratings = [Rating(f"{i} $weird_^name " * 6, -30.0 * i, 20.0, 10, 5) for i in range(30)]
    draw_ladder(ratings, tmp_path / "many.png", title="$")
    assert (tmp_path / "many.png").stat().st_size > 10_000


def test_odd_line_breaks_in_what_engines_say_are_no_new_games(tmp_path, capsys):
    path = folder(tmp_path / "1", {"p": "p", "q": "q"}, [])
    line = {"game": 0, "black": "p", "white": "q", "winner": "q", "answers": {"p": "one\x85two\u2028three"}}
    (tmp_path / "1" / "games.jsonl").write_text(json.dumps(line, ensure_ascii=False) + "\n", "utf-8")
    assert main([path]) == 0
    assert "| q" in capsys.readouterr().out


def test_a_renaming_of_nobody_is_an_error(folders, capsys):
    assert main([*folders, "--same", "zz=net"]) == 1
    assert "--same zz=net: no engine is called zz" in capsys.readouterr().err


def test_a_table_of_many_is_fit_for_a_terminal(tmp_path, capsys):
    names = [f"engine-{i:02}" for i in range(14)]
    folders = [folder(tmp_path / str(i), {a: a, b: b}, [(a, b, a), (b, a, a), (a, b, b)])
               for i, (a, b) in enumerate(itertools.pairwise(names))]  # fmt: skip
    assert main(folders) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "| 1 engine-00  | 2 engine-01  | 2-1    |" in lines and len(lines) == 2 + 14 + 1 + 2 + 13
