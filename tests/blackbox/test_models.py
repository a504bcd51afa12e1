"""The list of models: names of the configuration, and for patterns what the providers list."""

import time

from configs import model, provider

KEY = {"authorization": "Bearer client-key-0123456789"}


def names(server, **headers) -> list[str]:
    with server.http() as http:
        return [entry["id"] for entry in http.get("/v1/models", headers=headers).json()["data"]]


def lists(upstream) -> list[dict]:
    return [request for request in upstream.requests() if request["path"].endswith("/models")]


def test_the_models_of_a_pattern_are_those_that_its_providers_list(starter):
    first = starter.mock("models gpt-a gpt-b other\n--- answer\ntext ok\n")
    second = starter.mock("models gpt-b gpt-c gpt-d claude-x\n--- answer\ntext ok\n", "responses")
    server = starter.serve(
        provider("one", first, "chat")
        + provider("two", second, "responses")
        + model("named", "one=gpt-a")
        + model("gpt-c", "one=gpt-a")
        + model("gpt-*", "one", "two")
        + model("claude-*", "two=claude-x")
        + model("any-*", "two=claude-x")
        + '\n[[keys]]\nname = "k"\nkey = "client-key-0123456789"\nmodels = ["gpt-a", "gpt-c", "gpt-d", "claude-*"]\n'
    )
    # Once each, those with a name of their own first, and only what this key may call and a call would reach.
    assert names(server, **KEY) == ["gpt-c", "gpt-a", "gpt-d", "claude-x"]
    assert names(server, **KEY) and (len(lists(first)), len(lists(second))) == (1, 1), "kept for a while"
    assert lists(first)[0]["headers"]["authorization"] == "Bearer secret-of-one"


def test_a_provider_that_lists_nothing_takes_nothing_from_the_list(starter):
    good = starter.mock("models a b\n--- answer\ntext ok\n")
    bad = starter.mock('--- answer path "/models"\nwhole\nbody {"data":7}\n\n--- answer\ntext ok\n')
    slow = starter.mock('--- answer path "/models"\nhang\n\n--- answer\ntext ok\n')
    targets = provider("good", good, "chat") + provider("bad", bad, "chat") + provider("slow", slow, "chat")
    server = starter.serve(targets + model("fixed", "good=a") + model("*", "bad", "slow", "good"))
    started = time.monotonic()
    assert names(server)[:1] == ["fixed"] and {"a", "b"} <= set(names(server))
    assert time.monotonic() - started < 9
    started = time.monotonic()
    assert {"fixed", "a", "b"} <= set(names(server))
    assert time.monotonic() - started < 2


def test_every_model_that_is_listed_can_be_called(gateway):
    server, _ = gateway("models x y\n--- answer\ntext ok\n")
    assert names(server) == ["x", "y"]
    with server.openai() as client:
        for listed in client.models.list():
            assert client.models.retrieve(listed.id).id == listed.id
            assert client.responses.create(model=listed.id, input="hi").output_text == "ok"
