#!/usr/bin/env bash
# Does a service sustain what `bakeoff size` says of it? Finds the shapes of actix-4 and http4k-3 of
# the suite locations behind the replay backend, then has the suite's own benchmark `capacity`
# measure each with the limits of its cheapest shape, in other processes, and prints both numbers.
#
# Takes root, and some twenty minutes on two cores, which must have nothing else to do. BAKEOFF
# names the program if it is built already, SHAPES the CPU limits (`0.25,0.5`), KEEP a folder in which
# the results stay.
#
# usage: benches/size.sh [CONTENDER...]
set -euo pipefail
[ -z "${BAKEOFF:-}" ] || BAKEOFF=$(realpath "$BAKEOFF")
if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    KEEP=$(realpath "$KEEP")
fi
cd "$(dirname "$0")/.."
if [ -z "${BAKEOFF:-}" ]; then
    cargo build --quiet --profile dist --package bakeoff
    BAKEOFF=$PWD/target/dist/bakeoff
fi
suite=$PWD/suites/locations
objective='p99 <= 50ms and errors <= 0.1%'
port=9271
folder=$(mktemp --directory --tmpdir bakeoff-size-XXXXXX)
results=${KEEP:-$folder/results}
replay=
ended() {
    [ -z "$replay" ] || kill "$replay" 2>/dev/null || true
    rm -rf "$folder"
}
trap ended EXIT

# Builds a contender and prints its command.
command_of() { # CONTENDER
    local artifact
    artifact=$("$BAKEOFF" build "$suite" --contender "$1" --json |
        python3 -c 'import json, sys; print(json.loads(sys.stdin.read())["artifact"])')
    case $artifact in
    *.jar) echo "java -XX:MaxRAMPercentage=75 -jar $artifact" ;;
    *) echo "$artifact" ;;
    esac
}

# The sentence of the answer, then limits and capacity of the cheapest shape.
cheapest() { # FILE
    python3 - "$1" <<'PYTHON'
import json, sys
with open(sys.argv[1]) as lines:
    sizing = [json.loads(line) for line in lines][-1]["sizing"]
print(sizing["sentence"])
for shape in sizing["shapes"]:
    if shape["cpus"] == sizing.get("cheapest_cpus"):
        print(shape["cpus"], sizing["memory"]["limit_bytes"] >> 20, shape["capacity_per_s"])
PYTHON
}

[ $# -gt 0 ] || set -- actix-4 http4k-3
for contender; do
    command=$(command_of "$contender")
    # On the core of the load generator, as the suite has it.
    taskset --cpu-list "$(($(nproc) - 1))" "$BAKEOFF" replay --gzip --recordings "$suite/recordings" --listen "127.0.0.1:$port" &
    replay=$!
    "$BAKEOFF" size "$contender=$command" --rate 800 --slo "$objective" ${SHAPES:+--shapes "$SHAPES"} \
        --get '/city/v1/get?id=101748111&language=cs' --ready '/city/v1/get?id=101748111&language=cs' \
        --env GOOUT_ELASTIC_HOST=127.0.0.1 --env "GOOUT_ELASTIC_PORT=$port" \
        --env ENGINE=undertow --env CONTRACT=on \
        --out "$results/$contender" --json >"$folder/size.jsonl"
    kill "$replay"
    wait "$replay" || true
    replay=
    cheapest "$folder/size.jsonl" >"$folder/cheapest"
    cat "$folder/cheapest"
    read -r cpus mib _ < <(tail -n 1 "$folder/cheapest")
    copy=$folder/locations
    mkdir -p "$copy"
    ln -sfn "$suite"/{checks,contenders,data,recordings,shared} "$copy"
    # The same objective alone, under the limits of the shape.
    sed "s/^slo = \[.*p99 <= 50ms.*/slo = [\"$objective\"]/" "$suite/suite.toml" >"$copy/suite.toml"
    cat >>"$copy/suite.toml" <<TOML

[profile.shape]
limits = { cpus = $cpus, memory = "${mib}MiB" }
runs = 3
ladder = { warm-up = [8, 64], connections = [64], step = "2s" }
TOML
    "$BAKEOFF" run "$copy" --profile shape --benchmark capacity --contender "$contender" \
        --out "$results/$contender-capacity" --quiet
done
