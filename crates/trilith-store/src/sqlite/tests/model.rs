//! Any order of beginnings, ends, deletions and sweeps, against a store that copies whole histories.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*, sample::Index};

use super::*;

#[derive(Clone, Debug)]
enum Step {
    /// A new response that goes on from one of the earlier ones, or from none.
    Begin {
        parent: Option<Index>,
        inputs: usize,
    },
    End {
        which: Index,
        outputs: usize,
    },
    Delete {
        which: Index,
    },
    Sweep,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(
        prop_oneof![
            4 => (proptest::option::weighted(0.9, any::<Index>()), 0..3usize)
                .prop_map(|(parent, inputs)| Step::Begin { parent, inputs }),
            4 => (any::<Index>(), 0..3usize).prop_map(|(which, outputs)| Step::End { which, outputs }),
            2 => any::<Index>().prop_map(|which| Step::Delete { which }),
            1 => Just(Step::Sweep),
        ],
        0..60,
    )
}

/// A response as a store would keep it that copies: with everything that came before.
struct Copied {
    response: Response,
    input: Vec<String>,
    output: Option<Vec<String>>,
}

#[derive(Default)]
struct Model {
    made: Vec<String>,
    live: BTreeMap<String, Copied>,
}

impl Model {
    async fn step(&mut self, store: &Sqlite, step: &Step) {
        match step {
            Step::Begin { parent, inputs } => {
                let parent = parent.filter(|_| !self.made.is_empty()).map(|at| at.get(&self.made).clone());
                let id = format!("r{}", self.made.len());
                let own: Vec<String> = (0..*inputs).map(|n| format!("{id} in {n}")).collect();
                let texts: Vec<&str> = own.iter().map(String::as_str).collect();
                let response = begin(store, &id, parent.as_deref(), &texts).await;
                self.made.push(id.clone());
                let before = match parent.map(|parent| self.live.get(&parent)) {
                    None => Some(vec![]),
                    Some(parent) => {
                        parent.and_then(|parent| Some([&*parent.input, parent.output.as_deref()?].concat()))
                    }
                };
                match before {
                    Some(before) => {
                        let input = [before, own].concat();
                        self.live.insert(id, Copied { response, input, output: None });
                    }
                    None => assert!(store.commit(TENANT, ended(&response, &[])).await.is_err()),
                }
            }
            Step::End { which, outputs } => {
                let running: Vec<_> =
                    self.live.values_mut().filter(|copied| copied.output.is_none()).collect();
                if running.is_empty() {
                    return;
                }
                let at = which.index(running.len());
                let copied = running.into_iter().nth(at).unwrap();
                let own: Vec<String> =
                    (0..*outputs).map(|n| format!("{} out {n}", copied.response.id)).collect();
                let texts: Vec<&str> = own.iter().map(String::as_str).collect();
                store.commit(TENANT, ended(&copied.response, &texts)).await.unwrap();
                copied.output = Some(own);
            }
            Step::Delete { which } => {
                if !self.made.is_empty() {
                    let id = which.get(&self.made);
                    let existed = store.delete(TENANT, id).await.unwrap();
                    assert_eq!(existed, self.live.remove(id).is_some());
                }
            }
            Step::Sweep => assert_eq!(store.expire(0).await.unwrap(), Expired::default()),
        }
    }

    async fn check(&self, store: &Sqlite) {
        for id in &self.made {
            let (copied, read) = (self.live.get(id), store.get(TENANT, id).await.unwrap());
            assert_eq!(read.is_some(), copied.is_some(), "{id}");
            let whole = copied.and_then(|copied| Some([&*copied.input, copied.output.as_deref()?].concat()));
            assert_eq!(context(store, id).await, whole, "{id}");
            let page = InputPage { limit: 1_000, ascending: true, after: None };
            let inputs = store.input_items(TENANT, id, page).await.unwrap();
            let inputs = inputs.as_ref().map(|page| texts(&page.items));
            assert_eq!(inputs.is_some(), copied.is_some());
            if let Some(copied) = copied {
                assert_eq!(inputs.unwrap(), copied.input);
                let outputs: Vec<_> =
                    read.unwrap().output.iter().map(|o| text_of(&o.item).to_owned()).collect();
                assert_eq!(outputs, copied.output.clone().unwrap_or_default());
            }
        }
        assert_eq!(rows(store, "response").await, self.live.len() as i64);
        assert_eq!(rows(store, "pragma_foreign_key_check").await, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_store_is_one_that_copies_but_for_the_space(steps in steps()) {
        let store = Sqlite::in_memory(30).unwrap();
        run(async {
            let mut model = Model::default();
            for step in &steps {
                model.step(&store, step).await;
            }
            model.check(&store).await;
            // Nothing that was said is kept twice, nor longer than needed.
            let needed: std::collections::BTreeSet<&String> = model
                .live
                .values()
                .flat_map(|copied| copied.input.iter().chain(copied.output.iter().flatten()))
                .collect();
            assert_eq!(rows(&store, "item").await, needed.len() as i64);
            for id in &model.made {
                store.delete(TENANT, id).await.unwrap();
            }
            assert_empty(&store).await;
        });
    }
}
