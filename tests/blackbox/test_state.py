"""What Trilith remembers: chains, forks, reading back, deleting, crashing, and not remembering at all."""

import asyncio
import contextlib
import time

import httpx
import pytest
from openai import APIError, BadRequestError, NotFoundError

COUNTING = """
--- answer
text answer-1
--- answer
text answer-2
--- answer
text answer-3
--- answer
text answer-4
"""


def said(body: dict, dialect: str) -> list[tuple[str, str]]:
    """(role, text) of everything that the upstream was sent."""
    entries = []
    for message in body["messages"] if dialect == "chat" else body["input"]:
        content = message["content"]
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        entries.append((message["role"], text))
    return entries


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_chain_sends_every_item_once_and_in_order(gateway, dialect, stream):
    server, upstream = gateway(COUNTING, dialect)
    last = None
    with server.openai() as client:
        for turn in ("one", "two", "three"):
            made = client.responses.create(model="m", input=turn, previous_response_id=last, stream=stream)
            if stream:
                made = list(made)[-1].response
            assert made.previous_response_id == last
            last = made.id
    expected = [("user", "one"), ("assistant", "answer-1"), ("user", "two"), ("assistant", "answer-2")]
    assert said(upstream.bodies()[2], dialect) == [*expected, ("user", "three")]


def test_forks_share_their_past_and_nothing_else(gateway, dialect):
    server, upstream = gateway(COUNTING, dialect)
    with server.openai() as client:
        root = client.responses.create(model="m", input="root")
        left = client.responses.create(model="m", input="left", previous_response_id=root.id)
        client.responses.create(model="m", input="right", previous_response_id=root.id)
        client.responses.create(model="m", input="more left", previous_response_id=left.id)
    past = [("user", "root"), ("assistant", "answer-1")]
    assert said(upstream.bodies()[2], dialect) == [*past, ("user", "right")]
    assert said(upstream.bodies()[3], dialect) == [
        *past,
        ("user", "left"),
        ("assistant", "answer-2"),
        ("user", "more left"),
    ]


def test_instructions_and_settings_are_not_inherited(gateway, dialect):
    server, upstream = gateway(COUNTING, dialect)
    with server.openai() as client:
        first = client.responses.create(model="m", input="one", instructions="Be kind.", temperature=0.2)
        second = client.responses.create(model="m", input="two", previous_response_id=first.id)
        third = client.responses.create(
            model="m", input="three", previous_response_id=second.id, instructions="Be brief."
        )
    assert (second.instructions, second.temperature, third.instructions) == (None, 1.0, "Be brief.")
    sent = [str(body) for body in upstream.bodies()]
    assert ["Be kind." in text for text in sent] == [True, False, False]
    assert "Be brief." in sent[2]
    assert "temperature" not in upstream.bodies()[1]


def test_a_chain_may_change_the_model_and_survives_a_restart(starter, dialect):
    server, upstream = starter.gateway(COUNTING, dialect)
    with server.openai() as client:
        first = client.responses.create(model="m-1", input="one")
    assert server.stop() == 0
    again = starter.serve(server.config_file.read_text())
    with again.openai() as client:
        assert client.responses.retrieve(first.id).output_text == "answer-1"
        client.responses.create(model="m-2", input="two", previous_response_id=first.id)
    assert upstream.bodies()[1]["model"] == "m-2"
    assert said(upstream.bodies()[1], dialect) == [("user", "one"), ("assistant", "answer-1"), ("user", "two")]


def test_an_unknown_parent_is_refused(gateway):
    server, upstream = gateway(COUNTING)
    with server.openai() as client, pytest.raises(BadRequestError) as caught:
        client.responses.create(model="m", input="hi", previous_response_id="resp_0123456789abcdef")
    error = caught.value
    assert (error.code, error.param) == ("previous_response_not_found", "previous_response_id")
    assert error.type == "invalid_request_error"
    assert upstream.requests() == []


def test_a_reference_names_any_stored_item_of_its_owner(gateway, dialect):
    server, upstream = gateway(COUNTING, dialect)
    with server.openai() as client:
        first = client.responses.create(model="m", input="one")
        asked = [item.id for item in client.responses.input_items.list(first.id)]
        other = client.responses.create(model="m", input="two")

        def refer(*ids, **options):
            named = [{"type": "item_reference", "id": id} for id in ids]
            return client.responses.create(model="m", input=[*named, {"role": "user", "content": "now"}], **options)

        refer(*asked, first.output[0].id)
        past = [("user", "one"), ("assistant", "answer-1")]
        assert said(upstream.bodies()[2], dialect) == [*past, ("user", "now")]
        refer(first.output[0].id, previous_response_id=other.id, store=False)
        expected = [("user", "two"), ("assistant", "answer-2"), ("assistant", "answer-1"), ("user", "now")]
        assert said(upstream.bodies()[3], dialect) == expected
        client.responses.delete(other.id)
        with pytest.raises(BadRequestError) as caught:
            refer(other.output[0].id)
        assert caught.value.param == "input[0].id"


def test_an_upstream_may_give_one_id_to_everything(gateway):
    item = '{"type":"message","id":"msg_0","role":"assistant","status":"completed","content":[%s]}'
    text = '{"type":"output_text","text":"same","annotations":[]}'
    body = '{"id":"r","object":"response","status":"completed","model":"m","output":[%s]}' % ",".join([item % text] * 2)
    server, _ = gateway(f"--- answer\nwhole\nbody {body}\n", "responses")
    with server.openai() as client:
        last, ids = None, []
        for turn in range(3):
            made = client.responses.create(model="m", input=f"turn {turn}", previous_response_id=last)
            last = made.id
            ids.extend(item.id for item in made.output)
        assert len(set(ids)) == len(ids) == 6
        listed = [item.id for item in client.responses.input_items.list(last, limit=2)]
    assert len(set(listed)) == len(listed) == 7


def test_what_a_chain_holds_is_not_sent_again(gateway, dialect):
    server, upstream = gateway(COUNTING, dialect)
    with server.openai() as client:
        first = client.responses.create(model="m", input="one")
        again = [item.to_dict() for item in first.output]
        with pytest.raises(BadRequestError, match="Duplicate item") as caught:
            client.responses.create(model="m", input=again, previous_response_id=first.id)
    assert caught.value.param == "input[0].id" and len(upstream.requests()) == 1


def test_delete(gateway, dialect):
    server, upstream = gateway(COUNTING, dialect)
    with server.openai() as client:
        root = client.responses.create(model="m", input="root")
        child = client.responses.create(model="m", input="child", previous_response_id=root.id)
        client.responses.delete(root.id)
        for forgotten in (client.responses.retrieve, client.responses.delete, client.responses.input_items.list):
            with pytest.raises(NotFoundError):
                forgotten(root.id)
        with pytest.raises(BadRequestError) as caught:
            client.responses.create(model="m", input="x", previous_response_id=root.id)
        assert caught.value.code == "previous_response_not_found"
        client.responses.create(model="m", input="grandchild", previous_response_id=child.id)
    assert said(upstream.bodies()[2], dialect)[:2] == [("user", "root"), ("assistant", "answer-1")]
    with server.http() as http:
        answer = http.delete(f"/v1/responses/{child.id}")
    assert answer.status_code == 200
    assert answer.json()["id"] == child.id and answer.json()["deleted"] is True


def test_input_items_page_in_both_directions(gateway, dialect):
    server, _ = gateway(COUNTING, dialect)
    items = [{"role": "user", "content": f"item {number}"} for number in range(7)]
    with server.openai() as client:
        first = client.responses.create(model="m", input=items)
        second = client.responses.create(model="m", input="last", previous_response_id=first.id)
        pages = client.responses.input_items

        def texts(id, **query):
            return [item.content[0].text for item in pages.list(id, **query)]

        ascending = [f"item {number}" for number in range(7)]
        assert texts(first.id, order="asc", limit=3) == ascending
        assert texts(first.id, limit=2) == ascending[::-1]
        assert texts(second.id, order="asc", limit=4) == [*ascending, "answer-1", "last"]
        page = pages.list(first.id, order="asc", limit=3)
        assert page.has_more and (page.first_id, page.last_id) == (page.data[0].id, page.data[2].id)
        rest = pages.list(first.id, order="asc", after=page.last_id)
        assert [item.content[0].text for item in rest.data] == ascending[3:] and not rest.has_more
        ids = [item.id for item in pages.list(second.id)]
        assert len(set(ids)) == len(ids) == 9
    with server.http() as http:
        for query in ("limit=0", "limit=101", "limit=x", "order=up", "after=msg_unknown"):
            answer = http.get(f"/v1/responses/{first.id}/input_items?{query}")
            assert answer.status_code == 400, query
            assert answer.json()["error"]["param"] == query.split("=")[0]


def test_what_is_not_to_be_stored_leaves_no_byte_on_disk(gateway, dialect):
    script = '--- answer when "Canary"\nthink Canary-Thought\ntext Canary-Answer\n\n--- answer\ntext Kept-Answer\n'
    server, _ = gateway(script, dialect)
    with server.openai() as client:
        for stream in (False, True):
            made = client.responses.create(
                model="m", input="Canary-Input", instructions="Canary-Rule", store=False, stream=stream
            )
            if stream:
                made = list(made)[-1].response
            assert made.store is False
            with pytest.raises(NotFoundError):
                client.responses.retrieve(made.id)
            with pytest.raises(BadRequestError) as caught:
                client.responses.create(model="m", input="x", previous_response_id=made.id)
            assert caught.value.code == "previous_response_not_found"
        # A stored one shows that the search finds what is there.
        client.responses.create(model="m", input="Kept-Input")
    running = server.stored_bytes()
    server.stop()
    for disk in (running, server.stored_bytes()):
        assert b"Kept-Input" in disk and b"Kept-Answer" in disk
        assert b"Canary" not in disk
    assert "Canary" not in server.log and "Kept-" not in server.log


def test_a_response_is_visible_while_it_streams(gateway, dialect):
    server, _ = gateway("--- answer\ntext Hello\nwait 700ms\ntext \" world\"\n", dialect)
    with server.openai() as client:
        stream = iter(client.responses.create(model="m", input="hi", stream=True))
        created = next(stream)
        seen = client.responses.retrieve(created.response.id)
        assert (seen.status, seen.usage, seen.completed_at) == ("in_progress", None, None)
        assert [item.content[0].text for item in client.responses.input_items.list(seen.id)] == ["hi"]
        for event in stream:
            if event.type == "response.completed":
                assert client.responses.retrieve(seen.id).status == "completed"


def test_a_response_that_is_made_cannot_be_continued_yet(gateway):
    server, _ = gateway("--- answer\ntext Hello\nwait 700ms\ntext \" world\"\n")
    with server.openai() as client:
        stream = iter(client.responses.create(model="m", input="hi", stream=True))
        created = next(stream)
        with pytest.raises(BadRequestError):
            client.responses.create(model="m", input="x", previous_response_id=created.response.id)


def test_after_a_crash_the_running_response_is_failed_and_the_finished_ones_go_on(starter, dialect):
    script = '--- answer when "slow"\ntext Begun\nhang\n\n' + COUNTING
    server, upstream = starter.gateway(script, dialect)
    with server.openai() as client:
        done = client.responses.create(model="m", input="one")
        stream = iter(client.responses.create(model="m", input="slow", previous_response_id=done.id, stream=True))
        running = next(event.response.id for event in stream if event.type == "response.in_progress")
        next(event for event in stream if event.type == "response.output_text.delta")
        server.kill()
    again = starter.serve(server.config_file.read_text())
    with again.openai() as client:
        assert client.responses.retrieve(done.id).to_dict() == done.to_dict()
        failed = client.responses.retrieve(running)
        assert failed.status == "failed" and failed.error.code == "server_error"
        client.responses.create(model="m", input="two", previous_response_id=done.id)
    assert said(upstream.bodies()[-1], dialect) == [("user", "one"), ("assistant", "answer-1"), ("user", "two")]


def test_a_second_server_on_the_same_database_does_not_start(starter, dialect):
    server, _ = starter.gateway("--- answer\ntext Begun\nwait 1s\ntext  and done\n", dialect)
    with server.openai() as client:
        stream = client.responses.create(model="m", input="hi", stream=True)
        first = next(iter(stream))
        second = starter.serve(f'[store]\nurl = "sqlite:{server.database}"\n', wait=False)
        assert second.wait_exit() != 0
        assert "another Trilith" in second.log and str(server.database) in second.log
        assert [event.type for event in stream][-1] == "response.completed"
        assert client.responses.retrieve(first.response.id).status == "completed"


def test_a_failed_answer_is_kept_as_failed(gateway, dialect):
    server, _ = gateway("--- answer\ntext Hel\nno-finish\nno-done\n", dialect)
    with server.openai() as client:
        stream = client.responses.create(model="m", input="hi", stream=True)
        id = next(iter(stream)).response.id
        with contextlib.suppress(APIError):
            list(stream)
        kept = client.responses.retrieve(id)
    assert kept.status == "failed" and kept.error.code == "server_error"


def test_a_response_whose_client_left_is_kept_as_cancelled(gateway, dialect):
    server, _ = gateway("--- answer\ntext Begun\nhang\n", dialect)
    with server.openai() as client:
        stream = client.responses.create(model="m", input="hi", stream=True)
        id = next(iter(stream)).response.id
        stream.close()
        deadline = time.monotonic() + 5
        while (kept := client.responses.retrieve(id)).status == "in_progress" and time.monotonic() < deadline:
            time.sleep(0.05)
    assert kept.status == "cancelled"


def test_only_background_responses_can_be_cancelled(gateway):
    server, _ = gateway(COUNTING)
    with server.openai() as client:
        made = client.responses.create(model="m", input="hi")
        with pytest.raises(BadRequestError, match="Cannot cancel a synchronous response"):
            client.responses.cancel(made.id)
        with pytest.raises(NotFoundError):
            client.responses.cancel("resp_unknown")


def test_what_is_not_served_yet_is_refused_by_name(gateway):
    server, upstream = gateway(COUNTING)
    with server.openai() as client:
        for asked in ({"background": True}, {"conversation": "conv_1"}):
            with pytest.raises(BadRequestError) as caught:
                client.responses.create(model="m", input="hi", **asked)
            assert caught.value.param == next(iter(asked))
    assert upstream.requests() == []


def test_many_writers_of_one_chain_and_a_reader(gateway):
    server, _ = gateway("--- answer\ntext ok\n")
    with server.openai() as client:
        root = client.responses.create(model="m", input="root")
    body = {"model": "m", "input": "next", "previous_response_id": root.id}

    async def all_at_once():
        async with httpx.AsyncClient(base_url=server.base_url, timeout=20, verify=False) as http:
            answers = await asyncio.gather(*[http.post("/responses", json=body) for _ in range(40)])
            ids = [answer.json()["id"] for answer in answers]
            kept = await asyncio.gather(*[http.get(f"/responses/{id}") for id in ids])
            return ids, [answer.json()["status"] for answer in kept]

    ids, statuses = asyncio.run(all_at_once())
    assert len(set(ids)) == 40 and set(statuses) == {"completed"}
