"""Settings while the engine runs: KataGo's kata-set-param family and Leela Zero's lz-setoption, over the same checks as
the command line.

Every setting that can change during a game is known as `section.key`; a few have KataGo's and Leela Zero's names too.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from engine import config
from engine.errors import ConfigError
from engine.gtp import arguments
from engine.gtp.controller import Controller
from engine.gtp.protocol import SYNTAX_ERROR, GtpError, Request
from engine.gtp.registry import command

KATAGO_NAMES = {
    "maxVisits": ("player", "visits"),
    "maxTime": ("player", "time"),
    "ponderingEnabled": ("player", "ponder"),
    "allowResignation": ("player", "resign"),
    "lagBuffer": ("player", "lag"),
    "analysisPVLen": ("gtp", "analysis_pv_length"),
    "analysisWideRootNoise": ("search", "wide_root_noise"),
}

FIXED = {"playoutDoublingAdvantage": 0.0, "numSearchThreads": 1}
"""Settings of KataGo's that clients ask for and that have one value here."""

UNLIMITED = 1 << 50
"""Visits from which clients mean "no limit": LizzieYzy writes 1125899906842624."""


@command("kata-get-param", "NAME")
def kata_get_param(controller: Controller, request: Request) -> str:
    """Answer the value of a setting."""
    arguments.exactly(request.args, 1)
    if request.args[0] in FIXED:
        return str(FIXED[request.args[0]])
    section, key = _find(controller, request.args[0])
    return config.to_text(getattr(controller.sections()[section], key))


@command("kata-set-param", "NAME VALUE")
def kata_set_param(controller: Controller, request: Request) -> str:
    """Change a setting from now on."""
    if len(request.args) < 2:
        raise GtpError(SYNTAX_ERROR)
    controller.change_all(_changes(controller, request.args[0], " ".join(request.args[1:])))
    return ""


@command("kata-list-params")
def kata_list_params(controller: Controller, request: Request) -> str:
    """List the settings that kata-set-param changes."""
    return " ".join(_all_names(controller))


@command("kata-get-params")
def kata_get_params(controller: Controller, request: Request) -> str:
    """Answer all settings as a JSON object of names and values."""
    sections = controller.sections()
    values = {name: getattr(sections[section], key) for name, (section, key) in _all_names(controller).items()}
    return json.dumps({**FIXED, **values}, separators=(",", ":"))


@command("kata-set-params", "JSON")
def kata_set_params(controller: Controller, request: Request) -> str:
    """Change the settings named in a JSON object: all of them, or none if one is wrong."""
    try:
        wanted = json.loads(request.rest)
    except (ValueError, RecursionError):
        raise GtpError(SYNTAX_ERROR) from None
    if not isinstance(wanted, dict) or any(isinstance(value, (dict, list)) for value in wanted.values()):
        raise GtpError(SYNTAX_ERROR)
    changes = [_changes(controller, name, config.to_text(value)) for name, value in wanted.items()]
    controller.change_all([change for one in changes for change in one])
    return ""


@command("lz-setoption", "name NAME value VALUE")
def lz_setoption(controller: Controller, request: Request) -> str:
    """Change one of Leela Zero's options: Visits, Lagbuffer, Pondering, Resign Percentage."""
    words = [word.lower() for word in request.args]
    if words[:1] != ["name"] or "value" not in words[2:]:
        raise GtpError(SYNTAX_ERROR)
    split = words.index("value", 2)
    name, value = " ".join(words[1:split]), " ".join(words[split + 1 :])
    if name not in LZ_OPTIONS or not value:
        raise GtpError(f"no option {name}" if value else SYNTAX_ERROR)
    section, key, translate = LZ_OPTIONS[name]
    controller.change(section, key, translate(value))
    return ""


def _visits(text: str) -> str:
    count = arguments.integer(text)
    return "none" if count == 0 or count >= UNLIMITED else text


def _centiseconds(text: str) -> str:
    return str(arguments.integer(text) / 100)


def _percent(text: str) -> str:
    """-1 asks for the engine's own threshold."""
    from engine.player.settings import PlayerSettings

    value = arguments.number(text)
    return str(PlayerSettings().resign_winrate if value == -1 else value / 100)


LZ_OPTIONS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "visits": ("player", "visits", _visits),
    "lagbuffer": ("player", "lag", _centiseconds),
    "pondering": ("player", "ponder", str),
    "resign percentage": ("player", "resign_winrate", _percent),
}


def _changes(controller: Controller, name: str, text: str) -> list[tuple[str, str, str]]:
    """Return what giving a setting by its name changes: (section, key, text), or nothing. Raises ConfigError."""
    if name in FIXED:
        try:
            same = float(text) == FIXED[name]
        except ValueError:
            same = False
        if not same:
            raise ConfigError(f"{name} is {FIXED[name]} here and nothing else")
        return []
    section, key = _find(controller, name)
    if name == "maxVisits" and text.isascii() and text.isdigit() and UNLIMITED <= int(text[:30]) <= config.MAX_WHOLE:
        text = "none"
    return [(section, key, text)]


def _find(controller: Controller, name: str) -> tuple[str, str]:
    """Return section and key of a setting. Raises ConfigError if there is none of that name."""
    names = _all_names(controller)
    if name not in names:
        raise ConfigError(f"unknown parameter {name}{config.nearest(name, [*names, *FIXED])}")
    return names[name]


def _all_names(controller: Controller) -> dict[str, tuple[str, str]]:
    """Return section and key by name, KataGo's names first."""
    sections = controller.sections()
    keys = {name: config.describe(type(settings)) for name, settings in sections.items()}
    katago = {
        name: (section, key) for name, (section, key) in KATAGO_NAMES.items() if key in keys.get(section, ())
    }
    return {**katago, **{f"{section}.{key}": (section, key) for section, found in keys.items() for key in found}}
