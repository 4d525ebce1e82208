"""A service that fetches an order, prices it and answers with an invoice. With EXTRA it does one
thing more for each request."""

import json
import os
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BACKEND = os.environ["BACKEND"]
EXTRA = os.environ["EXTRA"]
PORT = int(os.environ["PORT"])
ROUNDS = int(os.environ["ROUNDS"])

# The allocations that are made with EXTRA=allocations, and how many bytes each has: those
# of 1 KiB would take 4 of 400 µs.
ALLOCATIONS = 10
ALLOCATION_BYTES = 10 * 1024

# The tax that is in every price.
TAX_PERCENT = 19


class Handler(BaseHTTPRequestHandler):
    """Serves a connection in a thread of its own, which has a connection to the backend."""

    protocol_version = "HTTP/1.1"
    # Head and body leave together: in pieces the second one waits for an acknowledgement.
    wbufsize = -1

    def setup(self):
        super().setup()
        self.backend = HTTPConnection(BACKEND)

    def finish(self):
        self.backend.close()
        super().finish()

    def do_GET(self):
        if self.path != "/work":
            self.send_error(404)
            return
        try:
            body = self.answer()
        except (OSError, HTTPException) as error:
            self.send_error(502, explain=str(error))
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self):
        if EXTRA == "backend":
            self.fetch_order()
        invoice = invoice_of(self.fetch_order())
        if EXTRA == "log":
            print("GET /work 200", flush=True)
        elif EXTRA == "calls":
            read_load_of_host()
        elif EXTRA == "allocations":
            allocate_buffers()
        elif EXTRA == "json":
            json.dumps(invoice)
        return json.dumps(invoice).encode()

    def fetch_order(self):
        self.backend.request("GET", "/orders/4711")
        with self.backend.getresponse() as response:
            if response.status != 200:
                raise HTTPException(f"the backend answered {response.status}")
            return json.load(response)

    def log_message(self, *_):
        """Nothing: only EXTRA=log has log lines."""


class Server(ThreadingHTTPServer):
    request_queue_size = 1024


def invoice_of(order):
    customer = order["customer"]
    lines = [line_of(item) for item in order["items"]]
    cents = sum(line["cents"] for line in lines)
    return {
        "order": order["id"],
        "customer": customer["name"],
        "country": customer["country"],
        "lines": lines,
        "totalCents": cents * (100 - customer["discountPercent"]) // 100,
        "forecast": price(order["items"]),
    }


def line_of(item):
    cents = item["quantity"] * item["unitCents"]
    return {
        "sku": item["sku"],
        "name": item["name"],
        "quantity": item["quantity"],
        "unitCents": item["unitCents"],
        "cents": cents,
        "taxCents": cents * TAX_PERCENT // (100 + TAX_PERCENT),
        "unitGrams": item["weightGrams"],
        "grams": item["quantity"] * item["weightGrams"],
    }


def price(items):
    """Each round needs the result of the one before, so none can be left out."""
    price = 0
    for index in range(ROUNDS):
        item = items[index % len(items)]
        price = (price * 31 + item["quantity"] * item["unitCents"]) % 1_000_003
    return price


def read_load_of_host():
    """Opens, reads and closes a file, without the calls that open() makes besides."""
    file = os.open("/proc/loadavg", os.O_RDONLY)
    os.read(file, 64)
    os.close(file)


def allocate_buffers():
    return [bytes(ALLOCATION_BYTES) for _ in range(ALLOCATIONS)]


if __name__ == "__main__":
    Server(("", PORT), Handler).serve_forever()
