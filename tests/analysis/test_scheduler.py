"""Priorities, termination, reports, failures: what happens while many positions are searched."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import EngineError
from engine.evaluator_fakes import HashEvaluator, TwoStepEvaluator
from engine.search.params import SearchParams

BASE = {"boardXSize": 9, "maxVisits": 4}


def ids(sink):
    return [answer["id"] for answer in sink.answers]


def test_priorities(local):
    engine = local(searches=1)
    sink = engine.ask(*({**BASE, "id": f"{p}", "priority": p} for p in (0, -5, 3, 1000, -99, 7))).run()
    assert ids(sink) == ["1000", "7", "3", "0", "-5", "-99"]


def test_equal_priorities_come_in_order(local):
    sink = local(searches=1).ask(*({**BASE, "id": f"{n}"} for n in range(20))).run()
    assert ids(sink) == [f"{n}" for n in range(20)]


def test_priorities_of_turns(local):
    moves = [["B", "E5"], ["W", "C3"], ["B", "G7"]]
    query = {**BASE, "id": "a", "moves": moves, "analyzeTurns": [0, 1, 2, 3], "priorities": [1, 5, 3, 5]}
    sink = local(searches=1).ask(query, {**BASE, "id": "b", "priority": 4}).run()
    assert [(a["id"], a["turnNumber"]) for a in sink.answers] == [("a", 1), ("a", 3), ("b", 0), ("a", 2), ("a", 0)]


def test_what_is_urgent_overtakes_what_runs(local):
    """All places are taken by long searches; an urgent query still begins at once and ends first."""
    engine = local(searches=4, rows=4)
    engine.ask(*({**BASE, "id": f"long{n}", "maxVisits": 600} for n in range(8)))
    engine.scheduler._take_inbox()
    for _ in range(5):
        engine.scheduler.step()
    engine.ask({**BASE, "id": "now", "maxVisits": 20, "priority": 1})
    sink = engine.run()
    assert ids(sink)[0] == "now" and len(ids(sink)) == 9


def test_terminate(local):
    engine = local(searches=2)
    engine.ask(*({**BASE, "id": name, "maxVisits": 10**6} for name in ("a", "b", "c")))
    engine.ask({**BASE, "id": "turns", "moves": [["B", "E5"]] * 0, "analyzeTurns": [0]})
    engine.scheduler._take_inbox()
    for _ in range(20):
        engine.scheduler.step()
    engine.ask(
        {"id": "t", "action": "terminate", "terminateId": "a"}, {"id": "u", "action": "terminate", "terminateId": "c"}
    )
    assert engine.sink.answers == [
        {"action": "terminate", "id": "t", "terminateId": "a"}, {"action": "terminate", "id": "u", "terminateId": "c"},
    ]  # fmt: skip
    engine.ask({"id": "v", "action": "terminate", "terminateId": "b"})
    sink = engine.run()
    assert sink.final("a")["rootInfo"]["visits"] > 1 and sink.final("b")["rootInfo"]["visits"] > 1
    assert sink.final("c") == {"id": "c", "turnNumber": 0, "isDuringSearch": False, "noResults": True}
    assert sink.final("turns")["rootInfo"]["visits"] == 4


def test_terminate_some_turns(local):
    moves = [["B", "E5"], ["W", "C3"], ["B", "G7"]]
    query = {**BASE, "id": "a", "moves": moves, "analyzeTurns": [0, 1, 2, 3]}
    engine = local().ask(query, {"id": "t", "action": "terminate", "terminateId": "a", "turnNumbers": [1, 3, 9]})
    answers = engine.run().answers[1:]
    assert {a["turnNumber"]: a.get("noResults", False) for a in answers} == {0: False, 1: True, 2: False, 3: True}


def test_terminate_all_and_go_on(local):
    engine = local().ask(*({**BASE, "id": f"{n}"} for n in range(3000)))
    engine.ask({"id": "t", "action": "terminate_all"}, {**BASE, "id": "after"})
    sink = engine.run()
    assert sink.answers[0] == {"action": "terminate_all", "id": "t"}
    assert len(sink.answers) == 3002 and sink.final("after")["rootInfo"]["visits"] == 4
    assert sum(answer.get("noResults", False) for answer in sink.answers) == 3000


def test_terminate_unknown_or_finished(local):
    engine = local().ask({**BASE, "id": "a"})
    engine.scheduler.answer_all()
    sink = engine.ask({"id": "t", "action": "terminate", "terminateId": "a"}).run()
    assert ids(sink) == ["a", "t"]


def test_the_same_id_twice(local):
    engine = local().ask({**BASE, "id": "a"}, {**BASE, "id": "a", "maxVisits": 7}, {**BASE, "id": "b"})
    assert sorted(a["rootInfo"]["visits"] for a in engine.run().of("a")) == [4, 7]
    engine = local().ask(
        {**BASE, "id": "a"}, {**BASE, "id": "a"}, {"id": "t", "action": "terminate", "terminateId": "a"}
    )
    assert sum(answer.get("noResults", False) for answer in engine.run().answers) == 2


def test_reports(local):
    query = {**BASE, "id": "a", "maxVisits": 10_000, "reportDuringSearchEvery": 0.01, "includeOwnership": True}
    answers = local().ask(query).run().answers
    visits = [answer["rootInfo"]["visits"] for answer in answers]
    assert [answer["isDuringSearch"] for answer in answers] == [True] * (len(answers) - 1) + [False]
    assert len(answers) > 3 and visits == sorted(visits) and visits[-1] == 10_000
    assert all(len(answer["ownership"]) == 81 for answer in answers)
    first = {**query, "reportDuringSearchEvery": 1000, "firstReportDuringSearchAfter": 0.01}
    assert [a["isDuringSearch"] for a in local().ask(first).run().answers] == [True, False]


def test_reports_are_left_out_where_nobody_reads(local):
    engine = local().ask({**BASE, "id": "a", "maxVisits": 1000, "reportDuringSearchEvery": 0.01})
    engine.sink.crowded = True
    assert [answer["isDuringSearch"] for answer in engine.run().answers] == [False]


def test_a_game_known_to_its_end_holds_up_nobody(local):
    """Territory scoring proves nothing, so this search walks to the same ends for ever; the others go on."""
    small = {"id": "small", "boardXSize": 2, "rules": "japanese", "maxVisits": 1 << 30}
    engine = local(params=SearchParams(solver=False, cache_memory=4)).ask(
        small, {**BASE, "id": "other", "maxVisits": 30}
    )
    engine.scheduler._take_inbox()
    for _ in range(20_000):
        engine.scheduler.step()
        if engine.sink.answers:
            break
    assert ids(engine.sink) == ["other"]
    sink = engine.ask({"id": "t", "action": "terminate", "terminateId": "small"}).run()
    assert sink.final("small")["rootInfo"]["visits"] > 1000


class Failing(HashEvaluator):
    """Cannot evaluate boards with a stone on the first point; raises, or gives what is no number."""

    def __init__(self, how):
        super().__init__()
        self.how = how

    def evaluate(self, spatial, globals_, *, ownership=False):
        bad = spatial[:, 1:3, 0, 0].any(axis=1)
        if self.how == "raise" and bad.any():
            raise EngineError("the device is gone")
        if self.how == "bug" and bad.any():
            raise RuntimeError("a bug")
        found = super().evaluate(spatial, globals_, ownership=ownership)
        found.value[bad] = np.nan
        return found


@pytest.mark.parametrize(
    ("how", "word"), [("raise", "the device is gone"), ("bug", "internal error"), ("nan", "finite")]
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_an_error_meets_its_own_query_alone(local, how, word, wrapped):
    evaluator = TwoStepEvaluator(Failing(how)) if wrapped else Failing(how)
    avoid = [{"player": player, "moves": ["A9"], "untilDepth": 100} for player in "BW"]
    queries = [{**BASE, "id": f"{n}", "avoidMoves": avoid, "maxVisits": 12} for n in range(6)]
    queries[2] |= {"initialStones": [["B", "A9"]]}
    fixed = SearchParams(cache_memory=1)  # the first point stays the first
    sink = local(evaluator, params=fixed).ask(*queries).run()
    assert word in sink.final("2")["error"] and len(sink.answers) == 6
    expected = local(params=fixed).ask(*queries[3:]).run()
    for n in (0, 1, 3, 4, 5):
        assert sink.final(str(n))["moveInfos"] == expected.final("3")["moveInfos"]


def test_boards_that_the_net_does_not_know(local):
    class Small(HashEvaluator):
        def supports_size(self, width, height):
            return width <= 9

    sink = local(Small()).ask({"id": "a", "boardXSize": 13}, {**BASE, "id": "b"}).run()
    assert sink.final("a")["field"] == "boardXSize" and "rootInfo" in sink.final("b")


def test_memory_of_all_trees(local, caplog):
    """Where the trees hold too much the largest ends early, and says so."""
    sink = local(memory=2).ask({**BASE, "id": "a", "maxVisits": 20_000}, {**BASE, "id": "b", "maxVisits": 100}).run()
    assert 100 < sink.final("a")["rootInfo"]["visits"] < 20_000 and sink.final("b")["rootInfo"]["visits"] == 100
    assert "analysis.memory" in caplog.text


def test_two_batches_in_flight_change_nothing(local):
    queries = [
        {**BASE, "id": f"{n}", "maxVisits": 30 + n, "moves": [["B", f"{'ABCDEFGHJ'[n % 9]}5"]]} for n in range(40)
    ]
    one = local().ask(*queries).run()
    two = local(TwoStepEvaluator(HashEvaluator())).ask(*queries).run()
    assert {a["id"]: a for a in one.answers} == {a["id"]: a for a in two.answers}


def test_clear_cache_in_the_middle(local):
    queries = [{**BASE, "id": f"{n}"} for n in range(30)]
    sink = local().ask(*queries[:15], {"id": "c", "action": "clear_cache"}, *queries[15:]).run()
    assert len(sink.answers) == 31
