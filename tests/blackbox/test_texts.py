"""What a person reads when something is wrong: the field or file that is meant, and what to do."""

import subprocess

import pytest
from configs import one_upstream


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/responses", "temperature"),
        ("/v1/responses", "max_output_tokens"),
        ("/v1/chat/completions", "top_p"),
        ("/v1/messages", "temperature"),
    ],
)
def test_a_number_that_no_machine_holds_names_its_field(gateway, path, field, number):
    server, upstream = gateway("--- answer\ntext ok\n", "responses" if "chat" in path else "chat")
    said = '"input":"x"' if "responses" in path else '"max_tokens":9,"messages":[{"role":"user","content":"x"}]'
    with server.http() as http:
        body = f'{{"model":"m",{said},"{field}":{number}}}'
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
        answer = http.post(path, content=body, headers=headers)
    message = answer.json()["error"]["message"]
    assert answer.status_code == 400 and field in message, message
    assert "number instead" not in message and "not valid JSON" not in message
    assert upstream.requests() == []


def test_an_empty_parent_is_told_from_an_unknown_one(gateway):
    server, _ = gateway("--- answer\ntext ok\n")
    with server.http() as http:
        answer = http.post("/v1/responses", json={"model": "m", "input": "x", "previous_response_id": ""})
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (400, "previous_response_id")
    assert "empty" in error["message"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("bad.db", ["damaged", "name another"]),
        ("folder", ["is a folder", "store.url"]),
        ("nowhere/x.db", ["folder that exists", "store.url"]),
    ],
)
def test_a_store_that_cannot_be_opened_says_what_to_do(serve, tmp_path, url, words):
    (tmp_path / "bad.db").write_bytes(b"\x07" * 9000)
    (tmp_path / "folder").mkdir()
    server = serve(f'[store]\nurl = "sqlite:{tmp_path / url}"\n', wait=False)
    assert server.wait_exit() != 0
    assert all(word in server.log for word in words), server.log


def test_a_folder_in_the_place_of_the_sealing_key_is_named(serve, tmp_path):
    server = serve(f'[seal]\nkey_file = "{tmp_path}"\n', wait=False)
    assert server.wait_exit() != 0
    assert "is no file" in server.log and "seal.key_file" in server.log and "chmod" not in server.log


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.mock"], ["missing.mock", "docs/mock.md"]),
        (["good.mock", "--listen", "nonsense"], ["nonsense", "HOST:PORT"]),
    ],
)
def test_a_mock_that_cannot_start_says_why(binary, tmp_path, arguments, words):
    (tmp_path / "good.mock").write_text("--- answer\ntext ok\n")
    command = [str(binary), "mock", *arguments, "--dialect", "chat"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode != 0
    assert all(word in done.stderr for word in words), done.stderr


def test_first_starts_at_once_make_one_sealing_key(starter, tmp_path):
    upstream = starter.mock("--- answer\ntext ok\n")
    key = f'\n[seal]\nkey_file = "{tmp_path}/shared.key"\n'
    servers = [starter.serve(one_upstream(upstream, "chat") + key, wait=False) for _ in range(4)]
    for server in servers:
        server.wait_ready()
    assert len((tmp_path / "shared.key").read_text().split()) == 1
    assert [path.name for path in tmp_path.glob("shared*")] == ["shared.key"]
