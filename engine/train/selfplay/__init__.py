"""Games that a net plays against itself, and the loop that learns from them.

`plan.py` what games to play · `lockstep.py` many games over one evaluator · `game.py` one game · `resign.py` when to
give up · `store.py` what is written, and how a killed run goes on · `command.py` `keisei selfplay`.
"""
