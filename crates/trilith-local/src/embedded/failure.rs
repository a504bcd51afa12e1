//! The engine's faults in the words of a caller.

use std::time::Duration;

use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry};

use crate::GenerateError;

/// How long a caller should wait for a place in the queue.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// The error for a request that was refused, or for an answer that broke off.
pub(super) fn of_request(fault: GenerateError) -> Error {
    match &fault {
        GenerateError::Busy { .. } => Error {
            retry: Retry::Same(Some(BUSY_PAUSE)),
            ..Error::new(
                ErrorKind::Overloaded,
                ErrorOrigin::Trilith,
                "the embedded model has as many requests as it takes; try again in a moment",
            )
        },
        GenerateError::InvalidParameter { name, reason } => {
            Error::bad_request(*name, format!("Invalid value for '{name}': it {reason}."))
        }
        GenerateError::ContextLengthExceeded { .. } => {
            let text = format!("{fault}; shorten the input, or serve the model with a larger context");
            Error::new(ErrorKind::ContextTooLong, ErrorOrigin::Caller, text)
                .with_code("context_length_exceeded")
                .with_param("input")
        }
        GenerateError::EmptyPrompt => Error::bad_request("input", "the input is empty; send some text"),
        GenerateError::Template(_) => Error::bad_request("input", fault.to_string()),
        GenerateError::Engine(_) => {
            Error::upstream("the embedded model failed while it was answering; try again").with_source(fault)
        }
        GenerateError::Stopped => Error {
            retry: Retry::Elsewhere,
            ..Error::new(ErrorKind::Overloaded, ErrorOrigin::Trilith, fault.to_string())
        },
    }
}
