"""Write the tables of fictitious audits, row by row, as input of the page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from oracle.report.facts import Facts, facts_of
from oracle.report.load import Tables, load
from pipeline.evaluation import (
    AssignorAnswer,
    Evaluation,
    Least,
    answer_columns,
    least_of,
)
from pipeline.tables import LAYOUT, PARTITION_COLUMNS, SCHEMAS
from rebalance import ClaimRule, rebalance_of
from tests.support.shapes import Document
from verify import case_of, judge, read_assignment, read_rebalance

Row = dict[str, Any]
COMMON = {
    "source_kind": "consumer-offsets",
    "protocol": "classic",
    "partition_counts": "given",
    "owned_from": "previous-assignment",
    "subscriptions": "reported",
}
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEWEST = datetime(2026, 3, 1, 12, 0, 41, tzinfo=UTC)


class Audit:
    """Rows of all tables; fields that a test does not set have usual values."""

    def __init__(self, cluster: str = "prod", claim_rule: str = "newest-claim") -> None:
        self.cluster, self.claim_rule = cluster, claim_rule
        self.offset_reset = "earliest"
        self.asked_for: Document = {}
        self.left_out: dict[str, int] = {}
        self.newest_record: datetime | None = NEWEST
        self.history: Document | None = None
        self.rows: dict[str, list[Row]] = {name: [] for name in SCHEMAS}

    def add(self, table: str, **values: Any) -> Row:
        """Add a row as it is given; columns that are not are null."""
        row = dict.fromkeys(SCHEMAS[table].names)
        row |= {"cluster": self.cluster, "date": "2026-03-01"}
        assert values.keys() <= row.keys(), values.keys() - row.keys()
        self.rows[table].append(row | values)
        return self.rows[table][-1]

    def quarantine(self, kind: str, reason: str, records: int, **values: Any) -> None:
        self.add("quarantine", kind=kind, reason=reason, records=records, **values)

    def rebalance(
        self,
        instance: Document,
        answers: dict[str, Document | str],
        *,
        generation: int = 1,
        assignor: str | None = "sticky",
        cooperative: bool = False,
        harm: dict[str, int] | None = None,
        **values: Any,
    ) -> str:
        """Add a rebalance and answers to it, judged; text is why one refused.

        ``harm`` are columns of the row of the client.
        """
        parsed = read_rebalance(json.dumps(instance))
        case = case_of(parsed, claim_rule=self.claim_rule)
        bound = case.peak_lag_bound
        served = [topic for topic, wanting in case.subscribers.items() if wanting]
        shared = {
            "rebalance_id": f"{instance['group']}#{generation}",
            "group_id": instance["group"],
            "generation": generation,
            "client_assignor": assignor,
            "cooperative": cooperative,
            "source": "churn/records.jsonl",
            "members": len(parsed["members"]),
            "partitions": sum(case.partitions[topic] for topic in served),
            "lag_known": bound is not None,
        }
        columns = {"at": START + timedelta(seconds=generation), **COMMON, **values}
        basis = None if bound is None else "end-of-recording"
        text = json.dumps(instance)
        self.add("rebalances", **shared, **columns, lag_basis=basis, instance=text)
        bests, least = self._optima(instance)
        for name, answer in {**bests, **answers}.items():
            row = self._answer(parsed, answer, least, bound, name, cooperative)
            row |= (harm or {}) if name == "actual" else {}
            self.add("answers", **shared, **row)
        return str(shared["rebalance_id"])

    def snapshot(
        self,
        group: str,
        number: int,
        *,
        balanced: bool | None,
        verdict: str = "unknown",
        state_of: str | None = None,
        if_equal: bool | None = None,
    ) -> None:
        """Add a snapshot; without ``state_of``, its subscriptions are not reported."""
        is_unknown = balanced is None and verdict != "invalid"
        self.add(
            "snapshots",
            date="undated",
            snapshot_id=f"snap/{number}/{group}",
            group_id=group,
            source=f"snap/members-{number}.txt",
            members=2,
            partitions=4,
            subscriptions="reported" if state_of else "not-reported",
            state_of=state_of,
            verdict=verdict,
            members_listed="all",
            at_rest="records" if state_of else "state",
            dec_min_balanced=balanced,
            kip54_balanced=balanced,
            undetermined="the text contains no subscriptions" if is_unknown else None,
            balanced_if_equal=if_equal,
        )

    def _optima(self, instance: Document) -> tuple[dict[str, Document], Least]:
        """Return both optima, and the figures to which answers are compared."""
        evaluation = Evaluation(rebalance_of(instance), ClaimRule(self.claim_rule))
        best, sticky = evaluation.optimum(), evaluation.kip54()
        least = least_of(best, sticky, by_capacity=evaluation.by_capacity)
        bests = {"optimum": best.judged()[0], "kip54-sticky": sticky.judged()[0]}
        return {name: {**answer} for name, answer in bests.items()}, least

    def _answer(
        self,
        instance: Document,
        answer: Document | str,
        least: Least,
        bound: int | None,
        name: str,
        cooperative: bool,
    ) -> Row:
        """Return the row of an answer; text is why there is none."""
        if isinstance(answer, str):
            return {"assignor": name, "applies": False, "refused": answer}
        verdict = judge(
            instance,
            read_assignment(json.dumps(answer)),
            claim_rule=self.claim_rule,
            cooperative=cooperative and name == "actual",
        )
        figures = verdict["figures"]
        has_lag = (
            name == "actual"
            and verdict["verdict"] == "valid"
            and figures["dec_min_balanced"]
            and least.moves is not None
        )
        needless = figures["moves"] - (least.moves or 0)
        judged = AssignorAnswer(assignor=name, assignment=answer, verdict=verdict)
        return answer_columns(judged, least, bound) | {
            "needless_lag": (
                _needless_lag(instance, answer, needless) if has_lag else None
            )
        }

    def episode(
        self,
        instance: Document,
        answer: Document,
        *,
        first: int,
        last: int,
        ended: str = "rest",
        unowned_ms: int = 0,
        assignor: str = "cooperative-sticky",
    ) -> str:
        """Add a cooperative rebalance; its rounds are added besides, by `rebalance`."""
        group = instance["group"]
        parsed = read_rebalance(json.dumps(instance))
        _, least = self._optima(instance)
        row = self._answer(parsed, answer, least, None, "actual", cooperative=False)
        taken = ["verdict", "moves", "moves_least", "kip54_score", "kip54_score_least"]
        taken += ["dec_min_balanced", "kip54_balanced", "moves_least_kip54"]
        if ended == "rest":
            taken += ["needless_lag", "at_optimum", "at_kip54_optimum"]
        added = self.add(
            "episodes",
            **{name: row[name] for name in taken},
            owned=row["kept"] + row["moves"],
            episode_id=f"{group}#{first}",
            last_rebalance_id=f"{group}#{last}",
            group_id=group,
            client_assignor=assignor,
            cooperative=True,
            first_generation=first,
            last_generation=last,
            rounds=last - first + 1,
            ended=ended,
            members=len(parsed["members"]),
            partitions=sum(topic["partitions"] for topic in parsed["topics"].values()),
            unowned_partition_ms=unowned_ms,
            instance=json.dumps(instance),
            assignment=json.dumps(answer),
        )
        return str(added["episode_id"])

    def write(self, folder: Path) -> Path:
        """Write the tables and the manifest."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, schema in SCHEMAS.items():
            (folder / name).mkdir(exist_ok=True)
            write_rows(folder / name, schema, self.rows[name])
        (folder / "audit.json").write_text(json.dumps(self.manifest()))
        return folder

    def tables(self, folder: Path) -> Tables:
        """Write it, and read its tables as the page does."""
        return load(self.write(folder))

    def facts(self, folder: Path) -> Facts:
        """Write it, and count the facts of its page."""
        return facts_of(self.tables(folder))

    def manifest(self) -> Document:
        return {
            "format": "audit/1",
            "tables": LAYOUT,
            "parameters": {
                "claim_rule": self.claim_rule,
                "auto_offset_reset": self.offset_reset,
                "cluster": self.cluster,
                "topics": "topics.json",
                "offsets": None,
                **self.asked_for,
            },
            "left_out": self.left_out,
            "versions": {
                "assignor-oracle": "1.2.3",
                "python": "3.11.9",
                "java": "Java",
            },
            "machine": {"cores": 2, "memory_bytes": 8 * 2**30, "system": "TestOS"},
            "newest_record": self.newest_record
            and self.newest_record.isoformat(timespec="milliseconds"),
            "finished": "2026-03-02T00:00:00+00:00",
        } | ({} if self.history is None else {"history": self.history})


def write_rows(place: Path, schema: pa.Schema, rows: Sequence[Row]) -> None:
    if rows:
        write_table(place, pa.Table.from_pylist(list(rows), schema=schema))


def write_table(place: Path, table: pa.Table) -> None:
    """Write a table by cluster and day, its rows in their order."""
    keys = pa.schema([table.schema.field(column) for column in PARTITION_COLUMNS])
    ds.write_dataset(
        table.combine_chunks(),
        place,
        format="parquet",
        partitioning=ds.partitioning(keys, flavor="hive"),
        use_threads=False,
    )


def _needless_lag(instance: Document, answer: Document, needless: int) -> int | None:
    """Sum the smallest lags of the partitions that have another holder than owner."""
    if any("lag" not in topic for topic in instance["topics"].values()):
        return None
    holder = _places(answer["members"])
    moved: Iterator[int] = (
        instance["topics"][topic]["lag"][number]
        for (topic, number), owner in _places(
            {
                name: member.get("owned", {})
                for name, member in instance["members"].items()
            }
        ).items()
        if holder.get((topic, number)) != owner
    )
    return sum(sorted(moved)[:needless])


def _places(held: Document) -> dict[tuple[str, int], str]:
    return {
        (topic, number): member
        for member, of_one in held.items()
        for topic, numbers in of_one.items()
        for number in numbers
    }
