use super::*;

fn entry(name: &str, secret: KeySecret) -> KeyEntry {
    KeyEntry {
        name: name.to_owned(),
        tenant: "t".to_owned(),
        secret,
        models: None,
        max_requests: None,
        local_only: false,
    }
}

#[test]
fn a_key_and_its_digest_are_the_same_caller() {
    let plain = Keys::new([entry("a", KeySecret::Plain("test".to_owned()))]).unwrap();
    // The digest that `printf %s test | sha256sum` prints.
    let mut digest = [0; 32];
    let text = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap();
    }
    let hashed = Keys::new([entry("b", KeySecret::Digest(digest))]).unwrap();
    for (keys, name) in [(plain, "a"), (hashed, "b")] {
        let principal = keys.authenticate("test").unwrap();
        assert_eq!((&*principal.key_name, &*principal.tenant), (name, "t"));
        for wrong in ["", "Test", "test ", &"x".repeat(10_000)] {
            assert!(keys.authenticate(wrong).is_none());
        }
        assert!(keys.anonymous().is_none());
    }
}

#[test]
fn without_keys_everybody_is_anonymous_and_no_key_is_known() {
    let keys = Keys::new([]).unwrap();
    let anonymous = keys.anonymous().unwrap();
    assert_eq!((&*anonymous.key_name, &*anonymous.tenant), ("anonymous", DEFAULT_TENANT));
    assert!(anonymous.may_call("anything"));
    assert!(keys.authenticate("x").is_none());
}

#[test]
fn an_allow_list_holds_names_and_patterns() {
    let models = Some(vec!["gpt-*".to_owned(), "tiny".to_owned()]);
    let entry = KeyEntry { models, ..entry("a", KeySecret::Plain("k".to_owned())) };
    let principal = Keys::new([entry]).unwrap().authenticate("k").unwrap();
    assert!(principal.may_call("gpt-5") && principal.may_call("tiny"));
    assert!(!principal.may_call("tiny2") && !principal.may_call(""));
}

#[test]
fn the_same_key_twice_is_refused_and_never_shown() {
    let secret = KeySecret::Plain("sk-secret".to_owned());
    let clash = Keys::new([entry("a", secret.clone()), entry("b", secret.clone())]).unwrap_err();
    assert_eq!(clash.to_string(), "the keys named a and b are the same");
    assert!(!format!("{:?}", entry("a", secret)).contains("sk-secret"));
}
