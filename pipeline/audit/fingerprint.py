"""Fingerprint of the request for an audit: equal requests yield equal tables.

It covers the sources, the options that affect the tables, the versions of this program
and of its libraries, and, in a checkout, the source code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pipeline.audit.manifest import versions
from pipeline.judging.instances import ClusterFacts
from pipeline.sources.find import FoundSources
from pipeline.tables import FORMAT, LAYOUT

_CODE: Final = ("heuristics", "pipeline", "rebalance", "solver", "verify")
_DIGITS: Final = 16


def fingerprint(
    found: FoundSources, facts: ClusterFacts, options: Mapping[str, Any]
) -> str:
    """Return a name for the request, of hexadecimal digits.

    A source counts with its location, length, and modification time; of a running
    cluster, the ranges of offsets count.
    """
    digest = hashlib.sha256()
    for part in _parts(found, facts, options):
        digest.update(repr(part).encode())
        digest.update(b"\n")
    return digest.hexdigest()[:_DIGITS]


def _parts(
    found: FoundSources, facts: ClusterFacts, options: Mapping[str, Any]
) -> Iterator[object]:
    yield FORMAT, LAYOUT, sorted(versions().items()), _code()
    yield sorted(options.items())
    yield facts
    for file in found.files:
        yield file.name, file.uri, file.kind, file.length, file.modified_ms, file.sha256
    for error in found.unknown:
        yield str(error)
    yield from found.lag_gaps
    if found.live is not None:
        yield found.live.log.server, found.live.ranges


def _code() -> str:
    """Return the digest of the source code, as far as it is files."""
    digest = hashlib.sha256()
    for package in _CODE:
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            for path in sorted(Path(folder).rglob("*.py")):
                digest.update(path.read_bytes())
    return digest.hexdigest()
