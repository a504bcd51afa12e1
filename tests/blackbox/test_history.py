"""A conversation continued from anywhere, changed, and moved between clients that hold it and a server that does.

`docs/history.md` says the same in words; what it shows is done here.
"""

import json

import pytest

COUNTING = "".join(f"--- answer\ntext answer-{number}\n" for number in range(1, 7))
WEATHER = """
--- answer
call get_weather id=call_a {"city":"Paris"}

--- answer
text It is sunny.

--- answer
text Bring no coat.

--- answer
text Farewell.
"""
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}
RESPONSES_TOOL = {"type": "function", "name": "get_weather", "parameters": PARAMETERS, "strict": False}
MESSAGES_TOOL = {"name": "get_weather", "input_schema": PARAMETERS}


def said(body: dict) -> list[tuple]:
    """(who, what) of everything that an upstream of any dialect was sent: texts, calls and results."""
    entries = []
    for message in body.get("messages") or body["input"]:
        kind = message.get("type", "message")
        if kind == "function_call":
            entries.append(("call", json.loads(message["arguments"])))
        elif kind == "function_call_output" or message.get("role") == "tool":
            entries.append(("result", message.get("output") or message["content"]))
        else:
            content = message["content"] or []
            for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if part["type"] == "tool_use":
                    entries.append(("call", part["input"]))
                elif part["type"] == "tool_result":
                    entries.append(("result", part["content"]))
                else:
                    entries.append((message["role"], part["text"]))
            for call in message.get("tool_calls") or []:
                entries.append(("call", json.loads(call["function"]["arguments"])))
    return entries


def kept(client, response) -> list[dict]:
    """All items of a conversation up to and with a response, as input for another request."""
    asked = [item.to_dict() for item in client.responses.input_items.list(response.id, order="asc")]
    return [*asked, *(item.to_dict() for item in response.output)]


def user(text: str) -> dict:
    return {"role": "user", "content": text}


@pytest.fixture
def chain(gateway, any_dialect):
    """A server that holds a conversation of three turns, its upstream, and the three responses."""
    server, upstream = gateway(COUNTING, any_dialect)
    made = []
    with server.openai() as client:
        for text in ("one", "two", "three"):
            last = made[-1].id if made else None
            made.append(client.responses.create(model="m", input=text, previous_response_id=last))
        yield client, upstream, made


def test_a_conversation_goes_on_from_any_earlier_response(chain):
    client, upstream, made = chain
    other = client.responses.create(model="m", input="instead", previous_response_id=made[0].id)
    assert said(upstream.bodies()[-1]) == [("user", "one"), ("assistant", "answer-1"), ("user", "instead")]
    # The first road is as it was, and both go on.
    for response, before in ((made[2], 5), (other, 3)):
        client.responses.create(model="m", input="on", previous_response_id=response.id, store=False)
        assert len(said(upstream.bodies()[-1])) == before + 2


def test_an_item_is_edited(chain):
    client, upstream, made = chain
    items = kept(client, made[2])
    edited = [user("ONE") if item["content"][0]["text"] == "one" else item for item in items]
    answer = client.responses.create(model="m", input=[*edited, user("on")])
    expected = ["ONE", "answer-1", "two", "answer-2", "three", "answer-3", "on"]
    assert [text for _, text in said(upstream.bodies()[-1])] == expected
    # It is a conversation of its own: the other is untouched, and this one goes on by its id.
    assert kept(client, client.responses.retrieve(made[2].id)) == items
    client.responses.create(model="m", input="more", previous_response_id=answer.id)
    assert [text for _, text in said(upstream.bodies()[-1])] == [*expected, answer.output_text, "more"]


def test_items_are_dropped_by_naming_the_others(chain):
    client, upstream, made = chain
    items = kept(client, made[2])
    named = [{"type": "item_reference", "id": item["id"]} for item in [*items[:2], *items[4:]]]
    client.responses.create(model="m", input=[*named, user("on")])
    expected = ["one", "answer-1", "three", "answer-3", "on"]
    assert [text for _, text in said(upstream.bodies()[-1])] == expected


def test_from_chat_to_responses_and_back_and_to_messages(gateway, any_dialect):
    server, upstream = gateway(WEATHER, any_dialect)
    history = [("user", "Weather in Paris?"), ("call", {"city": "Paris"}), ("result", "sun")]

    # The client holds the conversation.
    messages = [user("Weather in Paris?")]
    with server.openai() as client:
        made = client.chat.completions.create(model="m", messages=messages, tools=[CHAT_TOOL])
        message = made.choices[0].message
        messages += [message.to_dict(), {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "sun"}]
        made = client.chat.completions.create(model="m", messages=messages, tools=[CHAT_TOOL])
        messages.append(made.choices[0].message.to_dict())
        assert said(upstream.bodies()[1]) == history
        history.append(("assistant", "It is sunny."))

        # From here on the server does: what the client holds is sent once, as items.
        items = []
        for message in messages:
            if message["role"] == "tool":
                items.append(
                    {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
                )
                continue
            if message.get("content"):
                items.append({"role": message["role"], "content": message["content"]})
            for call in message.get("tool_calls") or []:
                items.append({"type": "function_call", "call_id": call["id"], **call["function"]})
        moved = client.responses.create(model="m", input=[*items, user("A coat?")], tools=[RESPONSES_TOOL])
        history.append(("user", "A coat?"))
        assert said(upstream.bodies()[2]) == history
        history.append(("assistant", "Bring no coat."))
        held = kept(client, moved)

    # And back: the items that the server kept are the client's messages again.
    chat, blocks = [], []
    for item in held:
        if item["type"] == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            chat.append({"role": "assistant", "content": None, "tool_calls": [call]})
            use = {"type": "tool_use", "id": item["call_id"], "name": item["name"]}
            blocks.append({"role": "assistant", "content": [{**use, "input": json.loads(item["arguments"])}]})
        elif item["type"] == "function_call_output":
            chat.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
            result = {"type": "tool_result", "tool_use_id": item["call_id"], "content": item["output"]}
            blocks.append({"role": "user", "content": [result]})
        else:
            text = item["content"][0]["text"]
            chat.append({"role": item["role"], "content": text})
            blocks.append({"role": item["role"], "content": text})
    history.append(("user", "Thanks."))
    with server.openai() as client:
        client.chat.completions.create(model="m", messages=[*chat, user("Thanks.")], tools=[CHAT_TOOL])
    assert said(upstream.bodies()[3]) == history
    with server.anthropic() as client:
        client.messages.create(
            model="m", max_tokens=100, messages=[*blocks, user("Thanks.")], tools=[MESSAGES_TOOL]
        )
    assert said(upstream.bodies()[4]) == history
