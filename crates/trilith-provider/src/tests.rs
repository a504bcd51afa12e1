//! Places against real sockets.
