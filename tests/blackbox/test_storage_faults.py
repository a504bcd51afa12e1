"""A store that fails while the server runs: who is told, what it costs, and what is there when it works again."""

import time

import pytest
from openai import APIError, InternalServerError, NotFoundError

SLOW = "--- answer when \"slow\"\ntext Begun\nwait 1500ms\ntext \" and done\"\n\n--- answer\ntext ok\n"


def ready(server) -> tuple[int, str]:
    with server.http(base_url=server.admin_url) as admin:
        answer = admin.get("/ready")
        return answer.status_code, answer.text


def wait_ready(server, status: int) -> str:
    """The text of /ready, once it has that status."""

    def found():
        answer = ready(server)
        return answer if answer[0] == status else None

    return server.wait_until(found, f"{status} from /ready")[1]


def test_a_full_disk_is_seen_by_ready_and_costs_no_call(gateway, dialect):
    server, upstream = gateway(SLOW, dialect)
    with server.openai() as client:
        kept = client.responses.create(model="m", input="one")
        assert ready(server) == (200, "ready\n")
        with server.full_disk():
            assert "store" in wait_ready(server, 503)
            calls = len(upstream.requests())
            for stream in (False, True):
                with pytest.raises(InternalServerError) as caught:
                    client.responses.create(model="m", input="two", stream=stream)
                assert caught.value.status_code == 503 and "'store': false" in caught.value.message
            assert len(upstream.requests()) == calls
            # What is there can be read, and what is not to be kept needs no disk.
            assert client.responses.retrieve(kept.id).output_text == "ok"
            assert client.responses.create(model="m", input="three", store=False).output_text == "ok"
        assert client.responses.create(model="m", input="four", previous_response_id=kept.id).output_text == "ok"
    assert ready(server) == (200, "ready\n")


def test_a_response_whose_end_cannot_be_written_is_failed_for_everyone(starter, dialect):
    server, _ = starter.gateway(SLOW, dialect)
    with server.openai() as client:
        stream = iter(client.responses.create(model="m", input="slow", stream=True))
        id = next(stream).response.id
        next(event for event in stream if event.type == "response.output_text.delta")
        with server.full_disk():
            with pytest.raises(APIError, match="could not be stored") as caught:
                list(stream)
            shown = client.responses.retrieve(id)
            assert shown.status == "failed" and shown.error.message == caught.value.message
        wait_ready(server, 200)
        assert client.responses.retrieve(id).to_dict() == shown.to_dict()
    assert server.stop() == 0
    again = starter.serve(server.config_file.read_text())
    with again.openai() as client:
        assert client.responses.retrieve(id).to_dict() == shown.to_dict()


def test_a_database_that_is_gone_is_seen_by_ready(serve):
    server = serve()
    assert ready(server) == (200, "ready\n")
    aside = server.database.with_suffix(".aside")
    server.database.rename(aside)
    assert "database file" in wait_ready(server, 503)
    server.database.touch()
    assert "replaced" in wait_ready(server, 503)
    aside.rename(server.database)
    assert wait_ready(server, 200) == "ready\n"


def test_a_response_deleted_while_it_streams_goes_on_and_stays_deleted(gateway, dialect):
    server, _ = gateway(SLOW, dialect)
    with server.openai() as client:
        stream = iter(client.responses.create(model="m", input="slow", stream=True))
        id = next(stream).response.id
        client.responses.delete(id)
        with pytest.raises(NotFoundError):
            client.responses.retrieve(id)
        rest = list(stream)
        assert rest[-1].type == "response.completed" and rest[-1].response.output_text == "Begun and done"
        for forgotten in (client.responses.retrieve, client.responses.delete):
            with pytest.raises(NotFoundError):
                forgotten(id)
        with pytest.raises(APIError) as caught:
            client.responses.create(model="m", input="x", previous_response_id=id)
        assert caught.value.code == "previous_response_not_found"
    assert "WARN" not in server.log and "ERROR" not in server.log, server.log


def test_the_check_of_readiness_writes_little(serve):
    server = serve()
    with server.http(base_url=server.admin_url) as admin:
        admin.get("/ready")
        journal = server.database.with_name("trilith.db-wal")
        before, started = journal.stat().st_size, time.monotonic()
        for _ in range(500):
            assert admin.get("/ready").status_code == 200
        pages = (journal.stat().st_size - before) / 4096
    assert pages <= 4 * (time.monotonic() - started + 1)
