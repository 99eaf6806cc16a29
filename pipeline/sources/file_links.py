"""Links to files that Spark ignores, by Hadoop's view file system (``viewfs``).

Spark's readers skip files whose names begin with ``.`` or ``_``, also where they are
given by name, and the names of some programs' files begin with that of the topic,
``__consumer_offsets``. A mount table of ``viewfs`` has a link to each such file, with a
name that they read. It exists only in the settings of a session.

Source: "ViewFs Guide" in the documentation of Apache Hadoop.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from pipeline.files import name_of
from pipeline.sources.source_file import SourceFile

_SCHEME: Final = "viewfs://"
_DIGITS: Final = 16
_SUFFIX: Final = re.compile(r"\.[a-z0-9]+$")
_PARTS: Final = re.compile(r"([^:/]+:(?://[^/]*)?)(.*)", re.DOTALL)


def is_link(uri: str) -> bool:
    """Return whether a location is in a view file system."""
    return uri.startswith(_SCHEME)


def linked(files: Sequence[SourceFile]) -> tuple[list[SourceFile], dict[str, str]]:
    """Replace the locations that Spark ignores; return the files and the settings.

    The last suffix of a name, which can be that of a compression, is kept.
    """
    hidden = [file for file in files if name_of(file.uri)[0] in "._"]
    if not hidden:
        return list(files), {}
    # Hadoop keeps a file system per name, so that no two tables can have the same.
    text = "\n".join(file.uri for file in hidden)
    digest = hashlib.sha256(text.encode(errors="surrogateescape"))
    table = digest.hexdigest()[:_DIGITS]
    names = {
        file.uri: f"/{number}{_suffix(file.uri)}" for number, file in enumerate(hidden)
    }
    settings = {
        f"fs.viewfs.mounttable.{table}.link.{name}": _escaped(uri)
        for uri, name in names.items()
    }
    located = [
        replace(file, uri=f"{_SCHEME}{table}{names[file.uri]}")
        if file.uri in names
        else file
        for file in files
    ]
    return located, settings


def _suffix(uri: str) -> str:
    found = _SUFFIX.search(name_of(uri))
    return found[0] if found else ""


def _escaped(uri: str) -> str:
    """Return a location with percent escapes, as the targets of links are read."""
    found = _PARTS.fullmatch(uri)
    return uri if found is None else f"{found[1]}{quote(found[2])}"
