#!/usr/bin/env python3
"""Makes cities.ndjson.gz and regions.ndjson.gz from places.csv, always the same bytes.

Names, centroids, populations, extents and numbers of points are facts from Who's On First. The
outlines are not: each is generated around the centroid, within the extent, with the real number
of points, so that documents have the size of the real ones and nobody's data is copied.

Usage: python3 make.py            writes the two files beside this script
       python3 make.py --check    exits 1 when the files are not what this script makes
"""

import csv
import gzip
import io
import json
import math
import random
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LANGUAGES = ("cs", "de", "en", "pl", "sk")

# Coordinates keep six decimals (about 0.1 m), as the real documents do.
DECIMALS = 6

# Places that the functional checks want inside an outline: city id -> (latitude, longitude).
INSIDE = {101748113: (50.107, 14.574)}

# Share of a MultiPolygon's extent, on its western side, that holds the second polygon.
EXCLAVE_WIDTH = 0.12


class Box:
    """An extent in degrees."""

    def __init__(self, south, west, north, east):
        self.south, self.west, self.north, self.east = south, west, north, east

    def distance_to_edge(self, lat, lon, angle):
        """How far the edge is from a place inside, in the direction of the angle, in degrees."""
        dx, dy = math.cos(angle), math.sin(angle)
        distances = []
        if abs(dx) > 1e-12:
            distances.append(((self.east if dx > 0 else self.west) - lon) / dx)
        if abs(dy) > 1e-12:
            distances.append(((self.north if dy > 0 else self.south) - lat) / dy)
        return min(distances)


def wobble(rng):
    """A smooth periodic function of an angle with values in 0..1: the coarse form of a border."""
    waves = [(k, rng.uniform(0, 2 * math.pi), 1 / k) for k in (2, 3, 5, 8, 13, 21, 34)]
    total = sum(weight for _, _, weight in waves)

    def at(angle):
        value = sum(weight * math.sin(k * angle + phase) for k, phase, weight in waves)
        return 0.5 + 0.5 * value / total

    return at


def ring(rng, lat, lon, box, points, inside):
    """A closed ring of `points` positions (the first is repeated at the end).

    It is star-shaped around the place: angles grow strictly, so it cannot cross itself.
    """
    corners = points - 1
    form = wobble(rng)
    positions = []
    for index in range(corners):
        angle = 2 * math.pi * (index + 0.5 * rng.random()) / corners
        share = 0.62 + 0.33 * form(angle)
        share += 0.02 * rng.random()
        if inside is not None:
            towards = math.atan2(inside[0] - lat, inside[1] - lon)
            turn = math.remainder(angle - towards, 2 * math.pi)
            share += (0.985 - share) * math.exp(-((turn / 0.2) ** 2))
        reach = share * box.distance_to_edge(lat, lon, angle)
        x, y = lon + reach * math.cos(angle), lat + reach * math.sin(angle)
        positions.append([round(x, DECIMALS), round(y, DECIMALS)])
    return positions + positions[:1]


def geometry(row):
    """The GeoJSON geometry of a row."""
    lat, lon = float(row["lat"]), float(row["lon"])
    if row["geometry"] == "Point":
        return {"type": "Point", "coordinates": [lon, lat]}
    rng = random.Random(int(row["id"]))
    box = Box(*(float(row[side]) for side in ("south", "west", "north", "east")))
    points = int(row["points"])
    inside = INSIDE.get(int(row["id"]))
    if row["geometry"] == "Polygon":
        return {"type": "Polygon", "coordinates": [ring(rng, lat, lon, box, points, inside)]}
    border = box.west + EXCLAVE_WIDTH * (box.east - box.west)
    exclave = Box(box.south, box.west, box.north, border)
    # A little air between the two, so that they never touch.
    main = Box(box.south, border + 0.001, box.north, box.east)
    small = points // 8
    middle = ((exclave.south + exclave.north) / 2, (exclave.west + exclave.east) / 2)
    return {
        "type": "MultiPolygon",
        "coordinates": [
            [ring(rng, lat, lon, main, points - small, inside)],
            [ring(rng, *middle, exclave, small, None)],
        ],
    }


def document(row):
    """The document of a row as Elasticsearch stores it."""
    fields = {"id": int(row["id"]), "countryIso": row["country"]}
    if row["kind"] == "city":
        fields["regionId"] = int(row["region_id"])
        fields["timezone"] = row["timezone"]
        fields["population"] = int(row["population"])
        fields["isFeatured"] = row["featured"] == "true"
    fields["centroid"] = {"lat": float(row["lat"]), "lon": float(row["lon"])}
    for language in LANGUAGES:
        fields[f"name.{language}"] = row[language]
    fields["geometry"] = geometry(row)
    return fields


def packed(rows):
    """Documents as gzipped JSON Lines, without time stamp or file name."""
    lines = [json.dumps(document(row), ensure_ascii=False, separators=(",", ":")) for row in rows]
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, compresslevel=9, mtime=0) as zipped:
        zipped.write(("\n".join(lines) + "\n").encode())
    return out.getvalue()


def same(path, data):
    """Whether the file holds the same documents; compressed bytes may differ between zlibs."""
    return path.exists() and gzip.decompress(path.read_bytes()) == gzip.decompress(data)


def main():
    """Writes or checks both files."""
    with open(FOLDER / "places.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    status = 0
    for kind, name in (("city", "cities.ndjson.gz"), ("region", "regions.ndjson.gz")):
        data = packed([row for row in rows if row["kind"] == kind])
        path = FOLDER / name
        if "--check" in sys.argv[1:]:
            if not same(path, data):
                print(f"{name}: not what make.py makes; run it again", file=sys.stderr)
                status = 1
        else:
            path.write_bytes(data)
    return status


if __name__ == "__main__":
    sys.exit(main())
