"""Commands of the programs in Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from conformance.consumer_programs.requested_consumer import RequestedConsumer

PROGRAMS: Final = Path(__file__).parent / "python-programs"


def python_consumer(
    client: str, requested: RequestedConsumer, *, python: str = sys.executable
) -> tuple[str, ...]:
    """Return the command of a consumer of kafka-python, aiokafka, or librdkafka.

    Parameters
    ----------
    client : str
    requested : RequestedConsumer
    python : str
        Interpreter that has the client's package.
    """
    program = PROGRAMS / f"{client.replace('-', '_')}_consumer.py"
    return (python, str(program), requested.argument())
