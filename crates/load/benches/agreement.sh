#!/bin/bash
# Cross-check: closed-loop throughput, p50 and p99 of the engine against another tool's, interleaved,
# on a server that is the bottleneck. Exits with status 1 when a median over rounds differs by more
# than the noise of both tools (and more than 3 %).
#
#   AGAINST=wrk     HTTP/1.1 on the null server, each response burns WORK_US of its one core
#   AGAINST=h2load  HTTP/2 on nginx, STREAMS on each connection, each response compressed again
#
# Runs in a private network namespace, the server on core 0, the generator on core 1. Needs root
# for the namespace, python3, and wrk, or h2load and nginx.
#
#   AGAINST=h2load CONNECTIONS="1 16 64" SECONDS_EACH=4 ROUNDS=5 STREAMS=8 benches/agreement.sh
. "$(dirname "$0")/namespace.sh"

address=127.0.0.1:8080
against="${AGAINST:-wrk}"
streams="${STREAMS:-8}"

case "$against" in
wrk)
    streams=1
    command=("$bin/null-server" "$address" 13 "${WORK_US:-200}") ;;
h2load)
    head -c 6144 /dev/urandom | base64 > "$scratch/index.html"
    cat > "$scratch/nginx.conf" <<CONF
daemon off; master_process off; worker_processes 1; pid $scratch/pid; error_log stderr crit;
events { worker_connections 4096; }
http {
    access_log off; gzip on; gzip_comp_level 9; keepalive_requests 1000000000; keepalive_timeout 600;
    client_body_temp_path $scratch/body; proxy_temp_path $scratch/proxy;
    fastcgi_temp_path $scratch/fastcgi; uwsgi_temp_path $scratch/uwsgi;
    scgi_temp_path $scratch/scgi;
    server { listen $address http2 backlog=4096; root $scratch; }
}
CONF
    chmod 755 "$scratch"
    command=(nginx -c "$scratch/nginx.conf") ;;
*) echo "AGAINST is wrk or h2load, not $against" >&2; exit 2 ;;
esac

taskset -c 0 "${command[@]}" &
server=$!
sleep 0.5

python3 - "$bin" "$address" "${SECONDS_EACH:-4}" "${ROUNDS:-5}" "${CONNECTIONS:-1 16 64}" \
    "$against" "$streams" "$scratch" <<'PYTHON'
import json, os, re, statistics, subprocess, sys

bin, address, each, rounds, connections, against, streams, scratch = sys.argv[1:]
each, rounds = float(each), int(rounds)
url = f"http://{address}/"
# Differences below this are not a disagreement, however quiet the machine is.
FLOOR = 0.03
UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}

def pinned():
    os.sched_setaffinity(0, {1})

def wrk(count):
    command = ["wrk", "-t1", f"-c{count}", f"-d{each:g}s", "--latency", url]
    text = subprocess.run(command, preexec_fn=pinned, capture_output=True, text=True, check=True)
    def quantile(name):
        value, unit = re.search(rf"{name}\s+([0-9.]+)(us|ms|s)", text.stdout).groups()
        return float(value) * UNITS[unit]
    rate = float(re.search(r"Requests/sec:\s+([0-9.]+)", text.stdout).group(1))
    return rate, quantile("50%"), quantile("99%")

def h2load(count):
    log = f"{scratch}/times"
    command = ["h2load", "-t1", f"-c{count}", f"-m{streams}", f"-D{each:g}", f"--log-file={log}",
               "-Haccept-encoding: gzip", url]
    text = subprocess.run(command, preexec_fn=pinned, capture_output=True, text=True, check=True)
    rate = float(re.search(r"([0-9.]+) req/s", text.stdout).group(1))
    with open(log) as lines:
        times = sorted(int(line.split()[2]) for line in lines)
    os.remove(log)
    return rate, times[len(times) // 2], times[len(times) * 99 // 100]

def ours(count):
    target = {"address": address, "protocol": "http1" if against == "wrk" else "http2"}
    request = {"method": "GET", "path": "/", "headers": [["accept-encoding", "gzip"]]}
    spec = {
        "target": target, "in_flight": int(streams), "requests": [request],
        "steps": [{"connections": count, "duration_ns": int(each * 1e9)}], "threads": 1,
        "timeout_connect_ns": 5 * 10**9, "timeout_answer_ns": 15 * 10**9,
        # One slice, so that its quantiles are those of the whole.
        "slice_ns": 0,
        # Other tools look at their own clock when they have read a response: so does this one.
        "reactor": "epoll",
    }
    text = subprocess.run([f"{bin}/drive", "quantiles"], input=json.dumps(spec),
                          preexec_fn=pinned, capture_output=True, text=True, check=True).stdout
    return tuple(map(float, text.split()))

other_tool = {"wrk": wrk, "h2load": h2load}[against]
good = True
print(f"{'connections':>11} {'figure':>8} {'ours':>10} {against:>10} {'ratio':>7} {'noise':>7}")
for count in map(int, connections.split()):
    others, own_runs = [], []
    for _ in range(rounds):
        others.append(other_tool(count))
        own_runs.append(ours(count))
    for index, figure in enumerate(["req/s", "p50 us", "p99 us"]):
        own = [run[index] for run in own_runs]
        other = [run[index] for run in others]
        def spread(values):
            middle = statistics.median(values)
            return (max(values) - min(values)) / middle
        ratio = statistics.median(own) / statistics.median(other)
        noise = max(FLOOR, spread(own), spread(other))
        holds = abs(ratio - 1) <= noise
        good &= holds
        print(f"{count:>11} {figure:>8} {statistics.median(own):>10.1f} "
              f"{statistics.median(other):>10.1f} {ratio:>7.3f} {noise:>7.3f}"
              f"{'' if holds else '  DISAGREE'}")
sys.exit(0 if good else 1)
PYTHON
