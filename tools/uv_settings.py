"""Translate pip's configuration for uv, which reads neither pip.conf nor ``PIP_*``.

Which package index, which certificates, and which proxy are used is thus set in one
place, whichever of the two installs. Values are passed in the environment, because an
address can contain a password and arguments are visible to other users.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SECTIONS = ("global", "install", ":env:")
"""The sections that ``pip install`` reads; a later one has precedence."""

KEPT = ("UV_CACHE_DIR", "UV_LINK_MODE", "UV_CONCURRENT_DOWNLOADS", "UV_NO_PROGRESS")
"""Settings of uv that say nothing about what is installed, whence, and where."""

ALIASES = {"default-timeout": "timeout", "pypi-url": "index-url"}
RENAMED = {
    "index-url": "UV_DEFAULT_INDEX",
    "retries": "UV_HTTP_RETRIES",
    "client-cert": "SSL_CLIENT_CERT",
}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
SYSTEM_STORES = tuple(
    map(Path, ("/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/ssl/cert.pem"))
)
"""Where Linux and BSD keep certificates; uv fails if told to use an empty store."""

YES = frozenset({"1", "true", "yes", "on", "y", "t"})


def pip_settings(python: Path) -> dict[str, str]:
    """Return the options that pip's files and environment set for ``pip install``."""
    command = [str(python), "-I", "-m", "pip", "config", "list"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return effective_settings(ended.stdout)


def effective_settings(listed: str) -> dict[str, str]:
    """Return the options in the output of ``pip config list`` by name.

    A line is ``section.option='value'``; options of other commands are omitted.
    """
    by_section: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listed.splitlines():
        name, is_option, value = line.partition("=")
        section, _, option = name.partition(".")
        if is_option and section in by_section:
            option = option.lower().replace("_", "-")
            by_section[section][ALIASES.get(option, option)] = str(
                ast.literal_eval(value)
            )
    merged: dict[str, str] = {}
    for section in SECTIONS:
        merged |= by_section[section]
    return merged


def uv_environment(
    settings: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment in which uv uses the index that pip would use."""
    env = {
        name: value
        for name, value in environment.items()
        if name in KEPT or not name.startswith(("UV_", "VIRTUAL_ENV", "CONDA_PREFIX"))
    }
    env |= {"UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never"}
    env |= {RENAMED[name]: settings[name] for name in RENAMED if settings.get(name)}
    if extra := settings.get("extra-index-url", "").split():
        # pip looks into every index; hashes decide which files are accepted.
        env |= {"UV_INDEX": " ".join(extra), "UV_INDEX_STRATEGY": "unsafe-best-match"}
    if links := [link for link in settings.get("find-links", "").split() if _is(link)]:
        env["UV_FIND_LINKS"] = ",".join(links)
    if timeout := settings.get("timeout"):
        env["UV_HTTP_TIMEOUT"] = str(max(1, int(float(timeout))))
    if settings.get("keyring-provider") == "subprocess":
        env["UV_KEYRING_PROVIDER"] = "subprocess"
    if proxy := settings.get("proxy"):
        env = {name: env[name] for name in env if name.upper() not in PROXIES}
        env |= dict.fromkeys(PROXIES, proxy)
    return env | _certificates(settings, env)


def uv_arguments(settings: Mapping[str, str]) -> list[str]:
    """Return the arguments for the settings that uv reads from nowhere else."""
    arguments = ["--no-index"] if settings.get("no-index", "").lower() in YES else []
    for host in settings.get("trusted-host", "").split():
        arguments += ["--allow-insecure-host", host]
    return arguments


def _is(link: str) -> bool:
    """Return whether a place with packages exists: pip ignores others, uv fails."""
    return "://" in link or Path(link).expanduser().exists()


def _certificates(
    settings: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Select the bundle that pip would use; without one, the system's store."""
    bundles = (
        environment.get(name) for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    )
    bundle = next(filter(None, (settings.get("cert"), *bundles)), None)
    if bundle:
        return {"SSL_CERT_DIR" if Path(bundle).is_dir() else "SSL_CERT_FILE": bundle}
    has_store = sys.platform == "darwin" or any(map(_holds_some, SYSTEM_STORES))
    return {"UV_SYSTEM_CERTS": "1"} if has_store else {}


def _holds_some(store: Path) -> bool:
    return any(store.iterdir()) if store.is_dir() else store.is_file()
