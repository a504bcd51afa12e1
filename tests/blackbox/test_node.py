"""The official Node client: its flows live in node/, one script for each API."""

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
