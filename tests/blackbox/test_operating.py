"""What an operator sees: starting, refusing to start, health, stopping."""

import pytest


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
