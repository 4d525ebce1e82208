#!/usr/bin/env bash
# Do the limits hold? For every contender of a results folder, the CPU time that the kernel charged
# to it in each recorded interval, against its quota. Ends with status 1 when an interval exceeds
# the quota by more than 5 %.
#
# usage: benches/limits.sh RESULTS
set -euo pipefail
python3 - "${1:?usage: benches/limits.sh RESULTS}" <<'PYTHON'
import glob, json, statistics, sys

shares = {}
for path in sorted(glob.glob(f"{sys.argv[1]}/records/*.jsonl")):
    for record in map(json.loads, open(path)):
        if record["record"] == "begin":
            run = record["run"]
        before, after = record.get("contender_before"), record.get("contender_after")
        if record["record"] != "interval" or not before or not after or not after.get("cpu"):
            continue
        spent = sum(after["cpu"].values()) - sum(before["cpu"].values())
        quota = run["limits"]["cpus"] * (after["at_ns"] - before["at_ns"])
        shares.setdefault(run["contender"], []).append(spent / quota)
print(f"{'contender':24} {'intervals':>9} {'saturated':>9} {'median':>7} {'highest':>7}  of the quota")
for contender, found in sorted(shares.items()):
    full = [share for share in found if share > 0.9]
    median = f"{statistics.median(full):7.3f}" if full else "      -"
    print(f"{contender:24} {len(found):9} {len(full):9} {median} {max(found):7.3f}")
if not shares:
    sys.exit("no interval with CPU readings: was anything limited?")
sys.exit(max(map(max, shares.values())) > 1.05)
PYTHON
