"""The official OpenAI client on /v1/completions, over every kind of upstream, and chat clients over a completion server."""

import asyncio

import openai
import pytest

from configs import model, provider

GREETING = """
--- answer
text   " time,"
text   " there wäs 👋"
usage  input=12 output=7
"""
WHOLE = " time, there wäs 👋"
PROMPT = "Once upon a"


@pytest.fixture(params=["completions", "chat", "responses", "messages"])
def every_dialect(request) -> str:
    """Each upstream dialect in turn, a completion server's included."""
    return request.param


def said(body: dict) -> str:
    """The prompt in what an upstream was sent."""
    if "prompt" in body:
        return body["prompt"]
    item = body.get("messages", body.get("input"))[-1]
    content = item["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def limit(body: dict) -> int:
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    return next(body[name] for name in names if name in body)


def test_create(gateway, every_dialect):
    server, upstream = gateway(GREETING, every_dialect)
    with server.openai() as client:
        made = client.completions.create(model="m-1", prompt=PROMPT, max_tokens=9, temperature=0.5)
    assert made.object == "text_completion" and made.id.startswith("cmpl-")
    assert [(c.index, c.text, c.finish_reason, c.logprobs) for c in made.choices] == [(0, WHOLE, "stop", None)]
    assert (made.usage.prompt_tokens, made.usage.completion_tokens, made.usage.total_tokens) == (12, 7, 19)
    [sent] = upstream.bodies()
    assert (said(sent), limit(sent), sent["temperature"]) == (PROMPT, 9, 0.5)


def test_silence_about_the_limit_is_sixteen_where_it_is_translated(gateway, any_dialect):
    server, upstream = gateway(GREETING, any_dialect)
    with server.openai() as client:
        client.completions.create(model="m", prompt=PROMPT)
    assert limit(upstream.bodies()[0]) == 16


@pytest.mark.parametrize("counted", [False, True])
def test_stream(gateway, every_dialect, counted):
    server, upstream = gateway(GREETING, every_dialect)
    options = {"stream_options": {"include_usage": True}} if counted else {}
    with server.openai() as client:
        chunks = list(client.completions.create(model="m", prompt=PROMPT, stream=True, **options))
    assert {chunk.object for chunk in chunks} == {"text_completion"}
    assert len({chunk.id for chunk in chunks}) == 1
    pieces = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert "".join(piece.text for piece in pieces) == WHOLE
    assert [piece.finish_reason for piece in pieces if piece.finish_reason] == ["stop"]
    assert [chunk.usage.total_tokens for chunk in chunks if chunk.usage] == ([19] if counted else [])
    assert len(upstream.requests()) == 1


def test_the_stream_as_bytes(gateway, every_dialect):
    server, _ = gateway(GREETING, every_dialect)
    with server.http() as http:
        answer = http.post("/v1/completions", json={"model": "m", "prompt": PROMPT, "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.count("data: [DONE]") == 1 and answer.text.endswith("data: [DONE]\n\n")
    assert "event:" not in answer.text


def test_async(gateway, every_dialect):
    server, upstream = gateway(GREETING, every_dialect)

    async def both():
        async with server.async_openai() as client:
            whole = await client.completions.create(model="m", prompt=PROMPT)
            stream = await client.completions.create(model="m", prompt=PROMPT, stream=True)
            return whole.choices[0].text, "".join([c.choices[0].text async for c in stream if c.choices])

    assert asyncio.run(both()) == (WHOLE, WHOLE)
    assert len(upstream.requests()) == 2


def test_everything_reaches_a_completion_server_as_it_was_written(gateway):
    server, upstream = gateway(GREETING, "completions")
    asked = {
        "prompt": [[1, 2], [3]], "suffix": "end", "echo": True, "n": 2, "best_of": 3, "logprobs": 5,
        "max_tokens": 0, "stop": ["\n"], "logit_bias": {"50256": -100}, "seed": 7, "user": "u",
    }
    with server.openai() as client:
        client.completions.create(model="m", **asked, extra_body={"repetition_penalty": 1.1})
    sent = upstream.bodies()[0]
    assert sent == {"model": "m", **asked, "repetition_penalty": 1.1}


TWO = """
--- answer
choice 0
text a
choice 1
text b
choice 0
text A
usage input=3 output=3
"""


@pytest.mark.parametrize("dialect", ["completions", "chat"])
def test_several_answers(gateway, dialect):
    server, _ = gateway(TWO, dialect)
    with server.openai() as client:
        made = client.completions.create(model="m", prompt=PROMPT, n=2)
        texts = {0: "", 1: ""}
        for chunk in client.completions.create(model="m", prompt=PROMPT, n=2, stream=True):
            for piece in chunk.choices:
                texts[piece.index] += piece.text
    assert [(choice.index, choice.text) for choice in made.choices] == [(0, "aA"), (1, "b")]
    assert texts == {0: "aA", 1: "b"}


TOKENS = """
--- answer
token -0.5 " hé" -1.5 " ho"
token -0.25 "!"
"""


@pytest.mark.parametrize("dialect", ["completions", "chat", "responses"])
@pytest.mark.parametrize("streamed", [False, True])
def test_log_probabilities(gateway, dialect, streamed):
    server, upstream = gateway(TOKENS, dialect)
    with server.openai() as client:
        made = client.completions.create(model="m", prompt=PROMPT, logprobs=2, stream=streamed)
        if streamed:
            shown = [chunk.choices[0].logprobs for chunk in made if chunk.choices and chunk.choices[0].logprobs]
        else:
            shown = [made.choices[0].logprobs]
    assert [token for one in shown for token in one.tokens] == [" hé", "!"]
    assert [told for one in shown for told in one.token_logprobs] == [-0.5, -0.25]
    assert [place for one in shown for place in one.text_offset] == [0, 3]
    assert shown[0].top_logprobs[0][" ho"] == -1.5
    assert len(upstream.requests()) == 1


PROMPTS = """
--- answer when "first one"
text A
usage input=10 output=1

--- answer when "second two"
text B
usage input=20 output=2
"""


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("each", [1, 2])
def test_several_prompts_are_calls_of_their_own_where_an_upstream_takes_one(gateway, any_dialect, each, streamed):
    script = PROMPTS
    if any_dialect == "chat" and each == 2:
        script = script.replace("text A", "choice 0\ntext A\nchoice 1\ntext A")
        script = script.replace("text B", "choice 0\ntext B\nchoice 1\ntext B")
    server, upstream = gateway(script, any_dialect)
    asked = {"model": "m", "prompt": ["first one", "second two"], "n": each}
    texts, usage = {}, None
    with server.openai() as client:
        if streamed:
            options = {"stream": True, "stream_options": {"include_usage": True}}
            for chunk in client.completions.create(**asked, **options):
                usage = chunk.usage or usage
                for piece in chunk.choices:
                    texts[piece.index] = texts.get(piece.index, "") + piece.text
        else:
            made = client.completions.create(**asked)
            texts, usage = {choice.index: choice.text for choice in made.choices}, made.usage
    assert texts == dict(enumerate(["A"] * each + ["B"] * each))
    assert usage.prompt_tokens == 30, "each prompt is read once"
    assert len(upstream.requests()) == (2 if any_dialect == "chat" else 2 * each)
    assert all(isinstance(said(body), str) for body in upstream.bodies())


def test_more_prompts_than_calls_are_allowed_are_refused(gateway, any_dialect):
    server, upstream = gateway(GREETING, any_dialect)
    with server.openai() as client, pytest.raises(openai.BadRequestError) as refused:
        client.completions.create(model="m", prompt=[PROMPT] * 9)
    assert refused.value.param == "prompt" and "at most 8" in refused.value.message
    assert upstream.requests() == []


REFUSED = {
    "suffix": {"suffix": "end"},
    "echo": {"echo": True},
    "best_of": {"best_of": 2},
    "prompt": {"prompt": [1, 2, 3]},
    "max_tokens": {"max_tokens": 0},
}


@pytest.mark.parametrize("field", REFUSED)
def test_what_only_a_completion_server_can_do_is_refused_by_name(gateway, any_dialect, field):
    server, upstream = gateway(GREETING, any_dialect)
    with server.openai() as client, pytest.raises(openai.BadRequestError) as refused:
        client.completions.create(**{"model": "m", "prompt": PROMPT, **REFUSED[field]})
    assert (refused.value.param, refused.value.code) == (field, "unsupported_parameter")
    assert "whose provider speaks Completions" in refused.value.message
    assert upstream.requests() == []


@pytest.mark.parametrize("field, value", [("prompt", ["a", 1]), ("n", 0), ("logprobs", 6), ("best_of", 21), ("echo", 1)])
def test_wrong_fields_are_named(gateway, any_dialect, field, value):
    server, upstream = gateway(GREETING, any_dialect)
    with server.openai() as client, pytest.raises(openai.BadRequestError) as refused:
        client.completions.create(**{"model": "m", "prompt": PROMPT, field: value})
    assert refused.value.param.startswith(field)
    assert upstream.requests() == []


def test_a_prompt_says_that_it_was_sent_as_a_message(gateway, any_dialect):
    server, _ = gateway(GREETING, any_dialect)
    with server.openai() as client:
        raw = client.completions.with_raw_response.create(model="m", prompt=PROMPT)
    with server.http() as http:
        losses = http.get(f"/trilith/requests/{raw.headers['x-request-id']}/losses").json()["losses"]
    assert {"path": "prompt", "disposition": "emulate"}.items() <= losses[0].items()
    assert raw.headers["x-request-id"].startswith("req_")


def test_errors_of_an_upstream_keep_their_class(gateway, every_dialect):
    server, _ = gateway("--- answer\nerror 429 rate_limit_exceeded slow down\n", every_dialect)
    with server.openai(max_retries=0) as client, pytest.raises(openai.RateLimitError):
        client.completions.create(model="m", prompt=PROMPT)


def test_an_error_in_a_stream_is_raised(gateway, every_dialect):
    server, _ = gateway("--- answer\ntext a\nwait 20ms\nfail server_error it broke\n", every_dialect)
    with server.openai() as client:
        stream = client.completions.create(model="m", prompt=PROMPT, stream=True)
        with pytest.raises(openai.APIError):
            for _ in stream:
                pass


def test_an_upstream_that_stops_without_a_reason_is_an_error(gateway, any_dialect):
    server, _ = gateway("--- answer\ntext a\nno-finish\nno-done\n", any_dialect)
    with server.openai() as client:
        stream = client.completions.create(model="m", prompt=PROMPT, stream=True)
        with pytest.raises(openai.APIError):
            for _ in stream:
                pass


def test_a_mixed_route_is_translated_for_the_target_that_answers(starter):
    script = "--- answer\nerror 503 overloaded busy\n"
    first, second = starter.mock(script, "chat"), starter.mock(GREETING, "completions")
    config = provider("a", first, "chat") + provider("b", second, "completions") + model("m", "a", "b")
    server = starter.serve(config)
    with server.openai() as client:
        made = client.completions.create(model="m", prompt=PROMPT, stop=["END"])
    assert made.choices[0].text == WHOLE
    assert second.bodies()[0] == {"model": "m", "prompt": PROMPT, "max_tokens": 16, "stop": ["END"]}


def test_a_lone_text_of_a_chat_client_is_continued(gateway):
    server, upstream = gateway(GREETING, "completions")
    with server.openai() as client:
        chat = client.chat.completions.create(model="m", messages=[{"role": "user", "content": PROMPT}])
        response = client.responses.create(model="m", input=PROMPT)
    with server.anthropic() as client:
        asked = [{"role": "user", "content": PROMPT}]
        message = client.messages.create(model="m", max_tokens=50, messages=asked)
    assert chat.choices[0].message.content == response.output_text == message.content[0].text == WHOLE
    assert [(body["prompt"], body["max_tokens"]) for body in upstream.bodies()] == [
        (PROMPT, 4096), (PROMPT, 4096), (PROMPT, 50),
    ]


def test_what_needs_a_chat_template_is_refused_by_name(gateway):
    server, upstream = gateway(GREETING, "completions")
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    user = {"role": "user", "content": "hi"}
    for fields, param in [
        ({"messages": [{"role": "system", "content": "s"}, user]}, "messages[0]"),
        ({"messages": [user, {"role": "assistant", "content": "a"}, user]}, "messages"),
        ({"messages": [user], "tools": [tool]}, "tools"),
        ({"messages": [user], "response_format": {"type": "json_object"}}, "response_format"),
    ]:
        with server.openai() as client, pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(model="m", **fields)
        assert refused.value.param == param
        assert "provider's dialect is `chat`" in refused.value.message
    assert upstream.requests() == []
