"""What GTP commands act on: the player, made when a command first needs it, and the settings they may change.

The controller knows no command and no text. It is handed ready-made parts by engine.factory (or by a test), so that the
first words of a session are answered before the board, numpy and the net are loaded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from engine import config
from engine.errors import ConfigError
from engine.gtp.settings import GtpSettings
from engine.player.stop import StopToken

if TYPE_CHECKING:
    from engine.player.player import Player

log = logging.getLogger(__name__)


class Controller:
    """The state of a session.

    Args:
        make_player: makes the player; called once, in the worker thread, by the first command that needs it.
        settings: how the front behaves.
    """

    def __init__(self, make_player: Callable[[], Player], settings: GtpSettings | None = None) -> None:
        self._make_player = make_player
        self._player: Player | None = None
        self.settings = settings or GtpSettings()
        self.token = StopToken()
        self.finished = False
        self.live: Callable[[str], None] | None = None  # takes drawings for GoGui; None: nobody looks

    def begin(self) -> StopToken:
        """Begin a command: give it a token of its own to be stopped by."""
        self.token = StopToken()
        return self.token

    @property
    def player(self) -> Player:
        """The player."""
        if self._player is None:
            self._player = self._make_player()
        return self._player

    @property
    def wants_to_ponder(self) -> bool:
        """True if the player would use the opponent's time now."""
        return self._player is not None and self._player.wants_to_ponder

    def ponder(self) -> None:
        """Think until the token is stopped."""
        self.player.ponder(self.token)

    def sections(self) -> dict[str, Any]:
        """Return the settings by section."""
        return {**self.player.sections(), "gtp": self.settings}

    def change(self, section: str, key: str, text: str) -> None:
        """Change one setting. Raises ConfigError; then nothing has changed."""
        self.change_all([(section, key, text)])

    def change_all(self, changes: Sequence[tuple[str, str, str]]) -> None:
        """Change several settings, each (section, key, text). Raises ConfigError; then none has changed."""
        sections = self.sections()
        changed: dict[str, Any] = {}
        for section, key, text in changes:
            if section not in sections:
                raise ConfigError(f"unknown section {section}{config.nearest(section, sections)}")
            before = changed.get(section, sections[section])
            changed[section] = config.replace(before, key, text, section=section)
        for section in sorted(changed, key=lambda name: name != "player"):  # the only one that may still object
            if section == "gtp":
                self.settings = changed[section]
            else:
                self.player.change(section, changed[section])
