"""Records on a tape have the content that decoding them one by one gives.

Reaches into `pipeline.records.record_tape` and `tape_layout` to compare a kernel with
its slow reference implementation.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records import GroupMetadata
from pipeline.records import record_tape as tape
from pipeline.records.record_tape import record_tape
from pipeline.records.tape_layout import OTHER
from tests.pipeline.records.consumer_writers import AnyRecord, written
from tests.pipeline.records.samples import (
    of_clients,
    of_java,
    recorded,
    written_anew,
)
from tests.pipeline.records.strategies import (
    NEWER_TAGS,
    consumer_groups,
    consumer_records,
    groups,
    offset_commits,
)
from tests.pipeline.records.tape_content import content_of, contents_on_tape
from tests.pipeline.records.writers import Tags
from tests.support.wire import TESTS, RecordBytes


def check(records: Sequence[RecordBytes]) -> None:
    """Compare a batch with the records one by one."""
    expected = [content_of(key, value) for key, value in records]
    assert contents_on_tape(records) == expected


@pytest.mark.parametrize(
    "records", [recorded, pytest.param(written_anew, marks=pytest.mark.heavy)]
)
def test_recordings(records: Callable[[], tuple[RecordBytes, ...]]) -> None:
    """No record of them is left to others: their groups are of consumers."""
    check(records())
    assert None not in contents_on_tape(records())


def test_a_tape_that_becomes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    check(recorded())
    monkeypatch.setattr(tape, "_BYTES_PER_NUMBER", 1 << 40)
    check(recorded())


def test_other_programs() -> None:
    check(of_clients())
    check(of_java())


@given(
    st.lists(
        st.tuples(
            offset_commits() | groups() | consumer_groups() | consumer_records(),
            NEWER_TAGS,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_drawn_records(drawn: list[tuple[AnyRecord, Tags]]) -> None:
    check([written(*pair) for pair in drawn])


@given(consumer_groups())
def test_drawn_groups_of_consumers_are_read(group: GroupMetadata) -> None:
    is_of_consumers = group.protocol_type == "consumer" and group.protocol != "stream"
    is_read = is_of_consumers if group.members else group.protocol_type != "connect"
    (content,) = contents_on_tape([written(group)])
    assert (content is not None) == is_read


def test_texts_are_utf_8() -> None:
    """Two bytes that a character can begin with, and others after them."""
    names = [
        bytes([first, second]) + more
        for first in (0x7F, 0x80, *range(0xBF, 0x100))
        for second in range(0x100)
        for more in (b"", b"\x80", b"\x80\xbf", b"\x80\xc0", b"\x80\x7f")
    ]
    head = b"\0\1\0\1g\0"
    check([(head + bytes([len(name)]) + name + bytes(4), None) for name in names])


@pytest.mark.parametrize(
    "number",
    [
        "02",
        "8200",
        "828000",
        "8280808000",
        "828080808000",
        "8280808010",
        "ffffffff0f",
    ],
)
def test_numbers_of_any_length(number: str) -> None:
    """As a count, and as a tag, of which any number of 32 bits can be read."""
    key, topic = b"\0\7\0\1g\0\1m", bytes(16) + b"\1\0"
    given = bytes.fromhex(number)
    counted = b"\0\0" + given + topic + b"\0"
    tagged = b"\0\0\2" + topic + b"\1" + given + b"\0"
    check([(key, counted), (key, tagged)])


def test_part_of_a_column() -> None:
    """Offsets of a slice do not begin at 0."""
    keys, values = (
        pa.array(part, pa.binary()) for part in zip(*recorded()[:99], strict=True)
    )
    whole, part = record_tape(keys, values), record_tape(keys[40:], values[40:])
    assert part.kind.tolist() == whole.kind[40:].tolist()
    last = whole.tape[whole.at[-1] : whole.used]
    assert len(last) == part.used - part.at[-1]


@pytest.mark.parametrize(
    "columns",
    [([], []), ([b""], [None]), ([b"\0"], [b""]), ([b"\0\1"], [None])],
)
def test_batches_with_nothing_to_read(
    columns: tuple[list[bytes], list[bytes | None]],
) -> None:
    found = record_tape(*(pa.array(column, pa.binary()) for column in columns))
    assert found.kind.tolist() == [OTHER] * len(columns[0])
    assert found.used == 0


INTERPRETED = """
from rebalance import interpret_kernels
assert interpret_kernels()
from tests.pipeline.records import test_record_tape
test_record_tape.test_other_programs()
"""


@pytest.mark.heavy
def test_kernels_that_are_interpreted() -> None:
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", INTERPRETED]
    subprocess.run(command, cwd=TESTS.parent, check=True)
