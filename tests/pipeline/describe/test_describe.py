"""Describe texts: as tables of rows, cut, pasted, and mixed with other text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.describe.group_case import case_of
from pipeline.describe.refusal import NotJudged
from pipeline.sources.describe_files import read_describe
from tests.pipeline.describe.describe_text import (
    KIP_1099,
    MEMBERS,
    held,
    lines,
    members,
    offsets,
    only,
    read,
    state,
    table,
)
from tests.pipeline.describe.described_texts import DESCRIBED, OLD, PLAIN, Files
from tests.pipeline.told_rows import told
from tests.support.snapshots import FOLDER, check_snapshot

BOTH = {"a-1": {"t": [0, 1]}, "b-1": {"t": [2]}}


def told_files(files: Files, group_name: str | None = None) -> str:
    texts = [(name, lines(text)) for name, text in files.items()]
    return told(read_describe(texts, group_name=group_name), group_id="g")


@pytest.mark.parametrize("name", DESCRIBED)
def test_described(name: str) -> None:
    check_snapshot(f"described/{name}.txt", told_files(DESCRIBED[name]))


def test_a_group_name_names_tables_without_group_and_no_other() -> None:
    text = told_files(OLD | {"plain": PLAIN}, "orders")
    check_snapshot("described/with a group name.txt", text)
    kept = {path.stem for path in (FOLDER / "described").iterdir()}
    names = (*DESCRIBED, "with a group name")
    assert kept == {name.replace(" ", "-") for name in names}


def test_cut_anywhere_a_group_is_whole_or_refused() -> None:
    """However much is missing: nothing is judged that lost partitions.

    A text that ends after a line is not known to be cut, but nor does it show alone
    that the group was at rest.
    """
    rows = [(t, n, 5, m) for m, n in (("a-1", 1), ("b-1", 0)) for t in ("t", "u")]
    text = offsets(*rows)
    whole = held(only(describe=text))
    for end in range(len(text) - 1):
        snapshots, strays = read(describe=text[:end])
        for snapshot in snapshots:
            if "\n" in text[end - 1 : end + 1]:
                case = case_of(snapshot)
                assert (case.at_rest, case.members_listed) == (None, "with-partitions")
            else:
                with pytest.raises(NotJudged):
                    case_of(snapshot)
        assert len(snapshots) + len(strays) <= 1
    assert held(only(describe=text[:-1])) == held(only(describe=text)) == whole


@pytest.mark.parametrize(
    "rows",
    [
        (("a-1", 3, "t:0,1,2"), ("b-1", 3, "t:3,4,5")),
        (("a-1", 3, "t:0,1,2"), ("b-1", 2, "t:3,4")),
        (("a-1", 9, "t:0,2,3,4,5,6,7,8,9"), ("b-1", 3, "t:1,10,11")),
    ],
)
def test_cut_inside_a_line_an_assignment_is_refused(
    rows: tuple[tuple[str, int, str], ...],
) -> None:
    text = members(*rows)
    start = text.rindex("b-1")
    for end in range(start, len(text) - 1):
        (snapshot,), _ = read(members=text[:end])
        with pytest.raises(NotJudged) as error:
            case_of(snapshot)
        assert not error.value.sound
    assert held(only(members=text[:-1])) == held(only(members=text))


def test_the_other_forms_are_read_without_a_last_line_feed() -> None:
    forms = {
        "describe": offsets(("t", 0, 5, "a-1"), ("t", 1, 7, "b-1")),
        "members": table(
            (*MEMBERS[:5], *KIP_1099),
            [
                ("g", "a-1", "/h", "a", 1, 4, "t:0", 4, "t:0"),
                ("g", "b-1", "/h", "b", 1, 4, "t:1", 4, "t:1"),
            ],
        ),
        "state": state("Stable", 2),
    }
    cut = {name: text.rstrip("\n") for name, text in forms.items()}
    assert only(**cut) == only(**forms)


def squeezed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


LAID: dict[str, Callable[[str], str]] = {
    "squeezed": squeezed,
    "tabs": lambda text: squeezed(text).replace(" ", "\t"),
    "colors": lambda text: text.replace("GROUP", "\x1b[1;32mGROUP\x1b[0m").replace(
        "a-1", "\x1b[31ma-1"
    ),
    "spread": lambda text: text.replace("\n", "\n  \n\n"),
    "windows": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("lay", LAID.values(), ids=LAID)
def test_what_terminals_and_editors_do(lay: Callable[[str], str]) -> None:
    assert held(only(text=lay(PLAIN))) == BOTH
    people = members(("a-1", 2, "t:0,1"), ("b-1", 1, "t:2"))
    assert held(only(text=lay(people.replace("client ", "client-")))) == BOTH


FOREIGN = [
    "bash-5.1# ",
    "bash-5.1# kafka-consumer-groups.sh --group g --describe --members",
    'pod "kafka-consumer-groups" deleted',
    "# taken before the restart",
    "If you don't see a command prompt, try pressing enter.",
    "one two three four five six seven eight nine",
    "$",
]


@pytest.mark.parametrize("line", FOREIGN)
@pytest.mark.parametrize("at", ["above", "below", "between", "at the end"])
def test_a_foreign_line_costs_only_itself(line: str, at: str) -> None:
    head, *rows = PLAIN.strip().split("\n")
    text = {
        "above": [line, head, *rows, ""],
        "below": [head, *rows, line, ""],
        "between": [head, rows[0], line, *rows[1:], ""],
        "at the end": [head, *rows, line],
    }[at]
    (snapshot,), strays = read(text="\n".join(text))
    assert held(case_of(snapshot)) == BOTH
    assert [line.text for _, line in strays] == [line.encode()]


@pytest.mark.parametrize(
    "prefix", ["2026-09-29T16:06:23.890123456Z stdout F ", "broker-1  | "]
)
def test_constant_prefixes_of_logs(prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in PLAIN.strip().split("\n"))
    assert held(only(text=text)) == BOTH
    (snapshot,), strays = read(text=text + f"{prefix}a line of something else\n")
    assert held(case_of(snapshot)) == BOTH
    assert len(strays) == 1
