//! The order in which one request tries its targets.

use std::collections::HashSet;
use std::time::Duration;

use trilith_core::Error;

use crate::health::Health;
use crate::retry::{RetryPolicy, Verdict, hurts_target, verdict};
use crate::route::{Route, Target};

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait, then send to this target of the route (position from 0).
    Try {
        /// Position in [`Route::targets`].
        target: usize,
        /// Zero for a target that is tried at once.
        wait: Duration,
    },
    /// Give the last error to the caller.
    GiveUp,
}

/// The tries of one request. Each round goes through the targets in the order of the file, at once from one to
/// the next; a further round, after a pause, takes those that may be tried again and have retries left. All
/// this ends with the first byte that reaches the caller, which the user of this type sees to.
#[derive(Debug)]
pub struct Attempts<'a> {
    route: &'a Route,
    health: &'a Health,
    policy: RetryPolicy,
    states: Vec<State>,
    /// Targets before this one had their turn in this round.
    next: usize,
    round: u32,
    waited: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    tries: u32,
    /// Not again for this request.
    done: bool,
    /// Never for this request.
    barred: bool,
    /// The upstream's own wish, from its last answer.
    after: Option<Duration>,
}

impl<'a> Attempts<'a> {
    /// Before the first try.
    pub fn new(route: &'a Route, health: &'a Health, policy: RetryPolicy) -> Self {
        let states = vec![State::default(); route.targets.len()];
        Self { route, health, policy, states, next: 0, round: 0, waited: Duration::ZERO }
    }

    /// Leaves only these targets (positions in [`Route::targets`]) to be tried; before the first try.
    pub fn only(&mut self, targets: &HashSet<usize>) {
        for (position, state) in self.states.iter_mut().enumerate() {
            state.barred = !targets.contains(&position);
            state.done |= state.barred;
        }
    }

    /// Where the request goes first: to the first target whose circuit lets it through, or, when all are open,
    /// to the first that may be tried, because a try is better than an error that nobody made. `None` if there is
    /// none.
    pub fn first(&mut self, now_ms: u64) -> Option<usize> {
        let target = self.take_next(now_ms).or_else(|| self.states.iter().position(|state| !state.barred))?;
        self.mark(target);
        Some(target)
    }

    /// The target answered: its circuit closes.
    pub fn succeeded(&self, target: usize) {
        if let Some(target) = self.route.targets.get(target) {
            self.health.success(target.index);
        }
    }

    /// Where the request goes after a failure at `target`; `random` spreads the pauses of many requests.
    pub fn failed(&mut self, target: usize, error: &Error, now_ms: u64, random: u64) -> Step {
        let Some(failed) = self.route.targets.get(target) else { return Step::GiveUp };
        if hurts_target(error) {
            self.health.failure(failed.index, now_ms);
        }
        let verdict = verdict(error);
        for (state, other) in self.states.iter_mut().zip(&self.route.targets) {
            let same_place = other.index == failed.index;
            match verdict {
                Verdict::Final => return Step::GiveUp,
                Verdict::OtherProvider => state.done |= other.provider == failed.provider,
                Verdict::Elsewhere => state.done |= same_place,
                Verdict::Again(after) if same_place => state.after = after,
                Verdict::Again(_) => {}
            }
        }
        if let Some(target) = self.take_next(now_ms) {
            self.mark(target);
            return Step::Try { target, wait: Duration::ZERO };
        }
        self.further_round(random)
    }

    /// The next target of this round that may be tried at once.
    fn take_next(&mut self, now_ms: u64) -> Option<usize> {
        while let (Some(target), Some(state)) =
            (self.route.targets.get(self.next), self.states.get(self.next))
        {
            let position = self.next;
            self.next += 1;
            let waits = state.after.is_some_and(|after| !after.is_zero());
            if !state.done && !waits && has_tries(state, target) && self.health.admit(target.index, now_ms) {
                return Some(position);
            }
        }
        None
    }

    /// The target that may be tried again soonest. An open circuit does not hold back a request that has
    /// nowhere else to go.
    fn further_round(&mut self, random: u64) -> Step {
        let pause = self.policy.pause(self.round + 1, random);
        let wait_of = |state: &State| state.after.map_or(pause, |after| after.max(pause));
        let open = self.states.iter().zip(&self.route.targets).enumerate();
        let soonest = open
            .filter(|(_, (state, target))| !state.done && has_tries(state, target))
            .map(|(position, (state, _))| (wait_of(state), position))
            .min();
        let Some((wait, target)) = soonest else { return Step::GiveUp };
        let total = self.waited.saturating_add(wait);
        if total > self.policy.budget {
            return Step::GiveUp;
        }
        self.waited = total;
        self.round += 1;
        for state in &mut self.states {
            state.after = state.after.map(|after| after.saturating_sub(wait));
        }
        self.next = target + 1;
        self.mark(target);
        Step::Try { target, wait }
    }

    fn mark(&mut self, target: usize) {
        self.next = self.next.max(target + 1);
        if let Some(state) = self.states.get_mut(target) {
            state.tries += 1;
            state.after = None;
        }
    }
}

fn has_tries(state: &State, target: &Target) -> bool {
    state.tries <= target.retries
}

#[cfg(test)]
mod tests;
