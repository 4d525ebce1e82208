// Data tables of charts, the price of requests, and the theme.
(() => {
  const { data, number, percentile, escape, pointOf } = report;

  function table(spec, of) {
    const cell = (value) => (value === null || value === undefined ? "" : number(value));
    const title = (series) => `${series.name}${series.run ? ` run ${series.run}` : ""}`;
    let head;
    let rows;
    if (spec.x.names) {
      head = [spec.x.name, ...spec.series.map(title)];
      rows = spec.x.names.map((name, place) => [
        name,
        ...spec.series.map(({ points }) => (place < points.length ? cell(pointOf(points[place], place)[1]) : "")),
      ]);
    } else {
      const estimate = spec.shape === "estimates";
      const share = spec.x.quantile;
      head = [of, "run", share ? "share" : spec.x.name];
      if (estimate) head.push("low", "high");
      if (spec.shape === "lines") head.push(spec.y.name);
      head.push("");
      rows = spec.series.flatMap((series) =>
        series.points.map((item, place) => {
          const [x, y, low, high, label] = pointOf(item, place);
          const row = [series.name, series.run ?? "all", share ? percentile(x) : cell(x)];
          if (estimate) row.push(cell(low), cell(high));
          if (spec.shape === "lines") row.push(cell(y));
          return [...row, label ?? ""];
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
      const panel = data.benchmarks[Number(details.closest(".panel").dataset.panel)];
      const spec = panel.charts[Number(details.dataset.chart)];
      details.insertAdjacentHTML("beforeend", table(spec, panel.of));
      details.dispatchEvent(new Event("tablemade", { bubbles: true }));
    });
  });

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

  document.getElementById("theme").addEventListener("click", () => {
    const { dataset } = document.documentElement;
    const prefersDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    const isDark = dataset.theme ? dataset.theme === "dark" : prefersDark;
    dataset.theme = isDark ? "light" : "dark";
  });
})();
