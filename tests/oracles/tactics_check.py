"""Sets the komi of closed problems half way between their outcomes, by a strong net's search, and drops doubtful ones.

`python tactics_check.py NET < drawn > checked`. A problem is doubtful if the search finds the right moves less than
`GAP` points better than the best other move: another stone group may matter more than the one that is asked about.
"""

import re
import sys

from tactics_open_maker import Checker

from engine.evaluate.tactics_positions import paragraphs, parse_tactic
from engine.search.root import RootOptions

GAP, VISITS = 6.0, 300


def main():
    checker = Checker(sys.argv[1])
    for lines in paragraphs(sys.stdin.read().replace("\0", "")):
        tactic = parse_tactic(lines)
        position = tactic.position
        right, _ = checker.lead(position, VISITS, RootOptions(allow=tuple(sorted(tactic.answers))))
        other, move = checker.lead(position, VISITS, RootOptions(avoid=tuple(sorted(tactic.answers))))
        if right - other < GAP:
            print(f"{tactic.name}: {right:.1f}, but {other:.1f} with {move}", file=sys.stderr)
            continue
        black = 1 if tactic.color == 1 else -1
        komi = (right + other) / 2 * black + position.komi // 1 + 0.5
        text = re.sub(r"(?m)^komi: .*$", f"komi: {komi // 1 + 0.5:g}", "\n".join(lines))
        checked = f"checked: read to the end; {checker.name}, {VISITS} visits, {right - other:.0f} points apart"
        print(re.sub(r"(?m)^(reason: .*)$", rf"\1\n{checked}", text) + "\n", flush=True)


if __name__ == "__main__":
    main()
