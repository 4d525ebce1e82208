"use strict";
// Runs of one contender as one line, their median, with a band from the lowest to the highest run; and
// the bands of lines whose points have ends already.
const bands = (() => {
  // Points of these have no common place: each run is drawn.
  const apart = ["gc-pauses", "heap-after-gc"];
  const valueOf = (item) => (item && item.value !== undefined ? item.value : item);
  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    const half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  // The runs of each name, in the order of their first ones.
  function grouped(spec) {
    const groups = new Map();
    spec.option.series.forEach((series, position) => {
      const key = `${spec.published[position]} ${series.name}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(position);
    });
    return [...groups.values()];
  }

  // One point of all runs that have it: `{value, low, high, hollow, label_text}`.
  function point(items) {
    const there = items.filter((item) => {
      const value = valueOf(item);
      return (Array.isArray(value) ? value[1] : value) !== null && value !== undefined;
    });
    const first = items.find((item) => item !== undefined);
    if (!there.length) return { value: Array.isArray(valueOf(first)) ? valueOf(first) : null };
    const values = there.map(valueOf);
    const pairs = Array.isArray(values[0]);
    const ys = values.map((value) => (pairs ? value[1] : value));
    const labels = new Set(there.map((item) => item.label_text).filter(Boolean));
    return {
      value: pairs ? [median(values.map((value) => value[0])), median(ys)] : median(ys),
      low: Math.min(...ys),
      high: Math.max(...ys),
      hollow: there.some((item) => item.hollow),
      label_text: [...labels].join(", "),
    };
  }

  // Whether runs can be summarised, without doing it.
  function has(spec) {
    if (spec.shape !== "lines" || apart.includes(spec.id)) return false;
    const seen = new Set();
    return spec.option.series.some((series, position) => {
      const key = `${spec.published[position]} ${series.name}`;
      return seen.has(key) || !seen.add(key);
    });
  }

  // The same chart with one series for each contender, or itself where that says no more.
  function of(spec) {
    if (!has(spec)) return spec;
    const groups = grouped(spec);
    const series = groups.map((group) => {
      const runs = group.map((position) => spec.option.series[position]);
      if (runs.length === 1) return runs[0];
      const length = Math.max(...runs.map((run) => run.data.length));
      const places = Array.from({ length }, (_, place) => place);
      const data = places.map((place) => point(runs.map((run) => run.data[place])));
      return { ...runs[0], data };
    });
    const first = (of) => groups.map((group) => of[group[0]]);
    return {
      ...spec,
      banded: true,
      cases: first(spec.cases),
      published: first(spec.published),
      runs: groups.map((group) => (group.length === 1 ? spec.runs[group[0]] : null)),
      option: { ...spec.option, series },
    };
  }

  // The lowest and the highest value at a point: of its runs, or of the slices merged in it.
  function ends(item) {
    if (item && item.low !== undefined) return [item.low, item.high];
    const value = valueOf(item);
    return Array.isArray(value) && value.length > 3 ? value.slice(2) : [NaN, NaN];
  }

  // The bands as separate series, below the lines. Neither can be pointed at.
  function series(spec, colour) {
    if (spec.shape !== "lines") return [];
    return spec.option.series.flatMap((line, position) => {
      const whole = line.data.map((item, place) => {
        const value = valueOf(item);
        return [Array.isArray(value) ? value[0] : place, ...ends(item)];
      });
      if (whole.every(([, low]) => Number.isNaN(low))) return [];
      // A gap ends a band; each band is drawn with its first point.
      const begins = whole.map(
        ([, low], place) => !Number.isNaN(low) && (place === 0 || Number.isNaN(whole[place - 1][1])),
      );
      return [{
        type: "custom",
        name: line.name,
        data: whole.map((value, place) => ({ value, place })),
        encode: { x: 0, y: [1, 2] },
        silent: true,
        clip: true,
        z: 1,
        tooltip: { show: false },
        renderItem: (params, api) => {
          const begin = params.dataIndex;
          if (!begins[begin]) return null;
          let end = begin;
          while (end + 1 < whole.length && !Number.isNaN(whole[end + 1][1])) end += 1;
          const places = whole.slice(begin, end + 1);
          const upper = places.map(([x, , high]) => api.coord([x, high]));
          const lower = places.map(([x, low]) => api.coord([x, low])).reverse();
          return {
            type: "polygon",
            shape: { points: [...upper, ...lower] },
            style: { fill: colour(position), opacity: 0.18 },
          };
        },
      }];
    });
  }

  return { has, of, series };
})();
