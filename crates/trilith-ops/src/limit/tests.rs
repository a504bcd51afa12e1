use super::*;
use crate::keys::{KeyEntry, KeySecret, Keys};

fn principal(most: Option<usize>) -> Arc<Principal> {
    let secret = KeySecret::Plain("k".to_owned());
    let entry = KeyEntry {
        name: "a".to_owned(),
        tenant: "t".to_owned(),
        secret,
        models: None,
        max_requests: most,
        local_only: false,
    };
    Keys::new([entry]).unwrap().authenticate("k").unwrap()
}

#[test]
fn places_run_out_and_come_back() {
    let all = Slots::new(Some(2));
    let one = principal(Some(1));
    let first = admit(&all, &one).unwrap();
    assert_eq!(admit(&all, &one).unwrap_err(), Refusal::Key);
    let second = admit(&all, &principal(None)).unwrap();
    assert_eq!(admit(&all, &principal(Some(1))).unwrap_err(), Refusal::Process);
    drop((first, second));
    assert_eq!((all.taken(), one.slots.taken()), (0, 0));
    assert!(admit(&all, &one).is_ok());
}

#[test]
fn a_refusal_takes_no_place() {
    let all = Slots::new(Some(0));
    let one = principal(Some(1));
    assert_eq!(admit(&all, &one).unwrap_err(), Refusal::Process);
    assert_eq!((all.taken(), one.slots.taken()), (0, 0));
}
