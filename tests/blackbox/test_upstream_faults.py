"""An upstream that fails in every way: what the caller sees, what is tried again, and how often."""

import contextlib
import json
import time

import openai
import pytest
from configs import model, provider
from harness import Tape

HI = [{"role": "user", "content": "hi"}]
ENTRIES = {
    "chat": ("/v1/chat/completions", {"messages": HI}),
    "responses": ("/v1/responses", {"input": "hi"}),
}
NO_RETRY = "\n[limits]\nretries = 0\n"


@pytest.fixture(params=["chat", "responses"])
def client(request) -> str:
    """Each client dialect in turn."""
    return request.param


def ask(server, client: str, stream: bool = False, **asked):
    path, body = ENTRIES[client]
    with server.http() as http:
        return http.post(path, json={"model": "m", "stream": stream, **body, **asked})


def error_of(answer) -> dict:
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


# status of the upstream -> (status for the caller, type, code)
STATUSES = {
    400: (400, "invalid_request_error", "odd_code"),
    401: (502, "server_error", None),
    403: (502, "server_error", None),
    404: (404, "invalid_request_error", "odd_code"),
    413: (413, "invalid_request_error", None),
    429: (429, None, None),
    500: (502, "server_error", None),
    503: (503, None, None),
    504: (504, None, None),
    529: (503, None, None),
}


@pytest.fixture(scope="module")
def failing(module_starter):
    """upstream dialect -> a server over an upstream that answers any status that it is asked for."""
    script = "".join(f'--- answer when "say {status}"\nerror {status} odd_code The reason\n' for status in STATUSES)
    script += "--- answer\ntext ok\n"
    return {name: module_starter.gateway(script, name, NO_RETRY)[0] for name in ENTRIES}


@pytest.mark.parametrize("status", STATUSES)
def test_a_status(failing, client, dialect, status):
    server = failing[dialect]
    wish = {"input": f"say {status}"} if client == "responses" else {"messages": [{**HI[0], "content": f"say {status}"}]}
    # A success in between keeps the target in use.
    assert ask(server, client).status_code == 200
    expected, kind, code = STATUSES[status]
    for stream in (False, True):
        answer = ask(server, client, stream, **wish)
        error = error_of(answer)
        assert answer.status_code == expected, error
        assert kind in (None, error["type"])
        if code and client != dialect:
            assert code == error["code"]
        assert "upstream-secret" not in answer.text
        if status in (401, 403):
            assert "The reason" not in answer.text and error["code"] != "invalid_api_key"


def test_an_error_of_the_callers_making_is_told_in_the_upstreams_words(gateway, client, dialect):
    server, upstream = gateway("--- answer\nerror 400 context_length_exceeded Too long by 5 tokens\n", dialect)
    error = error_of(ask(server, client))
    assert error["code"] == "context_length_exceeded" and "Too long by 5 tokens" in error["message"]
    assert len(upstream.requests()) == 1


def test_secrets_in_an_upstreams_words_are_taken_out(gateway, client, dialect):
    text = "Incorrect API key provided: upstream-secret at http://10.0.0.7:9000/internal"
    server, _ = gateway(f"--- answer\nerror 400 bad {text}\n", dialect)
    assert "upstream-secret" not in ask(server, client).text


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limit_exceeded"), (503, "slow_down")])
def test_a_long_pause_is_the_callers_to_make(gateway, client, dialect, status, code):
    script = f"--- answer\nerror {status} {code} Slow down\nheader retry-after: 77\n"
    server, upstream = gateway(script, dialect)
    answer = ask(server, client)
    assert (answer.status_code, answer.headers["retry-after"]) == (status, "77")
    assert len(upstream.requests()) == 1


def test_a_short_pause_is_made(gateway, client, dialect):
    script = "--- answer\nerror 429 rate_limit_exceeded Slow down\nheader retry-after-ms: 50\n--- answer\ntext ok\n"
    server, upstream = gateway(script, dialect)
    assert ask(server, client).status_code == 200
    assert len(upstream.requests()) == 2


BODIES = {
    "html": "status 502\nheader content-type: text/html\nbody <html><h1>Bad gateway at 10.0.0.7</h1></html>",
    "empty": 'status 500\nbody ""',
    "json of another kind": "status 500\nbody [1, 2]",
    "not json with 200": "body this is no JSON",
    "html with 200": "header content-type: text/html\nbody <html>Sign in</html>",
}


@pytest.mark.parametrize("body", BODIES)
def test_an_answer_of_no_dialect_is_the_upstreams_fault(gateway, dialect, body):
    other = "responses" if dialect == "chat" else "chat"
    server, _ = gateway(f"--- answer\n{BODIES[body]}\n", dialect, NO_RETRY)
    for stream in (False, True):
        answer = ask(server, other, stream)
        if answer.status_code == 200:
            assert stream and "error" in answer.text and "<html" not in answer.text
            continue
        error = error_of(answer)
        assert answer.status_code == 502 and error["type"] == "server_error" and error["message"]
        assert "<" not in error["message"]


CUTS = {
    "ended without an end": "text Hel\nno-finish\nno-done",
    "closed": "text Hel\nwait 20ms\nclose",
    "reset": "text Hel\nwait 20ms\nreset",
    "an error event": "text Hel\nfail server_error It broke",
    "no JSON": 'text Hel\nline "data: {"\nline ""',
}


@pytest.mark.parametrize("cut", CUTS)
def test_a_stream_that_breaks_ends_with_an_error(gateway, dialect, cut):
    server, upstream = gateway(f"--- answer\n{CUTS[cut]}\n", dialect, NO_RETRY)
    with server.openai() as official:
        # Responses: stored, so it runs over either upstream.
        lines = ask(server, "responses", stream=True).text.splitlines()
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        kinds = [event["type"] for event in events]
        assert kinds[-1] == "response.failed" and kinds.count("response.failed") == 1
        assert "response.completed" not in kinds
        failed = events[-1]["response"]
        assert failed["status"] == "failed" and failed["error"]["code"]
        assert failed["output"][0]["content"][0]["text"] == "Hel"
        assert official.responses.retrieve(failed["id"]).status == "failed"
        # Chat, where it runs too.
        if dialect == "responses":
            with pytest.raises(openai.APIError):
                list(official.chat.completions.create(model="m", messages=HI, stream=True))
            answer = ask(server, "chat", stream=True)
            assert '"error"' in answer.text and answer.text.rstrip().endswith("data: [DONE]")
            assert '"finish_reason":"stop"' not in answer.text
    assert len(upstream.requests()) == (3 if dialect == "responses" else 1)


@pytest.mark.parametrize("cut", ["close after 37", "reset after 37", "text Hel\nstatus 200\nclose after 90"])
def test_a_whole_answer_that_breaks_is_a_502(gateway, dialect, cut):
    other = "responses" if dialect == "chat" else "chat"
    server, _ = gateway(f"--- answer\ntext Hello\n{cut}\n", dialect, NO_RETRY)
    answer = ask(server, other)
    assert answer.status_code == 502 and error_of(answer)["type"] == "server_error"


@pytest.mark.parametrize("cut", ["text Hel\nwait 20ms\nreset", "text Hel\nclose after 120"])
def test_a_passing_stream_that_breaks_is_cut_too(gateway, dialect, cut):
    """Nothing is added to what passes: the connection ends as it did upstream."""
    server, _ = gateway(f"--- answer\n{cut}\n", dialect)
    with server.openai() as official, pytest.raises(Exception) as caught:
        if dialect == "chat":
            list(official.chat.completions.create(model="m", messages=HI, stream=True))
        else:
            list(official.responses.create(model="m", input="hi", stream=True, store=False))
    assert "peer closed" in str(caught.value) or "connection" in str(caught.value).lower()


@pytest.fixture
def two(serve, mock):
    """two(script of the first, dialects) -> (server, first, second): the second always answers."""

    def start(script: str, first: str = "chat", second: str = "chat", extra: str = ""):
        one, other = mock(script, first), mock("--- answer\ntext from the second\n", second)
        config = provider("one", one, first, extra) + provider("other", other, second)
        return serve(config + model("*", "one", "other=else")), one, other

    return start


FALLS = {
    "404": "error 404 model_not_found Which?",
    "500": "error 500 oops It broke",
    "503": "error 503 overloaded Busy",
    "429": "error 429 rate_limit_exceeded Slow\nheader retry-after: 77",
    "401": "error 401 invalid_api_key Who?",
    "quota": "error 429 insufficient_quota No money",
}


@pytest.mark.parametrize("fall", FALLS)
def test_another_target_takes_over_before_the_first_byte(two, client, fall):
    server, first, second = two(f"--- answer\n{FALLS[fall]}\n", "chat", "responses", "retries = 0")
    for stream in (False, True):
        answer = ask(server, client, stream)
        assert answer.status_code == 200 and "from the second" in answer.text
    assert [body["model"] for body in second.bodies()] == ["else", "else"]
    assert 1 <= len(first.requests()) <= 2


def test_an_upstream_that_is_not_there_is_passed_over(serve, mock, client):
    class Nobody:
        base_url = "http://127.0.0.1:9"

    second = mock("--- answer\ntext from the second\n")
    server = serve(provider("one", Nobody, "chat") + provider("other", second, "chat") + model("*", "one", "other"))
    assert "from the second" in ask(server, client).text


def test_nobody_at_all_is_a_502(serve, client):
    class Nobody:
        base_url = "http://127.0.0.1:9"

    server = serve(provider("one", Nobody, "chat", "retries = 0") + model("*", "one"))
    answer = ask(server, client)
    assert answer.status_code in (502, 503) and error_of(answer)["type"] == "server_error"
    assert "127.0.0.1" not in answer.text


def test_a_connection_that_closes_before_the_head_is_passed_over(serve, mock, client):
    first, second = Tape(b""), mock("--- answer\ntext from the second\n")
    server = serve(provider("one", first, "chat") + provider("other", second, "chat") + model("*", "one", "other"))
    for stream in (False, True):
        assert "from the second" in ask(server, client, stream).text
    assert len(second.requests()) == 2
    first.close()


def test_a_connection_that_closes_after_the_head_of_a_whole_answer_is_passed_over(two):
    server, first, second = two("--- answer\ntext Hello\nclose after 0\n", extra="retries = 0")
    assert "from the second" in ask(server, "responses").text
    assert (len(first.requests()), len(second.requests())) == (1, 1)


@pytest.mark.parametrize("fault", ["400 bad_request Wrong", "413 too_large Less"])
def test_what_any_target_would_refuse_is_not_tried_elsewhere(two, client, fault):
    server, first, second = two(f"--- answer\nerror {fault}\n")
    assert ask(server, client).status_code == int(fault[:3])
    assert (len(first.requests()), len(second.requests())) == (1, 0)


def test_after_the_first_byte_nothing_is_tried_again(two, client):
    server, first, second = two("--- answer\ntext Hel\nwait 20ms\nreset\n")
    with contextlib.suppress(Exception):
        ask(server, client, stream=True)
    assert (len(first.requests()), len(second.requests())) == (1, 0)


def test_a_target_that_fails_is_tried_as_often_as_configured(gateway, client, dialect):
    config = "\n[limits]\nretries = 1\n"
    server, upstream = gateway("--- answer\nerror 500 oops It broke\n", dialect, config)
    assert ask(server, client).status_code == 502
    assert len(upstream.requests()) == 2


def test_a_target_that_keeps_failing_is_left_alone_for_a_while(two):
    server, first, second = two("--- answer\nerror 500 oops It broke\n", extra="retries = 0")
    for _ in range(9):
        assert ask(server, "chat").status_code == 200
    assert len(first.requests()) == 5 and len(second.requests()) == 9


def test_an_upstream_that_does_not_begin_in_time_is_a_504(gateway, client, dialect):
    config = '\n[limits]\nretries = 0\nfirst_byte = "200ms"\n'
    server, _ = gateway("--- answer\nwait 5s\ntext late\n", dialect, config)
    started = time.monotonic()
    answer = ask(server, client)
    assert answer.status_code == 504 and error_of(answer)
    assert time.monotonic() - started < 3


def test_an_upstream_that_falls_silent_ends_the_stream(gateway, dialect):
    server, _ = gateway("--- answer\ntext Hel\nhang\n", dialect, '\n[limits]\nidle = "300ms"\n')
    started = time.monotonic()
    text = ask(server, "responses", stream=True).text
    assert "response.failed" in text and time.monotonic() - started < 5


COMPRESSED = ["gzip", "br", "zstd"]


@pytest.mark.parametrize("coding", COMPRESSED)
def test_compressed_answers_are_read(gateway, client, dialect, coding):
    server, _ = gateway(f"--- answer\n{coding}\ntext Hello\ntext \" wörld\"\n", dialect)
    assert "Hello wörld" in ask(server, client).text
    assert "wörld" in ask(server, client, stream=True).text


def test_a_decompression_bomb_of_an_upstream_is_stopped(gateway, dialect):
    other = "responses" if dialect == "chat" else "chat"
    config = '\n[limits]\nretries = 0\nmax_answer_bytes = "4MiB"\n'
    server, _ = gateway("--- answer\ngzip\nrepeat 20000 text " + "a" * 2000 + "\n", dialect, config)
    before = server.peak_memory()
    answer = ask(server, other)
    assert answer.status_code == 502
    assert server.peak_memory() - before < 40 << 20
