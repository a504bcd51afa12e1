"""Tool loops of the official Python client: every call and every result arrives once, as it was written."""

import json

import pytest
from openai import BadRequestError

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": False,
}
EXEC = {"type": "custom", "name": "run", "description": "Runs a program.", "format": {"type": "text"}}

ONE = """
--- answer
text Let me look.
call get_weather id=call_a {"city": "Paris"}

--- answer
text It is sunny.
"""

# The arguments are text: their spaces and their order belong to the model.
PARALLEL = """
--- answer
open a get_weather id=call_a
open b get_weather id=call_b
args a {"city":
args b {"unit" : 1, "city":"Rome"}
args a "\\"Paris\\" }"

--- answer
text Sunny and warm.
"""

CUSTOM = """
--- answer
custom run id=call_a "print(\\"hi\\")\\n  # ü"

--- answer
text It printed hi.
"""


def chat_tool(tool: dict) -> dict:
    """A Responses tool in the shape of Chat Completions."""
    inner = {name: value for name, value in tool.items() if name != "type"}
    return {"type": tool["type"], tool["type"]: inner}


def calls_at(body: dict, dialect: str) -> list[tuple]:
    """(call id, name, arguments or input) of every call that the upstream was sent, in order."""
    if dialect == "responses":
        kinds = {"function_call": "arguments", "custom_tool_call": "input"}
        items = [item for item in body["input"] if item.get("type") in kinds]
        return [(item["call_id"], item["name"], item[kinds[item["type"]]]) for item in items]
    calls = [call for message in body["messages"] for call in message.get("tool_calls") or []]
    inner = [(call, call[call["type"]]) for call in calls]
    return [(call["id"], made["name"], made.get("arguments", made.get("input"))) for call, made in inner]


def text_of(content) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def results_at(body: dict, dialect: str) -> list[tuple]:
    """(call id, output) of every result that the upstream was sent, in order."""
    if dialect == "responses":
        items = [item for item in body["input"] if str(item.get("type")).endswith("_output")]
        return [(item["call_id"], text_of(item["output"])) for item in items]
    messages = [message for message in body["messages"] if message["role"] == "tool"]
    return [(message["tool_call_id"], text_of(message["content"])) for message in messages]


def made_by(client, stream: bool, **asked):
    if not stream:
        return client.responses.create(model="m", **asked)
    with client.responses.stream(model="m", **asked) as events:
        return events.get_final_response()


ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
states = pytest.mark.parametrize("state", ["chained", "resent"])


@ways
@states
def test_a_function_is_called_and_its_result_used(gateway, dialect, stream, state):
    server, upstream = gateway(ONE, dialect)
    with server.openai() as client:
        first = made_by(client, stream, input="Weather?", tools=[WEATHER], store=state == "chained")
        message, call = first.output
        assert (first.status, message.content[0].text) == ("completed", "Let me look.")
        assert (call.type, call.call_id, call.name) == ("function_call", "call_a", "get_weather")
        assert call.arguments == '{"city": "Paris"}'
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
        if state == "chained":
            following = {"previous_response_id": first.id, "input": [result]}
        else:
            history = [{"role": "user", "content": "Weather?"}]
            following = {"store": False, "input": history + [item.to_dict() for item in first.output] + [result]}
        second = made_by(client, stream, tools=[WEATHER], **following)
    assert second.output_text == "It is sunny."
    asked, told = upstream.bodies()
    tool = asked["tools"][0]
    assert (tool["function"] if dialect == "chat" else tool)["parameters"] == WEATHER["parameters"]
    assert calls_at(told, dialect) == [("call_a", "get_weather", '{"city": "Paris"}')]
    assert results_at(told, dialect) == [("call_a", "sunny")]
    assert json.dumps(told).count("Let me look.") == 1 and json.dumps(told).count("Weather?") == 1


@ways
def test_two_calls_at_once_keep_their_order_and_text(gateway, dialect, stream):
    server, upstream = gateway(PARALLEL, dialect)
    expected = [
        ("call_a", "get_weather", '{"city":"Paris" }'),
        ("call_b", "get_weather", '{"unit" : 1, "city":"Rome"}'),
    ]
    with server.openai() as client:
        first = made_by(client, stream, input="Weather?", tools=[WEATHER])
        assert [(call.call_id, call.name, call.arguments) for call in first.output] == expected
        results = [
            {"type": "function_call_output", "call_id": "call_a", "output": "sunny"},
            {"type": "function_call_output", "call_id": "call_b", "output": [{"type": "input_text", "text": "warm"}]},
        ]
        second = made_by(client, stream, input=results, previous_response_id=first.id, tools=[WEATHER])
    assert second.output_text == "Sunny and warm."
    assert calls_at(upstream.bodies()[1], dialect) == expected
    assert results_at(upstream.bodies()[1], dialect) == [("call_a", "sunny"), ("call_b", "warm")]


@ways
def test_a_custom_tool_takes_plain_text(gateway, dialect, stream):
    server, upstream = gateway(CUSTOM, dialect)
    program = 'print("hi")\n  # ü'
    with server.openai() as client:
        first = made_by(client, stream, input="Run it", tools=[EXEC])
        (call,) = first.output
        assert (call.type, call.call_id, call.name, call.input) == ("custom_tool_call", "call_a", "run", program)
        result = {"type": "custom_tool_call_output", "call_id": "call_a", "output": "hi\n"}
        second = made_by(client, stream, input=[result], previous_response_id=first.id, tools=[EXEC])
    assert second.output_text == "It printed hi."
    assert calls_at(upstream.bodies()[1], dialect) == [("call_a", "run", program)]
    assert results_at(upstream.bodies()[1], dialect) == [("call_a", "hi\n")]


@ways
def test_a_chat_client_calls_a_function(gateway, dialect, stream):
    server, upstream = gateway(PARALLEL, dialect)
    messages = [{"role": "user", "content": "Weather?"}]
    tools = [chat_tool(WEATHER)]
    with server.openai() as client:

        def ask():
            if not stream:
                return client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0]
            with client.chat.completions.stream(model="m", messages=messages, tools=tools) as events:
                return events.get_final_completion().choices[0]

        choice = ask()
        calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls]
        assert choice.finish_reason == "tool_calls"
        messages.append({
            "role": "assistant",
            "content": choice.message.content,
            "tool_calls": [
                {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for id, name, arguments in calls
            ],
        })
        messages += [{"role": "tool", "tool_call_id": id, "content": f"result of {id}"} for id, _, _ in calls]
        assert ask().message.content == "Sunny and warm."
    assert [name for _, name, _ in calls] == ["get_weather"] * 2
    assert [arguments for _, _, arguments in calls] == ['{"city":"Paris" }', '{"unit" : 1, "city":"Rome"}']
    assert calls_at(upstream.bodies()[1], dialect) == calls
    assert results_at(upstream.bodies()[1], dialect) == [(id, f"result of {id}") for id, _, _ in calls]


def test_a_chat_client_calls_a_custom_tool(gateway, dialect):
    server, upstream = gateway(CUSTOM, dialect)
    messages = [{"role": "user", "content": "Run it"}]
    with server.openai() as client:
        asked = {"model": "m", "messages": messages, "tools": [chat_tool(EXEC)]}
        message = client.chat.completions.create(**asked).choices[0].message
        (call,) = message.tool_calls
        assert (call.type, call.custom.name, call.custom.input) == ("custom", "run", 'print("hi")\n  # ü')
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call.to_dict()]},
            {"role": "tool", "tool_call_id": call.id, "content": "hi"},
        ]
        assert client.chat.completions.create(**asked).choices[0].message.content == "It printed hi."
    assert calls_at(upstream.bodies()[1], dialect) == [(call.id, "run", 'print("hi")\n  # ü')]


CHOICES = {
    "auto": ("auto", "auto"),
    "none": ("none", "none"),
    "required": ("required", "required"),
    "function": (
        {"type": "function", "name": "get_weather"},
        {"type": "function", "function": {"name": "get_weather"}},
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_the_choice_of_tools_has_the_upstreams_spelling(gateway, dialect, choice):
    server, upstream = gateway(ONE, dialect)
    in_responses, in_chat = CHOICES[choice]
    with server.openai() as client:
        client.responses.create(
            model="m", input="hi", tools=[WEATHER], tool_choice=in_responses, parallel_tool_calls=False
        )
        client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "hi"}],
            tools=[chat_tool(WEATHER)],
            tool_choice=in_chat,
            parallel_tool_calls=False,
        )
    expected = in_chat if dialect == "chat" else in_responses
    for body in upstream.bodies():
        assert body.get("tool_choice", "auto") == expected
        assert body["parallel_tool_calls"] is False


ORPHANS = {
    "a call without its result": (
        [
            {"role": "user", "content": "hi"},
            {"type": "function_call", "call_id": "call_lost", "name": "get_weather", "arguments": "{}"},
            {"role": "user", "content": "and?"},
        ],
        "call_lost",
    ),
    "a result without its call": (
        [{"type": "function_call_output", "call_id": "call_ghost", "output": "x"}],
        "call_ghost",
    ),
}


@pytest.mark.parametrize("orphan", ORPHANS)
def test_half_a_call_is_refused_and_named(gateway, orphan):
    items, id = ORPHANS[orphan]
    server, upstream = gateway(ONE, "chat")
    with server.openai() as client, pytest.raises(BadRequestError, match=id) as caught:
        client.responses.create(model="m", input=items, tools=[WEATHER])
    assert caught.value.param == "input"
    assert upstream.requests() == []


@pytest.mark.parametrize("tool", [{"type": "web_search"}, {"type": "code_interpreter", "container": {"type": "auto"}}])
def test_a_tool_that_nobody_can_run_is_refused_by_name(gateway, tool):
    server, upstream = gateway(ONE, "chat")
    with server.openai() as client, pytest.raises(BadRequestError, match=tool["type"]) as caught:
        client.responses.create(model="m", input="hi", tools=[WEATHER, tool])
    assert caught.value.param.startswith("tools[1]")
    assert upstream.requests() == []
