"""Who plays whom, under which number, and when a pairing ends early."""

import time

import pytest

from engine.errors import ConfigError
from engine.match.engines import parse_engines
from engine.match.schedule import GAUNTLET, ROUND_ROBIN, Schedule, make_pairings
from engine.match.sprt import Gate, Sprt


def line(game, winner):
    return {"game": game.number, "black": game.black, "white": game.white, "winner": winner}


def drain(schedule):
    games = []
    while (game := schedule.next()) is not None:
        games.append(game)
    return games


def test_pairings():
    assert make_pairings("ABC", ROUND_ROBIN) == [("A", "B"), ("A", "C"), ("B", "C")]
    assert make_pairings("ABC", GAUNTLET) == [("A", "B"), ("A", "C")]
    with pytest.raises(ConfigError, match="two engines"):
        make_pairings("A", ROUND_ROBIN)


@pytest.mark.parametrize("games", [1, 2, 5, 6])
def test_every_pairing_plays_each_opening_with_both_colors(games):
    pairings = make_pairings("ABCD", ROUND_ROBIN)
    schedule = Schedule(pairings, games, {})
    played = drain(schedule)
    assert len(played) == len({game.number for game in played}) == 6 * games == schedule.total
    for pairing, (a, b) in enumerate(pairings):
        mine = [game for game in played if game.pairing == pairing]
        assert [game.opening for game in mine] == [index // 2 for index in range(games)]
        assert [(game.black, game.white) for game in mine] == [(a, b) if i % 2 == 0 else (b, a) for i in range(games)]
    assert [game.opening for game in played] == sorted(game.opening for game in played)


def test_two_engines_count_games_through():
    games = drain(Schedule([("A", "B")], 5, {}))
    assert [(game.number, game.opening, game.black) for game in games] == [
        (0, 0, "A"), (1, 0, "B"), (2, 1, "A"), (3, 1, "B"), (4, 2, "A"),
    ]  # fmt: skip


def test_a_longer_match_keeps_the_numbers():
    short, long = (Schedule(make_pairings("ABC", ROUND_ROBIN), n, {}) for n in (4, 8))
    assert drain(short) == drain(long)[:12]


def test_what_is_done_or_out_is_not_handed_out_again():
    done = {}
    schedule = Schedule([("A", "B")], 4, done)
    first, second = schedule.next(), schedule.next()
    done[first.number] = line(first, "A")
    schedule.finished(first)
    schedule.give_back(second)
    assert schedule.remaining() == 3
    assert [game.number for game in drain(schedule)] == [second.number, 2, 3]
    assert schedule.scores(0) == [1.0, None, None, None]
    assert [game.number for game in drain(Schedule([("A", "B")], 4, done))] == [1, 2, 3]


def test_a_decided_pairing_gets_no_more_games():
    done = {}
    schedule = Schedule([("A", "B"), ("A", "C")], 100, done, Sprt(0, 200))
    played = 0
    while (game := schedule.next()) is not None:
        done[game.number] = line(game, "A" if "B" in (game.black, game.white) or game.number % 4 == 2 else None)
        schedule.finished(game)
        played += 1
    assert schedule.verdict(0).decision == "H1"
    assert played == 100 + schedule.verdict(0).used or schedule.verdict(1).decision is not None
    assert drain(Schedule([("A", "B"), ("A", "C")], 100, done, Sprt(0, 200))) == []


def test_a_gate_ends_the_match():
    done = {}
    schedule = Schedule([("A", "B")], 20, done, Gate(0.6, 20))
    while (game := schedule.next()) is not None:
        done[game.number] = line(game, "B")
        schedule.finished(game)
    assert len(done) == 9 and schedule.verdict(0).decision == "failed" and schedule.remaining() == 0


def test_no_game_begins_when_the_time_is_up():
    early = Schedule([("A", "B")], 4, {}, until=time.monotonic() + 1000)
    late = Schedule([("A", "B")], 4, {}, until=time.monotonic() - 1)
    assert len(drain(early)) == 4 and not early.is_late
    assert drain(late) == [] and late.is_late and late.remaining() == 4


def test_names():
    engines = parse_engines(["gnugo --mode gtp", "weak=gnugo --level=1", "keisei:b6c64@1"])
    assert [(engine.label, engine.command) for engine in engines] == [
        ("A", "gnugo --mode gtp"), ("weak", "gnugo --level=1"), ("C", "keisei:b6c64@1"),
    ]  # fmt: skip
    assert [engine.is_local for engine in engines] == [False, False, True]
    for texts in (["x=a", "x=b"], ["B=a", "b"], ["referee=a", "b"]):
        with pytest.raises(ConfigError):
            parse_engines(texts)
    with pytest.raises(ConfigError, match="'b6 1 visit' is no name"):
        parse_engines(["b6 1 visit=keisei:@1", "b"])
    program = "referee.py --over keisei:b6c64 --engine=keisei:b6c64@1"
    assert parse_engines([program, "keisei:@1 --set gtp.name=keisei:x"])[0].command == program


def test_in_handicap_games_the_second_engine_is_always_black():
    schedule = Schedule([("strong", "weak")], 4, {}, swap=False)
    assert [(schedule.game(i).black, schedule.game(i).white) for i in range(4)] == [("weak", "strong")] * 4
