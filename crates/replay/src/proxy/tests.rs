//! Conversations are read whatever pieces they come in.

use std::sync::Mutex;

use super::exchange::{Exchange, Exchanges};
use super::http1::Conversation;

/// Keeps a line for each exchange.
#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Exchanges for Lines {
    fn take(&self, exchange: Exchange) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let request = &exchange.request;
        let line = format!(
            "{} [{}] {} [{}]",
            request.line(),
            text(&request.body.bytes),
            exchange.status,
            text(&exchange.body.bytes)
        );
        self.0.lock().unwrap().push(line);
    }

    fn leave_out(&self, request: &str, why: &str) {
        self.0.lock().unwrap().push(format!("{request}: {why}"));
    }

    fn response_bytes_max(&self) -> usize {
        8
    }
}

/// Plays requests and their responses in pieces of each size.
fn check(parts: &[(&str, &str)], expect: &[&str]) {
    for size in [1, 2, 3, 7, 10_000] {
        let lines = Lines::default();
        let mut conversation = Conversation::new(&lines);
        for (sent, received) in parts {
            let pieces = |text: &str| -> Vec<Vec<u8>> {
                text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect()
            };
            pieces(sent)
                .iter()
                .for_each(|piece| conversation.sent(piece));
            pieces(received)
                .iter()
                .for_each(|piece| conversation.received(piece));
        }
        drop(conversation);
        assert_eq!(lines.0.into_inner().unwrap(), expect, "pieces of {size}");
    }
}

#[test]
fn bodies_have_their_ends_in_four_ways() {
    check(
        &[
            (
                "GET /none HTTP/1.1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            ),
            (
                "POST /length HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc",
                "HTTP/1.1 201 OK\r\nContent-Length: 10\r\n\r\n0123456789",
            ),
            (
                "PUT /chunks HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                 2;x=y\r\nab\r\nA\r\n\r\n12345678\r\n0\r\nA: b\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            ),
            (
                "\r\nHEAD /head HTTP/1.1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n",
            ),
            (
                "GET /304 HTTP/1.1\r\n\r\n",
                "HTTP/1.1 304 No\r\nContent-Length: 99\r\n\r\n",
            ),
            ("GET /close HTTP/1.0\n\n", "HTTP/1.0 200 OK\n\nuntil"),
        ],
        &[
            "GET /none [] 200 [ok]",
            "POST /length [abc] 201 [01234567]",
            "PUT /chunks [ab\r\n12345678] 200 [x]",
            "HEAD /head [] 200 []",
            "GET /304 [] 304 []",
            "GET /close [] 200 [until]",
        ],
    );
}

#[test]
fn responses_belong_to_requests_in_their_order() {
    check(
        &[
            (
                "GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nExpect: 100-continue\r\n\
                 Content-Length: 2\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
            ),
            ("hi", "HTTP/1.1 204 No\r\n\r\n"),
            // It responds before it has the request.
            (
                "POST /3 HTTP/1.1\r\nContent-Length: 4\r\n\r\nab",
                "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n",
            ),
            ("cd", ""),
        ],
        &[
            "GET /1 [] 200 []",
            "POST /2 [hi] 204 []",
            "POST /3 [abcd] 413 []",
        ],
    );
}

#[test]
fn what_cannot_be_read_is_left_out() {
    check(
        &[(
            "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Len",
        )],
        &[
            "GET /1: it has no complete response",
            "GET /2: it has no complete response",
        ],
    );
    check(
        &[(
            "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
            "HTTP/1.1 101 Switching\r\n\r\n\u{81}\u{2}hi",
        )],
        &["GET /ws: it changes to another protocol"],
    );
    check(
        &[(
            "GET /1 HTTP/1.1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        )],
        &["GET /1: its content length is not a number"],
    );
    check(
        &[("\u{1}\u{2}\n\n", "")],
        &["a request that is not HTTP/1.1: invalid token"],
    );
}
