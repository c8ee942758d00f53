"""Runs inside KaTrain's own Python: a game analysed by KaTrain's engine class and game tree, without its window.

Arguments: a JSON object with KaTrain's engine settings, and the board size. Prints one JSON object: for each node of
the game what KaTrain made of the answers, and every line that it logged as an error.
"""

import json
import os
import sys
import tempfile
import time

os.environ["HOME"] = tempfile.mkdtemp()
os.environ["KIVY_NO_ARGS"] = os.environ["KIVY_NO_CONSOLELOG"] = os.environ["KIVY_NO_FILELOG"] = "1"
os.environ["KIVY_NO_CONFIG"] = "1"

from katrain.core.base_katrain import KaTrainBase
from katrain.core.constants import OUTPUT_ERROR
from katrain.core.engine import KataGoEngine
from katrain.core.game import Game, Move

MOVES = ["E5", "C3", "G7", "C6", "D3", "pass", "G3", "F2", "pass", "pass"]


class Headless(KaTrainBase):
    def __init__(self, **words):
        self.errors = []
        super().__init__(**words)

    def log(self, message, level=0):
        if level == OUTPUT_ERROR:
            self.errors.append(str(message))

    def __call__(self, *message, **words):
        self.errors.append(repr(message))


def main():
    settings, size = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    katrain = Headless(force_package_config=True, debug_level=0)
    config = {**katrain.config("engine"), **settings}
    engine = KataGoEngine(katrain, config)
    game = Game(katrain, engine, game_properties={"SZ": size, "KM": 6.5, "RU": "japanese"})
    for index, vertex in enumerate(MOVES):
        game.play(Move.from_gtp(vertex, player="BW"[index % 2]))
    node = game.current_node.parent.parent.parent
    node.analyze_move = None
    engine.request_analysis(node, lambda *_: None, visits=5, find_alternatives=True)
    engine.request_analysis(node, lambda *_: None, visits=5, region_of_interest=[0, 4, 0, 4])
    sweep = Move.from_gtp("E5", player=node.next_player)
    refused = []
    engine.request_analysis(node, lambda *_: None, error_callback=refused.append, next_move=sweep, visits=1)
    ponder = []
    engine.request_analysis(
        game.root,
        lambda found, partial: ponder.append((partial, found["rootInfo"]["visits"])),
        ponder=True,
        report_every=0.05,
    )
    until = time.time() + 120
    while time.time() < until and (sum(partial for partial, _ in ponder) < 3):
        time.sleep(0.05)
    engine.stop_pondering()
    engine.wait_to_finish()
    nodes = []
    for found in game.current_node.nodes_from_root:
        moves = found.candidate_moves
        nodes.append({
            "complete": found.analysis_complete, "visits": found.root_visits, "winrate": found.winrate,
            "score": found.score, "ownership": len(found.ownership or []), "policy": len(found.policy or []),
            "first": moves[0]["move"] if moves else None, "moves": len(moves),
        })  # fmt: skip
    engine.shutdown(finish=True)
    print(json.dumps({"nodes": nodes, "errors": katrain.errors, "refused": refused, "ponder": ponder}))


main()
