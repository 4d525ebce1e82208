//! Properties of the reader that must hold for every response and every way to cut it into pieces.

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

use super::head::LastHead;
use super::reader::{Progress, Reader};
use crate::protocol::response::Capture;

/// A response as a server would write it, and its body.
#[derive(Debug, Clone)]
struct Written {
    bytes: Vec<u8>,
    status: u16,
    body: Vec<u8>,
    keep_alive: bool,
}

/// The result of reading a stream.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Complete {
        status: u16,
        body: u64,
        keep_alive: bool,
        used: usize,
    },
    More,
    Bad,
}

fn written() -> impl Strategy<Value = Written> {
    let body = prop::collection::vec(any::<u8>(), 0..300);
    let chunks = prop::collection::vec(1..40_usize, 0..8);
    let extra = prop::collection::vec("[a-zA-Z-]{1,12}: [ -~]{0,20}", 0..4);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (200..600_u16, body, chunks, extra, flags).prop_map(
        |(status, body, chunks, extra, (chunked, close, interim))| {
            let bodiless = matches!(status, 204 | 304);
            let body = if bodiless { Vec::new() } else { body };
            let mut text = String::new();
            if interim {
                text += "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
            }
            text += &format!("HTTP/1.1 {status} Some Reason\r\n");
            for header in extra {
                let name = header.split(':').next().unwrap().to_ascii_lowercase();
                if !["connection", "content-length", "transfer-encoding"].contains(&&*name) {
                    text += &format!("{header}\r\n");
                }
            }
            if close {
                text += "connection: Close\r\n";
            }
            let mut bytes = text.into_bytes();
            if bodiless {
                bytes.extend(b"\r\n");
            } else if chunked {
                bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                let mut rest = body.as_slice();
                for size in chunks.into_iter().chain([usize::MAX]) {
                    let (chunk, after) = rest.split_at(size.min(rest.len()));
                    if !chunk.is_empty() {
                        bytes.extend(format!("{:x};a=b\r\n", chunk.len()).bytes());
                        bytes.extend(chunk);
                        bytes.extend(b"\r\n");
                    }
                    rest = after;
                }
                bytes.extend(b"0\r\nTrailer: x\r\n\r\n");
            } else {
                bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
                bytes.extend(&body);
            }
            let keep_alive = !close;
            Written {
                bytes,
                status,
                body,
                keep_alive,
            }
        },
    )
}

/// Feeds `bytes` cut after each of `cuts`.
fn read(reader: &mut Reader, last: &mut LastHead, bytes: &[u8], cuts: &[usize]) -> Read {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.push(bytes.len());
    cuts.sort_unstable();
    let mut from = 0;
    for cut in cuts {
        if cut == from {
            continue;
        }
        match reader.feed(&bytes[from..cut], last) {
            Err(_) => return Read::Bad,
            Ok(Progress::More) => {}
            Ok(Progress::Complete { rest }) => {
                return Read::Complete {
                    status: reader.response.status,
                    body: reader.response.body_bytes,
                    keep_alive: reader.keeps_alive(),
                    used: cut - rest,
                };
            }
        }
        from = cut;
    }
    Read::More
}

proptest! {
    #[test]
    fn a_response_is_read_however_it_is_cut(
        written in written(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
        more in prop::collection::vec(any::<u8>(), 0..20),
        captured in any::<bool>(),
    ) {
        let mut stream = written.bytes.clone();
        stream.extend(&more);
        let (mut reader, mut last) = (Reader::new(), LastHead::default());
        // A reader that has had another response before must not remember it.
        for _ in 0..2 {
            reader.begin(false, if captured { Capture::All } else { Capture::Nothing });
            prop_assert_eq!(read(&mut reader, &mut last, &stream, &cuts), Read::Complete {
                status: written.status,
                body: written.body.len() as u64,
                keep_alive: written.keep_alive,
                used: written.bytes.len(),
            });
            if let Some(response) = reader.response.captured() {
                prop_assert_eq!(&response.unwrap().body, &written.body);
            }
        }
    }

    #[test]
    fn a_beginning_of_a_response_is_never_complete(
        written in written(),
        length in any::<usize>(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let (mut reader, mut last) = (Reader::new(), LastHead::default());
        reader.begin(false, Capture::Nothing);
        let part = &written.bytes[..length % written.bytes.len()];
        prop_assert_eq!(read(&mut reader, &mut last, part, &cuts), Read::More);
        prop_assert!(!reader.finish());
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        head in "HTTP/1.1 200 OK\r\n((Content-Length|Transfer-Encoding): (chunked|5)\r\n)?(\r\n)?",
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        for prefix in ["", &head] {
            let stream = [prefix.as_bytes(), &bytes].concat();
            let mut reader = Reader::new();
            reader.begin(false, Capture::All);
            read(&mut reader, &mut LastHead::default(), &stream, &cuts);
        }
    }

    #[test]
    fn a_changed_byte_is_never_judged_better_when_it_is_cut(
        written in written(),
        at in any::<usize>(),
        byte in any::<u8>(),
        cuts in prop::collection::vec(any::<usize>(), 1..12),
    ) {
        let mut stream = written.bytes.clone();
        let at = at % stream.len();
        stream[at] = byte;
        let verdict = |last: &mut LastHead, stream: &[u8], cuts: &[usize]| {
            let mut reader = Reader::new();
            reader.begin(false, Capture::Nothing);
            read(&mut reader, last, stream, cuts)
        };
        let mut last = LastHead::default();
        verdict(&mut last, &written.bytes, &[]);
        // Having just read the response as it was makes no difference.
        let whole = verdict(&mut LastHead::default(), &stream, &[]);
        prop_assert_eq!(&whole, &verdict(&mut last, &stream, &[]));
        // A long incomplete head in pieces is not parsed again before its end, so that it may
        // be found wrong later; it must never be taken for a response.
        match (whole, verdict(&mut last, &stream, &cuts)) {
            (Read::Bad, Read::Bad | Read::More) => {}
            (whole, cut) => prop_assert_eq!(whole, cut),
        }
    }
}

#[test]
fn a_service_that_speaks_http2_is_known_by_its_first_frame() {
    let settings = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x40";
    let message = |bytes: &[u8]| {
        let mut reader = Reader::new();
        reader.begin(false, Capture::Nothing);
        reader.feed(bytes, &mut LastHead::default()).unwrap_err()
    };
    assert!(message(settings).message().contains("speaks HTTP/2"));
    assert!(message(&settings[..8]).message().contains("begins with"));
}
