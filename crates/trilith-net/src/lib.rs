//! The one outgoing HTTP client: pool, TLS, proxies, timeouts, decompression with caps.
