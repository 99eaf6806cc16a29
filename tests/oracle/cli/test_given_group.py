"""``--from``: one group of a source, in every subcommand that reads rebalances."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import pytest

from tests.oracle.cli.commands import Cli
from tests.oracle.report.scenes import AUDITS
from tests.pipeline.describe.describe_text import members
from tests.support.wire import TESTS


def test_a_rebalance_is_drawn_on_a_page(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    audit = AUDITS["history"]().write(tmp_path / "audit")
    arguments = ("--from", audit, "--generation", "41", "--html", str(page))
    assert cli("explain", *arguments).code == 1
    html = page.read_text()
    assert re.search(r"<h1>.*, 20\d\d-\d\d-\d\d .* UTC, generation 41</h1>", html)
    assert html.count('<svg class="moves"') == 2
    again = tmp_path / "again.html"
    cli("explain", *arguments[:-1], str(again))
    assert again.read_text() == html


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
