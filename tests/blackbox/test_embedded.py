"""The embedded model through the official SDK: both dialects, whole and streamed, continued by Trilith itself."""

import pathlib

import pytest


@pytest.fixture
def embedded(serve, model_file):
    server = serve("", "--model", str(model_file))
    with server.openai() as client:
        yield client, pathlib.Path(model_file).stem


def test_a_response_is_continued_and_pays_only_for_what_is_new(embedded):
    client, model = embedded
    first = client.responses.create(model=model, input="My name is Ada. Say hello.", max_output_tokens=16)
    assert first.output_text and first.usage.input_tokens > 0
    second = client.responses.create(
        model=model, input="What is my name?", previous_response_id=first.id, max_output_tokens=16
    )
    assert second.output_text
    assert second.usage.input_tokens > first.usage.input_tokens
    assert second.usage.input_tokens_details.cached_tokens > 0
    assert client.responses.retrieve(second.id).output_text == second.output_text


def test_streams_hold_the_same_as_whole_answers(embedded):
    client, model = embedded
    ask = {"model": model, "temperature": 0, "input": "Count to five.", "max_output_tokens": 16}
    whole = client.responses.create(**ask)
    with client.responses.stream(**ask) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    assert text == whole.output_text


def test_chat_streams_with_usage(embedded):
    client, model = embedded
    chunks = list(
        client.chat.completions.create(
            model=model,
            messages=[{"role": "user", "content": "Say hello."}],
            max_completion_tokens=16,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert 0 < chunks[-1].usage.completion_tokens <= 16
