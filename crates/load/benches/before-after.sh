#!/bin/bash
# CPU time per request of two builds of the load generator, interleaved, against the same server.
#
# Needs root for the private network namespace and python3. BEFORE and AFTER are folders with the
# examples of a build with the profile dist (`drive`; the null server is AFTER's). The server runs on core 0, the
# generator on core 1. In each round both builds run once, the other one first each time.
#
#   BEFORE=folder [AFTER=folder] CONNECTIONS="1 64 512 2048" SECONDS_EACH=0.5 ROUNDS=40 \
#   REACTOR=uring-rx-timestamps BOUND=1.01 benches/before-after.sh
#
# Status 1 when the median ratio of AFTER to BEFORE is above BOUND at a number of connections.
. "$(dirname "$0")/namespace.sh"

before="${BEFORE:?folder with the examples of the build to compare with}"
after="${AFTER:-$bin}"
ulimit -n "$(ulimit -Hn)"
taskset -c 0 "$after/null-server" 127.0.0.1:8080 13 &
server=$!
sleep 0.5

python3 - "$before" "$after" "${SECONDS_EACH:-0.5}" "${ROUNDS:-40}" "${BOUND:-1.01}" \
    "${REACTOR:-auto}" "${CONNECTIONS:-1 64 512 2048}" <<'PYTHON'
import json, os, resource, statistics, subprocess, sys

before, after, each, rounds, bound, reactor, connections = sys.argv[1:]
each, rounds, bound = float(each), int(rounds), float(bound)
# What builds called the reactors when they were new.
EARLIER = {"uring-rx-timestamps": "uring-stamped", "epoll-rx-timestamps": "epoll-stamped"}

def pinned():
    os.sched_setaffinity(0, {1})

def drive(folder, count, name):
    spec = {
        "target": {"address": "127.0.0.1:8080"}, "requests": [{"method": "GET", "path": "/"}],
        "steps": [{"connections": count, "duration_ns": int(each * 1e9)}], "threads": 1,
        "timeout_connect_ns": 5 * 10**9, "timeout_answer_ns": 15 * 10**9,
        "slice_ns": 10**9, "reactor": name,
    }
    return subprocess.run([f"{folder}/drive"], input=json.dumps(spec), preexec_fn=pinned,
                          capture_output=True, text=True)

def cost(folder, count):
    """Microseconds of CPU time that the process was charged, per successful request."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = usage.ru_utime + usage.ru_stime
    ran = drive(folder, count, names[folder])
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ran.returncode == 0, ran.stderr
    events = map(json.loads, ran.stdout.splitlines())
    slices = [event for event in events if event["event"] == "interval"]
    assert not any(slice["errors"] for slice in slices), slices
    requests = sum(slice["requests"] for slice in slices)
    return (usage.ru_utime + usage.ru_stime - begin) / requests * 1e6

def interval(values):
    """95 % of the median, by the ranks of a binomial distribution; of few values their range."""
    values, reach = sorted(values), 0.98 * len(values) ** 0.5
    first = max(0, int(len(values) / 2 - reach))
    return values[first], values[-1 - first]

names = {}
for folder in (before, after):
    known = drive(folder, 1, reactor).returncode == 0
    names[folder] = reactor if known else EARLIER[reactor]

worse = False
print(f"{reactor}, {each:g} s each, {rounds} rounds interleaved")
print(f"{'connections':>11} {'before us':>9} {'after us':>9} {'ratio':>6} {'95 %':>13}")
for count in map(int, connections.split()):
    runs = {before: [], after: []}
    for round in range(rounds):
        for folder in (before, after) if round % 2 == 0 else (after, before):
            runs[folder].append(cost(folder, count))
    ratios = [new / old for old, new in zip(runs[before], runs[after])]
    low, high = interval(ratios)
    ratio = statistics.median(ratios)
    worse = worse or ratio > bound
    print(f"{count:>11} {statistics.median(runs[before]):>9.3f} "
          f"{statistics.median(runs[after]):>9.3f} {ratio:>6.3f} {low:>6.3f}-{high:.3f}", flush=True)
sys.exit(worse)
PYTHON
