"""Says hello: a first service. `threads` has a thread for each connection, `asyncio` none."""

import asyncio
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(os.environ["PORT"])


def answer(path):
    if path == "/hello":
        return 200, json.dumps({"message": "hello"}).encode()
    return 404, json.dumps({"message": "not found"}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave together: in pieces the second one waits for an acknowledgement.
    wbufsize = -1

    def do_GET(self):
        status, body = answer(self.path)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024


async def serve(reader, writer):
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            status, body = answer(line.split()[1].decode())
            reason = "OK" if status == 200 else "Not Found"
            head = (
                f"HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "0.0.0.0", PORT, backlog=1024)
    await server.serve_forever()


print(f"listening on port {PORT}", flush=True)
if sys.argv[1] == "threads":
    Server(("0.0.0.0", PORT), Handler).serve_forever()
else:
    asyncio.run(main())
