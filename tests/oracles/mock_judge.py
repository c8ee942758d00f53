"""A GTP program that judges by a fixed word: `mock_judge.py DEAD SCORE [--crash-after N]`.

DEAD: vertices separated by commas, or "none". Answers final_status_list and final_score, owners by the whole board to
Black. With --crash-after it ends at its N-th game. What it was told goes to the file named by MOCK_JUDGE_LOG.
"""

import os
import sys


def main() -> None:
    dead, score = sys.argv[1], sys.argv[2]
    crash = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    games, size = 0, 9
    log = os.environ.get("MOCK_JUDGE_LOG")
    for line in sys.stdin:
        if log:
            with open(log, "a") as file:
                file.write(line)
        words = line.split()
        if not words:
            continue
        reply = ""
        if words[0] == "list_commands":
            reply = "boardsize\nclear_board\nkomi\nplay\nset_free_handicap\nfinal_score\nfinal_status_list\nquit"
        elif words[0] == "boardsize":
            size = int(words[1])
            games += 1
            if games == crash:
                sys.exit(3)
        elif words[0] == "final_score":
            reply = score
        elif words[0] == "final_status_list":
            if words[1] == "dead":
                reply = "" if dead == "none" else dead.replace(",", " ")
            elif words[1] == "black_territory":
                reply = " ".join(f"{'ABCDEFGHJKLMNOPQRST'[x]}{y + 1}" for y in range(size) for x in range(size))
        sys.stdout.write(f"= {reply}\n\n")
        sys.stdout.flush()
        if words[0] == "quit":
            return


main()
