"""``--from``: one group of a source, in every subcommand that reads rebalances."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

from heuristics import ASSIGNORS
from tests.oracle.cli.commands import CHAIN, Cli, group_of, on_terminal, write_lines
from tests.oracle.report.audits import Audit
from tests.pipeline.describe.describe_text import members
from tests.support.shapes import Document
from tests.support.snapshots import check_snapshot
from tests.support.wire import TESTS

NOW: Document = {
    "format": "assignment/1",
    "members": {"a": {"t": [0, 1]}, "b": {"u": [0]}, "c": {"v": [0]}, "d": {}},
}


@pytest.fixture
def audit(tmp_path: Path) -> str:
    """Return an audit of one group with two generations."""
    made = Audit()
    for number in (40, 41):
        document = CHAIN | {"id": f"0/{number}"}
        made.rebalance(
            document,
            {"actual": NOW},
            generation=number,
            source_partition=0,
            source_offset=number,
        )
    return str(made.write(tmp_path / "audit"))


def test_the_optimum_of_a_generation(cli: Cli, audit: str) -> None:
    arguments = ("--from", audit, "--group", "orders", "--generation", "40")
    ended = cli("solve", *arguments)
    assert (ended.code, ended.err) == (0, "")
    (found,) = ended.documents
    assert (found["group"], found["id"], found["figures"]["moves"]) == (
        "orders",
        "0/40",
        3,
    )


def test_the_frontier_of_the_last_generation(cli: Cli, audit: str) -> None:
    ended = cli("front", "--from", audit)
    assert ended.code == 0
    assert ended.documents[0]["id"] == "0/41"
    (note,) = ended.complaints
    assert note.startswith(f"{audit}: group 'orders': the last of 2 rebalances, gener")


def test_the_assignment_of_the_leader_is_explained(cli: Cli, audit: str) -> None:
    arguments = ("--from", audit, "--generation", "41")
    ended = cli("explain", *arguments)
    assert ended.code == 1
    assert "This assignment is not the best" in ended.out.decode()
    ended = cli("explain", *arguments, "--optimum")
    assert ended.code == 0
    assert "The best assignment: loads 1, 1, 1, 1" in ended.out.decode()


def test_what_was_assigned_is_compared(cli: Cli, audit: str) -> None:
    ended = cli("compare", "--from", audit, "--generation", "41")
    assert (ended.code, ended.err) == (0, "")
    (comparison,) = ended.documents
    names = [answer["assignor"] for answer in comparison["answers"]]
    assert names == ["optimum", "kip54-sticky", "actual", *ASSIGNORS]
    was = comparison["answers"][2]
    assert (was["applies"], was["verdict"]) == (True, "valid")
    assert was["figures"]["loads"] == [2, 1, 1, 0]
    assert was["gap"] == {"moves": -3, "kip54_score": 6}


@pytest.mark.heavy
def test_a_terminal_shows_what_was_assigned(audit: str) -> None:
    shown = on_terminal(
        "compare", "--from", audit, "--generation", "41", columns=160
    ).out.decode()
    (row,) = [line for line in shown.splitlines() if "actual" in line]
    assert "2×1, 1×2," in row


def test_what_was_assigned_is_judged(cli: Cli, audit: str) -> None:
    arguments = ("--from", audit, "--group", "orders", "--generation", "41")
    ended = cli("judge", *arguments)
    assert (ended.code, ended.err) == (0, "")
    (verdict,) = ended.documents
    assert (verdict["id"], verdict["verdict"]) == ("0/41", "valid")
    assert verdict["figures"]["loads"] == [2, 1, 1, 0]
    ended = cli("judge", *arguments, "--require", "optimum")
    assert ended.code == 1
    assert ended.documents[0]["against"]["gap"]["moves"] == -3


@pytest.mark.heavy
def test_an_invalid_assignment_of_a_group(cli: Cli, tmp_path: Path) -> None:
    made = Audit()
    wrong = {**NOW, "members": {**NOW["members"], "a": {"t": [0]}}}
    made.rebalance(CHAIN, {"actual": wrong})
    folder = str(made.write(tmp_path / "audit"))
    ended = cli("judge", "--from", folder)
    assert ended.code == 1
    (violation,) = ended.documents[0]["violations"]
    assert (violation["rule"], violation["partition"]) == ("unassigned", 1)
    (comparison,) = cli("compare", "--from", folder).documents
    assert comparison["answers"][2]["verdict"] == "invalid"
    shown = on_terminal("compare", "--from", folder, columns=160).out.decode()
    (row,) = [line for line in shown.splitlines() if "actual" in line]
    assert "invalid:" in row


def test_a_group_whose_assignment_is_unknown(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    ended = cli("judge", "--from", source)
    assert (ended.code, ended.out) == (2, b"")
    assert "its source does not state the assignment of the group" in ended.err
    (comparison,) = cli("compare", "--from", source).documents
    names = [answer["assignor"] for answer in comparison["answers"]]
    assert "actual" not in names


def test_judge_names_what_is_missing(cli: Cli, tmp_path: Path) -> None:
    ended = cli("judge", write_lines(tmp_path / "r", CHAIN))
    assert (ended.code, ended.out) == (2, b"")
    assert "no ASSIGNMENTS to judge" in ended.err


def test_a_rebalance_is_drawn_on_a_page(cli: Cli, audit: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ("--from", audit, "--generation", "41", "--html", str(page))
    ended = cli("explain", *arguments)
    assert ended.code == 1
    assert "This assignment is not the best" in ended.out.decode()
    html = page.read_text()
    assert "generation 41</h1>" in html
    assert html.count('<svg class="moves"') == 2
    again = tmp_path / "again.html"
    cli("explain", *arguments[:-1], str(again))
    assert again.read_text() == html


def test_a_page_requires_a_group(cli: Cli, tmp_path: Path) -> None:
    ended = cli("explain", "x", "--html", str(tmp_path / "page.html"))
    assert (ended.code, ended.out) == (2, b"")
    assert "--html requires --from" in ended.err


@pytest.mark.parametrize(
    "subcommand", ["solve", "front", "explain", "plan", "compare", "judge"]
)
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--from", "AUDIT", "--group", "ordres"], "no group 'ordres'; near names: or"),
        (["--from", "AUDIT", "--generation", "7"], "has no generation 7; it has 40 to"),
        (["--group", "orders", "x"], "--group requires --from"),
        (["--generation", "1", "x"], "--generation requires --from"),
        (["--group-name", "orders", "x"], "--group-name requires --from"),
        (["--from", "AUDIT", "--group-name", "g"], "the folder of an audit states the"),
        (["--from", "AUDIT", "x"], "either a file, x, or --from, not both"),
        ([], "nothing to read: give a file, or --from SOURCE"),
    ],
)
def test_what_does_not_exist_is_code_2(
    cli: Cli, audit: str, subcommand: str, arguments: list[str], reason: str
) -> None:
    given = [audit if argument == "AUDIT" else argument for argument in arguments]
    ended = cli(subcommand, *given)
    assert (ended.code, ended.out) == (2, b"")
    assert reason in ended.err


TYPOS = group_of("g", {"a": ["orders", "ordres"], "b": ["orders"]}, {"orders": 2})
TYPOS["members"]["a"]["owned"] = {"orders": [0, 5]}
TYPOS["members"]["b"]["owned"] = {"gone": [1]}
WARNINGS = [
    "'a' subscribes to topic 'ordres', which does not exist (did you mean 'orders'?)",
    "'a' owns 'orders':5, which does not exist: the topic has 2 partitions",
    "'b' owns partitions of topic 'gone', which does not exist",
]


@pytest.mark.parametrize("subcommand", ["solve", "front", "explain"])
def test_names_that_do_not_exist_are_warnings(
    cli: Cli, tmp_path: Path, subcommand: str
) -> None:
    source = write_lines(tmp_path / "r", TYPOS)
    ended = cli(subcommand, "--json", source)
    assert ended.code == 0
    assert len(ended.documents) == 1
    place = f"{source}: document 1: warning: "
    assert ended.complaints == [place + text for text in WARNINGS]


def test_many_warnings_are_counted(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", *[TYPOS] * 4)
    *shown, last = cli("solve", source).complaints
    assert len(shown) == 5
    assert last == f"{source}: 7 more warnings of names that do not exist"


def test_warnings_do_not_act_on_a_terminal(cli: Cli, tmp_path: Path) -> None:
    document = group_of("g", {"m\x1b[31m": ["t\x07"]}, {"t": 1})
    ended = cli("solve", write_lines(tmp_path / "r", document))
    assert r"m\x1b[31m" in ended.err
    assert "\x1b" not in ended.err
    assert "\x07" not in ended.err


@pytest.mark.heavy
def test_a_terminal_shows_who_gives_what_to_whom(tmp_path: Path) -> None:
    document = json.loads(json.dumps(CHAIN))
    for topic in document["topics"].values():
        topic["lag"] = [1000] * topic["partitions"]
    source = write_lines(tmp_path / "r", document)
    text = on_terminal("solve", source).out.decode()
    check_snapshot("solve/transfers.txt", text.replace("\r\n", "\n"))


def test_a_cooperative_round_is_named(cli: Cli, tmp_path: Path) -> None:
    """What it withholds is unassigned for `explain`, and has no owner for `plan`."""
    made = Audit()
    round_one = {**NOW, "members": {**NOW["members"], "a": {"t": [0]}}}
    made.rebalance(
        CHAIN, {"actual": round_one}, assignor="cooperative-sticky", cooperative=True
    )
    folder = str(made.write(tmp_path / "audit"))
    ended = cli("explain", "--from", folder)
    assert ended.code == 1
    assert "Invalid: unassigned, t:1" in ended.out.decode()
    assert "count as unassigned here" in ended.err
    ended = cli("judge", "--from", folder)
    assert ended.code == 0
    assert ended.documents[0]["figures"]["withheld"] == 1
    (comparison,) = cli("compare", "--from", folder).documents
    assert comparison["answers"][2]["figures"]["withheld"] == 1
    ended = cli("plan", "--json", "--from", folder)
    assert "withheld until the next round have no owner here" in ended.err
    (found,) = ended.documents
    assert {"partitions": {"t": [1]}, "to": "b"} in found["outcome"]["transfers"]


def test_a_group_that_is_refused_is_code_2(cli: Cli, tmp_path: Path) -> None:
    """With the file, the line, and the reason, without control characters."""
    text = members(("a-1", 1, "t(\x1b[31m)"), ("b-1", 1, "t(1)"), group="g")
    source = tmp_path / "g.txt"
    source.write_text(text)
    for verb in ("solve", "front", "explain", "plan", "compare", "judge"):
        for arguments in ([], ["--group", "g"]):
            ended = cli(verb, "--from", source, *arguments)
            assert (ended.code, ended.out) == (2, b"")
            (said,) = ended.complaints
            place = (
                "can be judged: " if not arguments else "group 'g' cannot be judged: "
            )
            assert f"{place}g.txt:3: " in said
            assert "\x1b" not in said


TABLES = ("describe", "members-verbose", "state")
SUBSETS = [
    tables for count in (1, 2, 3) for tables in itertools.combinations(TABLES, count)
]


@pytest.mark.parametrize("tables", SUBSETS, ids="+".join)
@pytest.mark.parametrize("group", ["g-coop", "g-848"])
def test_bug_every_verb_on_every_subset_of_the_tables(
    group: str,
    tables: tuple[str, ...],
    tmp_path: Path,
    cli: Cli,
) -> None:
    """Without a table of the state, no assignor is known.

    The text states no subscriptions, so there is no verdict, and no other answer
    without its premises.
    """
    for table in tables:
        name = f"{group}.{table}.txt"
        shutil.copy(TESTS / "data/describe-4.3.1" / name, tmp_path / name)
    for verb in ("explain", "solve", "judge", "compare", "plan"):
        ended = cli(verb, "--from", str(tmp_path))
        if tables == ("state",):
            assert ended.code == 2
            why = f"has no group that can be judged: {tmp_path.name}/{group}.state.txt:"
            assert why in ended.err
        elif verb == "judge":
            assert (ended.code, ended.out) == (2, b"")
            assert "a verdict would presume: members subscribe to" in ended.err
        else:
            assert ended.code in (0, 1), ended.err
            assert ended.out


def test_an_explanation_of_a_text_begins_with_its_premises(
    cli: Cli, tmp_path: Path
) -> None:
    """The plain form lists no member without partitions, and nothing shows rest."""
    folder = TESTS / "data/describe-4.3.1"
    shutil.copy(folder / "g-coop.describe.txt", tmp_path)
    first = cli("explain", "--from", str(tmp_path)).out.decode().splitlines()[0]
    assert first.startswith(
        "Provided that members subscribe to the topics that they hold"
    )
    assert "no member is without partitions; the group was at rest" in first
    for table in ("members-verbose", "state"):
        shutil.copy(folder / f"g-coop.{table}.txt", tmp_path)
    first = cli("explain", "--from", str(tmp_path)).out.decode().splitlines()[0]
    assert first.endswith("and those without partitions to all:")
