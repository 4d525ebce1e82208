// Opens reports in a real Chromium: no console error, every chart drawn, nothing serious found by
// axe-core, usable by keyboard and on a narrow screen. Used as `node check.mjs BROWSER PAGE...`; ends
// with status 1 when anything is wrong.
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const views = [
  { name: "wide, light", viewport: { width: 1400, height: 900 }, colorScheme: "light" },
  { name: "400 px, dark", viewport: { width: 400, height: 860 }, colorScheme: "dark" },
];
const serious = ["serious", "critical"];
// axe-core takes minutes for a page of thousands of rows, which are all made alike: it looks at pages up
// to this size, and at the smallest one where all are larger.
const axeBytesMax = 1_500_000;

// Something is drawn in every chart, in letters that can be read.
async function figures(page) {
  const found = await page.locator(".chart svg").evaluateAll((all) => all.flatMap((svg) => {
    const title = svg.parentElement.getAttribute("aria-label");
    const scale = svg.clientWidth / svg.viewBox.baseVal.width;
    const sizes = [...svg.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize));
    const smallest = Math.min(...sizes) * scale;
    return [
      ...(svg.querySelector("[data-name] path, path[data-name]") ? [] : [`chart not drawn: ${title}`]),
      // A hundredth for rounding.
      ...(smallest > 10.99 ? [] : [`letters of ${smallest.toFixed(1)} px: ${title}`]),
    ];
  }));
  for (const figure of await page.locator("figure.answer").all()) {
    if (!(await figure.locator("svg circle").count())) found.push("the first chart is empty");
  }
  return found;
}

// The table below a chart has what the chart says at the pointer and by the arrow keys.
async function values(page) {
  const faults = [];
  for (const chart of await page.locator(".panel .chart").all()) {
    const title = await chart.getAttribute("aria-label");
    const tip = chart.locator(".tip");
    const data = chart.locator("xpath=../details");
    await data.locator("summary").click();
    // It is made when it is opened.
    await data.locator("table").waitFor({ state: "attached" });
    const names = new Set(await data.locator("th").allTextContents());
    await data.locator("summary").click();
    const check = async (how) => {
      const text = (await tip.isVisible()) ? await tip.textContent() : "";
      const isNamed = [...names].some((name) => name && text.includes(name.replace(/ run \d+$/, "")));
      if (!isNamed || !/\d/.test(text)) faults.push(`no values ${how}: ${title}: ${text}`);
      if (!(await chart.locator(".at circle").count())) faults.push(`nothing marked ${how}: ${title}`);
    };
    await chart.hover();
    await check("at the pointer");
    await page.mouse.move(0, 0);
    if (await tip.isVisible()) faults.push(`values stay when the pointer leaves: ${title}`);
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await check("by the arrow keys");
    await page.keyboard.press("Escape");
    if (await tip.isVisible()) faults.push(`Escape does not hide values: ${title}`);
  }
  return faults;
}

// A name that is switched off is in no chart and in no values, and its neighbours are.
async function legend(page) {
  const faults = [];
  for (const panel of await page.locator(".panel").all()) {
    const shown = panel.locator(".legend [data-name][aria-pressed=true]");
    if ((await shown.count()) < 2) continue;
    const name = await shown.first().getAttribute("data-name");
    const visible = () => panel.evaluate((all) => {
      const parts = [...all.querySelectorAll(".chart [data-name]")];
      const seen = parts.filter((part) => part.getClientRects().length);
      return [...new Set(seen.map((part) => part.dataset.name))].sort();
    });
    const before = await visible();
    const button = panel.locator(`.legend [data-name=${JSON.stringify(name)}]`);
    await button.click();
    const after = await visible();
    if (String(after) !== String(before.filter((one) => one !== name))) {
      faults.push(`${name} is switched off, and the charts show ${after} of ${before}`);
    }
    for (const chart of await panel.locator(".chart").all()) {
      await chart.focus();
      await page.keyboard.press("ArrowRight");
      // When nothing else is in the chart, there is nothing to show.
      const lines = await chart.locator(".tip:not([hidden]) div").allTextContents();
      const isThere = lines.some((line) => line.startsWith(`● ${name} `) || line === `● ${name}`);
      if (isThere) faults.push(`${name} is switched off, and its values are shown`);
    }
    await button.click();
    if (String(await visible()) !== String(before)) faults.push(`${name} is not switched on again`);
  }
  return faults;
}

// With everything unfolded, because what is hidden is not looked at.
async function accessibility(page) {
  await page.evaluate(() => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
  });
  // Not as an element of the page, whose policy forbids that.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const found = violations.filter((one) => serious.includes(one.impact));
  return found.map((one) => {
    const where = one.nodes.slice(0, 3).map((node) => node.target.join(" "));
    return `axe ${one.impact}: ${one.id}, ${one.help}: ${one.nodes.length} x, ${where.join("; ")}`;
  });
}

// The first table with a heading to sort by, without a mouse.
async function keyboard(page) {
  const sort = page.locator("button.sort").first();
  if (!(await page.locator(".tools").count())) return [];
  await page.locator(".tools").first().scrollIntoViewIfNeeded();
  await sort.waitFor({ state: "attached", timeout: 2000 }).catch(() => {});
  if (!(await sort.count())) return [];
  await sort.focus();
  await page.keyboard.press("Enter");
  const sorted = await page.locator('th[aria-sort="ascending"]').count();
  await page.keyboard.press("Enter");
  const back = await page.locator('th[aria-sort="descending"]').count();
  return sorted === 1 && back === 1 ? [] : ["a table is not sorted by keyboard"];
}

async function fits(page) {
  const [page_, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  return page_ <= screen ? [] : [`the page is ${page_} px wide on a screen of ${screen} px`];
}

// Every address of the page leads to a part of it.
async function links(page) {
  const dead = await page.evaluate(() =>
    [...document.querySelectorAll('a[href^="#"]')]
      .map((link) => link.getAttribute("href"))
      .filter((href) => !document.getElementById(decodeURIComponent(href.slice(1)))),
  );
  return dead.map((href) => `nothing is at ${href}`);
}

async function check(browser, file, parts, { name, ...options }) {
  const context = await browser.newContext({ ...options, reducedMotion: "reduce" });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`script: ${error.message}`));
  await page.goto(pathToFileURL(resolve(file)).href);
  for (const part of parts) faults.push(...(await part(page)));
  const drawn = await page.locator(".chart svg").count();
  await context.close();
  return { faults, drawn, name };
}

const [executablePath, ...files] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
let [passed, failed] = [0, 0];
const bytes = (file) => statSync(file).size;
const axeLimit = Math.max(axeBytesMax, Math.min(...files.map(bytes)));
try {
  for (const file of files) {
    const parts = [fits, links, keyboard, figures, values, legend];
    if (bytes(file) <= axeLimit) parts.push(accessibility);
    const checked = await Promise.all(views.map((view) => check(browser, file, parts, view)));
    for (const { faults, drawn, name } of checked) {
      console.log(`${faults.length ? "FAILED" : "ok"} ${file} (${name}): ${drawn} charts, ${parts.length} checks`);
      faults.forEach((fault) => console.log(`  ${fault}`));
      if (faults.length) failed += 1;
      else passed += 1;
    }
  }
} finally {
  await browser.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed || !passed ? 1 : 0;
