"""What an upstream cannot do by itself is done for it: the official clients see what they asked for."""

import socket
import time

import openai
import pytest

from test_leaving import HI, opened

THREE = """
--- answer
text One
usage input=20 output=3

--- answer
text Two, and more
usage input=20 output=5

--- answer
text Three
usage input=20 output=4
"""
WORDS = ["One", "Three", "Two, and more"]
LOOK = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "integer"}}}}
CHAT_TOOL = {"type": "function", "function": LOOK}


def emulated(server, answer_id: str) -> set[str]:
    with server.http() as http:
        losses = http.get(f"/trilith/requests/{answer_id}/losses").json()["losses"]
    return {loss["path"] for loss in losses if loss["disposition"] == "emulate"}


@pytest.fixture(params=["responses", "messages"])
def single(request) -> str:
    """Dialects whose upstreams give one answer to a call."""
    return request.param


def test_several_answers_whole(gateway, single):
    server, upstream = gateway(THREE, single)
    with server.openai() as client:
        raw = client.chat.completions.with_raw_response.create(model="m", messages=HI, n=3)
        answer = raw.parse()
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert sorted(choice.message.content for choice in answer.choices) == WORDS
    assert {choice.finish_reason for choice in answer.choices} == {"stop"}
    # What was written is summed, the prompt is one.
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (20, 12)
    assert len(upstream.requests()) == 3
    assert all("n" not in body for body in upstream.bodies())
    assert "n" in emulated(server, raw.headers["x-request-id"])


def test_several_answers_streamed(gateway, single):
    server, upstream = gateway(THREE, single)
    texts, ends, usage = {}, {}, None
    with server.openai() as client:
        options = {"include_usage": True}
        for chunk in client.chat.completions.create(
            model="m", messages=HI, n=3, stream=True, stream_options=options
        ):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
                if choice.finish_reason:
                    assert choice.index not in ends
                    ends[choice.index] = choice.finish_reason
    assert sorted(texts) == [0, 1, 2] and sorted(texts.values()) == WORDS
    assert ends == {0: "stop", 1: "stop", 2: "stop"}
    assert (usage.prompt_tokens, usage.completion_tokens) == (20, 12)
    assert len(upstream.requests()) == 3


def test_too_many_answers_are_refused_before_anything_is_sent(gateway, single):
    server, upstream = gateway(THREE, single, '\n[limits]\nmax_choices = 2\n')
    with server.openai() as client, pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="m", messages=HI, n=3)
    assert refused.value.param == "n" and "limits.max_choices" in refused.value.message
    assert upstream.requests() == []


def test_one_failure_before_the_first_byte_is_tried_again(gateway, single):
    script = "--- answer\nstatus 503\n\n--- answer\ntext One\n\n--- answer\ntext Two, and more\n\n--- answer\ntext Three\n"
    server, upstream = gateway(script, single, "\n[limits]\nretries = 1\n")
    with server.openai() as client:
        answer = client.chat.completions.create(model="m", messages=HI, n=3)
    assert sorted(choice.message.content for choice in answer.choices) == WORDS
    assert len(upstream.requests()) == 4


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_client_that_leaves_cancels_every_call(gateway, single, stream):
    server, upstream = gateway("--- answer\ntext Begun\nwait 30s\n", single)
    connection: socket.socket = opened(server, "three answers", stream)
    upstream.wait_requests(3)
    if stream:
        seen = b""
        while seen.count(b"Begun") < 3:
            seen += connection.recv(65536)
    connection.close()
    left = time.monotonic()
    upstream.wait_until(lambda: len(upstream.left()) == 3, "notice that the client left, on every call")
    assert time.monotonic() - left < 1.0


CALLS = '--- answer\ntext Looking.\ncall look id=a {"at": 1}\ncall look id=b {"at": 2}\nusage input=9 output=8\n'
PLAIN = """
[[capabilities]]
model = "*"
single_tool_call = false
stop_strings = 4
"""


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_one_call_at_a_time(gateway, any_dialect, stream):
    server, upstream = gateway(CALLS, any_dialect, PLAIN)
    tool = {"name": "look", "input_schema": LOOK["parameters"]}
    asked = {"model": "m", "max_tokens": 50, "messages": HI, "tools": [tool]}
    asked["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
    if any_dialect == "messages":
        # Bytes pass between equals: another client shows it.
        with server.openai() as client:
            answer = client.chat.completions.create(
                model="m", messages=HI, tools=[CHAT_TOOL], parallel_tool_calls=False
            )
        calls = answer.choices[0].message.tool_calls
        assert [call.function.arguments for call in calls] == ['{"at": 1}']
        assert answer.choices[0].finish_reason == "tool_calls"
        return
    with server.anthropic() as client:
        if stream:
            with client.messages.stream(**asked) as running:
                answer = running.get_final_message()
        else:
            answer = client.messages.create(**asked)
    assert [block.type for block in answer.content] == ["text", "tool_use"]
    assert (answer.content[1].id, answer.content[1].input) == ("a", {"at": 1})
    assert answer.stop_reason == "tool_use"
    assert "parallel_tool_calls" not in upstream.bodies()[0]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_more_stop_strings_than_the_upstream_takes(gateway, dialect, stream):
    server, upstream = gateway("--- answer\ntext Before ST\ntext OP after\nusage input=3 output=9\n", dialect)
    stops = ["A1", "B2", "C3", "D4", "E5", "STOP"]
    asked = {"model": "m", "max_tokens": 50, "messages": HI, "stop_sequences": stops}
    with server.anthropic() as client:
        if stream:
            with client.messages.stream(**asked) as running:
                answer = running.get_final_message()
        else:
            answer = client.messages.create(**asked)
    assert answer.content[0].text == "Before "
    assert (answer.stop_reason, answer.stop_sequence) == ("stop_sequence", "STOP")
    assert "stop" not in upstream.bodies()[0]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_client_that_reads_the_stop_string_is_told_which_one_it_was(gateway, dialect, stream):
    server, _ = gateway("--- answer\ntext Before ST\ntext OP after\nusage input=3 output=9\n", dialect)
    asked = {"model": "m", "max_tokens": 50, "messages": HI, "stop_sequences": ["HALT", "STOP"]}
    with server.anthropic() as client:
        if stream:
            with client.messages.stream(**asked) as running:
                answer = running.get_final_message()
        else:
            answer = client.messages.create(**asked)
    assert answer.content[0].text == "Before "
    assert (answer.stop_reason, answer.stop_sequence) == ("stop_sequence", "STOP")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_no_output_is_an_empty_answer_and_no_call(gateway, dialect, stream):
    server, upstream = gateway("--- answer\ntext never\n", dialect)
    with server.anthropic() as client:
        asked = {"model": "m", "max_tokens": 0, "messages": HI}
        if stream:
            with client.messages.stream(**asked) as running:
                answer = running.get_final_message()
        else:
            answer = client.messages.create(**asked)
    assert (answer.content, answer.stop_reason, answer.usage.output_tokens) == ([], "max_tokens", 0)
    assert upstream.requests() == []


TOO_LONG = "--- answer times 2\nerror 400 context_length_exceeded prompt is too long\n\n--- answer\ntext It fits.\n"
TURNS = [{"role": role, "content": f"{role} {turn}"} for turn in range(6) for role in ("user", "assistant")]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_conversation_that_is_too_long_is_shortened_if_asked_for(gateway, single_turns, stream):
    server, upstream = gateway(TOO_LONG, single_turns)
    asked = {"model": "m", "input": [*TURNS, *HI], "truncation": "auto", "instructions": "Be kind."}
    with server.openai() as client:
        if stream:
            with client.responses.stream(**asked) as running:
                answer = [event for event in running][-1].response
        else:
            answer = client.responses.create(**asked)
        assert answer.output_text == "It fits." and answer.truncation == "auto"
        # What was left out is still there for whoever reads the conversation.
        kept = client.responses.input_items.list(answer.id, limit=100).data
    assert len(kept) == len(TURNS) + 1
    sent = [len(str(body["messages"])) for body in upstream.bodies()]
    assert sent[0] > sent[1] > sent[2]
    assert all("Be kind." in str(body) and "'hi'" in str(body) for body in upstream.bodies())


def test_a_conversation_that_is_too_long_is_refused_otherwise(gateway, single_turns):
    server, upstream = gateway(TOO_LONG, single_turns)
    with server.openai() as client, pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(model="m", input=[*TURNS, *HI])
    assert refused.value.code == "context_length_exceeded"
    assert len(upstream.requests()) == 1


@pytest.fixture(params=["chat", "messages"])
def single_turns(request) -> str:
    """Dialects whose upstreams shorten nothing."""
    return request.param


UNFORCED = '\n[[capabilities]]\nmodel = "*"\nforced_tool_choice = false\n'


def test_a_forced_choice_is_left_to_the_model_if_the_caller_agrees(gateway, single):
    server, upstream = gateway("--- answer\ntext No.\n", single, UNFORCED)
    asked = {"model": "m", "messages": HI, "tools": [CHAT_TOOL], "tool_choice": "required"}
    with server.openai() as client:
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(**asked)
        assert refused.value.param == "tool_choice" and upstream.requests() == []
        agreed = {"x-trilith-unforced": "true"}
        raw = client.chat.completions.with_raw_response.create(**asked, extra_headers=agreed)
        assert raw.parse().choices[0].message.content == "No."
        assert raw.headers["x-trilith-warning"].startswith("tool_choice;")
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(**asked, extra_headers={**agreed, "x-trilith-strict": "true"})
        with pytest.raises(openai.BadRequestError) as refused:
            client.chat.completions.create(**asked, extra_headers={"x-trilith-unforced": "perhaps"})
        assert refused.value.param == "x-trilith-unforced"
