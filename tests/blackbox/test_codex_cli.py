"""Codex CLI, whole turns with a shell command, over every kind of upstream: one request of the upstream a turn."""

import json

import pytest

RESPONSES = ("POST", "/v1/responses", 200)
ANSWER = """
--- answer
text   The note says pineapple.
usage  input=950 cached=900 output=5
"""


def note(agents) -> str:
    file = agents.work / "note.txt"
    file.write_text("pineapple\n")
    return f"cat {file}"


def calling(call: str) -> str:
    return f"--- answer\ntext Let me look.\n{call}\nusage input=900 cached=800 output=20\n{ANSWER}"


def check(ran, upstream) -> None:
    """The command ran, its output reached the model, and the model's last word reached the user."""
    assert ran.code == 0, ran.printed
    done = [event["item"] for event in ran.events if event["type"] == "item.completed"]
    (command,) = [item for item in done if item["type"] == "command_execution"]
    assert (command["aggregated_output"], command["exit_code"]) == ("pineapple\n", 0)
    assert [item["text"] for item in done if item["type"] == "agent_message"][-1] == "The note says pineapple."
    end = ran.events[-1]
    assert end["type"] == "turn.completed", ran.printed
    usage = end["usage"]
    assert (usage["input_tokens"], usage["cached_input_tokens"], usage["output_tokens"]) == (1850, 1700, 25)
    assert len(upstream.requests()) == 2
    assert "pineapple" in json.dumps(upstream.bodies()[1])


def test_a_command_is_run(agents, gateway, any_dialect):
    script = calling(f"call exec_command id=call_a {json.dumps({'cmd': note(agents)})}")
    server, upstream = gateway(script, any_dialect)
    tap = agents.tap(server)
    ran = agents.codex(tap, "What does the note say?", model="some-model")
    check(ran, upstream)
    assert tap.lines() == [RESPONSES, RESPONSES]


def test_its_websocket_is_refused_so_that_it_goes_on_over_http_at_once(agents, gateway, any_dialect):
    script = calling(f"call exec_command id=call_a {json.dumps({'cmd': note(agents)})}")
    server, upstream = gateway(script, any_dialect)
    tap = agents.tap(server)
    ran = agents.codex(tap, "What does the note say?", model="some-model", built_in=True)
    check(ran, upstream)
    assert tap.lines() == [("GET", "/v1/responses", 426), RESPONSES, RESPONSES]


def test_tools_inside_the_input_and_calls_that_are_programs(agents, gateway, any_dialect):
    """Its newest models get one tool that takes a program, in a namespace, and no list of tools at all."""
    program = f"const r = await tools.exec_command({{cmd: {json.dumps(note(agents))}}}); text(r.output);"
    call = {
        "chat": f"custom functions__exec id=call_a {json.dumps(program)}",
        "responses": f"custom exec in=functions id=call_a {json.dumps(program)}",
        "messages": f"call functions__exec id=call_a {json.dumps({'input': program})}",
    }[any_dialect]
    server, upstream = gateway(calling(call), any_dialect)
    tap = agents.tap(server)
    ran = agents.codex(tap, "What does the note say?", model="gpt-6-sol")
    check(ran, upstream)
    assert tap.lines() == [RESPONSES, RESPONSES]
    assert "tools" not in tap.asked[0].body and (any_dialect == "responses" or upstream.bodies()[0]["tools"])


def test_reasoning_comes_back_to_where_it_was_made(agents, gateway, any_dialect):
    reasoned = f"think I look.\nsealed c2VhbGVk\ncall exec_command id=call_a {json.dumps({'cmd': note(agents)})}"
    server, upstream = gateway(calling(reasoned), any_dialect)
    ran = agents.codex(agents.tap(server), "What does the note say?", model="some-model")
    check(ran, upstream)
    sent = json.dumps(upstream.bodies()[1])
    assert "c2VhbGVk" in sent and "tl1." not in sent


@pytest.mark.parametrize("upstream_dialect", ["chat"])
def test_a_search_that_the_upstream_cannot_run_is_named_and_nothing_is_asked(agents, gateway, upstream_dialect):
    server, upstream = gateway(ANSWER, upstream_dialect)
    ran = agents.codex(agents.tap(server), "Go.", model="some-model", search=True)
    assert ran.code == 1 and "web_search" in ran.printed
    assert upstream.requests() == []
