//! Where responses and items live: SQLite and memory, the canonical encoding, sealing.
