"""All positions with known answers (judged_case.py says what they are made of)."""

from positions_dead import CASES as DEAD
from positions_open import CASES as OPEN
from positions_seki import CASES as SEKI

CASES = [*DEAD, *SEKI, *OPEN]
