"""uv gets the index, the certificates, and the proxy that pip would use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.uv_settings import (
    effective_settings,
    pip_settings,
    uv_environment,
)

NOTHING: dict[str, str] = {}
LISTED = r"""
:env:.index-url='https://env.example/simple'
download.index-url='https://download.example/simple'
global.index-url='https://global.example/simple'
global.extra_index_url='\nhttps://a.example/s\nhttps://b.example/s'
global.default-timeout='180'
install.index-url='https://install.example/simple'
install.trusted-host='a.example b.example'
a line that is no option
"""


def test_sections_override_one_another_as_in_pip() -> None:
    settings = effective_settings(LISTED)
    assert settings == {
        "index-url": "https://env.example/simple",
        "extra-index-url": "\nhttps://a.example/s\nhttps://b.example/s",
        "timeout": "180",
        "trusted-host": "a.example b.example",
    }
    environment = uv_environment(settings, NOTHING)
    assert environment["UV_DEFAULT_INDEX"] == "https://env.example/simple"
    assert environment["UV_INDEX"] == "https://a.example/s https://b.example/s"
    assert environment["UV_INDEX_STRATEGY"] == "unsafe-best-match"
    assert environment["UV_HTTP_TIMEOUT"] == "180"
    assert environment["UV_INSECURE_HOST"] == "a.example b.example"


@pytest.mark.heavy
def test_what_pip_reads_from_files_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip itself lists its settings, so that every place of a file counts."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://file.example/simple\nretries = 2\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv(
        "PIP_FIND_LINKS", f"{tmp_path} {tmp_path}/none https://l.example"
    )
    environment = uv_environment(pip_settings(Path(sys.executable)), NOTHING)
    assert environment["UV_DEFAULT_INDEX"] == "https://file.example/simple"
    assert environment["UV_HTTP_RETRIES"] == "2"
    assert environment["UV_FIND_LINKS"] == f"{tmp_path},https://l.example"
    monkeypatch.setenv("PIP_INDEX_URL", "https://variable.example/simple")
    environment = uv_environment(pip_settings(Path(sys.executable)), NOTHING)
    assert environment["UV_DEFAULT_INDEX"] == "https://variable.example/simple"


def test_nothing_set_names_no_index() -> None:
    environment = uv_environment(NOTHING, {"PATH": "/bin"})
    assert not {"UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS"} & environment.keys()
    assert environment["PATH"] == "/bin"
    assert "UV_INSECURE_HOST" not in environment


@pytest.mark.parametrize("value", ["1", "false", "on", "n"])
def test_no_index(value: str) -> None:
    """pip and uv read the same words for yes and no."""
    assert uv_environment({"no-index": value}, NOTHING)["UV_OFFLINE"] == value


def test_settings_of_uv_do_not_redirect_the_set_up() -> None:
    """A user's settings for their own projects may name another index or target."""
    set_by_user = {
        "UV_INDEX_URL": "https://other.example",
        "UV_SYSTEM_PYTHON": "1",
        "VIRTUAL_ENV": "/elsewhere",
        "UV_CACHE_DIR": "/cache",
    }
    environment = uv_environment(NOTHING, set_by_user)
    assert environment.keys() & set_by_user.keys() == {"UV_CACHE_DIR"}
    assert environment["UV_NO_CONFIG"] == "1"


def test_certificates(tmp_path: Path) -> None:
    bundle = str(tmp_path / "bundle.pem")
    said = uv_environment({"cert": bundle}, {"SSL_CERT_FILE": "/other.pem"})
    assert said["SSL_CERT_FILE"] == bundle
    assert "UV_SYSTEM_CERTS" not in said
    said = uv_environment(NOTHING, {"REQUESTS_CA_BUNDLE": bundle})
    assert said["SSL_CERT_FILE"] == bundle
    assert uv_environment({"cert": str(tmp_path)}, NOTHING)["SSL_CERT_DIR"] == str(
        tmp_path
    )
    said = uv_environment({"client-cert": "/key.pem"}, NOTHING)
    assert said["SSL_CLIENT_CERT"] == "/key.pem"


def test_a_proxy_of_pip_replaces_those_of_the_environment() -> None:
    said = uv_environment(
        {"proxy": "http://proxy.example"}, {"https_proxy": "http://no"}
    )
    assert said["HTTPS_PROXY"] == said["HTTP_PROXY"] == "http://proxy.example"
    assert "https_proxy" not in said


def test_no_file_of_the_repository_names_an_index() -> None:
    root = Path(__file__).resolve().parents[2]
    files = ["Makefile", ".ci", "requirements", "tools", "pyproject.toml"]
    command = ["git", "grep", "-lE", "(index-url|INDEX_URL|_INDEX) *= *.?https?:"]
    found = subprocess.run(
        [*command, "--", *files], cwd=root, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1, found.stdout + found.stderr
