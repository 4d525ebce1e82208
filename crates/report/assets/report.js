// Draws the charts of the report from the JSON in the page. Options come from the page's maker;
// this script adds what depends on the reader: theme, size, number format, chosen contenders.
(() => {
  // Spelled out, because the width of labels is measured on a canvas that inherits nothing.
  const font = getComputedStyle(document.body).fontFamily;
  const data = JSON.parse(document.getElementById("data").textContent);
  // Distinguishable with any colour vision, and of enough contrast on their background
  // (after Okabe and Ito). Beyond their number, dashes distinguish the rounds.
  const palettes = {
    light: ["#0072b2", "#c04f00", "#00795a", "#a3317f", "#6b5b00", "#3d3d3d", "#1b8fd6", "#8a4ae0"],
    dark: ["#5db7f0", "#ff9d4d", "#2fcf9f", "#ef8fc4", "#e6d84a", "#c8ccd4", "#9db8ff", "#c7a1ff"],
  };
  // What others published: a cross, which no contender of ours has.
  const cross = "path://M0 3H3V0H5V3H8V5H5V8H3V5H0Z";
  const symbols = ["circle", "rect", "triangle", "diamond"];
  const dashes = ["solid", "dashed", "dotted"];
  const charts = new Map(); // element -> {chart, benchmark}
  // Panels that draw each run, instead of medians and bands.
  const eachRun = new Set();
  const summarised = new Map();
  const drawnOf = (benchmark, whole) => {
    if (eachRun.has(benchmark)) return whole;
    if (!summarised.has(whole)) summarised.set(whole, bands.of(whole));
    return summarised.get(whole);
  };
  // More contenders than this are not read in one chart: the best of them are shown at first.
  const many = 12;
  const best = 8;
  // Names that are switched off, by the reader or at first.
  const hidden = data.benchmarks.map(({ cases, charts: drawn }) => {
    const peaks = drawn.find((spec) => spec.id === "peaks");
    if (!peaks || cases.length <= many) return new Set();
    const shown = new Set(peaks.option.series.slice(-best).map((series) => series.name));
    return new Set(cases.filter((name) => !shown.has(name)));
  });

  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const isDark = () =>
    !printing && (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);

  const look = (index) => {
    const palette = isDark() ? palettes.dark : palettes.light;
    return {
      color: palette[index % palette.length],
      symbol: symbols[index % symbols.length],
      dash: dashes[Math.floor(index / palette.length) % dashes.length],
    };
  };

  // Three significant digits, whole numbers in full, as everywhere in the report.
  const number = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size >= 99.95) return value.toFixed(0);
    return Number(value.toPrecision(3)).toString();
  };
  const short = (value) => {
    const size = Math.abs(value);
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
    if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
    return `${+value.toPrecision(3)}`;
  };
  const percentile = (inverse) => `${+((1 - 1 / inverse) * 100).toPrecision(6)} %`;
  const escape = (text) =>
    String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

  const valueOf = (item) => (item && item.value !== undefined ? item.value : item);
  const labelOf = (item) => (item && item.label_text ? item.label_text : "");

  // ---- options -------------------------------------------------------------------------------

  function axis(definition, vertical, width) {
    const dark = isDark();
    const soft = dark ? "#a3adbd" : "#555d6b";
    const made = {
      ...definition,
      nameTextStyle: { color: soft, align: vertical ? "left" : "center" },
      axisLine: { lineStyle: { color: soft } },
      axisLabel: { color: soft, hideOverlap: true },
      splitLine: {
        show: definition.type !== "category",
        lineStyle: { color: dark ? "#2b313b" : "#e3e6eb" },
      },
    };
    if (definition.quantile) {
      made.axisLabel.formatter = percentile;
    } else if (definition.type === "category") {
      // Names of contenders must all be there; steps may be thinned out on a narrow page.
      if (vertical) {
        Object.assign(made.axisLabel, { interval: 0, width: width * 0.38, overflow: "break" });
      } else {
        made.axisLabel.rotate = width < 480 ? 50 : 0;
      }
    } else {
      made.axisLabel.formatter = short;
      if (!vertical && width < 480) made.splitNumber = 3;
    }
    if (definition.type === "log" && !definition.quantile) {
      made.minorSplitLine = { show: false };
      made.minorTick = { show: true };
    }
    return made;
  }

  function styled(series, spec, position) {
    const { color, symbol: own, dash } = look(spec.cases[position]);
    const published = spec.published[position];
    const symbol = published ? cross : own;
    const hollow = `empty${symbol[0].toUpperCase()}${symbol.slice(1)}`;
    const manyPoints = series.data.length > 40 || spec.id === "distribution";
    // A line of many points has symbols only where a number is not fair.
    const items = series.data.map((item) =>
      item && item.hollow ? { ...item, symbol: hollow, symbolSize: 7 } : item,
    );
    const hasHollow = items.some((item) => item && item.hollow);
    const made = {
      ...series,
      data: items,
      symbol,
      symbolSize: spec.shape === "dots" ? 10 : manyPoints ? 0 : 7,
      showSymbol: !manyPoints || hasHollow,
      color,
      itemStyle: { color, opacity: spec.shape === "dots" ? 0.75 : 1 },
      emphasis: { focus: "series" },
    };
    if (spec.shape === "lines") {
      made.lineStyle = published
        ? { color, type: [6, 5], width: 1.2, opacity: 0.8 }
        : { color, type: dash, width: manyPoints ? 2 : 1.5 };
    }
    if (spec.shape === "estimates") {
      made.renderItem = whisker(color, items, besides(spec) ? shift(position, spec) : 0);
      made.encode = { x: [0, 2, 3], y: 1 };
    }
    return made;
  }

  // Shares of baselines have a mark for each benchmark in the row of a contender, one below the other.
  const besides = (spec) => spec.id.startsWith("overhead");
  const distance = 11;
  const rowHeight = (spec) =>
    besides(spec) ? Math.max(28, 12 + distance * spec.option.series.length) : 28;
  const shift = (position, spec) => (position - (spec.option.series.length - 1) / 2) * distance;

  // Where two that do not differ are, which no choice of contenders takes away.
  const reference = (at) => ({
    type: "scatter",
    data: [],
    silent: true,
    markLine: {
      silent: true,
      symbol: "none",
      label: { show: false },
      lineStyle: { color: isDark() ? "#a3adbd" : "#555d6b", type: "dashed", width: 1 },
      data: [{ xAxis: at }],
    },
  });

  // A point with its interval; hollow when it is not a fair number.
  const whisker = (color, items, down) => (params, api) => {
    const fill = items[params.dataIndex].hollow ? (isDark() ? "#14171c" : "#ffffff") : color;
    const middle = api.coord([api.value(0), api.value(1)]);
    const children = [];
    if (!Number.isNaN(api.value(2))) {
      const low = api.coord([api.value(2), api.value(1)]);
      const high = api.coord([api.value(3), api.value(1)]);
      const line = (x1, y1, x2, y2) => ({
        type: "line",
        shape: { x1, y1, x2, y2 },
        style: { stroke: color, lineWidth: 2 },
      });
      children.push(
        line(low[0], low[1], high[0], high[1]),
        line(low[0], low[1] - 5, low[0], low[1] + 5),
        line(high[0], high[1] - 5, high[0], high[1] + 5),
      );
    }
    children.push({
      type: "circle",
      shape: { cx: middle[0], cy: middle[1], r: 5 },
      style: { fill, stroke: color, lineWidth: 2 },
    });
    return { type: "group", y: down, children };
  };

  // Charts with rows leave out those of names that are switched off, and what is empty then.
  function rowsShown(benchmark, spec) {
    const made = spec.option;
    if (spec.shape === "lines") return made;
    const off = hidden[benchmark];
    const drawn = made.series.filter((series) => !off.has(series.name));
    const filled = new Set(drawn.flatMap((series) => series.data.map((item) => valueOf(item)[1])));
    const rows = made.yAxis.data.flatMap((name, row) => (off.has(name) || !filled.has(row) ? [] : [row]));
    const place = new Map(rows.map((row, index) => [row, index]));
    const moved = (item) => {
      const value = valueOf(item).slice();
      const row = place.get(value[1]);
      if (row === undefined) return null;
      value[1] = row;
      return item.value === undefined ? value : { ...item, value };
    };
    return {
      ...made,
      yAxis: { ...made.yAxis, data: rows.map((row) => made.yAxis.data[row]) },
      series: made.series.map((series) => ({
        ...series,
        data: series.data.map(moved).filter((item) => item !== null),
      })),
    };
  }

  function option(benchmark, spec, width) {
    const made = rowsShown(benchmark, spec);
    const byAxis = spec.shape === "lines" && !["throughput-latency", "cumulative", "startup-share"].includes(spec.id);
    const names = [...new Set(made.series.map((series) => series.name))];
    const dark = isDark();
    return {
      ...made,
      backgroundColor: "transparent",
      textStyle: { color: dark ? "#e7eaf0" : "#1a1d23", fontFamily: font },
      grid: { ...made.grid, right: width < 480 ? 14 : 24 },
      legend: {
        show: false,
        data: names,
        selected: Object.fromEntries(names.map((n) => [n, !hidden[benchmark].has(n)])),
      },
      tooltip: {
        trigger: byAxis ? "axis" : "item",
        confine: true,
        backgroundColor: dark ? "#1d2229" : "#ffffff",
        borderColor: dark ? "#363d48" : "#d5d9e0",
        textStyle: { color: dark ? "#e7eaf0" : "#1a1d23", fontSize: 13 },
        extraCssText: "max-width: 90vw; white-space: normal;",
        formatter: (params) => (byAxis ? tipAxis(spec, params) : tipItem(spec, params)),
      },
      xAxis: axis(made.xAxis, false, width),
      yAxis: axis(made.yAxis, true, width),
      series: [
        ...bands.series({ ...spec, option: made }, (position) => look(spec.cases[position]).color),
        ...made.series.map((series, position) => styled(series, spec, position)),
        ...(besides(spec) ? [reference(100)] : []),
        ...(spec.id === "ratios" ? [reference(0)] : []),
      ],
    };
  }

  // ---- tooltips ------------------------------------------------------------------------------

  const yOf = (params) => {
    const value = valueOf(params.data);
    return Array.isArray(value) ? value[1] : value;
  };

  function tipAxis(spec, params) {
    if (!params.length) return "";
    const x = spec.option.xAxis;
    let head = params[0].axisValueLabel;
    if (x.quantile) head = `${percentile(params[0].value[0])} of requests`;
    else if (x.type !== "category") head = `${number(params[0].value[0])} ${x.name}`;
    else if (x.name.startsWith("connections")) head = `step ${head}`;
    const groups = new Map();
    for (const one of params) {
      const y = yOf(one);
      if (one.seriesType !== "line" || y === null || y === undefined) continue;
      if (!groups.has(one.seriesName)) groups.set(one.seriesName, { color: one.color, ys: [], labels: new Set() });
      const group = groups.get(one.seriesName);
      group.ys.push(y);
      if (one.data && one.data.low !== undefined) group.ends = [one.data.low, one.data.high];
      if (labelOf(one.data)) group.labels.add(labelOf(one.data));
    }
    const middle = (ys) => ys.reduce((sum, y) => sum + y, 0) / ys.length;
    const rows = [...groups].sort((a, b) => middle(b[1].ys) - middle(a[1].ys));
    const lines = rows.map(([name, { color, ys, labels, ends }]) => {
      const [low, high] = ends ?? [Math.min(...ys), Math.max(...ys)];
      const around = number(low) === number(high) ? "" : `${number(low)}–${number(high)}`;
      const shown = ends ? `${number(ys[0])}${around && ` (${around})`}` : around || number(low);
      const note = [...labels].join(", ");
      return `<tr><td style="background:none;border:0;padding:0 .5em 0 0;text-align:left"><span style="color:${color}">●</span> ${escape(name)}</td>` +
        `<td style="background:none;border:0;padding:0;text-align:right"><b>${shown}</b> ${escape(note)}</td></tr>`;
    });
    const unit = spec.option.yAxis.name;
    if (spec.id === "turns") return `<div>${escape(head)}, ${escape(unit)}</div><table style="width:auto">${lines.join("")}</table>`;
    return `<div>${escape(head)}, ${escape(unit)}, ${spec.banded ? "median (lowest–highest run)" : "lowest–highest run"}</div><table style="width:auto">${lines.join("")}</table>`;
  }

  function tipItem(spec, params) {
    const run = spec.runs[params.seriesIndex];
    const name = `<b>${escape(params.seriesName)}</b>${run ? ` run ${run}` : ""}`;
    const value = valueOf(params.data);
    const x = spec.option.xAxis;
    const y = spec.option.yAxis;
    const lines = [name];
    if (spec.shape === "lines") {
      lines.push(`${number(value[0])} ${escape(x.name)}`, `${number(value[1])} ${escape(y.name)}`);
    } else {
      lines.push(`${number(value[0])} ${escape(x.name)}`);
      if (value.length > 2) lines.push(`95 %: ${number(value[2])}–${number(value[3])}`);
    }
    if (labelOf(params.data)) lines.push(escape(labelOf(params.data)));
    return lines.join("<br>");
  }

  // ---- charts --------------------------------------------------------------------------------

  function draw(element) {
    const benchmark = Number(element.dataset.benchmark);
    const whole = data.benchmarks[benchmark].charts[Number(element.dataset.chart)];
    const spec = drawnOf(benchmark, whole);
    let entry = charts.get(element);
    const rows = rowsShown(benchmark, spec).yAxis.data;
    if (spec.shape !== "lines") {
      element.style.height = `${Math.max(170, 90 + rowHeight(spec) * rows.length)}px`;
      if (entry) entry.chart.resize();
    }
    if (!entry) {
      const chart = echarts.init(element, null, { renderer: "svg" });
      entry = { chart, benchmark };
      charts.set(element, entry);
      element.after(saver(chart, whole));
    }
    entry.chart.setOption(option(benchmark, spec, element.clientWidth), { notMerge: true });
  }

  // Saves a chart as a file, as it is drawn now.
  function saver(chart, spec) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "Save as SVG";
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = chart.getDataURL({ type: "svg" });
      link.download = `${spec.title.replace(/[^\w.]+/g, "-")}.svg`;
      link.click();
    });
    return button;
  }

  const redraw = () => charts.forEach((_, element) => draw(element));

  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting && !charts.has(entry.target)) draw(entry.target);
      }
    },
    { rootMargin: "400px" },
  );
  const elements = document.querySelectorAll(".chart");
  elements.forEach((element) => {
    // What is on the first screen does not wait for a frame: a picture of the page may be the first.
    if (element.getBoundingClientRect().top < window.innerHeight) draw(element);
    seen.observe(element);
  });

  let resizing = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(() => {
      charts.forEach(({ chart }, element) => {
        chart.resize();
        draw(element);
      });
    });
  });
  window.addEventListener("beforeprint", () => {
    printing = true;
    elements.forEach(draw);
    // The page is not laid out for paper yet: with a view box the drawing scales with it.
    document.querySelectorAll(".chart svg").forEach((svg) => {
      svg.setAttribute("viewBox", `0 0 ${svg.clientWidth} ${svg.clientHeight}`);
    });
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    document.querySelectorAll(".chart svg").forEach((svg) => svg.removeAttribute("viewBox"));
    redraw();
  });

  // ---- legends -------------------------------------------------------------------------------

  const sample = (index, published) => {
    const { color, symbol, dash } = look(index);
    if (published) {
      return `<svg aria-hidden="true" fill="${color}" stroke="${color}">` +
        '<path d="M0 6H26" stroke-dasharray="6 5"/><path d="M9 5h3V2h2v3h3v2h-3v3h-2V7H9z"/></svg>';
    }
    const strokes = { solid: "", dashed: "5 3", dotted: "2 2" };
    const marks = {
      circle: '<circle cx="13" cy="6" r="4"/>',
      rect: '<rect x="9" y="2" width="8" height="8"/>',
      triangle: '<path d="M13 1 18 10H8z"/>',
      diamond: '<path d="M13 0 18 6 13 12 8 6z"/>',
    };
    return `<svg aria-hidden="true" fill="${color}" stroke="${color}">` +
      `<path d="M0 6H26" stroke-width="2" stroke-dasharray="${strokes[dash]}"/>${marks[symbol]}</svg>`;
  };

  function legend(element) {
    const benchmark = Number(element.dataset.benchmark);
    const { cases: ours, published } = data.benchmarks[benchmark];
    const theirs = published.map((other) => other.name);
    const cases = [...ours, ...theirs];
    const off = hidden[benchmark];
    const refresh = () => {
      element.querySelectorAll("button[data-name]").forEach((button, index) => {
        button.setAttribute("aria-pressed", String(!off.has(button.dataset.name)));
        const other = published[index - ours.length];
        button.innerHTML =
          sample(other ? other.case : index, other) + escape(button.dataset.name);
      });
      charts.forEach((entry, chart) => {
        if (entry.benchmark === benchmark) draw(chart);
      });
    };
    const button = (text, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.addEventListener("click", (event) => {
        act(event);
        refresh();
      });
      element.append(made);
      return made;
    };
    for (const name of cases) {
      const made = button(name, () => {
        if (!off.delete(name)) off.add(name);
      });
      made.dataset.name = name;
      made.addEventListener("dblclick", () => {
        cases.forEach((other) => (other === name ? off.delete(other) : off.add(other)));
        refresh();
      });
    }
    if (theirs.length) {
      button("published", () => {
        const shown = theirs.some((name) => !off.has(name));
        theirs.forEach((name) => (shown ? off.add(name) : off.delete(name)));
      });
    }
    if (off.size > 0) {
      const note = document.createElement("span");
      note.className = "hint";
      note.textContent = `At first the ${best} with the highest peaks of ${ours.length} are shown.`;
      element.append(note);
    }
    if (data.benchmarks[benchmark].charts.some(bands.has)) {
      const every = button("all runs", () => {
        if (!eachRun.delete(benchmark)) eachRun.add(benchmark);
        every.setAttribute("aria-pressed", String(eachRun.has(benchmark)));
      });
      every.className = "every";
      every.setAttribute("aria-pressed", "false");
    }
    if (cases.length > 2) {
      button("all", () => off.clear());
      button("none", () => cases.forEach((name) => off.add(name)));
    }
    refresh();
    return refresh;
  }
  const legends = [...document.querySelectorAll(".legend")].map(legend);

  // ---- data tables ---------------------------------------------------------------------------

  function table(spec, of) {
    const made = spec.option;
    const cell = (value) => (value === null || value === undefined ? "" : number(value));
    const title = (series, position) =>
      `${series.name}${spec.runs[position] ? ` run ${spec.runs[position]}` : ""}`;
    let head;
    let rows;
    if (made.xAxis.type === "category") {
      head = [made.xAxis.name, ...made.series.map(title)];
      rows = made.xAxis.data.map((name, index) => [
        name,
        ...made.series.map((series) => cell(valueOf(series.data[index]))),
      ]);
    } else {
      const estimate = spec.shape === "estimates";
      const share = made.xAxis.quantile;
      head = [of, "run", share ? "share" : made.xAxis.name];
      if (estimate) head.push("low", "high");
      if (spec.shape === "lines") head.push(made.yAxis.name);
      head.push("");
      rows = made.series.flatMap((series, position) =>
        series.data.map((item) => {
          const value = valueOf(item);
          const row = [series.name, spec.runs[position] ?? "all"];
          row.push(share ? percentile(value[0]) : cell(value[0]));
          if (estimate) row.push(cell(value[2]), cell(value[3]));
          if (spec.shape === "lines") row.push(cell(value[1]));
          row.push(labelOf(item));
          return row;
        }),
      );
    }
    const line = (cells, tag) =>
      `<tr>${cells.map((text, index) => (index ? `<${tag}>${escape(text)}</${tag}>` : `<th scope="${tag === "th" ? "col" : "row"}">${escape(text)}</th>`)).join("")}</tr>`;
    return `<div class="tools"></div><div class="scroll" tabindex="0"><table><thead>${line(head, "th")}</thead><tbody>${rows.map((row) => line(row, "td")).join("")}</tbody></table></div>`;
  }

  document.querySelectorAll("details.data").forEach((details) => {
    details.addEventListener("toggle", () => {
      if (details.dataset.made) return;
      details.dataset.made = "yes";
      const panel = data.benchmarks[Number(details.dataset.benchmark)];
      const spec = panel.charts[Number(details.dataset.chart)];
      details.insertAdjacentHTML("beforeend", table(spec, panel.of));
      details.dispatchEvent(new Event("tablemade", { bubbles: true }));
    });
  });

  // ---- price and theme -----------------------------------------------------------------------

  document.querySelectorAll(".price").forEach((input) => {
    input.addEventListener("input", () => {
      const price = Number(input.value);
      document.querySelectorAll(".price").forEach((other) => {
        if (other !== input) other.value = input.value;
      });
      document.querySelectorAll(".per-hour").forEach((part) => { part.textContent = price; });
      document.querySelectorAll(".dollars").forEach((cell) => {
        cell.textContent = number(((Number(cell.dataset.us) * 1e3) / 3600) * price);
      });
    });
  });

  const recolour = () => {
    legends.forEach((refresh) => refresh());
  };
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    recolour();
  });
  prefersDark.addEventListener("change", recolour);
})();
