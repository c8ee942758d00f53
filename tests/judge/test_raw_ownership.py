"""Which positions the plain ownership of a net gets wrong: what readings and rules are for. `pytest -s` prints them."""

from __future__ import annotations

import pytest
from judge_checks import position_of
from judged_positions import CASES

from engine import factory
from engine.board.position import BLACK
from engine.board.vertex import parse_vertex
from engine.judge.asking import NetOpinion
from engine.nn.settings import NetSettings

FINISHED = [case for case in CASES if not case.open]


def wrong_by_ownership(source, case) -> list[str]:
    """What the sign of the ownership says wrongly: stones that die or live, and the area score without dame."""
    position = position_of(case.rows, "chinese")
    owner = source.opinion(position).owner.ravel()
    dead = set()
    for vertex in case.dead.split():
        dead.update(position.chain(parse_vertex(vertex, position.width, position.height)))
    colors = position.board().ravel()
    stones = [a for a in range(position.area) if colors[a]]
    said = {a for a in stones if owner[a] * (1 if colors[a] == BLACK else -1) < 0}
    score = sum(round(float(value)) for value in owner)  # nobody's below one half
    faults = [f"{len(said ^ dead)} stones"] if said != dead else []
    return faults + ([f"score {score:+d} instead of {case.area:+g}"] if score != case.area else [])


@pytest.mark.parametrize("net", ["g170-b6c96.bin.gz", None])
def test_plain_ownership_fails_some(net, request):
    path = None if net is None else str(request.getfixturevalue("shared_dir") / "nets" / net)
    source = NetOpinion(factory.load(path, NetSettings(threads=1)).evaluator, symmetries=2)
    failed = {case.name: faults for case in FINISHED if (faults := wrong_by_ownership(source, case))}
    print(f"\n{net or 'the net that ships'}: {len(failed)} of {len(FINISHED)} finished positions wrong")
    for name, faults in failed.items():
        print(f"  {name}: {', '.join(faults)}")
    assert 0 < len(failed) < len(FINISHED) / 2
