// The values of a chart at the pointer, and contenders that the legend hides. The charts are drawn by
// the page's maker, with their numbers next to them.
(() => {
  const { data, number, percentile, escape, pointOf } = report;
  // Values further apart than this are not at one place, in units of the drawing.
  const near = 25;

  const placeOf = ({ values: [low, high], places: [from, to], log }, value) => {
    const of = log ? Math.log10 : Number;
    return from + ((of(value) - of(low)) / (of(high) - of(low))) * (to - from);
  };
  const made = (svg, tag, attributes) => {
    const element = document.createElementNS(svg.namespaceURI, tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    return element;
  };
  const make = (tag, properties, parent) => {
    const element = Object.assign(document.createElement(tag), properties);
    parent.append(element);
    return element;
  };

  // ---- values at the pointer -----------------------------------------------------------------

  // All that can be pointed at, with its place.
  function spotsOf(spec, svg) {
    const lines = spec.lines ?? spec.series;
    if (spec.shape === "lines") {
      const spot = (line) => (item, place) => {
        const point = pointOf(item, place);
        const y = point[1] === null ? NaN : placeOf(spec.y, point[1]);
        return { line, point, x: placeOf(spec.x, point[0]), y };
      };
      const spots = lines.flatMap((line) => line.points.map(spot(line)));
      return spots.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
    }
    // Rows move when others are hidden, so their marks say where they are.
    const frame = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / frame.width;
    return [...svg.querySelectorAll("[data-point]:not(.off)")].map((group) => {
      const [line, place] = group.dataset.point.split(" ").map(Number);
      const mark = group.lastElementChild.getBoundingClientRect();
      return {
        line: lines[line],
        point: pointOf(lines[line].points[place], place),
        x: (mark.left + mark.width / 2 - frame.left) * scale,
        y: (mark.top + mark.height / 2 - frame.top) * scale,
      };
    });
  }

  // The spots to show for a place: one of each line where they belong together, else the nearest.
  function nearest(spec, spots, x, y) {
    const far = (spot) => (spec.byPlace ? Math.abs(spot.x - x) : Math.hypot(spot.x - x, spot.y - y));
    const closer = (a, b) => (far(b) < far(a) ? b : a);
    const first = spots.reduce(closer);
    if (!spec.byPlace) return [first];
    const each = new Map();
    const away = (spot) => Math.abs(spot.x - first.x);
    spots.filter((spot) => away(spot) < near).forEach((spot) => {
      const other = each.get(spot.line);
      if (!other || away(spot) < away(other)) each.set(spot.line, spot);
    });
    return [...each.values()].sort((a, b) => b.point[1] - a.point[1]);
  }

  function textOf(spec, spots, colourOf) {
    const { x: axis, y: { name: unit } } = spec;
    const nameOf = ({ name, run }) => `${escape(name)}${run ? ` run ${run}` : ""}`;
    const dot = (line) => `<i class="${colourOf(line.name)}">●</i> `;
    const at = spots[0].point[0];
    if (!spec.byPlace) {
      const { line, point: [x, y, low, high, label] } = spots[0];
      const parts = [`${dot(line)}<b>${nameOf(line)}</b>`, `${number(x)} ${escape(axis.name)}`];
      if (spec.shape === "lines") parts.push(`${number(y)} ${escape(unit)}`);
      else if (Number.isFinite(low)) parts.push(`95 %: ${number(low)} to ${number(high)}`);
      return [...parts, ...(label ? [escape(label)] : [])].map((part) => `<div>${part}</div>`).join("");
    }
    let head = `${number(at)} ${axis.name}`;
    if (axis.quantile) head = `${percentile(at)} of requests`;
    else if (axis.names) head = `${axis.name.startsWith("connections") ? "step " : ""}${axis.names[at]}`;
    const kind = spec.lines ? ", median (lowest–highest run)" : "";
    const rows = spots.map(({ line, point: [, y, low, high, label] }) => {
      const isRange = (low ?? null) !== null && number(low) !== number(high) && (spec.lines || !label);
      const range = isRange ? ` (${number(low)}–${number(high)})` : "";
      return `<div>${dot(line)}${nameOf(line)} <b>${number(y)}${range}</b> ${escape(label ?? "")}</div>`;
    });
    return `<div>${escape(head)}, ${escape(unit)}${kind}</div>${rows.join("")}`;
  }

  function follow(chart, spec, isOff, colourOf) {
    const svg = chart.querySelector("svg");
    const tip = make("div", { className: "tip", hidden: true }, chart);
    tip.setAttribute("role", "status");
    const rings = svg.appendChild(made(svg, "g", { class: "at" }));
    let all;
    const spotsShown = () => {
      // Those of lines stay where they are.
      if (!all || spec.shape !== "lines") all = spotsOf(spec, svg);
      return all.filter(({ line }) => !isOff(line.name));
    };
    const hide = () => {
      tip.hidden = true;
      rings.replaceChildren();
    };
    const show = (x, y) => {
      const there = spotsShown();
      if (!there.length) return hide();
      const spots = nearest(spec, there, x, y);
      const [{ x: atX, y: atY }] = spots;
      rings.replaceChildren(...spots.map((spot) =>
        made(svg, "circle", { cx: spot.x, cy: spot.y, r: 7, class: colourOf(spot.line.name) })));
      if (spec.byPlace) {
        const [bottom, top] = spec.y.places;
        rings.prepend(made(svg, "line", { x1: atX, x2: atX, y1: top, y2: bottom }));
      }
      tip.innerHTML = textOf(spec, spots, colourOf);
      tip.hidden = false;
      // Next to the place, on the side that has more room.
      const scale = svg.clientWidth / svg.viewBox.baseVal.width;
      const [left, width] = [atX * scale - chart.scrollLeft, chart.clientWidth];
      const wanted = left < width / 2 ? left + 14 : left - 14 - tip.offsetWidth;
      const inside = Math.max(0, Math.min(wanted, width - tip.offsetWidth));
      tip.style.left = `${inside + chart.scrollLeft}px`;
      // On a narrow page below the plot, which it would cover.
      const isWide = tip.offsetWidth > width / 2;
      tip.style.top = `${isWide ? svg.clientHeight : spec.byPlace ? 8 : atY * scale + 12}px`;
      return undefined;
    };
    const point = (event) => {
      const frame = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / frame.width;
      show((event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale);
    };
    chart.addEventListener("pointermove", point);
    chart.addEventListener("pointerdown", point);
    // A finger that is lifted leaves, too, and the values stay to be read.
    chart.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hide());
    chart.addEventListener("blur", hide);
    let current = -1;
    chart.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const order = spec.shape === "lines" ? "x" : "y";
      let stops = spotsShown().sort((a, b) => a[order] - b[order]);
      if (spec.byPlace) stops = stops.filter(({ x }, index) => !index || x - stops[index - 1].x > 0.5);
      if (!stops.length) return;
      current = (Math.max(current + step, -1) + stops.length) % stops.length;
      show(stops[current].x, stops[current].y);
    });
    return hide;
  }

  // ---- files ---------------------------------------------------------------------------------

  // Saves a chart as it is shown now, in the colours of white paper.
  function save(svg, title, isEach) {
    const copy = svg.cloneNode(true);
    const { width, height } = svg.viewBox.baseVal;
    copy.querySelectorAll(".off, .at").forEach((part) => part.remove());
    copy.classList.toggle("each", isEach);
    const style = made(svg, "style", {});
    style.textContent = document.getElementById("chart-style").textContent;
    copy.prepend(style, made(svg, "rect", { width, height, fill: "#fff" }));
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const text = encodeURIComponent(new XMLSerializer().serializeToString(copy));
    const link = document.createElement("a");
    link.href = `data:image/svg+xml;charset=utf-8,${text}`;
    link.download = `${title.replace(/[^\w.]+/g, "-")}.svg`;
    link.click();
  }

  // ---- legends -------------------------------------------------------------------------------

  // Closes rows of which nothing is shown; what is below moves up.
  function closeRows(svg) {
    const height = Number(svg.dataset.rowHeight);
    if (!height) return;
    const parts = [...svg.querySelectorAll("[data-row]")];
    const rowOf = ({ dataset }) => Number(dataset.row);
    const shown = new Set(parts.filter((part) => part.dataset.name && !part.matches(".off")).map(rowOf));
    let up = 0;
    const moves = new Map();
    // The highest number is on top.
    for (const row of [...new Set(parts.map(rowOf))].sort((a, b) => b - a)) {
      moves.set(row, up);
      if (!shown.has(row)) up += height;
    }
    parts.forEach((part) => {
      part.setAttribute("transform", `translate(0 ${-moves.get(rowOf(part))})`);
      if (!part.dataset.name) part.classList.toggle("off", !shown.has(rowOf(part)));
    });
    svg.querySelector(".foot").setAttribute("transform", `translate(0 ${-up})`);
    svg.querySelectorAll(".across line").forEach((line) => {
      line.dataset.end ??= line.getAttribute("y2");
      line.setAttribute("y2", line.dataset.end - up);
    });
    const { width, height: now } = svg.viewBox.baseVal;
    svg.dataset.whole ??= now;
    svg.setAttribute("viewBox", `0 0 ${width} ${svg.dataset.whole - up}`);
  }

  function equip(panel) {
    const { charts, published } = data.benchmarks[Number(panel.dataset.panel)];
    const theirs = published.map(({ name }) => name);
    const buttons = new Map();
    panel.querySelectorAll(".legend [data-name]").forEach((one) => buttons.set(one.dataset.name, one));
    const parts = [...panel.querySelectorAll(".chart [data-name]")];
    const isOn = (button) => button.getAttribute("aria-pressed") === "true";
    const isOff = (name) => buttons.has(name) && !isOn(buttons.get(name));
    const colourOf = (name) => buttons.get(name)?.querySelector("g").getAttribute("class") ?? "";
    const elements = [...panel.querySelectorAll(".chart")];
    const hides = elements.map((chart) => {
      const spec = charts[Number(chart.dataset.chart)];
      const button = make("button", { type: "button", className: "save", textContent: "Save as SVG" }, chart);
      chart.after(button);
      const svg = chart.querySelector("svg");
      button.addEventListener("click", () => save(svg, spec.title, panel.matches(".each")));
      return follow(chart, spec, isOff, colourOf);
    });
    const refresh = () => {
      parts.forEach((part) => part.classList.toggle("off", isOff(part.dataset.name)));
      elements.forEach((chart) => closeRows(chart.querySelector("svg")));
      hides.forEach((hide) => hide());
    };
    const turn = (names, on) => {
      for (const name of names) buttons.get(name).setAttribute("aria-pressed", String(on));
      refresh();
    };
    buttons.forEach((button, name) => {
      button.addEventListener("click", () => turn([name], !isOn(button)));
      button.addEventListener("dblclick", () => {
        turn(buttons.keys(), false);
        turn([name], true);
      });
      const emphasise = (on) => parts.forEach((part) =>
        part.classList.toggle("dim", on && part.dataset.name !== name));
      button.addEventListener("mouseenter", () => emphasise(!isOff(name)));
      button.addEventListener("mouseleave", () => emphasise(false));
    });
    const acts = {
      all: () => turn(buttons.keys(), true),
      none: () => turn(buttons.keys(), false),
      published: () => turn(theirs, theirs.every(isOff)),
      runs: (button) => button.setAttribute("aria-pressed", String(panel.classList.toggle("each"))),
    };
    panel.querySelectorAll("[data-act]").forEach((button) =>
      button.addEventListener("click", () => acts[button.dataset.act](button)));
    refresh();
  }
  document.querySelectorAll(".panel").forEach(equip);
})();
