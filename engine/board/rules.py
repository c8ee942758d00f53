"""Rule sets: a frozen record of every rule that changes play or scoring, by name, and to and from KataGo's JSON.

The table of names is docs/nets.md §6. Komi is not a rule here: it belongs to the position.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.config import nearest
from engine.errors import ConfigError

CHOICES = {
    "ko": ("SIMPLE", "POSITIONAL", "SITUATIONAL"),
    "scoring": ("AREA", "TERRITORY"),
    "tax": ("NONE", "SEKI", "ALL"),
    "white_handicap_bonus": ("0", "N", "N-1"),
}
JSON_KEYS = {
    "friendlyPassOk": "friendly_pass_ok",
    "hasButton": "has_button",
    "ko": "ko",
    "scoring": "scoring",
    "suicide": "suicide",
    "tax": "tax",
    "whiteHandicapBonus": "white_handicap_bonus",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a game. The words are KataGo's, upper case.

    Raises ConfigError if a value is not one of its choices.
    """

    ko: str = "POSITIONAL"  # SIMPLE, POSITIONAL or SITUATIONAL (superko: position, or position and side to move)
    scoring: str = "AREA"  # AREA or TERRITORY
    tax: str = "NONE"  # points taken off: NONE, SEKI (eyes in seki), ALL (two a group as well)
    suicide: bool = False  # several stones may be filled in with one move; a single stone never
    has_button: bool = False  # the first pass takes half a point and does not count towards the end
    white_handicap_bonus: str = "0"  # points for White against N handicap stones: 0, N or N-1
    friendly_pass_ok: bool = False  # a pass may leave dead stones on the board: the players agree on them

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ConfigError(f"rules: {name} is {value!r}, not one of {', '.join(choices)}")
        for name in ("suicide", "has_button", "friendly_pass_ok"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"rules: {name} is {getattr(self, name)!r}, not true or false")
        if self.has_button and self.scoring == "TERRITORY":
            raise ConfigError("rules: hasButton needs area scoring")

    def to_json(self) -> str:
        """Return KataGo's JSON object on one line: keys sorted, no spaces."""
        values = {key: getattr(self, name) for key, name in JSON_KEYS.items()}
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, source: str | Mapping[str, Any], base: Rules | None = None) -> Rules:
        """Read KataGo's JSON object, as text or already parsed.

        Args:
            source: any subset of the seven keys.
            base: gives what is not named; Tromp-Taylor when absent, as KataGo has it.

        Raises ConfigError if the text is no object, or on an unknown key or value.
        """
        if isinstance(source, str):
            try:
                source = json.loads(source)
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"rules: not JSON ({error}): {source}") from None
        if not isinstance(source, Mapping):
            raise ConfigError(f"rules: not a JSON object: {source!r}")
        rules = base if base is not None else NAMED["tromp-taylor"]
        changes: dict[str, Any] = {_field_of(key): _value_of(key, value) for key, value in source.items()}
        return dataclasses.replace(rules, **changes)

    def with_value(self, key: str, text: str) -> Rules:
        """Return these rules with one key of the JSON object set from text ("ko", "positional").

        Raises ConfigError on an unknown key or value.
        """
        change: dict[str, Any] = {_field_of(key): _value_of(key, text)}
        return dataclasses.replace(self, **change)


def _field_of(key: str) -> str:
    if key in JSON_KEYS:
        return JSON_KEYS[key]
    raise ConfigError(f"rules: unknown key {key!r}{nearest(key, JSON_KEYS)}: there are {', '.join(JSON_KEYS)}")


def _value_of(key: str, value: Any) -> str | bool:
    name = JSON_KEYS[key]
    if name in CHOICES:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value.strip().upper() in CHOICES[name]:
            return value.strip().upper()
        raise ConfigError(f"rules: {key} is {value!r}, not one of {', '.join(CHOICES[name])}")
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ConfigError(f"rules: {key} is {value!r}, not true or false")


_CHINESE = Rules(ko="SIMPLE", white_handicap_bonus="N", friendly_pass_ok=True)
_CHINESE_SUPERKO = dataclasses.replace(_CHINESE, ko="POSITIONAL")
_JAPANESE = Rules(ko="SIMPLE", scoring="TERRITORY", tax="SEKI")
_AGA = Rules(ko="SITUATIONAL", white_handicap_bonus="N-1", friendly_pass_ok=True)

NAMED: dict[str, Rules] = {
    "tromp-taylor": Rules(ko="POSITIONAL", suicide=True),
    "chinese": _CHINESE,
    "chinese-ogs": _CHINESE_SUPERKO,
    "chinese-kgs": _CHINESE_SUPERKO,
    "japanese": _JAPANESE,
    "korean": _JAPANESE,
    "stone-scoring": Rules(ko="SIMPLE", tax="ALL", friendly_pass_ok=True),
    "aga": _AGA,
    "aga-button": dataclasses.replace(_AGA, has_button=True),
    "bga": _AGA,
    "new-zealand": Rules(ko="SITUATIONAL", suicide=True, friendly_pass_ok=True),
}


def rules_by_name(name: str) -> Rules:
    """Return a named rule set. Case does not matter; words may be joined by hyphen, space, underscore or nothing.

    Raises ConfigError naming a known name that is like it, and all.
    """
    wanted = _folded(name)
    for known, rules in NAMED.items():
        if _folded(known) == wanted:
            return rules
    raise ConfigError(f"unknown rules: {name}{nearest(name.strip(), NAMED)}: there are {', '.join(NAMED)}")


def parse_rules(text: str, base: Rules | None = None) -> Rules:
    """Read rules as a user writes them: a name, or a JSON object with any subset of the keys (see `from_json`)."""
    return Rules.from_json(text, base) if text.lstrip().startswith("{") else rules_by_name(text)


def _folded(name: str) -> str:
    return name.strip().lower().translate({ord(char): None for char in "-_ "})
