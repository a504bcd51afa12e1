"""The official Node clients: their flows live in node/, one script for each API."""

import pytest

GREETING = '--- answer\ntext Hello,\ntext " wörld 👋"\nusage input=12 cached=4 output=7 reasoning=2\n'
PLACE = '--- answer\ntext {"city":\ntext "\\"Paris\\",\\"people\\":2}"\n'
WEATHER = '--- answer\ncall get_weather id=call_a {"city":"Paris"}\n--- answer\ntext It is sunny.\n'
CUT = "--- answer\ntext Hel\nwait 20ms\nreset\n"


@pytest.mark.parametrize("script", ["responses.mjs", "chat.mjs"])
def test_flows(starter, node, dialect, script):
    scripts = {
        "BASE_URL": GREETING,
        "PARSE_URL": PLACE,
        "TOOL_URL": WEATHER,
        "TOOL_STREAM_URL": WEATHER,
        "CUT_URL": CUT,
    }
    urls = {name: starter.gateway(text, dialect)[0].base_url for name, text in scripts.items()}
    assert node(script, **urls).strip() == "done"


def test_flows_of_messages(starter, node, any_dialect):
    scripts = {
        "BASE_URL": GREETING.replace(" reasoning=2", ""),
        "PARSE_URL": PLACE,
        "TOOL_URL": WEATHER,
        "TOOL_STREAM_URL": WEATHER,
        "CUT_URL": CUT,
        "FAIL_URL": "--- answer\ntext Hel\nfail server_error broken\n",
        "LIMIT_URL": "--- answer\nerror 429 rate_limit_error slow down\n",
        "BROKEN_URL": "--- answer\nerror 500 api_error broken\n",
    }
    started = {name: starter.gateway(text, any_dialect) for name, text in scripts.items()}
    urls = {name: server.root_url for name, (server, _) in started.items()}
    assert node("anthropic.mjs", **urls).strip() == "done"
    # Threads are refused by us, and nothing of it reaches the upstream.
    assert [len(started[name][1].requests()) for name in ("TOOL_URL", "TOOL_STREAM_URL")] == [2, 2]
