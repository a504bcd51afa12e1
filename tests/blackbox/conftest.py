"""Black-box harness: starts the real binary on free ports and hands out official clients.

The binary comes from TRILITH_BIN (default: the debug build). Nothing here knows Trilith's inside; a test gives a
configuration or a script for the scripted upstream and looks at what a client sees.
"""

import os
import pathlib

import pytest

from agents import Agents, installed
from configs import one_upstream
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


class Starter:
    """Starts processes below one folder, and ends all of them."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path):
        self.binary = binary
        self.folder = folder
        self.started = []

    def serve(self, config: str = "", *args: str, env: dict | None = None, wait: bool = True) -> Server:
        server = Server(self.binary, self.folder / f"serve{len(self.started)}", config, args, env or {})
        return self._add(server, wait)

    def mock(self, script: str, dialect: str = "chat") -> Mock:
        return self._add(Mock(self.binary, self.folder / f"mock{len(self.started)}", script, dialect), True)

    def gateway(self, script: str, dialect: str = "chat", extra: str = "") -> tuple[Server, Mock]:
        upstream = self.mock(script, dialect)
        return self.serve(one_upstream(upstream, dialect) + extra), upstream

    def stop(self) -> None:
        # Servers first: they may still be talking to the upstreams.
        for process in sorted(self.started, key=lambda process: isinstance(process, Mock)):
            process.stop()

    def _add(self, process, wait: bool):
        self.started.append(process)
        if wait:
            process.wait_ready()
        return process


@pytest.fixture
def starter(binary, tmp_path):
    """What starts processes for one test."""
    starter = Starter(binary, tmp_path)
    yield starter
    starter.stop()


@pytest.fixture(scope="module")
def module_starter(binary, tmp_path_factory):
    """What starts processes for all tests of a file: for tables of requests that leave nothing behind."""
    starter = Starter(binary, tmp_path_factory.mktemp("module"))
    yield starter
    starter.stop()


@pytest.fixture(params=["chat", "responses"])
def dialect(request) -> str:
    """Each upstream dialect in turn."""
    return request.param


@pytest.fixture(params=["chat", "responses", "messages"])
def any_dialect(request) -> str:
    """Each upstream dialect in turn, Messages included."""
    return request.param


@pytest.fixture
def serve(starter):
    """serve(config, *args, env={}) -> Server: `trilith serve --config` with that TOML text, ready to be called.

    A configuration without `[server]` listens on a free loopback port; one without `[store]` keeps a database in
    the test's own folder. `wait=False` returns at once, for servers that are expected to refuse to start.
    """
    return starter.serve


@pytest.fixture
def mock(starter):
    """mock(script, dialect) -> Mock: the scripted upstream playing that text, its requests recorded."""
    return starter.mock


@pytest.fixture
def gateway(starter):
    """gateway(script, dialect) -> (Server, Mock): every model name goes to one scripted upstream."""
    return starter.gateway


@pytest.fixture
def node():
    """node(script, **environment) -> str: runs tests/blackbox/node/SCRIPT, fails on a non-zero exit."""
    return run_node


@pytest.fixture
def agents(tmp_path):
    """Coding agents with a home of their own; skips where they are not installed."""
    packages = installed()
    folder = tmp_path / "agents"
    folder.mkdir()
    agents = Agents(packages, folder)
    yield agents
    agents.close()
