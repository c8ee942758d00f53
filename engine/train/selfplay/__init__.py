"""Games that a net plays against itself, and the loop that learns from them.

`plan.py` what games to play · `lockstep.py` many games over one evaluator · `game.py` one game by policy,
`search_game.py` with search · `resign.py` when to give up · `store.py` and `positions.py` what is written, and how a
killed run goes on · `run.py`, `command.py` `keisei selfplay` · `loop.py`, `learn.py`, `arena.py` (matches), `rate.py`,
`loop_command.py` `keisei loop`.
"""
