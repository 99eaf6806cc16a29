"""``plan``: tables, documents, exit codes, and bad options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oracle.planning import parse_plan
from tests.oracle.cli.commands import CHAIN, Cli, group_of, write_lines
from tests.oracle.report.audits import Audit
from tests.support.shapes import Document
from tests.support.snapshots import check_snapshot

HELD: Document = group_of("orders", {"a": ["t"], "b": ["t"]}, {"t": 4}, id="now")
HELD["topics"]["t"]["lag"] = [400, 300, 200, 100]
HELD["members"]["a"]["owned"] = {"t": [0, 1]}
HELD["members"]["b"]["owned"] = {"t": [2, 3]}

BEST = (
    "the best assignment (optimal) of 4 partitions to 3 members: 0 moves, 1 round, "
    "2 partitions without an owner for 3 s"
)
NEEDED = (
    "peak-lag at most 950 records, balance dec-min: 4 members (optimal), now 3; "
    "then peak-lag 900"
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    return write_lines(tmp_path / "r", HELD)


def test_a_member_that_joins(cli: Cli, source: str) -> None:
    ended = cli("plan", source, "--join", "c", "--join", "d=t,u", "--leave", "b")
    assert (ended.code, ended.err) == (0, "")
    check_snapshot("plan/join-and-leave.txt", ended.out.decode())


def test_programs_get_a_document(cli: Cli, source: str, tmp_path: Path) -> None:
    target = tmp_path / "out"
    ended = cli(
        *("plan", source, "--add-members", "2", "--partitions", "t=6"),
        *("--lag", "t:5=50", "--round", "10s", "-o", target),
    )
    assert (ended.code, ended.out) == (0, b"")
    found = parse_plan(target.read_bytes())
    assert (found.group, found.id, found.round_ms) == ("orders", "now", 10_000)
    assert [change.kind for change in found.changes] == [
        "join",
        "join",
        "partitions",
        "lag",
    ]
    assert found.outcome is not None
    assert (found.outcome.members, found.outcome.partitions) == (4, 6)
    best = found.outcome.answers[0]
    assert (best.status, best.found) == ("optimal", "proved")
    again = cli("plan", "--json", source, "--add-members", "2").documents[0]
    assert [change["member"] for change in again["changes"]] == ["new-1", "new-2"]


def test_a_budget_changes_the_default_policy(cli: Cli, tmp_path: Path) -> None:
    """Within few moves, the most even loads: dec-min balance could be infeasible."""
    source = write_lines(tmp_path / "r", CHAIN)
    (found,) = cli("plan", "--json", source, "--max-moves", "2").documents
    assert found["policy"] == "none; load, stickiness; max-moves=2"
    assert found["outcome"]["answers"][0]["figures"]["moves"] == 0
    ended = cli("plan", source, "--max-moves", "2", "--policy", "sticky")
    assert ended.code == 1
    assert "the optimum is infeasible" in ended.out.decode()


def test_members_for_a_limit(cli: Cli, source: str) -> None:
    example = "docs/examples/lag.json"
    ended = cli("plan", example, "--peak-lag-at-most", "950")
    assert ended.code == 0
    assert ended.out.decode().splitlines()[1:] == [
        NEEDED,
        "1 to 2 do not suffice: at least 1,200 (the total, divided by the members)",
        "3 do not suffice: at least 1,000 (terms, recomputed by the judge)",
    ]
    ended = cli("plan", source, "--peak-lag-at-most", "399")
    assert ended.code == 1
    assert "t:0 alone has a lag of 400" in ended.out.decode()
    (found,) = cli("plan", "--json", source, "--load-at-most", "3").documents
    assert found["members_needed"]["members"] == 2
    assert "outcome" not in found


@pytest.fixture
def audit(tmp_path: Path) -> str:
    made = Audit()
    held = {"a": {"t": [2, 3]}, "b": {"t": [0, 1]}}
    answers: dict[str, Document | str] = {
        "actual": {"format": "assignment/1", "members": held},
        "sticky": {
            "format": "assignment/1",
            "members": {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}},
        },
    }
    made.rebalance(HELD, answers, generation=7, assignor="range", source_offset=1)
    return str(made.write(tmp_path / "audit"))


def test_the_group_is_taken_after_its_rebalance(cli: Cli, audit: str) -> None:
    """Members own what the leader assigned, and not what they had before."""
    ended = cli("plan", "--json", "--from", audit, "--leave", "a")
    assert ended.code == 0
    (found,) = ended.documents
    (transfer,) = found["outcome"]["transfers"]
    assert transfer == {
        "from": "a",
        "leaves": True,
        "to": "b",
        "partitions": {"t": [2, 3]},
        "lag": 300,
    }


def test_which_assignor_the_group_should_use(cli: Cli, audit: str) -> None:
    ended = cli("plan", "--from", audit, "--group", "orders", "--which-assignor")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.decode().splitlines()[-1] == (
        "advice: 4.0 partitions per rebalance off the optimum: see explain"
    )
    (found,) = cli("plan", "--json", "--from", audit, "--which-assignor").documents
    assert parse_plan(json.dumps(found)).ranking is not None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--leave", "z"], "leaves, but is not a member: 'z'"),
        (["--subscribe", "a"], "--subscribe a: write NAME=TOPICS"),
        (["--subscribe", "a=t,,u"], "'t,,u': write topics separated by commas"),
        (["--partitions", "t"], "--partitions t: write TOPIC=N"),
        (["--partitions", "t=1"], "Kafka cannot remove any: 't'"),
        (["--partitions", "t=99999999"], "partitions, above the limit"),
        (["--lag", "t=much"], "--lag t=much: write TOPIC=N, TOPIC:P=N, or TOPIC=xN"),
        (["--round", "0"], "'0' is not a duration above 0"),
        (["--peak-lag-at-most", "1", "--load-at-most", "1"], "not both"),
        (["--which-assignor"], "--which-assignor requires --from, and no file"),
        (["--policy", "nope"], "policy: "),
    ],
)
def test_bad_options_are_code_2(
    cli: Cli, source: str, arguments: list[str], reason: str
) -> None:
    ended = cli("plan", source, *arguments)
    assert (ended.code, ended.out) == (2, b"")
    assert reason in ended.err


def test_an_audit_states_the_names_of_its_groups(cli: Cli, audit: str) -> None:
    for arguments in ([], ["--which-assignor"]):
        ended = cli("plan", "--from", audit, "--group-name", "g", *arguments)
        assert (ended.code, ended.out) == (2, b"")
        assert "the folder of an audit states the names of its groups" in ended.err


def test_one_group_at_a_time(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", HELD, CHAIN)
    ended = cli("plan", source)
    assert ended.code == 2
    assert "has 2 documents: name a group by --from and --group" in ended.err
    assert cli("plan", "--from", source, "--group", "orders", "--json").code == 0
    ended = cli("plan", write_lines(tmp_path / "bad", "{"))
    assert ended.code == 2


def test_a_new_member_needs_a_subscription(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    for arguments in (["--join", "e"], ["--add-members", "1"]):
        ended = cli("plan", source, *arguments)
        assert ended.code == 2
        assert "members subscribe to different topics" in ended.err
        assert cli("plan", source, *arguments, "--subscription", "t").code == 0


def test_all_members_subscribe_anew(cli: Cli, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "r", CHAIN)
    ended = cli("plan", "--json", source, "--subscribe", "*=t,v", "--leave", "d")
    (found,) = ended.documents
    assert [change["member"] for change in found["changes"]] == ["d", "a", "b", "c"]


def test_names_do_not_act_on_a_terminal(cli: Cli, tmp_path: Path) -> None:
    document = group_of("g\x1b[2J", {"m\x1b[31m": ["t"]}, {"t": 1})
    ended = cli("plan", write_lines(tmp_path / "r", document), "--join", "n\x07")
    assert ended.code == 0
    assert b"\x1b" not in ended.out
    assert b"\x07" not in ended.out
