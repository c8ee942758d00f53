"""The SGF-metadata input of nets trained on human games: 192 numbers that say who plays, when and where.

Only the profiles that name a rank are made here: both players of that rank on KGS, byo-yomi of 20 minutes and five
periods of 30 seconds, in March 2020 (rank_*) or September 2016 (preaz_*). Source: docs/nets.md §4; no such net was at
hand to test.
"""

from __future__ import annotations

import datetime
import math
import re

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError

INPUTS = 192
RANK_STEPS = 34
DATES = {"rank": datetime.date(2020, 3, 1), "preaz": datetime.date(2016, 9, 1)}
SOURCE_KGS = 151 + 1
BYOYOMI = 75 + 4
MAIN_SECONDS, PERIOD_SECONDS, PERIODS = 1200.0, 30.0, 5
DATE_PERIODS = 32
_PROFILE = re.compile(r"(rank|preaz)_([1-9][0-9]?)([dk])\Z")


def inverse_rank(text: str) -> int:
    """Return 1 for 9d … 9 for 1d, 10 for 1k … 29 for 20k. Raises ConfigError for another rank."""
    number, letter = int(text[:-1]), text[-1]
    if letter == "d" and 1 <= number <= 9:
        return 10 - number
    if letter == "k" and 1 <= number <= 20:
        return 9 + number
    raise ConfigError(f"unknown rank {text!r}: 9d to 1d, 1k to 20k")


def profile_row(profile: str, width: int, height: int) -> NDArray[np.float32]:
    """Return the 192 inputs of a profile on a board. Raises ConfigError for an unknown profile."""
    match = _PROFILE.match(profile)
    if match is None:
        raise ConfigError(f"unknown profile {profile!r}: rank_9d to rank_20k, or preaz_9d to preaz_20k")
    rank = inverse_rank(match[2] + match[3])
    row = np.zeros(INPUTS, dtype=np.float32)
    row[0:2] = 1.0  # both human
    row[6 : 6 + rank] = 1.0
    row[6 + RANK_STEPS : 6 + RANK_STEPS + rank] = 1.0
    row[74] = 0.5  # not known whether the game is rated
    row[BYOYOMI] = 1.0
    row[82] = 0.4 * (math.log(MAIN_SECONDS + 60.0) - 6.5)
    row[83] = 0.3 * (math.log(PERIOD_SECONDS + 1.0) - 3.0)
    row[84] = 0.5 * (math.log(PERIODS + 2.0) - 1.5)
    row[85] = 0.25 * (math.log(0.0 + 2.0) - 1.5)
    row[86] = 0.5 * math.log(width * height / 361.0)
    days = (DATES[match[1]] - datetime.date(1970, 1, 1)).days
    for i in range(DATE_PERIODS):
        angle = 2.0 * math.pi * days / (7.0 * 80000.0 ** (i / (DATE_PERIODS - 1)))
        row[87 + 2 * i], row[88 + 2 * i] = math.cos(angle), math.sin(angle)
    row[SOURCE_KGS] = 1.0
    return row
