//! Who may call, how much, and where it goes: keys, routing, metering.
