"""The clients that the other tests stand on are the pinned ones, and run here."""

import json

import openai


def test_the_python_client_is_the_pinned_one():
    assert openai.__version__ == "3.57.0"


def test_the_node_client_runs_on_a_node_that_it_supports(node):
    seen = json.loads(node("versions.mjs"))
    assert (seen["openai"], seen["anthropic"]) == ("7.59.0", "1.14.0")
    assert seen["node"] >= 22
