//! Places that speak a dialect: URL shapes, credentials, retry-after, quirks as data.
