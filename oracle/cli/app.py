"""The subcommands of ``assignor-oracle``; each imports its packages when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer

from oracle.cli.input.small_input import OF_ALL_ASSIGNORS, interpret_if_small
from oracle.cli.options.assign import AssignOptions
from oracle.cli.options.audit import AuditOptions
from oracle.cli.options.compare import CompareOptions
from oracle.cli.options.conform import ConformOptions
from oracle.cli.options.corpus import CorpusOptions
from oracle.cli.options.diff import DiffOptions
from oracle.cli.options.explain import ExplainOptions
from oracle.cli.options.file_roles import with_kept_input
from oracle.cli.options.front import FrontOptions
from oracle.cli.options.fuzz import FuzzOptions
from oracle.cli.options.judge import JudgeOptions
from oracle.cli.options.plan import PlanOptions
from oracle.cli.options.snapshot import SnapshotOptions
from oracle.cli.options.solve import SolveOptions
from oracle.cli.options.values import with_option_values

app = typer.Typer(
    name="assignor-oracle",
    # Plain help: importing rich's formatter takes longer than all the rest.
    # Paragraphs are joined before they are wrapped, so that nothing is wrapped twice.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

VERBS: Final[list[Callable[..., None]]] = []
"""The subcommands, in the order of the help."""


def _subcommand(verb: Callable[..., None]) -> Callable[..., None]:
    """Declare a subcommand; the help lists it by its first paragraph."""
    declared = with_option_values(verb)
    VERBS.append(declared)
    # The whole sentence, which is wrapped; a default summary would be cut.
    summary = " ".join((verb.__doc__ or "").split("\n\n")[0].split())
    app.command(short_help=summary)(with_kept_input(declared))
    return verb


def _show_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        typer.echo(f"assignor-oracle {version('assignor-oracle')}")
        raise typer.Exit


@app.callback()
def assignor_oracle(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Find the best assignment for a rebalance of a Kafka consumer group, with a proof.

    Judge and compare every other assignment, and every assignor, with it.

    Exit codes: 0 success, 1 negative result, 2 usage error or unreadable input, 3
    failure of an external component, 130 interrupted, 143 terminated, 129 hung up.
    """


@_subcommand
def solve(options: SolveOptions) -> None:
    """Find the best assignment of each rebalance, and prove it.

    Writes one assignment/1 document per rebalance: status, figures, and each objective
    with its bound and the proof of the bound.

    A policy is a balance (dec-min, kip54, per-topic, spread=k, none), objectives in
    order (stickiness, peak-lag, topic-peak-lag, lag-spread, lag-deviation, rack,
    per-topic-spread, load; a sum is 2*stickiness + rack), and an optional max-moves=k.

    A limit, or Ctrl-C, ends a search with the best assignment found, status feasible.
    Without a time limit, a fixed effort does, so that equal input gives equal output.
    Exit code 1 if an answer is infeasible or unknown.

    Example: assignor-oracle solve --policy lag-sticky --time-limit 10 FILE

    Example: assignor-oracle solve --from out/audit --group orders --generation 41
    """
    interpret_if_small(options.file, allowed=options.allowed)
    from oracle.cli.runs.solve import solve_all

    solve_all(options)


@_subcommand
def assign(options: AssignOptions) -> None:
    """Run a published assignor on each rebalance.

    Writes one assignment/1 document per rebalance. An assignor can refuse a rebalance
    to which it does not apply; this is reported, and the exit code is 2. With --errors,
    and - for standard input, it can be tested by `conform` and `fuzz`.

    Example: assignor-oracle assign --assignor range rebalances.jsonl
    """
    from oracle.cli.runs.assign import assign_all

    assign_all(options)


@_subcommand
def judge(options: JudgeOptions) -> None:
    """Judge assignments: list violations, count figures, and check the proofs.

    An assignment belongs to the instance with the same id or, where one of the two has
    no id, to the instance at the same place. Writes one verdict/1 per assignment. If an
    assignment states a policy, each objective is counted again, and its bound rests on
    a certificate, on terms, on a search, or on nothing: only the first two are proofs.
    With --from, the assignment is the one that the group's leader, or the coordinator,
    computed. Exit code 1 if an assignment is invalid, or does not meet --require.

    Example: assignor-oracle judge --against optimum rebalances.jsonl answers.jsonl

    Example: assignor-oracle judge --from out/audit --group orders --generation 41
    """
    if options.compares_with_optimum and options.time_limit is None:
        interpret_if_small(options.instances)
    from oracle.cli.runs.judge import judge_all

    judge_all(options)


@_subcommand
def compare(options: CompareOptions) -> None:
    """Run every published assignor on each rebalance and compare it with the optimum.

    Prints one table per rebalance and a summary on a terminal; otherwise writes one
    line of JSON per rebalance. The judge counts all figures. With --from, `actual` is
    the assignment by the group's leader, or by the coordinator.

    Example: assignor-oracle compare rebalances.jsonl

    Example: assignor-oracle compare --from out/audit --group orders --generation 41
    """
    interpret_if_small(options.file, OF_ALL_ASSIGNORS)
    from oracle.cli.runs.compare import compare_all

    compare_all(options)


@_subcommand
def explain(options: ExplainOptions) -> None:
    """Explain whether an assignment is the best, how it could be better, or why not.

    If it is not the best: the transfers that improve balance, the needless moves, or
    the member with the peak lag and the partitions that it could give to others, each
    with its gain. If it is the best, or without ASSIGNMENT: which partitions can only
    go to which members, which claims cannot be kept together, which bound holds. Every
    statement is checked by other code before it is printed.

    An assignment belongs to the instance with the same id or, where one of the two has
    no id, to the instance at the same place. With --from, it is the one that the
    group's leader, or the coordinator, computed. Exit code 1 if an assignment is
    invalid or not the best, or if no assignment satisfies the policy.

    Example: assignor-oracle explain rebalance.json assignment.json

    Example: assignor-oracle explain --from out/audit --group orders --generation 41
    """
    interpret_if_small(options.instance, allowed=options.allowed)
    from oracle.cli.runs.explain import explain_all

    explain_all(options)


@_subcommand
def front(options: FrontOptions) -> None:
    """List every Pareto-optimal pair of moves and balance, or of moves and peak lag.

    Writes one front/1 document per rebalance: the points, each with its assignment and
    the proof of its bound. Without a time limit, the search has a fixed effort, so
    that equal input gives equal output. Where a limit or Ctrl-C ends the search, the
    document states the reason and a bound.

    Example: assignor-oracle front --objective peak-lag --picture front.png FILE
    """
    interpret_if_small(options.file, OF_ALL_ASSIGNORS, options.allowed)
    from oracle.cli.runs.front import front_all

    front_all(options)


@_subcommand
def plan(options: PlanOptions) -> None:
    """Answer what-if questions on a group, before anything is changed.

    Members leave, join, or change their subscription, partitions are added, lag
    changes, in this order: the best assignment afterwards and that of each assignor,
    who gives which partitions to whom, how many rounds it takes, and how long
    partitions have no owner. Or: how many members a limit on lag or load needs, with a
    proof that fewer do not suffice. Or: which assignor the group should use.

    Exit code 1 if no assignment satisfies the policy, or no number of members suffices.

    Example: assignor-oracle plan --from out/audit --group orders --leave c3

    Example: assignor-oracle plan group.json --add-members 2 --load-at-most 4
    """
    if not options.enlarges:
        interpret_if_small(options.instance, OF_ALL_ASSIGNORS, options.allowed)
    from oracle.cli.runs.plan import plan_all

    plan_all(options)


@_subcommand
def conform(options: ConformOptions) -> None:
    """Test an assignor in any language: on the corpus, on random rebalances, in churn.

    Prints a matrix and the findings; answers are repeated by another process. Exit
    code 1 if there is a finding, 3 if the program cannot be started or a client is not
    installed.

    Example: assignor-oracle conform --command ./my-assignor --require kip54
    """
    from oracle.cli.runs.conform import conform_all

    conform_all(options)


@_subcommand
def fuzz(options: FuzzOptions) -> None:
    """Test an assignor on random rebalances, and judge every answer.

    Each answer is checked for validity, for safety across cooperative rounds, for
    balance, and for needless moves, and repeated by another process; a crash or a hang
    costs one rebalance. Writes, as they are found, one finding/1 per kind of outcome
    that is not optimal, with its shrunk instance, and one run/1 per family and
    assignor. Exit code 1 if an outcome does not meet --require, or if answers of an
    assignor that is declared deterministic differ.

    Example: assignor-oracle fuzz --command 'python my_assignor.py' --seed 1
    """
    from oracle.cli.runs.fuzz import fuzz_all

    fuzz_all(options)


@_subcommand
def corpus(options: CorpusOptions) -> None:
    """Print the scenarios that `conform` plays, one scenario/1 document per line.

    Each is a sequence of rebalances from a KIP, ticket, or thread, with properties that
    the answers are expected to have.

    Example: assignor-oracle corpus > corpus.jsonl
    """
    from oracle.cli.runs.corpus import write_corpus

    write_corpus(options)


@_subcommand
def audit(options: AuditOptions) -> None:
    """Judge every rebalance of a cluster's history; write tables and an HTML page.

    Solves each rebalance, runs every assignor on it, and judges their assignments and
    those of the clients. An existing audit in the folder is replaced once the new one
    is complete. The same command continues an audit that was interrupted. Exit code 1
    if a condition of --fail-on is met; else 4 if part of the input was lost, of which
    the rest is judged.

    Example: assignor-oracle audit recordings/churn --out out/audit

    Example: assignor-oracle audit records --out out --since 24h --fail-on invalid

    Example: assignor-oracle audit --bootstrap-server localhost:9092 --follow --out out
    """
    if options.follow:
        from oracle.cli.runs.audit_updates import run_follow

        run_follow(options)
    from oracle.cli.runs.audit import run_audit

    run_audit(options)


@_subcommand
def diff(options: DiffOptions) -> None:
    """State the changes between two audits, or in a store of audits.

    Groups that are worse or better per day, new groups with harm, groups that are gone,
    invalid assignments, and findings that may explain them. The new period begins where
    the old audit ends. Audits of other clusters, groups, or rules are refused with exit
    code 2.

    Example: assignor-oracle diff out/monday out/tuesday

    Example: assignor-oracle diff --history store --since 2026-11-24
    """
    from oracle.cli.runs.diff import print_diff

    print_diff(options)


@_subcommand
def snapshot(options: SnapshotOptions) -> None:
    """Read the present state of consumer groups from a running cluster.

    Writes one rebalance/1 document per group, with subscriptions, owned partitions,
    lag, racks, and static members, so that every other subcommand can be applied to it.
    Groups that cannot be read are named, and the exit code is then 2.

    Example: assignor-oracle snapshot --bootstrap-server localhost:9092 -o groups.jsonl
    """
    from oracle.cli.runs.snapshot import write_snapshots

    write_snapshots(options)
