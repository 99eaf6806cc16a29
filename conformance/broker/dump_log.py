"""``kafka-dump-log`` in the broker's version: print log segments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.broker.server import FRUGAL, java_with_kafka
from conformance.java.running import SHOWN, run_to_end
from rebalance import OutsideError

DUMP_SECONDS: Final = 120
_TOOL: Final = "org.apache.kafka.tools.DumpLogSegments"


def dump_log(
    segments: Sequence[Path],
    options: Sequence[str] = ("--offsets-decoder", "--print-data-log"),
    *,
    encoding: str = "UTF-8",
) -> str:
    """Print segments; return what the tool writes to standard output.

    Parameters
    ----------
    segments : sequence of Path
        Files named as by a broker, in the order of the output.
    options : sequence of str
        Options of the tool besides ``--files``.
    encoding : str
        Encoding that Java takes from the locale.

    Raises
    ------
    OutsideError
        If there is no Java, a jar cannot be fetched, or the tool fails.
    """
    java, *path = java_with_kafka()
    locale = [f"-D{name}.encoding={encoding}" for name in ("file", "stdout")]
    files = ",".join(map(str, segments))
    command = [java, *FRUGAL, *locale, *path, _TOOL, *options, "--files", files]
    ran = run_to_end(command, seconds=DUMP_SECONDS)
    if isinstance(ran, str):
        raise OutsideError(f"cannot print segments: {ran}")
    if ran.returncode:
        output = (ran.stderr + ran.stdout).strip()[:SHOWN]
        raise OutsideError(f"cannot print segments: {output}")
    return ran.stdout
