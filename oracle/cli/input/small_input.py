"""Small files: whether their kernels are interpreted instead of loaded.

A command on a small group spends more time on loading compiled kernels than on
computing. Smallness is measured on documents, not on bytes: a short document can state
a million partitions.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oracle.cli.options.limit_options import Allowed

BYTES_MAX: Final = 20_000
"""Files of more bytes are not read for this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """The most partitions and members of all documents of a file together."""

    partitions: int
    members: int


OF_ONE_ANSWER: Final = Small(partitions=256, members=64)
"""Half a second of CPU with interpreted kernels, 1.2 s with compiled ones."""
OF_ALL_ASSIGNORS: Final = Small(partitions=16, members=8)
"""0.9 to 1.8 s for ``compare`` with interpreted kernels, 1.8 to 2.2 s with compiled
ones; at 32 partitions compiled ones are faster."""


class _CommandProcess:
    """Whether this process runs one command and ends."""

    runs_one_command = False


def allow_interpreting() -> None:
    """State that this process runs one command and ends."""
    _CommandProcess.runs_one_command = True


def interpret_if_small(
    file: str | None, small: Small = OF_ONE_ANSWER, allowed: Allowed | None = None
) -> None:
    """Interpret all kernels of this process if a file has little to compute.

    Only in a process of its own: another one would stay slow. To be called before an
    engine is imported.

    Parameters
    ----------
    file : str or None
        Name of a file; only a regular file is read.
    small : Small
    allowed : Allowed or None
        With a time limit, kernels are compiled: within it, they find more.
    """
    is_timed = allowed is not None and allowed.time_limit is not None
    if (
        not is_timed
        and file
        and _CommandProcess.runs_one_command
        and _is_small(file, small)
    ):
        from rebalance import interpret_kernels

        interpret_kernels()


def _is_small(file: str, small: Small) -> bool:
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_size > BYTES_MAX:
        return False
    return _fits(file, small)


def _fits(file: str, small: Small) -> bool:
    """Return whether all documents are readable, and together small enough."""
    from rebalance import DocumentError, SourceError, read_rebalances

    partitions = members = 0
    try:
        for document in read_rebalances(file, max_partitions=small.partitions):
            if isinstance(document, DocumentError):
                return False
            partitions += sum(topic.partitions for topic in document.topics.values())
            members += len(document.members)
            if partitions > small.partitions or members > small.members:
                return False
    except SourceError:
        return False
    return True
