"""Configuration files as KataGo's clients give them: its .cfg or our .toml, and what -override-config changes."""

from __future__ import annotations

from collections.abc import Sequence

from engine import config

from .overrides import Layer, as_layer, list_of, parse_override, read_cfg


def cfg_layer(files: Sequence[str], overrides: Sequence[str]) -> tuple[list[Layer], str]:
    """Return the layers of settings, from the weakest to the strongest, and the names that nobody knows, as text.

    Raises ConfigError.
    """
    result: list[Layer] = []
    unknown: dict[str, None] = {}
    for file in files:
        if file.lower().endswith(".toml"):
            result.append(config.load(file))
        else:
            _add(read_cfg(file), result, unknown)
    for text in overrides:
        _add(parse_override(text), result, unknown)
    return result, list_of(unknown)


def _add(values: dict[str, str], result: list[Layer], unknown: dict[str, None]) -> None:
    layer, strange = as_layer(values)
    result.append(layer)
    unknown.update(dict.fromkeys(strange))
