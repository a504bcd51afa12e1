"""Black-box harness: starts the real binary on free ports and hands out official clients.

The binary comes from TRILITH_BIN (default: the debug build). Nothing here knows Trilith's inside; a test gives a
configuration or a script for the scripted upstream and looks at what a client sees.
"""

import os
import pathlib

import pytest

from harness import Mock, Server, run_node

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _file_from(variable: str, default: str | None, what: str) -> pathlib.Path:
    named = os.environ.get(variable, default)
    if not named:
        pytest.skip(f"{variable} does not name {what}")
    path = (ROOT / named).absolute()
    if not path.exists():
        pytest.fail(f"no {what} at {path}; ./test makes it, or set {variable}", pytrace=False)
    return path


@pytest.fixture(scope="session")
def binary() -> pathlib.Path:
    """The binary under test."""
    return _file_from("TRILITH_BIN", "target/debug/trilith", "binary")


@pytest.fixture(scope="session")
def model_file() -> pathlib.Path:
    """The small real model for the embedded lane."""
    return _file_from("TRILITH_MODEL", None, "GGUF file")


@pytest.fixture
def serve(binary, tmp_path):
    """serve(config, *args, env={}) -> Server: `trilith serve --config` with that TOML text, ready to be called.

    A configuration without `[server]` listens on a free loopback port; one without `[store]` keeps a database in
    the test's own folder. `wait=False` returns at once, for servers that are expected to refuse to start.
    """
    started = []

    def start(config: str = "", *args: str, env: dict | None = None, wait: bool = True) -> Server:
        server = Server(binary, tmp_path / f"serve{len(started)}", config, args, env or {})
        started.append(server)
        if wait:
            server.wait_ready()
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def mock(binary, tmp_path):
    """mock(script, dialect) -> Mock: the scripted upstream playing that text, its requests recorded."""
    started = []

    def start(script: str, dialect: str = "chat") -> Mock:
        upstream = Mock(binary, tmp_path / f"mock{len(started)}", script, dialect)
        started.append(upstream)
        upstream.wait_ready()
        return upstream

    yield start
    for upstream in started:
        upstream.stop()


@pytest.fixture
def gateway(serve, mock):
    """gateway(script, dialect) -> (Server, Mock): every model name goes to one scripted upstream."""

    def start(script: str, dialect: str = "chat", extra: str = "") -> tuple[Server, Mock]:
        upstream = mock(script, dialect)
        return serve(one_upstream(upstream, dialect) + extra), upstream

    return start


def one_upstream(upstream: Mock, dialect: str) -> str:
    """A configuration whose only provider is `upstream`."""
    return f"""
[[providers]]
name = "up"
dialect = "{dialect}"
base_url = "{upstream.base_url}/v1"
api_key = "upstream-secret"

[[models]]
name = "*"
targets = [{{ provider = "up", model = "*" }}]
"""


@pytest.fixture
def node():
    """node(script, **environment) -> str: runs tests/blackbox/node/SCRIPT, fails on a non-zero exit."""
    return run_node
