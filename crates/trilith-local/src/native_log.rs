//! The log lines of the native engine, which would otherwise go to standard error.
//!
//! They become `tracing` events of level debug with the target `llama.cpp`. Error lines are also kept
//! while a model is loaded, since they are the only explanation the engine gives for a refusal.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::catch_unwind;
use std::sync::Once;

/// The most error lines kept for one explanation.
const MAX_LINES: usize = 4;

thread_local! {
    static KEPT: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Routes the engine's log lines from now on.
#[expect(unsafe_code, reason = "the engine takes a C function for its log lines")]
pub(crate) fn route() {
    static ROUTED: Once = Once::new();
    ROUTED.call_once(|| {
        // SAFETY: `receive` has the signature the engine asks for, lives as long as the program and needs
        // no user data. The engine copies both pointers. No engine call of ours runs before this one.
        unsafe {
            llama_cpp_sys_2::llama_log_set(Some(receive), std::ptr::null_mut());
            llama_cpp_sys_2::ggml_log_set(Some(receive), std::ptr::null_mut());
        }
    });
}

/// Runs `work` and returns the engine's error lines on this thread meanwhile, joined, or a general phrase
/// when there are none.
pub(crate) fn explain<T>(work: impl FnOnce() -> T) -> (T, String) {
    KEPT.with_borrow_mut(|kept| *kept = Some(Vec::new()));
    let result = work();
    let lines = KEPT.with_borrow_mut(Option::take).unwrap_or_default();
    let reason = if lines.is_empty() { "it gave no reason".to_owned() } else { lines.join("; ") };
    (result, reason)
}

#[expect(unsafe_code, reason = "the text arrives as a C string")]
unsafe extern "C" fn receive(level: llama_cpp_sys_2::ggml_log_level, text: *const c_char, _: *mut c_void) {
    if text.is_null() {
        return;
    }
    // SAFETY: the engine passes a string that ends in NUL and stays valid during this call.
    let text = unsafe { CStr::from_ptr(text) };
    // A panic in a subscriber must not unwind into C.
    let _ = catch_unwind(|| record(level, text));
}

fn record(level: llama_cpp_sys_2::ggml_log_level, text: &CStr) {
    let text = text.to_string_lossy();
    let line = text.trim_end();
    // Progress is drawn as a row of dots, one call each.
    if line.chars().all(|character| character == '.') {
        return;
    }
    if level == llama_cpp_sys_2::GGML_LOG_LEVEL_ERROR {
        KEPT.with_borrow_mut(|kept| {
            if let Some(lines) = kept.as_mut().filter(|lines| lines.len() < MAX_LINES) {
                lines.push(line.to_owned());
            }
        });
    }
    tracing::debug!(target: "llama.cpp", level, "{line}");
}
