"""JSON of a schema from models that do not hold to it by themselves: the official clients get what they were promised, or an error."""

import anthropic
import openai
import pydantic
import pytest

HI = [{"role": "user", "content": "Where?"}]
# What is known of this name: it holds to no schema, and can be made to call a tool.
OLD = "claude-3-5-haiku-latest"
NO_SCHEMA = '\n[[capabilities]]\nmodel = "*"\njson_schema = false\n'
RIGHT = '{"city":"Paris","people":2}'
WRONG = '{"city":"Paris","people":"two"}'


class Place(pydantic.BaseModel):
    city: str
    people: int


class Small(pydantic.BaseModel):
    people: int = pydantic.Field(ge=1, le=9)


PARIS = Place(city="Paris", people=2)
SCHEMA = {
    "name": "Place",
    "strict": True,
    "schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
        "required": ["city", "people"],
        "additionalProperties": False,
    },
}
FORMAT = {"format": {"type": "json_schema"} | SCHEMA}


def called(*arguments: str) -> str:
    return "".join(f"--- answer\ncall Place {args}\nusage input=5 output=3\n\n" for args in arguments)


def said(*texts: str) -> str:
    return "".join(f"--- answer\ntext {text}\nusage input=5 output=3\n\n" for text in texts)


@pytest.fixture(params=["responses", "messages"])
def unable(request, gateway):
    """unable(script) -> (Server, Mock): an upstream whose models hold to no schema, and not of the client's dialect."""
    return lambda script: gateway(script, request.param, NO_SCHEMA)


def test_a_tool_stands_for_the_schema(unable):
    server, upstream = unable(called(RIGHT))
    with server.openai() as client:
        made = client.chat.completions.parse(model="m", messages=HI, response_format=Place)
        assert made.choices[0].message.parsed == PARIS and made.choices[0].finish_reason == "stop"
        assert made.choices[0].message.tool_calls is None
        with client.chat.completions.stream(model="m", messages=HI, response_format=Place) as stream:
            assert stream.get_final_completion().choices[0].message.parsed == PARIS
        response = client.responses.parse(model="m", input="Where?", text_format=Place)
        assert response.output_parsed == PARIS and response.text.format.type == "json_schema"
        with client.responses.stream(model="m", input="Where?", text_format=Place) as stream:
            assert stream.get_final_response().output_parsed == PARIS
    for body in upstream.bodies():
        assert "response_format" not in body and "output_config" not in body
        assert body["tool_choice"] and len(body["tools"]) == 1


def test_an_invalid_answer_is_asked_for_once_more(unable):
    server, upstream = unable(called(WRONG, RIGHT))
    with server.openai() as client:
        made = client.chat.completions.parse(model="m", messages=HI, response_format=Place)
    assert made.choices[0].message.parsed == PARIS
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (10, 6)
    first, second = map(str, upstream.bodies())
    assert "two" in second and "/people" in second and "two" not in first


def test_invalid_twice_is_an_error(unable):
    server, upstream = unable(called(WRONG, WRONG))
    with server.openai() as client:
        with pytest.raises(openai.APIStatusError) as failed:
            client.chat.completions.parse(model="m", messages=HI, response_format=Place)
        assert failed.value.status_code == 502 and "schema" in failed.value.message
        assert len(upstream.requests()) == 2
        # What is kept is kept as failed.
        with pytest.raises(openai.APIStatusError, match="schema"):
            client.responses.create(model="m", input="Where?", text=FORMAT)


def test_a_stream_that_turns_out_invalid_ends_in_an_error(unable):
    server, upstream = unable(called(WRONG))
    with server.openai() as client:
        with pytest.raises(openai.APIError, match="schema"):
            for _ in client.chat.completions.create(
                model="m", messages=HI, stream=True,
                response_format={"type": "json_schema", "json_schema": SCHEMA},
            ):
                pass
    assert len(upstream.requests()) == 1


def test_schema_beside_tools_is_refused_by_name(unable):
    server, upstream = unable(called(RIGHT))
    tool = {"type": "function", "function": {"name": "look", "strict": True, "parameters": {
        "type": "object", "properties": {}, "required": [], "additionalProperties": False}}}
    with server.openai() as client, pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.parse(model="m", messages=HI, response_format=Place, tools=[tool])
    assert refused.value.param == "response_format" and upstream.requests() == []


def test_limits_that_messages_cannot_hold_to_are_looked_at(gateway):
    server, upstream = gateway(said('{"people":12}', '{"people":2}'), "messages")
    with server.openai() as client:
        made = client.chat.completions.parse(model="m", messages=HI, response_format=Small)
    assert made.choices[0].message.parsed == Small(people=2)
    schema = upstream.bodies()[0]["output_config"]["format"]["schema"]
    assert "maximum" not in schema["properties"]["people"]
    assert "maximum: 9" in schema["properties"]["people"]["description"]


def test_json_mode_on_messages_is_a_tool_of_any_object(gateway):
    server, upstream = gateway("--- answer\ncall response {\"a\":1}\n", "messages")
    with server.openai() as client:
        made = client.chat.completions.create(model="m", messages=HI, response_format={"type": "json_object"})
    assert made.choices[0].message.content == '{"a":1}'
    assert upstream.bodies()[0]["tools"][0]["input_schema"] == {"type": "object"}


def test_a_kept_response_over_a_server_of_chat(gateway):
    server, upstream = gateway(called(RIGHT), "chat", NO_SCHEMA)
    with server.openai() as client:
        made = client.responses.parse(model="m", input="Where?", text_format=Place)
        assert made.output_parsed == PARIS
        assert client.responses.retrieve(made.id).output_text == RIGHT
    assert upstream.bodies()[0]["tool_choice"]["function"]["name"] == "Place"


@pytest.mark.parametrize("dialect", ["chat", "responses"])
def test_clients_of_messages(gateway, dialect):
    server, upstream = gateway("--- answer\ncall response " + RIGHT + "\n", dialect, NO_SCHEMA)
    with server.anthropic() as client:
        made = client.messages.parse(model="m", max_tokens=100, messages=HI, output_format=Place)
        assert made.parsed_output == PARIS and made.stop_reason == "end_turn"
    server, upstream = gateway(said(WRONG, WRONG), dialect, NO_SCHEMA.replace("json", "forced_tool_choice = false\njson"))
    with server.anthropic() as client, pytest.raises(anthropic.APIStatusError):
        client.messages.parse(model="m", max_tokens=100, messages=HI, output_format=Place)
    assert "JSON Schema" in str(upstream.bodies()[0])


def test_a_model_is_known_by_its_name(gateway):
    server, upstream = gateway(called(RIGHT), "messages")
    with server.openai() as client:
        made = client.chat.completions.parse(model=OLD, messages=HI, response_format=Place)
    assert made.choices[0].message.parsed == PARIS
    assert upstream.bodies()[0]["tool_choice"] == {"type": "tool", "name": "Place"}
