"""Locations as a user writes them: paths, and URIs of Hadoop file systems.

A location is passed on as the text of a Hadoop ``Path``: a scheme, an authority, and a
path without percent escapes. A path without a scheme is relative to the working
directory of this process, and becomes ``file:/...``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote

Location: TypeAlias = str | Path

LOCAL: Final = "file:"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_PLACE: Final = re.compile(r"([^/]+://[^/]*)(.*)")
"""A scheme with an authority, which can be empty; and a path."""


def uri_of(given: Location) -> str:
    """Return the absolute location of a path or a URI.

    A ``file:`` URI is taken as it is if such a file exists, and otherwise with its
    percent escapes decoded, as other programs write them. Other URIs lose the slashes
    at their end; the root of a file system is ``s3a://bucket`` or ``hdfs://``.
    """
    text = str(given)
    if isinstance(given, Path) or not _SCHEME.match(text):
        return LOCAL + str(Path(text).resolve())
    if not text.lower().startswith(LOCAL):
        place = _PLACE.fullmatch(text)
        return place[1] + place[2].rstrip("/") if place else text
    path = re.sub(r"^//[^/]*", "", text[len(LOCAL) :])
    plain = Path(path)
    if not plain.exists() and "%" in path:
        plain = Path(unquote(path))
    return LOCAL + str(plain.resolve())


def is_local(uri: str) -> bool:
    """Return whether a location is in the file system of this machine."""
    return uri.startswith(LOCAL)


def local_path(uri: str) -> Path:
    """Return the path of a local location."""
    return Path(uri[len(LOCAL) :])


def name_of(uri: str) -> str:
    """Return the last part of a location."""
    return uri.rstrip("/").rsplit("/", 1)[-1]


def shown(uri: str) -> str:
    """Return a location for messages: a plain path if it is local."""
    return str(local_path(uri)) if is_local(uri) else uri


def as_given(given: Location) -> str:
    """Return a location for messages: a path as the user wrote it."""
    is_path = isinstance(given, Path) or not _SCHEME.match(given)
    return str(Path(given)) if is_path else shown(uri_of(given))
