#!/usr/bin/env python3
"""Leaves out of committed results most of their bytes: the histograms of warm-up slices, and the
single pauses of garbage collectors after the first 20 of a run, which are summed up.

No claim, comparison or rank of runs in turns is read from them. What goes is the percentiles of
warm-up rows in `results.csv`, and the later points in charts of pauses. Do not use it where a claim
counts the requests of a whole life (`start-up included`), which are counted by these histograms, or
reads the length of pauses.

usage: records/thin.py FOLDER...
"""

import gzip
import json
import pathlib
import sys

# A histogram without a value, as bakeoff writes it.
EMPTY = "HISTFAAAACB4nJNpmSzMwMDAyAABzFAaxOf94R7BYP8BKgIAUR8EHw=="
SLICE = '{"record":"interval"'


# Pauses of a run that stay in its list.
PAUSES = 20


def thinned(line: str) -> str:
    """Returns a record without the histograms of a warm-up slice and without late pauses."""
    is_warm_up = line.startswith(SLICE) and '"warm_up":true' in line
    if not is_warm_up and '"pauses":[' not in line:
        return line
    record = json.loads(line)
    if is_warm_up:
        for name in ("service_time", "response_time"):
            if record["load"].get(name):
                record["load"][name] = EMPTY
    if log := record.get("gc"):
        late = log["pauses"][PAUSES:]
        log["pauses"] = log["pauses"][:PAUSES]
        if late:
            log["left_out"] = log.get("left_out", 0) + len(late)
            log["left_out_ns"] = log.get("left_out_ns", 0) + sum(one["pause_ns"] for one in late)
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
