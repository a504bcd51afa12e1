"""What an operator sees: starting, refusing to start, health, stopping."""

import json
import re
import signal
import socket
import threading
import time

import pytest
from configs import one_upstream
from harness import free_port


def test_a_server_without_keys_answers_on_loopback_and_ends_on_sigterm(serve):
    server = serve()
    with server.http() as http:
        answer = http.get("/health")
        assert answer.status_code == 200
    assert server.stop() == 0


def test_a_wide_listen_without_keys_refuses_to_start(serve):
    server = serve('[server]\nlisten = "0.0.0.0:0"\n', wait=False)
    assert server.wait_exit() != 0
    assert "key" in server.log


def test_an_unknown_key_is_named_with_file_line_and_a_suggestion(serve):
    server = serve('[server]\nlisen = "127.0.0.1:0"\n', wait=False)
    assert server.wait_exit() != 0
    assert server.config_file.name in server.log
    assert "lisen" in server.log and "listen" in server.log
    assert ":2" in server.log or "line 2" in server.log


@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.example"}, {"origin": "https://evil.example"}],
    ids=["foreign host", "foreign origin"],
)
def test_without_keys_foreign_pages_are_refused(serve, headers):
    with serve().http() as http:
        answer = http.post("/v1/responses", json={"model": "m", "input": "hi"}, headers=headers)
    assert 400 <= answer.status_code < 500


def test_without_keys_a_form_is_refused(serve):
    with serve().http() as http:
        answer = http.post(
            "/v1/responses", content='{"model":"m","input":"hi"}', headers={"content-type": "text/plain"}
        )
    assert 400 <= answer.status_code < 500


def test_every_answer_has_a_request_id(serve):
    with serve().http() as http:
        answers = [http.get("/v1/models"), http.get("/v1/nowhere")]
    identities = [answer.headers.get("x-request-id") for answer in answers]
    assert all(identities) and len(set(identities)) == 2


@pytest.fixture(scope="module")
def plain(module_starter):
    """A server without models."""
    return module_starter.serve()


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/responses?beta=true"])
def test_an_upgrade_is_refused_with_426(plain, path):
    headers = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    with plain.http() as http:
        answer = http.get(path, headers=headers)
    assert answer.status_code == 426
    assert answer.json()["error"]["message"] and answer.headers["upgrade"] == "websocket"


REFUSED = {
    "an unknown path": ("GET", "/v1/nowhere", 404),
    "the root": ("GET", "/", 404),
    "a path below another": ("POST", "/v1/responses/a/b/c", 404),
    "a path without version": ("POST", "/responses", 404),
    "a dot path": ("GET", "/v1/../v1/models", 404),
    "a doubled slash": ("GET", "//v1//models", 404),
    "a method": ("PUT", "/v1/responses", 405),
    "a method of an item": ("POST", "/v1/responses/resp_1", 405),
    "a read": ("GET", "/v1/chat/completions", 405),
    "a deletion": ("DELETE", "/v1/models", 405),
    "an unknown model": ("GET", "/v1/models/none", 404),
    "an unknown response": ("GET", "/v1/responses/resp_1", 404),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_served(plain, case):
    method, path, status = REFUSED[case]
    server = plain
    # By hand: clients tidy paths up.
    with socket.create_connection(server.address.split(":"), timeout=10) as connection:
        head = f"{method} {path} HTTP/1.1\r\nhost: {server.address}\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: 2\r\nconnection: close\r\n\r\n{{}}".encode())
        received = b""
        while piece := connection.recv(65536):
            received += piece
    head, body = received.split(b"\r\n\r\n", 1)
    assert int(head.split()[1]) == status
    error = json.loads(body)["error"]
    assert set(error) == {"message", "type", "param", "code"} and error["message"]
    assert b"x-request-id: req_" in head


def test_the_admin_listener(gateway):
    server, _ = gateway("--- answer\ntext ok\nusage input=12 output=7\n")
    with server.openai() as client, server.http(base_url=server.admin_url) as admin:
        client.responses.create(model="m", input="hi")
        with pytest.raises(Exception):
            client.responses.create(model="m", input="hi", temperature=9)
        assert admin.get("/health").text == "ok\n" and admin.get("/ready").text == "ready\n"
        answer = admin.get("/metrics")
        assert admin.get("/v1/models").status_code == 404
        assert admin.post("/metrics").status_code == 405
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.text.endswith("# EOF\n")
    samples = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if line and not line.startswith("#"))

    def total(name: str, *labels: str) -> float:
        matching = [key for key in samples if key.split("{")[0] == name and all(label in key for label in labels)]
        return sum(float(samples[key]) for key in matching)

    assert total("trilith_requests_total", 'dialect="responses"', 'provider="up"', 'status="2xx"') == 1
    assert total("trilith_requests_total", 'status="4xx"') == 1
    assert total("trilith_time_to_first_byte_seconds_count") == 1
    assert total("trilith_tokens_total") == 19
    assert total("trilith_errors_total", 'origin="caller"') == 1
    names = {key.split("{")[0] for key in samples}
    assert all(re.fullmatch(r"[a-z_]+", name) for name in names)
    kinds = {line.split()[2] for line in answer.text.splitlines() if line.startswith("# TYPE")}
    assert {re.sub(r"_(bucket|sum|count|total)$", "", name) for name in names} <= kinds


def test_the_public_listener_has_no_metrics(serve):
    with serve().http() as http:
        assert http.get("/metrics").status_code == 404


def test_sigterm_lets_a_running_stream_end(gateway, dialect):
    server, _ = gateway('--- answer\ntext Hello\nwait 800ms\ntext " world"\n', dialect)
    with server.openai() as client:
        stream = iter(client.responses.create(model="m", input="hi", stream=True))
        next(event for event in stream if event.type == "response.output_text.delta")
        server.child.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        with pytest.raises(OSError):
            socket.create_connection(server.address.split(":"), timeout=1)
        events = list(stream)
    assert events[-1].type == "response.completed" and events[-1].response.output_text == "Hello world"
    assert server.wait_exit(5) == 0


def test_an_idle_connection_does_not_hold_the_end_up(serve):
    server = serve()
    with server.http() as http:
        http.get("/health")
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 2


def test_a_stream_that_outlives_the_drain_is_cut_and_kept_as_ended(starter):
    upstream = starter.mock("--- answer\ntext Begun\nwait 30s\n")
    head = f'[server]\nlisten = "127.0.0.1:{free_port()}"\nadmin_listen = ""\ndrain_timeout = "300ms"\n'
    server = starter.serve(head + one_upstream(upstream, "chat"))
    with server.openai() as client:
        stream = iter(client.responses.create(model="m", input="hi", stream=True))
        id = next(stream).response.id
        server.child.send_signal(signal.SIGTERM)
        server.wait_exit(5)
    again = starter.serve(server.config_file.read_text())
    with again.openai() as client:
        assert client.responses.retrieve(id).status in ("failed", "cancelled")


def test_an_agents_many_connections_at_once(gateway):
    server, upstream = gateway("--- answer\nwait 200ms\ntext ok\n")
    answers = []

    def ask():
        with server.http() as http:
            answers.append(http.post("/v1/responses", json={"model": "m", "input": "hi"}).status_code)

    threads = [threading.Thread(target=ask) for _ in range(64)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 64 and len(upstream.requests()) == 64
    assert time.monotonic() - started < 6


def test_json_logs_are_one_object_a_line(gateway):
    server, _ = gateway("--- answer\nerror 500 oops It broke\n", "chat", '\n[log]\nformat = "json"\nlevel = "debug"\n[limits]\nretries = 0\n')
    with server.http() as http:
        id = http.post("/v1/responses", json={"model": "m", "input": "hi"}).headers["x-request-id"]
    server.stop()
    entries = [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]
    assert any(id in json.dumps(entry) for entry in entries)


@pytest.mark.parametrize("store", ["memory:", "sqlite::memory:", "sqlite:{folder}/own.db"])
def test_stores(starter, tmp_path, store):
    upstream = starter.mock("--- answer\ntext ok\n")
    url = store.format(folder=tmp_path)
    server = starter.serve(one_upstream(upstream, "chat") + f'\n[store]\nurl = "{url}"\n')
    with server.openai() as client:
        made = client.responses.create(model="m", input="hi")
        assert client.responses.create(model="m", input="and", previous_response_id=made.id).status == "completed"
    assert (tmp_path / "own.db").exists() is store.endswith(".db")
    if store.endswith("memory:"):
        assert not list(server.folder.rglob("*.db"))


def test_a_slow_head_does_not_hold_a_connection(starter):
    head = f'[server]\nlisten = "127.0.0.1:{free_port()}"\nadmin_listen = ""\nheader_timeout = "300ms"\n'
    server = starter.serve(head)
    with socket.create_connection(server.address.split(":"), timeout=5) as connection:
        connection.sendall(b"POST /v1/responses HTTP/1.1\r\nhost: a")
        started = time.monotonic()
        while connection.recv(4096):
            pass
        assert time.monotonic() - started < 3


def test_a_log_that_is_no_terminal_has_no_colours(gateway):
    server, _ = gateway("--- answer\nerror 500 server_error broken\n")
    with server.http() as http:
        http.post("/v1/responses", json={"model": "m", "input": "x"})
    server.stop()
    assert server.log and "\x1b" not in server.log
