"""Answers without end: what is gathered of them, and what passing them on costs."""

import openai
import pytest
from configs import model, provider
from harness import Tape

LIMIT = '\n[limits]\nmax_answer_bytes = "64KiB"\n'
KINDS = {
    "text": "repeat 100000 text " + "x" * 1000,
    "reasoning": "repeat 100000 think " + "x" * 1000,
    "arguments": "open a look\nrepeat 100000 args a " + "x" * 1000,
}


def said(client, wire: str):
    """The events of a streamed answer, and the error that ended it."""
    events = []
    try:
        if wire == "chat":
            messages = [{"role": "user", "content": "hi"}]
            events.extend(client.chat.completions.create(model="m", messages=messages, stream=True))
        else:
            events.extend(client.responses.create(model="m", input="hi", stream=True))
    except openai.APIError as error:
        return events, error.message
    return events, events[-1].response.error.message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_a_streamed_answer_is_cut_off_at_the_limit(gateway, dialect, wire, kind):
    if dialect == wire == "chat":
        pytest.skip("these bytes pass, and nothing is gathered")
    server, upstream = gateway("--- answer\n" + KINDS[kind] + "\n", dialect, LIMIT)
    with server.openai() as client:
        events, error = said(client, wire)
    assert "65536 bytes" in error and "limits.max_answer_bytes" in error
    assert 0 < sum(len(event.model_dump_json()) for event in events) < 4 << 20
    upstream.wait_until(upstream.left, "notice that the call was cancelled")
    if wire == "responses":
        with server.openai() as client:
            kept = client.responses.retrieve(events[0].response.id)
        assert kept.status == "failed" and kept.error.message == error


def test_a_whole_answer_over_the_limit_names_it(gateway, dialect):
    server, _ = gateway("--- answer\n" + "text " + "x" * 100_000 + "\n", dialect, LIMIT + "retries = 0\n")
    with server.openai() as client, pytest.raises(openai.APIStatusError, match="limits.max_answer_bytes"):
        client.responses.create(model="m", input="hi")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_passes_is_passed_whole_in_little_memory(serve, stream):
    size = 200 << 20
    if stream:
        chunk = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"x" * (1 << 20) + b'"}}]}\n\n'
        body, kind = chunk * (size // len(chunk)), b"text/event-stream"
    else:
        body, kind = b'{"object":"chat.completion","choices":[],"pad":"' + b"x" * size + b'"}', b"application/json"
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (kind, len(body))
    tape = Tape(head + body)
    server = serve(provider("up", tape, "chat") + model("m", "up"))
    before, got = server.peak_memory(), 0
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": stream}
    with server.http() as http, http.stream("POST", "/v1/chat/completions", json=asked) as answer:
        for piece in answer.iter_raw():
            got += len(piece)
    tape.close()
    assert got == len(body)
    assert server.peak_memory() - before < 64 << 20
