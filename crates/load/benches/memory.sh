#!/bin/bash
# Memory of the engine: its resident size must stay flat. Two loads against the null server, each
# with a status: 10,000 connections for ten minutes, and uploads of 5 MiB on 128 connections.
# Status 1 when the resident size grows by more than 2 % + 2 MiB from a tenth of the time on, when
# a request fails, or when connections are missing.
#
# Runs in a private network namespace; needs root for it, python3, and 30,000 open files.
#
#   SECONDS_CONNECTIONS=600 SECONDS_UPLOADS=60 benches/memory.sh
. "$(dirname "$0")/namespace.sh"
# Ten thousand connections to one address need ten thousand ports.
echo 1024 65535 > /proc/sys/net/ipv4/ip_local_port_range
ulimit -n "$(ulimit -Hn)"

address=127.0.0.1:1000
"$bin/null-server" "$address" &
server=$!
sleep 0.3

python3 - "$bin" "$address" "${SECONDS_CONNECTIONS:-600}" "${SECONDS_UPLOADS:-60}" <<'PYTHON'
import json, subprocess, sys, threading, time

bin, address, long, uploads = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])

def resident_kib(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
    except FileNotFoundError:
        pass
    return None

def load(name, connections, seconds, pace, body):
    spec = {
        "target": {"address": address},
        "requests": [{"method": "POST" if body else "GET", "path": "/", "body": "x" * body}],
        "steps": [{"connections": connections, "duration_ns": int(seconds * 1e9), "pace": pace}],
        "timeout_connect_ns": 30 * 10**9, "timeout_answer_ns": 30 * 10**9, "slice_ns": 10**9,
    }
    process = subprocess.Popen([f"{bin}/drive"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    sizes = []
    open_window = threading.Event()
    def watch():
        open_window.wait()
        while process.poll() is None:
            size = resident_kib(process.pid)
            if size:
                sizes.append((time.monotonic(), size))
            time.sleep(0.5)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    process.stdin.write(json.dumps(spec))
    process.stdin.close()
    requests = errors = 0
    established = None
    begin = None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "ready":
            established = event["connections"]["established"]
            begin = time.monotonic()
            open_window.set()
        elif event["event"] == "interval":
            requests += event["requests"]
            errors += sum(error["count"] for error in event["errors"].values())
    process.wait()
    open_window.set()
    watcher.join()
    # Not the last second, in which connections are drained.
    window = [size for at, size in sizes if begin + seconds / 10 <= at <= begin + seconds - 1]
    first, last, most = window[0], window[-1], max(window)
    flat = most <= first * 1.02 + 2048
    good = flat and errors == 0 and established == connections and process.returncode == 0
    print(f"{name}: {established} of {connections} connections, {requests} requests, "
          f"{errors} errors in {seconds:g} s; resident {first / 1024:.1f} MiB at a tenth, "
          f"{last / 1024:.1f} at the end, {most / 1024:.1f} at most: "
          f"{'flat' if good else 'NOT AS IT SHOULD BE'}", flush=True)
    return good

# At a rate that does not fill the machine: it is the size that is looked at.
rate = {"model": "constant", "rate_per_s": 10000}
good = load("connections", 10000, long, rate, 0)
good &= load("uploads of 5 MiB", 128, uploads, {"model": "closed"}, 5 << 20)
sys.exit(0 if good else 1)
PYTHON
