"""A server of S3 on this machine: moto, in an environment of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tools.recipe_partners import make_recipe_partners

KEYS: Final = {"AWS_ACCESS_KEY_ID": "a-key", "AWS_SECRET_ACCESS_KEY": "a-secret"}
REGION: Final = "eu-central-1"
_SERVER: Final = """
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.moto_server.werkzeug_app import create_backend_app
from waitress import create_server

application = DomainDispatcherApplication(create_backend_app)
server = create_server(application, host="127.0.0.1", port=0, threads=16)
print(server.effective_port, flush=True)
server.run()
"""


@contextmanager
def running_s3() -> Iterator[str]:
    """Start a server without a bucket; yield its endpoint. It ends with the block."""
    process = subprocess.Popen(
        [make_recipe_partners(), "-c", _SERVER],
        env={**os.environ, "PYTHONPATH": "", **KEYS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port.isdecimal(), "the server of S3 has not started"
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
