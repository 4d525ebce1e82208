#!/usr/bin/env bash
# Measures the contenders of SUITE against what they were at BASELINE. Ends with the status of
# `bakeoff run`: 3 when a condition of FAIL_IF holds.
set -euo pipefail
read -ra conditions <<<"${FAIL_IF:-}"
read -ra options <<<"${OPTIONS:-}"
arguments=(run "$SUITE" --baseline "$BASELINE" --out "$OUT")
for condition in "${conditions[@]}"; do
    arguments+=(--fail-if "$condition")
done
# Limits, and a network of its own for each contender, take root.
as_root=()
if [ "$(id -u)" != 0 ] && [ "${GITHUB_ACTIONS:-}" = true ]; then
    as_root=(sudo "--preserve-env=HOME,GITHUB_STEP_SUMMARY" env "PATH=$PATH")
fi
status=0
"${as_root[@]}" bakeoff "${arguments[@]}" "${options[@]}" || status=$?
if [ ${#as_root[@]} -gt 0 ]; then
    # The steps that follow are not root's.
    sudo chown --recursive "$(id -u):$(id -g)" "$OUT" || true
fi
exit "$status"
