"""The command line as a newcomer meets it: what each command prints, where, and what an error says to do next."""

import json
import re
import subprocess

import httpx
import pytest
from configs import one_upstream
from harness import free_port

SECRET = "sk-hunter2-hunter2-hunter2"
HELLO = "--- answer\ntext hello\n"


@pytest.fixture
def trilith(binary, tmp_path):
    """trilith(*args, stdin=b"", env={}) -> the finished process, run in the test's own folder."""

    def run(*args, stdin: str = "", env: dict | None = None):
        command = [str(binary), *map(str, args)]
        done = subprocess.run(
            command, cwd=tmp_path, input=stdin, env=env or {}, capture_output=True, text=True, timeout=20, check=False
        )
        assert "panicked" not in done.stderr
        return done

    return run


@pytest.fixture
def file(tmp_path):
    """file(name, text) -> the name, once a file of that text is in the test's folder."""

    def write(name: str, content) -> str:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text)
        return name

    return write


def refused(done, code: int = 1) -> str:
    """What a command that failed said; it said nothing to programs."""
    assert (done.returncode, done.stdout) == (code, ""), done
    assert done.stderr.startswith("trilith: ") or code == 2
    return done.stderr


def test_help_says_what_it_is_and_names_every_command(trilith):
    done = trilith("--help")
    assert done.returncode == 0 and done.stdout.startswith("One gateway for every LLM API")
    for command in ["serve", "check", "translate", "models", "mock", "config"]:
        assert re.search(rf"^  {command} +\S", done.stdout, re.M)
        assert trilith(command, "--help").returncode == 0
    assert re.fullmatch(r"trilith \d+\.\d+\.\d+\n", trilith("--version").stdout)
    assert "a similar subcommand exists: 'check'" in refused(trilith("chek"), 2)


# check


def test_check_counts_what_it_found(trilith, file):
    config = file("good.toml", one_upstream(type("Up", (), {"base_url": "http://127.0.0.1:9"}), "chat"))
    done = trilith("check", "--config", config)
    said = "the configuration is good: 1 provider, 1 model, 0 keys, listening on 127.0.0.1:8080\n"
    assert (done.returncode, done.stdout) == (0, said)


def test_check_without_a_file_says_that_there_is_none(trilith):
    done = trilith("check")
    assert done.returncode == 0 and done.stdout.startswith("the configuration is good: 0 providers")
    assert "there is no trilith.toml in this folder" in done.stderr
    assert "`trilith config --sample > trilith.toml`" in done.stderr


PROVIDER = '[[providers]]\nname = "up"\ndialect = "chat"\nbase_url = "http://127.0.0.1:9/v1"\n'
WRONG = {
    "an unknown key": (
        '[server]\nlistn = "127.0.0.1:0"\n',
        ["wrong.toml:2:1: server.listn: unknown key", "did you mean `listen`?"],
    ),
    "a key of another table": (
        "[server]\nretries = 1\n",
        ["wrong.toml:2:1: server.retries: unknown key", "`retries` belongs in `limits`"],
    ),
    "a wrong type": (
        '[server]\nmax_depth = "many"\n',
        ["wrong.toml:2:13: server.max_depth: must be a whole number from 8 to 1024, not text"],
    ),
    "a dialect of another version": (
        '[[providers]]\nname = "a"\ndialect = "converse"\nbase_url = "https://a"\n',
        ['wrong.toml:3:11: providers[0].dialect: "converse" is not in this version', '"chat", "responses", "messages", "completions"'],
    ),
    "an address without a scheme": (
        '[[providers]]\nname = "a"\ndialect = "chat"\nbase_url = "example.com"\n',
        ["wrong.toml:4:12: providers[0].base_url: has no scheme", "https://HOST[:PORT]"],
    ),
    "a missing key": (
        '[[providers]]\nname = "a"\ndialect = "chat"\n',
        ["wrong.toml:1:1: providers[0].base_url: is missing", "add `base_url`, or `preset` for a known place"],
    ),
    "an unknown provider": (
        f'{PROVIDER}[[models]]\nname = "*"\ntargets = [{{ provider = "pu" }}]\n',
        ['wrong.toml:7:25: models[0].targets[0].provider: no provider is named "pu"', 'did you mean "up"?'],
    ),
    "a variable that is not set": (
        f'{PROVIDER}api_key = "${{NO_SUCH_KEY}}"\n',
        ["wrong.toml:5:11: providers[0].api_key: the environment variable NO_SUCH_KEY is not set", "set NO_SUCH_KEY"],
    ),
    "the same name twice": (
        PROVIDER + PROVIDER,
        ['wrong.toml:6:8: providers[1].name: "up" is already the name of providers[0]', "give each its own name"],
    ),
    "two forms of one key": (
        f'[[keys]]\nname = "a"\nkey = "{SECRET}"\nkey_hash = "sha256:00"\n',
        ["wrong.toml:1:1: keys[0]: has both `key_hash` and `key`", "keep `key_hash`"],
    ),
    "no TOML": ("x = [1", ["wrong.toml:1:7: unclosed array", "the file is TOML"]),
    "a column behind wide letters": ('log = { levl = "é" }\n', ["wrong.toml:1:9: log.levl: unknown key"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_check_names_place_key_and_what_to_do(trilith, file, name):
    text, expected = WRONG[name]
    said = refused(trilith("check", "--config", file("wrong.toml", text)))
    for part in expected:
        assert part in said
    assert SECRET not in said


def test_check_tells_every_problem_at_once(trilith, file):
    texts = [text for text, _ in WRONG.values() if text.startswith("[server]")]
    said = refused(trilith("check", "--config", file("wrong.toml", texts[0] + 'max_depth = "many"\n[log]\nlevel = 3\n')))
    places = re.findall(r"^wrong\.toml:(\d+):\d+: ", said, re.M)
    assert places == ["2", "3", "5"]


def test_a_file_that_is_not_there_is_named_with_a_way_to_make_it(trilith):
    for command in ["check", "serve", "models"]:
        said = refused(trilith(command, "--config", "no/such.toml"))
        assert "cannot read no/such.toml: No such file" in said
        assert "`trilith config --sample > no/such.toml`" in said


def test_a_folder_and_a_file_that_is_no_text_are_named(trilith, tmp_path):
    (tmp_path / "raw.toml").write_bytes(b"\xff\xfe")
    assert "cannot read raw.toml" in refused(trilith("check", "--config", "raw.toml"))
    assert f"cannot read {tmp_path}" in refused(trilith("check", "--config", tmp_path))


def test_a_key_in_plain_text_warns_and_is_never_shown(trilith, file):
    config = file("plain.toml", f'[[keys]]\nname = "a"\nkey = "{SECRET}"\n')
    done = trilith("check", "--config", config)
    assert done.returncode == 0
    assert "warning: plain.toml:3:7: keys[0].key: the key stands in the file in plain text" in done.stderr
    assert "use `key_hash`" in done.stderr
    assert SECRET not in done.stdout + done.stderr


def test_a_key_from_the_environment_does_not_warn(trilith, file):
    config = file("env.toml", '[[keys]]\nname = "a"\nkey = "${CALLER_KEY}"\n[log]\nlevel = "${LEVEL:-warn}"\n')
    done = trilith("check", "--config", config, env={"CALLER_KEY": SECRET})
    assert (done.returncode, done.stderr) == (0, "")
    assert SECRET not in done.stdout


# config


def test_the_sample_is_good_as_it_is_and_shows_every_documented_key(trilith, file):
    sample, page = trilith("config", "--sample").stdout, trilith("config").stdout
    keys = re.findall(r"^- \*\*`(\w+)`\*\*", page, re.M)
    assert len(keys) > 40 and len(re.findall(r"^  Example: `", page, re.M)) == len(keys)
    for key in set(keys):
        assert re.search(rf"\b{key} = ", sample), key
    tables = re.findall(r"^## `(\[\[?[\w.]+\]\]?)`", page, re.M)
    for table in ["[server]", "[store]", "[[providers]]", "[[models]]", "[[keys]]", "[limits]", "[log]", "[local]"]:
        assert table in tables
    variables = dict.fromkeys(re.findall(r"\$\{(\w+)\}", sample), "a-key-of-more-than-16-letters")
    done = trilith("check", "--config", file("sample.toml", sample), env=variables)
    assert (done.returncode, done.stderr) == (0, ""), done


# translate

CHAT = {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]}
RESPONSES = {"model": "m", "input": "hi", "instructions": "Be brief."}
CHAT_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
}
CHAT_STREAM = (
    'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hel"}}]}\n\n'
    'data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\n'
    "data: [DONE]\n\n"
)


def translate(trilith, source: str, target: str, *args, **options):
    return trilith("translate", "--from", source, "--to", target, *args, **options)


def test_translate_turns_a_request_both_ways(trilith, file):
    done = translate(trilith, "chat", "responses", file("chat.json", CHAT))
    assert (done.returncode, done.stderr) == (0, "nothing is lost\n")
    items = json.loads(done.stdout)["input"]
    assert [item["role"] for item in items][-1] == "user" and items[-1]["content"][0]["text"] == "hi"
    done = translate(trilith, "responses", "chat", file("responses.json", RESPONSES))
    assert (done.returncode, done.stderr) == (0, "nothing is lost\n")
    assert [message["content"] for message in json.loads(done.stdout)["messages"]] == ["Be brief.", "hi"]


def test_translate_reads_standard_input_and_tells_losses_beside_the_output(trilith):
    done = translate(trilith, "chat", "responses", "-", stdin=json.dumps({**CHAT, "seed": 7, "presence_penalty": 1}))
    assert done.returncode == 0
    assert "seed" not in json.loads(done.stdout)
    assert re.search(r"^warn: seed: \S", done.stderr, re.M)
    assert re.search(r"^warn: presence_penalty: \S", done.stderr, re.M)
    assert "nothing is lost" not in done.stderr


def test_translate_turns_a_whole_answer_and_a_stream(trilith, file):
    done = translate(trilith, "chat", "responses", "--response", file("answer.json", CHAT_ANSWER))
    answer = json.loads(done.stdout)
    assert done.returncode == 0 and answer["object"] == "response" and answer["status"] == "completed"
    assert answer["output"][0]["content"][0]["text"] == "hello" and answer["usage"]["total_tokens"] == 4
    done = translate(trilith, "chat", "responses", "--stream", "-", stdin=CHAT_STREAM)
    names = re.findall(r"^event: (\S+)$", done.stdout, re.M)
    assert done.returncode == 0 and names[0] == "response.created" and names[-1] == "response.completed"
    back = translate(trilith, "responses", "chat", "--stream", "-", stdin=done.stdout)
    assert back.returncode == 0 and back.stdout.endswith("data: [DONE]\n\n")
    chunks = [json.loads(line[6:]) for line in back.stdout.splitlines() if line.startswith("data: {")]
    text = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
    assert text == "hello"


MISTAKEN = {
    "no such file": (["--from", "chat", "--to", "responses", "no.json"], "", "cannot read no.json"),
    "no JSON": (["--from", "chat", "--to", "responses", "-"], '{"model":', "-: The request body is not valid JSON"),
    "a missing field": (["--from", "chat", "--to", "responses", "-"], '{"model":"m"}', "'messages'"),
    "what no target says": (
        ["--from", "chat", "--to", "responses", "-"],
        json.dumps({**CHAT, "n": 2}),
        "'n'",
    ),
    "the other dialect": (
        ["--from", "chat", "--to", "responses", "-"],
        json.dumps(RESPONSES),
        "it looks like Responses: try --from responses",
    ),
    "the other dialect, the other way": (
        ["--from", "responses", "--to", "chat", "--response", "-"],
        json.dumps(CHAT_ANSWER),
        "it looks like Chat Completions: try --from chat",
    ),
    "an answer as a request": (
        ["--from", "chat", "--to", "responses", "-"],
        json.dumps(CHAT_ANSWER),
        "it looks like an answer: add --response",
    ),
    "a request as an answer": (
        ["--from", "chat", "--to", "responses", "--response", "-"],
        json.dumps(CHAT),
        "it looks like a request: leave out --response and --stream",
    ),
    "a stream as a request": (
        ["--from", "chat", "--to", "responses", "-"],
        CHAT_STREAM,
        "it looks like an event stream: add --stream",
    ),
    "a stream that broke off": (
        ["--from", "chat", "--to", "responses", "--stream", "-"],
        CHAT_STREAM.replace(',"finish_reason":"stop"', "").replace("data: [DONE]\n\n", ""),
        "-: ",
    ),
}


@pytest.mark.parametrize("name", MISTAKEN)
def test_translate_says_what_was_probably_meant(trilith, name):
    args, stdin, expected = MISTAKEN[name]
    assert expected in refused(trilith("translate", *args, stdin=stdin))


def test_translate_lists_the_dialects_it_knows(trilith, file):
    said = refused(translate(trilith, "gemini", "chat", file("chat.json", CHAT)), 2)
    assert "'gemini'" in said and "[possible values: chat, responses, messages, completions]" in said


# models


def test_models_lists_what_callers_can_name_and_what_providers_have(trilith, mock, file):
    upstream = mock("models small-1 large-1\n" + HELLO)
    config = file("models.toml", one_upstream(upstream, "chat"))
    done = trilith("models", "--config", config)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "*  ->  up/*\nup/small-1\nup/large-1\n"
    assert upstream.requests()[0]["path"] == "/v1/models"


def test_models_names_a_provider_that_does_not_answer(trilith, file):
    port = free_port()
    config = one_upstream(type("Up", (), {"base_url": f"http://127.0.0.1:{port}"}), "chat")
    done = trilith("models", "--config", file("models.toml", config))
    assert (done.returncode, done.stdout) == (1, "*  ->  up/*\n")
    assert f"up (http://127.0.0.1:{port}/v1): " in done.stderr
    assert "1 of 1 providers did not list their models" in done.stderr
    assert "upstream-secret" not in done.stderr


def test_models_without_models_says_so(trilith):
    done = trilith("models")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no [[models]] are configured" in done.stderr and "trilith config --sample" in done.stderr


# mock


def test_a_wrong_script_is_named_by_file_and_line(trilith, file):
    said = refused(trilith("mock", file("bad.mock", "--- answer\ntext fine\n\ntxt hello\n"), "--dialect", "chat"))
    assert said == "trilith: bad.mock:4: `txt` is no word of a script; did you mean `text`?\n"
    said = refused(trilith("mock", file("empty.mock", ""), "--dialect", "chat"))
    assert "empty.mock:1: there is no answer: begin one with `--- answer`" in said


def test_files_and_addresses_that_a_mock_cannot_use_are_named(trilith, file):
    script = file("good.mock", HELLO)
    assert "no.mock: No such file" in refused(trilith("mock", "no.mock", "--dialect", "chat"))
    said = refused(trilith("mock", script, "--dialect", "chat", "--record", "no/record.jsonl"))
    assert "no/record.jsonl: No such file" in said
    said = refused(trilith("mock", script, "--dialect", "chat", "--listen", "nonsense"))
    assert "cannot listen on nonsense" in said
    assert "--dialect <DIALECT>" in refused(trilith("mock", script), 2)


def test_a_mock_records_each_request(mock):
    upstream = mock(HELLO)
    body = {"model": "m", "messages": [{"role": "user", "content": "Grüße"}]}
    answer = httpx.post(f"{upstream.base_url}/v1/chat/completions", json=body, headers={"x-mine": "1"})
    assert answer.json()["choices"][0]["message"]["content"] == "hello"
    [request] = upstream.requests()
    assert (request["method"], request["path"], request["body"]) == ("POST", "/v1/chat/completions", body)
    assert request["headers"]["x-mine"] == "1"


# serve


def ended(serve, config: str, *args: str, env: dict | None = None) -> str:
    """What a server said that refused to start."""
    server = serve(config, *args, env=env, wait=False)
    assert server.wait_exit() == 1, server.log
    assert "panicked" not in server.log
    return server.log


def test_a_busy_port_names_key_and_way_out(serve):
    first = serve()
    said = ended(serve, "", "--listen", first.address)
    assert f"cannot listen on {first.address} (server.listen): " in said
    assert "name another port in server.listen or with --listen" in said
    config = f'[server]\nlisten = "127.0.0.1:{free_port()}"\nadmin_listen = "{first.admin_address}"\n'
    said = ended(serve, config)
    assert f"cannot listen on {first.admin_address} (server.admin_listen): " in said
    assert 'name another port, or "" for no admin listener' in said


def test_flags_win_over_the_file(serve, tmp_path):
    address = f"127.0.0.1:{free_port()}"
    database = tmp_path / "flag.db"
    server = serve("", "--listen", address, "--store", f"sqlite:{database}", wait=False)
    server.address = address
    server.wait_ready()
    assert f"listening on http://{address}\n" in server.log
    assert database.exists() and not server.database.exists()


def test_a_free_port_is_said(serve):
    server = serve('[server]\nlisten = "127.0.0.1:0"\nadmin_listen = ""\n', wait=False)
    server.wait_until(lambda: "listening on " in server.log, "line that says where it listens")
    said = re.search(r"listening on http://127\.0\.0\.1:(\d+)\n", server.log)
    assert said and said.group(1) != "0"
    assert httpx.get(f"http://127.0.0.1:{said.group(1)}/health").status_code == 200
    assert "see `trilith config --sample`" in server.log and "no keys are configured" in server.log


def test_wrong_flags_are_named_as_flags(serve):
    said = ended(serve, "", "--listen", "nonsense")
    assert '--listen: is not an address with a port\n  write "127.0.0.1:8080"' in said
    said = ended(serve, "", "--store", "postgres://x")
    assert '--store: PostgreSQL is not in this version\n  write "sqlite:PATH" or "memory:"' in said


def test_a_model_file_that_is_not_there_or_is_none(serve, tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_text("this is no model")
    missing = ended(serve, "", "--model", str(tmp_path / "missing.gguf"))
    said = ended(serve, "", "--model", str(broken))
    if "this build has no embedded model" in said:
        assert "this build has no embedded model" in missing and "feature 'local'" in missing
        return
    assert f"the model {tmp_path}/missing.gguf cannot be used: " in missing
    assert f"the model {broken} cannot be used: " in said


def test_a_database_that_cannot_be_used_is_named_with_its_key(serve, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("this is a text that is long enough to be no database. " * 40)
    for path in [tmp_path / "no" / "such.db", other, tmp_path]:
        said = ended(serve, "", "--store", f"sqlite:{path}")
        assert f'store.url is "sqlite:{path}"' in said and "--store" in said


def test_a_sealing_key_that_others_can_read_says_what_to_run(serve, tmp_path):
    key = tmp_path / "seal.key"
    key.write_text("x" * 32)
    key.chmod(0o644)
    assert f"chmod 600 {key}" in ended(serve, f'[seal]\nkey_file = "{key}"\n')


def test_listening_to_others_asks_for_keys_first(serve):
    wide = f'[server]\nlisten = "0.0.0.0:{free_port()}"\nadmin_listen = ""\n'
    said = ended(serve, wide)
    assert "which others can reach, but no key is configured; add a [[keys]] entry, or listen on 127.0.0.1" in said
    server = serve(wide + '[[keys]]\nname = "a"\nkey = "${CALLER_KEY}"\n', env={"CALLER_KEY": SECRET}, wait=False)
    server.address = server.address.replace("0.0.0.0", "127.0.0.1")
    server.wait_ready()
    assert httpx.get(f"{server.base_url}/models").status_code == 401
    assert httpx.get(f"{server.base_url}/models", headers={"authorization": f"Bearer {SECRET}"}).status_code == 200
    assert "warning" not in server.log and SECRET not in server.log


def test_variables_are_filled_in_and_secrets_are_never_printed(serve, mock):
    upstream = mock(HELLO)
    config = one_upstream(upstream, "chat").replace('"upstream-secret"', '"${UP_KEY}"')
    said = ended(serve, config)
    assert "providers[0].api_key: the environment variable UP_KEY is not set" in said
    server = serve(config + '[log]\nlevel = "trace"\n', env={"UP_KEY": SECRET})
    assert server.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    assert upstream.requests()[0]["headers"]["authorization"] == f"Bearer {SECRET}"
    server.stop()
    assert SECRET not in server.log


def test_a_warning_at_start_does_not_stop_it(serve):
    server = serve(f'[[keys]]\nname = "a"\nkey = "{SECRET}"\n')
    assert "keys[0].key: the key stands in the file in plain text" in server.log
    assert SECRET not in server.log
