"""Links to files that Spark ignores, by Hadoop's view file system (``viewfs``).

Spark's readers skip files whose names begin with ``.`` or ``_``, also where they are
given by name, and the names of some programs' files begin with that of the topic,
``__consumer_offsets``. A text is decompressed if its name ends as those of packed files
do. A mount table of ``viewfs`` has a link to each such file, with a name that is read
as it is. It exists only in the settings of a session.

Source: "ViewFs Guide" in the documentation of Apache Hadoop.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from pipeline.files import name_of

_SCHEME: Final = "viewfs://"
_DIGITS: Final = 16
_PACKED: Final = (".bz2", ".deflate", ".gz", ".lz4", ".snappy", ".zst")
_PARTS: Final = re.compile(r"([^:/]+:(?://[^/]*)?)(.*)", re.DOTALL)


def linked(uris: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the location at which to read each file, and the settings of the links."""
    read = {uri: uri for uri in uris}
    odd = [uri for uri in read if name_of(uri)[0] in "._" or uri.endswith(_PACKED)]
    # Hadoop keeps a file system per name, so that no two tables can have the same.
    digest = hashlib.sha256("\n".join(odd).encode(errors="surrogateescape"))
    table = digest.hexdigest()[:_DIGITS]
    read |= {uri: f"{_SCHEME}{table}/{number}" for number, uri in enumerate(odd)}
    settings = {
        f"fs.viewfs.mounttable.{table}.link./{number}": _escaped(uri)
        for number, uri in enumerate(odd)
    }
    return read, settings


def _escaped(uri: str) -> str:
    """Return a location with percent escapes, as the targets of links are read."""
    found = _PARTS.fullmatch(uri)
    return uri if found is None else f"{found[1]}{quote(found[2])}"
