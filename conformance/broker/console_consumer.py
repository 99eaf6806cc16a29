"""``kafka-console-consumer`` in the broker's version: print records of a topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.broker.server import FRUGAL, Broker, java_with_kafka
from conformance.java.running import SHOWN, run_to_end
from rebalance import OutsideError

PRINT_SECONDS: Final = 120
_TOOL: Final = "org.apache.kafka.tools.consumer.ConsoleConsumer"


def console_command(broker: Broker, options: Sequence[str]) -> list[str]:
    """Return the command of the tool; it logs to standard error.

    Raises
    ------
    OutsideError
        If there is no Java, or a jar cannot be fetched.
    """
    java, *path = java_with_kafka()
    locale = [f"-D{name}.encoding=UTF-8" for name in ("file", "stdout")]
    command = [java, *FRUGAL, *locale, *path, _TOOL]
    return [*command, "--bootstrap-server", broker.address, *options]


def console_consumer(broker: Broker, options: Sequence[str]) -> str:
    """Print records; return the tool's standard output.

    Parameters
    ----------
    broker : Broker
        A running broker.
    options : sequence of str
        Options of the tool other than ``--bootstrap-server``. ``--timeout-ms`` ends it.

    Raises
    ------
    OutsideError
        If there is no Java, a jar cannot be fetched, or the tool fails.
    """
    ran = run_to_end(console_command(broker, options), seconds=PRINT_SECONDS)
    if isinstance(ran, str):
        raise OutsideError(f"cannot print records: {ran}")
    if ran.returncode:
        output = (ran.stderr + ran.stdout).strip()[:SHOWN]
        raise OutsideError(f"cannot print records: {output}")
    return ran.stdout
