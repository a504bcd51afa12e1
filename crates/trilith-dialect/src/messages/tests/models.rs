//! The list of models, as clients page through it.

use serde_json::{Value, json};
use trilith_core::{Error, ErrorKind};

use crate::messages::list;

fn page(names: &[&str], query: &[(&str, &str)]) -> Result<Value, Error> {
    let query: Vec<(String, String)> =
        query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut out = Vec::new();
    list::encode_list(names, &query, &mut out)?;
    Ok(serde_json::from_slice(&out).unwrap())
}

#[test]
fn a_model_has_every_field_that_the_wire_requires() {
    let whole = page(&["a", "b"], &[]).unwrap();
    let wanted = json!({"type": "model", "id": "b", "display_name": "b", "created_at": "1970-01-01T00:00:00Z", "lifecycle": "active"});
    assert_eq!(whole["data"][1], wanted);
    let mut out = Vec::new();
    list::encode_model("b", &mut out);
    assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), wanted);
    let none = page(&[], &[]).unwrap();
    assert_eq!(none, json!({"data": [], "has_more": false, "first_id": null, "last_id": null}));
}

#[test]
fn pages_follow_one_another_in_both_directions() {
    let names: Vec<String> = (0..25).map(|number| format!("m{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (query, first, last, more) in [
        (&[][..], "m0", "m19", true),
        (&[("limit", "1000")][..], "m0", "m24", false),
        (&[("limit", "25")][..], "m0", "m24", false),
        (&[("limit", "24")][..], "m0", "m23", true),
        (&[("after_id", "m19")][..], "m20", "m24", false),
        (&[("after_id", "m3"), ("limit", "2")][..], "m4", "m5", true),
        (&[("before_id", "m5"), ("limit", "2")][..], "m3", "m4", true),
        (&[("before_id", "m5")][..], "m0", "m4", false),
        (&[("lifecycle[]", "retired"), ("lifecycle[]", "active")][..], "m0", "m19", true),
    ] {
        let page = page(&names, query).unwrap();
        let told = (page["first_id"].as_str(), page["last_id"].as_str(), page["has_more"].as_bool());
        assert_eq!(told, (Some(first), Some(last), Some(more)), "{query:?}");
        let data = page["data"].as_array().unwrap();
        assert_eq!((&data[0]["id"], &data[data.len() - 1]["id"]), (&json!(first), &json!(last)));
    }
    for query in [[("after_id", "m24")], [("before_id", "m0")], [("lifecycle", "deprecated")]] {
        let empty = page(&names, &query).unwrap();
        assert_eq!((empty["data"].as_array().unwrap().len(), &empty["has_more"]), (0, &json!(false)));
    }
}

#[test]
fn a_page_that_is_not_there_is_refused() {
    for (name, value) in [
        ("limit", "0"),
        ("limit", "1001"),
        ("limit", "-1"),
        ("limit", "many"),
        ("limit", ""),
        ("limit", "99999999999999999999999999"),
        ("after_id", "other"),
        ("before_id", ""),
        ("lifecycle", "unborn"),
    ] {
        let error = page(&["a"], &[(name, value)]).unwrap_err();
        assert_eq!((error.kind, error.param.as_deref()), (ErrorKind::BadRequest, Some(name)), "{value}");
    }
    assert!(page(&["a", "b"], &[("after_id", "a"), ("before_id", "b")]).is_err());
}
