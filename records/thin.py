#!/usr/bin/env python3
"""Leaves out of committed results the histograms that nothing is read from, most of their bytes:
those of warm-up slices, and those of slices in turns.

Percentiles of fast turns are never shown: response times are those of the open load after the
turns, which stays as it is. What goes is the percentiles of warm-up rows in `results.csv`. Do not
use it where a claim counts the requests of a whole life (`start-up included`), which are counted by
these histograms.

usage: records/thin.py FOLDER...
"""

import gzip
import json
import pathlib
import sys

# A histogram without a value, as bakeoff writes it.
EMPTY = "HISTFAAAACB4nJNpmSzMwMDAyAABzFAaxOf94R7BYP8BKgIAUR8EHw=="
SLICE = '{"record":"interval"'
MARKS = ('"warm_up":true', '"turns":[[')


def thinned(line: str) -> str:
    """Returns a record without its histograms if it is a slice of a warm-up or in turns."""
    if not line.startswith(SLICE) or not any(mark in line for mark in MARKS):
        return line
    record = json.loads(line)
    for name in ("service_time", "response_time"):
        if record["load"].get(name):
            record["load"][name] = EMPTY
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    before = after = 0
    for folder in sys.argv[1:]:
        for path in sorted(pathlib.Path(folder).rglob("*.jsonl.gz")):
            packed = path.read_bytes()
            lines = gzip.decompress(packed).decode().split("\n")
            text = "\n".join(map(thinned, lines))
            # Without the time, so that the same text always gives the same bytes.
            repacked = gzip.compress(text.encode(), compresslevel=9, mtime=0)
            path.write_bytes(repacked)
            before, after = before + len(packed), after + len(repacked)
    print(f"{before} bytes before, {after} after")


if __name__ == "__main__":
    main()
