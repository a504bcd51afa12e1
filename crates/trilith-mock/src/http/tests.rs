//! Requests in any framing and any pieces, and bytes that are none.

use proptest::prelude::*;
use tokio::io::AsyncWriteExt;

use super::*;

/// What is read of `bytes` that arrive in pieces of `piece`, with a body of 1 KiB at most.
fn read(bytes: &[u8], piece: usize) -> Vec<Result<Request, String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut far, mut near) = tokio::io::duplex(1 << 20);
        let send = async {
            for piece in bytes.chunks(piece) {
                far.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
            far.shutdown().await.unwrap();
        };
        let take = async {
            let (mut inbox, mut requests) = (Inbox::default(), Vec::new());
            loop {
                match read_request(&mut near, &mut inbox, 1024).await {
                    Ok(Some(request)) => requests.push(Ok(request)),
                    Ok(None) => return requests,
                    Err(error) => {
                        requests.push(Err(format!("{error:?}")));
                        return requests;
                    }
                }
            }
        };
        tokio::join!(take, send).0
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_framing_in_any_pieces_gives_the_body(
        body in proptest::collection::vec(any::<u8>(), 0..600),
        chunk in 1_usize..64,
        piece in 1_usize..64,
    ) {
        let mut sized = format!("POST /x?a=b HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes();
        sized.extend(&body);
        let mut chunked = b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".to_vec();
        for part in body.chunks(chunk) {
            chunked.extend(format!("{:X}\r\n", part.len()).bytes());
            chunked.extend(part);
            chunked.extend(b"\r\n");
        }
        chunked.extend(b"0\r\n\r\n");
        let requests = read(&[sized, chunked].concat(), piece);
        prop_assert_eq!(requests.len(), 2);
        let (first, second) = (requests[0].as_ref().unwrap(), requests[1].as_ref().unwrap());
        prop_assert_eq!((&first.body, first.route(), first.last), (&body, "/x", false));
        prop_assert_eq!((&second.body, second.last), (&body, true));
    }

    #[test]
    fn no_bytes_make_the_reader_fall(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1_usize..16) {
        read(&bytes, piece);
        read(&[b"POST / HTTP/1.1\r\n".as_slice(), &bytes, b"\r\n\r\n"].concat(), piece);
        read(&[b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n".as_slice(), &bytes].concat(), piece);
    }
}

#[test]
fn a_body_beyond_the_limit_is_not_read() {
    let sized = b"POST / HTTP/1.1\r\ncontent-length: 1025\r\n\r\n";
    let chunked = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n";
    let head = [b"POST / HTTP/1.1\r\na: ".as_slice(), &[b'x'; 70_000]].concat();
    for bytes in [sized.as_slice(), chunked, &head] {
        assert_eq!(read(bytes, 4096).pop().unwrap().unwrap_err(), "TooLarge");
    }
}
