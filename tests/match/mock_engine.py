"""A GTP engine for tests that plays the first empty point with an empty neighbour, and misbehaves on demand.

Options: --fault KIND (crash, hang, illegal, offboard, nonsense, chatter, refuse, resign, silent, twice,
deaf, mute), --at N (its
N-th genmove, from 1), --score TEXT (answer to final_score; else an error), --slow SECONDS (for each genmove), --name
NAME, --numbers (repeats the numbers of commands).
"""

import argparse
import os
import sys
import time

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


class MockEngine:
    def __init__(self, options):
        self.options = options
        self.width = self.height = 9
        self.stones = set()
        self.last = None
        self.genmoves = 0

    def neighbours(self, x, y):
        beside = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
        return [(u, v) for u, v in beside if 0 <= u < self.width and 0 <= v < self.height]

    def answer(self, words):
        """Return (success, text)."""
        command, arguments = words[0], words[1:]
        if command == "boardsize":
            self.width, self.height = int(arguments[0]), int(arguments[-1])
            self.stones, self.genmoves = set(), 0
        elif command == "clear_board":
            self.stones, self.genmoves = set(), 0
        elif command == "play":
            if self.options.fault == "refuse" and self.genmoves >= self.options.at:
                return False, "illegal move"
            if self.options.fault == "deaf" and self.genmoves >= self.options.at:
                time.sleep(600)
            self.note(arguments[1])
        elif command == "genmove":
            return True, self.genmove()
        elif command == "final_score":
            return (True, self.options.score) if self.options.score else (False, "cannot score")
        elif command in ("name", "version"):
            return True, {"name": self.options.name, "version": "1"}[command]
        elif command == "list_commands":
            return True, "name\nversion\nplay\ngenmove\nfinal_score\nboardsize\nclear_board\nkomi\nquit"
        return True, ""

    def note(self, vertex):
        if vertex.lower() != "pass":
            self.last = (LETTERS.index(vertex[0].upper()), int(vertex[1:]) - 1)
            self.stones.add(self.last)

    def genmove(self):
        time.sleep(self.options.slow)
        self.genmoves += 1
        if self.options.fault and self.genmoves == self.options.at:
            misbehaved = self.misbehave()
            if misbehaved is not None:
                return misbehaved
        for y in range(self.height):
            for x in range(self.width):
                if (x, y) not in self.stones and any(p not in self.stones for p in self.neighbours(x, y)):
                    self.stones.add((x, y))
                    return f"{LETTERS[x]}{y + 1}"
        return "PASS"

    def misbehave(self):
        fault = self.options.fault
        if fault == "crash":
            sys.stderr.write("mock: going down\n")
            sys.exit(3)
        if fault == "hang":
            time.sleep(600)
        if fault == "illegal":
            x, y = self.last  # where the opponent has just played
            return f"{LETTERS[x]}{y + 1}"
        if fault == "mute":
            os.close(1)
            time.sleep(600)
        if fault == "chatter":
            sys.stdout.write("thinking\n\n")
        return {"offboard": "Z99", "nonsense": "!? what", "resign": "resign"}.get(fault)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault")
    parser.add_argument("--at", type=int, default=3)
    parser.add_argument("--score", default="")
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--name", default="Mock")
    parser.add_argument("--numbers", action="store_true", help="repeat the numbers of commands")
    engine = MockEngine(parser.parse_args())
    reply = ""
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if engine.options.fault == "silent" and words[0] == "genmove":
            continue
        number = words.pop(0) if engine.options.numbers and words[0].isdigit() else ""
        if engine.options.fault == "twice" and words[0] == "genmove" and engine.genmoves + 1 == engine.options.at:
            sys.stdout.write(reply)  # the last one again, now that the next is waited for
        success, text = (True, "") if words[0] == "quit" else engine.answer(words)
        reply = f"{'=' if success else '?'}{number} {text}\n\n"
        sys.stdout.write(reply)
        sys.stdout.flush()
        if words[0] == "quit":
            return


main()
