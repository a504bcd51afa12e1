"""The edges of HTTP: paths, hosts, bodies that are refused unread, slow clients, the operator's listener."""

import json
import signal
import socket
import time

import pytest
from harness import free_port


@pytest.fixture(scope="module")
def plain(module_starter):
    """A server over one upstream, without keys."""
    return module_starter.gateway("--- answer\ntext ok\n")[0]


def send(address: str, head: str, body: bytes = b"") -> bytes:
    """Everything that comes back on a connection of its own, by hand: clients tidy requests up."""
    with socket.create_connection(address.split(":"), timeout=10) as connection:
        connection.sendall(head.encode() + b"\r\n\r\n" + body)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return received


def status(answer: bytes) -> int:
    return int(answer.split()[1])


METHODS = {
    "/v1/responses": ("PUT", "POST"),
    "/v1/chat/completions": ("GET", "POST"),
    "/v1/messages": ("GET", "POST"),
    "/v1/models": ("DELETE", "GET"),
    "/v1/responses/resp_1": ("POST", "GET, DELETE"),
    "/v1/responses/resp_1/cancel": ("GET", "POST"),
    "/v1/responses/resp_1/input_items": ("POST", "GET"),
    "/health": ("POST", "GET"),
}


@pytest.mark.parametrize("path", METHODS)
def test_a_wrong_method_is_told_with_the_right_ones(plain, path):
    method, allowed = METHODS[path]
    with plain.http() as http:
        answer = http.request(method, path, json={})
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert allowed in answer.json()["error"]["message"]


@pytest.mark.parametrize("operation", ["input_tokens", "compact", "input_tokens/count", "resp_1/events"])
def test_an_operation_that_is_not_served_is_not_found(plain, operation):
    with plain.http() as http:
        answer = http.post(f"/v1/responses/{operation}", json={"model": "m", "input": "x"})
    assert answer.status_code == 404 and "allow" not in answer.headers
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


def test_percent_signs_of_a_path_are_undone(plain):
    with plain.openai() as client:
        id = client.responses.create(model="m", input="hi").id
    coded = "".join(f"%{byte:02X}" for byte in id.encode())
    for path, expected in [
        (f"/v1/responses/{coded}", 200),
        (f"/v1/responses/{id.replace('_', '%5f')}/input_items", 200),
        ("/v1/models/vendor%2Fmodel", 200),
        (f"/v1/responses/{id}%00", 404),
        ("/v1/responses/resp_%FF", 404),
        ("/v1/responses/resp_%", 404),
    ]:
        answer = send(plain.address, f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close")
        assert status(answer) == expected, (path, answer)


@pytest.mark.parametrize(
    ("target", "host", "expected"),
    [
        ("http://127.0.0.1/v1/models", "127.0.0.1", 200),
        ("http://evil.example/v1/models", "127.0.0.1", 403),
        ("http://127.0.0.1/v1/models", "evil.example", 403),
        ("/v1/models", "evil.example", 403),
    ],
)
def test_without_keys_no_name_of_another_machine_is_answered(plain, target, host, expected):
    answer = send(plain.address, f"GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close")
    assert status(answer) == expected, answer
    if expected == 403:
        assert b"127.0.0.1, [::1] or localhost" in answer and b"[[keys]]" in answer


JSON_POST = "POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json"


def test_a_body_that_is_refused_by_its_length_is_not_asked_for(serve):
    server = serve(
        f'[server]\nlisten = "127.0.0.1:{free_port()}"\nadmin_listen = ""\nmax_body_bytes = "1MiB"\n'
    )
    head = f"{JSON_POST}\r\nexpect: 100-continue"
    answer = send(server.address, f"{head}\r\ncontent-length: 2000000")
    assert status(answer) == 413 and b"100 Continue" not in answer
    assert b"connection: close" in answer.lower()
    # One that may come is asked for.
    with socket.create_connection(server.address.split(":"), timeout=5) as connection:
        connection.sendall(f"{head}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        assert b"HTTP/1.1 400 " in connection.recv(4096)


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_a_body_that_was_asked_for_leaves_the_connection_open(plain, framing):
    body = json.dumps({"model": "m", "input": "hi", "store": False}).encode()
    if framing == "length":
        head, sent = f"content-length: {len(body)}", body
    else:
        head, sent = "transfer-encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    with socket.create_connection(plain.address.split(":"), timeout=5) as connection:
        for _ in range(2):
            connection.sendall(f"{JSON_POST}\r\nexpect: 100-continue\r\n{head}\r\n\r\n".encode())
            assert connection.recv(4096).startswith(b"HTTP/1.1 100 ")
            connection.sendall(sent)
            answer = connection.recv(65536)
            assert status(answer) == 200 and b"connection: close" not in answer.lower(), answer


def test_a_body_that_stops_coming_does_not_hold_a_request(serve):
    server = serve(
        f'[server]\nlisten = "127.0.0.1:{free_port()}"\nadmin_listen = ""\nheader_timeout = "400ms"\n'
    )
    started = time.monotonic()
    answer = send(server.address, f"{JSON_POST}\r\ncontent-length: 500", b'{"model":')
    assert status(answer) == 400 and b"request body" in answer
    assert time.monotonic() - started < 4
    # One that comes slowly, but comes, is read.
    body = json.dumps({"model": "m", "input": "hi", "pad": "x" * 40}).encode()
    with socket.create_connection(server.address.split(":"), timeout=5) as connection:
        head = f"{JSON_POST}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        connection.sendall(head.encode())
        for place in range(0, len(body), 16):
            connection.sendall(body[place : place + 16])
            time.sleep(0.15)
        assert b"model_not_found" in connection.recv(65536)


def test_strictness_on_bytes_that_pass(gateway):
    server, upstream = gateway("--- answer\ntext ok\n")
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "vendor_field": 1}
    with server.http() as http:
        for wish, expected in (("true", 200), ("false", 200), ("perhaps", 400)):
            answer = http.post("/v1/chat/completions", json=asked, headers={"x-trilith-strict": wish})
            assert answer.status_code == expected, wish
    assert answer.json()["error"]["param"] == "x-trilith-strict"
    # Nothing is lost of them, so that there is nothing to be strict about.
    assert upstream.bodies() == [asked, asked]
    assert all("x-trilith-strict" not in request["headers"] for request in upstream.requests())


def test_the_operators_listener_is_the_last_to_close(gateway):
    server, _ = gateway('--- answer\ntext Begun\nwait 1500ms\ntext " and done"\n')
    with server.openai() as client, server.http(base_url=server.admin_url) as admin:
        stream = iter(client.responses.create(model="m", input="hi", stream=True))
        next(stream)
        assert admin.get("/ready").status_code == 200
        server.child.send_signal(signal.SIGTERM)

        def told():
            answer = admin.get("/ready")
            return answer if answer.status_code == 503 else None

        assert server.wait_until(told, "503 from /ready").text == "draining\n"
        # A new connection is told so too.
        with server.http(base_url=server.admin_url) as another:
            assert another.get("/ready").status_code == 503
            assert another.get("/health").status_code == 200
        with pytest.raises(OSError):
            socket.create_connection(server.address.split(":"), timeout=2)
        assert list(stream)[-1].response.output_text == "Begun and done"
    assert server.wait_exit(5) == 0


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("GET /nowhere HTTP/1.1\r\nhost: a", 404),
        ("GET /v1/models HTTP/1.1\r\nhost: a", 404),
        ("POST /metrics HTTP/1.1\r\nhost: a\r\ncontent-length: 0", 405),
        ("DELETE /ready HTTP/1.1\r\nhost: a", 405),
        ("BREW /ready HTTP/1.1\r\nhost: a", 405),
        ("GET /ready HTTP/1.1\r\nhost: a\r\nx: " + "y" * 100_000, 431),
        ("GET /" + "y" * 100_000 + " HTTP/1.1\r\nhost: a", 414),
        ("nonsense", 400),
    ],
    ids=["path", "api", "post", "delete", "brew", "huge header", "huge path", "nonsense"],
)
def test_the_operators_listener_bears_abuse(plain, head, expected):
    try:
        answer = send(plain.admin_address, f"{head}\r\nconnection: close")
        assert status(answer) in (expected, 431), answer
    except ConnectionError:
        assert len(head) > 50_000, "only what is too long is cut off"
    with plain.http(base_url=plain.admin_url) as admin:
        assert admin.get("/health").status_code == 200


def test_a_slow_head_does_not_hold_the_operators_listener(serve):
    admin = f"127.0.0.1:{free_port()}"
    serve(
        f'[server]\nlisten = "127.0.0.1:{free_port()}"\nadmin_listen = "{admin}"\nheader_timeout = "300ms"\n'
    )
    started = time.monotonic()
    with socket.create_connection(admin.split(":"), timeout=5) as connection:
        connection.sendall(b"GET /ready HTTP/1.1\r\nhost: a")
        while connection.recv(4096):
            pass
    assert time.monotonic() - started < 3
