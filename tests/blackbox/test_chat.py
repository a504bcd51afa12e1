"""The official Python client on /v1/chat/completions, over either kind of upstream."""

import asyncio

import pydantic
import pytest

GREETING = """
--- answer
text   Hello,
text   " wörld 👋"
usage  input=12 cached=4 output=7 reasoning=2
"""
WHOLE = "Hello, wörld 👋"
HI = [{"role": "user", "content": "hi"}]


def test_create(gateway, dialect):
    server, upstream = gateway(GREETING, dialect)
    with server.openai() as client:
        made = client.chat.completions.create(model="m-1", messages=HI)
    (choice,) = made.choices
    assert (choice.message.content, choice.finish_reason, choice.index) == (WHOLE, "stop", 0)
    assert (made.object, made.model) == ("chat.completion", "m-1")
    assert made.id.startswith("chatcmpl-") and made._request_id.startswith("req_")
    usage = made.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (12, 7, 19)
    assert usage.prompt_tokens_details.cached_tokens == 4
    assert usage.completion_tokens_details.reasoning_tokens == 2
    assert upstream.bodies()[0]["model"] == "m-1"


def test_stream(gateway, dialect):
    server, _ = gateway(GREETING, dialect)
    with server.openai() as client:
        chunks = list(
            client.chat.completions.create(
                model="m", messages=HI, stream=True, stream_options={"include_usage": True}
            )
        )
    assert len({chunk.id for chunk in chunks}) == 1 and len({chunk.created for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].delta.role for chunk in chunks[1:] if chunk.choices] == [None] * (len(chunks) - 2)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == WHOLE
    ends = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert ends[-1] == "stop" and set(ends[:-1]) == {None}
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens == 19
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_usage_is_streamed_only_when_asked_for(gateway, dialect):
    server, _ = gateway(GREETING, dialect)
    with server.openai() as client:
        chunks = list(client.chat.completions.create(model="m", messages=HI, stream=True))
    assert all(chunk.choices for chunk in chunks) and all(chunk.usage is None for chunk in chunks)


def test_the_asynchronous_client(gateway, dialect):
    server, _ = gateway(GREETING, dialect)

    async def calls():
        async with server.async_openai() as client:
            whole = client.chat.completions.create(model="m", messages=HI)
            stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
            return (await whole).choices[0].message.content, text

    assert asyncio.run(calls()) == (WHOLE, WHOLE)


class Place(pydantic.BaseModel):
    """What the model is asked to fill in."""

    city: str
    people: int


def test_parse_and_the_stream_helper(gateway, dialect):
    server, upstream = gateway('--- answer\ntext {"city":\ntext "\\"Paris\\",\\"people\\":2}"\n', dialect)
    with server.openai() as client:
        made = client.chat.completions.parse(model="m", messages=HI, response_format=Place)
        with client.chat.completions.stream(model="m", messages=HI, response_format=Place) as stream:
            kinds = {event.type for event in stream}
            final = stream.get_final_completion()
    expected = Place(city="Paris", people=2)
    assert made.choices[0].message.parsed == expected == final.choices[0].message.parsed
    assert {"content.delta", "content.done"} <= kinds
    body = upstream.bodies()[0]
    sent = body["response_format"]["json_schema"] if dialect == "chat" else body["text"]["format"]
    assert (sent["name"], sent["strict"]) == ("Place", True)


def test_a_refusal_is_a_refusal(gateway, dialect):
    server, _ = gateway("--- answer\nrefuse I will not.\n", dialect)
    with server.openai() as client:
        made = client.chat.completions.create(model="m", messages=HI)
        chunks = list(client.chat.completions.create(model="m", messages=HI, stream=True))
    assert made.choices[0].message.refusal == "I will not."
    assert made.choices[0].finish_reason == "stop"
    assert "".join(chunk.choices[0].delta.refusal or "" for chunk in chunks) == "I will not."


def test_log_probabilities(gateway, dialect):
    server, _ = gateway('--- answer\ntoken -0.1 "Hi" -2.5 "Ho"\ntoken -0.2 " é"\n', dialect)
    wanted = {"logprobs": True, "top_logprobs": 2}
    with server.openai() as client:
        made = client.chat.completions.create(model="m", messages=HI, **wanted)
        chunks = list(client.chat.completions.create(model="m", messages=HI, stream=True, **wanted))
    first, second = made.choices[0].logprobs.content
    assert (first.token, first.logprob, second.token) == ("Hi", -0.1, " é")
    assert bytes(second.bytes).decode() == " é"
    assert ("Ho", -2.5) in [(other.token, other.logprob) for other in first.top_logprobs]
    streamed = [one.token for chunk in chunks if (found := chunk.choices[0].logprobs) for one in found.content or []]
    assert streamed == ["Hi", " é"]


def test_several_answers(gateway):
    server, upstream = gateway("--- answer\ntext One\nchoice 1\ntext Two\n", "chat")
    with server.openai() as client:
        made = client.chat.completions.create(model="m", messages=HI, n=2)
        texts = ["", ""]
        for chunk in client.chat.completions.create(model="m", messages=HI, n=2, stream=True):
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
    assert [choice.message.content for choice in made.choices] == ["One", "Two"] == texts
    assert upstream.bodies()[0]["n"] == 2


STOP = '--- answer\ntext One, tw\ntext "o, thr"\ntext ee, four\nusage input=3 output=9\n'


@pytest.mark.parametrize("stop", ["two", ["nowhere", "two"], ["two, t", "thr"]], ids=str)
def test_stop_strings_hold_over_an_upstream_that_has_none(gateway, stop):
    server, upstream = gateway(STOP, "responses")
    with server.openai() as client:
        made = client.chat.completions.create(model="m", messages=HI, stop=stop)
        chunks = list(client.chat.completions.create(model="m", messages=HI, stop=stop, stream=True))
    assert (made.choices[0].message.content, made.choices[0].finish_reason) == ("One, ", "stop")
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "One, "
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert all("stop" not in body for body in upstream.bodies())


def test_a_stop_string_that_only_begins_is_text(gateway):
    server, _ = gateway("--- answer\ntext One, tw\n", "responses")
    with server.openai() as client:
        made = client.chat.completions.create(model="m", messages=HI, stop="two")
        chunks = list(client.chat.completions.create(model="m", messages=HI, stop="two", stream=True))
    assert made.choices[0].message.content == "One, tw"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "One, tw"


def test_stop_strings_pass_to_an_upstream_that_has_them(gateway):
    server, upstream = gateway(GREETING, "chat")
    with server.openai() as client:
        client.chat.completions.create(model="m", messages=HI, stop=["two"])
    assert upstream.bodies()[0]["stop"] == ["two"]


def test_images_reach_the_upstream(gateway, dialect):
    server, upstream = gateway("--- answer\ntext A cat.\n", dialect)
    data = "data:image/png;base64,iVBORw0KGgo="
    content = [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": data, "detail": "low"}}]
    with server.openai() as client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": content}])
    body = upstream.bodies()[0]
    if dialect == "chat":
        assert body["messages"][0]["content"] == content
    else:
        image = body["input"][0]["content"][1]
        assert (image["type"], image["image_url"], image["detail"]) == ("input_image", data, "low")


def test_reasoning_is_shown_beside_the_answer(gateway, dialect):
    server, _ = gateway("--- answer\nthink First I think.\ntext Done.\n", dialect)
    with server.openai() as client:
        message = client.chat.completions.create(model="m", messages=HI).choices[0].message
        chunks = list(client.chat.completions.create(model="m", messages=HI, stream=True))
    assert message.content == "Done."
    assert message.reasoning_content == "First I think."
    thoughts = [getattr(chunk.choices[0].delta, "reasoning_content", None) or "" for chunk in chunks]
    assert "".join(thoughts) == "First I think."


def test_length_and_filter_have_their_finish_reasons(gateway, dialect):
    server, _ = gateway(
        '--- answer when "long"\ntext Once\nfinish length\n\n--- answer when "bad"\ntext No\nfinish filter\n', dialect
    )
    reasons = {}
    with server.openai() as client:
        for word in ("long", "bad"):
            made = client.chat.completions.create(model="m", messages=[{"role": "user", "content": word}])
            reasons[word] = made.choices[0].finish_reason
    assert reasons == {"long": "length", "bad": "content_filter"}


def test_the_models_are_listed(gateway):
    server, _ = gateway("models alpha beta\n" + GREETING, "chat", '[[models]]\nname = "fixed"\n'
                        'targets = [{ provider = "up", model = "alpha" }]\n')
    with server.openai() as client:
        names = [model.id for model in client.models.list()]
        one = client.models.retrieve("fixed")
    assert "fixed" in names
    assert (one.id, one.object) == ("fixed", "model")
