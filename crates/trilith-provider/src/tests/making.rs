//! How a place is made, and what it tells of itself.

use trilith_core::{DialectId, Upstream};
use trilith_dialect::{chat::Chat, responses::Responses};
use trilith_net::{Client, ClientConfig};

use super::server::{KEY, place, settings};
use crate::{Place, PlaceError, Settings};

fn fails(change: impl FnOnce(&mut Settings)) -> PlaceError {
    let mut settings = settings("http://localhost/v1".into(), &Chat);
    change(&mut settings);
    Place::new(settings, Client::new(ClientConfig::default()).unwrap()).err().unwrap()
}

#[test]
fn what_cannot_be_sent_is_found_at_once_and_named_without_its_value() {
    let errors = [
        fails(|settings| settings.base_url = "http://spa ce/v1".into()),
        fails(|settings| settings.path = Some("/a b".into())),
        fails(|settings| settings.models_path = Some("/a b".into())),
        fails(|settings| settings.base_url = String::new()),
        fails(|settings| settings.base_url = "/v1".into()),
        fails(|settings| settings.base_url = "localhost:80".into()),
        fails(|settings| settings.base_url = "ftp://localhost/v1".into()),
        fails(|settings| settings.base_url = format!("http://user:{KEY}@localhost/v1")),
        fails(|settings| settings.headers = vec![("bad name".into(), KEY.into())]),
        fails(|settings| settings.headers = vec![("x-note".into(), format!("{KEY}\n"))]),
        fails(|settings| settings.api_key = Some(format!("{KEY}\r\nx-evil: 1"))),
    ];
    for error in errors {
        assert!(error.to_string().starts_with("provider 'vendor': "), "{error}");
        assert!(!format!("{error:?}").contains(KEY));
    }
}

#[test]
fn a_place_never_tells_its_key() {
    let place = place(settings("http://localhost/v1".into(), &Chat));
    assert_eq!(format!("{place:?}"), "Place { name: \"vendor\", .. }");
    assert_eq!((place.name(), place.dialect()), ("vendor", Some(DialectId::Chat)));
}

#[test]
fn an_account_is_told_apart_by_its_key_and_nothing_else() {
    let account = |key: Option<&str>, base: &str| {
        let dialect = if key.is_some() { &Chat as &'static dyn trilith_dialect::Dialect } else { &Responses };
        let mut settings = settings(base.into(), dialect);
        settings.api_key = key.map(Into::into);
        place(settings).account().to_owned()
    };
    let first = account(Some(KEY), "http://localhost/v1");
    assert_eq!(first, account(Some(KEY), "http://elsewhere/v2"));
    assert_ne!(first, account(Some("sk-other"), "http://localhost/v1"));
    assert_eq!((first.len(), first.contains("secret")), (16, false));
    assert_eq!(account(None, "http://localhost/v1"), "");
    // Stored carriers name it: it must stay the same from one version to the next.
    assert_eq!(first, FINGERPRINT);
}

const FINGERPRINT: &str = "32b87d1528d75211";
