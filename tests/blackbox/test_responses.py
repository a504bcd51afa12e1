"""The official Python client on /v1/responses, over either kind of upstream."""

import asyncio
import json

import pydantic

GREETING = """
--- answer
text   Hello,
text   " wörld 👋"
usage  input=12 cached=4 output=7 reasoning=2
"""
WHOLE = "Hello, wörld 👋"


def test_create(gateway, dialect):
    server, upstream = gateway(GREETING, dialect)
    with server.openai() as client:
        made = client.responses.create(model="m-1", input="hi", instructions="Be kind.", metadata={"a": "b"})
        assert made.output_text == WHOLE
        assert (made.status, made.model, made.error, made.incomplete_details) == ("completed", "m-1", None, None)
        assert made.instructions == "Be kind." and made.metadata == {"a": "b"} and made.store is True
        assert made.output[0].role == "assistant" and made.output[0].id.startswith("msg_")
        assert made._request_id.startswith("req_")
        kept = client.responses.retrieve(made.id)
    assert kept.to_dict() == made.to_dict()
    assert "Be kind." in json.dumps(upstream.bodies()[0])


def test_usage_keeps_its_details(gateway, dialect):
    server, _ = gateway(GREETING, dialect)
    with server.openai() as client:
        usage = client.responses.create(model="m", input="hi").usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (12, 7, 19)
    assert usage.input_tokens_details.cached_tokens == 4
    assert usage.input_tokens_details.cache_write_tokens == 0
    assert usage.output_tokens_details.reasoning_tokens == 2


def test_a_stream_is_numbered_begins_and_ends_once_and_equals_what_is_kept(gateway, dialect):
    server, _ = gateway(GREETING, dialect)
    with server.openai() as client:
        events = list(client.responses.create(model="m", input="hi", stream=True))
        kept = client.responses.retrieve(events[0].response.id)
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed" and kinds.count("response.completed") == 1
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[0].response.output == [] and events[0].response.usage is None
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == WHOLE and len(deltas) >= 2
    assert events[-1].response.to_dict() == kept.to_dict()


def test_the_stream_helper_accumulates_what_is_kept(gateway, dialect):
    server, _ = gateway(GREETING, dialect)
    with server.openai() as client:
        with client.responses.stream(model="m", input="hi") as stream:
            snapshots = [event.snapshot for event in stream if event.type == "response.output_text.delta"]
            final = stream.get_final_response()
        kept = client.responses.retrieve(final.id)
    assert snapshots[-1] == WHOLE == final.output_text == kept.output_text
    assert [item.id for item in final.output] == [item.id for item in kept.output]
    assert final.usage.to_dict() == kept.usage.to_dict()


def test_the_asynchronous_client(gateway, dialect):
    server, _ = gateway(GREETING, dialect)

    async def calls():
        async with server.async_openai() as client:
            whole = client.responses.create(model="m", input="hi")
            stream = await client.responses.create(model="m", input="hi", stream=True)
            text = "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])
            async with client.responses.stream(model="m", input="hi") as helper:
                final = await helper.get_final_response()
            return (await whole).output_text, text, final.output_text

    assert asyncio.run(calls()) == (WHOLE, WHOLE, WHOLE)


class Place(pydantic.BaseModel):
    """What the model is asked to fill in."""

    city: str
    people: int


PLACE = """
--- answer
text {"city":
text "\\"Paris\\",\\"people\\":2}"
"""


def schema_at(body: dict, dialect: str) -> dict:
    """Name, strictness and schema, wherever the dialect puts them."""
    return body["response_format"]["json_schema"] if dialect == "chat" else body["text"]["format"]


def test_parse_sends_the_schema_and_gives_an_object(gateway, dialect):
    server, upstream = gateway(PLACE, dialect)
    with server.openai() as client:
        made = client.responses.parse(model="m", input="where?", text_format=Place)
        with client.responses.stream(model="m", input="where?", text_format=Place) as stream:
            streamed = stream.get_final_response()
    assert made.output_parsed == Place(city="Paris", people=2) == streamed.output_parsed
    for body in upstream.bodies():
        sent = schema_at(body, dialect)
        assert sent["name"] == "Place" and sent["strict"] is True
        assert sent["schema"]["required"] == ["city", "people"]
        assert sent["schema"]["additionalProperties"] is False
    assert made.text.format.type == "json_schema" and made.text.format.name == "Place"


def test_json_mode(gateway, dialect):
    server, upstream = gateway(PLACE, dialect)
    with server.openai() as client:
        made = client.responses.create(model="m", input="as JSON", text={"format": {"type": "json_object"}})
    assert json.loads(made.output_text) == {"city": "Paris", "people": 2}
    body = upstream.bodies()[0]
    assert (body["response_format"] if dialect == "chat" else body["text"]["format"]) == {"type": "json_object"}


def test_a_refusal_is_a_refusal(gateway, dialect):
    server, _ = gateway("--- answer\nrefuse I will not.\n", dialect)
    with server.openai() as client:
        made = client.responses.create(model="m", input="bad")
        events = list(client.responses.create(model="m", input="bad", stream=True))
        parsed = client.responses.parse(model="m", input="bad", text_format=Place)
    assert made.status == "completed" and made.output_text == ""
    part = made.output[0].content[0]
    assert part.type == "refusal" and part.refusal == "I will not."
    assert "".join(event.delta for event in events if event.type == "response.refusal.delta") == "I will not."
    assert parsed.output_parsed is None


def test_log_probabilities(gateway, dialect):
    server, upstream = gateway('--- answer\ntoken -0.1 "Hi" -2.5 "Ho"\ntoken -0.2 " é"\n', dialect)
    wanted = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}
    with server.openai() as client:
        made = client.responses.create(model="m", input="hi", **wanted)
        events = list(client.responses.create(model="m", input="hi", stream=True, **wanted))
    assert made.output_text == "Hi é"
    first, second = made.output[0].content[0].logprobs
    assert (first.token, first.logprob) == ("Hi", -0.1) and (second.token, second.logprob) == (" é", -0.2)
    assert bytes(second.bytes).decode() == " é"
    assert ("Ho", -2.5) in [(other.token, other.logprob) for other in first.top_logprobs]
    streamed = [one for event in events if event.type == "response.output_text.delta" for one in event.logprobs]
    assert [one.token for one in streamed] == ["Hi", " é"]
    body = upstream.bodies()[0]
    assert body["top_logprobs"] == 2
    assert body["logprobs"] is True if dialect == "chat" else "message.output_text.logprobs" in body["include"]


def test_the_end_for_want_of_tokens_or_by_a_filter_is_incomplete(gateway, dialect):
    server, upstream = gateway(
        '--- answer when "long"\ntext Once\nfinish length\n\n--- answer when "bad"\ntext No\nfinish filter\n', dialect
    )
    with server.openai() as client:
        long = client.responses.create(model="m", input="long", max_output_tokens=16)
        bad = list(client.responses.create(model="m", input="bad", stream=True))[-1]
        kept = client.responses.retrieve(bad.response.id)
    assert (long.status, long.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert long.output_text == "Once"
    assert (bad.type, bad.response.incomplete_details.reason) == ("response.incomplete", "content_filter")
    assert kept.status == "incomplete"
    limits = {"chat": ("max_completion_tokens", "max_tokens"), "responses": ("max_output_tokens",)}[dialect]
    assert [upstream.bodies()[0][name] for name in limits if name in upstream.bodies()[0]] == [16]


def test_images_reach_the_upstream(gateway, dialect):
    server, upstream = gateway("--- answer\ntext A cat.\n", dialect)
    data = "data:image/png;base64,iVBORw0KGgo="
    content = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": data, "detail": "low"},
        {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "auto"},
    ]
    with server.openai() as client:
        client.responses.create(model="m", input=[{"role": "user", "content": content}])
    if dialect == "chat":
        parts = upstream.bodies()[0]["messages"][0]["content"]
        urls = [part["image_url"] for part in parts if part["type"] == "image_url"]
        assert urls[0] == {"url": data, "detail": "low"}
        assert urls[1]["url"] == "https://example.com/a.png"
    else:
        parts = upstream.bodies()[0]["input"][0]["content"]
        urls = [part["image_url"] for part in parts if part["type"] == "input_image"]
        assert urls == [data, "https://example.com/a.png"]
    assert parts[0]["text"] == "What is this?"


def test_parameters_have_the_upstreams_spelling(gateway, dialect):
    server, upstream = gateway(GREETING, dialect)
    with server.openai() as client:
        client.responses.create(
            model="m",
            input=[{"role": "developer", "content": "Short."}, {"role": "user", "content": "hi"}],
            temperature=0.3,
            top_p=0.9,
            reasoning={"effort": "high"},
            text={"verbosity": "low"},
            safety_identifier="s-1",
            prompt_cache_key="c-1",
        )
    body = upstream.bodies()[0]
    assert (body["temperature"], body["top_p"]) == (0.3, 0.9)
    assert (body["safety_identifier"], body["prompt_cache_key"]) == ("s-1", "c-1")
    if dialect == "chat":
        assert (body["reasoning_effort"], body["verbosity"]) == ("high", "low")
        assert [message["role"] for message in body["messages"]] == ["developer", "user"]
    else:
        assert (body["reasoning"]["effort"], body["text"]["verbosity"]) == ("high", "low")
        assert [item["role"] for item in body["input"]] == ["developer", "user"]


def test_citations_survive(gateway):
    server, _ = gateway("--- answer\ntext See the page.\ncite https://example.com/p 0-3 Page\n", "responses")
    with server.openai() as client:
        made = client.responses.create(model="m", input="hi")
        kept = client.responses.retrieve(made.id)
    (note,) = kept.output[0].content[0].annotations
    assert (note.type, note.url, note.title) == ("url_citation", "https://example.com/p", "Page")
