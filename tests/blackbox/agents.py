"""Coding agents as their users run them: with a home of their own, and nothing to talk to but Trilith."""

import dataclasses
import http.client
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading

import pytest

PATIENCE = 120.0


@dataclasses.dataclass
class Asked:
    """One request that a client sent to Trilith, and the head of what came back."""

    method: str
    path: str
    status: int
    body: dict | None
    warnings: list[str]


class Tap:
    """A proxy before a server that keeps what is asked: an agent that quietly asks twice looks as if it worked."""

    def __init__(self, server):
        self.asked: list[Asked] = []
        tap = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def relay(self):
                sent = self.rfile.read(int(self.headers.get("content-length") or 0))
                away = http.client.HTTPConnection(server.address, timeout=PATIENCE)
                dropped = ("host", "connection", "accept-encoding")
                headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
                away.request(self.command, self.path, sent, headers)
                answer = away.getresponse()
                warnings = answer.headers.get_all("x-trilith-warning") or []
                body = json.loads(sent) if sent else None
                tap.asked.append(Asked(self.command, self.path, answer.status, body, warnings))
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name not in ("connection", "transfer-encoding", "content-length"):
                        self.send_header(name, value)
                self.send_header("connection", "close")
                self.end_headers()
                while piece := answer.read1(65536):
                    self.wfile.write(piece)
                self.close_connection = True
                away.close()

            do_GET = do_POST = do_HEAD = do_OPTIONS = relay

        self._listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root_url = f"http://127.0.0.1:{self._listener.server_port}"
        threading.Thread(target=self._listener.serve_forever, daemon=True).start()

    def lines(self) -> list[tuple]:
        """(method, path, status) of everything that was asked, in order."""
        return [(asked.method, asked.path, asked.status) for asked in self.asked]

    def warned(self) -> set[str]:
        """What Trilith reported as lost, all answers together."""
        return {warning for asked in self.asked for warning in asked.warnings}

    def close(self) -> None:
        self._listener.shutdown()
        self._listener.server_close()


@dataclasses.dataclass
class Ran:
    """An agent's run: its exit code, the lines of JSON that it printed, and everything that it printed."""

    code: int
    events: list[dict]
    printed: str


class Agents:
    """Runs agents in `folder`/work, where their tools may do as they like."""

    def __init__(self, packages: pathlib.Path, folder: pathlib.Path):
        self.packages = packages
        self.home = folder / "home"
        self.work = folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.taps = []

    def tap(self, server) -> Tap:
        self.taps.append(Tap(server))
        return self.taps[-1]

    def claude_code(self, tap: Tap, prompt: str, *options: str, model: str = "claude-sonnet-5-5") -> Ran:
        """Claude Code without its side traffic; any of `options` that takes many values goes last."""
        return self._run(
            [self.packages / ".bin/claude", "-p", prompt, "--output-format", "stream-json", "--verbose", *options],
            {
                "ANTHROPIC_BASE_URL": tap.root_url,
                "ANTHROPIC_API_KEY": "dummy",
                "ANTHROPIC_MODEL": model,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
        )

    def codex(self, tap: Tap, prompt: str, *options: str, model: str, built_in: bool = False, search: bool = False) -> Ran:
        """Codex CLI, with a provider of our own (HTTP alone) or with its built-in one (WebSocket first)."""
        settings = ["check_for_update_on_startup = false", f'model = "{model}"']
        settings += [] if search else ['web_search = "disabled"']
        settings += [f'openai_base_url = "{tap.root_url}/v1"'] if built_in else ['model_provider = "gateway"']
        settings += ["[analytics]", "enabled = false", "[feedback]", "enabled = false"]
        settings += ["[model_providers.gateway]", 'name = "gateway"', f'base_url = "{tap.root_url}/v1"']
        settings += ['env_key = "GATEWAY_KEY"', 'wire_api = "responses"']
        (self.home / "config.toml").write_text("\n".join(settings) + "\n")
        flags = ["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access"]
        return self._run(
            [_node(), self.packages / ".bin/codex", *flags, *options, prompt],
            {"CODEX_HOME": str(self.home), "GATEWAY_KEY": "dummy", "CODEX_API_KEY": "dummy"},
        )

    def close(self) -> None:
        for tap in self.taps:
            tap.close()

    def _run(self, command: list, environment: dict) -> Ran:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=self.work,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return Ran(done.returncode, lines, f"{done.stdout}\n{done.stderr}")


def installed() -> pathlib.Path:
    """Where npm put the agents; skips the test where it could not."""
    place = os.environ.get("TRILITH_AGENTS")
    if not place or not (pathlib.Path(place) / ".bin").is_dir():
        pytest.skip("TRILITH_AGENTS does not name the agents' node_modules; ./test installs them")
    return pathlib.Path(place)


def _node() -> str:
    return os.environ.get("TRILITH_NODE") or shutil.which("node") or pytest.skip("no Node")
