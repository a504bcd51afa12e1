//! The vocabulary: items, turns, events, usage, errors, losses and the ports. No I/O, no async runtime, no HTTP.
