"""The official Anthropic client on /v1/messages, over every kind of upstream, and the OpenAI client over Messages."""

import json
import re

import anthropic
import pytest

from configs import model, provider

GREETING = """
--- answer
text   Hello,
text   " wörld 👋"
usage  input=12 cached=4 output=7
"""
WHOLE = "Hello, wörld 👋"
HI = [{"role": "user", "content": "hi"}]
ASK = {"model": "m-1", "max_tokens": 100, "messages": HI}

WEATHER = {
    "name": "get_weather",
    "description": "Weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
ONE_CALL = """
--- answer
text Let me look.
call get_weather id=call_a {"city": "Paris"}

--- answer
text It is sunny.
"""
TWO_CALLS = """
--- answer
open a get_weather id=call_a
open b get_weather id=call_b
args a {"city":
args b {"city":"Rome"}
args a "\\"Paris\\" }"

--- answer
text Sunny and warm.
"""


def test_create(gateway, any_dialect):
    server, upstream = gateway(GREETING, any_dialect)
    with server.anthropic() as client:
        made = client.messages.create(**ASK)
    assert (made.type, made.role, made.model, made.stop_reason) == ("message", "assistant", "m-1", "end_turn")
    assert "".join(block.text for block in made.content) == WHOLE
    assert made._request_id.startswith("req_")
    usage = made.usage
    assert usage.input_tokens + (usage.cache_read_input_tokens or 0) == 12
    assert (usage.cache_read_input_tokens, usage.output_tokens) == (4, 7)
    assert len(upstream.requests()) == 1


def test_stream(gateway, any_dialect):
    server, upstream = gateway(GREETING, any_dialect)
    with server.anthropic() as client, client.messages.stream(**ASK) as stream:
        events = [event.type for event in stream]
        made = stream.get_final_message()
    assert "".join(block.text for block in made.content) == WHOLE
    assert (made.stop_reason, made.usage.output_tokens) == ("end_turn", 7)
    assert made.usage.input_tokens + (made.usage.cache_read_input_tokens or 0) == 12
    wire = [name for name in events if name not in ("text", "ping")]
    assert wire[0] == "message_start" and wire[-1] == "message_stop"
    assert wire.count("message_start") == wire.count("message_stop") == 1
    assert wire.count("content_block_start") == wire.count("content_block_stop")
    assert len(upstream.requests()) == 1


@pytest.mark.parametrize("streamed", [False, True])
def test_a_tool_turn(gateway, any_dialect, streamed):
    server, upstream = gateway(ONE_CALL, any_dialect)
    with server.anthropic() as client:
        first = ask(client, streamed, messages=HI, tools=[WEATHER])
        assert [block.type for block in first.content] == ["text", "tool_use"]
        call = first.content[1]
        assert (call.name, call.input, first.stop_reason) == ("get_weather", {"city": "Paris"}, "tool_use")
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "sun"}
        history = [*HI, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        second = ask(client, streamed, messages=history, tools=[WEATHER])
    assert [block.text for block in second.content] == ["It is sunny."]
    sent = json.dumps(upstream.bodies()[1])
    assert sent.count('"sun"') == 1 and sent.count(call.id) == 2
    assert len(upstream.requests()) == 2


def test_interleaved_calls_are_shown_one_after_the_other(gateway, dialect):
    server, upstream = gateway(TWO_CALLS, dialect)
    with server.anthropic() as client:
        first = ask(client, True, messages=HI, tools=[WEATHER])
        assert [block.input for block in first.content] == [{"city": "Paris"}, {"city": "Rome"}]
        # Claude Code sends results in the order of their completion.
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": block.input["city"]}
            for block in reversed(first.content)
        ]
        history = [*HI, {"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
        ask(client, True, messages=history, tools=[WEATHER])
    assert len(upstream.requests()) == 2


def test_the_tool_runner(gateway, any_dialect):
    """It begins with a thread, and goes on without one when it is told that none is served."""

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Weather of a city."""
        return f"sun in {city}"

    server, upstream = gateway(ONE_CALL, any_dialect)
    with server.anthropic() as client:
        runner = client.beta.messages.tool_runner(model="m", max_tokens=100, messages=HI, tools=[get_weather])
        last = runner.until_done()
    assert last.content[0].text == "It is sunny."
    assert len(upstream.requests()) == 2
    assert "sun in Paris" in json.dumps(upstream.bodies()[1])


def test_reasoning_comes_back_to_where_it_was_made(gateway, any_dialect):
    script = "--- answer\nthink I think.\nsealed c2VhbGVk\ntext Done.\n"
    server, upstream = gateway(script, any_dialect)
    thinking = {"type": "enabled", "budget_tokens": 1024}
    with server.anthropic() as client:
        first = ask(client, True, messages=HI, max_tokens=2000, thinking=thinking)
        assert [block.type for block in first.content][-1] == "text"
        history = [*HI, {"role": "assistant", "content": first.content}, {"role": "user", "content": "on"}]
        ask(client, True, messages=history, max_tokens=2000, thinking=thinking)
    sent = json.dumps(upstream.bodies()[1])
    assert "tl1." not in sent
    assert any_dialect == "chat" or "c2VhbGVk" in sent


@pytest.mark.parametrize(
    "headers, status, kind",
    [
        ({}, 400, "invalid_request_error"),
        ({"anthropic-version": "1999-01-01"}, 400, "invalid_request_error"),
    ],
)
def test_the_version_header_is_needed(gateway, headers, status, kind):
    server, upstream = gateway(GREETING, "chat")
    with server.http() as http:
        answer = http.post("/v1/messages", json=ASK, headers=headers)
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
    assert answer.json()["type"] == "error" and answer.json()["request_id"] == answer.headers["request-id"]
    assert upstream.requests() == []


@pytest.mark.parametrize("field, value", [("temperature", 1.0), ("top_p", 0.9), ("top_k", 5)])
def test_the_newest_version_takes_no_sampling(gateway, field, value):
    server, upstream = gateway(GREETING, "chat")
    with server.http() as http:
        for version, status in [("2023-06-01", 200), ("2026-10-21", 400)]:
            headers = {"anthropic-version": version, "x-api-key": "any"}
            answer = http.post("/v1/messages", json={**ASK, field: value}, headers=headers)
            assert answer.status_code == status, answer.text
    assert field in answer.json()["error"]["message"]
    assert len(upstream.requests()) == 1


@pytest.mark.parametrize(
    "broken",
    [
        {"messages": []},
        {"messages": [{"role": "alien", "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "hologram"}]}]},
        {"max_tokens": "many"},
        {"max_tokens": None},
        {"tools": [{"type": "teleport_20990101", "name": "t"}]},
    ],
)
def test_bad_input_is_named(gateway, broken):
    server, upstream = gateway(GREETING, "chat")
    with server.anthropic() as client, pytest.raises(anthropic.BadRequestError) as raised:
        client.messages.create(**{**ASK, **broken})
    assert next(iter(broken)) in str(raised.value)
    assert upstream.requests() == []


@pytest.mark.parametrize(
    "upstream_says, seen",
    [
        ("429 rate_limit_exceeded slow down", anthropic.RateLimitError),
        ("500 server_error broken", anthropic.InternalServerError),
        ("400 invalid_request_error no", anthropic.BadRequestError),
        ("404 model_not_found no such model", anthropic.NotFoundError),
        ("401 invalid_api_key wrong key", anthropic.InternalServerError),
    ],
)
def test_upstream_errors(gateway, any_dialect, upstream_says, seen):
    if any_dialect == "messages":
        upstream_says = upstream_says.replace("rate_limit_exceeded", "rate_limit_error")
    server, _ = gateway(f"--- answer\nerror {upstream_says}\n", any_dialect)
    with server.anthropic() as client, pytest.raises(seen):
        client.messages.create(**ASK)


def test_chat_and_responses_clients_over_messages(gateway):
    server, upstream = gateway(GREETING, "messages")
    with server.openai() as client:
        made = client.chat.completions.create(model="m", messages=HI)
        assert made.choices[0].message.content == WHOLE
        assert (made.usage.prompt_tokens, made.usage.prompt_tokens_details.cached_tokens) == (12, 4)
        chunks = client.chat.completions.create(model="m", messages=HI, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == WHOLE
        first = client.responses.create(model="m", input="hi", instructions="Be brief.")
        second = client.responses.create(model="m", input="more", previous_response_id=first.id)
    assert (first.output_text, second.output_text) == (WHOLE, WHOLE)
    third, last = upstream.bodies()[2:]
    assert json.dumps(third["system"]).count("Be brief.") == 1 and third["max_tokens"] > 0
    assert [message["role"] for message in last["messages"]] == ["user", "assistant", "user"]
    sent = upstream.requests()[-1]["headers"]
    assert sent["anthropic-version"] == "2023-06-01" and sent["x-api-key"] == "upstream-secret"
    assert "authorization" not in sent


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/", "/v1/%6Dessages", "/v1/%6Dessages/unknown"])
def test_the_request_id_has_its_name_however_the_path_is_spelled(gateway, path):
    server, _ = gateway(GREETING, "chat")
    with server.http() as http:
        answer = http.post(path, json=ASK)
    assert answer.status_code in (400, 404)
    assert answer.headers["request-id"] == answer.json()["request_id"] == answer.headers["x-request-id"]


ANTHROPIC_LIMITS = """
header request-id: req_theirs
header anthropic-ratelimit-requests-limit: 50
header anthropic-ratelimit-requests-remaining: 49
header anthropic-ratelimit-requests-reset: 2099-01-01T00:00:00Z
header anthropic-ratelimit-input-tokens-remaining: 900
header retry-after: 3
"""
OPENAI_LIMITS = """
header x-request-id: theirs
header x-ratelimit-limit-requests: 50
header x-ratelimit-remaining-tokens: 900
header x-ratelimit-reset-requests: 1m30s
header retry-after-ms: 50
"""


def test_limits_are_told_in_the_clients_own_words(gateway):
    server, _ = gateway(f"--- answer\n{ANTHROPIC_LIMITS}text x\n", "messages")
    with server.openai() as client:
        told = client.chat.completions.with_raw_response.create(model="m", messages=HI).headers
        streamed = client.responses.with_raw_response.create(model="m", input="hi", stream=True).headers
    for headers in (told, streamed):
        assert headers["x-ratelimit-limit-requests"] == "50" and headers["x-ratelimit-remaining-tokens"] == "900"
        assert headers["x-ratelimit-reset-requests"].endswith("s") and "h" in headers["x-ratelimit-reset-requests"]
        assert headers["retry-after"] == "3" and not [name for name in headers if name.startswith("anthropic-")]
        assert headers["x-request-id"].startswith("req_") and headers["x-trilith-upstream-request-id"] == "req_theirs"
    with server.anthropic() as client:
        told = client.messages.with_raw_response.create(**ASK).headers
    assert told["anthropic-ratelimit-requests-reset"] == "2099-01-01T00:00:00Z"
    assert told["request-id"].startswith("req_") and told["x-trilith-upstream-request-id"] == "req_theirs"


@pytest.mark.parametrize("dialect", ["chat", "responses"])
def test_limits_of_openai_upstreams_are_told_to_anthropic_clients(gateway, dialect):
    refused = f"--- answer\n{OPENAI_LIMITS}error 429 rate_limit_exceeded slow down\n"
    server, _ = gateway(f"--- answer\n{OPENAI_LIMITS}text x\n\n{refused}", dialect)
    with server.anthropic() as client:
        told = client.messages.with_raw_response.create(**ASK).headers
        with pytest.raises(anthropic.RateLimitError) as raised:
            client.messages.create(**ASK)
    for headers in (told, raised.value.response.headers):
        assert headers["anthropic-ratelimit-requests-limit"] == "50"
        assert headers["anthropic-ratelimit-tokens-remaining"] == "900"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", headers["anthropic-ratelimit-requests-reset"])
        assert headers["retry-after-ms"] == "50"
        assert not [name for name in headers if name.startswith("x-ratelimit-")]
        assert headers["request-id"].startswith("req_") and headers["x-trilith-upstream-request-id"] == "theirs"
    assert raised.value.response.headers["retry-after"] == "1"


COUNTED = '--- answer path "/count_tokens"\nwhole\nbody {"input_tokens":14}\n\n--- answer\ntext x\n'


def test_an_upstream_that_counts_is_asked(gateway):
    server, upstream = gateway(COUNTED, "messages")
    asked = {"model": "m", "messages": HI, "tools": [WEATHER], "system": "Be brief."}
    with server.anthropic() as client:
        counted = client.messages.count_tokens(**asked)
        beta = client.beta.messages.count_tokens(**asked)
    assert (counted.input_tokens, beta.input_tokens) == (14, 14)
    sent = upstream.requests()
    assert [request["path"].split("?")[0] for request in sent] == ["/v1/messages/count_tokens"] * 2
    assert sent[0]["body"] == asked, "the bytes pass as they came"
    assert sent[0]["headers"]["x-api-key"] == "upstream-secret"


def test_a_count_opens_what_was_sealed(gateway):
    script = "--- answer path \"/count_tokens\"\nwhole\nbody {\"input_tokens\":14}\n\n--- answer\nthink I think.\nsealed c2VhbGVk\ntext Done.\n"
    server, upstream = gateway(script, "messages")
    with server.openai() as client:
        first = client.chat.completions.create(model="m", messages=HI, reasoning_effort="low")
    details = [value for entry in first.choices[0].message.reasoning_details for value in entry.values()]
    [envelope] = [value for value in details if str(value).startswith("tl1.")]
    thought = {"type": "thinking", "thinking": "I think.", "signature": envelope}
    history = [*HI, {"role": "assistant", "content": [thought, {"type": "text", "text": "Done."}]}, *HI]
    with server.anthropic() as client:
        assert client.messages.count_tokens(model="m", messages=history).input_tokens == 14
    sent = json.dumps(upstream.bodies()[-1])
    assert "c2VhbGVk" in sent and "tl1." not in sent and "max_tokens" not in sent


@pytest.mark.parametrize("dialect", ["chat", "responses"])
def test_without_an_upstream_that_counts_the_number_is_a_guess_and_says_so(gateway, dialect):
    server, upstream = gateway(GREETING, dialect)
    with server.anthropic() as client:
        raw = client.messages.with_raw_response.count_tokens(
            model="m", system="y" * 400, messages=[{"role": "user", "content": "x" * 4000}], tools=[WEATHER]
        )
        assert 1100 < raw.parse().input_tokens < 1300
        assert "estimated" in raw.headers["x-trilith-warning"] and raw.headers["request-id"].startswith("req_")
        with pytest.raises(anthropic.BadRequestError, match="strict"):
            client.messages.count_tokens(model="m", messages=HI, extra_headers={"x-trilith-strict": "true"})
    assert upstream.requests() == []


def test_a_server_of_this_shape_that_does_not_count(starter):
    lacking = starter.mock('--- answer path "/count_tokens"\nstatus 404\nwhole\nbody {"detail":"Not Found"}\n', "messages")
    server = starter.serve(provider("one", lacking, "messages") + model("*", "one"))
    with server.anthropic() as client:
        raw = client.messages.with_raw_response.count_tokens(model="m", messages=HI)
    assert raw.parse().input_tokens == 1 and "estimated" in raw.headers["x-trilith-warning"]


def test_counts_fall_over_and_fail_like_any_request(starter):
    broken = starter.mock('--- answer path "/count_tokens"\nerror 500 api_error broken\n', "messages")
    good = starter.mock(COUNTED, "messages")
    server = starter.serve(
        provider("one", broken, "messages")
        + provider("two", good, "messages")
        + model("both", "one", "two")
        + model("broken", "one")
        + '\n[[keys]]\nname = "k"\nkey = "client-key-0123456789"\nmodels = ["both", "broken"]\n'
    )
    with server.anthropic(api_key="client-key-0123456789") as client:
        assert client.messages.count_tokens(model="both", messages=HI).input_tokens == 14
        with pytest.raises(anthropic.InternalServerError):
            client.messages.count_tokens(model="broken", messages=HI)
        with pytest.raises(anthropic.NotFoundError):
            client.messages.count_tokens(model="other", messages=HI)
    with server.anthropic(api_key="wrong") as client, pytest.raises(anthropic.AuthenticationError):
        client.messages.count_tokens(model="both", messages=HI)
    with server.http() as http:
        assert http.get("/v1/messages/count_tokens").status_code == 405


def test_models(gateway):
    """The official client goes from page to page by itself, in both directions."""
    listed = [f"m{number:02}" for number in range(45)]
    server, _ = gateway(
        f"models {' '.join(listed)}\n--- answer\ntext x\n",
        "chat",
        model("fast", "up=m01"),
    )
    known = ["fast", *listed]
    with server.anthropic() as client:
        page = client.models.list()
        assert [found.id for found in page.data] == known[:20] and page.has_more
        assert (page.first_id, page.last_id) == (known[0], known[19])
        assert [found.id for found in client.models.list()] == known
        assert [found.id for found in client.models.list(limit=7)] == known
        assert [found.id for found in client.models.list(after_id="m40")] == known[42:]
        back = client.models.list(before_id="m05", limit=3)
        assert [found.id for found in back.data] == ["m02", "m03", "m04"] and back.has_more
        assert len(list(client.models.list(lifecycle=["active"]))) == 46
        assert list(client.models.list(lifecycle=["retired"])) == []
        found = client.models.retrieve("fast")
        assert (found.id, found.type, found.lifecycle, found.display_name) == ("fast", "model", "active", "fast")
        with pytest.raises(anthropic.BadRequestError, match="limit"):
            client.models.list(limit=0)
        with pytest.raises(anthropic.BadRequestError, match="after_id"):
            client.models.list(after_id="nobody")
    with server.openai() as client:
        assert [found.id for found in client.models.list()] == known
        assert client.models.retrieve("fast").object == "model"


def ask(client, streamed: bool, **asked):
    asked = {"model": "m", "max_tokens": 100, **asked}
    if not streamed:
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message()
