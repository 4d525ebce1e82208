#!/usr/bin/env python3
"""Gatling and bakeoff on the same scenario, one after the other, against the same running contender.

    suites/bootzooka/gatling/compare.py CONTENDER [--users N] [--arrive SECONDS] [--pairs N] [--bakeoff PATH]

`bakeoff up` starts CONTENDER (`axum`) with its PostgreSQL. Then so many users arrive evenly within so many seconds (0: all at once),
open the page and register: by Gatling, by bakeoff, and so on in turn. Prints Gatling's own block beside bakeoff's of each pair, and the
medians over all pairs. Ends with status 1 unless all counts are equal and the medians of mean, p50 and p95 are within 5 % or 2 ms.
Needs Python 3.11, Maven and JDK 17; Gatling comes from Maven Central, and sends nothing about itself (`gatling.conf`).
"""

import argparse
import contextlib
import csv
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SUITE = HERE.parent
START_LIMIT_S = 600
# `bakeoff up` gives the contender of profile `quick` the first core. Both load generators stay off it: who takes the contender's
# core makes it slower, and its queue longer.
LOAD_CORES = sorted(os.sched_getaffinity(0))[1:] or [0]
# Agreement: within this share, or within so many milliseconds.
SHARE = 0.05
ABSOLUTE_MS = 2.0
# Rows of Gatling's block, and the columns of bakeoff's requests.csv.
ROWS = {
    "request count": ("ok", "ko"),
    "min response time": "min_ms",
    "max response time": "max_ms",
    "mean response time": "mean_ms",
    "std deviation": "std_ms",
    "response time 50th percentile": "p50_ms",
    "response time 75th percentile": "p75_ms",
    "response time 95th percentile": "p95_ms",
    "response time 99th percentile": "p99_ms",
}
COMPARED = ["mean response time", "response time 50th percentile", "response time 95th percentile"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contender")
    parser.add_argument("--users", type=int, default=300)
    parser.add_argument("--arrive", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--bakeoff", default=shutil.which("bakeoff") or "target/release/bakeoff")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    bakeoff = pathlib.Path(options.bakeoff).resolve()
    if not os.access(bakeoff, os.X_OK):
        sys.exit(f"{bakeoff} is missing: name it with --bakeoff")
    subprocess.run(["mvn", "--quiet", "--batch-mode", "test-compile"], cwd=HERE, check=True)
    pairs = []
    with tempfile.TemporaryDirectory(prefix="bakeoff-gatling-") as folder:
        folder = pathlib.Path(folder)
        with up(bakeoff, options.contender, folder) as url:
            write_suite(folder / "suite", url, options.users, options.arrive)
            # Whoever is first would meet a contender that is cold.
            by_bakeoff(bakeoff, folder, "warm-up")
            for pair in range(options.pairs):
                # In turn, so that neither always comes after the other.
                runs = [
                    lambda: by_gatling(url, options.users, options.arrive, pair),
                    lambda: by_bakeoff(bakeoff, folder, f"out-{pair}"),
                ]
                first, second = runs if pair % 2 == 0 else reversed(runs)
                one, other = first(), second()
                gatling, ours = (one, other) if pair % 2 == 0 else (other, one)
                pairs.append((gatling, ours))
                show(f"pair {pair + 1} of {options.pairs}: {options.users} users within {options.arrive} s", gatling, ours)
    sys.exit(verdict(pairs))


@contextlib.contextmanager
def up(bakeoff, contender, folder):
    """The contender, until the end; its URL."""
    command = [bakeoff, "up", SUITE, "--contender", contender, "--profile", "quick"]
    log = folder / "up.log"
    with open(log, "w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        until = time.monotonic() + START_LIMIT_S
        while not (found := re.search(r"listens on (http://\S+)", log.read_text())):
            if process.poll() is not None or time.monotonic() > until:
                sys.exit(f"{contender} does not start:\n{log.read_text()}")
            time.sleep(0.2)
        yield found[1]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def write_suite(folder, url, users, arrive):
    """The benchmark `registration` for a service that runs already: its scenario, and one round."""
    text = (SUITE / "suite.toml").read_text()
    tables = text.split("\n[[benchmark]]\n")[1].split("\n[[benchmark.step]]\n")[0]
    scenario = "\n[benchmark.scenario]\n" + tables.split("\n[benchmark.scenario]\n")[1]
    suite = f"""[suite]
name = "suite"
port = 8080
lifecycle = false

[profile.compare]
runs = 1

[[profile.compare.step]]
connections = {users}
duration = "2m"
pace = "users"
{f'arrive = "{arrive}s"' if arrive else ""}

[[benchmark]]
name = "registration"
{scenario}
"""
    tomllib.loads(suite)
    contender = f"""[contender]
name = "running"
describe = "the same"
language = "any"
url = "{url}"
"""
    (folder / "contenders/running").mkdir(parents=True)
    (folder / "suite.toml").write_text(suite)
    (folder / "contenders/running/contender.toml").write_text(contender)


def load(command, **options):
    """Runs a load generator on its cores."""
    pin = lambda: os.sched_setaffinity(0, LOAD_CORES)
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=pin, **options)


def by_bakeoff(bakeoff, folder, name):
    command = [bakeoff, "run", folder / "suite", "--profile", "compare", "--runtime", "external"]
    out = folder / name
    done = load([*command, "--quiet", "--out", out])
    if done.returncode != 0:
        sys.exit(f"bakeoff: {done.stdout}{done.stderr}")
    with open(out / "requests.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["request"] == "all"]
    assert len(rows) == 1, rows
    block = {}
    for name, column in ROWS.items():
        if isinstance(column, tuple):
            block[name] = " ".join(f"{key.upper()}={rows[0][key]}" for key in column)
        else:
            block[name] = float(rows[0][column])
    return block


def by_gatling(url, users, arrive, pair):
    properties = {"url": url, "users": users, "arrive": arrive, "run": f"{os.getpid()}p{pair}"}
    command = ["mvn", "--batch-mode", "gatling:test", *(f"-D{name}={value}" for name, value in properties.items())]
    done = load(command, cwd=HERE)
    if done.returncode != 0:
        sys.exit(f"Gatling: {done.stdout[-4000:]}{done.stderr}")
    block = {}
    for name in ROWS:
        found = re.search(rf"^> {re.escape(name)}\s+(\d+) \((OK=\S+)\s+(KO=\S+)\s*\)", done.stdout, re.MULTILINE)
        if not found:
            sys.exit(f"Gatling prints no {name!r}:\n{done.stdout[-4000:]}")
        if name == "request count":
            block[name] = f"{found[2]} {found[3]}".replace("KO=-", "KO=0")
        else:
            block[name] = float(found[2].removeprefix("OK="))
    return block


def show(title, gatling, ours):
    print(f"\n{title}\n{'':32}{'Gatling':>16}{'bakeoff':>16}")
    for name in ROWS:
        one, other = (value if isinstance(value, str) else f"{value:.1f}" for value in (gatling[name], ours[name]))
        print(f"{name:32}{one:>16}{other:>16}", flush=True)


def verdict(pairs):
    """Status of this program: 0 when both say the same."""
    differ = [pair for pair in pairs if pair[0]["request count"] != pair[1]["request count"]]
    print(f"\ncounts: {'DIFFERENT' if differ else 'equal'} in {len(differ) or len(pairs)} of {len(pairs)} pairs")
    print(f"{'median over pairs':32}{'Gatling':>16}{'bakeoff':>16}{'difference':>16}")
    agree = not differ
    for name in COMPARED:
        one, other = (statistics.median(pair[side][name] for pair in pairs) for side in (0, 1))
        difference = other - one
        good = abs(difference) <= max(SHARE * one, ABSOLUTE_MS)
        agree &= good
        print(f"{name:32}{one:>16.1f}{other:>16.1f}{difference:>+16.1f}{'' if good else '  DIFFERENT'}")
    print("they agree" if agree else "they do not agree")
    return 0 if agree else 1


if __name__ == "__main__":
    main()
