//! One error with what a caller may read, who is to blame and what may be tried again.

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use crate::Headers;

/// What went wrong, in the classes that every dialect can render (translation contract §17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is wrong.
    BadRequest,
    /// The caller's credential is missing or wrong.
    Unauthorized,
    /// Money or quota ran out.
    QuotaExhausted,
    /// The caller may not do this.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// That route does not take this method.
    MethodNotAllowed,
    /// The state does not allow it now.
    Conflict,
    /// The body is too large.
    TooLarge,
    /// The body is not JSON, or in an encoding that is not read.
    UnsupportedMediaType,
    /// The conversation does not fit the model.
    ContextTooLong,
    /// Too many requests.
    RateLimited,
    /// Nobody has room for the request now.
    Overloaded,
    /// It took too long.
    Timeout,
    /// The upstream failed or answered nonsense.
    UpstreamBroken,
    /// Trilith itself failed.
    Internal,
    /// Only an upgraded connection could do this, and none is served here.
    UpgradeRequired,
}

impl ErrorKind {
    /// The name used in metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Conflict => "conflict",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::ContextTooLong => "context_too_long",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::UpstreamBroken => "upstream_broken",
            Self::Internal => "internal",
            Self::UpgradeRequired => "upgrade_required",
        }
    }
}

/// Who is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The caller.
    Caller,
    /// The upstream.
    Upstream,
    /// Trilith.
    Trilith,
}

/// What may be tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// Nothing: the same request fails again.
    #[default]
    Never,
    /// The same target, after this time if one is given.
    Same(Option<Duration>),
    /// Another target.
    Elsewhere,
}

/// What an upstream said about its failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamFault {
    /// HTTP status, where there was one.
    pub status: Option<u16>,
    /// The upstream's error code.
    pub code: Option<Box<str>>,
    /// The upstream's error type.
    pub kind: Option<Box<str>>,
}

/// An error on its way to a caller.
#[derive(Clone)]
pub struct Error {
    /// The class.
    pub kind: ErrorKind,
    /// Who is to blame.
    pub origin: Origin,
    /// What the caller may read: what is wrong and what to do. Never a secret, never an internal address.
    pub public: Cow<'static, str>,
    /// The caller's field that is meant, in the caller's spelling.
    pub param: Option<Box<str>>,
    /// A machine-readable code, in the words of the OpenAI dialects; other dialects derive theirs from `kind`.
    pub code: Option<Cow<'static, str>>,
    /// What may be tried again.
    pub retry: Retry,
    /// What the upstream said.
    pub upstream: Option<Box<UpstreamFault>>,
    /// Headers of the upstream's answer that a caller may read, as in [`crate::EventStream`].
    pub headers: Option<Arc<Headers>>,
    /// For the log only.
    pub source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of that class and blame.
    pub fn new(kind: ErrorKind, origin: Origin, public: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            origin,
            public: public.into(),
            param: None,
            code: None,
            retry: Retry::Never,
            upstream: None,
            headers: None,
            source: None,
        }
    }

    /// The caller's request is wrong in `param`.
    pub fn bad_request(param: impl Into<Box<str>>, public: impl Into<Cow<'static, str>>) -> Self {
        Self { param: Some(param.into()), ..Self::new(ErrorKind::BadRequest, Origin::Caller, public) }
    }

    /// The upstream failed or answered nonsense; another target may do better.
    pub fn upstream(public: impl Into<Cow<'static, str>>) -> Self {
        Self { retry: Retry::Elsewhere, ..Self::new(ErrorKind::UpstreamBroken, Origin::Upstream, public) }
    }

    /// Trilith itself failed.
    pub fn internal(public: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Internal, Origin::Trilith, public)
    }

    /// Whether the upstream knows nothing of the path that was asked, rather than of what was asked there: its
    /// answer says so without a word of its own dialect.
    pub fn is_no_such_path(&self) -> bool {
        self.upstream
            .as_ref()
            .is_some_and(|fault| matches!(fault.status, Some(404 | 405 | 501)) && fault.kind.is_none())
    }

    /// The same error with a code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// The same error about a field.
    #[must_use]
    pub fn with_param(mut self, param: impl Into<Box<str>>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// The same error with its cause, for the log.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

/// Errors are equal when a caller could not tell them apart.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.origin == other.origin
            && self.public == other.public
            && self.param == other.param
            && self.code == other.code
            && self.upstream == other.upstream
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}/{:?}: {}", self.kind, self.origin, self.public)?;
        if let Some(param) = &self.param {
            write!(f, " [{param}]")?;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.public)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
