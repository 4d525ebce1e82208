#!/usr/bin/env python3
"""Leaves out of committed results most of their bytes: how the times of warm-up slices vary, whose
number and mean stay, and the single pauses of garbage collectors after the first 20 of a run, which are
summed up.

No claim, comparison or rank of runs in turns is read from them. What goes is the percentiles of
warm-up rows in `results.csv`, and the later points in charts of pauses. Do not use it where a claim
reads the length of pauses.

usage: records/thin.py FOLDER...
"""

import base64
import bisect
import gzip
import json
import math
import pathlib
import struct
import sys
import zlib

# HdrHistogram's compressed format: this number and a length before the rest, in which counts follow a
# header, whose second word is their length.
COMPRESSED, HEADER = 0x1C849314, 40
SLICE = '{"record":"interval"'


# Pauses of a run that stay in its list.
PAUSES = 20


def numbers(counts: bytes):
    """Yields signed numbers in LEB128 (zigzag) with at most nine bytes; negative ones are runs of
    empty buckets."""
    value = shift = 0
    for byte in counts:
        if shift == 56:
            value, shift = value | byte << 56, 0
        else:
            value, shift = value | (byte & 0x7F) << shift, shift + 7 if byte & 0x80 else 0
        if shift == 0:
            yield value >> 1 ^ -(value & 1)
            value = 0


def written(number: int) -> bytes:
    """A number as `numbers` reads it."""
    value, all_bytes = number << 1 ^ number >> 63, bytearray()
    while value >= 0x80:
        all_bytes.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*all_bytes, value])


def value_at(index: int, digits: int) -> int:
    """The lowest value in a bucket of a histogram with so many significant digits, as
    HdrHistogram's documentation defines it."""
    half = math.ceil(math.log2(2 * 10**digits)) - 1
    bucket, place = (index >> half) - 1, (index & (1 << half) - 1) + (1 << half)
    return place << bucket if bucket >= 0 else place - (1 << half)


def at_mean(histogram: str) -> str:
    """Returns a histogram with all values of this one in the bucket of their mean."""
    raw = base64.b64decode(histogram)
    cookie, length = struct.unpack(">II", raw[:8])
    if cookie != COMPRESSED:
        sys.exit(f"unknown histogram {histogram[:20]}")
    plain = zlib.decompress(raw[8 : 8 + length])
    digits = struct.unpack(">I", plain[12:16])[0]
    index = total = weight = 0
    for number in numbers(plain[HEADER:]):
        if number > 0:
            total, weight = total + number, weight + number * value_at(index, digits)
        index += max(-number, 1)
    counts = b""
    if total:
        mean = bisect.bisect_left(range(index), weight / total, key=lambda at: value_at(at, digits))
        counts = (written(-mean) if mean else b"") + written(total)
    plain = plain[:4] + struct.pack(">I", len(counts)) + plain[8:HEADER] + counts
    packed = zlib.compress(plain, 9)
    return base64.b64encode(struct.pack(">II", COMPRESSED, len(packed)) + packed).decode()


def thinned(line: str) -> str:
    """Returns a record with one time for a warm-up slice and without late pauses."""
    is_warm_up = line.startswith(SLICE) and '"warm_up":true' in line
    if not is_warm_up and '"pauses":[' not in line:
        return line
    record = json.loads(line)
    if is_warm_up:
        for name in ("service_time", "response_time"):
            if record["load"].get(name):
                record["load"][name] = at_mean(record["load"][name])
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
