//! The dialect as clients and upstreams see it.
