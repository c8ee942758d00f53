"""Labels of the judgment net on boards whose labels are known by hand, and the command that makes them."""

import json

import numpy as np
import pytest
from judged_table import write_table

from engine.board.position import BLACK, WHITE, Position
from engine.cli import main as keisei
from engine.train.judgment_targets import SWAPPED, UNKNOWN, PointClass, classes_of, g_of, needless
from engine.train.playout import count_end
from engine.train.shards import ShardFolder

SIGNS = {"+": 1.0, "-": -1.0, "0": 0.0}


def board(*rows: str) -> np.ndarray:
    return np.array([".XO".index(c) for c in "".join(rows)], np.uint8)


def marks(*rows: str) -> np.ndarray:
    return np.array([SIGNS[c] for c in "".join(rows)], np.float32)


def stones(*rows: str) -> np.ndarray:
    return np.array([c == "d" for c in "".join(rows)])


def values(start: np.ndarray, end: np.ndarray, dead: np.ndarray) -> np.ndarray:
    count = count_end(end, dead)
    return g_of(start, count.without_needless(start), count.owner, count.seki)


START = board(
    ".X.O.",
    ".X.O.",
    ".X.O.",
    "OX.OX",
    "..X..",
)
END = board(
    ".XXO.",
    "XXOO.",
    ".XXO.",
    "OXXOX",
    "..XOO",
)
DEAD = stones(
    ".....",
    ".....",
    ".....",
    "d...d",
    ".....",
)


def test_the_three_steps_on_a_board_known_by_hand() -> None:
    """Borders that the play-out closed stay and are 0; the black stone in Black's own land comes off and is +1."""
    assert values(START, END, DEAD).reshape(5, 5).tolist() == marks(
        "+000-",
        "+000-",
        "+000-",
        "+000-",
        "++00-",
    ).reshape(5, 5).tolist()


def test_a_stone_that_closes_a_border_stays_and_one_inside_does_not() -> None:
    bare = np.where(DEAD, 0, END).astype(np.uint8)
    off = needless(START, bare)
    assert 5 in off  # a4: Black's stone in Black's land
    assert 24 in off  # e1 likewise White's
    assert 23 not in off  # d1 closes the lower side
    assert not set(off) & set(np.flatnonzero(START).tolist())


def test_of_two_walls_before_the_same_border_the_outer_one_stays() -> None:
    start = board(*["X......"] * 7)
    end = board(*["X.XXO.O"] * 7)
    assert sorted(needless(start, end)) == [7 * row + column for row in range(7) for column in (2, 6)]
    assert values(start, end, np.zeros(49, bool)).reshape(7, 7)[0].tolist() == [0, 1, 1, 0, 0, -1, -1]


def test_dame_is_nothing() -> None:
    start = board("X.O", "X.O", "X.O")
    assert values(start, start, np.zeros(9, bool)).tolist() == [0.0] * 9


def test_nothing_in_a_seki_counts() -> None:
    """Two chains in the corner share two liberties and have no eyes; the outside lives."""
    seki = board(
        "X.OX....",
        "XXOX....",
        "OXOOX...",
        "OX.OX...",
        "OXXOX...",
        "OOOXX...",
        "..OX....",
        "..OX....",
    )
    count = count_end(seki, np.zeros(64, bool))
    g = g_of(seki, count.without_needless(seki), count.owner, count.seki)
    assert g[[1, 26]].tolist() == [0.0, 0.0]  # the shared liberties
    assert g[48] == -1.0 and g[7] == 1.0  # the land outside
    classes = classes_of(seki, count.owner, count.seki)
    assert classes[[0, 1, 2, 26]].tolist() == [
        PointClass.OWN_SEKI, PointClass.NEUTRAL, PointClass.OTHER_SEKI, PointClass.NEUTRAL
    ]  # fmt: skip
    assert classes[4 * 8] == PointClass.OTHER_ALIVE


def test_a_stone_that_was_captured_and_lived_over_is_dead() -> None:
    start = board("O.X", "..X", "XXX")
    end = board(".X.", "X.X", "XXX")
    g = values(start, end, np.zeros(9, bool))
    assert g[0] == 1.0  # under the dead white stone
    assert classes_of(start, count_end(end, np.zeros(9, bool)).owner, np.zeros(9, bool))[0] == PointClass.OTHER_DEAD


def test_classes() -> None:
    count = count_end(END, DEAD)
    classes = classes_of(START, count.owner, count.seki)
    assert classes[1] == PointClass.OWN_ALIVE and classes[3] == PointClass.OTHER_ALIVE
    assert classes[15] == PointClass.OTHER_DEAD and classes[19] == PointClass.OWN_DEAD
    assert classes[0] == PointClass.OWN_POINT and classes[4] == PointClass.OTHER_POINT
    nobodys = classes_of(board("X.O"), np.array([0, 0, 2], np.uint8), np.array([False, False, True]))
    assert nobodys.tolist() == [UNKNOWN, PointClass.NEUTRAL, PointClass.OTHER_SEKI]


def test_the_other_sides_view() -> None:
    assert SWAPPED[SWAPPED].tolist() == list(range(9))
    assert SWAPPED[PointClass.OWN_DEAD] == PointClass.OTHER_DEAD
    assert SWAPPED[PointClass.NEUTRAL] == PointClass.NEUTRAL


RECIPE = """
name = "tiny"
[samples]
seed = 3
rules = { "chinese-ogs" = 1.0 }
[[samples.sources]]
path = "judged.tsv"
positions = 12
per_game = 4
[labels]
encoding = "judgment-18"
[net]
kind = "judgment"
encoding = "judgment-18"
blocks = 1
channels = 8
gpool_every = 0
[train]
steps = 2
batch = 4
shares = { "7" = 1.0 }
validate_every = 1
"""


@pytest.fixture
def judged_table(tmp_path):
    (tmp_path / "data").mkdir()
    return write_table(tmp_path / "data" / "judged.tsv", 3, 5)


@pytest.fixture
def labelled(tmp_path, judged_table):
    (tmp_path / "tiny.toml").write_text(RECIPE)
    words = ["label", "--judgment", "--recipe", str(tmp_path / "tiny.toml"), "--data", str(judged_table.parent)]
    assert keisei([*words, "--out", str(tmp_path / "shards")]) == 0
    return tmp_path, words


def test_judged_games_are_labelled_by_their_truth(labelled) -> None:
    path, words = labelled
    folder = ShardFolder(path / "shards")
    records = np.concatenate([folder.open(entry["name"]) for entry in folder.entries])
    assert len(records) == 12
    final = [record for record in records if record["kind"] == 0]
    assert len(final) == 6  # three games, both sides
    for record in final:
        classes = record["point_class"].reshape(7, 7)
        views = ({2: 0, 3: 3, 0: 6, 6: 7}, {2: 3, 3: 0, 0: 7, 6: 6})  # column → class, Black's view and White's
        view = views[0] if classes[0, 2] == PointClass.OWN_ALIVE else views[1]
        for column, name in view.items():
            assert (np.delete(classes[:, column], 3) == name).all()
        assert classes[3, 0] == (PointClass.OTHER_DEAD if view is views[0] else PointClass.OWN_DEAD)
        g = record["territory"].reshape(7, 7)
        sign = 127 if view is views[0] else -127
        assert (g[:, :2] == sign).all() and (g[:, 2:4] == 0).all() and (g[:, 4:] == -sign).all()
    before = [json.dumps(entry) for entry in folder.entries]
    assert keisei([*words, "--out", str(path / "shards")]) == 0  # nothing is labelled twice
    folder.refresh()
    assert [json.dumps(entry) for entry in folder.entries] == before


def test_games_are_spared_and_hard_ones_are_labelled_more_often(labelled, judged_table) -> None:
    """The untrained net is sure of nothing, so every game is hard; those that are spared are in no shard."""
    from engine.train.judged import read_judged
    from engine.train.shards import game_number

    path, words = labelled
    trained = ["train", "--recipe", str(path / "tiny.toml"), "--shards", str(path / "shards"), "--out", str(path / "r")]
    assert keisei(trained) == 0
    numbers = sorted(game_number(judged.game.moves) for judged in read_judged(judged_table, only_held_out=False))
    spare = next(n for n in range(2, 99) if 0 < sum(number % n == 0 for number in numbers) <= 2)
    more = ["--hard", str(path / "r" / "net.safetensors"), "--hard-times", "3", "--spare", str(spare)]
    assert keisei([*words, *more, "--device", "cpu", "--out", str(path / "more")]) == 0
    folder = ShardFolder(path / "more")
    records = np.concatenate([folder.open(entry["name"]) for entry in folder.entries])
    assert len(records) == 3 * 12
    assert sum(record["kind"] == 0 for record in records) == 3 * 6
    assert all(int(record["game"]) % spare for record in records)
    with pytest.raises(SystemExit):
        keisei([*words, "--spare", "-1", "--out", str(path / "none")])


def test_an_easy_game_is_not_hard(judged_table) -> None:
    from engine.train.judged import read_judged
    from engine.train.judgment_positions import is_hard

    class Says:
        def __init__(self, sure: float) -> None:
            self.sure = sure

        def supports_size(self, width: int, height: int) -> bool:
            return True

        def maps(self, position: Position) -> np.ndarray:
            board = position.board().ravel()
            black = np.where(board == BLACK, self.sure, 1 - self.sure)
            black[21] = self.sure  # the dead white stone
            return np.stack([black * 0, black, 1 - black, black * 0, black * 0])

    judged = next(iter(read_judged(judged_table, only_held_out=False)))
    assert not is_hard(judged, Says(0.9))
    assert is_hard(judged, Says(0.7))


def test_held_out_games_are_never_labelled(labelled, judged_table) -> None:
    from engine.train.judged import read_judged
    from engine.train.shards import game_number

    path, _ = labelled
    folder = ShardFolder(path / "shards")
    seen = {int(game) for entry in folder.entries for game in folder.open(entry["name"])["game"]}
    held = {game_number(judged.game.moves) for judged in read_judged(judged_table, only_held_out=True)}
    assert seen and not seen & held


def test_a_net_of_the_paper_s_kind_trains_and_judges(labelled, capsys) -> None:
    path, _ = labelled
    words = ["train", "--recipe", str(path / "tiny.toml"), "--shards", str(path / "shards"), "--out", str(path / "run")]
    assert keisei(words) == 0
    from engine import factory
    from engine.judge import Judge
    from engine.nn.settings import NetSettings

    source = factory.load_judgment(str(path / "run" / "net.safetensors"), NetSettings(device="cpu", threads=1))
    for size in (7, 9):
        position = Position(size)
        position.play(size + 1)
        opinion = source.opinion(position)
        assert opinion.owner.shape == (size, size) and opinion.territory.shape == (size, size)
        assert Judge(source).judge(position).width == size


class Thinks:
    """A teacher that holds the upper half of the board for whoever moves, the lower one for the opponent."""

    encoding, max_batch, name = "katago-v7", 4, "thinks"

    def supports_size(self, width: int, height: int) -> bool:
        return True

    def allocate(self, batch: int, width: int, height: int):
        return np.zeros((batch, 22, height, width), np.float32), np.zeros((batch, 19), np.float32)

    def evaluate(self, spatial: np.ndarray, globals_: np.ndarray, *, ownership: bool = False):
        from engine.evaluator import Evaluation

        batch, _, height, width = spatial.shape
        owner = np.zeros((batch, height, width), np.float32)
        owner[:, : height // 2], owner[:, height // 2 :] = 0.5, -1.0
        logits = np.zeros((batch, height * width + 1), np.float32)
        told = owner.reshape(batch, -1) if ownership else None
        return Evaluation(logits, np.zeros(batch, np.float32), ownership=told)


def test_a_teachers_ownership_is_a_label_for_the_side_that_is_shown(tmp_path, judged_table, monkeypatch) -> None:
    """Judged games are games as any others then, and a killed run's command goes on."""
    from engine.train import judgment_label, judgment_positions

    monkeypatch.setattr(judgment_label, "open_net", lambda *_, **__: (Thinks(), "thinks"))
    text = RECIPE.replace("per_game = 4", "per_game = 4\nsince = 0.5")
    (tmp_path / "tiny.toml").write_text(text)
    words = ["label", "--judgment", "--ownership", "--recipe", str(tmp_path / "tiny.toml"), "--data",
             str(judged_table.parent), "--out", str(tmp_path / "thought")]  # fmt: skip
    assert keisei(words) == 2  # nobody is named
    assert keisei([*words, "--teacher", "thinks"]) == 0
    folder = ShardFolder(tmp_path / "thought")
    assert folder.header.targets == ("ownership",)
    records = np.concatenate([folder.open(entry["name"]) for entry in folder.entries])
    assert len(records) == 12 and (records["kind"] == judgment_positions.THOUGHT).all()
    owner = records["ownership"].reshape(-1, 7, 7)
    assert (owner[:, :3] == 64).all() and (owner[:, 3:] == -127).all()
    longest = max(len(game.game.moves) // 2 for game in judgment_label.read_judged(judged_table, only_held_out=False))
    assert records["ply"].min() >= 3 and records["ply"].max() <= longest
    before = [json.dumps(entry) for entry in folder.entries]
    assert keisei([*words, "--teacher", "thinks"]) == 0
    folder.refresh()
    assert [json.dumps(entry) for entry in folder.entries] == before


def test_a_teacher_that_says_nothing_of_ownership_is_refused(tmp_path, judged_table, monkeypatch, capsys) -> None:
    from engine.train import judgment_label

    class Silent(Thinks):
        def evaluate(self, spatial: np.ndarray, globals_: np.ndarray, *, ownership: bool = False):
            return super().evaluate(spatial, globals_)

    monkeypatch.setattr(judgment_label, "open_net", lambda *_, **__: (Silent(), "silent"))
    (tmp_path / "tiny.toml").write_text(RECIPE)
    words = ["label", "--judgment", "--ownership", "--teacher", "silent", "--recipe", str(tmp_path / "tiny.toml")]
    assert keisei([*words, "--data", str(judged_table.parent), "--out", str(tmp_path / "none")]) == 2
    assert "thinks says nothing of ownership" in capsys.readouterr().err


def test_play_outs_end_and_are_counted() -> None:
    """A teacher that always wants to pass first leaves the board as it is; its ownership says who lives."""
    from engine.evaluator_fakes import HashEvaluator
    from engine.train.playout import PlayOut

    position = Position(5)
    for action in (1, 3, 6, 8, 11, 13, 16, 18, 21, 23):
        position.play(action)
    last, count = PlayOut(HashEvaluator(), visits=2, seed=1).play(position)
    assert position.n_moves == 10
    assert last.n_moves > 10
    assert count is None or set(count.owner.tolist()) <= {0, BLACK, WHITE}


@pytest.mark.parametrize(
    "text",
    [
        RECIPE.replace("blocks = 1", "blocks = 1\nstart = 'b6c64'"),
        RECIPE.replace("[train]", "[loss]\nterritori = 1.0\n[train]"),
        RECIPE.replace("channels = 8", "chanels = 8"),
        RECIPE.replace("judged.tsv", "nowhere.tsv"),
    ],
)
def test_recipes_that_make_no_sense(tmp_path, judged_table, text: str, capsys) -> None:
    (tmp_path / "bad.toml").write_text(text)
    words = ["label", "--judgment", "--recipe", str(tmp_path / "bad.toml"), "--data", str(judged_table.parent)]
    assert keisei([*words, "--out", str(tmp_path / "shards")]) in (1, 2)
    assert "Traceback" not in capsys.readouterr().err
