"""Unusual audits, and folders without an audit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from oracle.report import page_of, write_page
from oracle.report.facts import ENOUGH_JUDGED, GROUPS_SHOWN
from rebalance import OutputError, SourceError
from tests.oracle.cli.commands import CHAIN
from tests.oracle.report.audits import Audit
from tests.oracle.report.prose import check_page
from tests.oracle.report.scenes import (
    BEST,
    CHAINED,
    FORGOTTEN,
    LOPSIDED,
    RESTLESS,
    even,
    given,
    of_one,
    small_audit,
)


def broken_round() -> Audit:
    """Return a cooperative rebalance whose first round assigns before it revokes."""
    audit = Audit()
    key = audit.episode(even("feed"), BEST, first=1, last=2)
    hasty = given(a=[0], b=[2, 3], c=[1])
    for generation, answer in ((1, hasty), (2, BEST)):
        audit.rebalance(
            even("feed"),
            {"actual": answer},
            generation=generation,
            assignor="cooperative-sticky",
            cooperative=True,
            episode_id=key,
        )
    return audit


def long_names() -> Audit:
    """Return groups that used two assignors, one with a long name."""
    audit = Audit()
    long = "consumers-of-a-topic-with-a-name-of-many-characters"
    for generation, assignor in enumerate(("range", "cooperative-sticky"), start=1):
        for group in ("upgrade-726", long):
            audit.rebalance(
                even(group), {"actual": BEST}, assignor=assignor, generation=generation
            )
    return audit


def many_groups() -> Audit:
    """Return more groups than the page shows."""
    audit = Audit()
    for number in range(GROUPS_SHOWN + 5):
        audit.rebalance(even(f"group-{number:03}"), {"actual": LOPSIDED})
    return audit


def two_clusters() -> Audit:
    """Return a group of one name in two clusters."""
    audit = of_one(even("orders"), BEST)
    audit.cluster = "south"
    audit.rebalance(even("orders"), {"actual": LOPSIDED})
    return audit


def old_claims(rule: str) -> Audit:
    """Return a rebalance in which one of two members has older claims."""
    audit, old = Audit(claim_rule=rule), even("orders")
    old["members"]["b"]["generation"] = 0
    audit.rebalance(old, {"actual": RESTLESS})
    return audit


def offset_reset(reset: str) -> Audit:
    """Return an audit with another start of lag."""
    audit = small_audit()
    audit.offset_reset = reset
    return audit


def failed_proof() -> Audit:
    """Return two rebalances, one without a proof."""
    audit = of_one(even("orders"), RESTLESS)
    audit.rebalance(even("orders"), {"actual": RESTLESS}, generation=2)
    for row in audit.rows["answers"]:
        if row["generation"] == 1:
            row["proved_stickiness"] = False
            row["moves_least"] = row["at_optimum"] = None
    return audit


def two_wrong_members() -> Audit:
    """Return a partition that two members hold, who do not subscribe."""
    instance = even("orders")
    instance["members"] |= {name: {"subscription": ["u"]} for name in ("d", "e")}
    return of_one(instance, given(a=[0, 1], b=[2], c=[], d=[3], e=[3]))


def without_answers() -> Audit:
    """Return a rebalance whose assignment is not recorded."""
    audit = Audit()
    audit.rebalance(even("orders"), {"range": LOPSIDED}, assignor=None)
    return audit


def without_kip54() -> Audit:
    """Return a rebalance without the KIP-54 optimum."""
    audit = of_one(CHAIN, CHAINED)
    rows = audit.rows["answers"]
    rows[:] = [row for row in rows if row["assignor"] != "kip54-sticky"]
    for row in rows:
        row |= {"at_kip54_optimum": None, "moves_least_kip54": None}
    return audit


def snapshots(*balanced: bool | None) -> Audit:
    """Return snapshots of one group, without rebalances."""
    audit = Audit()
    for number, known in enumerate(balanced):
        audit.snapshot("g", number, balanced=known)
    return audit


def few_and_many() -> Audit:
    """Two of two wrong are no example next to one of five."""
    audit = Audit()
    for generation in (1, 2):
        audit.rebalance(even("few"), {"actual": RESTLESS}, generation=generation)
    for generation in range(1, ENOUGH_JUDGED + 1):
        answer = LOPSIDED if generation == 1 else BEST
        audit.rebalance(even("many"), {"actual": answer}, generation=generation)
    return audit


def two_answers() -> Audit:
    """Return a rebalance, and a cooperative one, with needless moves by clients."""
    audit = Audit()
    audit.rebalance(even("feed"), {"actual": RESTLESS, "range": BEST})
    audit.episode(even("feed"), RESTLESS, first=3, last=4)
    return audit


EDGES: dict[str, Callable[[], Audit]] = {
    "broken-round": broken_round,
    "long-names": long_names,
    "nothing": Audit,
    "many-groups": many_groups,
    "two-clusters": two_clusters,
    "newest-claim": partial(old_claims, "newest-claim"),
    "current-generation": partial(old_claims, "current-generation"),
    "latest": partial(offset_reset, "latest"),
    "no-reset": partial(offset_reset, "none"),
    "failed-proof": failed_proof,
    "two-wrong-members": two_wrong_members,
    "forgotten": lambda: of_one(even("orders"), FORGOTTEN),
    "optimal": lambda: of_one(even("orders"), BEST),
    "without-answers": without_answers,
    "without-kip54": without_kip54,
    "without-snapshots": small_audit,
    "two-answers": two_answers,
    "snapshots-unknown": partial(snapshots, None),
    "snapshots-unbalanced": partial(snapshots, False, None),
    "snapshots-all-unbalanced": partial(snapshots, False, False),
    "snapshots-balanced": partial(snapshots, True, None),
    "few-judged": lambda: of_one(even("few"), RESTLESS),
    "few-and-many": few_and_many,
}
QUICK = ("nothing", "optimal", "snapshots-unknown", "snapshots-unbalanced")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in QUICK else pytest.mark.heavy) for n in EDGES],
)
def test_a_page_has_the_sentences_of_its_audit(name: str, tmp_path: Path) -> None:
    """Beyond those of the small audit."""
    check_page(f"edges/{name}", EDGES[name]().write(tmp_path / "audit"), beyond="small")


@pytest.mark.heavy
def test_the_same_tables_give_the_same_page(tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    turned = small_audit()
    for rows in turned.rows.values():
        rows.reverse()
    first = page_of(folder)
    assert page_of(folder) == first
    assert page_of(turned.write(tmp_path / "turned")) == first


@pytest.mark.heavy
def test_the_page_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    write_page(folder, folder / "index.html")
    assert (folder / "index.html").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(OutputError, match="cannot write"):
        write_page(folder, folder / "absent" / "index.html")
    with pytest.raises(OutputError, match="no space left"):
        write_page(folder, Path("/dev/full"))


def test_folders_that_hold_no_audit(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="folder is missing"):
        page_of(tmp_path)
    folder = small_audit().write(tmp_path / "audit")
    for text, reason in (
        ("{", "not JSON"),
        ("[]", "format"),
        ('{"format": 1}', "format"),
    ):
        (folder / "audit.json").write_text(text)
        with pytest.raises(SourceError, match=reason):
            page_of(folder)
    (folder / "audit.json").unlink()
    with pytest.raises(SourceError, match="no audit here"):
        page_of(folder)


def test_a_table_that_is_none(tmp_path: Path) -> None:
    folder = small_audit().write(tmp_path / "audit")
    for path in (folder / "answers").rglob("*.parquet"):
        path.write_bytes(b"PAR1 nonsense PAR1")
    with pytest.raises(SourceError, match="no table of an audit"):
        page_of(folder)
