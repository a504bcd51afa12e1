"""Claude Code, whole turns with tools, over every kind of upstream: one request of the upstream for each turn."""

import json

from pictures import RED_DOT

MESSAGES = ("POST", "/v1/messages?beta=true", 200)


def read_note(agents) -> str:
    note = agents.work / "note.txt"
    note.write_text("pineapple\n")
    return f"""
--- answer
text   Let me read it.
call   Read id=call_a {json.dumps({"file_path": str(note)})}
usage  input=900 cached=800 output=20

--- answer
text   The note says pineapple.
usage  input=950 cached=900 output=5
"""


def offered(body: dict) -> dict:
    """The tools of a request of any dialect, by name."""
    tools = [tool.get("function", tool) for tool in body["tools"]]
    return {tool["name"]: tool for tool in tools}


def result(ran) -> dict:
    """The last line, which says how the whole run went."""
    assert ran.events, ran.printed
    return ran.events[-1]


def test_a_file_is_read(agents, gateway, any_dialect):
    server, upstream = gateway(read_note(agents), any_dialect)
    tap = agents.tap(server)
    ran = agents.claude_code(tap, "What does note.txt say?", "--allowedTools", "Read")
    end = result(ran)
    assert (ran.code, end["result"]) == (0, "The note says pineapple."), ran.printed
    assert (end["num_turns"], end["is_error"]) == (2, False)
    usage = end["usage"]
    assert (usage["input_tokens"], usage["cache_read_input_tokens"], usage["output_tokens"]) == (150, 1700, 25)
    # Nothing but the two turns: a stream that it could not read would have been asked for again, whole.
    assert tap.lines() == [MESSAGES, MESSAGES]
    assert len(upstream.requests()) == 2
    assert "pineapple" in json.dumps(upstream.bodies()[1])
    # All that it asks for is carried or done here: also where losses are refused, it works.
    assert tap.warned() == set()


def test_deferred_tools_are_searched_and_then_offered(agents, gateway, any_dialect):
    script = """
--- answer
call ToolSearch id=call_a {"query":"select:CronCreate"}

--- answer
text Found.
"""
    server, upstream = gateway(script, any_dialect)
    tap = agents.tap(server)
    ran = agents.claude_code(tap, "Find it.", "--allowedTools", "ToolSearch")
    assert (ran.code, result(ran)["result"]) == (0, "Found."), ran.printed
    assert tap.lines() == [MESSAGES, MESSAGES] and len(upstream.requests()) == 2
    first, second = (offered(body) for body in upstream.bodies())
    assert "CronCreate" not in first and "CronCreate" in second
    assert any_dialect == "messages" or not any("defer_loading" in tool for tool in second.values())
    assert "CronCreate" in json.dumps(upstream.bodies()[1]["input" if any_dialect == "responses" else "messages"])


def test_thinking_and_parallel_results_in_order_of_completion(agents, gateway, any_dialect):
    picture = agents.work / "red.png"
    picture.write_bytes(RED_DOT)
    script = f"""
--- answer
think  I should look.
sealed c2VhbGVk
open   a Bash id=call_a
open   b Read id=call_b
args   a {{"command":
args   b {json.dumps({"file_path": str(picture)})}
args   a "\\"sleep 0.3; echo o''ne\\"}}"

--- answer
text   Done.
"""
    server, upstream = gateway(script, any_dialect)
    tap = agents.tap(server)
    ran = agents.claude_code(tap, "Go.", "--allowedTools", "Bash", "Read")
    assert (ran.code, result(ran)["result"]) == (0, "Done."), ran.printed
    assert tap.lines() == [MESSAGES, MESSAGES]
    results = [block for block in tap.asked[1].body["messages"][-1]["content"] if block["type"] == "tool_result"]
    assert [block["tool_use_id"] for block in results] == ["call_b", "call_a"]
    sent = json.dumps(upstream.bodies()[1])
    assert "one" in sent and "iVBORw0KGgo" in sent
    assert sent.count("call_a") == sent.count("call_b") == 2
    # The carrier is back where it was made, as it was, and no envelope leaves.
    assert "c2VhbGVk" in sent and "tl1." not in sent


def test_a_conversation_goes_on_in_another_process(agents, gateway, any_dialect):
    script = "--- answer\ntext First.\n--- answer\ntext Second.\n"
    server, upstream = gateway(script, any_dialect)
    tap = agents.tap(server)
    first = agents.claude_code(tap, "Begin.")
    second = agents.claude_code(tap, "Go on.", "--continue")
    assert [result(ran)["result"] for ran in (first, second)] == ["First.", "Second."]
    assert tap.lines() == [MESSAGES, MESSAGES] and len(upstream.requests()) == 2
    assert "First." in json.dumps(upstream.bodies()[1])


def test_a_refusal_of_the_upstream_is_shown(agents, gateway, any_dialect):
    server, upstream = gateway("--- answer\nerror 400 invalid_request_error the moon is full\n", any_dialect)
    tap = agents.tap(server)
    ran = agents.claude_code(tap, "Go.")
    assert ran.code == 1 and "the moon is full" in result(ran)["result"], ran.printed
    # It tries by itself without this and that of what it sent; each try is one request of the upstream.
    assert {asked.status for asked in tap.asked} == {400}
    assert len(upstream.requests()) == len(tap.asked)
