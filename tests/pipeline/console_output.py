"""What ``kafka-console-consumer`` prints of the groups of a broker.

``python -m tests.pipeline.console_output`` records ``tests/data/console-consumer``
again: the records of a broker's groups in each form, and the segment that they are
from.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Final

from conformance.broker import Broker, console_consumer, running_broker
from pipeline.sources.console_lines import COMMAND
from tests.pipeline.logged_groups import BROKER, NAME, fill, segment_of

DATA = Path(__file__).parent.parent / "data" / "console-consumer"
FORMATTERS = "org.apache.kafka.tools.consumer."
WAIT = "8000"  # milliseconds without a record after which the tool ends
FORMS: Final = {
    "records.txt": [],
    "groups.json": ["--formatter", f"{FORMATTERS}GroupMetadataMessageFormatter"],
    "offsets.json": ["--formatter", f"{FORMATTERS}OffsetsMessageFormatter"],
}


def printed(broker: Broker, form: str) -> str:
    """Print all records in one of the forms, by the command of the documents."""
    tool, _, _, *options = shlex.split(COMMAND.partition(" >")[0])
    assert tool == "kafka-console-consumer"
    options[options.index("--timeout-ms") + 1] = WAIT
    if FORMS[form]:
        end = options.index("--property")
        options = [*options[:end], *FORMS[form]]
    return console_consumer(broker, options)


def record_again(target: Path = DATA) -> None:
    """Write all forms and the segment."""
    with tempfile.TemporaryDirectory() as place, running_broker() as broker:
        fill(broker)
        for form in FORMS:
            (Path(place) / form).write_text(printed(broker, form))
        shutil.rmtree(target / BROKER, ignore_errors=True)
        (target / BROKER).mkdir(parents=True)
        segment = segment_of(broker).read_bytes()
        (target / BROKER / NAME).write_bytes(segment)
        for form in FORMS:
            shutil.copy(Path(place) / form, target / form)


if __name__ == "__main__":
    record_again()
