"""A stand-in for xllamacpp: a module of that name that serves without a model.

It is written to a folder and found there by the server process, so that everything but the
library itself runs for real. What it does depends on what the model file says.
"""

from __future__ import annotations

from pathlib import Path

import pytest

MODULE = """
import json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Bag:
    pass

class CommonParams(Bag):
    def __init__(self):
        self.model, self.cpuparams, self.sampling = Bag(), Bag(), Bag()

class Server:
    def __init__(self, params):
        told = open(params.model.path).read().strip()
        print("a stray line")
        if told == "broken":
            print("0.00.018.155 E gguf_init_from_reader: invalid magic characters", file=sys.stderr)
            print("0.00.018.608 E cmn  common_init_: failed to load model", file=sys.stderr)
            raise RuntimeError("Failed to init server, please check the input params.")
        if told == "crash":
            os._exit(3)
        if told == "crash later":
            threading.Timer(0.2, os._exit, [3]).start()
        if told == "stuck":
            time.sleep(3600)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                allowed = {"Bearer " + key for key in params.api_keys}
                if allowed and self.headers["Authorization"] not in allowed:
                    self.send_error(401)
                    return
                said = {
                    "model": sorted(params.model_alias),
                    "slots": params.n_parallel,
                    "context": params.n_ctx,
                    "limit": params.n_predict,
                    "threads": params.cpuparams.n_threads,
                    "temperature": params.sampling.temp,
                    "spins": os.environ.get("GOMP_SPINCOUNT"),
                    "hosts": params.hostnames,
                }
                message = {"role": "assistant", "content": json.dumps(said)}
                body = json.dumps({"id": "1", "object": "chat.completion", "created": 1,
                    "model": "toy", "choices": [
                        {"index": 0, "finish_reason": "stop", "message": message}]}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        web = ThreadingHTTPServer(("127.0.0.1", params.port), Handler)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        self.listening_address = "http://127.0.0.1:%d" % web.server_port
"""


def install_stand_in(folder: Path, patch: pytest.MonkeyPatch, module: str = MODULE) -> None:
    """Make it what `import xllamacpp` finds, here and in processes started from here."""
    folder.mkdir()
    (folder / "xllamacpp.py").write_text(module)
    patch.syspath_prepend(str(folder))


def model_file(folder: Path, patch: pytest.MonkeyPatch, *, told: str = "serve") -> Path:
    """Make a model file of one's own and set it."""
    path = folder / "toy-model.gguf"
    path.write_text(told)
    patch.setenv("HANSEI_GGUF", str(path))
    patch.setenv("HANSEI_CACHE", str(folder / "cache"))
    patch.chdir(folder)
    return path
