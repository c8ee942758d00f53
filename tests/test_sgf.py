"""Game records: reading and writing, positions before a move, and what broken files say."""

import contextlib
import random
from collections import deque

import numpy as np
import pytest
from sgfmill import sgf_grammar

from engine import sgf
from engine.board.position import BLACK, WHITE, Position
from engine.board.rules import Rules, rules_by_name
from engine.errors import EngineError, SgfError
from engine.sgf.nodes import NodeReader

GAME = """(;FF[4]GM[1]CA[UTF-8]
SZ[9]KM[6.5]RU[Japanese]PB[Kuro \\] san]PW[Shiro]RE[B+2.5]DT[2020-01-02]C[a start]
;B[ee];W[gc]C[a reply]
;B[cg](;W[cc];B[];W[tt])(;W[zz]))
"""


def test_reads_a_game():
    record = sgf.parse(GAME)
    assert (record.width, record.height, record.komi, record.handicap) == (9, 9, 6.5, 0)
    assert record.rules == rules_by_name("japanese")
    assert (record.black, record.white, record.result, record.date) == ("Kuro ] san", "Shiro", "B+2.5", "2020-01-02")
    assert record.moves == ((BLACK, 40), (WHITE, 24), (BLACK, 56), (WHITE, 20), (BLACK, 81), (WHITE, 81))
    assert record.comments == {0: "a start", 2: "a reply"}
    assert record.lines == (3, 3, 4, 4, 4, 4)


def test_position_before_a_move():
    record = sgf.parse(GAME)
    for before, played, to_play in ((1, 0, BLACK), (2, 1, WHITE), (4, 3, WHITE), (None, 6, BLACK), (99, 6, BLACK)):
        position = record.position(before)
        assert (position.n_moves, position.to_play) == (played, to_play)
    assert record.position(0).n_moves == 0
    assert record.position().ended
    assert record.position().komi == 6.5


def test_rules_and_komi_for_records_without():
    record = sgf.parse("(;SZ[9]RU[house rules];B[ee])")
    assert record.rules is None and record.rules_text == "house rules" and record.komi is None
    position = record.position(rules="aga", komi=3.5)
    assert position.rules == rules_by_name("aga") and position.komi == 3.5


@pytest.mark.parametrize(
    ("text", "name"),
    [("Japanese", "japanese"), ("Chinese", "chinese"), ("AGA", "aga"), ("NZ", "new-zealand"), ("jp", "japanese"),
     ("Tromp-Taylor", "tromp-taylor"), ("New Zealand", "new-zealand"), ("KOREAN", "korean"), ("GOE", None), ("", None)],
)  # fmt: skip
def test_recognises_rules(text, name):
    assert sgf.recognise_rules(text) == (rules_by_name(name) if name else None)


def test_rectangles_and_sizes():
    record = sgf.parse("(;SZ[5:3]AB[aa:bb]AW[ec]PL[W];W[db];B[ca])")
    position = record.position()
    assert (position.width, position.height) == (5, 3)
    np.testing.assert_array_equal(position.board(), [[1, 1, 1, 0, 0], [1, 1, 0, 2, 0], [0, 0, 0, 0, 2]])
    assert sgf.parse("(;B[ss])").width == 19
    assert sgf.parse("(;SZ[25];B[yy])").position().board()[24, 24] == BLACK
    assert sgf.parse("(;SZ[21];B[tt])").moves == ((BLACK, 19 * 21 + 19),)


def test_set_up_and_side_to_play():
    assert sgf.parse("(;SZ[9]HA[2]AB[cc][gg])").position().to_play == WHITE
    assert sgf.parse("(;SZ[9]AB[cc]AW[gg])").position().to_play == BLACK
    assert sgf.parse("(;SZ[9]AB[cc][gg]PL[B])").position().to_play == BLACK
    assert sgf.parse("(;SZ[9];AB[cc][gg];AE[cc];B[aa])").position(1).board().sum() == 1
    assert sgf.parse("(;SZ[9]AB[cc][gg];B[aa])").position(1).to_play == BLACK


@pytest.mark.parametrize(("text", "komi"), [("375", 7.5), ("650", 6.5), ("0", 0.0), ("-5.5", -5.5), ("6,5", 6.5)])
def test_komi(text, komi):
    assert sgf.parse(f"(;KM[{text}])").komi == komi


BROKEN = [
    ("", 1, "no SGF game"),
    ("hello\n", 1, "no SGF game"),
    ("(;GM[1]\n;B[aa]\n;W[bb]\n", 3, "')' is missing"),
    ("(;GM[1]\n;B[aa]\n;C[bb;B(cc)\n", 3, "never closed"),
    ("(;GM[1]\n;B\n;W[bb])\n", 3, "property without a value"),
    ("(;GM[1]\n;[aa]\n;W[bb])\n", 2, "value without a property"),
    ("(;GM[1]\n(;B[aa])\n;W[bb])\n", 3, "node after a variation"),
    ("(;GM[1]\n()\n;W[bb])\n", 2, "without a node"),
    ("(;GM[1]\n(B[aa]))\n", 2, "outside a node"),
    ("(;GM[1]\n;B[aa]\n!!;W[bb])\n", 3, "'!!;W[bb])"),
    ("(;GM[2]\n)", 1, "not a game of Go"),
    ("(;SZ[x]\n)", 1, "SZ[x]"),
    ("(;SZ[1])", 1, "unsupported board size 1"),
    ("(;SZ[26])", 1, "unsupported board size 26"),
    ("(;SZ[9:40])", 1, "unsupported board size 9:40"),
    ("(;KM[many])", 1, "KM[many]"),
    ("(;KM[nan])", 1, "KM[nan]"),
    ("(;KM[1e99])", 1, "KM[1e99]"),
    ("(;HA[-1])", 1, "HA[-1]"),
    ("(;PL[red])", 1, "PL[red]"),
    ("(;SZ[9]\r\n;B[aa]\r\n;W[jj])", 3, "no point of a 9x9 board: [jj]"),
    ("(;SZ[9]\r;B[aa]\r;W[a])", 3, "[a]"),
    ("(;SZ[9]\n;B[aa]\n;AW[bb])", 3, "after move 1"),
    ("(;SZ[9]\n;B[aa]W[bb])", 2, "both colors"),
    ("(;SZ[9]\n;B[aa]\n;W[aa])", 3, "move 2 is illegal: A9 (occupied)"),
    ("(;SZ[9]\nAB[aa]AW[ab][ba])", 1, "cannot stand"),
]


@pytest.mark.parametrize(("text", "line", "reason"), BROKEN)
def test_broken_files_name_the_line_and_the_reason(text, line, reason):
    with pytest.raises(SgfError) as error:
        sgf.parse(text, "game.sgf").position()
    assert str(error.value).startswith(f"game.sgf, line {line}: ")
    assert reason in str(error.value)


def test_unreadable_files(tmp_path):
    for path in (tmp_path / "absent.sgf", tmp_path, "nul\0byte"):
        with pytest.raises(SgfError, match="absent|directory|" + tmp_path.name + "|nul"):
            sgf.read(path)
    (tmp_path / "a.sgf").write_bytes(b"(;PB[\xe9]SZ[5]CA[ISO-8859-1])")
    assert sgf.read(tmp_path / "a.sgf").black == "é"


def random_record(seed):
    """Play random legal moves on a random board with random details."""
    rng = random.Random(seed)
    position = Position(rng.randint(2, 25), rng.randint(2, 25), rules=rng.choice(["japanese", "aga", "tromp-taylor"]),
                        komi=rng.randint(-20, 20) / 2)  # fmt: skip
    if rng.random() < 0.3:
        actions = rng.sample(range(position.area), min(3, position.area - 1))
        position.set_up([(BLACK, action) for action in actions], WHITE)
    for _ in range(rng.randint(0, 40)):
        legal = np.flatnonzero(position.legal_mask())
        position.play(int(rng.choice(list(legal))))
    comments = {i: rng.choice(["plain", "with ] and \\ and :", "zwei\nZeilen", "形勢"]) for i in range(0, 9, 2)}
    comments = {i: text for i, text in comments.items() if i <= position.n_moves}
    return position, sgf.from_position(position, comments=comments, black="A ]\\", white="B", result="W+0.5")


@pytest.mark.parametrize("seed", range(30))
def test_what_is_written_reads_back(seed):
    position, record = random_record(seed)
    text = sgf.write(record)
    assert "\n\n" not in text.rstrip("\n")
    back = sgf.parse(text)
    for name in ("width", "height", "komi", "rules", "handicap", "moves", "comments", "black", "white", "result"):
        assert getattr(back, name) == getattr(record, name)
    assert sorted(back.setup) == sorted(record.setup)
    replayed = back.position()
    np.testing.assert_array_equal(replayed.board(), position.board())
    assert (replayed.hash, replayed.handicap) == (position.hash, position.handicap)
    if back.moves or back.setup:
        assert replayed.to_play == position.to_play


def test_unnamed_rules_are_written_as_json():
    rules = Rules(ko="SIMPLE", tax="SEKI")
    record = sgf.from_position(Position(5, rules=rules))
    assert sgf.parse(sgf.write(record)).rules == rules


def test_blank_lines_of_comments_are_not_written():
    record = sgf.from_position(Position(5), comments={0: "one\n\n \n\r\ntwo\0"})
    assert sgf.parse(sgf.write(record)).comments == {0: "one\ntwo"}


def test_damaged_text_is_never_a_traceback():
    """Damage real records in random ways: they read, or they raise SgfError."""
    rng = random.Random(1)
    sources = [sgf.write(random_record(seed)[1]).encode() for seed in range(8)] + [GAME.encode()]
    pieces = [b"(", b")", b";", b"[", b"]", b"\\", b":", b"B", b"AB", b"CA[x]", b"SZ[", b"\xff", b"\0", b"\r", b"KM[9]"]
    read = refused = 0
    for _ in range(3000):
        data = bytearray(rng.choice(sources))
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data) + 1)
            if rng.random() < 0.5:
                data[at : at + rng.randint(0, 9)] = b""
            else:
                data[at:at] = rng.choice(pieces)
        try:
            sgf.parse(bytes(data)).position()
            read += 1
        except SgfError as error:
            assert "line " in str(error)
            refused += 1
    assert read > 100 and refused > 100


def test_noise_is_never_a_traceback():
    rng = random.Random(2)
    for _ in range(2000):
        data = b"(;" + bytes(rng.choice(b"();[]BWACSZKMae:\\19\n\xff ") for _ in range(rng.randint(0, 40)))
        try:
            sgf.parse(data).position()
        except EngineError as error:
            assert isinstance(error, SgfError)


def test_the_beginnings_of_a_file(tmp_path):
    path = tmp_path / "book.sgf"
    path.write_text("(;SZ[9]C[x](;B[aa](;W[bb];B[cc])(;W[dd](;B[ee])(;B[ff])))(;B[bb]))(;SZ[9]AB[cc])(;GM[3])")
    found = [record.moves for record in sgf.read_beginnings(path, 2)]
    a, b, d = 0, 10, 30  # the points aa, bb and dd on 9x9
    assert found == [((1, a), (2, b)), ((1, a), (2, d)), ((1, b),), ()]
    assert len(list(sgf.read_beginnings(path, 3))) == 5
    path.write_text("(;SZ[9](;B[aa])(;B[cc]))(;SZ[9];B[bb]")  # the second game is torn
    assert len(list(sgf.read_beginnings(path, 2))) == 2
    for text, complaint in (
        ("(;GM[3])", "line 1: not a game of Go"),
        ("(;SZ[9]\n;B[zz])", "line 2"),
        ("\r\n(;SZ[9]\n(;C[a])\r\n(;B[aa]\r!!))", "line 5: no SGF: '!!"),
        ("\n(;SZ[9]\r\n(;C[\r]\r;B[zz])\n(;AB[aa];W[bb]\r;AB[cc]))", "line 5: no point"),
        ("", "no SGF"),
    ):
        path.write_bytes(text.encode())
        with pytest.raises(SgfError, match=complaint):
            list(sgf.read_beginnings(path, 2))
    with pytest.raises(SgfError, match="missing"):
        list(sgf.read_beginnings(tmp_path / "missing.sgf", 2))


def test_beginnings_of_deeply_nested_variations(tmp_path):
    path = tmp_path / "deep.sgf"
    path.write_text("(;SZ[9]" + "(;B[aa]" * 3000 + ")" * 3001)
    assert [len(record.moves) for record in sgf.read_beginnings(path, 5)] == [5]


def sgfmill_beginnings(tree, before, moves):
    """Yield the lines of a tree of sgfmill's as text of one line each, by recursion."""
    nodes = list(before)
    for node in tree.sequence:
        if sum(("B" in n) + ("W" in n) for n in nodes) < moves:
            nodes.append(node)
    if sum(("B" in n) + ("W" in n) for n in nodes) >= moves or not tree.children:
        properties = [{key: values for key, values in node.items() if key != "C"} for node in nodes]
        yield "(" + "".join(
            ";" + "".join(key + "".join(f"[{value.decode()}]" for value in values) for key, values in node.items())
            for node in properties
        ) + ")"  # fmt: skip
    else:
        for child in tree.children:
            yield from sgfmill_beginnings(child, nodes, moves)


def test_beginnings_are_the_lines_of_sgfmills_tree(tmp_path):
    rng = random.Random(46)
    path = tmp_path / "book.sgf"
    pieces = ["B[aa]", "W[bb]", "B[]", "W[cc]", "AB[dd]", "AE[dd][ee]", "AddWhite[ee:ff]", "PL[w]", "C[(;\\]]", "B[zz]"]

    def tree(depth):
        nodes = "".join(";" + "".join(rng.sample(pieces, rng.choice((0, 1, 1, 2)))) for _ in range(rng.randint(1, 3)))
        return f"({nodes}{''.join(tree(depth - 1) for _ in range(rng.choice((0, 1, 2, 3)) if depth else 0))})"

    compared = 0
    for _ in range(1000):
        text = "".join(tree(4).replace("(;", "\n(;SZ[9]KM[6]", 1) for _ in range(rng.randint(1, 2)))
        path.write_text(text)
        moves = rng.randint(1, 4)
        wanted = []
        for game in sgf_grammar.parse_sgf_collection(text.encode()):
            for line in sgfmill_beginnings(game, [], moves):
                with contextlib.suppress(SgfError):
                    wanted.append(sgf.parse(line))
        try:
            found = list(sgf.read_beginnings(path, moves))
        except SgfError:
            found = []
        assert [(r.moves, r.setup, r.to_play, r.komi) for r in found] == [
            (r.moves, r.setup, r.to_play, r.komi) for r in wanted
        ]
        compared += len(found)
    assert compared > 1000


@pytest.mark.parametrize(
    "nest",
    [
        lambda n: "(;C[a])(;C[a]" * n + ";B[aa]" + ")" * n,  # a comb
        lambda n: "(;C[a]" * n + ";B[aa]" + ")" * n,  # deep
        lambda n: "(;AB[bb])(;AE[bb]" * n + ";B[aa]" + ")" * n,
        lambda n: "(;B[aa])" * n,  # wide
        lambda n: ";C[a]" * n + ";B[aa]",
    ],
)
def test_every_node_is_read_once_however_many_lines_it_is_in(nest, tmp_path, monkeypatch):
    taken = []
    add = NodeReader.add
    monkeypatch.setattr(NodeReader, "add", lambda self, node, line: taken.append(line) or add(self, node, line))
    path = tmp_path / "book.sgf"
    path.write_text(text := f"(;SZ[9]{nest(4000)})")
    last = deque(sgf.read_beginnings(path, 1), maxlen=1)[-1]
    assert len(last.moves) == 1
    assert len(taken) == text.count(";")


def test_many_comments_before_one_move_are_joined_once():
    """Each was added to what there was: 10 000 of 300 letters took 8 s."""
    record = sgf.parse("(;SZ[9]" + f";C[{'x' * 300}]" * 30000 + ";B[aa])")
    assert record.comments == {0: "\n".join(["x" * 300] * 30000)}
