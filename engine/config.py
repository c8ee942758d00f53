"""Settings: frozen dataclasses whose fields carry default, unit, range and meaning; built from TOML and text.

Every component declares its own settings class in its own package; this module only knows how to fill one. Values
come from TOML (typed) or from text (`--set section.key=value`, GTP `kata-set-param`), and both go through the same
checks. No globals. An unknown key, a wrong type or a value out of range is a ConfigError naming the key (and the
nearest one).
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from engine.errors import ConfigError
from engine.files import read_small, reason

T = TypeVar("T")

LIKE = 0.66
"""Least likeness (of difflib, 0 to 1) of a name that is suggested: two of three letters, as in gpt and gtp."""

MAX_WHOLE = (1 << 63) - 1
"""Largest whole number that a setting may hold."""

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def setting(
    default: Any,
    doc: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] | None = None,
) -> Any:
    """Declare one field of a settings dataclass.

    Args:
        default: the value when nothing is said; its type is the field's type (None: optional, see the annotation).
        doc: what the setting means, one sentence.
        unit: "s", "visits", "points", …; empty for a pure number.
        low, high: inclusive range for numbers.
        choices: allowed words for text.
    """
    return dataclasses.field(
        default=default, metadata={"doc": doc, "unit": unit, "low": low, "high": high, "choices": choices}
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Description:
    """What a user needs to know of one setting."""

    key: str
    kind: type  # bool, int, float, str or tuple
    optional: bool  # "none" is a value
    default: Any
    doc: str
    unit: str
    low: float | None
    high: float | None
    choices: tuple[str, ...] | None
    item: type = str  # type of the items, where kind is tuple


def describe(cls: type) -> dict[str, Description]:
    """Return the settings of a class by key, in order of declaration."""
    return _describe(cls)


@functools.cache
def _describe(cls: Any) -> dict[str, Description]:
    hints = typing.get_type_hints(cls)
    table = {}
    for field in dataclasses.fields(cls):
        kind, optional, item = _resolve(hints[field.name], f"{cls.__name__}.{field.name}")
        meta = field.metadata
        choices = meta.get("choices")
        table[field.name] = Description(
            key=field.name,
            kind=kind,
            optional=optional,
            default=field.default,
            doc=meta.get("doc", ""),
            unit=meta.get("unit", ""),
            low=meta.get("low"),
            high=meta.get("high"),
            choices=None if choices is None else tuple(choices),
            item=item,
        )
    return table


def build(cls: type[T], section: str, values: Mapping[str, Any]) -> T:
    """Make settings of class `cls` from TOML or text values; what is not mentioned keeps its default.

    Raises:
        ConfigError: for an unknown key, a wrong type or a value out of range; names `section.key`.
    """
    table = describe(cls)
    checked = {}
    for key, value in values.items():
        if key not in table:
            raise ConfigError(f"unknown setting {section}.{key}{nearest(key, table)}")
        checked[key] = convert(table[key], value, f"{section}.{key}")
    return cls(**checked)


def replace(settings: T, key: str, value: Any, *, section: str = "") -> T:
    """Return a copy of `settings` with one key changed.

    Raises:
        ConfigError: as `build` does.
    """
    name = f"{section}.{key}" if section else key
    table = describe(type(settings))
    if key not in table:
        raise ConfigError(f"unknown setting {name}{nearest(key, table)}")
    changed: T = dataclasses.replace(settings, **{key: convert(table[key], value, name)})  # type: ignore[type-var]
    return changed


def convert(description: Description, value: Any, name: str) -> Any:
    """Check one value (text, or a TOML value) against its description and return it in the right type.

    Raises:
        ConfigError: naming `name`, the value, and what is allowed.
    """
    if description.optional and (value is None or (isinstance(value, str) and value.strip().lower() == "none")):
        return None
    if description.kind is tuple:
        items = value.replace(",", " ").split() if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)):
            raise _wrong(description, value, name)
        return tuple(_number_or_text(description, description.item, item, name) for item in items)
    return _number_or_text(description, description.kind, value, name)


def load(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read a TOML file of sections.

    Raises:
        ConfigError: if the file cannot be read or parsed, or holds a value outside a section. Names the file.
    """
    import tomllib  # here, since most runs read no file and every run starts by importing this module

    try:
        text = read_small(path).decode("utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {path}: {reason(error)}") from None
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from None
    for section, values in document.items():
        if not isinstance(values, dict):
            raise ConfigError(f"{path}: {section} stands outside a section")
    return document


def parse_assignment(text: str) -> tuple[str, str, str]:
    """Split "section.key=value".

    Raises:
        ConfigError: if it has another form.
    """
    name, equals, value = text.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (equals and dot and section and key):
        raise ConfigError(f"{text!r}: a setting is written section.key=value")
    return section, key, value.strip()


def assemble(
    classes: Mapping[str, type], *layers: Mapping[str, Mapping[str, Any]], where: str = ""
) -> dict[str, Any]:
    """Make the settings of every section; later layers win.

    Args:
        classes: section name → settings class.
        layers: section → key → value, from the weakest to the strongest.
        where: prefix for error messages, a file name for example.

    Raises:
        ConfigError: for an unknown section, or as `build` does.
    """
    merged: dict[str, dict[str, Any]] = {section: {} for section in classes}
    for layer in layers:
        for section, values in layer.items():
            if section not in classes:
                raise ConfigError(f"{where}unknown section {section}{nearest(section, classes)}")
            merged[section].update(values)
    return {section: build(classes[section], section, values) for section, values in merged.items()}


def nearest(key: str, known: Iterable[str]) -> str:
    """Return " (did you mean X?)" for the known key most like this one, or an empty text if none is like it."""
    import difflib  # here: only an error needs it, and every start of the engine imports this module

    folded = {name.lower(): name for name in known}
    close = difflib.get_close_matches(key.lower(), list(folded), n=1, cutoff=LIKE)
    return f" (did you mean {folded[close[0]]}?)" if close else ""


def to_text(value: Any) -> str:
    """Write a setting's value as `convert` reads it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return ",".join(to_text(item) for item in value)
    return str(value)


def _resolve(hint: Any, name: str) -> tuple[type, bool, type]:
    """Return (type, optional, item type) of an annotation."""
    optional = False
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(hint) if part is not type(None)]
        optional = len(parts) < len(typing.get_args(hint))
        if len(parts) != 1:
            raise TypeError(f"{name}: a setting has one type, or one type and None")
        hint = parts[0]
    if typing.get_origin(hint) is tuple:
        return tuple, optional, typing.get_args(hint)[0]
    if typing.get_origin(hint) is typing.Literal:
        return str, optional, str
    if hint not in _WORDS:
        raise TypeError(f"{name}: {hint} is no type of a setting")
    return hint, optional, str


def _number_or_text(description: Description, kind: type, value: Any, name: str) -> Any:
    """Convert one scalar and check its range."""
    result = _scalar(kind, value)
    if result is None:
        raise _wrong(description, value, name)
    if kind in (int, float):
        low, high = description.low, description.high
        if kind is int and abs(result) > MAX_WHOLE:  # settings become 64-bit numbers below
            raise ConfigError(f"{name} = {value}: must be {_range(low, MAX_WHOLE if high is None else high)}")
        if (low is not None and result < low) or (high is not None and result > high):
            raise ConfigError(f"{name} = {value}: must be {_range(low, high)}")
    if description.choices is not None and result not in description.choices:
        raise ConfigError(f"{name} = {value}: must be one of {', '.join(description.choices)}")
    return result


def _scalar(kind: type, value: Any) -> Any:
    """Return the value as `kind`, or None if it is not one. A bool is no number, and a number is no text."""
    if kind is str:
        return value if isinstance(value, str) else None
    if kind is bool:
        if isinstance(value, str):
            word = value.strip().lower()
            return True if word in _TRUE else False if word in _FALSE else None
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = kind(value) if isinstance(value, (str, int)) or kind is float else None
    except (ValueError, OverflowError):
        return None
    return None if isinstance(number, float) and not math.isfinite(number) else number


def _wrong(description: Description, value: Any, name: str) -> ConfigError:
    wanted = f"a list, each {_WORDS[description.item]}" if description.kind is tuple else _WORDS[description.kind]
    return ConfigError(f"{name} = {value}: must be {wanted}{' or none' if description.optional else ''}")


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"between {low} and {high}"
    return f"at least {low}" if low is not None else f"at most {high}"
