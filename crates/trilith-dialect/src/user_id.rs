//! Who a caller's user is, in as few characters as OpenAI takes.

use std::borrow::Cow;

use trilith_core::Loss;

use crate::derived::derived;

/// The most characters of `safety_identifier` (openai-checklist H16, R16).
const LONGEST: usize = 64;

/// The value of the field `name`: as it is, or a name derived from one that is too long to be taken, which tells
/// users apart as well.
pub(crate) fn fitted<'v>(name: &str, value: &'v str, losses: &mut Vec<Loss>) -> Cow<'v, str> {
    if name != "safety_identifier" || value.chars().count() <= LONGEST {
        return Cow::Borrowed(value);
    }
    losses.push(Loss::emulate(name, "longer than the upstream takes: a hash of it is sent"));
    Cow::Owned(derived("u_", value))
}
