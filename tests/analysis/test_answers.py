"""Whole answers against slow, obvious code, and against the same search alone."""

from __future__ import annotations

import dataclasses
import json
import random

import numpy as np
import pytest

from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import parse_rules
from engine.board.vertex import format_vertex, parse_vertex
from engine.evaluator_fakes import HashEvaluator
from engine.judge.net_judge import Judge
from engine.judge.text import as_dict
from engine.search.params import SearchParams
from engine.search.root import Limits, MoveLimit, RootOptions
from engine.search.searcher import Searcher

PARAMS = SearchParams(symmetry="random", cache_memory=1, two_batches=False)  # as conftest.py has them
COLORS = {"B": BLACK, "W": WHITE}


def alone(query, turn=None, params=PARAMS, **root):
    """What the same search finds with nothing beside it. Return its result and the position."""
    width, height = query.get("boardXSize", 19), query.get("boardYSize", query.get("boardXSize", 19))
    rules = query.get("rules", "chinese-ogs")
    position = Position(width, height, rules=parse_rules(rules if isinstance(rules, str) else json.dumps(rules)),
                        komi=query.get("komi", 7.0 if (width, height) == (9, 9) else 7.5))  # fmt: skip
    moves = query.get("moves", [])
    stones = [
        (COLORS[player], parse_vertex(vertex, width, height)) for player, vertex in query.get("initialStones", [])
    ]
    first = COLORS[query.get("initialPlayer", moves[0][0] if moves else "B")]
    position.set_up(stones, first)
    turn = len(moves) if turn is None else turn
    for player, vertex in moves[:turn]:
        position.play(parse_vertex(vertex, width, height), COLORS[player], tolerant=True)
    color = COLORS[moves[turn][0]] if turn < len(moves) else 3 - COLORS[moves[-1][0]] if moves else first
    searcher = Searcher(HashEvaluator(), params, seed=1)
    searcher.set_position(position, color)
    return searcher.search(Limits(visits=query["maxVisits"]), root=RootOptions(**root)), position


def as_expected(query, result, position, view, wants=(), turn=None, legal_color=None):
    """The answer that a result should make, written out by hand."""
    sign = {"BLACK": 1 if result.color == BLACK else -1, "WHITE": 1 if result.color == WHITE else -1}.get(view, 1)
    width, height = position.width, position.height

    def chance(p):
        return p if sign > 0 else 1 - p

    def points(grid, s):
        return [s * float(grid[y][x]) for y in range(height) for x in range(width)]

    def shared(x):
        return {"winrate": chance(x.winrate), "scoreLead": sign * x.lead, "scoreMean": sign * x.lead,
                "scoreSelfplay": sign * x.score_mean, "scoreStdev": x.score_stdev,
                "utility": sign * x.utility}  # fmt: skip

    infos = []
    for order, move in enumerate(result.moves if result.visits > 1 else []):  # one visit is the root's
        pv = [format_vertex(action, width, height) for action in move.pv]
        info = {"move": pv[0], "order": order, "visits": move.visits, "edgeVisits": move.edge_visits, **shared(move),
                "lcb": chance(move.lcb), "utilityLcb": sign * move.utility_lcb, "weight": move.weight,
                "prior": move.prior, "pv": pv}  # fmt: skip
        if "includePVVisits" in wants:
            info |= {"pvVisits": move.pv_visits, "pvEdgeVisits": move.pv_edge_visits}
        if "includeMovesOwnership" in wants:
            info["ownership"] = points(move.ownership, sign)
        infos.append(info)
    raw = result.raw
    root = {"currentPlayer": "B" if result.color == BLACK else "W", "visits": result.visits, **shared(result),
            "weight": float(result.visits), "rawWinrate": chance(raw.winrate), "rawLead": sign * raw.lead,
            "rawScoreSelfplay": sign * raw.score_mean, "rawScoreSelfplayStdev": raw.score_stdev}  # fmt: skip
    turns = len(query.get("moves", [])) if turn is None else turn
    answer = {"id": query["id"], "turnNumber": turns, "isDuringSearch": False, "moveInfos": infos, "rootInfo": root}
    if "includeOwnership" in wants:
        answer["ownership"] = points(result.ownership, sign)
    if "includeOwnershipStdev" in wants:
        answer["ownershipStdev"] = points(result.ownership_stdev, 1)
    if "includePolicy" in wants:
        answer["policy"] = [
            float(f"{result.raw.policy[action]:.6g}") if position.is_legal(action, result.color) else -1
            for action in range(width * height + 1)
        ]
    return answer


def same(found, expected, slack=6e-7):
    """Compare with numbers as closely as answers are rounded; keys in the same order."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        return all(same(found[key], expected[key], 6e-5 if "ownership" in key else slack) for key in expected)
    if isinstance(expected, list):
        assert len(found) == len(expected)
        return all(same(a, b, slack) for a, b in zip(found, expected, strict=True))
    if isinstance(expected, float):
        assert abs(found - expected) <= slack, (found, expected)
        return True
    assert found == expected
    return True


def random_game(rng, width, height, length):
    """Moves of a random game as a query has them."""
    position = Position(width, height, rules="tromp-taylor")
    moves = []
    for number in range(length):
        color = BLACK if number % 2 == 0 else WHITE
        legal = np.flatnonzero(position.legal_mask(color)).tolist()
        action = rng.choice(legal)
        position.play(action, color)
        moves.append(["BW"[number % 2], format_vertex(action, width, height)])
    return moves


EVERYTHING = ("includeOwnership", "includeOwnershipStdev", "includeMovesOwnership", "includePolicy", "includePVVisits")


@pytest.mark.parametrize("view", ["BLACK", "WHITE", "SIDETOMOVE"])
@pytest.mark.parametrize("wants", [(), EVERYTHING])
@pytest.mark.parametrize("moves", [[["B", "D4"]], [["B", "D4"], ["W", "pass"]], []])
def test_whole_answer(local, view, wants, moves):
    query = {"id": "a", "boardXSize": 7, "boardYSize": 5, "rules": "japanese", "komi": -3.5, "moves": moves,
             "initialStones": [["B", "A1"], ["W", "G5"]], "initialPlayer": "W" if not moves else "B", "maxVisits": 40,
             **dict.fromkeys(wants, True), "overrideSettings": {"reportAnalysisWinratesAs": view}}  # fmt: skip
    result, position = alone(
        query, ownership="includeOwnership" in wants, moves_ownership="includeMovesOwnership" in wants
    )
    assert same(local().ask(query).run().final("a"), as_expected(query, result, position, view, wants))


def test_many_at_once_are_as_if_alone(local):
    """Sizes, visits, rules and priorities all mixed; every answer is the one of its search alone."""
    rng = random.Random(5)
    queries = []
    for number in range(60):
        width, height = rng.choice([(9, 9), (9, 9), (7, 5), (5, 7), (13, 13)])
        queries.append({
            "id": str(number), "boardXSize": width, "boardYSize": height, "maxVisits": rng.choice([1, 2, 16, 70]),
            "moves": random_game(rng, width, height, rng.randrange(30)), "komi": rng.choice([0, 6.5, -7]),
            "rules": rng.choice(["japanese", "chinese", {"scoring": "AREA", "ko": "SIMPLE"}]),
            "priority": rng.randrange(-2, 3), "overrideSettings": {"reportAnalysisWinratesAs": "SIDETOMOVE"},
        })  # fmt: skip
    engine = local()
    sink = engine.ask(*queries).run()
    for query in queries:
        result, position = alone(query)
        assert same(sink.final(query["id"]), as_expected(query, result, position, "SIDETOMOVE"))
    assert engine.scheduler.batches.sent < engine.scheduler.batches.evaluated / 4  # they did share batches


def test_turns_of_one_game(local):
    query = {"id": "g", "boardXSize": 9, "moves": random_game(random.Random(1), 9, 9, 20), "maxVisits": 5,
             "analyzeTurns": [20, 0, 3, 7, 7, 4], "includePolicy": True}  # fmt: skip
    answers = local().ask(query).run().answers
    assert sorted(answer["turnNumber"] for answer in answers) == [0, 3, 4, 7, 20]
    for answer in answers:
        result, position = alone(query, answer["turnNumber"])
        expected = as_expected(query, result, position, "BLACK", ("includePolicy",), answer["turnNumber"])
        assert same(answer, expected)


def test_moves_out_of_turn(local):
    """A color given twice in a row is that color's move, and the side to move at a turn is the one that did move."""
    query = {"id": "g", "boardXSize": 9, "moves": [["W", "C3"], ["W", "D4"], ["W", "E5"], ["B", "F6"]], "maxVisits": 3,
             "analyzeTurns": [0, 1, 2, 3, 4]}  # fmt: skip
    players = {a["turnNumber"]: a["rootInfo"]["currentPlayer"] for a in local().ask(query).run().answers}
    assert players == {0: "W", 1: "W", 2: "W", 3: "B", 4: "W"}


def test_avoid_and_allow(local):
    base = {"boardXSize": 5, "maxVisits": 60, "moves": [["B", "C3"]]}
    few = ["A1", "B2", "pass"]
    avoid = [{"player": "W", "moves": few, "untilDepth": 1}, {"player": "B", "moves": ["D4"], "untilDepth": 4}]
    sink = local().ask(
        {**base, "id": "allow", "allowMoves": [{"player": "W", "moves": few, "untilDepth": 1}]},
        {**base, "id": "avoid", "avoidMoves": avoid},
        {**base, "id": "other", "avoidMoves": [{"player": "B", "moves": few, "untilDepth": 1}]},
        {**base, "id": "none", "allowMoves": [{"player": "W", "moves": ["C3"], "untilDepth": 1}]},
    ).run()  # fmt: skip
    assert {info["move"] for info in sink.final("allow")["moveInfos"]} == set(few)
    lines = sink.final("avoid")["moveInfos"]
    assert not {info["move"] for info in lines} & set(few)
    assert not any("D4" in info["pv"][1:4:2] for info in lines)
    assert sink.final("none") == {"error": "search: no legal move is allowed", "id": "none", "turnNumber": 1}
    limits = (MoveLimit(WHITE, tuple(sorted(parse_vertex(v, 5, 5) for v in few)), 1),
              MoveLimit(BLACK, (parse_vertex("D4", 5, 5),), 4))  # fmt: skip
    query = {**base, "id": "avoid"}
    result, position = alone(query, avoid=limits)
    assert same(sink.final("avoid"), as_expected(query, result, position, "BLACK"))


def test_override_settings(local):
    base = {"id": "a", "boardXSize": 7, "maxVisits": 50}
    changed = {
        "cpuctExploration": 3.0,
        "wideRootNoise": 0.1,
        "search.fpu_reduction": 0.5,
        "reportAnalysisWinratesAs": "WHITE",
    }
    query = {**base, "overrideSettings": changed, "analysisPVLen": 2}
    params = dataclasses.replace(PARAMS, cpuct=3.0, wide_root_noise=0.1, fpu_reduction=0.5, pv_length=3)
    result, position = alone(query, params=params)
    answer = local().ask(query).run().final("a")
    assert same(answer, as_expected(query, result, position, "WHITE"))
    assert max(len(info["pv"]) for info in answer["moveInfos"]) == 3
    for key in ("maxVisits", "maxPlayouts"):
        found = local().ask({"id": "a", "boardXSize": 7, "overrideSettings": {key: 9}}).run().final("a")
        assert found["rootInfo"]["visits"] == 9
    with_time = local().ask({**base, "maxVisits": 10**9, "overrideSettings": {"maxTime": 0.05}}).run().final("a")
    assert 1 <= with_time["rootInfo"]["visits"] < 10**6


def test_a_finished_game(local):
    """Two passes end it, but the board can still be asked about."""
    query = {"id": "a", "boardXSize": 5, "moves": [["B", "C3"], ["W", "pass"], ["B", "pass"]], "maxVisits": 10}
    result, position = alone(query)
    assert position.ended
    assert same(local().ask(query).run().final("a"), as_expected(query, result, position, "BLACK"))


def test_judgment_is_the_judges(local):
    judge = Judge(HashEvaluator())
    query = {"id": "a", "boardXSize": 9, "moves": [["B", "E5"], ["W", "C3"], ["B", "pass"]], "includeJudgment": True,
             "maxVisits": 4, "analyzeTurns": [1, 3], "komi": 6.5, "rules": "japanese"}  # fmt: skip
    answers = local(judge=judge).ask(query, {**query, "id": "b", "includeJudgment": False}).run().answers
    for answer in answers:
        if answer["id"] == "b":
            assert "judgment" not in answer
            continue
        _, position = alone(query, answer["turnNumber"])
        expected = as_dict(position, Judge(HashEvaluator()).judge(position))
        assert answer["judgment"] == json.loads(json.dumps(expected))


def test_komi_by_default_and_rules_by_default(local):
    base = {"maxVisits": 1, "includeJudgment": True}
    engine = local(judge=Judge(HashEvaluator()))
    answers = engine.ask({**base, "id": "a", "boardXSize": 9}, {**base, "id": "b", "boardXSize": 7}).run()
    assert [answers.final(n)["judgment"]["komi"] for n in "ab"] == [7.0, 7.5]
    assert answers.final("a")["judgment"]["rules"]["ko"] == "POSITIONAL"
