"""Errors: one base class; each error names the offending object."""

from __future__ import annotations

import errno
import os
from typing import Final

OUTSIDE: Final = 3
"""Exit code if an external component, a disk, or a network file system failed."""


class OracleError(Exception):
    """Base class of all errors of this project.

    ``exit_code`` is that of the command line: 2 for a usage error or unreadable input,
    `OUTSIDE` if an external component failed.
    """

    exit_code: int = 2

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling with keyword-only arguments: Spark transfers errors."""
        return _rebuilt, (type(self), self.args, self.__dict__.copy())


class DocumentError(OracleError, ValueError):
    """A document that violates its format; ``path`` is a JSON path.

    ``more`` has path and reason of each further offending value.
    """

    def __init__(
        self,
        reason: str,
        *,
        path: str = "$",
        source: str | None = None,
        line: int | None = None,
        more: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.reason = reason
        self.path = path
        self.source = source
        self.line = line
        self.more = more
        place = _place(source, line)
        super().__init__(place + "; ".join(f"{at}: {why}" for at, why in self.culprits))

    @property
    def culprits(self) -> list[tuple[str, str]]:
        """Path and reason of every offending value."""
        return [(self.path, self.reason), *self.more]

    def lines(self) -> list[str]:
        """Return one line per offending value, each with source and line."""
        place = _place(self.source, self.line)
        return [f"{place}{path}: {reason}" for path, reason in self.culprits]

    def at(self, *, source: str | None, line: int | None) -> DocumentError:
        """Return the same error with its source and line."""
        return DocumentError(
            self.reason, path=self.path, source=source, line=line, more=self.more
        )


class InstanceError(OracleError, ValueError):
    """Inconsistent instance; ``reason`` and ``subject`` are also attributes."""

    def __init__(self, reason: str, *, subject: object) -> None:
        super().__init__(f"{reason}: {subject!r}")
        self.reason = reason
        self.subject = subject


class PolicyError(OracleError, ValueError):
    """An invalid policy, with the place in its text if it was given as text.

    ``start`` and ``length`` locate the offending characters of ``text``.
    """

    def __init__(
        self,
        reason: str,
        *,
        text: str | None = None,
        start: int | None = None,
        length: int = 1,
    ) -> None:
        self.reason = reason
        self.text = text
        self.start = start
        self.length = length
        super().__init__(f"policy: {reason}{_pointer(text, start, length)}")


class WireError(OracleError, ValueError):
    """Bytes that are not a message of the protocol; ``offset`` in bytes."""

    def __init__(self, reason: str, *, offset: int) -> None:
        super().__init__(f"at byte {offset}: {reason}")
        self.reason = reason
        self.offset = offset


_FAILURES: Final = (
    "EIO ENODEV ENOMEDIUM EUCLEAN EBADMSG ENOSPC EDQUOT EFBIG ENOMEM "  # a disk, memory
    "ESTALE EREMOTEIO ENOLINK ECOMM EPROTO ENONET ENOTCONN ESHUTDOWN ETIMEDOUT "
    "ECONNRESET ECONNABORTED ECONNREFUSED ENETDOWN ENETUNREACH ENETRESET EHOSTDOWN "
    "EHOSTUNREACH"  # a network file system
)
DEVICE_FAILURES: Final = frozenset(
    getattr(errno, name) for name in _FAILURES.split() if hasattr(errno, name)
)
"""Numbers of errors that are not faults of the user: a disk is full or fails, or a file
system of the network does. A path that is missing or forbidden is not among them."""
_DEVICE_REASONS: Final = tuple(
    os.strerror(number).lower() for number in DEVICE_FAILURES
)


def is_device_failure(error: BaseException | None) -> bool:
    """Return whether an error is that of a device, or was raised because of one."""
    if isinstance(error, SourceError):
        return error.exit_code == OUTSIDE
    return isinstance(error, OSError) and error.errno in DEVICE_FAILURES


class SourceError(OracleError, ValueError):
    """An input that cannot be read; exit code 3 if ``cause`` is a device's failure."""

    def __init__(
        self,
        reason: str,
        *,
        source: str,
        line: int | None = None,
        cause: BaseException | None = None,
    ) -> None:
        super().__init__(f"{_place(source, line)}{reason}")
        self.reason = reason
        self.source = source
        self.line = line
        if is_device_failure(cause):
            self.exit_code = OUTSIDE


class OutputError(OracleError, OSError):
    """An output that cannot be written; exit code 3 if a disk is full or fails.

    Of an error of Java, only the text is known.
    """

    def __init__(self, reason: str, *, target: str) -> None:
        super().__init__(f"{target}: {reason}")
        self.reason = reason
        self.target = target
        if any(device_reason in reason.lower() for device_reason in _DEVICE_REASONS):
            self.exit_code = OUTSIDE


class OutsideError(OracleError, RuntimeError):
    """Failure of an external component: Java, a broker, a browser."""

    exit_code = OUTSIDE


def _place(source: str | None, line: int | None) -> str:
    """Format ``file:line: `` as far as it is known."""
    if source is None:
        return ""
    return f"{source}: " if line is None else f"{source}:{line}: "


def _pointer(text: str | None, start: int | None, length: int) -> str:
    """Quote the text, the offending part underlined; control characters as blanks."""
    if text is None:
        return ""
    shown = "".join(c if c.isprintable() else " " for c in text)
    if start is None:
        return f"\n  {shown}"
    return f"\n  {shown}\n  {' ' * start}{'^' * length}"


def _rebuilt(
    kind: type[OracleError], args: tuple[object, ...], parts: dict[str, object]
) -> OracleError:
    error = kind.__new__(kind, *args)
    error.args = args  # OSError leaves them to its own __init__
    error.__dict__.update(parts)
    return error
