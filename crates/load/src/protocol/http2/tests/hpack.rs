//! Header compression: the RFC's own examples, and what any text must survive.

use proptest::prelude::{any, prop, prop_assert_eq, proptest};

use super::super::decoder::Decoder;
use super::super::encoder::{Encoder, Field};
use super::super::huffman;
use super::hex;

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<(String, String)>, &'static str> {
    let mut fields = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    decoder.decode(block, &mut |name, value| {
        fields.push((text(name), text(value)))
    })?;
    Ok(fields)
}

#[test]
fn strings_of_the_rfc_are_read_and_written() {
    for (text, code) in [
        ("www.example.com", "f1e3 c2e5 f23a 6ba0 ab90 f4ff"),
        ("no-cache", "a8eb 1064 9cbf"),
        ("custom-key", "25a8 49e9 5ba9 7d7f"),
        ("custom-value", "25a8 49e9 5bb8 e8b4 bf"),
        (
            "Mon, 21 Oct 2013 20:13:21 GMT",
            "d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff",
        ),
    ] {
        let mut read = Vec::new();
        huffman::decode(&hex(code), &mut read).unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), text);
        assert_eq!(huffman::encode(text.as_bytes()), hex(code));
    }
    // Padding with zeros, padding by a whole byte, and the end-of-string symbol itself.
    for code in [
        "f1e3 c2e5 f23a 6ba0 ab90 f4fe",
        "a8eb 1064 9cbf ff",
        "ffff ffff",
    ] {
        assert!(
            huffman::decode(&hex(code), &mut Vec::new()).is_err(),
            "{code}"
        );
    }
}

#[test]
fn blocks_of_the_rfc_are_read() {
    // RFC 7541, C.4: three requests on one connection.
    let mut decoder = Decoder::new();
    let cases: [(&str, &[(&str, &str)]); 3] = [
        (
            "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
            &[
                (":method", "GET"),
                (":scheme", "http"),
                (":path", "/"),
                (":authority", "www.example.com"),
            ],
        ),
        (
            "8286 84be 5886 a8eb 1064 9cbf",
            &[
                (":method", "GET"),
                (":scheme", "http"),
                (":path", "/"),
                (":authority", "www.example.com"),
                ("cache-control", "no-cache"),
            ],
        ),
        (
            "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
            &[
                (":method", "GET"),
                (":scheme", "https"),
                (":path", "/index.html"),
                (":authority", "www.example.com"),
                ("custom-key", "custom-value"),
            ],
        ),
    ];
    for (block, expected) in cases {
        let fields = decode(&mut decoder, &hex(block)).unwrap();
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (&**n, &**v)).collect();
        assert_eq!(fields, expected);
    }
}

#[test]
fn blocks_that_are_none_are_refused() {
    for (name, block) in [
        ("index 0", "80"),
        ("an index beyond the tables", "be"),
        ("a name beyond the tables", "7e 01 61"),
        ("a cut number", "ff"),
        ("a cut string", "40 05 61"),
        ("a missing value", "40 01 61"),
        ("a number beyond sense", "ff ff ff ff ff ff 7f"),
        ("a table larger than allowed", "3f e2 1f"),
        ("a change of the table after a field", "82 20"),
    ] {
        assert!(decode(&mut Decoder::new(), &hex(block)).is_err(), "{name}");
    }
    assert_eq!(
        decode(&mut Decoder::new(), &hex("20 3f e1 1f 82"))
            .unwrap()
            .len(),
        1
    );
}

proptest! {
    #[test]
    fn every_string_survives_its_code(text in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut read = Vec::new();
        huffman::decode(&huffman::encode(&text), &mut read).unwrap();
        prop_assert_eq!(read, text);
    }

    #[test]
    fn any_block_is_read_or_refused(blocks in prop::collection::vec(
        prop::collection::vec(any::<u8>(), 0..200), 1..4)
    ) {
        let mut decoder = Decoder::new();
        for block in blocks {
            if decode(&mut decoder, &block).is_err() {
                break;
            }
        }
    }

    #[test]
    fn what_the_encoder_writes_the_decoder_reads(
        list in prop::collection::vec(("[a-z-]{1,20}", "[ -~]{0,600}"), 1..12),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        small in any::<bool>(),
    ) {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        let numbered = list.iter().enumerate();
        let fields: Vec<Field> = numbered.map(|(i, (n, v))| Field::new(n, v, i)).collect();
        for (turn, index) in order.into_iter().enumerate() {
            if small && turn == 5 {
                encoder.resize(100);
            }
            let index = index.index(list.len());
            let mut block = Vec::new();
            encoder.encode(&fields[index], &mut block);
            encoder.encode(&fields[0], &mut block);
            let read = decode(&mut decoder, &block).unwrap();
            prop_assert_eq!(read, vec![list[index].clone(), list[0].clone()]);
        }
    }
}
