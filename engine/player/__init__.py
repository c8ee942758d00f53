"""A game in progress: position and record, search, clock, and the decisions to move, pass or resign.

Nothing is imported here, so that the settings (engine.player.settings) can be read before the board and numpy load.
The face is engine.player.player.Player.
"""
