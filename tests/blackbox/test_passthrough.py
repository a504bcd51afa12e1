"""The same dialect on both sides: bytes pass as they are, and nothing of the caller's identity goes along."""

import hashlib

import pytest
from configs import model, provider
from harness import Tape

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "completions": "/v1/completions"}
# Spaces, order, escapes, numbers and unknown fields are the caller's.
BODIES = {
    "chat": (
        '{ "messages" : [ {"content":"h\\u00e9 \\ud83d\\ude00 é", "role":"user", "unknown_in": [1e2, 1.0, -0]} ],\n'
        '\t"model": "outer", "zz_unknown":{"b":1,"a":[null, 0.10]} ,"temperature":1.00, "stream": %s }\n'
    ),
    "responses": (
        '{ "input" : [ {"content":"h\\u00e9 \\ud83d\\ude00 é", "role":"user", "unknown_in": [1e2, 1.0, -0]} ],\n'
        '\t"store":false, "model": "outer", "zz_unknown":{"b":1,"a":[null, 0.10]} , "stream": %s }\n'
    ),
    "completions": (
        '{ "prompt" : [ "h\\u00e9 \\ud83d\\ude00 é" ],\n'
        '\t"model": "outer", "zz_unknown":{"b":1,"a":[null, 0.10]} ,"temperature":1.00, "stream": %s }\n'
    ),
}
WHOLE = b'{ "id":"x",  "zz_unknown": [1.0, 1e2],\n "object":"whatever","choices":[], "usage":{"prompt_tokens":1} }\n'
EVENTS = (
    b': a comment\r\ndata: {"choices":[],"zz": 1.0}\r\n\r\nevent: odd\nid: 7\ndata: {"x":\ndata: 1}\n\n'
    b"retry: 10\n\ndata:[DONE]\n\ndata: after the end"
)


def played(body: bytes, kind: str, headers: str = "") -> bytes:
    return (
        f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
        f"{headers}\r\n"
    ).encode() + body


@pytest.fixture(params=PATHS)
def dialect(request) -> str:
    """Each dialect in turn that has a body above."""
    return request.param


@pytest.fixture
def tape(serve, dialect):
    """tape(answer, target) -> (Tape, an HTTP client): one upstream of the dialect in turn."""
    opened = []

    def start(answer: bytes, target: str = "up=inner"):
        upstream = Tape(answer)
        http = serve(provider("up", upstream, dialect) + model("*", target)).http()
        opened.extend((upstream, http))
        return upstream, http

    yield start
    for one in opened:
        one.close()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("stream", ["false", "true"])
@pytest.mark.parametrize("target", ["up=inner", "up"])
def test_a_request_differs_in_the_models_name_alone(tape, dialect, stream, target):
    answer = played(EVENTS, "text/event-stream") if stream == "true" else played(WHOLE, "application/json")
    upstream, http = tape(answer, target)
    body = (BODIES[dialect] % stream).encode()
    taken = http.post(PATHS[dialect], content=body, headers=JSON)
    expected = body.replace(b'"outer"', b'"inner"') if target == "up=inner" else body
    assert sha(upstream.bodies[0]) == sha(expected)
    assert upstream.heads[0].startswith(f"POST {PATHS[dialect]} HTTP/1.1\r\n".encode())
    assert sha(taken.content) == sha(EVENTS if stream == "true" else WHOLE)
    assert taken.status_code == 200
    assert taken.headers["content-type"].startswith("text/event-stream" if stream == "true" else "application/json")


def test_a_large_body_passes_whole(tape, dialect):
    upstream, http = tape(played(WHOLE, "application/json"))
    body = (BODIES[dialect] % "false").replace('"zz_unknown"', f'"long":"{"é" * 3_000_000}","zz_unknown"').encode()
    http.post(PATHS[dialect], content=body, headers=JSON)
    assert sha(upstream.bodies[0]) == sha(body.replace(b'"outer"', b'"inner"'))


PRIVATE = {
    "authorization": "Bearer caller-secret",
    "x-api-key": "caller-secret",
    "api-key": "caller-secret",
    "x-goog-api-key": "caller-secret",
    "openai-organization": "caller-org",
    "openai-project": "caller-project",
    "cookie": "caller-cookie",
    "x-forwarded-for": "203.0.113.9",
    "forwarded": "for=203.0.113.9",
    "x-request-id": "caller-request",
    "x-stainless-lang": "python",
    "user-agent": "caller-agent",
    "x-anything": "caller-anything",
    "proxy-authorization": "Basic caller",
    "x-trilith-strict": "false",
    "accept-encoding": "caller-coding",
}


def test_only_listed_headers_go_upstream(tape, dialect):
    upstream, http = tape(played(WHOLE, "application/json"))
    beta = {"openai-beta": "some=v1"}
    passed = {"chat": beta, "responses": {"x-codex-turn-metadata": "some"}, "completions": beta}[dialect]
    http.post(PATHS[dialect], content=BODIES[dialect] % "false", headers={**JSON, **PRIVATE, **passed})
    lines = upstream.heads[0].decode().split("\r\n")[1:]
    headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
    assert headers["authorization"] == "Bearer secret-of-up"
    assert "caller" not in str(headers) and "203.0.113.9" not in str(headers)
    for name, value in passed.items():
        assert headers[name] == value
    known = {"authorization", "content-type", "content-length", "host", "accept", "accept-encoding", "user-agent"}
    assert set(headers) - known - set(passed) == set()


def test_translation_holds_headers_back_too(gateway, dialect):
    server, upstream = gateway("--- answer\ntext ok\n", dialect)
    other = PATHS["responses" if dialect == "chat" else "chat"]
    body = {"model": "m", "input": "hi"} if dialect == "chat" else {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    with server.http() as http:
        assert http.post(other, json=body, headers=PRIVATE).status_code == 200
    headers = upstream.requests()[0]["headers"]
    assert headers["authorization"] == "Bearer upstream-secret"
    assert "caller" not in str(headers) and "203.0.113.9" not in str(headers)


def test_only_listed_headers_come_back(tape, dialect):
    sent = (
        "x-ratelimit-remaining-requests: 7\r\nopenai-processing-ms: 12\r\nx-request-id: theirs\r\n"
        "set-cookie: a=b\r\nopenai-organization: ours\r\nx-internal: hidden\r\n"
    )
    upstream, http = tape(played(WHOLE, "application/json", sent))
    taken = http.post(PATHS[dialect], content=BODIES[dialect] % "false", headers=JSON).headers
    assert taken["x-ratelimit-remaining-requests"] == "7"
    assert taken["openai-processing-ms"] == "12"
    assert taken["x-request-id"].startswith("req_")
    assert taken["x-trilith-upstream-request-id"] == "theirs"
    assert not {"set-cookie", "openai-organization", "x-internal"} & set(taken)


def test_stored_responses_do_not_pass_but_run(gateway):
    server, upstream = gateway("--- answer\ntext ok\n", "responses")
    with server.http() as http:
        made = http.post("/v1/responses", json={"model": "m", "input": "hi"}).json()
        assert http.get(f"/v1/responses/{made['id']}").status_code == 200
    assert upstream.bodies()[0]["store"] is False


def test_usage_of_what_passes_is_counted(gateway, dialect):
    server, _ = gateway("--- answer\ntext ok\nusage input=120 output=34\n", dialect)
    with server.http() as http:
        for stream in (False, True):
            extra = {"stream_options": {"include_usage": True}} if stream and dialect != "responses" else {}
            body = {
                "chat": {"messages": [{"role": "user", "content": "hi"}]},
                "responses": {"input": "hi", "store": False},
                "completions": {"prompt": "hi"},
            }
            http.post(PATHS[dialect], json={"model": "m", "stream": stream, **extra, **body[dialect]})
        metrics = http.get(f"{server.admin_url}/metrics").text
    assert 'road="passthrough"' in metrics
    counted = [line for line in metrics.splitlines() if line.startswith("trilith_tokens_total")]
    assert any(line.endswith(" 240") for line in counted) and any(line.endswith(" 68") for line in counted), counted
