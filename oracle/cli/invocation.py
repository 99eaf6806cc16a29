"""Run the command line, and turn every outcome into a message and an exit code."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from oracle.cli.codes import (
    FAULT,
    FINE,
    INTERRUPTED,
    OUTSIDE,
    READER_LEFT,
    USAGE,
)
from oracle.cli.ending_signals import code_of_interrupt, raise_on_ending_signals
from oracle.cli.input.small_input import allow_interpreting
from oracle.cli.printing.terminal import complain

if TYPE_CHECKING:
    import typer

NAME: Final = "assignor-oracle"
EXTRAS: Final = {"audit": "audit", "diff": "audit", "snapshot": "audit"}
"""Extras of subcommands that need more than the first module that is missing."""
TRACEBACK: Final = "ASSIGNOR_ORACLE_TRACEBACK"
"""Environment variable: if it is not empty, errors show a traceback."""

NO_HOME: Final = "/nonexistent"
"""The home of users without one, as in Debian's ``/etc/passwd``."""

COLLECT_AFTER: Final = 200_000
"""Objects between two collections of cyclic garbage: imports and documents, of which a
command has millions, make none."""


def main() -> NoReturn:
    """Entry point of the console script."""
    gc.set_threshold(COLLECT_AFTER)
    _name_a_home()
    allow_interpreting()
    raise_on_ending_signals()
    sys.exit(run(sys.argv[1:]))


def _name_a_home() -> None:
    """Let libraries that ask for a home at their import have one, if there is none."""
    if os.path.expanduser("~") == "~":  # noqa: PTH111  # `Path` raises
        os.environ["HOME"] = NO_HOME


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; never raise."""
    try:
        code = _guarded(arguments)
        if code == INTERRUPTED:  # typer's, or that of an answer that was cut short
            code = code_of_interrupt()
        return _flushed(code)
    except KeyboardInterrupt:
        return code_of_interrupt()


def _guarded(arguments: Sequence[str]) -> int:
    if os.environ.get(TRACEBACK):
        return _invoke(arguments)
    try:
        return _invoke(arguments)
    except KeyboardInterrupt:
        return code_of_interrupt()
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else FAULT
    except Exception as error:  # noqa: BLE001 - no traceback reaches a user
        return _explained(error)


def _invoke(arguments: Sequence[str]) -> int:
    from oracle.cli.app import app

    _keep_libraries_quiet()
    _spell_what_cannot_be_encoded()
    if not arguments:
        app(["--help"], prog_name=NAME, standalone_mode=False)
        return USAGE
    try:
        code = app(list(arguments), prog_name=NAME, standalone_mode=False)
    except ModuleNotFoundError:
        from rebalance import extra_needed

        subcommand = _subcommand(arguments)
        with extra_needed(subcommand, EXTRAS.get(subcommand)):
            raise
    return code if isinstance(code, int) else FINE


def _subcommand(arguments: Sequence[str]) -> str:
    """Return the subcommand, for messages."""
    return next((word for word in arguments if not word.startswith("-")), NAME)


def _explained(error: Exception) -> int:
    """Report an error in one line and return its exit code."""
    import typer

    from oracle.writing import ReaderLeftError
    from rebalance import OracleError, PolicyError

    if isinstance(error, ReaderLeftError):
        return READER_LEFT
    if isinstance(error, OracleError):
        if isinstance(error, PolicyError):  # the culprit is underlined
            complain(*str(error).split("\n"))
        else:
            complain(str(error))
        return error.exit_code
    if isinstance(error, typer.TyperException):
        _complain_of_usage(error)
        return USAGE
    if isinstance(error, OSError):  # typer's own output, a full disk under a library
        reason = (error.strerror or str(error)).lower()
        complain(f"{error.filename or '<stdout>'}: {reason}")
        return _code_of(error)
    if isinstance(error, MemoryError):
        complain("not enough memory for this input")
        return OUTSIDE
    complain(
        f"a defect of {NAME}, not in your input: {type(error).__name__}: {error}"
        f" (please report it; {TRACEBACK}=1 shows a traceback)"
    )
    return FAULT


def _code_of(error: OSError | ValueError) -> int:
    """Return 3 if a disk is full or a device fails, else 2."""
    from rebalance import is_device_failure

    return OUTSIDE if is_device_failure(error) else USAGE


def _complain_of_usage(error: typer.TyperException) -> None:
    """Report a usage error, and the help to read."""
    message = error.format_message().replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    command = NAME if context is None else context.command_path
    complain(f"{message} (see {command} --help)")


def _keep_libraries_quiet() -> None:
    """Suppress the log messages of libraries; errors are raised anyway."""
    if not os.environ.get(TRACEBACK):
        logging.basicConfig(handlers=[logging.NullHandler()])


def _spell_what_cannot_be_encoded() -> None:
    """Escape characters that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _flushed(code: int) -> int:
    """Flush the output, which is part of the result."""
    if sys.stdout is None:
        return code
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
        return READER_LEFT
    except (OSError, ValueError) as error:
        if code == FINE:
            complain(f"<stdout>: cannot write: {getattr(error, 'strerror', error)}")
        _drop_stdout()
        return code or _code_of(error)
    return code


def _drop_stdout() -> None:
    """Prevent a second failing write to standard output at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
