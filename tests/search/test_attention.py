"""When a search with a clock ends: unclear moves get more, decided ones less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.attention import doubts, is_decided, should_stop, wanted
from engine.search.result import MoveInfo, RawNet, SearchResult, SearchStats
from engine.search.timing import Budget


def move(action, edge_visits, winrate=0.5, proven=None, visits=None):
    return MoveInfo(
        action=action, visits=visits or edge_visits, edge_visits=edge_visits, winrate=winrate, utility=0.0,
        score_mean=0.0, score_stdev=0.0, lead=0.0, prior=0.1, lcb=winrate, utility_lcb=0.0, weight=0.0, order=0,
        proven=proven, pv=[action], pv_visits=[0], pv_edge_visits=[0],
    )  # fmt: skip


def result(*moves, winrate=0.5, policy=(0.6, 0.3, 0.1), playouts=100, elapsed=1.0, judged=True):
    raw = RawNet(0.5, 0.0, 0.0, 0.0, 0.0, np.array(policy, np.float32))
    most = max(moves, key=lambda m: m.edge_visits).action
    return SearchResult(
        color=1, width=1, height=2, visits=sum(m.edge_visits for m in moves), winrate=winrate, utility=0.0, lead=0.0,
        score_mean=0.0, score_stdev=0.0, proven=None, raw=raw, moves=list(moves), best_action=moves[0].action,
        most_visited=most, chosen=moves[0].action, policy_target=raw.policy, judged=judged,
        stats=SearchStats(elapsed=elapsed, playouts=playouts),
    )  # fmt: skip


CLEAR = result(move(0, 90), move(1, 10, 0.3))


def test_a_clear_move_has_no_doubts():
    assert doubts(CLEAR).total < 0.1
    assert doubts(result(move(0, 5))).total == 0.0


@pytest.mark.parametrize(
    ("unclear", "before", "kind"),
    [
        (result(move(0, 50), move(1, 50)), None, "rival"),
        (result(move(2, 90), move(0, 10, 0.3)), None, "surprise"),
        (result(move(0, 90), move(1, 10, 0.3), winrate=0.4), 0.5, "falling"),
        (result(move(0, 40), move(1, 60, 0.3)), None, "unstable"),
    ],
)
def test_what_makes_a_move_unclear(unclear, before, kind):
    assert getattr(doubts(unclear, before), kind) > 0.8 and doubts(unclear, before).total > doubts(CLEAR).total + 0.2


def test_a_rising_winrate_and_a_net_that_judges_nothing_are_no_doubts():
    assert doubts(CLEAR, 0.1).falling == 0.0
    assert doubts(result(move(0, 50), move(1, 50), judged=False)).total == 0.0


def test_unclear_moves_get_more_time_within_the_hard_limit():
    budget = Budget(1.0, 2.0)
    assert wanted(budget, 0.0) < 1.0 < wanted(budget, 0.5) < wanted(budget, 1.0) == 2.0


def test_a_period_is_used_to_its_end_and_a_second_one_for_unclear_moves_only():
    budget = Budget(1.0, 2.0, saves=False)
    assert wanted(budget, 0.0) == 1.0 and wanted(budget, 0.9) == 2.0
    assert not should_stop(CLEAR, budget, 0.9) and should_stop(CLEAR, budget, 1.0)


def test_visits_by_other_orders_of_moves_make_no_rival():
    """With search.graph a position may have more visits than its move, which is chosen by its own."""
    graph = result(move(0, 90), move(1, 10, visits=500))
    assert doubts(graph).rival == pytest.approx(10 / 90)
    assert is_decided(result(move(0, 90), move(1, 10, 0.3, visits=500)), 79)
    assert not is_decided(result(move(0, 90, visits=5000), move(1, 60, visits=60)), 30)
    assert is_decided(result(move(0, 90, visits=90), move(1, 12, 0.6, visits=400)), 0)  # too few of its own
    assert doubts(result(move(0, 50, visits=500), move(1, 50))).rival == 1.0
    both = result(move(0, 90), move(1, 10, 0.2, visits=900), move(2, 60, visits=60))
    assert doubts(both).rival == pytest.approx(60 / 90)


def test_a_move_that_cannot_be_overtaken_is_decided():
    assert is_decided(CLEAR, 79) and not is_decided(CLEAR, 80)
    assert not is_decided(result(move(0, 40), move(1, 60)), 0)  # best, but not visited most
    better = result(move(0, 90), move(1, 13, 0.51))
    assert is_decided(better, 0) and not is_decided(better, 1)  # its bound might choose it
    assert is_decided(result(move(0, 90), move(1, 10, proven="loss")), 1000)
    assert is_decided(result(move(0, 90)), 1000)


def test_a_decided_move_ends_the_search_early_where_that_saves_time():
    budget = Budget(2.0, 4.0)
    assert not should_stop(CLEAR, budget, 0.3)  # 100 playouts a second
    assert should_stop(CLEAR, budget, 0.9)
    hardly_begun = result(move(0, 5), move(1, 1, 0.3), playouts=6, elapsed=0.9)
    assert not should_stop(hardly_begun, budget, 0.9)
    assert should_stop(hardly_begun, budget, 4.0)


@given(
    visits=st.lists(st.integers(0, 1000), min_size=1, max_size=6),
    rates=st.lists(st.floats(0, 1), min_size=6, max_size=6),
    soft=st.floats(0, 100), more=st.floats(0, 100), elapsed=st.floats(0, 300), before=st.none() | st.floats(0, 1),
    saves=st.booleans(),
)  # fmt: skip
def test_always_stops_at_the_hard_limit(visits, rates, soft, more, elapsed, before, saves):
    found = result(*(move(i, v, r) for i, (v, r) in enumerate(zip(visits, rates, strict=False))), policy=[1 / 6] * 6)
    budget = Budget(soft, soft + more, saves)
    stopped = should_stop(found, budget, elapsed, before)
    assert stopped or elapsed < budget.hard
    assert 0.0 <= doubts(found, before).total <= 1.0 and wanted(budget, doubts(found, before).total) <= budget.hard
