"""Discovery of source files: names, formats, and splits."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.sources.documents import is_in_lines
from pipeline.sources.lines import WHOLE, Extent, survey
from pipeline.sources.source_kind import SourceKind, is_parquet, kind_of, known_formats
from rebalance import SourceError

SIDE_FILES: Final = ("topics.json", "offsets.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Unit of work of one reader.

    ``files`` are pairs of name and path. Text has an extent, and Parquet a row group;
    the describe texts of a folder form one split.
    """

    kind: SourceKind
    files: tuple[tuple[str, Path], ...]
    extent: Extent = WHOLE
    row_group: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that was read: its sha256 and length in bytes."""

    name: str
    kind: SourceKind
    sha256: str
    length: int


@dataclass(slots=True, kw_only=True)
class Found:
    """Result of a search: splits to read, files, and files that are not a source.

    ``side_files`` are partition counts and log ends in a folder of sources.
    """

    splits: list[Split] = field(default_factory=list)
    files: list[SourceFile] = field(default_factory=list)
    unknown: list[SourceError] = field(default_factory=list)
    side_files: dict[str, Path] = field(default_factory=dict)


def find_sources(paths: Sequence[Path], *, source_format: str | None = None) -> Found:
    """Find the sources in files and folders.

    The name of a given file is its base name; that of a file in a folder is the
    folder's name and the relative path. In folders, hidden files, files that start with
    ``_``, and pages (``.md``) are ignored.

    Raises
    ------
    SourceError
        If a path does not exist, there is no source, or the format is unknown.
    """
    forced = _format_of(source_format)
    found = Found()
    describes: dict[str, list[tuple[str, Path]]] = {}
    found.side_files = _side_files(paths)
    for name, path in _named(paths):
        if path in found.side_files.values():
            continue
        try:
            kind = forced or kind_of(path, name)
            splits = list(_splits(kind, name, path, found))
        except SourceError as error:
            found.unknown.append(error)
            continue
        except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
            reason = f"unreadable: {str(error).splitlines()[0]}"
            found.unknown.append(SourceError(reason, source=name))
            continue
        if kind is SourceKind.DESCRIBE:
            folder = str(Path(name).parent)
            describes.setdefault(folder, []).append((name, path))
        found.splits.extend(splits)
    for files in describes.values():
        found.splits.append(Split(kind=SourceKind.DESCRIBE, files=tuple(sorted(files))))
    if not found.splits:
        raise _nothing(paths, found.unknown)
    return found


def _side_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the side files at the top level of folders, the first per name."""
    found: dict[str, Path] = {}
    for given in paths:
        for name in SIDE_FILES:
            if given.is_dir() and (given / name).is_file():
                found.setdefault(name, given / name)
    return found


def _format_of(source_format: str | None) -> SourceKind | None:
    if source_format is None:
        return None
    try:
        return SourceKind(source_format)
    except ValueError:
        reason = f"no such format; known are {known_formats()}"
        raise SourceError(reason, source=source_format) from None


def _named(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield every file with its name; repeated names get a number."""
    taken: dict[str, int] = {}
    seen: set[Path] = set()
    for given in paths:
        for name, path in _files_of(given):
            if path.resolve() in seen:
                continue
            seen.add(path.resolve())
            taken[name] = taken.get(name, 0) + 1
            yield (name if taken[name] == 1 else f"{name}#{taken[name]}"), path


def _files_of(given: Path) -> Iterator[tuple[str, Path]]:
    if given.is_dir():
        top = given.resolve().name
        for path in sorted(given.rglob("*")):
            way = path.relative_to(given)
            if path.is_file() and not _is_left_alone(way):
                yield f"{top}/{way.as_posix()}", path
    elif given.exists():
        yield given.name, given
    else:
        raise SourceError("no such file or folder", source=str(given))


def _is_left_alone(way: Path) -> bool:
    return way.suffix == ".md" or any(part[0] in "._" for part in way.parts)


def _splits(kind: SourceKind, name: str, path: Path, found: Found) -> Iterator[Split]:
    """Split a file and record its digest; describe texts are combined later."""
    digest, extents = survey(path)
    files = ((name, path),)
    if is_parquet(path):
        with pq.ParquetFile(path) as parquet:
            groups = parquet.metadata.num_row_groups
        if groups == 0:
            raise SourceError("Parquet without rows", source=name)
        yield from (Split(kind=kind, files=files, row_group=i) for i in range(groups))
    elif kind is not SourceKind.DESCRIBE:
        if kind is SourceKind.REBALANCES and not is_in_lines(path):
            extents = [WHOLE]
        yield from (Split(kind=kind, files=files, extent=extent) for extent in extents)
    found.files.append(
        SourceFile(name=name, kind=kind, sha256=digest, length=path.stat().st_size)
    )


def _nothing(paths: Sequence[Path], unknown: list[SourceError]) -> SourceError:
    if len(unknown) == 1:
        return unknown[0]
    source = ", ".join(map(str, paths))
    if not unknown:
        return SourceError("no file in it", source=source)
    reason = f"nothing in it is a source; {unknown[0]} (and {len(unknown) - 1} more)"
    return SourceError(reason, source=source)
