"""The queue against a plain list."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from engine.analysis.waiting import Queue


@pytest.mark.parametrize("seed", range(20))
def test_like_a_sorted_list(seed):
    rng, queue, plain = random.Random(seed), Queue(), []
    for step in range(300):
        deed = rng.random()
        if deed < 0.4:
            turns = rng.sample(range(10), rng.randrange(1, 5))
            query = SimpleNamespace(id=rng.choice("abcd"), turns=turns, priorities=[rng.randrange(3) for _ in turns])
            queue.add(query)
            plain += [(-p, step, turn, query) for turn, p in zip(turns, query.priorities, strict=True)]
            # turns of equal priority stay in the order in which they were named
        elif deed < 0.8 and plain:
            best = min(entry[:2] for entry in plain)
            expected = next(entry for entry in plain if entry[:2] == best)
            key, query, turn = queue.take()
            assert (query, turn) == (expected[3], expected[2]) and key[0] == best[0]
            plain.remove(expected)
        elif deed < 0.9:
            number = rng.choice(["a", "b", "x"])
            turns = rng.choice([None, frozenset([1, 2, 3])])
            gone = sorted((id(q), t) for q, t in queue.remove(number, turns))
            chosen = [e for e in plain if e[3].id == number and (turns is None or e[2] in turns)]
            assert gone == sorted((id(e[3]), e[2]) for e in chosen)
            plain = [e for e in plain if e not in chosen]
        elif deed < 0.92:
            assert len(list(queue.remove(None, None))) == len(plain)
            plain = []
        assert queue.turns == len(plain) and (queue.first() is None) == (not plain)
    with pytest.raises(IndexError):
        list(queue.remove(None, None))
        queue.take()
