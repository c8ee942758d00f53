"""A TOML table into a dataclass, with errors that name the nearest key."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from engine.config import nearest
from engine.errors import ConfigError

T = TypeVar("T")


def fill(kind: type[T], table: dict[str, Any], section: str) -> T:
    """Make a dataclass of a TOML table.

    Raises:
        ConfigError: a key is unknown (the nearest one is named) or a value is of the wrong type.
    """
    defaults = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key, value in table.items():
        if key not in defaults:
            raise ConfigError(f"[{section}] has no {key!r}{nearest(key, defaults)}")
        wanted = defaults[key].type
        fits = {"int": int, "float": (int, float), "str": str, "bool": bool}.get(str(wanted))
        if fits and (not isinstance(value, fits) or (isinstance(value, bool) and wanted != "bool")):  # type: ignore[arg-type]
            raise ConfigError(f"[{section}] {key} = {value!r} is no {wanted}")
    try:
        return kind(**table)
    except TypeError as error:
        raise ConfigError(f"[{section}]: {error}") from error
