"""Histories of whole groups are those of single records: recorded, and drawn.

Reaches into `pipeline.history.whole_groups` to gather and to read less at once.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from pipeline.files.lines import read_lines
from pipeline.history import held_records, whole_groups
from pipeline.rows import (
    CASE,
    MISSING,
    REPEATED,
    SET_ASIDE,
    TOPIC,
    TOPIC_ID,
    UNREADABLE,
    Row,
    keyed,
    topic_row,
)
from pipeline.sightings import Sighting
from pipeline.sources.record_lines import row_of_line
from tests.pipeline.consumer_groups import (
    FIRST,
    AnyRecord,
    complete,
    epoch,
    has,
    new_member,
    rows_of,
    target,
)
from tests.pipeline.drawn_classic import classic_history
from tests.pipeline.drawn_consumer import consumer_history
from tests.pipeline.drawn_logs import rows_of_log, some
from tests.pipeline.recorded import FIRST_LOOK, churn_records, in_order
from tests.pipeline.records.consumer_writers import consumer_key, consumer_value
from tests.pipeline.same_histories import check
from tests.support import amount

DRAWN = (classic_history, consumer_history)


def drawn_rows(rng: Random) -> list[Row]:
    """Draw some groups, in partitions of ``__consumer_offsets``, and other rows."""
    passed_on = {"what": UNREADABLE, "reason": "a line", "source": "x", "records": 1}
    of_group = passed_on | {"group_id": "1", "source_partition": 0, "source_offset": 5}
    others = [topic_row("only here", Sighting(5, 3)), passed_on, of_group]
    rows = some(rng, others, 0.2)
    steps = rng.choice((3, 10, 30))
    for number in range(rng.choice((1, 2, 5))):
        draw = rng.choice(DRAWN)
        group_id = rng.choice((f"{number}", f"{number}", f"{number}", "g"))
        records = draw(rng, group_id, steps)
        rows += rows_of_log(rng, records, rng.choice((None, 0, 7)), 1000 * number)
    return in_order(rows)


def check_drawn(seed: int) -> Counter[str]:
    """Compare both on groups that a seed draws."""
    rng = Random(seed)  # noqa: S311
    return check(drawn_rows(rng), rng)


def test_drawn_groups() -> None:
    counts: Counter[str] = Counter()
    for seed in amount.seeds(amount.share(20, 20)):
        try:
            counts += check_drawn(seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    assert counts["whole"] > counts[CASE] / 4
    kinds = (MISSING, REPEATED, SET_ASIDE, TOPIC, TOPIC_ID, UNREADABLE)
    assert all(counts[kind] for kind in kinds)


@pytest.mark.parametrize(
    ("together", "largest", "most"),
    [(1, 1 << 20, 99), (1 << 12, 1, 99), (1, 1 << 13, 99), (1 << 12, 1 << 20, 5)],
)
def test_small_parts(
    together: int, largest: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few groups are read at once, and some of them are too large."""
    monkeypatch.setattr(whole_groups, "_TOGETHER", together)
    monkeypatch.setattr(whole_groups, "_LARGEST", largest)
    monkeypatch.setattr(whole_groups, "_MOST_RECORDS", most)
    for seed in amount.seeds(amount.share(200, 200)):
        check_drawn(seed)


def test_groups_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The records of a large group are in a file, and read a part at a time."""
    monkeypatch.setattr(held_records, "LARGE", 1 << 9)
    for seed in amount.seeds(amount.share(100, 100)):
        check_drawn(seed)


@pytest.mark.parametrize("seed", range(3))
def test_recorded_groups(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    lines = read_lines((FIRST_LOOK / "consumer_offsets.jsonl").open("rb"))
    rows = [keyed(row_of_line(line, "first-look")) for line in lines]
    rows = rows if seed else [*rows, *churn_records()]
    counts = check(in_order(rows), rng)
    assert counts["whole"] == counts[CASE]


def test_large_group() -> None:
    """Members, epochs before a target, and people of targets outgrow their room."""
    names = [f"m{number}" for number in range(120)]
    records: list[AnyRecord] = [new_member(name) for name in names]
    for number in range(2, 40):
        records.append(epoch(number))
        if number % 19 == 0 or number > 30:
            shift = number % 7
            records += [
                target(name, {"t": [at + shift]}) for at, name in enumerate(names)
            ]
            records += [complete(number), has("m5", {"t": [5 + shift]}, number=number)]
    counts = check(rows_of(*records), Random(0))  # noqa: S311
    assert counts["whole"] == counts[CASE] > 9


def test_negative_epoch() -> None:
    """The epoch of a target is not that of a roster that was replaced."""
    rows = rows_of(
        new_member("a"), epoch(2), epoch(2), target("a", {"t": [0]}), complete(-1)
    )
    counts = check(rows, Random(0))  # noqa: S311
    assert counts[MISSING] == 1


@pytest.mark.parametrize("tags", [(9, 9), (9, 8), (8, 9)])
def test_order_of_tags(tags: tuple[int, int]) -> None:
    """Unknown tags of a member: one twice is refused, and any order is read."""
    first, others = FIRST[0], FIRST[1:]
    value = consumer_value(first)
    assert value is not None
    written = value[:-1] + bytes((2, tags[0], 0, tags[1], 0))
    counts = check(rows_of((consumer_key(first), written), *others), Random(0))  # noqa: S311
    assert counts[UNREADABLE] == (tags == (9, 9))


def test_no_rows() -> None:
    assert not check([], Random(0)).total()  # noqa: S311
