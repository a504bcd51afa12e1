"""Images and documents that callers name by an address, fetched for targets that take none."""

import http.server
import threading

import pytest
from openai import BadRequestError

import papers
from harness import free_port
from pictures import RED_DOT as PNG

ANSWER = "--- answer\ntext ok\n"
NO_ADDRESSES = '[[capabilities]]\nmodel = "*"\nimage_urls = false\ndocument_urls = false\n'


class Files(http.server.BaseHTTPRequestHandler):
    """A house's file server; it remembers whom it served what."""

    asked: list

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        kind, content = {
            "/cat.png": ("image/png", PNG),
            "/odd.png": ("image/jpeg", PNG),
            "/bill.pdf": ("application/pdf", papers.said("Invoice 4711")),
            "/page.html": ("text/html", b"<html>"),
            "/huge.png": ("image/png", PNG + bytes(3 << 20)),
        }.get(self.path, (None, b""))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("location", f"http://localhost:{self.server.server_port}/cat.png")
        elif kind is None:
            self.send_response(404)
        else:
            self.send_response(200)
            self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def files():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), Files)
    server.asked = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def fetch(files, private: str = '"127.0.0.1"') -> str:
    return (
        f'[fetch]\nenabled = true\nhttp = true\nports = ["{files.server_port}"]\n'
        f'private_hosts = [{private}]\nmax_bytes = "1MiB"\ntime = "5s"\n'
    )


def image(url: str) -> list:
    return [{"role": "user", "content": [{"type": "input_image", "image_url": url, "detail": "auto"}]}]


def document(url: str) -> list:
    return [{"role": "user", "content": [{"type": "input_file", "file_url": url}]}]


def test_what_is_behind_an_address_is_sent_in_its_place(gateway, files, any_dialect):
    server, upstream = gateway(ANSWER, any_dialect, NO_ADDRESSES + fetch(files))
    with server.openai() as client:
        raw = client.responses.with_raw_response.create(model="m", input=image(f"{files.url}/cat.png"))
        client.responses.create(model="m", input=document(f"{files.url}/bill.pdf"))
    picture, paper = map(str, upstream.bodies())
    assert papers.base64_of(PNG) in picture and files.url not in picture
    assert papers.base64_of(papers.said("Invoice 4711")) in paper and files.url not in paper
    sent = {name.lower() for _, headers in files.asked for name in headers}
    assert sent <= {"host", "accept", "user-agent"}, "nothing of the caller's is sent"
    with server.http(headers={"x-api-key": "any"}) as client:
        report = client.get(f"/trilith/requests/{raw.headers['x-request-id']}/losses").text
    assert "fetched here" in report


def test_every_road_and_client_fetches(gateway, files):
    server, upstream = gateway(ANSWER, "chat", NO_ADDRESSES + fetch(files))
    part = {"type": "image_url", "image_url": {"url": f"{files.url}/cat.png"}}
    with server.openai() as client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": [part]}])
    source = {"type": "url", "url": f"{files.url}/cat.png"}
    with server.anthropic() as client:
        message = {"role": "user", "content": [{"type": "image", "source": source}]}
        client.messages.create(model="m", max_tokens=9, messages=[message])
    assert all(papers.base64_of(PNG) in str(body) for body in upstream.bodies())


def test_a_wrong_declared_type_is_corrected_and_told(gateway, files):
    server, upstream = gateway(ANSWER, "chat", NO_ADDRESSES + fetch(files))
    with server.openai() as client:
        raw = client.responses.with_raw_response.create(model="m", input=image(f"{files.url}/odd.png"))
    assert "data:image/png;base64" in str(upstream.bodies()[0])
    assert "another type than image/png" in raw.headers["x-trilith-warning"]


def test_a_pdf_behind_an_address_becomes_text_for_those_who_read_none(gateway, files):
    server, upstream = gateway(ANSWER, "chat", NO_ADDRESSES + "pdf = false\n" + fetch(files))
    with server.openai() as client:
        client.responses.create(model="m", input=document(f"{files.url}/bill.pdf"))
    assert "Invoice 4711" in str(upstream.bodies()[0])


@pytest.mark.parametrize("path, reason", [
    ("/none.png", "status 404"),
    ("/page.html", "no image"),
    ("/huge.png", "more bytes"),
    ("/moved", "no public address"),
])
def test_what_cannot_be_had_is_refused_and_nothing_is_sent(gateway, files, path, reason):
    server, upstream = gateway(ANSWER, "chat", NO_ADDRESSES + fetch(files))
    with server.openai() as client, pytest.raises(BadRequestError) as caught:
        client.responses.create(model="m", input=image(files.url + path))
    assert reason in caught.value.message and caught.value.param == "input[0].content[0]"
    assert upstream.bodies() == []
    assert "/cat.png" not in [asked for asked, _ in files.asked]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0.0.0.0"])
def test_this_house_is_not_asked(gateway, files, host):
    server, upstream = gateway(ANSWER, "chat", NO_ADDRESSES + fetch(files, private='"files.example"'))
    with server.openai() as client, pytest.raises(BadRequestError) as caught:
        client.responses.create(model="m", input=image(f"http://{host}:{files.server_port}/cat.png"))
    assert "no public address" in caught.value.message
    assert files.asked == [] and upstream.bodies() == []


def test_nothing_is_fetched_unless_the_operator_says_so(gateway, files):
    server, upstream = gateway(ANSWER, "chat", NO_ADDRESSES)
    with server.openai() as client, pytest.raises(BadRequestError) as caught:
        client.responses.create(model="m", input=image(f"{files.url}/cat.png"))
    assert "[fetch]" in caught.value.message
    assert files.asked == [] and upstream.bodies() == []


def test_an_upstream_that_takes_addresses_gets_them(gateway, files):
    server, upstream = gateway(ANSWER, "chat", fetch(files))
    with server.openai() as client:
        client.responses.create(model="m", input=image(f"{files.url}/cat.png"))
    assert f"{files.url}/cat.png" in str(upstream.bodies()[0])
    assert files.asked == []
