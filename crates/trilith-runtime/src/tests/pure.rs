//! What needs no port: the choice of road, the end that follows from a finish, envelopes.

use std::sync::Arc;

use proptest::prelude::*;
use trilith_core::{
    CarrierKind, Created, DialectId, Error, Finish, FinishReason, Origin, Response, Settings, Status,
};

use super::fakes::NOW_S;
use crate::{Road, end_of, envelope, plan};

#[test]
fn only_untouched_bytes_of_the_same_dialect_pass() {
    for client in DialectId::ALL {
        for upstream in DialectId::ALL.into_iter().map(Some).chain([None]) {
            for (stateful, envelope) in [(false, false), (true, false), (false, true), (true, true)] {
                let passes = upstream == Some(client) && !stateful && !envelope;
                let road = if passes { Road::Passthrough } else { Road::Runtime };
                assert_eq!(plan(client, upstream, stateful, envelope), road);
            }
        }
    }
}

fn response(reasons: &[FinishReason]) -> Response {
    let mut response = Response::new(&Created {
        id: "resp_1".into(),
        created_at: NOW_S,
        settings: Arc::new(Settings::default()),
        store: false,
        background: false,
        previous_response_id: None,
        conversation: None,
    });
    for (choice, reason) in (0..).zip(reasons) {
        response.apply(&trilith_core::Event::Finish(Finish { choice, reason: reason.clone() })).unwrap();
    }
    response
}

#[test]
fn the_end_follows_from_the_finish() {
    use FinishReason as F;
    let completed = [
        F::Stop,
        F::StopString(None),
        F::StopString(Some("END".into())),
        F::ToolCalls,
        F::Other("new_word".into()),
    ];
    for reason in completed {
        let end = end_of(&response(std::slice::from_ref(&reason)), None, NOW_S);
        assert_eq!((end.status, end.incomplete, end.error), (Status::Completed, None, None), "{reason:?}");
    }
    for reason in [F::Length, F::ContextWindow, F::ContentFilter, F::Refusal, F::Paused] {
        let end = end_of(&response(std::slice::from_ref(&reason)), None, NOW_S);
        assert_eq!((end.status, end.error), (Status::Incomplete, None));
        assert_eq!(end.incomplete, Some(reason));
    }
    let end = end_of(&response(&[F::MalformedCall]), None, NOW_S);
    assert_eq!((end.status, end.incomplete), (Status::Failed, None));
    assert!(end.error.is_some());
    // A fault outranks whatever was said before it.
    let end = end_of(&response(&[F::Length]), Some(Error::upstream("gone")), NOW_S);
    assert_eq!((end.status, end.incomplete, end.at), (Status::Failed, None, NOW_S));
    assert_eq!(&*end.error.unwrap().public, "gone");
    // Of several answers the first decides.
    assert_eq!(end_of(&response(&[F::Stop, F::Length]), None, NOW_S).status, Status::Completed);
}

fn origins() -> impl Strategy<Value = Origin> {
    (proptest::sample::select(DialectId::ALL.to_vec()), "\\PC{0,8}", "\\PC{0,8}", "\\PC{0,8}").prop_map(
        |(dialect, upstream, model, account)| Origin {
            dialect,
            upstream: upstream.into(),
            model: model.into(),
            account: account.into(),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn an_envelope_gives_back_what_was_put_in(
        origin in origins(),
        kind in proptest::sample::select(CarrierKind::ALL.to_vec()),
        data in "\\PC{0,40}",
    ) {
        let packed = envelope::pack(kind, &data, &origin);
        let carrier = envelope::unpack(&packed).unwrap();
        prop_assert_eq!(carrier.kind, kind);
        prop_assert_eq!(&*carrier.data, data.as_str());
        prop_assert_eq!(carrier.origin.as_deref(), Some(&origin));
        for length in 0..packed.len() {
            prop_assert!(envelope::unpack(&packed[..length]).is_none(), "cut at {}", length);
        }
        let mut longer = packed;
        longer.push(b'x');
        prop_assert!(envelope::unpack(&longer).is_none());
    }

    #[test]
    fn bytes_of_another_making_are_no_envelope(
        bytes in proptest::collection::vec(any::<u8>(), 0..64),
        at in any::<proptest::sample::Index>(),
    ) {
        // A made-up beginning is found out, and nothing panics.
        if bytes.first() != Some(&1) {
            prop_assert!(envelope::unpack(&bytes).is_none());
        }
        let origin = Origin {
            dialect: DialectId::Responses,
            upstream: "vendor".into(),
            model: "m".into(),
            account: "a".into(),
        };
        let mut packed = envelope::pack(CarrierKind::Signature, "0123456789", &origin);
        // The version, every length and both closed words are checked; the rest is the seal's to keep.
        let at = at.index(1 + 4 + "signature".len() + 4 + "responses".len());
        packed[at] ^= 0x80;
        prop_assert!(envelope::unpack(&packed).is_none(), "changed at {}", at);
    }
}
