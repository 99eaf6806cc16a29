"""Discovery of source files: names, kinds, and side files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from pipeline.files import (
    LOCAL_STORES,
    FileEntry,
    Location,
    Stores,
    is_local,
    name_of,
    shown,
    uri_of,
)
from pipeline.records import OFFSETS_TOPIC
from pipeline.side_files.lag_metrics import LagGap
from pipeline.sources.earlier_audits import without_audits
from pipeline.sources.log_segments import is_offsets_folder, is_other_file
from pipeline.sources.record_format import AS_SPARK, RecordFormat
from pipeline.sources.sink_names import SinkRole, sink_name
from pipeline.sources.sink_pairs import paired
from pipeline.sources.source_file import FileLayout, SourceFile, source_file
from pipeline.sources.source_kind import ACCEPTED, STATES, UNKNOWN, SourceKind
from rebalance import SourceError, is_device_failure

if TYPE_CHECKING:  # its clients take a while to load
    from pipeline.live import LiveSource

SIDE_FILES: Final = ("topics.json", "offsets.json", "subscriptions.json")
GROUP_NAME: Final = "--group-name"
"""The option, as messages name it."""
_THREADS: Final = 16
"""Files of a remote file system whose first bytes are read at the same time."""


@dataclass(slots=True, kw_only=True)
class FoundSources:
    """Result of a search: files to read, and files that are not a source.

    ``side_files`` are partition counts, log ends, and subscriptions in a folder of
    sources, by URI; ``live`` is a running cluster to read in addition; ``of_audits`` is
    the number of files that were skipped, because an earlier audit has written them;
    ``lag_gaps`` are the gaps in the lag of a monitoring system.
    """

    files: list[SourceFile] = field(default_factory=list)
    unknown: list[SourceError] = field(default_factory=list)
    side_files: dict[str, str] = field(default_factory=dict)
    live: LiveSource | None = None
    of_audits: int = 0
    lag_gaps: list[LagGap] = field(default_factory=list)

    @property
    def has_states(self) -> bool:
        """Whether files show states of groups, which records can complete."""
        return any(file.kind in STATES for file in self.files)


def find_sources(
    locations: Sequence[Location],
    stores: Stores = LOCAL_STORES,
    *,
    source_format: str | None = None,
    written: RecordFormat = AS_SPARK,
    group_name: str | None = None,
) -> FoundSources:
    """Find the sources in files and folders.

    The name of a given file is its base name; that of a file in a folder is the
    folder's name and the relative path. In folders, files of an earlier audit
    (`earlier_audits`), hidden files, files that start with ``_``, pages (``.md``), and
    the files that a broker keeps beside log segments, and Kafka Connect's S3 sink
    beside keys and values, are ignored. ``group_name`` names the group of describe
    tables without a column GROUP.

    Raises
    ------
    SourceError
        If a location does not exist, there is no source, or the format is unknown; if
        a disk or a network file system fails while a file is recognized; if
        ``group_name`` is empty, or there is no describe text.
    """
    if group_name == "":
        raise SourceError("a group needs a name", source=GROUP_NAME)
    forced = _format_of(source_format)
    found = FoundSources()
    named = _files_at(locations, stores, found)
    found.files, found.unknown = _sources_among(
        named,
        lambda name, entry: source_file(
            entry, name, stores.of(entry.uri), forced, written
        ),
    )
    if not found.files:
        raise _nothing(locations, found)
    if group_name is not None:
        found.files = _with_group_name(found.files, group_name)
    return found


def _files_at(
    locations: Sequence[Location], stores: Stores, found: FoundSources
) -> list[tuple[str, FileEntry]]:
    """Return every file once, with its name; note the side files of folders."""
    listed: list[tuple[str, FileEntry]] = []
    for given in locations:
        listed += _listed(uri_of(given), given, stores, found)
    return list(_named(listed, set(found.side_files.values())))


def _sources_among(
    named: Sequence[tuple[str, FileEntry]],
    recognize: Callable[[str, FileEntry], SourceFile],
) -> tuple[list[SourceFile], list[SourceError]]:
    """Return the files that are read, and why others are not."""
    files, unknown = _recognized(named, recognize)
    files, without_keys = paired(files, [entry.uri for _, entry in named])
    files, without_place = _without_second_history(files)
    return files, [*unknown, *without_keys, *without_place]


def _recognized(
    named: Sequence[tuple[str, FileEntry]],
    recognize: Callable[[str, FileEntry], SourceFile],
) -> tuple[list[SourceFile], list[SourceError]]:
    """Return the files that are sources, and why others are not."""

    def source_or_error(pair: tuple[str, FileEntry]) -> SourceFile | SourceError:
        try:
            return recognize(*pair)
        except SourceError as error:
            if is_device_failure(error):
                raise  # it can be readable again: an audit without it would mislead
            return error

    with ThreadPoolExecutor(_THREADS) as pool:
        is_remote = any(not is_local(entry.uri) for _, entry in named)
        found = list((pool.map if is_remote else map)(source_or_error, named))
    return (
        [file for file in found if isinstance(file, SourceFile)],
        [error for error in found if isinstance(error, SourceError)],
    )


def _with_group_name(files: Sequence[SourceFile], group_name: str) -> list[SourceFile]:
    describes = {file.uri for file in files if file.kind is SourceKind.DESCRIBE}
    if not describes:
        reason = "names the group of describe texts, and no source is one"
        raise SourceError(reason, source=GROUP_NAME)
    return [
        replace(file, group_name=group_name) if file.uri in describes else file
        for file in files
    ]


def _without_second_history(
    files: Sequence[SourceFile],
) -> tuple[list[SourceFile], list[SourceError]]:
    """Leave out records without offsets beside records that have them.

    Of those without, it is not known which of the others they are.
    """
    printed = [file for file in files if file.layout is FileLayout.CONSOLE_JSON]
    records = [file for file in files if file.kind is SourceKind.RECORDS]
    if not printed or len(printed) == len(records):
        return list(files), []
    first = next(file for file in records if file not in printed)
    reason = (
        f"records without offsets, next to {first.name}, which has records with them"
    )
    return (
        [file for file in files if file not in printed],
        [SourceError(reason, source=file.name) for file in printed],
    )


def _listed(
    uri: str, given: Location, stores: Stores, found: FoundSources
) -> Iterator[tuple[str, FileEntry]]:
    """Yield files with their names; note the side files of a folder."""
    store = stores.of(uri)
    try:
        is_folder = store.is_folder(uri)
        entries = [] if is_folder is None else store.files(uri)
        if is_folder:
            listed = list(entries)
            entries = without_audits(listed, store)
            found.of_audits += len(listed) - len(entries)
    except OSError as error:
        reason = f"unreadable: {error}"
        raise SourceError(reason, source=str(given), cause=error) from None
    if is_folder is None:
        raise SourceError("no such file or folder", source=str(given))
    for entry in entries:
        if not is_folder:
            yield name_of(str(given)), entry
        elif not _is_left_alone(uri, entry.below):
            way = "/".join(entry.below)
            if way in SIDE_FILES:
                found.side_files.setdefault(way, entry.uri)
            yield f"{name_of(uri)}/{way}", entry


def _is_left_alone(uri: str, below: tuple[str, ...]) -> bool:
    *_, folder, last = name_of(uri), *below
    is_page = PurePosixPath(last).suffix == ".md"
    is_hidden = any(part[0] in "._" and not _is_of_offsets(part) for part in below)
    sink = sink_name(last)
    is_of_headers = sink is not None and sink.role is SinkRole.HEADERS
    return is_page or is_hidden or is_of_headers or is_other_file(folder, last)


def _is_of_offsets(part: str) -> bool:
    """Return whether a part of a path begins as hidden ones do, by the topic's name."""
    is_folder = part == OFFSETS_TOPIC or is_offsets_folder(part)
    return is_folder or sink_name(part) is not None


def _format_of(source_format: str | None) -> SourceKind | None:
    if source_format is None:
        return None
    try:
        return SourceKind(source_format)
    except ValueError:
        known = ", ".join(kind.value for kind in SourceKind)
        reason = f"no such format; known are {known}"
        raise SourceError(reason, source=source_format) from None


def _named(
    listed: Sequence[tuple[str, FileEntry]], left_out: set[str]
) -> Iterator[tuple[str, FileEntry]]:
    """Yield every file once, with its name; repeated names get a number."""
    taken: dict[str, int] = {}
    seen: set[str] = set(left_out)
    for name, entry in listed:
        if entry.uri in seen:
            continue
        seen.add(entry.uri)
        taken[name] = taken.get(name, 0) + 1
        yield (name if taken[name] == 1 else f"{name}#{taken[name]}"), entry


def _nothing(locations: Sequence[Location], found: FoundSources) -> SourceError:
    unknown = found.unknown
    is_unknown = any(error.reason.startswith(UNKNOWN) for error in unknown)
    help_ = f"; {ACCEPTED}" if is_unknown else ""
    if len(unknown) == 1:
        return SourceError(f"{unknown[0].reason}{help_}", source=unknown[0].source)
    source = ", ".join(shown(uri_of(given)) for given in locations)
    if not unknown and found.of_audits:
        reason = "only the output of an audit: audit the sources of that one"
        return SourceError(reason, source=source)
    if not unknown:
        return SourceError("no file in it", source=source)
    reason = f"nothing in it is a source; {unknown[0]} (and {len(unknown) - 1} more)"
    return SourceError(f"{reason}{help_}", source=source)
