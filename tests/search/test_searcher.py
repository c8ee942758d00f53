"""The Searcher from outside: limits, counts, stopping, reports, errors, ownership and symmetries."""

import threading
import time

import numpy as np
import pytest

from engine.board.planes import encode_position, transform_ownership, transform_policy
from engine.board.position import BLACK, WHITE
from engine.errors import ConfigError, EngineError, UnsupportedBoardSize
from engine.evaluator_fakes import HashEvaluator, TwoStepEvaluator, UniformEvaluator
from engine.search.root import Limits, RootOptions


class SlowEvaluator(HashEvaluator):
    calls = 0

    def evaluate(self, spatial, globals_, *, ownership=False):
        time.sleep(0.005)
        self.calls += 1
        return super().evaluate(spatial, globals_, ownership=ownership)


class BrokenEvaluator(HashEvaluator):
    """Fails, or answers with a NaN, at one of its calls."""

    def __init__(self, at, error=None):
        super().__init__()
        self.left, self.error = at, error

    def evaluate(self, spatial, globals_, *, ownership=False):
        evaluation = super().evaluate(spatial, globals_, ownership=ownership)
        self.left -= 1
        if self.left == 0:
            if self.error:
                raise self.error
            evaluation.value[-1] = np.nan
        return evaluation


@pytest.mark.parametrize("batch_size", [0, 1, 4, 16])
@pytest.mark.parametrize("two_steps", [False, True])
def test_visits_add_up_and_nothing_stays_in_flight(make, batch_size, two_steps):
    evaluator = TwoStepEvaluator(HashEvaluator()) if two_steps else HashEvaluator()
    searcher, _ = make(batch_size=batch_size, evaluator=evaluator)
    result = searcher.search(Limits(visits=500))
    assert result.visits == 500 == searcher.visits
    assert sum(info.edge_visits for info in result.moves) + 1 == 500
    assert all(info.visits == info.edge_visits for info in result.moves)
    assert result.stats.stopped_by == "visits"
    assert result.stats.evaluations + result.stats.cache_hits + result.stats.terminal_visits == 500
    assert searcher.in_flight == 0
    assert result.policy_target.sum() == pytest.approx(1.0)


def test_playouts_count_this_search_alone(make):
    searcher, _ = make(batch_size=2)
    assert searcher.search(Limits(playouts=40)).visits == 40
    result = searcher.search(Limits(playouts=25))
    assert (result.visits, result.stats.playouts) == (65, 25)


def test_a_visit_limit_that_is_met_already_adds_nothing(make):
    searcher, _ = make(batch_size=4)
    searcher.search(Limits(visits=50))
    result = searcher.search(Limits(visits=30))
    assert (result.visits, result.stats.playouts) == (50, 0)


def test_a_single_visit_is_the_nets_move(make):
    searcher, _ = make()
    result = searcher.search(Limits(visits=1))
    assert result.visits == 1
    assert result.best_action == int(np.argmax(result.raw.policy))
    assert result.moves[0].action == result.best_action
    assert result.policy_target[result.best_action] == 1.0


def test_time_ends_a_search(make):
    searcher, _ = make(evaluator=SlowEvaluator())
    begin = time.perf_counter()
    result = searcher.search(Limits(seconds=0.2))
    assert result.stats.stopped_by == "seconds"
    assert 0.1 <= time.perf_counter() - begin < 5.0  # no batch (5 ms each) is begun that would be back too late


def test_stop_ends_a_search_without_limits(make):
    evaluator = SlowEvaluator()
    searcher, _ = make(evaluator=evaluator, batch_size=1)
    found = []
    thread = threading.Thread(target=lambda: found.append(searcher.search(Limits())))
    thread.start()
    while evaluator.calls < 3:
        time.sleep(0.001)
    searcher.stop()
    stopped_at = evaluator.calls
    thread.join(10.0)
    assert found and found[0].stats.stopped_by == "stop"
    assert evaluator.calls <= stopped_at + 2  # the batch in flight, and one that began before the count was read
    assert searcher.in_flight == 0


def test_an_event_set_before_the_search_ends_it_at_once(make):
    searcher, _ = make()
    event = threading.Event()
    event.set()
    result = searcher.search(Limits(), stop_event=event)
    assert (result.visits, result.stats.stopped_by) == (1, "stop")


def test_stop_before_a_search_is_forgotten(make):
    searcher, _ = make()
    searcher.stop()
    assert searcher.search(Limits(visits=20)).visits == 20


def test_reports_come_while_searching(make):
    searcher, _ = make(evaluator=SlowEvaluator(), batch_size=1)
    reports = []
    result = searcher.search(Limits(visits=40), report=reports.append, report_interval=0.02)
    assert len(reports) >= 2
    visits = [report.visits for report in reports]
    assert visits == sorted(visits) and visits[-1] <= result.visits
    for report in reports:
        assert sum(info.edge_visits for info in report.moves) + 1 == report.visits


@pytest.mark.parametrize("two_steps", [False, True])
@pytest.mark.parametrize("at", [1, 2, 9])
def test_an_evaluators_error_leaves_a_sound_tree(make, at, two_steps):
    inner = BrokenEvaluator(at, RuntimeError("no device"))
    searcher, _ = make(evaluator=TwoStepEvaluator(inner) if two_steps else inner, batch_size=4)
    with pytest.raises(RuntimeError, match="no device"):
        searcher.search(Limits(visits=100))
    assert searcher.in_flight == 0
    result = searcher.search(Limits(visits=100))
    assert result.visits == 100 == sum(info.edge_visits for info in result.moves) + 1


def test_a_value_that_is_not_a_number_is_an_error(make):
    searcher, _ = make(evaluator=BrokenEvaluator(5), batch_size=4)
    with pytest.raises(EngineError, match="not finite"):
        searcher.search(Limits(visits=100))
    assert searcher.in_flight == 0


def test_a_position_is_needed():
    from engine.search.searcher import Searcher

    with pytest.raises(EngineError, match="no position"):
        Searcher(HashEvaluator()).search(Limits(visits=1))


def test_a_size_that_the_net_cannot_play(make):
    evaluator = HashEvaluator()
    evaluator.supports_size = lambda width, height: width == 19
    with pytest.raises(UnsupportedBoardSize, match="9x9"):
        make(9, evaluator=evaluator)


def test_figures_are_the_searching_colors(make):
    searcher, position = make(evaluator=UniformEvaluator(value=0.5), moves=[3], batch_size=1)
    black_moved = searcher.search(Limits(visits=1))
    assert black_moved.color == WHITE == position.to_play
    assert black_moved.winrate == pytest.approx(0.75)
    searcher.set_position(position, BLACK)
    result = searcher.search(Limits(visits=1))
    assert result.color == BLACK and result.winrate == pytest.approx(0.75)
    after_one_ply = searcher.search(Limits(visits=2))
    assert after_one_ply.moves[0].winrate == pytest.approx(0.25)


def test_ownership_of_one_visit_is_the_nets(make):
    searcher, position = make(5, 4, moves=[7])
    planes, globals_ = encode_position(position, "katago-v7")
    expected = HashEvaluator().evaluate(planes[None], globals_[None], ownership=True).ownership.reshape(4, 5)
    result = searcher.search(Limits(visits=1), root=RootOptions(ownership=True))
    assert result.ownership == pytest.approx(expected, abs=1e-4)
    assert result.ownership_stdev == pytest.approx(0.0, abs=1e-3)


def test_ownership_is_the_mean_over_visits(make):
    searcher, position = make(5, moves=[7], batch_size=3)
    root = RootOptions(ownership=True, moves_ownership=True)
    result = searcher.search(Limits(visits=60), root=root)
    total = sum(move.visits * move.ownership.astype(np.float64) for move in result.moves)
    planes, globals_ = encode_position(position, "katago-v7")
    own = HashEvaluator().evaluate(planes[None], globals_[None], ownership=True).ownership.reshape(5, 5)
    assert result.ownership == pytest.approx((total + own) / 60, abs=1e-4)
    assert (result.ownership_stdev > 0).all()
    assert searcher.search(Limits(visits=70)).ownership is None


def test_ownership_is_there_when_it_is_first_asked_for_late(make):
    searcher, _ = make(5)
    searcher.search(Limits(visits=30))
    assert searcher.search(Limits(visits=30), root=RootOptions(ownership=True)).ownership is not None


@pytest.mark.parametrize(("size", "height", "symmetry"), [(5, 5, 1), (5, 5, 4), (5, 5, 7), (5, 3, 2), (5, 3, 7)])
def test_symmetries_are_undone(make, size, height, symmetry):
    searcher, position = make(size, height, moves=[1, 9], symmetry_index=symmetry)
    result = searcher.search(Limits(visits=1), root=RootOptions(ownership=True))
    used = symmetry if size == height else symmetry % 4
    policy, value, ownership = evaluate_in_symmetry(position, used)
    assert result.raw.policy == pytest.approx(policy, abs=1e-3)
    assert result.raw.value == pytest.approx(value)
    assert result.ownership == pytest.approx(ownership, abs=1e-4)


def evaluate_in_symmetry(position, symmetry):
    planes, globals_ = encode_position(position, "katago-v7", symmetry=symmetry)
    e = HashEvaluator().evaluate(planes[None], globals_[None], ownership=True)
    height, width = position.height, position.width
    logits = transform_policy(e.policy_logits[0], width, height, symmetry, inverse=True)
    p = np.exp(logits) * position.legal_mask()
    ownership = transform_ownership(e.ownership[0], width, height, symmetry, inverse=True)
    return p / p.sum(), float(e.value[0]), ownership.reshape(height, width)


@pytest.mark.parametrize("settings", [{"symmetry": "average"}, {"root_symmetries": 8}])
def test_averaging_is_the_mean_over_all_symmetries(make, settings):
    searcher, position = make(5, moves=[1, 9], **settings)
    result = searcher.search(Limits(visits=1))
    each = [evaluate_in_symmetry(position, symmetry) for symmetry in range(8)]
    assert result.raw.policy == pytest.approx(np.mean([e[0] for e in each], axis=0), abs=1e-3)
    assert result.raw.value == pytest.approx(np.mean([e[1] for e in each]), abs=1e-6)
    result = searcher.search(Limits(visits=50))
    assert result.visits == 50 and searcher.in_flight == 0


def test_averaging_needs_room_in_a_batch(make):
    searcher, _ = make(evaluator=HashEvaluator(max_batch=4), symmetry="average")
    with pytest.raises(ConfigError, match="average"):
        searcher.search(Limits(visits=2))


def test_padding_changes_no_tree(make):
    trees = [make(batch_size=5, pad_batches=pad)[0] for pad in (False, True)]
    for searcher in trees:
        searcher.search(Limits(visits=203))
    assert trees[0].signature() == trees[1].signature()


@pytest.mark.parametrize("encoding", ["katago-v3", "katago-v5", "alphagozero-17", "leelazero-18"])
def test_every_encoding_can_be_searched(make, encoding):
    searcher, _ = make(5, evaluator=HashEvaluator(encoding))
    assert searcher.search(Limits(visits=40)).visits == 40


@pytest.mark.parametrize(("width", "height"), [(2, 2), (25, 2), (2, 25), (25, 25), (13, 9)])
def test_every_size(make, width, height):
    searcher, _ = make(width, height, batch_size=3)
    result = searcher.search(Limits(visits=60), root=RootOptions(ownership=True))
    assert result.visits == 60 or result.proven
    assert result.ownership.shape == (height, width)
    assert len(result.policy_target) == width * height + 1


def test_a_game_that_has_ended_can_be_searched(make):
    searcher, position = make(5, rules="tromp-taylor", moves=[12, 25, 25])
    assert position.ended
    result = searcher.search(Limits(visits=50))
    assert result.visits == 50 and result.proven is None
    assert len(result.moves) > 1


def test_the_pass_that_would_end_the_game_is_hidden_from_the_net_at_the_root(make):
    shown = []

    class Watching(HashEvaluator):
        def evaluate(self, spatial, globals_, *, ownership=False):
            shown.append((globals_[0, 0], globals_[0, 14]))
            return super().evaluate(spatial, globals_, ownership=ownership)

    for conservative in (False, True):
        searcher, _ = make(
            5, rules="tromp-taylor", moves=[12, 25], evaluator=Watching(), conservative_pass=conservative)
        searcher.search(Limits(visits=1))
    assert shown == [(1.0, 1.0), (0.0, 0.0)]
