"""Build one version of a client, one function per toolchain.

Each gets a folder with copies of the adapter's sources and lock files and returns the
command that starts the adapter, to which the assignor is appended.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from conformance.clients.declaration import ClientDeclaration
from conformance.clients.installed import clients_folder, go_environment
from tools.clients.toolchains import GO, NODE, find_toolchain
from tools.installer import SetUpError
from tools.side_environment import side_environment

SECONDS = 600
LOCK = "requirements.lock"


def build_go(place: Path, client: ClientDeclaration) -> list[str]:
    """Compile the adapter; modules are checked against ``go.sum``."""
    build = [str(find_toolchain(GO)), "build", "-ldflags=-s -w", "-o", "adapter", "."]
    _run(build, place, go_environment(), client)
    return [str(place / "adapter")]


def build_node(place: Path, client: ClientDeclaration) -> list[str]:
    """Install packages without their scripts, checked against ``package-lock.json``."""
    node = find_toolchain(NODE)
    # npm is a script of the Node that runs it
    settings = {
        "PATH": os.pathsep.join([str(node.parent), os.environ.get("PATH", "")]),
        "npm_config_cache": str(clients_folder() / "npm-cache"),
        "npm_config_update_notifier": "false",
    }
    install = [*_npm(node), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    _run([*install, "--omit=dev", "--omit=optional"], place, settings, client)
    return [str(node), str(place / _program(client))]


def build_python(place: Path, client: ClientDeclaration) -> list[str]:
    """Install packages into an environment of their own, checked against hashes.

    Hashes of strings are the same in every run, so that an answer that depends on the
    order of a set can be reproduced.
    """
    side_environment(place / "env", place / LOCK)
    python = place / "env" / "bin" / "python"
    environment = ["/usr/bin/env", "-u", "PYTHONPATH", "PYTHONHASHSEED=0"]
    return [*environment, str(python), "-s", str(place / _program(client))]


def _npm(node: Path) -> list[str]:
    script = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(node), str(script)] if script.exists() else ["npm"]


def _program(client: ClientDeclaration) -> str:
    if client.build.program is None:
        raise SetUpError(f"{client.name}/client.toml: build.program is missing")
    return client.build.program


def _run(
    command: list[str],
    place: Path,
    settings: Mapping[str, str],
    client: ClientDeclaration,
) -> None:
    """Run a build; its output is in ``build.log`` of the folder."""
    log = place / "build.log"
    try:
        ended = subprocess.run(
            command,
            cwd=place,
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SetUpError(f"{command[0]}: no end after {SECONDS} s") from None
    log.write_text(ended.stdout, encoding="utf-8")
    if ended.returncode:
        said = [line for line in ended.stdout.splitlines() if line.strip()]
        errors = [line for line in said if "rror" in line] or said or ["no output"]
        raise SetUpError(f"{client.build.toolchain}: {errors[-1].strip()} ({log})")
