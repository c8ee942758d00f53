"""Settings while the engine runs: KataGo's kata-set-param family, over the same checks as the command line.

Every setting that can change during a game is known as `section.key`; a few have KataGo's names too.
"""

from __future__ import annotations

from engine import config
from engine.errors import ConfigError
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


@command("kata-get-param", "NAME")
def kata_get_param(controller: Controller, request: Request) -> str:
    """Answer the value of a setting."""
    if len(request.args) != 1:
        raise GtpError(SYNTAX_ERROR)
    section, key = _find(controller, request.args[0])
    return config.to_text(getattr(controller.sections()[section], key))


@command("kata-set-param", "NAME VALUE")
def kata_set_param(controller: Controller, request: Request) -> str:
    """Change a setting from now on."""
    if len(request.args) < 2:
        raise GtpError(SYNTAX_ERROR)
    section, key = _find(controller, request.args[0])
    controller.change(section, key, " ".join(request.args[1:]))
    return ""


@command("kata-list-params")
def kata_list_params(controller: Controller, request: Request) -> str:
    """List the settings that kata-set-param changes."""
    sections = controller.sections()
    full = [f"{name}.{key}" for name, settings in sections.items() for key in config.describe(type(settings))]
    return " ".join([*_known_katago_names(controller), *full])


def _find(controller: Controller, name: str) -> tuple[str, str]:
    """Return section and key of a setting. Raises ConfigError if there is none of that name."""
    names = _known_katago_names(controller)
    if name in names:
        return names[name]
    sections = controller.sections()
    section, _, key = name.partition(".")
    if section in sections and key in config.describe(type(sections[section])):
        return section, key
    known = [*names, *(f"{s}.{key}" for s, settings in sections.items() for key in config.describe(type(settings)))]
    raise ConfigError(f"unknown parameter {name}{config.nearest(name, known)}")


def _known_katago_names(controller: Controller) -> dict[str, tuple[str, str]]:
    sections = controller.sections()
    return {
        name: (section, key)
        for name, (section, key) in KATAGO_NAMES.items()
        if section in sections and key in config.describe(type(sections[section]))
    }
