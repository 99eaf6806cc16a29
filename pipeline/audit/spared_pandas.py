"""Arrow and PySpark without pandas, in processes that are only an audit's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Final

import pyarrow as pa

_LOOKS_FOR_PANDAS: Final = "pyspark.testing.utils"
"""PySpark imports it before it passes an argument to Java, to ask for numpy."""


class _WithoutPandas:
    """Finder of modules that hides pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


@contextmanager
def _hidden() -> Iterator[None]:
    """Hide pandas from imports."""
    sys.meta_path.insert(0, _WithoutPandas)
    try:
        yield
    finally:
        sys.meta_path.remove(_WithoutPandas)


def spare_pandas() -> None:
    """Let Arrow and PySpark look for pandas while there is none to be found.

    Both do so once, and load it if they find it: 30 MiB and a third of a second in each
    process, for which an audit has no use. Others can still import it.
    """
    spare_pandas_of_arrow()
    with _hidden(), suppress(ImportError):
        import_module(_LOOKS_FOR_PANDAS)


def spare_pandas_of_arrow() -> None:
    """Do so with Arrow alone, which would load it for the first list of Python's."""
    with _hidden():
        pa.array([0])
