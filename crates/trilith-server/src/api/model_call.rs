//! A request to a model, in any dialect: scan, admit, route, choose the road, answer. Or the question of how long its
//! input is, which goes the same ways.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::body::Incoming;
use trilith_core::{DialectId, Error, ErrorKind, ErrorOrigin, Headers, Pin, Reads, Status, Turn, Wanted};
use trilith_dialect::{Capabilities, Dialect, Peek, Quirks, dialect, rate_limits, scan};
use trilith_ops::{Principal, Road as MeteredRoad, Route};
use trilith_runtime::{Candidate, Held, Request, Road, Run, may_need_fitting, needs_fitting, plan, relay};

use crate::{
    admit,
    answer::{self, Answer},
    app::App,
    body,
    exchange::Exchange,
    failover::RouteFailover,
    losses,
    relay::RelayBody,
    route::{Asked, Handled},
    stream::RunBody,
};

/// The header by which a caller turns every loss into an error.
const STRICT: &str = "x-trilith-strict";
/// The header by which a caller agrees that a forced tool choice is left to a model that cannot be forced.
const UNFORCED: &str = "x-trilith-unforced";

/// Answers a request of a client that speaks `client`.
pub(crate) async fn answer(asked: Asked, body: &mut Incoming, client: DialectId, wanted: Wanted) -> Handled {
    let Asked { app, head, request_id } = asked;
    let Some(client) = dialect(client) else {
        return Err(Error::internal("this dialect is not part of this build"));
    };
    let caller = admit::is_json(&head.method, &head.headers)
        .and_then(|()| admit::caller(&app, &head.headers, &head.uri))
        .inspect_err(|error| app.meter.error(error))?;
    let tenant = Arc::clone(&caller.principal.tenant);
    let mut exchange = Some(Exchange::new(&app, client.id(), tenant, request_id, caller.admission));
    let call = ModelCall { app: &app, client, wanted, principal: &caller.principal, headers: &head.headers };
    let outcome =
        match body::read(&head.headers, body, app.limits.body_bytes, app.limits.header_timeout).await {
            Ok(bytes) => call.run(bytes, &mut exchange).await,
            Err(error) => Err(error),
        };
    outcome.map_err(|mut error| {
        error.headers = error.headers.map(|told| Arc::new(call.respelled(&told).into_owned()));
        if let Some(exchange) = &mut exchange {
            fail(exchange, &error, client);
        }
        error
    })
}

fn unacceptable(text: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::BadRequest, ErrorOrigin::Caller, text)
}

/// Ends an exchange with an error.
fn fail(exchange: &mut Exchange, error: &Error, client: &dyn Dialect) {
    exchange.error(error);
    exchange.finished(client.render_error(error, "", &mut Vec::new()));
}

struct ModelCall<'a> {
    app: &'a Arc<App>,
    client: &'static dyn Dialect,
    wanted: Wanted,
    principal: &'a Principal,
    headers: &'a HeaderMap,
}

impl ModelCall<'_> {
    async fn run(&self, bytes: Bytes, exchange: &mut Option<Exchange>) -> Result<Response<Answer>, Error> {
        let scanned = self.scan(&bytes)?;
        // Bytes that pass lose nothing, so the wish is granted on either road; a wrong one is told on either.
        let strict = self.wishes(STRICT)?;
        let forced_choice_may_go = self.wishes(UNFORCED)?;
        let peek = self.client.peek(&scanned)?;
        let (route, candidates) = self.candidates(&peek)?;
        let pin = self.principal.pin.clone().or_else(|| route.pin.clone());
        let mut roads =
            candidates.iter().filter(|candidate| pin.is_none() || candidate.local).map(|candidate| {
                plan(self.client.id(), candidate.upstream.dialect(), peek.stateful, scanned.has_envelope)
            });
        let mut failover = RouteFailover::new(self.app, &route);
        let headers = self.forwarded();
        let passes = roads.all(|road| road == Road::Passthrough);
        if passes && !self.needs_fitting(&candidates, &headers, &bytes) {
            let stream = peek.stream && self.wanted == Wanted::Answer;
            let asked = peek.model.clone().unwrap_or_default();
            let held = self.held(pin.clone(), &candidates, &headers, &bytes)?;
            if let Some(held) = &held {
                held.confine(&asked, &candidates, &mut failover)?;
            }
            let spliced = |candidate: &Candidate| {
                if *candidate.model == *asked {
                    return bytes.clone();
                }
                scan::splice(&bytes, &scanned, &candidate.model)
                    .map_or_else(|| bytes.clone(), |spliced| spliced.to_bytes())
            };
            match relay(&candidates, self.wanted, stream, &headers, &mut failover, &spliced).await {
                Ok((answer, place)) => {
                    let pin = held.map(|held| held.pin);
                    return Ok(self.pass(answer, &candidates[place], pin, exchange.take()));
                }
                // Servers that are shaped after a dialect do not always count: then it is guessed.
                Err(error) if self.wanted == Wanted::InputTokens && error.is_no_such_path() => {}
                Err(error) => return Err(error),
            }
        }
        let turn = self.decode(&headers, &bytes)?;
        let options = turn.stream;
        let request = Request {
            tenant: Arc::clone(&self.principal.tenant),
            client: self.client.id(),
            shows: self.client.shows(),
            turn,
            candidates,
            pin,
            strict: strict || route.strict,
            forced_choice_may_go,
            headers,
        };
        if self.wanted == Wanted::InputTokens {
            return self.count(request, &mut failover, exchange).await;
        }
        let run = self.app.runtime.start(request, &mut failover).await?;
        let Some(mut exchange) = exchange.take() else {
            return Err(Error::internal("the request ended early"));
        };
        let dialect = self.app.upstreams.get(run.upstream()).and_then(|upstream| upstream.dialect());
        exchange.answered_by(run.upstream(), dialect, MeteredRoad::Runtime);
        exchange.held_by(run.pin().cloned());
        if options.stream {
            let mut headers = self.told(run.headers(), run.pin());
            losses::add_headers(&mut headers, &losses::spelled(Some(self.client), run.losses()));
            let body = RunBody::new(run, self.client, options, exchange);
            let mut answer = answer::events(Answer::Run(Box::new(body)));
            answer.headers_mut().extend(headers);
            return Ok(answer);
        }
        self.whole(run, exchange).await
    }

    /// Reads the body in one pass, without its meaning.
    fn scan<'b>(&self, bytes: &'b [u8]) -> Result<scan::Scan<'b>, Error> {
        let limits = scan::Limits { depth: self.app.limits.depth, ..scan::Limits::default() };
        let scanned = scan::scan(bytes, &limits)
            .map_err(|error| unacceptable(format!("the body is not acceptable JSON: {error}")))?;
        let object = scanned.root() == scan::Kind::Object;
        if object { Ok(scanned) } else { Err(unacceptable("the body must be a JSON object")) }
    }

    fn decode(&self, headers: &Headers, body: &[u8]) -> Result<Turn, Error> {
        match (self.wanted, self.client.counting()) {
            (Wanted::Answer, _) => self.client.decode_request_with(headers, body),
            (Wanted::InputTokens, Some(counting)) => counting.decode_request(headers, body),
            (Wanted::InputTokens, None) => Err(Error::internal("this dialect counts no tokens")),
        }
    }

    /// Asks how long the input is.
    async fn count(
        &self,
        request: Request,
        failover: &mut RouteFailover<'_>,
        exchange: &mut Option<Exchange>,
    ) -> Result<Response<Answer>, Error> {
        let upstreams: Vec<_> = request.candidates.iter().map(|at| Arc::clone(&at.upstream)).collect();
        let counted = self.app.runtime.count(request, failover).await?;
        let mut body = Vec::new();
        if let Some(counting) = self.client.counting() {
            counting.encode_answer(counted.tokens, &mut body);
        }
        if let Some(exchange) = exchange {
            if let Some(upstream) = counted.place.and_then(|place| upstreams.get(place)) {
                exchange.answered_by(upstream.name(), upstream.dialect(), MeteredRoad::Runtime);
            }
            exchange.held_by(counted.pin.clone());
            exchange.first_byte();
            exchange.losses(&counted.losses);
            exchange.publish_losses();
            exchange.finished(200);
        }
        let mut answer = answer::json(StatusCode::OK, body);
        answer.headers_mut().extend(self.told(&counted.headers, counted.pin.as_ref()));
        losses::add_headers(answer.headers_mut(), &losses::spelled(Some(self.client), &counted.losses));
        Ok(answer)
    }

    /// The route of the asked model, and its places.
    fn candidates(&self, peek: &Peek<'_>) -> Result<(Arc<Route>, Vec<Candidate>), Error> {
        let Some(model) = peek.model.as_deref().filter(|model| !model.is_empty()) else {
            return Err(Error::bad_request("model", "Missing required parameter: 'model'.")
                .with_code("missing_required_parameter"));
        };
        let route = self.app.router.resolve(model).filter(|_| self.principal.may_call(model));
        let route = route.ok_or_else(|| super::models::unknown(model))?;
        let candidates = route.targets.iter().map(|target| {
            let upstream = self.app.upstreams.get(&target.provider)?;
            let (upstream, model) = (Arc::clone(upstream), target.model(model).into());
            Some(Candidate { upstream, model, local: target.local })
        });
        let candidates: Option<Vec<_>> = candidates.collect();
        let candidates =
            candidates.ok_or_else(|| Error::internal("a route names a provider that is not there"))?;
        Ok((route, candidates))
    }

    /// Whether a target could not take the media of a body that may pass. Only a body that looks like it is read; one
    /// that cannot be is for the target to judge.
    fn needs_fitting(&self, candidates: &[Candidate], headers: &Headers, bytes: &[u8]) -> bool {
        // What the caller's own wire cannot say is not in the body.
        let said = self.client.abilities(&Quirks::default(), &Capabilities::default()).reads;
        let reads = candidates.iter().map(|candidate| {
            let reads = candidate.upstream.abilities(&candidate.model).reads;
            Reads {
                pdf: reads.pdf || !said.pdf,
                image_urls: reads.image_urls || !said.image_urls,
                document_urls: reads.document_urls || !said.document_urls,
            }
        });
        let mut lacking = reads.filter(|reads| may_need_fitting(bytes, *reads)).peekable();
        if lacking.peek().is_none() {
            return false;
        }
        let Ok(turn) = self.decode(headers, bytes) else { return false };
        lacking.any(|reads| needs_fitting(&turn.input, reads))
    }

    /// What holds a request whose bytes may pass to local targets. Its history is read only where a target could
    /// take what must not leave, so a body that cannot be read is refused there instead of passed.
    fn held(
        &self,
        pin: Option<Arc<Pin>>,
        candidates: &[Candidate],
        headers: &Headers,
        bytes: &[u8],
    ) -> Result<Option<Held>, Error> {
        let tools = &self.app.runtime.local_tools;
        if let Some(pin) = pin {
            return Ok(Some(Held::whole(pin)));
        }
        if tools.is_empty() || candidates.iter().all(|candidate| candidate.local) {
            return Ok(None);
        }
        let turn = self.decode(headers, bytes)?;
        Ok(Held::by_tools(tools, self.client.id(), &turn.input))
    }

    /// Whether a header says `true`. A wish that cannot be read is no wish to be ignored.
    fn wishes(&self, header: &'static str) -> Result<bool, Error> {
        match self.headers.get(header).map(http::HeaderValue::as_bytes) {
            None => Ok(false),
            Some(value) if value.eq_ignore_ascii_case(b"true") => Ok(true),
            Some(value) if value.eq_ignore_ascii_case(b"false") => Ok(false),
            Some(_) => Err(Error::bad_request(header, format!("'{header}' must be 'true' or 'false'"))),
        }
    }

    /// An upstream's headers in the words that the client knows.
    fn respelled<'h>(&self, headers: &'h Headers) -> Cow<'h, Headers> {
        rate_limits::respell(headers, self.client.id(), self.app.runtime.clock.unix_ms())
    }

    /// What of an upstream's headers goes on to the client, and what is said of the way there.
    fn told(&self, headers: &Headers, pin: Option<&Arc<Pin>>) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in &*self.respelled(headers) {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(&**name), HeaderValue::try_from(&**value)) {
                map.append(name, value);
            }
        }
        answer::add_pin(&mut map, pin);
        map
    }

    /// The client's headers that mean something to an upstream.
    fn forwarded(&self) -> Headers {
        let names = self.client.forwarded_headers();
        let mut forwarded = Headers::new();
        for (name, value) in self.headers {
            let name = name.as_str();
            // Of several only the first counts.
            if names.contains(&name)
                && !forwarded.iter().any(|(known, _)| **known == *name)
                && let Ok(value) = value.to_str()
            {
                forwarded.push((name.into(), value.into()));
            }
        }
        forwarded
    }

    fn pass(
        &self,
        passed: trilith_core::RelayAnswer,
        candidate: &Candidate,
        pin: Option<Arc<Pin>>,
        exchange: Option<Exchange>,
    ) -> Response<Answer> {
        let Some(mut exchange) = exchange else { return answer::json(StatusCode::OK, Bytes::new()) };
        let upstream = &candidate.upstream;
        exchange.answered_by(upstream.name(), upstream.dialect(), MeteredRoad::Passthrough);
        exchange.held_by(pin.clone());
        let stream = passed.stream;
        let body = RelayBody::new(passed.body, self.client, stream, exchange);
        let body = Answer::Relay(Box::new(body));
        let mut answer = if stream {
            answer::events(body)
        } else {
            answer::with_type(StatusCode::OK, HeaderValue::from_static("application/json"), body)
        };
        *answer.status_mut() = StatusCode::from_u16(passed.status).unwrap_or(StatusCode::OK);
        answer.headers_mut().extend(self.told(&passed.headers, pin.as_ref()));
        answer
    }

    /// Runs to the end and answers whole.
    async fn whole(&self, mut run: Run, mut exchange: Exchange) -> Result<Response<Answer>, Error> {
        run.complete().await;
        let response = run.response();
        exchange.first_byte();
        if let Some(usage) = &response.usage {
            exchange.usage(usage);
        }
        let mut lost = run.losses().to_vec();
        lost.extend(self.client.response_losses(response));
        exchange.losses(&lost);
        exchange.publish_losses();
        if let (Status::Failed, Some(error)) = (response.status, &response.error) {
            fail(&mut exchange, error, self.client);
            return Ok(answer::error(error, self.client.id(), &exchange.request_id));
        }
        let mut body = Vec::with_capacity(2 << 10);
        self.client.encode_response(response, &mut body);
        exchange.finished(200);
        let mut answer = answer::json(StatusCode::OK, body);
        answer.headers_mut().extend(self.told(run.headers(), run.pin()));
        losses::add_headers(answer.headers_mut(), &losses::spelled(Some(self.client), &lost));
        Ok(answer)
    }
}
