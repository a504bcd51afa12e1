use super::*;

fn model(name: &str, targets: &[(&str, &str)]) -> ModelEntry {
    let target = |(provider, model): &(&str, &str)| TargetEntry {
        provider: (*provider).to_owned(),
        model: (*model).to_owned(),
        retries: 1,
        local: false,
    };
    ModelEntry {
        name: name.to_owned(),
        targets: targets.iter().map(target).collect(),
        strict: false,
        local_only: false,
    }
}

#[test]
fn an_exact_name_wins_then_patterns_in_the_order_of_the_file() {
    let router = Router::new([
        model("*", &[("rest", "*")]),
        model("gpt-*", &[("never", "*")]),
        model("gpt-5", &[("exact", "big"), ("rest", "*")]),
        model("gpt-5", &[("second", "*")]),
    ]);
    let first = |name: &str| router.resolve(name).unwrap().targets[0].provider.to_string();
    assert_eq!((first("gpt-5").as_str(), first("gpt-4").as_str()), ("exact", "rest"));
    let route = router.resolve("gpt-5").unwrap();
    assert_eq!((route.targets[0].model("gpt-5"), route.targets[1].model("gpt-5")), ("big", "gpt-5"));
    assert_eq!(router.named().map(|route| &*route.name).collect::<Vec<_>>(), ["gpt-5"]);
}

#[test]
fn one_place_has_one_index_in_all_routes() {
    let router = Router::new([model("a", &[("p", "*"), ("q", "x")]), model("b", &[("q", "x"), ("q", "y")])]);
    let indices = |name| router.resolve(name).unwrap().targets.iter().map(|t| t.index).collect::<Vec<_>>();
    assert_eq!((indices("a"), indices("b"), router.target_count()), (vec![0, 1], vec![1, 2], 3));
}

#[test]
fn no_entry_no_route() {
    assert!(Router::new([model("a-*", &[("p", "*")])]).resolve("b").is_none());
    assert!(Router::default().resolve("").is_none());
}
