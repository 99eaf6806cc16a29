"""Differential runs: drive an assignor through rebalances and classify each outcome."""

from conformance.runs.categories import SAFETY, Category, Requirement
from conformance.runs.dependence import (
    difference_by,
    difference_of_new,
    examined,
)
from conformance.runs.difference import AnswerDifference, Dependence
from conformance.runs.differential_run import (
    RunPlan,
    leader_of,
    run_families,
    run_instances,
)
from conformance.runs.draws import (
    DrawnOutcome,
    Draws,
    FamilyCounts,
    Given,
    drawn_outcomes,
    run_draws,
    run_given,
)
from conformance.runs.external import (
    MEMORY,
    External,
    external_client,
    external_command,
    words_of,
)
from conformance.runs.families import FAMILIES, Family
from conformance.runs.guidance import Guide
from conformance.runs.optimum import proved_optimum, stated_optimum
from conformance.runs.other_processes import Repeatable, Repeating
from conformance.runs.outcome_records import (
    Recorder,
    case_parts,
    repeat_records,
    subject_record,
)
from conformance.runs.own_families import (
    OwnDrawError,
    UnknownFamilyError,
    check_family,
    family_of,
)
from conformance.runs.repeating import (
    as_nondeterministic,
    drive_twice,
    reordered,
)
from conformance.runs.rounds import (
    MOST_ROUNDS,
    DrivenRebalance,
    JudgedAnswer,
    drive,
    next_round,
)
from conformance.runs.run_records import (
    FILE,
    CaseRecord,
    CategoryName,
    Finding,
    RepeatRecord,
    RunSummary,
    ShrunkRecord,
    first_line,
    parse_finding,
    parse_run,
)
from conformance.runs.subject import Subject, WrappedSubject
from conformance.runs.timed import OutOfTimeError, until
from conformance.runs.worker_processes import NoSubject, Startable, in_turns, in_workers

__all__ = [
    "FAMILIES",
    "FILE",
    "MEMORY",
    "MOST_ROUNDS",
    "SAFETY",
    "AnswerDifference",
    "CaseRecord",
    "Category",
    "CategoryName",
    "Dependence",
    "DrawnOutcome",
    "Draws",
    "DrivenRebalance",
    "External",
    "Family",
    "FamilyCounts",
    "Finding",
    "Given",
    "Guide",
    "JudgedAnswer",
    "NoSubject",
    "OutOfTimeError",
    "OwnDrawError",
    "Recorder",
    "RepeatRecord",
    "Repeatable",
    "Repeating",
    "Requirement",
    "RunPlan",
    "RunSummary",
    "ShrunkRecord",
    "Startable",
    "Subject",
    "UnknownFamilyError",
    "WrappedSubject",
    "as_nondeterministic",
    "case_parts",
    "check_family",
    "difference_by",
    "difference_of_new",
    "drawn_outcomes",
    "drive",
    "drive_twice",
    "examined",
    "external_client",
    "external_command",
    "family_of",
    "first_line",
    "in_turns",
    "in_workers",
    "leader_of",
    "next_round",
    "parse_finding",
    "parse_run",
    "proved_optimum",
    "reordered",
    "repeat_records",
    "run_draws",
    "run_families",
    "run_given",
    "run_instances",
    "stated_optimum",
    "subject_record",
    "until",
    "words_of",
]
