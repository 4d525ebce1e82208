// A service that fetches an order, prices it and answers with an invoice. With EXTRA it does one
// thing more for each request.

import { once } from "node:events";
import { closeSync, openSync, readSync } from "node:fs";
import { createServer, get } from "node:http";
import { json } from "node:stream/consumers";

const { BACKEND, EXTRA, PORT } = process.env;
const ORDER_URL = `http://${BACKEND}/orders/4711`;
const ROUNDS = Number(process.env.ROUNDS);

// The allocations that are made with EXTRA=allocations, and how many bytes each has.
const ALLOCATIONS = 10;
const ALLOCATION_BYTES = 1024;

// The tax that is in every price.
const TAX_PERCENT = 19;

const server = createServer(async (request, response) => {
  if (request.url !== "/work") {
    response.writeHead(404).end();
    return;
  }
  try {
    const body = await answer();
    response.writeHead(200, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    });
    response.end(body);
  } catch (error) {
    console.error(error);
    response.writeHead(502).end();
  }
});
server.listen(Number(PORT));

async function answer() {
  if (EXTRA === "backend") {
    await fetchOrder();
  }
  const invoice = invoiceOf(await fetchOrder());
  switch (EXTRA) {
    case "log":
      console.log("GET /work 200");
      break;
    case "calls":
      readLoadOfHost();
      break;
    case "allocations":
      allocateBuffers();
      break;
    case "json":
      JSON.stringify(invoice);
      break;
  }
  return JSON.stringify(invoice);
}

async function fetchOrder() {
  const [response] = await once(get(ORDER_URL), "response");
  if (response.statusCode !== 200) {
    response.resume();
    throw new Error(`the backend answered ${response.statusCode}`);
  }
  return json(response);
}

function invoiceOf({ id, customer, items }) {
  const lines = items.map(lineOf);
  const cents = lines.reduce((sum, line) => sum + line.cents, 0);
  return {
    order: id,
    customer: customer.name,
    country: customer.country,
    lines,
    totalCents: Math.floor((cents * (100 - customer.discountPercent)) / 100),
    forecast: price(items),
  };
}

function lineOf({ sku, name, quantity, unitCents, weightGrams }) {
  const cents = quantity * unitCents;
  return {
    sku,
    name,
    quantity,
    unitCents,
    cents,
    taxCents: Math.floor((cents * TAX_PERCENT) / (100 + TAX_PERCENT)),
    unitGrams: weightGrams,
    grams: quantity * weightGrams,
  };
}

// Each round needs the result of the one before, so none can be left out.
function price(items) {
  let price = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const item = items[round % items.length];
    price = (price * 31 + item.quantity * item.unitCents) % 1_000_003;
  }
  return price;
}

// Opens, reads and closes a file.
function readLoadOfHost() {
  const file = openSync("/proc/loadavg");
  readSync(file, Buffer.allocUnsafe(64));
  closeSync(file);
}

function allocateBuffers() {
  return Array.from({ length: ALLOCATIONS }, () => Buffer.alloc(ALLOCATION_BYTES));
}
