"""The five questions of an operator, each answered by one command or the first screen.

The expected answers are those of the log of `recordings/events`, and of counts of its
assignments that share no code with the solver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from oracle.report import write_page
from pipeline.audit import AuditSummary
from tests.oracle.cli.commands import Cli
from tests.pipeline.local_audit import local_audit
from tests.pipeline.planned_acts import (
    EVENTS,
    Planned,
    planned_acts,
    planned_rebalances,
)
from tests.references.recount import Recount

pytestmark = pytest.mark.heavy

SCREEN = ViewportSize(width=1280, height=800)
LAG, LIMIT = 1_000, 2_500
"""Records behind of each partition, and of the most that a member may have."""

Held: TypeAlias = dict[str, frozenset[tuple[str, int]]]


class Counted(NamedTuple):
    """A rebalance from one stable state to the next, counted by hand."""

    moves: int
    fewest: int
    balanced: bool

    @property
    def needless(self) -> int:
        return self.moves - self.fewest if self.balanced else 0


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    return Cli(capsysbinary, columns=200)


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the audit of the planned events, with its page."""
    audit = local_audit([EVENTS], tmp_path_factory.mktemp("events") / "audit")
    folder = Path(audit.out)
    write_page(folder, folder / "index.html")
    return folder


@pytest.fixture(scope="module")
def answers(browser: Browser, events: Path) -> Iterator[Mapping[str, str]]:
    """Return the answers on the first screen of the page."""
    page = opened(browser, events)
    yield on_first_screen(page)
    page.close()


def opened(browser: Browser, folder: Path) -> Page:
    page = browser.new_page(viewport=SCREEN)
    page.goto((folder / "index.html").as_uri())
    return page


def on_first_screen(page: Page) -> dict[str, str]:
    """Return the headline and the answers by their terms.

    Raises
    ------
    AssertionError
        If one of them is not wholly on the first screen.
    """
    parts = page.locator("h1, header .answers :is(dt, dd)").all()
    for part in parts:
        box = part.bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= SCREEN["width"]
        assert 0 <= box["y"] <= box["y"] + box["height"] <= SCREEN["height"]
    headline, *texts = (part.inner_text() for part in parts)
    terms = dict(zip(texts[::2], texts[1::2], strict=True))
    return {"headline": headline} | terms


def held_after(rebalance: Planned) -> Held:
    members = rebalance.case.members or {}
    return {
        name: frozenset(
            (topic, number)
            for topic, numbers in (member.assigned or {}).items()
            for number in numbers
        )
        for name, member in members.items()
    }


def counted(group: str) -> list[Counted]:
    """Count moves, and the fewest of balanced loads with equal subscriptions.

    Members that stay keep the most if those with more than the average have one
    partition more than the others, where loads cannot be equal. A round that has no act
    and assigns more partitions ends the cooperative rebalance before it.
    """
    found, before = [], Held()
    rebalances = planned_rebalances(EVENTS)[group]
    for place, rebalance in enumerate(rebalances):
        following = rebalances[place + 1 :][:1]
        if any(not n.acts and n.partitions > rebalance.partitions for n in following):
            continue
        held = held_after(rebalance)
        owned = {name: before[name] for name in held.keys() & before.keys()}
        loads = [len(partitions) for partitions in held.values()]
        average, remainder = divmod(sum(loads), len(loads))
        above = sum(len(partitions) > average for partitions in owned.values())
        kept = sum(min(len(partitions), average) for partitions in owned.values())
        moves = sum(len(owned[name] - held[name]) for name in owned)
        total = sum(map(len, owned.values()))
        fewest = total - kept - min(remainder, above)
        balanced = max(loads) - min(loads) <= 1
        found.append(Counted(moves=moves, fewest=fewest, balanced=balanced))
        before = held
    return found


def needless_by_group() -> dict[str, int]:
    return {
        group: sum(rebalance.needless for rebalance in counted(group))
        for group in planned_rebalances(EVENTS)
    }


def day_of_log() -> str:
    """Return the one day (UTC) of the recording."""
    acts = [act for acts in planned_acts(EVENTS).values() for act in acts]
    (day,) = {datetime.fromtimestamp(act.ms / 1000, UTC).date() for act in acts}
    return f"{day.day} {day:%B %Y}"


def returns(group: str) -> int:
    """Count the rebalances in which only members that are restarted take part."""
    _, *later = planned_rebalances(EVENTS)[group]
    acts = planned_acts(EVENTS)[group]
    starts = Counter(act.client for act in acts if act.event == "start")
    restarted = {client for client, count in starts.items() if count > 1}
    assert all(rebalance.clients("kill", "leave", "start") for rebalance in later)
    return sum({act.client for act in each.acts} <= restarted for each in later)


def test_which_group_first_and_how_to_help_it(
    answers: Mapping[str, str], browser: Browser, events: Path
) -> None:
    """No assignment is invalid, so the group with most needless moves is first."""
    needless = needless_by_group()
    first = max(needless, key=lambda group: needless[group])
    rebalances = counted(first)
    number = sum(rebalance.needless > 0 for rebalance in rebalances)
    assert answers["headline"] == (
        f"{first} moved {needless[first]} partitions needlessly in {number} rebalances."
    )
    rate = needless[first] / len(rebalances)
    help_words = answers[f"How to help {first}"]
    assert help_words == (
        f"use (cooperative-)sticky: {rate:.1f} → 0.0 partitions per rebalance "
        "(settings to copy)."
    )
    why = answers["Why it rebalanced"]
    assert f"Static membership would have avoided {returns(first)} rebalances" in why
    page = opened(browser, events)
    page.get_by_role("link", name="settings to copy").click()
    row = page.locator("tr:target")
    assert row.locator("th .group").inner_text() == first
    row.locator("summary").click()
    assert "partition.assignment.strategy=cooperative-sticky" in row.inner_text()
    page.close()


def test_how_many_members_a_limit_on_lag_needs(cli: Cli) -> None:
    """Each member may have 2 of the 12 partitions."""
    partitions = planned_rebalances(EVENTS)["crash-loop"][-1].partitions
    asked = ("--lag", f"orders={LAG}", "--peak-lag-at-most", str(LIMIT))
    ended = cli("plan", "--from", EVENTS, "--group", "crash-loop", *asked)
    members = -(-partitions // (LIMIT // LAG))
    assert (ended.code, f": {members} members (optimal)" in ended.out.decode()) == (
        0,
        True,
    )


@pytest.mark.parametrize("group", ["rolling-restart", "crash-loop", "quiet"])
def test_whether_another_assignor_would_have_helped(
    cli: Cli, events: Path, group: str
) -> None:
    ended = cli("plan", "--from", events, "--group", group, "--which-assignor")
    rebalances = counted(group)
    needless = needless_by_group()[group]
    text = " ".join(ended.out.decode().replace("│", " ").split())
    assert f"actual (range) {len(rebalances)} " in text
    assert f"cooperative-sticky {len(rebalances)} {len(rebalances)} " in text
    rate = f"{needless / len(rebalances):.1f}"
    advice = f"use (cooperative-)sticky: {rate} → 0.0 partitions per rebalance"
    assert f"advice: {advice if needless else 'nothing to gain'}" in text


def test_which_rebalances_of_the_last_day_were_needless(
    answers: Mapping[str, str],
) -> None:
    needless = needless_by_group()
    every = [each for group in needless for each in counted(group)]
    number = sum(each.needless > 0 for each in every)
    first = max(needless, key=lambda group: needless[group])
    assert answers[f"On {day_of_log()} (UTC)"] == (
        f"{len(every)} rebalances: {number} moved partitions needlessly "
        f"({sum(needless.values())} moves, {needless[first]} of them in {first}), "
        f"{sum(not each.balanced for each in every)} left the group unbalanced."
    )


def test_why_a_group_rebalanced_so_often(answers: Mapping[str, str]) -> None:
    often = {group: len(rows) for group, rows in planned_rebalances(EVENTS).items()}
    group = max(often, key=lambda group: often[group])
    assert group == "crash-loop"
    assert answers[f"Most rebalances: {group}"] == (
        f"{often[group]} rebalances on {day_of_log()}: {returns(group)} by members "
        f"that left and returned within 60 s, 1 by other members that joined or left. "
        f"Static membership would have avoided {returns(group)} rebalances."
    )


def test_another_recording_has_them_on_its_first_screen(
    browser: Browser, churn_audit: AuditSummary, tmp_path: Path
) -> None:
    """Its groups have the longest causes and names; counts are those of the tables."""
    folder = Path(churn_audit.out)
    (tmp_path / "page").mkdir()
    write_page(folder, tmp_path / "page/index.html")
    page = opened(browser, tmp_path / "page")
    shown = on_first_screen(page)
    page.close()
    assert shown["How to help search-sticky"]
    recount = Recount(folder)
    often = Counter(row["group_id"] for row in recount.tables["rebalances"])
    ((busiest, count),) = often.most_common(1)
    why = shown[f"Most rebalances: {busiest}"]
    assert why.startswith(f"{count} rebalances on 21 November 2026: ")
    moves: Counter[str] = Counter()
    for row in recount.units:
        if row["outcome"] == "needless":
            moves[row["group_id"]] += row["moves"] - row["moves_least"]
    ((most, count),) = moves.most_common(1)
    assert shown["On 21 November 2026 (UTC)"] == (
        f"{len(recount.units)} rebalances: {recount.outcomes['needless']} moved "
        f"partitions needlessly ({moves.total():,} moves, {count} of them in {most}), "
        f"{recount.outcomes['unbalanced']} left the group unbalanced,"
        f" {recount.outcomes['invalid']} violated a rule."
    )
