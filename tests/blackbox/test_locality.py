"""Data that stays at home: what a tool marked local only answered, and what is said under such a key or model."""

import httpx
import openai
import pytest

from configs import provider
from harness import Tape

ANSWER = "--- answer\ntext from-NAME\n"
CRM = '[[tools]]\nname = "crm_*"\nlocal_only = true\n'
KEYS = """
[[keys]]
name = "private"
key = "sk-private-0123456789"
local_only = true
[[keys]]
name = "open"
key = "sk-open-0123456789ab"
"""
CALLED = {"type": "function_call", "call_id": "c1", "name": "crm_find", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "canary-of-the-crm"}


def models(**targets) -> str:
    """Models by name, each with its targets in order."""
    text = ""
    for name, places in targets.items():
        listed = ", ".join(f'{{ provider = "{place}" }}' for place in places)
        text += f'[[models]]\nname = "{name}"\ntargets = [{listed}]\n'
    return text


@pytest.fixture
def house(starter):
    """house(rules, dialects) -> (server, home, away): `home` is marked local; `both` falls over from away to home."""

    def build(rules: str, home_dialect: str = "chat", away_dialect: str = "chat", home_script: str = ANSWER):
        home = starter.mock(home_script.replace("NAME", "home"), home_dialect)
        away = starter.mock(ANSWER.replace("NAME", "away"), away_dialect)
        places = provider("home", home, home_dialect, "local = true")
        places += provider("away", away, away_dialect)
        routes = models(home=["home"], away=["away"], both=["away", "home"], back=["home", "away"])
        return starter.serve(places + routes + rules), home, away

    return build


def refusal(caught, rule: str) -> openai.PermissionDeniedError:
    error = caught.value
    assert error.status_code == 403 and error.code == "local_only"
    assert rule in error.message and "local" in error.message
    return error


def crm_turn(client, model: str, **more):
    """A response whose input holds what the tool answered."""
    return client.responses.create(
        model=model, input=[{"role": "user", "content": "who?"}, CALLED, RESULT], **more
    )


@pytest.mark.parametrize("away_dialect", ["chat", "responses", "messages"])
def test_a_chain_that_holds_a_result_stays_at_home(house, away_dialect):
    server, home, away = house(CRM, away_dialect=away_dialect)
    with server.openai() as client:
        before = client.responses.create(model="away", input="no secrets yet")
        assert before.output_text == "from-away"
        raw = client.responses.with_raw_response.create(
            model="both", input=[CALLED, RESULT], previous_response_id=before.id
        )
        assert raw.headers["x-trilith-local-only"] == "tool 'crm_*'"
        held = raw.parse()
        assert held.output_text == "from-home"
        sent = len(away.bodies())
        with pytest.raises(openai.PermissionDeniedError) as caught:
            client.responses.create(model="away", input="go on", previous_response_id=held.id)
        assert refusal(caught, "tool 'crm_*'").param == "previous_response_id"
        # What a model made of it is held too, wherever it is said again.
        with pytest.raises(openai.PermissionDeniedError) as caught:
            reference = {"type": "item_reference", "id": held.output[0].id}
            client.responses.create(model="away", input=[reference, {"role": "user", "content": "repeat"}])
        assert refusal(caught, "tool 'crm_*'").param == "input[0]"
        assert len(away.bodies()) == sent
        # A branch from before is free, the chain itself goes on at home.
        fork = client.responses.create(model="away", input="else", previous_response_id=before.id)
        assert fork.output_text == "from-away"
        streamed = client.responses.create(model="both", input="go on", previous_response_id=held.id, stream=True)
        assert list(streamed)[-1].response.output_text == "from-home"
    assert "canary-of-the-crm" not in str(away.bodies())
    assert "canary-of-the-crm" in str(home.bodies())


def test_marks_survive_a_restart_and_the_end_of_the_rule(house, starter):
    server, _, away = house(CRM)
    with server.openai() as client:
        held = crm_turn(client, "home")
    server.stop()
    text = server.config_file.read_text().replace(CRM, "")
    server.config_file.write_text(text)
    again = starter.serve(text)
    with again.openai() as client, pytest.raises(openai.PermissionDeniedError) as caught:
        client.responses.create(model="away", input="go on", previous_response_id=held.id)
    refusal(caught, "tool 'crm_*'")
    assert away.bodies() == []


def test_fall_over_stays_at_home(house):
    server, home, away = house(CRM, home_script="--- answer\nerror 500 broken it is down\n")
    with server.openai() as client:
        with pytest.raises(openai.APIStatusError) as caught:
            crm_turn(client, "back")
        assert caught.value.status_code >= 500
        assert client.responses.create(model="back", input="hi").output_text == "from-away"
    assert len(away.bodies()) == 1 and "canary" not in str(away.bodies())
    assert "canary" in str(home.bodies())


CHAT_HISTORY = [
    {"role": "user", "content": "who?"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "crm_find", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "canary-of-the-crm"},
]
MESSAGES_HISTORY = [
    {"role": "user", "content": "who?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "crm_find", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "canary-of-the-crm"}]},
]


@pytest.mark.parametrize("away_dialect", ["chat", "messages"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_history_that_the_client_holds_is_read_on_both_roads(house, away_dialect, stream):
    server, home, away = house(CRM, home_dialect=away_dialect, away_dialect=away_dialect)
    with server.openai() as client:
        with pytest.raises(openai.PermissionDeniedError) as caught:
            client.chat.completions.create(model="away", messages=CHAT_HISTORY, stream=stream)
        assert refusal(caught, "tool 'crm_*'").param == "messages"
        kept = client.chat.completions.with_raw_response.create(model="both", messages=CHAT_HISTORY)
        assert kept.headers["x-trilith-local-only"] == "tool 'crm_*'"
        assert kept.parse().choices[0].message.content == "from-home"
        free = client.chat.completions.with_raw_response.create(model="both", messages=CHAT_HISTORY[:1])
        assert "x-trilith-local-only" not in free.headers
        assert free.parse().choices[0].message.content == "from-away"
    headers = {"anthropic-version": "2023-06-01", "x-api-key": "any"}
    body = {"model": "away", "max_tokens": 9, "messages": MESSAGES_HISTORY, "stream": stream}
    count = {"model": "away", "messages": MESSAGES_HISTORY}
    answer = httpx.post(f"{server.base_url}/messages", json=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "permission_error")
    assert "tool 'crm_*'" in answer.json()["error"]["message"]
    # A question of how long it is says all of it.
    answer = httpx.post(f"{server.base_url}/messages/count_tokens", json=count, headers=headers)
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "permission_error")
    answer = httpx.post(f"{server.base_url}/messages/count_tokens", json={**count, "model": "both"}, headers=headers)
    assert (answer.status_code, answer.headers["x-trilith-local-only"]) == (200, "tool 'crm_*'")
    assert "canary" not in str(away.bodies()) and "canary" in str(home.bodies())


def test_bytes_that_may_pass_stay_as_they_are(serve):
    away = Tape(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
    server = serve(provider("away", away, "chat") + models(away=["away"]) + CRM)
    body = b'{ "model":"away" , "messages":[ {"role":"user","content":"hi"} ],"odd":1.50 }'
    with server.http(headers={"content-type": "application/json"}) as client:
        answer = client.post("/v1/chat/completions", content=body)
    away.close()
    assert (answer.status_code, answer.content) == (200, b"{}")
    assert away.bodies == [body]


@pytest.mark.parametrize("path", ["responses", "chat/completions"])
def test_everything_under_a_key_stays_at_home(house, path):
    server, home, away = house(KEYS)
    field = {"input": "canary"} if path == "responses" else {"messages": [{"role": "user", "content": "canary"}]}

    def ask(model: str, key: str, **more):
        headers = {"authorization": f"Bearer {key}"}
        return httpx.post(f"{server.base_url}/{path}", json={"model": model, **field, **more}, headers=headers)

    private, free = "sk-private-0123456789", "sk-open-0123456789ab"
    refused = ask("away", private)
    assert refused.status_code == 403
    assert refused.json()["error"]["param"] == "model" and "key 'private'" in refused.json()["error"]["message"]
    made = ask("both", private)
    assert made.status_code == 200 and "from-home" in made.text
    assert made.headers["x-trilith-local-only"] == "key 'private'"
    assert away.bodies() == []
    if path == "responses":
        # The same tenant's other key cannot carry it away.
        follow = ask("away", free, previous_response_id=made.json()["id"])
        assert follow.status_code == 403 and "key 'private'" in follow.json()["error"]["message"]
        assert away.bodies() == []
    assert "from-away" in ask("both", free).text


def test_everything_under_a_model_stays_at_home(house):
    rule = '[[models]]\nname = "private"\nlocal_only = true\ntargets = [{ provider = "away" }, { provider = "home" }]\n'
    server, _, away = house(rule)
    with server.openai() as client:
        made = client.responses.create(model="private", input="canary")
        assert made.output_text == "from-home"
        with pytest.raises(openai.PermissionDeniedError) as caught:
            client.responses.create(model="away", input="go on", previous_response_id=made.id)
        refusal(caught, "model 'private'")
        said = client.chat.completions.create(model="private", messages=[{"role": "user", "content": "canary"}])
        assert said.choices[0].message.content == "from-home"
    assert away.bodies() == []


def test_the_log_names_the_rule(house):
    server, _, _ = house(CRM + '[log]\nlevel = "debug"\n')
    with server.openai() as client:
        crm_turn(client, "home")
        with pytest.raises(openai.PermissionDeniedError):
            crm_turn(client, "away")
    server.stop()
    done = [line for line in server.log.splitlines() if "request done" in line]
    assert "crm_*" in done[0]
    refused = [line for line in server.log.splitlines() if "request refused" in line]
    assert "held to local targets by tool 'crm_*'" in refused[0]
    assert "canary" not in server.log
