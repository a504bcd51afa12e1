"""Processes under test: start, wait, look at, stop."""

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time

import anthropic
import httpx
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI

PATIENCE = 20.0
NODE_SCRIPTS = pathlib.Path(__file__).parent / "node"


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """One running binary; everything it prints goes to one file."""

    def __init__(self, folder: pathlib.Path, command: list, env: dict | None = None):
        folder.mkdir()
        self.folder = folder
        self.log_file = folder / "log"
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        with self.log_file.open("wb") as log:
            self.child = subprocess.Popen(
                [str(part) for part in command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A file at its size limit is an error to the process, not its end.
                restore_signals=False,
                env={**inherited, **(env or {})},
            )

    @property
    def log(self) -> str:
        """What it has printed until now."""
        return self.log_file.read_text(errors="replace")

    def wait_until(self, ready, what: str):
        """Polls `ready` until it answers something true; fails when the process ends or takes too long."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if answer := ready():
                return answer
            if self.child.poll() is not None:
                raise AssertionError(f"ended with {self.child.returncode} before {what}:\n{self.log}")
            time.sleep(0.005)
        raise AssertionError(f"no {what} within {PATIENCE} s:\n{self.log}")

    def wait_exit(self, seconds: float = PATIENCE) -> int:
        """Its exit code, once it ends by itself."""
        return self.child.wait(timeout=seconds)

    def stop(self, seconds: float = 10.0) -> int:
        """Asks it to end with SIGTERM, insists after `seconds`; its exit code."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        return self.child.returncode

    def kill(self) -> None:
        """Ends it with SIGKILL, as a crash would."""
        self.child.kill()
        self.child.wait()

    def memory(self) -> int:
        """Resident bytes now."""
        return self._status("VmRSS")

    def peak_memory(self) -> int:
        """The most resident bytes that it ever had."""
        return self._status("VmHWM")

    def _status(self, name: str) -> int:
        text = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        return int(re.search(rf"^{name}:\s+(\d+) kB$", text, re.M).group(1)) * 1024


class Server(Process):
    """`trilith serve`. `config` is kept, so that a second Server can be started in the same folder."""

    def __init__(self, binary, folder, config: str, args=(), env=None):
        self.address = f"127.0.0.1:{free_port()}"
        self.admin_address = f"127.0.0.1:{free_port()}"
        if not re.search(r"^\[server\]", config, re.M):
            config = f'[server]\nlisten = "{self.address}"\nadmin_listen = "{self.admin_address}"\n{config}'
        elif listen := re.search(r'^listen *= *"([^"]+)"', config, re.M):
            self.address = listen.group(1)
        self.database = folder / "trilith.db"
        if not re.search(r"^\[store\]", config, re.M):
            config += f'\n[store]\nurl = "sqlite:{self.database}"\n'
        self.config_file = folder.with_suffix(".toml")
        self.config_file.write_text(config)
        super().__init__(folder, [binary, "serve", "--config", self.config_file, *args], env)

    @property
    def root_url(self) -> str:
        return f"http://{self.address}"

    @property
    def base_url(self) -> str:
        """What an OpenAI client wants: with /v1."""
        return f"{self.root_url}/v1"

    @property
    def admin_url(self) -> str:
        return f"http://{self.admin_address}"

    @contextlib.contextmanager
    def full_disk(self):
        """Lets no file of the process grow any more while it is entered."""
        unlimited = resource.prlimit(self.child.pid, resource.RLIMIT_FSIZE)
        grown = max(path.stat().st_size for path in self.folder.glob("trilith.db*"))
        resource.prlimit(self.child.pid, resource.RLIMIT_FSIZE, (grown, unlimited[1]))
        try:
            yield
        finally:
            resource.prlimit(self.child.pid, resource.RLIMIT_FSIZE, unlimited)

    def stored_bytes(self) -> bytes:
        """Everything that is on disk for it, the database's side files included, but not its log."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file() and path != self.log_file)
        return b"".join(path.read_bytes() for path in files)

    def wait_ready(self) -> None:
        self.wait_until(self._healthy, "answer from /health")

    def _healthy(self) -> bool:
        try:
            return httpx.get(f"{self.root_url}/health", timeout=2, verify=False).status_code == 200
        except httpx.TransportError:
            return False

    def openai(self, **options) -> OpenAI:
        """The official synchronous client; retries are off, so that a test sees the first answer."""
        return OpenAI(**self._client(options), http_client=DefaultHttpxClient(verify=False))

    def async_openai(self, **options) -> AsyncOpenAI:
        """The official asynchronous client."""
        return AsyncOpenAI(**self._client(options), http_client=DefaultAsyncHttpxClient(verify=False))

    def anthropic(self, **options) -> anthropic.Anthropic:
        """The official synchronous client of Messages; its base address has no /v1."""
        asked = {**self._client(options), "base_url": self.root_url}
        return anthropic.Anthropic(**asked, http_client=anthropic.DefaultHttpxClient(verify=False))

    def http(self, **options) -> httpx.Client:
        """A plain client whose paths begin at the server's root."""
        return httpx.Client(**{"base_url": self.root_url, "timeout": PATIENCE, "verify": False, **options})

    # No TLS on loopback: reading the system's certificates for each client would take longer than most tests.
    def _client(self, options: dict) -> dict:
        return {"base_url": self.base_url, "api_key": "any", "max_retries": 0, "timeout": PATIENCE, **options}


class Mock(Process):
    """`trilith mock`: plays a script and records what it was sent."""

    def __init__(self, binary, folder, script: str, dialect: str):
        self.base_url = ""
        self.record = folder / "requests.jsonl"
        script_file = folder.with_suffix(".mock")
        script_file.write_text(script)
        command = [binary, "mock", script_file, "--dialect", dialect, "--listen", "127.0.0.1:0", "--record", self.record]
        super().__init__(folder, command)

    def wait_ready(self) -> None:
        address = self.wait_until(
            lambda: re.search(r"listening on (http://[0-9.:]+)", self.log), "line that says where it listens"
        )
        self.base_url = address.group(1)

    def requests(self) -> list[dict]:
        """Every request received, in order: {method, path, headers, body}."""
        return [line for line in self._recorded() if "event" not in line]

    def bodies(self) -> list:
        """The bodies of the requests received, in order."""
        return [request["body"] for request in self.requests()]

    def left(self) -> list[int]:
        """The numbers of the requests whose client left before the end of the answer."""
        return [line["request"] for line in self._recorded() if line.get("event") == "disconnected"]

    def _recorded(self) -> list[dict]:
        if not self.record.exists():
            return []
        # Split at newlines only: a line of JSON may hold other characters that Python takes for line ends.
        return [json.loads(line) for line in self.record.read_text().split("\n") if line]

    def wait_requests(self, number: int) -> list[dict]:
        """The requests, once at least `number` have come."""
        self.wait_until(lambda: len(self.requests()) >= number, f"{number} requests")
        return self.requests()


class Tape:
    """A peer that takes one HTTP request a connection, keeps its bytes and plays bytes back, as they are."""

    def __init__(self, answer: bytes):
        self.answer = answer
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._take(connection)
                connection.sendall(self.answer)

    def _take(self, connection: socket.socket) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            if not (piece := connection.recv(65536)):
                return
            received += piece
        head, body = received.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"content-length: *(\d+)", head, re.I).group(1))
        while len(body) < length:
            if not (piece := connection.recv(65536)):
                break
            body += piece
        self.heads.append(head)
        self.bodies.append(body)


def run_node(script: str, **environment: str) -> str:
    """Runs a script beside the official Node package; its standard output, or a failure with all it printed."""
    node = os.environ.get("TRILITH_NODE") or shutil.which("node")
    if not node:
        raise AssertionError("no Node: ./test installs one, or set TRILITH_NODE")
    done = subprocess.run(
        [node, str(NODE_SCRIPTS / script)],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{script} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
