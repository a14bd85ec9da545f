"""The local model's server process: started once, asked, watched, and never left behind."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from model_pieces import BARE
from stand_in_llama import install_stand_in, model_file

from hansei.graphs import local_model, local_process
from hansei.graphs.local_model import (
    LocalEndpoint,
    local_endpoint,
    local_model_available,
    serve,
    stop_local_servers,
)
from hansei.policies.errors import OperatorError, UserError


@pytest.fixture(autouse=True)
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A model file of one's own, and the stand-in to serve it."""
    install_stand_in(tmp_path / "lib", monkeypatch)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    yield model_file(tmp_path, monkeypatch)
    stop_local_servers()


def ask(base_url: str, key: str = "") -> dict[str, object]:
    request = urllib.request.Request(
        f"{base_url}/chat/completions", data=b"{}", headers={"Authorization": f"Bearer {key}"}
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        said: dict[str, object] = json.loads(
            json.loads(reply.read())["choices"][0]["message"]["content"]
        )
        return said


def wait_until_gone(base_url: str) -> None:
    """Return once nobody listens there; fails when somebody goes on to."""
    address = (urlsplit(base_url).hostname, urlsplit(base_url).port)
    pause = threading.Event()
    for _ in range(600):
        try:
            socket.create_connection(address, timeout=5).close()
        except OSError:
            return
        pause.wait(0.05)
    pytest.fail(f"a server still listens at {base_url}")


def test_it_serves_with_the_settings_that_were_chosen() -> None:
    endpoint = local_endpoint()
    assert endpoint.model_name == "toy-model"
    said = ask(endpoint.base_url, endpoint.api_key)
    assert said == {
        "model": ["toy-model"],
        "slots": 2,
        "context": 16384,
        "limit": 1024,
        "threads": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count(),
        "temperature": 0.0,
        "spins": "1000",
        "hosts": ["127.0.0.1"],
    }


def test_only_this_process_may_ask_and_the_key_is_not_shown() -> None:
    endpoint = local_endpoint()
    assert len(endpoint.api_key) >= 32
    assert endpoint.api_key not in repr(endpoint)
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(endpoint.base_url, "guess")
    caught.value.close()
    assert caught.value.code == 401


def test_threads_that_ask_at_once_get_one_server() -> None:
    together = threading.Barrier(4)

    def one(_number: int) -> LocalEndpoint:
        together.wait()
        return local_endpoint()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(one, range(4)))) == 1
    assert len(local_model._servers) == 1


def test_another_file_gets_another_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = local_endpoint()
    (tmp_path / "second.gguf").write_text("serve")
    monkeypatch.setenv("HANSEI_GGUF", str(tmp_path / "second.gguf"))
    second = local_endpoint()
    assert second.model_name == "second"
    assert second.base_url != first.base_url
    assert ask(first.base_url, first.api_key)["model"] == ["toy-model"]


def test_a_server_that_died_is_started_again() -> None:
    first = local_endpoint()
    (server,) = local_model._servers.values()
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    second = local_endpoint()
    assert second.api_key != first.api_key
    assert ask(second.base_url, second.api_key)["slots"] == 2


def test_stopping_leaves_nobody_behind() -> None:
    endpoint = local_endpoint()
    stop_local_servers()
    wait_until_gone(endpoint.base_url)


@pytest.mark.parametrize(
    ("told", "reason"),
    [("broken", r"\(invalid magic characters\)"), ("crash", "its process ended with code 3")],
)
def test_a_file_that_cannot_be_served_is_told(local: Path, told: str, reason: str) -> None:
    local.write_text(told)
    with pytest.raises(OperatorError, match=reason) as caught:
        local_endpoint()
    assert str(local) in str(caught.value)
    assert local_model._servers == {}


def test_one_that_never_comes_up_is_given_up(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local.write_text("stuck")
    monkeypatch.setattr(local_process, "LOADING", 0.5)
    monkeypatch.setattr(local_process, "STOPPING", 0.5)
    with pytest.raises(OperatorError, match=r"not ready after 0\.5 seconds"):
        local_endpoint()


def test_a_library_that_does_not_load_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = 'raise ImportError("libgomp.so.1: cannot open shared object file")\n'
    install_stand_in(tmp_path / "broken", monkeypatch, broken)
    with pytest.raises(OperatorError, match=r"libgomp\.so\.1.*apt install libgomp1"):
        local_endpoint()


def test_without_the_library_nothing_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_model_available()

    def not_found(name: str) -> None:
        assert name == "xllamacpp"

    monkeypatch.setattr(local_model, "find_spec", not_found)
    monkeypatch.setattr(local_process, "find_spec", not_found)
    assert not local_model_available()
    with pytest.raises(OperatorError, match=r'xllamacpp: run `pip install "hansei\[local\]"`'):
        local_endpoint()


def test_nothing_but_the_library_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HANSEI_GGUF")
    monkeypatch.setattr(local_model, "local_file_available", lambda: False)
    assert not local_model_available()


class EnoughError(Exception):
    pass


def test_serving_for_others_asks_no_key_and_ends_with_its_caller() -> None:
    seen: list[LocalEndpoint] = []

    def ready(endpoint: LocalEndpoint) -> None:
        seen.append(endpoint)
        assert ask(endpoint.base_url)["model"] == ["toy-model"]
        raise EnoughError

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(EnoughError):
        serve(port=port, on_ready=ready)
    assert seen[0].base_url == f"http://127.0.0.1:{port}/v1"
    wait_until_gone(seen[0].base_url)


def test_serving_on_a_taken_port_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OperatorError, match=f"Port {port} cannot be used"):
            serve(port=port)
    with pytest.raises(UserError, match="no port"):
        serve(port=70000)


def test_a_server_that_ends_by_itself_is_told(local: Path) -> None:
    local.write_text("crash later")
    with pytest.raises(OperatorError, match="ended by itself with code 3"):
        serve(port=0)


ENDINGS = {
    "by itself": "",
    "with an error": "raise ValueError('on purpose')",
    "killed": "os.kill(os.getpid(), 9)",
    "terminated": "os.kill(os.getpid(), 15)",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_however_its_process_ends_the_server_goes(local: Path, ending: str) -> None:
    script = f"""
import os
from hansei.graphs.local_model import local_endpoint
print(local_endpoint().base_url, flush=True)
{ending}
"""
    done = subprocess.run(
        [sys.executable, "-c", BARE + script],
        env={**os.environ, "PYTHONPATH": str(local.parent / "lib")},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stderr
    # A stray line of the library is on neither stream.
    assert "stray" not in done.stderr
    wait_until_gone(lines[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_fork_leaves_its_parents_server_alone(local: Path) -> None:
    script = """
import os, sys, urllib.request, urllib.error, warnings
from hansei.graphs.local_model import local_endpoint, stop_local_servers
warnings.simplefilter("error")
first = local_endpoint()
child = os.fork()
if child == 0:
    stop_local_servers()
    second = local_endpoint()
    print(first.base_url != second.base_url, second.base_url, flush=True)
    sys.exit(0)
_, status = os.waitpid(child, 0)
try:
    urllib.request.urlopen(first.base_url + "/chat/completions", data=b"{}", timeout=30)
except urllib.error.HTTPError as error:
    print(status, error.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", BARE + script],
        env={**os.environ, "PYTHONPATH": str(local.parent / "lib")},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    child, parent = done.stdout.splitlines()
    assert child.startswith("True http")
    assert parent == "0 401"
    wait_until_gone(child.split()[1])


def test_ctrl_c_is_for_the_program_alone() -> None:
    local_endpoint()
    (server,) = local_model._servers.values()
    if hasattr(os, "getpgid"):
        assert os.getpgid(server.pid) != os.getpgid(0)
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait() == -signal.SIGTERM


@pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="the extra `local` is not installed"
)
def test_the_real_library_takes_our_settings_and_says_what_is_wrong(
    local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.write_text("no model at all")
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not path.endswith("/lib")])
    importlib.invalidate_caches()
    with pytest.raises(OperatorError, match="invalid magic"):
        local_endpoint()
