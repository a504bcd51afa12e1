"""What a coding agent sends whose tools travel inside the input, and what it needs back."""

import json

import pytest

EXEC = {
    "type": "custom",
    "name": "exec",
    "description": "Runs code.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"},
}
WAIT = {
    "type": "function",
    "name": "wait",
    "description": "Waits.",
    "strict": False,
    "parameters": {"type": "object", "properties": {"seconds": {"type": "number"}}},
}
TOOLS = {
    "type": "additional_tools",
    "id": "at_0b5cbe4e-96e5-4a55-a7a4-6a3d7b4a1c01",
    "role": "developer",
    "tools": [{"type": "namespace", "name": "functions", "description": "All tools.", "tools": [EXEC, WAIT]}],
}
START = [
    TOOLS,
    {
        "type": "message",
        "id": "msg_0b5cbe4e-96e5-4a55-a7a4-6a3d7b4a1c02",
        "role": "developer",
        "content": [{"type": "input_text", "text": "You are an agent."}],
    },
    {
        "type": "message",
        "id": "msg_0b5cbe4e-96e5-4a55-a7a4-6a3d7b4a1c03",
        "role": "user",
        "content": [{"type": "input_text", "text": "List the files."}],
    },
]
HEADERS = {
    "originator": "codex_exec",
    "session-id": "0b5cbe4e-96e5-4a55-a7a4-6a3d7b4a1c04",
    "thread-id": "0b5cbe4e-96e5-4a55-a7a4-6a3d7b4a1c04",
    "x-client-request-id": "0b5cbe4e-96e5-4a55-a7a4-6a3d7b4a1c05",
    "x-codex-beta-features": "remote_compaction_v2",
    "x-codex-turn-metadata": '{"turn_id":"t1"}',
    "x-codex-window-id": "w:0",
    "x-openai-internal-codex-responses-lite": "true",
}
PROGRAM = 'tools.shell("ls -la")\n// ü'
CALLING = f"""
--- answer
think  I look.
sealed Carrier-1
custom NAME id=call_a {json.dumps(PROGRAM)}
usage  input=900 cached=800 output=20 reasoning=5

--- answer
text Two files.
usage  input=950 cached=900 output=5
"""


def request(items: list) -> dict:
    return {
        "model": "gpt-6-sol",
        "stream": True,
        "store": False,
        "input": items,
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "0b5cbe4e-96e5-4a55-a7a4-6a3d7b4a1c04",
        "client_metadata": {"x-codex-installation-id": "i1", "thread_id": "t1"},
        "reasoning": {"effort": "medium", "summary": "auto", "context": "all_turns"},
        "text": {"verbosity": "low"},
    }


def turn(server, items: list) -> list[dict]:
    """The events of one turn, all of them whole."""
    with server.http() as http:
        answer = http.post("/v1/responses", json=request(items), headers=HEADERS)
    assert answer.status_code == 200, answer.text
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]


def done(events: list[dict]) -> list[dict]:
    return [event["item"] for event in events if event["type"] == "response.output_item.done"]


def result(call: dict) -> dict:
    return {
        "type": "custom_tool_call_output",
        "id": "ctco_0b5cbe4e-96e5-4a55-a7a4-6a3d7b4a1c06",
        "call_id": call["call_id"],
        "output": [{"type": "input_text", "text": "a b"}],
    }


@pytest.fixture
def chat(gateway):
    """A gateway over a chat upstream that calls the tool by the name that it was given."""

    def start():
        return gateway(CALLING.replace("NAME", "functions__exec"), "chat")

    return start


def test_a_chat_upstream_sees_flat_tools_and_the_call_comes_back_in_its_namespace(chat):
    server, upstream = chat()
    events = turn(server, START)
    sent = upstream.bodies()[0]
    names = {tool[tool["type"]]["name"] for tool in sent["tools"]}
    assert names == {"functions__exec", "functions__wait"}
    custom = next(tool["custom"] for tool in sent["tools"] if tool["type"] == "custom")
    assert custom["format"]["grammar"] == {"syntax": "lark", "definition": "start: /.+/s"}
    assert [message["role"] for message in sent["messages"]] == ["developer", "user"]
    assert "additional_tools" not in json.dumps(sent)
    assert sent["parallel_tool_calls"] is False and sent["reasoning_effort"] == "medium"

    call = done(events)[-1]
    assert (call["type"], call["name"], call["namespace"]) == ("custom_tool_call", "exec", "functions")
    assert (call["call_id"], call["input"]) == ("call_a", PROGRAM)
    added = next(
        event["item"]
        for event in events
        if event["type"] == "response.output_item.added" and event["item"]["type"] == "custom_tool_call"
    )
    assert (added["id"], added["namespace"]) == (call["id"], "functions")
    assert events[-1]["type"] == "response.completed"
    final = events[-1]["response"]
    assert final["id"].startswith("resp_") and final["output"] == done(events)
    assert final["usage"]["input_tokens_details"]["cached_tokens"] == 800


def test_the_next_turn_resends_everything(chat):
    server, upstream = chat()
    items = done(turn(server, START))
    events = turn(server, [*START, *items, result(items[-1])])
    assert [item["type"] for item in done(events)] == ["message"]
    sent = upstream.bodies()[1]
    (call,) = [call for message in sent["messages"] for call in message.get("tool_calls") or []]
    assert (call["type"], call["custom"]) == ("custom", {"name": "functions__exec", "input": PROGRAM})
    (told,) = [message for message in sent["messages"] if message["role"] == "tool"]
    text = told["content"] if isinstance(told["content"], str) else told["content"][0]["text"]
    assert (told["tool_call_id"], text) == (call["id"], "a b")


def test_a_responses_upstream_gets_the_request_as_it_is(gateway):
    server, upstream = gateway(CALLING.replace("NAME", "exec in=functions"), "responses")
    events = turn(server, START)
    assert upstream.bodies()[0] == request(START)
    headers = upstream.requests()[0]["headers"]
    assert {name: headers.get(name) for name in HEADERS} == HEADERS
    call = done(events)[-1]
    assert (call["type"], call["namespace"], call["input"]) == ("custom_tool_call", "functions", PROGRAM)


def test_two_namespaces_with_one_name_are_told_apart(gateway):
    tools = [
        {"type": "namespace", "name": name, "description": "Files.", "tools": [{**WAIT, "name": "open"}]}
        for name in ("local", "remote")
    ]
    server, upstream = gateway("--- answer\ntext ok\n", "chat")
    turn(server, [{**TOOLS, "tools": tools}, *START[1:]])
    names = [tool["function"]["name"] for tool in upstream.bodies()[0]["tools"]]
    assert len(set(names)) == 2
    other, _ = gateway(f"--- answer\ncall {names[1]} id=call_a {{}}\n", "chat")
    call = done(turn(other, [{**TOOLS, "tools": tools}, *START[1:]]))[-1]
    assert (call["name"], call["namespace"]) == ("open", "remote")


def test_unknown_ids_and_metadata_are_accepted_in_a_stored_response_too(chat):
    server, _ = chat()
    with server.http() as http:
        made = http.post("/v1/responses", json={**request(START), "store": True, "stream": False}).json()
        assert made["status"] == "completed"
        assert http.get(f"/v1/responses/{made['id']}").json()["output"] == made["output"]
        kept = http.get(f"/v1/responses/{made['id']}/input_items?order=asc").json()["data"]
    assert [item["id"] for item in kept] == [item["id"] for item in START]
    assert kept[0]["tools"] == TOOLS["tools"]
