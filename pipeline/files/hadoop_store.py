"""Hadoop's file systems, through the Java of a running Spark session."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from py4j.protocol import Py4JError, Py4JJavaError

from pipeline.files.location import LOCAL
from pipeline.files.stores import FileEntry
from rebalance import DEVICE_FAILURES

if TYPE_CHECKING:  # local files are read without Spark
    from pyspark import SparkContext

_BUFFER: Final = 256 << 10
_OF_THE_NETWORK: Final = (
    "java.net.ConnectException",
    "java.net.NoRouteToHostException",
    "java.net.SocketException",
    "java.net.SocketTimeoutException",
    "org.apache.hadoop.net.ConnectTimeoutException",
    "org.apache.hadoop.hdfs.BlockMissingException",
)
"""Classes of exceptions by which Java reports that a file system does not answer."""
_EXPLAINED: Final = {
    "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found": (
        "Spark has no jars for s3a: (docs/recipes, S3)"
    ),
    'No FileSystem for scheme "s3"': "the scheme of S3 is s3a: here",
}
"""Parts of Java's messages, and messages that say more."""


class HadoopStore:
    """Files of a cluster; see `pipeline.files.stores.FileStore`.

    Credentials and endpoints are those of the session's Hadoop configuration.
    """

    def __init__(self, spark: SparkContext) -> None:
        # The private names are PySpark's only way to Java; its own readers use them.
        self._jvm: Any = spark._jvm
        self._conf: Any = spark._jsc.hadoopConfiguration()

    def is_folder(self, uri: str) -> bool | None:
        """Return whether a location is a folder; None if there is nothing."""
        with self._at(uri) as (system, path):
            if not system.exists(path):
                return None
            return bool(system.getFileStatus(path).isDirectory())

    def files(self, uri: str) -> list[FileEntry]:
        """Return the file, or all files below the folder, in the order of paths."""
        with self._at(uri) as (system, path):
            top = system.getFileStatus(path)
            if not top.isDirectory():
                return [_entry(top, "")]
            root = top.getPath().toString().rstrip("/") + "/"
            found = system.listFiles(path, True)
            entries = []
            while found.hasNext():
                entries.append(_entry(found.next(), root))
        return sorted(entries, key=lambda entry: entry.below)

    def folders(self, uri: str) -> list[str]:
        """Return the locations of the folders in a folder, in the order of names."""
        with self._at(uri) as (system, path):
            if not system.exists(path):
                return []
            found = [
                status for status in system.listStatus(path) if status.isDirectory()
            ]
            return sorted(f"{uri}/{status.getPath().getName()}" for status in found)

    def open(self, uri: str) -> BinaryIO:
        """Open a file for reading."""
        with self._at(uri) as (system, path):
            length = int(system.getFileStatus(path).getLen())
            raw = _JavaInput(system.open(path), length)
        return cast("BinaryIO", io.BufferedReader(raw, _BUFFER))

    def make_folder(self, uri: str) -> None:
        """Create a folder and its parents."""
        with self._at(uri) as (system, path):
            if not system.mkdirs(path):
                raise OSError(f"cannot create {uri}")

    def rename(self, uri: str, target: str) -> None:
        """Move a file or a folder within its file system; nothing is at the target."""
        with self._at(uri) as (system, path):
            if not system.rename(path, self._path(target)):
                raise OSError(f"cannot rename {uri} to {target}")

    def delete(self, uri: str) -> None:
        """Delete a file, or a folder with all that is in it, if it exists."""
        with self._at(uri) as (system, path):
            system.delete(path, True)

    def delete_empty(self, uri: str) -> None:
        """Delete a folder if there is nothing in it."""
        with suppress(OSError), self._at(uri) as (system, path):
            system.delete(path, False)

    def locked(self, _uri: str, _name: str) -> AbstractContextManager[None]:
        """Do nothing: two runs must not write to one folder at the same time."""
        return nullcontext()

    @contextmanager
    def here(self, uri: str, names: Iterable[str]) -> Iterator[Path]:
        """Open a temporary folder with copies of these files and folders."""
        with tempfile.TemporaryDirectory() as scratch:
            for name in names:
                with self._at(f"{uri}/{name}") as (system, path):
                    goal = self._path(f"{LOCAL}{scratch}/{name}")
                    # Without a checksum file next to each copy.
                    system.copyToLocalFile(False, path, goal, True)
            yield Path(scratch)

    def upload(self, source: Path, uri: str) -> None:
        """Copy a file or a folder of this machine, replacing a file."""
        with self._at(uri) as (system, path):
            system.copyFromLocalFile(False, True, self._path(LOCAL + str(source)), path)

    @contextmanager
    def _at(self, uri: str) -> Iterator[tuple[Any, Any]]:
        """Open the file system of a location with its path; convert Java's errors."""
        with _java_errors():
            path = self._path(uri)
            yield path.getFileSystem(self._conf), path

    def _path(self, uri: str) -> Any:
        is_root = "/" not in uri.partition("://")[2]  # whose path would be relative
        return self._jvm.org.apache.hadoop.fs.Path(f"{uri}/" if is_root else uri)


class _JavaInput(io.RawIOBase):
    """An ``FSDataInputStream`` as a raw Python stream."""

    def __init__(self, stream: Any, length: int) -> None:
        self._stream = stream
        self._length = length
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}
        self._position = max(0, base[whence] + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._length - self._position)
        if wanted <= 0:
            return 0
        with _java_errors():
            self._stream.seek(self._position)
            data = bytes(self._stream.readNBytes(wanted))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            with _java_errors():
                self._stream.close()
        super().close()


def _entry(status: Any, root: str) -> FileEntry:
    uri = status.getPath().toString()
    return FileEntry(
        uri=uri,
        below=tuple(uri.removeprefix(root).split("/")) if root else (),
        length=int(status.getLen()),
        modified_ms=int(status.getModificationTime()),
    )


def errno_of(kind: str, text: str) -> int | None:
    """Return the number of a device's failure, by the class and text of Java's."""
    if kind in _OF_THE_NETWORK:
        return errno.ETIMEDOUT if "Timeout" in kind else errno.ECONNRESET
    numbers = (
        number for number in sorted(DEVICE_FAILURES) if os.strerror(number) in text
    )
    return next(numbers, None)


def _explained(line: str) -> str:
    return next((said for part, said in _EXPLAINED.items() if part in line), line)


@contextmanager
def _java_errors() -> Iterator[None]:
    """Convert an exception of Java to an ``OSError`` with its message.

    ``errno`` is set if a disk or the network failed, of which Java has the text, or a
    class.
    """
    try:
        yield
    except Py4JJavaError as error:
        cause = error.java_exception
        kind = str(cause.getClass().getName())
        text = str(cause.getMessage() or kind)
        raised = OSError(_explained(text.splitlines()[0]))
        raised.errno = errno_of(kind, text)
        raise raised from error
    except Py4JError as error:
        raise OSError(str(error).splitlines()[0]) from error
