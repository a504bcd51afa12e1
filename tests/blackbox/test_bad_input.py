"""Requests that are wrong: refused in the caller's dialect, the field named, nothing sent upstream."""

import gzip
import json

import pytest
from configs import one_upstream
from harness import free_port

HI = [{"role": "user", "content": "hi"}]
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
GOOD = {"chat": {"model": "m", "messages": HI}, "responses": {"model": "m", "input": "hi"}}
JSON = {"content-type": "application/json"}
# The client's dialect, and an upstream of the other one: the request must be understood.
ROADS = {"chat": "responses", "responses": "chat"}


@pytest.fixture(scope="module")
def servers(module_starter):
    """client dialect -> (server, its upstream)."""
    return {client: module_starter.gateway("--- answer\ntext ok\n", upstream) for client, upstream in ROADS.items()}


@pytest.fixture(scope="module")
def http(servers):
    """client dialect -> HTTP client."""
    clients = {client: server.http() for client, (server, _) in servers.items()}
    yield clients
    for client in clients.values():
        client.close()


@pytest.fixture(params=["chat", "responses"])
def client(request) -> str:
    """Each client dialect in turn."""
    return request.param


def refused(answer, status: int = 400) -> dict:
    """The error, which has the shape of the OpenAI dialects."""
    assert answer.status_code == status, answer.text
    assert answer.headers["x-request-id"].startswith("req_")
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error" and error["message"]
    return error


def untouched(servers, client: str, before: int) -> bool:
    return len(servers[client][1].requests()) == before


DEEP = 100_000
TEXTS = {
    "nothing": b"",
    "no JSON": b"hello",
    "a list": b'[{"model":"m"}]',
    "a string": b'"m"',
    "cut": b'{"model":"m","input":"hi","messages":[',
    "two values": b'{"model":"m"} {"model":"m"}',
    "a comma too many": b'{"model":"m","input":"hi",}',
    "a comment": b'{"model":"m"/* */,"input":"hi"}',
    "single quotes": b"{'model':'m'}",
    "a lone surrogate": b'{"model":"m","input":"\\ud800","messages":[{"role":"user","content":"\\ud800"}]}',
    "an unknown escape": b'{"model":"m","input":"\\x41","messages":[{"role":"user","content":"\\x41"}]}',
    "a raw control character": b'{"model":"m","input":"a\x01b"}',
    "a leading zero": b'{"model":"m","temperature":01}',
    "not a number": b'{"model":"m","temperature":NaN}',
    "a byte order mark": b'\xef\xbb\xbf{"model":"m"}',
    "invalid UTF-8": b'{"model":"m","input":"\xff\xfe","messages":[{"role":"user","content":"\xff"}]}',
    "an overlong form": b'{"model":"m","input":"\xc0\xaf"}',
    "UTF-16": '{"model":"m","input":"hi"}'.encode("utf-16"),
    "a surrogate in UTF-8": b'{"model":"m","input":"\xed\xa0\x80"}',
    "a NUL": b'{"model":"m\x00"}',
    "duplicate keys": b'{"model":"m","model":"n","input":"hi","messages":[{"role":"user","content":"hi"}]}',
    "duplicate keys, one escaped": b'{"model":"m","mod\\u0065l":"n","input":"hi"}',
    "deep lists": b'{"model":"m","input":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"model":"m","input":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
    "deep and cut": b'{"model":"m","messages":' + b"[" * DEEP,
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_no_request(servers, http, client, text):
    before = len(servers[client][1].requests())
    refused(http[client].post(PATHS[client], content=TEXTS[text], headers=JSON))
    assert untouched(servers, client, before)


def chat(**fields) -> dict:
    return {**GOOD["chat"], **fields}


def said(content, role: str = "user", **fields) -> dict:
    return chat(messages=[{"role": role, "content": content, **fields}])


def tool(**function) -> dict:
    return chat(tools=[{"type": "function", "function": {"name": "f", **function}}])


# request -> the field that the error names (its beginning)
CHAT = {
    "no model": ({"messages": HI}, "model"),
    "an empty model": (chat(model=""), "model"),
    "a model that is a number": (chat(model=5), "model"),
    "no messages": ({"model": "m"}, "messages"),
    "messages null": (chat(messages=None), "messages"),
    "messages text": (chat(messages="hi"), "messages"),
    "no message": (chat(messages=[]), "messages"),
    "a message that is text": (chat(messages=["hi"]), "messages[0]"),
    "a message without role": (chat(messages=[{"content": "hi"}]), "messages[0].role"),
    "an unknown role": (said("hi", "wizard"), "messages[0].role"),
    "a role that is a number": (said("hi", 1), "messages[0].role"),
    "content of a number": (said(7), "messages[0].content"),
    "content of an object": (said({"type": "text"}), "messages[0].content"),
    "a part that is text": (said(["hi"]), "messages[0].content[0]"),
    "a part without type": (said([{"text": "hi"}]), "messages[0].content[0]"),
    "an unknown part": (said([{"type": "hologram"}]), "messages[0].content[0]"),
    "a text part without text": (said([{"type": "text"}]), "messages[0].content[0]"),
    "an image without address": (said([{"type": "image_url"}]), "messages[0].content[0]"),
    "an image's address that is a number": (said([{"type": "image_url", "image_url": {"url": 1}}]), "messages[0].content[0]"),
    "an image from a file": (said([{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]), "messages[0].content[0]"),
    "an image of no scheme": (said([{"type": "image_url", "image_url": {"url": "cat.png"}}]), "messages[0].content[0]"),
    "an image of bad base64": (said([{"type": "image_url", "image_url": {"url": "data:image/png;base64,@@@"}}]), "messages[0].content[0]"),
    "an image of another detail": (said([{"type": "image_url", "image_url": {"url": "https://x.example/a", "detail": "ultra"}}]), "messages[0].content[0]"),
    "a tool message without call": (said("hi", "tool"), "messages[0].tool_call_id"),
    "a call without function": (said(None, "assistant", tool_calls=[{"id": "c", "type": "function"}]), "messages[0].tool_calls[0]"),
    "calls that are text": (said(None, "assistant", tool_calls="x"), "messages[0].tool_calls"),
    "tools that are text": (chat(tools="x"), "tools"),
    "a tool of an unknown type": (chat(tools=[{"type": "magic"}]), "tools[0].type"),
    "a tool without name": (chat(tools=[{"type": "function", "function": {}}]), "tools[0].function.name"),
    "a tool with a bad name": (tool(name="a b"), "tools[0].function.name"),
    "a tool with a long name": (tool(name="a" * 300), "tools[0].function.name"),
    "a schema that is text": (tool(parameters="x"), "tools[0].function.parameters"),
    "a choice of a tool that is not there": (chat(tool_choice={"type": "function", "function": {"name": "g"}}), "tool_choice"),
    "an unknown choice": (chat(tool_choice="perhaps"), "tool_choice"),
    "a hot temperature": (chat(temperature=3), "temperature"),
    "a temperature that is text": (chat(temperature="warm"), "temperature"),
    "top_p of 2": (chat(top_p=2), "top_p"),
    "n of 0": (chat(n=0), "n"),
    "n of 1000": (chat(n=1000), "n"),
    "a fraction of n": (chat(n=1.5), "n"),
    "a limit below 0": (chat(max_completion_tokens=-1), "max_completion_tokens"),
    "a huge limit": (chat(max_completion_tokens=10**30), "max_completion_tokens"),
    "five stop strings": (chat(stop=list("abcde")), "stop"),
    "a stop that is a number": (chat(stop=5), "stop"),
    "stream that is text": (chat(stream="yes"), "stream"),
    "options without a stream": (chat(stream_options={"include_usage": True}), "stream_options"),
    "top_logprobs of 50": (chat(logprobs=True, top_logprobs=50), "top_logprobs"),
    "an unknown format": (chat(response_format={"type": "xml"}), "response_format"),
    "a format without schema": (chat(response_format={"type": "json_schema"}), "response_format"),
    "an unknown effort": (chat(reasoning_effort="heroic"), "reasoning_effort"),
    "metadata that is a list": (chat(metadata=[]), "metadata"),
    "metadata with a number": (chat(metadata={"a": 1}), "metadata"),
    "17 pairs of metadata": (chat(metadata={str(n): "x" for n in range(17)}), "metadata"),
}


def responses(**fields) -> dict:
    return {**GOOD["responses"], **fields}


def given(*items) -> dict:
    return responses(input=list(items))


def part(**fields) -> dict:
    return given({"role": "user", "content": [fields]})


RESPONSES = {
    "no model": ({"input": "hi"}, "model"),
    "a model that is a list": (responses(model=["m"]), "model"),
    "no input": ({"model": "m"}, "input"),
    "input that is a number": (responses(input=5), "input"),
    "input that is an object": (responses(input={"role": "user"}), "input"),
    "an item that is text": (given("hi"), "input[0]"),
    "an item without role": (given({"content": "hi"}), "input[0]"),
    "an unknown role": (given({"role": "wizard", "content": "hi"}), "input[0].role"),
    "an unknown item": (given({"type": "dream"}), "input[0].type"),
    "the second item": (given({"role": "user", "content": "hi"}, {"role": "user"}), "input[1].content"),
    "content of a number": (given({"role": "user", "content": 7}), "input[0].content"),
    "an unknown part": (part(type="hologram"), "input[0].content[0]"),
    "a text part without text": (part(type="input_text"), "input[0].content[0]"),
    "an image from a file": (part(type="input_image", image_url="file:///etc/passwd"), "input[0].content[0]"),
    "an image of bad base64": (part(type="input_image", image_url="data:image/png;base64,@@@"), "input[0].content[0]"),
    "an image without source": (part(type="input_image", detail="auto"), "input[0].content[0]"),
    "an image whose address is an object": (part(type="input_image", image_url={"url": "https://x.example/a"}), "input[0].content[0]"),
    "a call without name": (given({"type": "function_call", "call_id": "c", "arguments": "{}"}), "input[0].name"),
    "a call with an object": (given({"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}), "input[0].arguments"),
    "a result without call": (given({"type": "function_call_output", "output": "x"}), "input[0].call_id"),
    "a reference to nothing": (given({"type": "item_reference", "id": "msg_nowhere"}), "input[0].id"),
    "tools that are an object": (responses(tools={}), "tools"),
    "a tool of an unknown type": (responses(tools=[{"type": "magic"}]), "tools[0].type"),
    "a tool without name": (responses(tools=[{"type": "function", "parameters": {}}]), "tools[0].name"),
    "a tool with a bad name": (responses(tools=[{"type": "function", "name": "a b", "parameters": {}}]), "tools[0].name"),
    "an unknown choice": (responses(tool_choice="perhaps"), "tool_choice"),
    "a hot temperature": (responses(temperature=3), "temperature"),
    "a limit below 16": (responses(max_output_tokens=0), "max_output_tokens"),
    "store that is text": (responses(store="no"), "store"),
    "stream that is a number": (responses(stream=1), "stream"),
    "an unknown include": (responses(include=["everything"]), "include"),
    "an unknown truncation": (responses(truncation="never"), "truncation"),
    "an unknown format": (responses(text={"format": {"type": "xml"}}), "text.format"),
    "a format without name": (responses(text={"format": {"type": "json_schema", "schema": {}}}), "text.format"),
    "an unknown effort": (responses(reasoning={"effort": "heroic"}), "reasoning.effort"),
    "a parent that is a number": (responses(previous_response_id=5), "previous_response_id"),
    "a parent of another shape": (responses(previous_response_id="'; drop table"), "previous_response_id"),
    "metadata with a long key": (responses(metadata={"k" * 65: "x"}), "metadata"),
    "metadata with a long value": (responses(metadata={"k": "x" * 513}), "metadata"),
    "instructions that are a number": (responses(instructions=5), "instructions"),
}

TABLE = [("chat", name) for name in CHAT] + [("responses", name) for name in RESPONSES]


@pytest.mark.parametrize(("spoken", "name"), TABLE, ids=lambda value: value)
def test_what_is_wrong_in_a_request(servers, http, spoken, name):
    request, field = {"chat": CHAT, "responses": RESPONSES}[spoken][name]
    before = len(servers[spoken][1].requests())
    error = refused(http[spoken].post(PATHS[spoken], json=request))
    assert (error["param"] or "").startswith(field), error
    assert untouched(servers, spoken, before)


def test_an_error_of_a_streamed_request_comes_before_the_stream(http, client):
    field = "messages" if client == "chat" else "input"
    error = refused(http[client].post(PATHS[client], json={**GOOD[client], field: 5, "stream": True}))
    assert error["param"] == field


def test_ten_thousand_tools(servers, http, client):
    server, upstream = servers[client]
    made = [{"name": f"tool_{n}", "description": "d" * 100, "parameters": {"type": "object"}} for n in range(10_000)]
    tools = [{"type": "function", "function": one} if client == "chat" else {"type": "function", **one} for one in made]
    before, seen = server.peak_memory(), len(upstream.requests())
    error = refused(http[client].post(PATHS[client], json={**GOOD[client], "tools": tools}))
    assert error["param"].startswith("tools")
    assert server.peak_memory() - before < 64 << 20
    assert untouched(servers, client, seen)


def test_a_body_that_is_too_large_is_not_read(starter, client):
    upstream = starter.mock("--- answer\ntext ok\n", "chat")
    listen = "[server]\nlisten = \"{}\"\nadmin_listen = \"\"\nmax_body_bytes = \"1MiB\"\n"
    server = starter.serve(listen.format(f"127.0.0.1:{free_port()}") + one_upstream(upstream, "chat"))
    large = json.dumps({**GOOD[client], "long": "x" * (2 << 20)}).encode()
    before = server.peak_memory()
    with server.http() as http:
        refused(http.post(PATHS[client], content=large, headers=JSON), 413)
        # Without a length the size shows only as it comes.
        pieces = (b" " * (1 << 20) for _ in range(200))
        try:
            refused(http.post(PATHS[client], content=pieces, headers=JSON), 413)
        except OSError:
            pass
        assert http.post(PATHS[client], json=GOOD[client]).status_code == 200
    assert server.peak_memory() - before < 16 << 20
    assert len(upstream.requests()) == 1


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_a_compressed_body_is_refused_unread(servers, http, client, coding):
    server, upstream = servers[client]
    bomb = gzip.compress(b" " * (64 << 20))
    before, seen = server.peak_memory(), len(upstream.requests())
    headers = {**JSON, "content-encoding": coding}
    refused(http[client].post(PATHS[client], content=bomb, headers=headers), 415)
    assert server.peak_memory() - before < 8 << 20
    assert untouched(servers, client, seen)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_another_kind_of_body(servers, http, client, kind):
    headers = {"content-type": kind} if kind else {}
    before = len(servers[client][1].requests())
    refused(http[client].post(PATHS[client], content=json.dumps(GOOD[client]).encode(), headers=headers), 415)
    assert untouched(servers, client, before)


def test_within_one_dialect_only_the_scan_speaks(module_starter, client):
    """What passes is scanned once; its meaning is the upstream's to judge."""
    server, upstream = module_starter.gateway("--- answer\nerror 400 theirs Their words\n", client)
    with server.http() as http:
        for text in ("no JSON", "deep lists", "invalid UTF-8", "duplicate keys"):
            refused(http.post(PATHS[client], content=TEXTS[text], headers=JSON))
        assert upstream.requests() == []
        wrong = {**GOOD[client], "temperature": "warm", **({"store": False} if client == "responses" else {})}
        assert refused(http.post(PATHS[client], json=wrong))["message"] == "Their words"
    assert upstream.bodies()[0]["temperature"] == "warm"


def test_after_all_this_the_servers_answer(servers, http, client):
    assert http[client].post(PATHS[client], json=GOOD[client]).status_code == 200
    assert "panic" not in servers[client][0].log
