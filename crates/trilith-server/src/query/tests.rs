use http::Uri;

use super::{pairs, value};

#[test]
fn names_and_values_are_read_as_a_form_writes_them() {
    let uri: Uri = "/v1/models?a=1&b%5B%5D=x+y&&b%5B%5D=%C3%A9&c&d=%FF&a=2".parse().unwrap();
    let read = pairs(&uri);
    let read: Vec<(&str, &str)> = read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(read, [("a", "1"), ("b[]", "x y"), ("b[]", "é"), ("c", ""), ("a", "2")]);
    assert_eq!(value(&uri, "a").as_deref(), Some("1"));
    assert_eq!(value(&uri, "d"), None);
    assert!(pairs(&Uri::from_static("/v1/models")).is_empty());
}
