"""Opaque reasoning: it comes back to the place that made it as it was, and to nobody else."""

import json

import pytest
from configs import model, provider
from openai import BadRequestError

CARRIER = "Opaque-Carrier+/=é"
THINKING = f"""
--- answer
think  I think.
sealed {CARRIER}
call   get_weather id=call_a {{}}
--- answer
text   Sunny.
"""
WEATHER = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}
KEYS = """
[[keys]]
name = "one"
tenant = "one"
key = "key-of-one"
[[keys]]
name = "two"
tenant = "two"
key = "key-of-two"
"""
RESULT = {"type": "function_call_output", "call_id": "call_a", "output": "sunny"}
SEALED = {"include": ["reasoning.encrypted_content"], "store": False}

# Within Responses a native carrier has no label: it passes as it is.
CHAT_ONLY = pytest.mark.parametrize("dialect", ["chat"])


@pytest.fixture
def places(serve, mock, dialect):
    """A server with the places `here` (of the dialect in turn) and `there` (of the same) and two tenants."""
    here, there = mock(THINKING, dialect), mock(THINKING, dialect)
    config = provider("here", here, dialect) + provider("there", there, dialect)
    return serve(config + model("here-*", "here") + model("there-*", "there") + KEYS), here, there


def carriers(server, stream: bool = False, **asked) -> list[dict]:
    """The items of a first turn, carried by the client."""
    with server.openai(api_key="key-of-one") as client:
        asked = {"model": "here-m", "input": "Weather?", "tools": [WEATHER], **SEALED, **asked}
        if not stream:
            return [item.to_dict() for item in client.responses.create(**asked).output]
        with client.responses.stream(**asked) as events:
            return [item.to_dict() for item in events.get_final_response().output]


def follow(server, items: list[dict], key: str = "key-of-one", name: str = "here-m", **asked):
    history = [{"role": "user", "content": "Weather?"}, *items, RESULT]
    with server.openai(api_key=key) as client:
        return client.responses.with_raw_response.create(
            model=name, input=history, tools=[WEATHER], **SEALED, **asked
        )


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_carrier_comes_back_to_its_origin_unchanged(places, dialect, stream):
    server, here, _ = places
    items = carriers(server, stream)
    (reasoning,) = [item for item in items if item["type"] == "reasoning"]
    if dialect == "chat":
        assert reasoning["encrypted_content"].startswith("tl1.") and CARRIER not in json.dumps(items)
    assert follow(server, items).parse().output_text == "Sunny."
    sent = json.dumps(here.bodies()[1], ensure_ascii=False)
    assert sent.count(CARRIER) == 1 and "tl1." not in sent


def test_a_carrier_in_a_stored_chain_comes_back_too(places, dialect):
    server, here, _ = places
    with server.openai(api_key="key-of-one") as client:
        first = client.responses.create(model="here-m", input="Weather?", tools=[WEATHER])
        client.responses.create(model="here-m", input=[RESULT], previous_response_id=first.id, tools=[WEATHER])
    sent = json.dumps(here.bodies()[1], ensure_ascii=False)
    assert sent.count(CARRIER) == 1 and "tl1." not in sent


def test_a_carrier_of_another_origin_is_left_out_and_reported(serve, mock):
    here, there = mock(THINKING, "chat"), mock(THINKING.replace("call ", "text "), "responses")
    config = provider("here", here, "chat") + provider("there", there, "responses")
    server = serve(config + model("here-*", "here") + model("there-*", "there") + KEYS)
    answer = follow(server, carriers(server), name="there-m")
    sent = json.dumps(there.bodies()[0], ensure_ascii=False)
    assert CARRIER not in sent and "tl1." not in sent and "I think." not in sent
    assert any("encrypted_content" in warning for warning in answer.headers.get_list("x-trilith-warning"))


@CHAT_ONLY
def test_a_carrier_of_another_account_of_the_same_dialect_is_left_out_and_reported(places):
    server, _, there = places
    answer = follow(server, carriers(server), name="there-m")
    sent = json.dumps(there.bodies()[0], ensure_ascii=False)
    assert CARRIER not in sent and "tl1." not in sent
    assert any("encrypted_content" in warning for warning in answer.headers.get_list("x-trilith-warning"))


def test_a_stored_carrier_does_not_follow_the_chain_to_another_place(places, dialect):
    server, _, there = places
    with server.openai(api_key="key-of-one") as client:
        first = client.responses.create(model="here-m", input="Weather?", tools=[WEATHER])
        client.responses.create(model="there-m", input=[RESULT], previous_response_id=first.id, tools=[WEATHER])
    assert CARRIER not in json.dumps(there.bodies()[0], ensure_ascii=False)


@CHAT_ONLY
def test_strict_refuses_what_would_be_left_out(places):
    server, _, there = places
    with pytest.raises(BadRequestError) as caught:
        follow(server, carriers(server), name="there-m", extra_headers={"x-trilith-strict": "true"})
    assert "encrypted_content" in caught.value.param
    assert there.requests() == []


def flipped(text: str) -> str:
    """One character of the middle is another one."""
    at = len(text) // 2
    return text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]


FORGERIES = {
    "changed": flipped,
    "cut": lambda text: text[:-8],
    "empty": lambda text: "tl1.",
    "not even text of the right kind": lambda text: "tl1.é!§",
    "of another version": lambda text: text.replace("tl1.", "tl1.AAAA", 1),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_carrier_is_refused(serve, mock, forgery):
    here = mock(THINKING, "chat")
    server = serve(provider("here", here, "chat") + model("here-*", "here") + KEYS)
    items = carriers(server)
    for item in items:
        if item["type"] == "reasoning":
            item["encrypted_content"] = FORGERIES[forgery](item["encrypted_content"])
    with pytest.raises(BadRequestError) as caught:
        follow(server, items)
    assert caught.value.param == "input[1].encrypted_content"
    assert len(here.requests()) == 1


def test_another_tenants_carrier_is_refused(serve, mock):
    here = mock(THINKING, "chat")
    server = serve(provider("here", here, "chat") + model("here-*", "here") + KEYS)
    with pytest.raises(BadRequestError) as caught:
        follow(server, carriers(server), key="key-of-two")
    assert caught.value.param == "input[1].encrypted_content"
    assert len(here.requests()) == 1


def test_carriers_survive_a_restart(starter):
    here = starter.mock(THINKING, "chat")
    server = starter.serve(provider("here", here, "chat") + model("here-*", "here") + KEYS)
    items = carriers(server)
    server.stop()
    again = starter.serve(server.config_file.read_text())
    follow(again, items)
    assert CARRIER in json.dumps(here.bodies()[1], ensure_ascii=False)


def test_a_chat_client_carries_it_in_its_reasoning_details(serve, mock):
    here = mock(THINKING, "responses")
    server = serve(provider("here", here, "responses") + model("here-*", "here") + KEYS)
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER["parameters"]}}]
    messages = [{"role": "user", "content": "Weather?"}]
    with server.openai(api_key="key-of-one") as client:
        asked = {"model": "here-m", "messages": messages, "tools": tools}
        message = client.chat.completions.create(**asked).choices[0].message.to_dict()
        assert message["reasoning_details"][0]["data"].startswith("tl1.")
        messages += [message, {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "sunny"}]
        client.chat.completions.create(**asked)
        reasoning = [item for item in here.bodies()[1]["input"] if item["type"] == "reasoning"]
        assert [item["encrypted_content"] for item in reasoning] == [CARRIER]
        message["reasoning_details"][0]["data"] = flipped(message["reasoning_details"][0]["data"])
        with pytest.raises(BadRequestError) as caught:
            client.chat.completions.create(**asked)
    assert caught.value.param == "messages.reasoning_details"


ENTRY = {"type": "reasoning.encrypted", "data": "Opaque+/=", "format": "vendor-v1", "index": 0, "id": None}


def test_a_vendors_own_entry_comes_back_as_it_was(serve, mock):
    message = {"role": "assistant", "content": "Hm.", "reasoning": "I think.", "reasoning_details": [ENTRY]}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    here = mock(f"--- answer\nbody {json.dumps(whole)}\n--- answer\ntext ok\n", "chat")
    server = serve(provider("here", here, "chat") + model("here-*", "here"))
    with server.openai() as client:
        first = client.responses.create(model="here-m", input="hi", include=["reasoning.encrypted_content"])
        assert first.output[0].encrypted_content.startswith("tl1.")
        client.responses.create(model="here-m", input="and?", previous_response_id=first.id)
    assert here.bodies()[1]["messages"][1]["reasoning_details"] == [ENTRY]


def test_an_envelope_is_never_passed_on_untouched(serve, mock):
    """Same dialect on both sides: without its envelope the request would pass as it is."""
    here = mock(THINKING, "chat")
    there = mock("--- answer\ntext ok\n", "responses")
    config = provider("here", here, "chat") + provider("there", there, "responses")
    server = serve(config + model("here-*", "here") + model("there-*", "there") + KEYS)
    follow(server, carriers(server), name="there-m")
    assert "tl1." not in json.dumps(there.bodies())
