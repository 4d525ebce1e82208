"use strict";
// The data of the page, and how the report writes numbers.
const report = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // Three significant digits, whole numbers in full, as everywhere in the report.
  const number = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size >= 99.95) return value.toFixed(0);
    return Number(value.toPrecision(3)).toString();
  };
  const percentile = (inverse) => `${+((1 - 1 / inverse) * 100).toPrecision(6)} %`;
  const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  // `[x, y, low, high, label]`; where `y` stands alone, its place is `x`.
  const pointOf = (item, place) => (Array.isArray(item) ? item : [place, item]);
  return { data, number, percentile, escape, pointOf };
})();
