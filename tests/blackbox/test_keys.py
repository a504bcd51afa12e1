"""Who may call, what a tenant sees, and that keys stay secret."""

import hashlib
import json
import socket
import time

import pytest
from configs import model, provider
from openai import AuthenticationError, BadRequestError, NotFoundError

HASHED = "sk-hashed-0001"
KEYS = f"""
[[keys]]
name = "plain"
tenant = "acme"
key = "sk-plain-0002"
[[keys]]
name = "hashed"
tenant = "acme"
key_hash = "sha256:{hashlib.sha256(HASHED.encode()).hexdigest()}"
[[keys]]
name = "other"
tenant = "globex"
key = "sk-other-0003"
[[keys]]
name = "narrow"
tenant = "acme"
key = "sk-narrow-0004"
models = ["small", "gpt-*"]
[[keys]]
name = "environment"
tenant = "acme"
key = "${{EXAMPLE_KEY}}"
"""
BODY = {"model": "m", "input": "hi"}
SECRETS = [HASHED, "sk-plain-0002", "sk-other-0003", "sk-narrow-0004", "sk-environment-0005", "secret-of-up", "sk-wrong-0006"]


@pytest.fixture(scope="module")
def guarded(module_starter):
    """A server with keys, and its upstream."""
    upstream = module_starter.mock("--- answer\ntext ok\n", "chat")
    config = provider("up", upstream, "chat") + model("*", "up") + KEYS
    return module_starter.serve(config, env={"EXAMPLE_KEY": "sk-environment-0005"}), upstream


PLACES = {
    "bearer": lambda key: {"authorization": f"Bearer {key}"},
    "bearer in lower case": lambda key: {"authorization": f"bearer {key}"},
    "x-api-key": lambda key: {"x-api-key": key},
    "api-key": lambda key: {"api-key": key},
    "x-goog-api-key": lambda key: {"x-goog-api-key": key},
    "the same twice": lambda key: {"x-api-key": key, "authorization": f"Bearer {key}"},
}
ROUTES = [("POST", "/v1/responses", BODY), ("GET", "/v1/models", None), ("GET", "/v1/responses/resp_1", None)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("key", ["sk-plain-0002", HASHED, "sk-environment-0005"])
def test_a_key_is_taken_from_every_place(guarded, place, key):
    with guarded[0].http() as http:
        assert http.post("/v1/responses", json=BODY, headers=PLACES[place](key)).status_code == 200


WRONG = {
    "none": {},
    "unknown": {"authorization": "Bearer sk-wrong-0006"},
    "empty": {"authorization": "Bearer", "x-api-key": ""},
    "another scheme": {"authorization": "Basic sk-plain-0002"},
    "no scheme": {"authorization": "sk-plain-0002"},
    "the hash itself": {"x-api-key": hashlib.sha256(HASHED.encode()).hexdigest()},
    "in another case": {"x-api-key": "SK-PLAIN-0002"},
    "cut": {"x-api-key": "sk-plain-000"},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_without_a_right_key_nothing_is_answered(guarded, wrong):
    server, upstream = guarded
    before = len(upstream.requests())
    with server.http() as http:
        for method, path, body in ROUTES:
            answer = http.request(method, path, json=body, headers=WRONG[wrong])
            assert answer.status_code == 401, path
            error = answer.json()["error"]
            assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_api_key")
            assert answer.headers["x-request-id"]
    assert len(upstream.requests()) == before


@pytest.mark.parametrize("name", ["x-api-key", "api-key", "x-goog-api-key"])
def test_two_different_keys_are_refused(guarded, name):
    headers = {"authorization": "Bearer sk-plain-0002", name: "sk-other-0003"}
    with guarded[0].http() as http:
        answer = http.post("/v1/responses", json=BODY, headers=headers)
    assert answer.status_code == 400 and "two different API keys" in answer.json()["error"]["message"]


def test_the_sdk_sees_its_own_errors(guarded):
    with guarded[0].openai(api_key="sk-wrong-0006") as client, pytest.raises(AuthenticationError):
        client.responses.create(**BODY)


def test_a_key_may_be_limited_to_models(guarded):
    server, upstream = guarded
    with server.openai(api_key="sk-narrow-0004") as client:
        assert client.responses.create(model="gpt-9", input="hi").output_text == "ok"
        assert client.responses.create(model="small", input="hi").output_text == "ok"
        before = len(upstream.requests())
        with pytest.raises(NotFoundError) as caught:
            client.responses.create(model="large", input="hi")
        assert caught.value.code == "model_not_found"
        with pytest.raises(NotFoundError):
            client.chat.completions.create(model="large", messages=[{"role": "user", "content": "hi"}])
    assert len(upstream.requests()) == before


def test_tenants_do_not_see_each_other(guarded):
    server, _ = guarded
    with server.openai(api_key="sk-plain-0002") as mine, server.openai(api_key="sk-other-0003") as theirs:
        made = mine.responses.create(**BODY)
        for refused in (theirs.responses.retrieve, theirs.responses.delete, theirs.responses.input_items.list):
            with pytest.raises(NotFoundError) as caught:
                refused(made.id)
            with pytest.raises(NotFoundError) as unknown:
                refused("resp_00000000000000000000000000000000")
            assert caught.value.message.replace(made.id, "ID") == unknown.value.message.replace(
                "resp_00000000000000000000000000000000", "ID"
            )
        with pytest.raises(BadRequestError) as caught:
            theirs.responses.create(**BODY, previous_response_id=made.id)
        assert caught.value.code == "previous_response_not_found"
        reference = [{"type": "item_reference", "id": made.output[0].id}]
        with pytest.raises(BadRequestError):
            theirs.responses.create(model="m", input=reference)
        assert mine.responses.retrieve(made.id).id == made.id


def test_keys_of_one_tenant_share_what_is_kept(guarded):
    with guarded[0].openai(api_key="sk-plain-0002") as one, guarded[0].openai(api_key=HASHED) as other:
        made = one.responses.create(**BODY)
        assert other.responses.retrieve(made.id).id == made.id
        assert other.responses.create(**BODY, previous_response_id=made.id).status == "completed"


def test_the_losses_of_another_tenants_request_are_not_told(guarded):
    server, _ = guarded
    with server.http() as http:
        mine = {"x-api-key": "sk-plain-0002"}
        answer = http.post("/v1/responses", json={**BODY, "unknown_field": 1}, headers=mine)
        path = f"/trilith/requests/{answer.headers['x-request-id']}/losses"
        assert http.get(path, headers=mine).status_code == 200
        assert http.get(path, headers={"x-api-key": "sk-other-0003"}).status_code == 404
        assert http.get(path).status_code == 401


def test_health_needs_no_key(guarded):
    with guarded[0].http() as http:
        assert http.get("/health").status_code == 200


def test_keys_and_content_stay_out_of_log_and_database(starter):
    upstream = starter.mock('--- answer when "fail"\nerror 500 oops Secret-Reason\n--- answer\ntext Secret-Answer\n', "chat")
    config = provider("up", upstream, "chat", "retries = 0") + model("*", "up") + KEYS + '\n[log]\nlevel = "trace"\n'
    server = starter.serve(config, env={"EXAMPLE_KEY": "sk-environment-0005"})
    with server.http() as http:
        for key in ("sk-plain-0002", HASHED, "sk-wrong-0006", "sk-environment-0005"):
            for asked in ("Secret-Input", "Secret-Input fail"):
                http.post("/v1/responses", json={"model": "m", "input": asked}, headers={"authorization": f"Bearer {key}"})
                http.post("/v1/responses", json={"model": "m", "input": asked, "stream": True}, headers={"x-api-key": key})
    server.stop()
    disk = server.stored_bytes()
    for secret in SECRETS:
        assert secret not in server.log and secret.encode() not in disk, secret
    assert "Secret-" not in server.log
    assert b"Secret-Input" in disk


def test_a_plain_key_is_warned_of_without_showing_it(guarded):
    log = guarded[0].log
    assert "plain" in log and "sk-plain-0002" not in log


def test_requests_of_one_key_are_bounded(starter):
    upstream = starter.mock("--- answer\nwait 2s\ntext ok\n", "chat")
    keys = '\n[[keys]]\nname = "one"\nkey = "sk-one"\nmax_requests = 1\n[[keys]]\nname = "two"\nkey = "sk-two"\n'
    server = starter.serve(provider("up", upstream, "chat") + model("*", "up") + keys)
    with server.openai(api_key="sk-one") as one, server.http(headers={"x-api-key": "sk-one"}) as http:
        stream = one.responses.create(model="m", input="hi", stream=True)
        upstream.wait_requests(1)
        second = http.post("/v1/responses", json=BODY)
        other = http.get("/v1/models", headers={"x-api-key": "sk-two"})
        assert (second.status_code, other.status_code) == (429, 200), json.dumps(second.json())
        assert second.json()["error"]["code"] == "rate_limit_exceeded"
        stream.close()


def test_a_refused_request_leaves_its_connection_usable(guarded):
    """The refusal is known before the body has come."""
    server, _ = guarded
    content = json.dumps(BODY).encode()
    head = f"POST /v1/responses HTTP/1.1\r\nhost: {server.address}\r\ncontent-type: application/json\r\n"
    with socket.create_connection(server.address.split(":"), timeout=5) as connection:
        for _ in range(3):
            connection.sendall(f"{head}content-length: {len(content)}\r\n\r\n".encode())
            time.sleep(0.05)
            connection.sendall(content)
            received = b""
            while not received.endswith(b"}}"):
                piece = connection.recv(65536)
                assert piece, "the connection was closed"
                received += piece
            assert received.startswith(b"HTTP/1.1 401 ")
