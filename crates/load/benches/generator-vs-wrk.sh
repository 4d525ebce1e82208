#!/bin/bash
# CPU time per request of the engine and of wrk, interleaved, against the same server; also of
# h2load, oha and hey where they are installed and asked for.
#
# Runs in a private network namespace (the rules of a host's firewall cost every packet), with the
# server on core 0 and the generator on core 1. Needs root for the namespace, wrk and python3;
# SERVER=nginx needs nginx. With LINK=veth (needs ethtool) the server has a separate namespace,
# and each end of the link receives in a thread on its own side's core, as with network cards.
#
# What disturbs a shared host lasts for seconds: many short rounds say more than few long ones.
#
#   CONNECTIONS="1 8 64 512" SECONDS_EACH=1 ROUNDS=60 TOOLS="wrk epoll uring uring-rx-timestamps h2load oha hey" \
#   SERVER=null|nginx LINK=lo|veth benches/generator-vs-wrk.sh
. "$(dirname "$0")/namespace.sh"

connections="${CONNECTIONS:-64}"
each="${SECONDS_EACH:-1}"
rounds="${ROUNDS:-60}"
tools="${TOOLS:-wrk epoll uring epoll-rx-timestamps uring-rx-timestamps}"
body="${BODY_BYTES:-13}"
kind="${SERVER:-null}"
link="${LINK:-lo}"
case "$link" in
lo) address=127.0.0.1:8080 ;;
veth)
    address=10.77.0.2:8080
    command -v ethtool > /dev/null || { echo "LINK=veth needs ethtool (Debian: ethtool)" >&2; exit 2; } ;;
*) echo "LINK is lo or veth, not $link" >&2; exit 2 ;;
esac
ulimit -n "$(ulimit -Hn)"

case "$kind" in
null) command=("$bin/null-server" "$address" "$body") ;;
nginx)
    head -c "$body" /dev/zero | tr '\0' x > "$scratch/index.html"
    cat > "$scratch/nginx.conf" <<CONF
daemon off; master_process off; worker_processes 1; pid $scratch/pid; error_log stderr warn;
events { worker_connections 8192; }
http {
    access_log off; keepalive_requests 1000000000; keepalive_timeout 600;
    client_body_temp_path $scratch/body; proxy_temp_path $scratch/proxy;
    fastcgi_temp_path $scratch/fastcgi; uwsgi_temp_path $scratch/uwsgi;
    scgi_temp_path $scratch/scgi; open_file_cache max=10;
    server { listen $address backlog=4096; root $scratch; }
}
CONF
    chmod 755 "$scratch"
    command=(nginx -c "$scratch/nginx.conf") ;;
*) echo "SERVER is null or nginx, not $kind" >&2; exit 2 ;;
esac

# One end of the link, in the caller's namespace: its address, and the core that it receives on.
end_of_link() {
    ip address add "$2/24" dev "$1"
    ip link set "$1" up
    # Without TSO and with GRO a veth device receives by NAPI, which can have a thread.
    ethtool -K "$1" tso off gro on
    unshare --mount -- bash -c "mount -t sysfs sysfs /sys; echo 1 > /sys/class/net/$1/threaded"
    taskset -pc "$3" "$(pgrep "^napi/$1")" > "$scratch/taskset"
}

if [ "$link" = veth ]; then
    unshare --net -- bash -c 'until ip address show up | grep -q 10.77; do sleep 0.1; done
        exec taskset -c 0 "$@"' server "${command[@]}" &
    server=$!
    sleep 0.5
    ip link add bakeoff-1 type veth peer name bakeoff-0 netns "$server"
    end_of_link bakeoff-1 10.77.0.1 1
    export -f end_of_link
    scratch="$scratch" nsenter --target "$server" --net -- \
        bash -c 'end_of_link bakeoff-0 10.77.0.2 0'
else
    taskset -c 0 "${command[@]}" &
    server=$!
fi
sleep 0.5

cat <<TEXT
$kind server on core 0, generator on core 1, $each s each, $rounds rounds interleaved, body $body bytes
TEXT
python3 - "$bin" "$address" "$each" "$rounds" "$connections" "$tools" <<'PYTHON'
import glob, json, os, re, resource, shutil, statistics, subprocess, sys

bin, address, each, rounds, connections, tools = sys.argv[1:]
each, rounds = float(each), int(rounds)

def pinned():
    os.sched_setaffinity(0, {1})

# The thread that receives for the generator's end of a veth link.
receiver = [os.path.dirname(name) for name in glob.glob("/proc/[0-9]*/comm")
            if open(name).read().startswith("napi/bakeoff-1")]

def cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = usage.ru_utime + usage.ru_stime
    receiving = sum(int(open(f"{thread}/schedstat").read().split()[0]) for thread in receiver)
    return process, usage.ru_utime, process + receiving / 1e9

def printed(command, pattern):
    text = subprocess.run(command, preexec_fn=pinned, capture_output=True, text=True, check=True)
    found = re.search(pattern, text.stdout)
    assert found and "errors" not in text.stdout.replace("0 errored", ""), text.stdout
    return int(found.group(1))

url = f"http://{address}/"
# The command for a number of connections, and where it prints the requests that succeeded.
OTHERS = {
    "wrk": (lambda count: ["wrk", "-t1", f"-c{count}", f"-d{each:g}s", url],
            r"(\d+) requests in "),
    "h2load": (lambda count: ["h2load", "--h1", "-t1", f"-c{count}", f"-D{each:g}", url],
               r"requests: .* (\d+) succeeded"),
    "hey": (lambda count: ["hey", "-cpus", "1", "-c", str(count), "-z", f"{each:g}s", url],
            r"\[200\]\s+(\d+) responses"),
    "oha": (lambda count: ["oha", "--no-tui", "-c", str(count), "-z", f"{each:g}s", url],
            r"\[200\]\s+(\d+) responses"),
}

def ours(count, reactor):
    spec = {
        "target": {"address": address}, "requests": [{"method": "GET", "path": "/"}],
        "steps": [{"connections": count, "duration_ns": int(each * 1e9)}], "threads": 1,
        "timeout_connect_ns": 5 * 10**9, "timeout_answer_ns": 15 * 10**9,
        "slice_ns": 10**9, "reactor": reactor,
    }
    text = subprocess.run([f"{bin}/drive"], input=json.dumps(spec), preexec_fn=pinned,
                          capture_output=True, text=True, check=True).stdout
    slices = [event for event in map(json.loads, text.splitlines())
              if event["event"] == "interval"]
    assert not any(slice["errors"] for slice in slices), slices
    return sum(slice["requests"] for slice in slices)

def interval(values):
    """95 % of the median, by the ranks of a binomial distribution; of few values their range."""
    values, reach = sorted(values), 0.98 * len(values) ** 0.5
    first = max(0, int(len(values) / 2 - reach))
    return values[first], values[-1 - first]

OURS = ("epoll", "uring", "epoll-rx-timestamps", "uring-rx-timestamps")
chosen = [tool for tool in tools.split() if tool in OURS or shutil.which(tool)]
for tool in set(tools.split()) - set(chosen):
    print(f"{tool} is not installed and left out")
print(f"{'connections':>11} {'tool':>19} {'us/request':>10} {'user us':>8} {'of wrk':>7} "
      f"{'95 %':>13} {'req/s':>8}" + (f" {'with receiving':>14} {'of wrk':>7}" if receiver else ""))
for count in map(int, connections.split()):
    runs = {}
    for _ in range(rounds):
        for tool in chosen:
            before = cpu()
            if tool in OTHERS:
                command, pattern = OTHERS[tool]
                requests = printed(command(count), pattern)
            else:
                requests = ours(count, tool)
            after = cpu()
            costs = [(end - begin) / requests * 1e6 for begin, end in zip(before, after)]
            runs.setdefault(tool, []).append((*costs, requests / each))
    base = [run[0] for run in runs["wrk"]]
    base_receiving = [run[2] for run in runs["wrk"]]
    for tool, values in runs.items():
        total, user, receiving, rate = (statistics.median(column) for column in zip(*values))
        ratios = [value[0] / other for value, other in zip(values, base)]
        low, high = interval(ratios)
        line = (f"{count:>11} {tool:>19} {total:>10.2f} {user:>8.2f} "
                f"{statistics.median(ratios):>7.3f} {low:>6.3f}-{high:.3f} "
                f"{rate:>8.0f}")
        if receiver:
            ratios = [value[2] / other for value, other in zip(values, base_receiving)]
            line += f" {receiving:>14.2f} {statistics.median(ratios):>7.3f}"
        print(line, flush=True)
PYTHON
