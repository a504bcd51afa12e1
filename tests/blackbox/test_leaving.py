"""Clients that leave, and clients that read slowly."""

import json
import socket
import time

import pytest

HI = [{"role": "user", "content": "hi"}]
ASKED = {
    "chat": ("/v1/chat/completions", {"model": "m", "messages": HI}),
    "responses": ("/v1/responses", {"model": "m", "input": "hi"}),
    "responses, not stored": ("/v1/responses", {"model": "m", "input": "hi", "store": False}),
}
REQUESTS = {**ASKED, "three answers": ("/v1/chat/completions", {"model": "m", "messages": HI, "n": 3})}


def opened(server, asked: str, stream: bool, receive: int | None = None) -> socket.socket:
    """A connection on which a request was sent."""
    path, body = REQUESTS[asked]
    content = json.dumps({**body, "stream": stream}).encode()
    connection = socket.socket()
    if receive:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    connection.settimeout(20)
    host, port = server.address.split(":")
    connection.connect((host, int(port)))
    head = f"POST {path} HTTP/1.1\r\nhost: {server.address}\r\ncontent-type: application/json\r\n"
    connection.sendall(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
    return connection


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_upstream_is_left_within_a_second_of_its_client(gateway, dialect, asked, stream):
    server, upstream = gateway("--- answer\ntext Begun\nwait 30s\n", dialect)
    connection = opened(server, asked, stream)
    upstream.wait_requests(1)
    if stream:
        while b"Begun" not in connection.recv(65536):
            pass
    connection.close()
    left = time.monotonic()
    upstream.wait_until(upstream.left, "notice that the client left")
    assert time.monotonic() - left < 1.0
    assert upstream.left() == [1]
    assert len(upstream.requests()) == 1


def test_a_client_that_leaves_while_the_upstream_thinks(gateway, dialect):
    server, upstream = gateway("--- answer\nwait 30s\ntext late\n", dialect)
    connection = opened(server, "responses", True)
    upstream.wait_requests(1)
    connection.close()
    left = time.monotonic()
    upstream.wait_until(upstream.left, "notice that the client left")
    assert time.monotonic() - left < 1.0


@pytest.mark.parametrize("asked", ASKED)
def test_a_slow_reader_does_not_make_memory_grow(gateway, dialect, asked):
    """50 MB for a client that reads nothing at first: what was not read stays at the upstream."""
    server, upstream = gateway("--- answer\nrepeat 25000 text " + "abcdefgh" * 256 + "\n", dialect)
    resting = server.memory()
    connection = opened(server, asked, True, receive=16 << 10)
    upstream.wait_requests(1)
    time.sleep(1.5)
    assert server.peak_memory() - resting < 24 << 20
    connection.close()
