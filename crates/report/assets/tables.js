// What tables can do for a reader: sort, filter, copy. Each gets its tools when it comes into view,
// because a large report has hundreds of tables that are never opened.
(() => {
  // Fewer rows than this are read faster than filtered.
  const few = 8;

  const textOf = (cell) => {
    // Badges and marks have a title that is not part of the number.
    const copy = cell.cloneNode(true);
    copy.querySelectorAll(".bar, button").forEach((part) => part.remove());
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  const rowsOf = (table) => [...table.tBodies].flatMap((body) => [...body.rows]);
  const cells = (row) => [...row.cells].map(textOf);
  const numberOf = (text) => {
    const found = text.match(/^[<~]?\s*[-−]?\d+(\.\d+)?(e[-+]?\d+)?/i);
    return found ? Number(found[0].replace("−", "-").replace(/[<~\s]/g, "")) : NaN;
  };

  function sort(table, column, heading) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("thead [aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => {
      const text = row.cells[column] ? textOf(row.cells[column]) : "";
      return { row, text, number: numberOf(text) };
    });
    keyed.sort((a, b) => {
      // Cells that are not numbers come last in either direction.
      const missing = Number.isNaN(a.number) - Number.isNaN(b.number);
      if (missing) return missing;
      const order = Number.isNaN(a.number)
        ? a.text.localeCompare(b.text, undefined, { numeric: true })
        : a.number - b.number;
      return down ? -order : order;
    });
    body.append(...keyed.map(({ row }) => row));
  }

  const shown = (table) => [...table.tHead.rows, ...rowsOf(table).filter((row) => !row.hidden)].map(cells);
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = (rows) => rows.map((row) => row.map(quoted).join(",")).join("\n");
  const markdown = (rows) => {
    const line = (row) => `| ${row.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
    const [head, ...rest] = rows;
    return [line(head), `|${head.map(() => "---|").join("")}`, ...rest.map(line)].join("\n");
  };

  // Pages of files have no clipboard in some browsers: there a text is selected.
  async function copy(text, button) {
    const name = button.textContent;
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = done ? "Copied" : "Could not copy";
    setTimeout(() => { button.textContent = name; }, 1500);
  }

  function tool(text, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => act(made));
    return made;
  }

  function equip(tools) {
    const frame = tools.nextElementSibling;
    const table = frame && frame.querySelector("table");
    if (!table || !table.tHead || tools.childElementCount) return;
    if (rowsOf(table).length > few) {
      const input = document.createElement("input");
      input.type = "search";
      input.placeholder = "Filter rows";
      input.setAttribute("aria-label", "Filter rows");
      input.addEventListener("input", () => {
        const wanted = input.value.toLowerCase();
        rowsOf(table).forEach((row) => {
          row.hidden = !textOf(row).toLowerCase().includes(wanted);
        });
      });
      tools.append(input);
    }
    tools.append(
      tool("Copy as Markdown", (button) => copy(markdown(shown(table)), button)),
      tool("Copy as CSV", (button) => copy(csv(shown(table)), button)),
    );
    // Groups of rows are sorted separately.
    if (table.tBodies.length !== 1 || table.tBodies[0].rows.length < 2) return;
    [...table.tHead.rows[table.tHead.rows.length - 1].cells].forEach((heading, column) => {
      if (heading.tagName !== "TH" || !heading.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, column, heading));
      heading.append(button);
    });
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      equip(entry.target);
    }
  }, { rootMargin: "200px" });
  const watch = (root) => root.querySelectorAll(".tools").forEach((tools) => seen.observe(tools));
  watch(document);
  // The data of a chart is made on demand.
  document.addEventListener("tablemade", (event) => watch(event.target));

  // A link into a folded part opens it.
  function reveal() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
