"""What a judge said of a position, how it compares with what is known, and the file that keeps answers.

Answers are kept one a line as they come, so a run that was ended goes on where it stopped; a line that was cut off in
the middle is ignored and asked for again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

from .cases import END, Case

FORMAT = "keisei-answers-1"
EXACT = 0.25  # points; scores are multiples of a half


class AnswersError(EngineError):
    """A file of answers that belongs to another run."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge said. Everything is optional but the time: programs differ in what they can be asked."""

    seconds: float
    dead: frozenset[int] | None = None  # actions of dead stones
    score: float | None = None  # Black − White, komi and compensation counted
    owner: NDArray[np.uint8] | None = None  # [P] 0, BLACK, WHITE; whose the point will be when the game ends
    expected: float | None = None  # expected final score, where the judge tells it from the count as things stand
    error: str = ""  # why there is no answer


def compare(case: Case, answer: Answer) -> dict[str, Any]:
    """Return what was right: a flat dictionary, ready for JSON; None where either side says nothing.

    dead_exact, stones_wrong: the dead set, at the end only; score_error in points; winner; points, points_right: of the
    points that have an owner at the end.
    """
    judged = case.judged
    result: dict[str, Any] = {"key": case.key, "rules": judged.rules, "size": judged.size, "share": case.share,
                              "seconds": round(answer.seconds, 4)}  # fmt: skip
    if answer.error:
        result["error"] = answer.error
    if case.share == END and judged.dead is not None:
        wrong = None
        if answer.dead is not None:
            truth = set(np.flatnonzero(judged.dead).tolist())
            wrong = len(truth ^ set(answer.dead))
            if wrong:
                result["differs"] = sorted(int(action) for action in truth ^ set(answer.dead))
        result |= {"dead_exact": wrong == 0, "stones_wrong": wrong}
    counted = case.share == END and judged.margin is not None  # else the game goes on from here
    score = answer.score if counted or answer.expected is None else answer.expected
    if judged.margin is not None:
        result["score_error"] = None if score is None else round(score - judged.margin, 2)
        result["score_exact"] = score is not None and abs(score - judged.margin) < EXACT
        result["score_within_1"] = score is not None and abs(score - judged.margin) < 1 + EXACT
    if score is not None:
        result["score"] = round(score, 2)
    winner = None if score is None else 1 if score > 0 else 2 if score < 0 else 0
    result["winner"] = winner == judged.winner
    if judged.owner is not None and answer.owner is not None:
        owned = judged.owner != 0
        result["points"] = int(owned.sum())
        result["points_right"] = int((answer.owner[owned] == judged.owner[owned]).sum())
    return result


class AnswerFile:
    """Comparisons of one judge, on disk or, without a path, in memory.

    Args:
        path: a JSON-lines file; continued if it is there.
        about: what must be the same when a file is continued.

    Raises:
        AnswersError: the file belongs to another judge or other data.
    """

    def __init__(self, path: Path | None, about: dict[str, Any]) -> None:
        self.path, self.about = path, about
        self.found: dict[str, dict[str, Any]] = {}
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or not path.stat().st_size:
            path.write_text(json.dumps({"format": FORMAT, **about}) + "\n", encoding="utf-8")
        head, self.found = read_answers(path)
        if head != about:
            raise AnswersError(f"{path}: answers of another run ({json.dumps(head)})")
        text = path.read_bytes()
        if not text.endswith(b"\n"):
            path.write_bytes(text[: text.rfind(b"\n") + 1])

    def add(self, comparison: dict[str, Any]) -> None:
        """Keep one comparison."""
        self.found[comparison["key"]] = comparison
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(comparison) + "\n")


def read_answers(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the header of a file of answers, without its format, and the comparisons by key.

    Raises:
        AnswersError: it is no such file.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        head = json.loads(lines[0])
        if not isinstance(head, dict) or head.pop("format", None) != FORMAT:
            raise AnswersError(f"{path}: no file of answers")
    except (OSError, ValueError) as error:
        raise AnswersError(f"{path}: {error}") from error
    found = {}
    for line in lines[1:]:
        try:
            comparison = json.loads(line)
            found[comparison["key"]] = comparison
        except (ValueError, KeyError, TypeError):
            continue  # cut off
    return head, found
