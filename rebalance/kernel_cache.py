"""Cache of a compiled kernel: an installation that is read, and a folder to write to.

numba has one folder per kernel, which must be writable: if the installation belongs to
another user, it ignores the kernels there, and without a home folder it refuses the
kernel. Here, a kernel is loaded from next to its module, whoever that belongs to. One
that is not there is stored there if possible, otherwise in the private temporary
folder, otherwise nowhere. ``NUMBA_CACHE_DIR`` replaces the folder next to the module.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from numba.core import caching, config

from rebalance.temporary import private_folder

PACKAGES: Final = ("rebalance", "solver", "heuristics", "pipeline")
"""Packages with kernels; the compiled form of one contains those that it calls."""


# numba's own classes, which have no types.
_CONFIG: Final[Any] = config
_FUNCTION_CACHE: Final[Any] = caching.FunctionCache
_CACHED_RESULT: Final[Any] = caching.CompileResultCacheImpl


def enable_caching(dispatcher: Any) -> None:
    """Give numba's dispatcher a cache of ours, as its own ``enable_caching`` does."""
    dispatcher._cache = cache_of(dispatcher.py_func)


def cache_of(function: Callable[..., Any]) -> Any:
    """Return the cache of a function, for numba's dispatcher.

    One without a source, as at a prompt, has a cache that stores nothing.
    """
    path = Path(function.__code__.co_filename).absolute()
    try:
        stamp = _stamp(path, function.__globals__["__loader__"])
    except (AttributeError, KeyError, OSError):
        return caching.NullCache()
    return KernelCache(function, path, stamp)


@cache
def _stamp(path: Path, loader: Any) -> bytes:
    """Return the digest of a source, which can be in an archive, as numba does."""
    return hashlib.sha256(loader.get_data(str(path))).digest()


class KernelCache:
    """The cache of one kernel, with the methods that numba's dispatcher calls."""

    def __init__(
        self, function: Callable[..., Any], source: Path, stamp: bytes
    ) -> None:
        self._function = function
        self._source = source
        self._stamp = stamp
        self._installed = _Store(function, source, stamp, _installed_folder(source))

    @property
    def cache_path(self) -> str:
        """The folder that the kernel is loaded from, or would be stored in."""
        store = self._installed
        if not store.has_index and not store.is_writable and self._spare is not None:
            store = self._spare
        return str(store.folder)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled form for a signature; None if none is stored."""
        found = self._installed.load(signature, target)
        if found is None and not self._installed.is_writable and self._spare:
            found = self._spare.load(signature, target)
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store a compiled form where that is possible: the process has it anyway."""
        store = self._installed if self._installed.is_writable else self._spare
        if store is not None:
            store.save(signature, compiled)

    def flush(self) -> None:
        """Forget the stored kernels, as far as they are writable."""
        store = self._installed if self._installed.is_writable else self._spare
        if store is not None:
            store.flush()

    @cached_property
    def _spare(self) -> _Store | None:
        """The store in the private folder; None if there can be no such folder."""
        try:
            folder = private_folder() / "kernels" / _digest_of_sources()
        except OSError:
            return None
        place = folder / _name_of(self._source)
        return _Store(self._function, self._source, self._stamp, place)


class _Store(_FUNCTION_CACHE):  # type: ignore[misc]
    """Compiled forms of a kernel in one folder; without it, or its data, none."""

    def __init__(
        self, function: Callable[..., Any], source: Path, stamp: bytes, folder: Path
    ) -> None:
        self.folder = folder
        self._impl_class = partial(
            _Implementation, place=_CacheFolder(source, stamp, folder)
        )
        super().__init__(function)

    @property
    def has_index(self) -> bool:
        """Whether something has been stored that this user can read."""
        return os.access(self.folder / f"{self._impl.filename_base}.nbi", os.R_OK)

    @property
    def is_writable(self) -> bool:
        """Whether the folder can be written to, or created."""
        parents = (self.folder, *self.folder.parents)
        return os.access(next(filter(_exists, parents)), os.W_OK | os.X_OK)

    def load(self, signature: Any, target: Any) -> Any:
        """Return the compiled form for a signature; None if it cannot be read."""
        try:
            with _locked(self.folder, fcntl.LOCK_SH):
                return self.load_overload(signature, target)
        except OSError:
            return None

    def save(self, signature: Any, compiled: Any) -> None:
        """Store a compiled form unless that fails, as on a full disk."""
        with suppress(OSError):
            self._impl.locator.ensure_cache_path()
            with _locked(self.folder, fcntl.LOCK_EX):
                self.save_overload(signature, compiled)


class _Implementation(_CACHED_RESULT):  # type: ignore[misc]
    """numba's own, with a given place."""

    def __init__(self, function: Callable[..., Any], *, place: _CacheFolder) -> None:
        self._locator_classes = [place]
        super().__init__(function)


class _CacheFolder:
    """A folder, with the methods of numba's locators."""

    def __init__(self, source: Path, stamp: bytes, folder: Path) -> None:
        self._py_file = str(source)  # which numba's warnings name
        self._stamp = stamp
        self._folder = folder

    def from_function(self, function: Callable[..., Any], _file: str) -> _CacheFolder:
        self._line = function.__code__.co_firstlineno
        return self

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> bytes:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)


def _exists(path: Path) -> bool:
    """Return whether a path exists; not if this user cannot even look for it."""
    return os.access(path, os.F_OK)


def _installed_folder(source: Path) -> Path:
    if _CONFIG.CACHE_DIR:
        return Path(_CONFIG.CACHE_DIR).absolute() / _name_of(source)
    return source.parent / "__pycache__"


def _name_of(source: Path) -> str:
    """Return a name for the folder of a source that no other folder has."""
    folder = source.parent
    return f"{folder.name}_{hashlib.sha256(os.fsencode(folder)).hexdigest()[:40]}"


@cache
def _digest_of_sources() -> str:
    """Return a digest of all sources with kernels.

    numba notices a change in the module of a kernel, and none in a kernel of another
    module that it calls; the set-up removes its earlier kernels (`tools`), and nobody
    tidies a temporary folder.
    """
    digest = hashlib.sha256()
    for name in PACKAGES:
        spec = find_spec(name)
        for folder in (spec and spec.submodule_search_locations) or ():
            for path in _files_of(Path(folder)):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _files_of(package: Path) -> list[Path]:
    """Return the sources of a package, or the archive that they are in."""
    if package.is_dir():
        return sorted(package.rglob("*.py"))
    return [path for path in package.parents if path.is_file()]


@contextmanager
def _locked(folder: Path, lock: int) -> Iterator[None]:
    """Hold a lock on a folder: two writers could give one name to two signatures.

    A file system without locks is used without them.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, lock)
        yield
    finally:
        os.close(handle)
