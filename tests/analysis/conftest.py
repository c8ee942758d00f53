"""The analysis engine inside the test process: lines in, the objects of the answers out."""

from __future__ import annotations

import json

import pytest

from engine.analysis.parse import Defaults
from engine.analysis.reader import Reader
from engine.analysis.scheduler import Scheduler
from engine.analysis.settings import AnalysisSettings
from engine.evaluator_fakes import HashEvaluator
from engine.player.settings import PlayerSettings
from engine.search.params import SearchParams

PARAMS = SearchParams(symmetry="random", cache_memory=1, two_batches=False)


class Sink:
    """Keeps what it is given."""

    crowded = False

    def __init__(self):
        self.lines = []

    def write(self, text):
        assert text.endswith("\n") and "\n" not in text[:-1]
        self.lines.append(text)

    put = write

    @property
    def answers(self):
        return [json.loads(line) for line in self.lines]

    def of(self, number):
        return [answer for answer in self.answers if answer.get("id") == number]

    def final(self, number):
        """The one answer of that id that is neither a report nor a warning."""
        (found,) = [
            a for a in self.of(number) if not a.get("isDuringSearch") and "warning" not in a and "action" not in a
        ]
        return found


class Local:
    """Reader and scheduler over a test evaluator. `ask` queues; `run` answers everything."""

    def __init__(self, evaluator=None, *, params=PARAMS, judge=None, seed=1, **settings):
        self.evaluator = evaluator or HashEvaluator()
        self.sink = Sink()
        self.settings = AnalysisSettings(**settings)
        self.defaults = Defaults.of(params, PlayerSettings(seed=seed), self.settings)
        self.scheduler = Scheduler(self.evaluator, params, self.settings, self.sink, judge=judge, seed=seed)
        self.reader = Reader(self.scheduler, self.sink.put, self.defaults, lambda: [{"name": "test"}])

    def ask(self, *queries, **one):
        """Queue queries, given as text, bytes or objects."""
        for query in [*queries, *([one] if one else [])]:
            text = query if isinstance(query, str | bytes) else json.dumps(query)
            self.reader.line(text if isinstance(text, bytes) else text.encode())
        return self

    def run(self):
        """Answer everything; return the sink."""
        self.scheduler.end()
        self.scheduler.run()
        return self.sink


@pytest.fixture
def local():
    return Local
