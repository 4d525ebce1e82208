#!/usr/bin/env python3
"""Judges simulated data whose truth is known, and prints how often the interval has the truth in it
and how often a verdict is false.

usage: benches/judge/truth.py BAKEOFF [DATA SETS EACH]
"""

import json
import random
import subprocess
import sys

# blocks, sets (0: none), true ratio, spread within a block, of a set, of the host between blocks
CASES = [
    (6, 0, 1.00, 0.02, 0.0, 0.3),
    (12, 0, 1.00, 0.02, 0.0, 0.3),
    (12, 0, 1.02, 0.02, 0.0, 0.3),
    (12, 0, 1.05, 0.02, 0.0, 0.3),
    (30, 0, 1.00, 0.02, 0.0, 0.3),
    (30, 0, 1.02, 0.02, 0.0, 0.3),
    (40, 4, 1.00, 0.02, 0.01, 0.3),
    (40, 4, 1.05, 0.02, 0.01, 0.3),
    (80, 8, 1.00, 0.02, 0.01, 0.3),
    (80, 8, 1.05, 0.02, 0.01, 0.3),
]


def table(rng, blocks, sets, ratio, spread, of_set, of_host):
    """Returns a table in which the second side takes `ratio` times as long."""
    lines = ["set,block,side,value" if sets else "block,side,value"]
    fresh = [[rng.gauss(0, of_set), rng.gauss(0, of_set)] for _ in range(max(sets, 1))]
    for block in range(blocks):
        number = block * sets // blocks if sets else 0
        pace = 1.0 + of_host * rng.random()
        rows = []
        for side, name in enumerate(("old", "new")):
            level = ratio if side else 1.0
            value = 10 * pace * level * (1 + fresh[number][side]) * (1 + rng.gauss(0, spread))
            rows.append(f"{number},{block},{name},{value}" if sets else f"{block},{name},{value}")
        # The first side has to be named first in the file, to be the base.
        lines.extend(rows if block % 2 == 0 else reversed(rows))
    return "\n".join(lines) + "\n"


def main() -> None:
    program = sys.argv[1]
    each = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rng = random.Random(1)
    print(f"{each} data sets in each row.\n")
    print("| blocks | sets | true ratio | truth in the interval | better | worse | equivalent | undecided |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for case in CASES:
        blocks, sets, ratio = case[:3]
        inside = 0
        verdicts = dict.fromkeys(["better", "worse", "equivalent", "undecided"], 0)
        for _ in range(each):
            command = [program, "judge", "--json", "--lower-is-better", "-"]
            ran = subprocess.run(command, input=table(rng, *case), capture_output=True, text=True)
            judged = json.loads(ran.stdout)[0]
            low, high = judged["interval"]
            inside += low <= ratio <= high
            verdicts[judged["verdict"]] += 1
        shares = " | ".join(f"{100 * verdicts[name] / each:.1f} %" for name in verdicts)
        share = 100 * inside / each
        print(f"| {blocks} | {sets or '–'} | {ratio:.2f} | {share:.1f} % | {shares} |", flush=True)


if __name__ == "__main__":
    main()
