"""What cannot be carried is said: in headers, in a report, as a refusal where the caller wants none of it."""

import pytest

HI = [{"role": "user", "content": "hi"}]
# client dialect -> (path, a request that an upstream of the other dialect cannot take whole, the fields lost)
LOSSY = {
    "chat": (
        "/v1/chat/completions",
        {"model": "m", "messages": HI, "seed": 7, "presence_penalty": 0.5},
        {"seed", "presence_penalty"},
    ),
    "responses": (
        "/v1/responses",
        {"model": "m", "input": "hi", "other_field": [1], "unknown_field": 3},
        {"other_field", "unknown_field"},
    ),
}
UPSTREAM = {"chat": "responses", "responses": "chat"}
SCRIPT = "--- answer\ntext ok\nusage input=1 output=1\n"


@pytest.fixture(params=LOSSY)
def lossy(request, gateway):
    """(a server's HTTP client, its upstream, path, request, fields lost)."""
    server, upstream = gateway(SCRIPT, UPSTREAM[request.param])
    with server.http() as http:
        yield http, upstream, *LOSSY[request.param]


def warned(answer) -> set[str]:
    return {warning.split(";")[0] for warning in answer.headers.get_list("x-trilith-warning")}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_losses_are_in_headers_and_in_the_report(lossy, stream):
    http, upstream, path, body, fields = lossy
    answer = http.post(path, json={**body, "stream": stream})
    assert answer.status_code == 200
    assert warned(answer) == fields
    assert not fields & set(upstream.bodies()[0])
    id = answer.headers["x-request-id"]
    report = http.get(f"/trilith/requests/{id}/losses").json()
    assert report["request_id"] == id
    assert {loss["path"] for loss in report["losses"] if loss["disposition"] == "warn"} == fields
    assert all(loss["why"] for loss in report["losses"])


def test_strict_refuses_the_first_loss_and_sends_nothing(lossy):
    http, upstream, path, body, fields = lossy
    for stream in (False, True):
        answer = http.post(path, json={**body, "stream": stream}, headers={"x-trilith-strict": "true"})
        assert answer.status_code == 400
        error = answer.json()["error"]
        assert error["param"] in fields and error["type"] == "invalid_request_error"
    assert upstream.requests() == []


def test_strict_is_read_in_any_case_and_never_ignored(lossy):
    http, upstream, path, body, fields = lossy
    loud = http.post(path, json=body, headers={"x-trilith-strict": "TRUE"})
    assert loud.status_code == 400 and loud.json()["error"]["param"] in fields
    unclear = http.post(path, json=body, headers={"x-trilith-strict": "yes"})
    assert unclear.status_code == 400 and unclear.json()["error"]["param"] == "x-trilith-strict"
    assert upstream.requests() == []


def test_strict_lets_a_request_pass_that_loses_nothing(lossy):
    http, upstream, path, body, fields = lossy
    plain = {name: value for name, value in body.items() if name not in fields}
    answer = http.post(path, json=plain, headers={"x-trilith-strict": "true"})
    assert answer.status_code == 200 and warned(answer) == set()


def test_a_request_without_losses_has_no_report(lossy):
    http, _, path, body, fields = lossy
    plain = {name: value for name, value in body.items() if name not in fields}
    answer = http.post(path, json=plain)
    assert "x-trilith-warning" not in answer.headers
    assert http.get(f"/trilith/requests/{answer.headers['x-request-id']}/losses").status_code == 404
    assert http.get("/trilith/requests/req_unknown/losses").status_code == 404


def test_a_route_may_be_strict(starter):
    upstream = starter.mock(SCRIPT, "chat")
    server = starter.serve(
        f'[[providers]]\nname = "up"\ndialect = "chat"\nbase_url = "{upstream.base_url}/v1"\n'
        '[[models]]\nname = "strict-*"\nstrict = true\ntargets = [{ provider = "up" }]\n'
        '[[models]]\nname = "*"\ntargets = [{ provider = "up" }]\n'
    )
    body = LOSSY["responses"][1]
    with server.http() as http:
        assert http.post("/v1/responses", json={**body, "model": "strict-m"}).status_code == 400
        assert http.post("/v1/responses", json={**body, "model": "loose-m"}).status_code == 200
    assert len(upstream.requests()) == 1


def test_a_loss_found_in_the_answer_is_a_comment_before_the_end(gateway):
    """The upstream counts nothing: that shows only at its end, after the headers."""
    server, _ = gateway("--- answer\ntext ok\n", "chat")
    with server.http() as http:
        answer = http.post("/v1/responses", json={"model": "m", "input": "hi", "stream": True})
        lines = answer.text.split("\n")
        report = http.get(f"/trilith/requests/{answer.headers['x-request-id']}/losses").json()
    comments = [at for at, line in enumerate(lines) if line.startswith(":") and "usage" in line]
    assert len(comments) == 1, "no comment line names the loss"
    assert comments[0] < lines.index("event: response.completed")
    assert [loss["path"] for loss in report["losses"]] == ["usage"]


def test_many_losses_are_counted_beyond_the_first(gateway):
    server, _ = gateway(SCRIPT, "chat")
    unknown = {f"unknown_field_{n:02}": n for n in range(30)}
    with server.http() as http:
        answer = http.post("/v1/responses", json={"model": "m", "input": "hi", **unknown})
        warnings = answer.headers.get_list("x-trilith-warning")
        report = http.get(f"/trilith/requests/{answer.headers['x-request-id']}/losses").json()
    assert len(warnings) == 16 and warnings[-1] == "+15 more"
    assert len(report["losses"]) + report["omitted"] == 30


def test_what_a_header_cannot_hold_is_escaped(gateway):
    server, _ = gateway(SCRIPT, "chat")
    with server.http() as http:
        answer = http.post("/v1/responses", json={"model": "m", "input": "hi", "unbekännt\r\nx-evil: 1": 1})
    assert answer.status_code == 200
    assert "x-evil" not in answer.headers
    (warning,) = answer.headers.get_list("x-trilith-warning")
    assert warning.isascii() and "unbek" in warning


def test_losses_are_counted(gateway):
    server, _ = gateway(SCRIPT, "chat")
    path, body, _ = LOSSY["responses"]
    with server.http() as http:
        http.post(path, json=body)
        metrics = http.get(f"{server.admin_url}/metrics").text
    counted = [line for line in metrics.splitlines() if line.startswith("trilith_losses_total{")]
    # A caller's own words would make the number of series grow without bound.
    assert any(line.endswith(" 2") for line in counted) and "unknown_field" not in metrics, counted
