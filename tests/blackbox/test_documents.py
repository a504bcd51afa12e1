"""PDF documents toward models that read none: their text is taken out in a worker process."""

import pathlib
import re
import subprocess
import time

import pytest
from openai import BadRequestError

import papers

ANSWER = "--- answer\ntext ok\n"
TEXT_ONLY = '[[capabilities]]\nmodel = "*"\npdf = false\n'
PAPER = papers.said("Invoice 4711")


def responses_input(document: bytes) -> list:
    file = {"type": "input_file", "filename": "bill.pdf", "file_data": papers.data_url(document)}
    return [{"role": "user", "content": [{"type": "input_text", "text": "What is it?"}, file]}]


def chat_messages(document: bytes) -> list:
    file = {"type": "file", "file": {"filename": "bill.pdf", "file_data": papers.data_url(document)}}
    return [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, file]}]


def messages_messages(document: bytes) -> list:
    source = {"type": "base64", "media_type": "application/pdf", "data": papers.base64_of(document)}
    return [{"role": "user", "content": [{"type": "document", "title": "bill.pdf", "source": source}]}]


def ask(server, client_dialect: str, document: bytes):
    """The request of a client of that dialect; its raw answer."""
    if client_dialect == "messages":
        with server.anthropic() as client:
            return client.messages.with_raw_response.create(
                model="m", max_tokens=9, messages=messages_messages(document)
            )
    with server.openai() as client:
        if client_dialect == "chat":
            return client.chat.completions.with_raw_response.create(model="m", messages=chat_messages(document))
        return client.responses.with_raw_response.create(model="m", input=responses_input(document))


@pytest.mark.parametrize("client_dialect", ["chat", "responses", "messages"])
def test_the_text_is_sent_in_place_of_the_document(gateway, any_dialect, client_dialect):
    server, upstream = gateway(ANSWER, any_dialect, TEXT_ONLY)
    raw = ask(server, client_dialect, PAPER)
    sent = str(upstream.bodies()[0])
    assert "Invoice 4711" in sent and "bill.pdf" in sent
    assert papers.base64_of(PAPER)[:40] not in sent and "application/pdf" not in sent
    with server.http(headers={"x-api-key": "any"}) as client:
        report = client.get(f"/trilith/requests/{raw.headers['x-request-id']}/losses").json()
    assert "text taken out of the PDF" in str(report)


@pytest.mark.parametrize("client_dialect", ["chat", "responses", "messages"])
def test_a_model_that_reads_pdf_gets_the_document(gateway, client_dialect):
    server, upstream = gateway(ANSWER, client_dialect)
    ask(server, client_dialect, PAPER)
    assert papers.base64_of(PAPER) in str(upstream.bodies()[0])


def test_the_document_itself_is_kept(gateway):
    server, upstream = gateway(ANSWER, "responses", '[[capabilities]]\nmodel = "blind"\npdf = false\n')
    with server.openai() as client:
        first = client.responses.create(model="blind", input=responses_input(PAPER))
        client.responses.create(model="sighted", input="and now?", previous_response_id=first.id)
    blind, sighted = map(str, upstream.bodies())
    assert papers.base64_of(PAPER) not in blind
    assert papers.base64_of(PAPER) in sighted


@pytest.mark.parametrize("what", papers.HOSTILE)
def test_what_cannot_be_read_is_the_callers_mistake_and_ends_soon(module_gateway, what):
    server, upstream = module_gateway
    began = time.monotonic()
    with server.openai(timeout=60) as client, pytest.raises(BadRequestError) as caught:
        client.responses.create(model="m", input=responses_input(papers.HOSTILE[what]), store=False)
    assert time.monotonic() - began < 30
    assert caught.value.param == "input[0].content[1]"
    assert "PDF" in caught.value.message
    assert upstream.bodies() == []
    assert server.peak_memory() < 400 << 20, "the server itself grows by the request alone"
    assert server.child.poll() is None


@pytest.fixture(scope="module")
def module_gateway(module_starter):
    return module_starter.gateway(ANSWER, "chat", TEXT_ONLY)


def test_chat_and_messages_name_their_own_field(gateway):
    server, _ = gateway(ANSWER, "chat", TEXT_ONLY)
    with server.http(headers={"x-api-key": "any", "anthropic-version": "2023-06-01"}) as client:
        body = {"model": "m", "messages": chat_messages(papers.HOSTILE["garbage"])}
        answer = client.post("/v1/chat/completions", json=body)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "messages")
        body = {"model": "m", "max_tokens": 9, "messages": messages_messages(papers.HOSTILE["garbage"])}
        answer = client.post("/v1/messages", json=body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_a_worker_keeps_nothing_and_may_do_little(binary, tmp_path):
    with (tmp_path / "handed down").open("w") as other:
        worker = subprocess.Popen(
            [binary, "worker", "pdf-text"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[other.fileno()],
        )
    own = pathlib.Path(f"/proc/{worker.pid}")
    limits = {"Max cpu time": 10, "Max file size": 0, "Max open files": 3, "Max address space": 1 << 30}

    def is_confined() -> bool:
        text = (own / "limits").read_text()
        return all(re.search(rf"^{name} +{most} +{most} ", text, re.M) for name, most in limits.items())

    deadline = time.monotonic() + 10
    while not is_confined():
        assert time.monotonic() < deadline, (own / "limits").read_text()
        time.sleep(0.01)
    assert sorted(path.name for path in (own / "fd").iterdir()) == ["0", "1", "2"]
    text, _ = worker.communicate(PAPER)
    assert (text.strip(), worker.returncode) == (b"Invoice 4711", 0)


def test_workers_are_not_for_people(binary, starter):
    shown = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    assert "worker" not in shown
    read = subprocess.run([binary, "worker", "pdf-text"], input=PAPER, capture_output=True, check=True)
    assert read.stdout.strip() == b"Invoice 4711"
