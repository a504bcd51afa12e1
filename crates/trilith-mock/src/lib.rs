//! The scripted upstream: plays a small readable file in any dialect over TCP.
