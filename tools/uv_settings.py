"""Translate pip's configuration for uv, which reads neither pip.conf nor ``PIP_*``.

The package index, certificates, and proxy are thus set in one place, whichever of the
two installs. Values are passed in the environment, because an address can contain a
password and arguments are visible to other users.
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
"""Settings of uv that change neither the packages, nor their origin or target."""

NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "no-index": "UV_OFFLINE",
    "trusted-host": "UV_INSECURE_HOST",
    "retries": "UV_HTTP_RETRIES",
    "client-cert": "SSL_CLIENT_CERT",
}
"""Options of pip that uv reads as they are, from these variables."""

ALIASES = {"default-timeout": "timeout", "pypi-url": "index-url"}
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
STORES = ("ssl/certs/*", "pki/tls/certs/*", "ssl/cert.pem")
"""Certificates of Linux and BSD in /etc; uv fails with a store that is empty."""


def pip_settings(python: Path) -> dict[str, str]:
    """Return the options that pip's files and environment set for ``pip install``."""
    command = [str(python), "-I", "-m", "pip", "config", "list"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return effective_settings(ended.stdout)


def effective_settings(listed: str) -> dict[str, str]:
    """Return the options in the output of ``pip config list`` by name.

    A line is ``section.option='value'``; options of other commands are omitted.
    """
    lines = [line.partition("=") for line in listed.splitlines() if "=" in line]
    settings = {}
    for wanted in SECTIONS:
        for name, _, value in lines:
            section, _, option = name.partition(".")
            if section == wanted:
                option = option.lower().replace("_", "-")
                settings[ALIASES.get(option, option)] = str(ast.literal_eval(value))
    return settings


def uv_environment(
    settings: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment in which uv uses the index that pip would use."""
    given = {name: value.split() for name, value in settings.items() if value.strip()}
    dropped = ("UV_", "VIRTUAL_ENV", "CONDA_PREFIX")
    env = {
        name: value
        for name, value in environment.items()
        if (name in KEPT or not name.startswith(dropped))
        and not ("proxy" in given and name.upper() in PROXIES)
    }
    # pip looks into every index; hashes decide which files are accepted.
    env |= {"UV_NO_CONFIG": "1", "UV_INDEX_STRATEGY": "unsafe-best-match"}
    env |= {"UV_PYTHON_DOWNLOADS": "never"}
    env |= {NAMES[name]: " ".join(given[name]) for name in NAMES if name in given}
    if links := [link for link in given.get("find-links", ()) if _exists(link)]:
        env["UV_FIND_LINKS"] = ",".join(links)
    if "timeout" in given:
        env["UV_HTTP_TIMEOUT"] = str(max(1, int(float(settings["timeout"]))))
    if settings.get("keyring-provider") == "subprocess":
        env["UV_KEYRING_PROVIDER"] = "subprocess"
    if "proxy" in given:
        env |= dict.fromkeys(PROXIES, settings["proxy"])
    bundles = (env.get(name) for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))
    if bundle := next(filter(None, (settings.get("cert"), *bundles)), None):
        env["SSL_CERT_DIR" if Path(bundle).is_dir() else "SSL_CERT_FILE"] = bundle
    elif sys.platform == "darwin" or any(any(Path("/etc").glob(s)) for s in STORES):
        env["UV_SYSTEM_CERTS"] = "1"
    return env


def _exists(link: str) -> bool:
    """Return whether a place with packages exists: pip ignores others, uv fails."""
    return "://" in link or Path(link).expanduser().exists()
