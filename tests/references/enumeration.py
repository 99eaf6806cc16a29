"""What a sentence states, read from its text, against all assignments of a rebalance.

Each kind of statement has one reader of its text. Numbers and names come from the
sentence, transfers from its record; values are counted for every assignment that the
policy allows, by the definitions. Reaches into `verify.policy` for the values of
objectives, to compare them with the sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import verify
from oracle.explanation import Explanation
from tests.references.brute import Brute
from tests.references.naive_explanations import Held, Naive, apply, held_by, members_in
from tests.support.shapes import Document
from verify.policy.notation import read_policy
from verify.policy.objectives import scale_of, value_of

SCOPE = r"( as good in (?P<scope>.+?))?"
LEAST_TOO_LARGE = 1 << 45
"""Sums of lag from which CP-SAT cannot compute some policies exactly (2^53, in units of
members and shares): the optimum can then be unproved. Smaller ones must be proved."""
UNPROVED = ("too large for a search to the end", "effort limit of 15")
VALUE = r"(?P<{}>\(?[\d, -]+\)?(?: ÷ [\d,]+)?)"


def number(text: str) -> int:
    """Read a number with separators."""
    return int(text.replace(",", ""))


def numbers(text: str) -> list[int]:
    """Read a list of loads, none of which has a separator of thousands."""
    return [int(part) for part in text.split(", ")]


class Enumerated:
    """One rebalance and policy: values of all that is allowed, of one explained."""

    def __init__(self, document: Document, members: Document, policy: str) -> None:
        self.document, self.policy = document, policy
        self.naive = Naive(document)
        self.stated = read_policy(policy)
        self.brute = Brute(document)
        case = self.brute.case
        self.allowed = [
            {
                of: value_of(case, tally, level)
                for of, level in self.stated.levels.items()
            }
            for tally in self.brute.balanced(self.stated)
            if self.stated.max_moves is None or tally.moves <= self.stated.max_moves
        ]
        self.scales = {of: scale_of(case, v) for of, v in self.stated.levels.items()}
        self.held = self.start = held_by({"members": members})
        self.mine = {o["of"]: o["value"] for o in self.judged(self.held)["objectives"]}

    def judged(self, held: Held) -> dict[str, Any]:
        """Judge an assignment under the policy."""
        members = members_in(held, self.document)
        stated = {"format": "assignment/1", "members": members, "policy": self.policy}
        return verify.judge_case(self.brute.case, stated)

    def within(self, scope: str | None) -> list[dict[str, Any]]:
        """Return what is allowed, and equal in the objectives that a scope names."""
        names = re.split(r", | and ", scope) if scope else []
        assert all(name in self.stated.levels for name in names)
        return [
            values
            for values in self.allowed
            if all(values[name] == self.mine[name] for name in names)
        ]

    def least(self, of: str, scope: str | None) -> Any:
        """Return the least value of an objective within a scope."""
        return min(values[of] for values in self.within(scope))

    def value(self, of: str, text: str) -> Any:
        """Read a value of an objective, in units of 1 ÷ its scale."""
        plain, _, scale = text.partition(" ÷ ")
        assert (number(scale) if scale else 1) == self.scales[of]
        if of == "load":
            return numbers(plain.strip("()"))
        return number(plain)

    def check(self, found: Explanation) -> None:
        """Check whether it is the best one, and every sentence in its order."""
        met = self.judged(self.held)["policy"]
        best = self.brute.best(self.policy)
        is_best = met["balance_met"] and met["budget_met"]
        is_best = is_best and [*self.mine.values()] == best
        if found.answer == "unknown":
            assert found.reason in UNPROVED
            topics = self.document["topics"].values()
            lags = [sum(topic.get("lag", ())) for topic in topics]
            assert sum(lags) >= LEAST_TOO_LARGE
        elif best is not None:
            assert found.answer == ("best" if is_best else "not-best")
            assert found.statements or is_best
        for statement in found.statements:
            for pattern, reader in READERS[statement.kind]:
                match = re.fullmatch(pattern, statement.text)
                if match is not None:
                    reader(self, statement, match)
                    break
            else:
                raise AssertionError(f"not read: {statement.text}")
        if self.policy == "dec-min; stickiness" and not (is_best or found.more):
            assert [self.naive.moves(self.held)] == best


Match = re.Match[str]
Reader = Callable[[Enumerated, Any, Match], None]
READERS: dict[str, list[tuple[str, Reader]]] = {}
GAIN = r"(?P<gain>, with .+)?\."


def reads(kind: str, pattern: str) -> Callable[[Reader], Reader]:
    """Register the reader of sentences of a kind and a pattern."""

    def register(reader: Reader) -> Reader:
        READERS.setdefault(kind, []).append((pattern, reader))
        return reader

    return register


def _bound(before: str, after: str) -> str:
    value = VALUE.format("bound")
    return f"{before}{SCOPE} has a (?P<of>.+?) below {value}{after}"


@reads(
    "bound",
    _bound("No allowed assignment", r": (?P<why>.+)\."),
)
@reads(
    "certificate",
    _bound(
        "No allowed assignment",
        r": the certificate proves it, and the judge has checked it\.",
    ),
)
@reads(
    "search",
    _bound(
        "That no allowed assignment",
        r" is the report of a search \(.+\), which cannot be checked\.",
    ),
)
def bound(about: Enumerated, _: Any, match: Match) -> None:
    """No allowed assignment in the scope is below."""
    of = match["of"]
    stated = about.value(of, match["bound"])
    assert about.least(of, match["scope"]) >= stated
    why = match.groupdict().get("why") or ""
    lags = [
        lag
        for topic, of_topic in about.brute.case.lag.items()
        if about.brute.case.subscribers[topic]
        for lag in of_topic
    ]
    shared = re.match(r"([\d,]+) members? share ([\d,]+) records?", why)
    if shared is not None:
        assert number(shared[1]) == len(about.naive.in_play)
        assert number(shared[2]) == sum(lags)
    if why == "one partition alone has this lag":
        assert stated == max(lags)


@reads(
    "certificate",
    r"No equally balanced assignment has fewer than (?P<bound>[\d,]+) moves?"
    r": the certificate proves it, and the judge has checked it\.",
)
def fewest(about: Enumerated, _: Any, match: Match) -> None:
    """No balanced assignment has fewer moves."""
    assert min(map(about.naive.moves, about.naive.balanced())) >= number(match["bound"])


@reads(
    "gap",
    rf"The (?P<of>.+?) is {VALUE.format('value')}; the best(?: of an allowed"
    rf" assignment{SCOPE})? is {VALUE.format('best')}\.",
)
def gap(about: Enumerated, _: Any, match: Match) -> None:
    """The objective has this value, and its best within the scope is the other."""
    of = match["of"]
    assert about.mine[of] == about.value(of, match["value"])
    best, least = about.value(of, match["best"]), about.least(of, match["scope"])
    assert best == least
    assert best < about.mine[of]


@reads(
    "gap",
    r"(?P<needless>[\d,]+) of (?P<moves>[\d,]+) moves? (?:is|are) needless:"
    r" (?P<best>[\d,]+) would give the same balance\.",
)
@reads(
    "gap",
    r"(?P<needless>[\d,]+) of (?P<moves>[\d,]+) moves? (?:is|are) needless: an"
    rf" allowed assignment{SCOPE} has (?P<best>[\d,]+)\.",
)
def needless(about: Enumerated, _: Any, match: Match) -> None:
    """So many moves are needless."""
    moves, best = number(match["moves"]), number(match["best"])
    assert moves == about.naive.moves(about.held)
    assert number(match["needless"]) == moves - best > 0
    if match.re.groups and "scope" in match.groupdict():
        assert about.least("stickiness", match["scope"]) == best
    else:
        balanced = about.naive.balanced()
        assert about.naive.vector(about.held) == about.naive.vector(balanced[0])
        assert min(map(about.naive.moves, balanced)) == best


@reads(
    "gap",
    r"The move budget is exceeded: (?P<moves>[\d,]+) moves?, (?P<most>[\d,]+)"
    r" are allowed\.",
)
def exceeded(about: Enumerated, _: Any, match: Match) -> None:
    """The moves and the budget."""
    assert number(match["moves"]) == about.naive.moves(about.start)
    assert number(match["most"]) == about.stated.max_moves


@reads(
    "budget",
    r"Give back .+: (?P<moves>[\d,]+) moves? then, and the balance is met"
    r" \([\d,]+ allowed\)\.",
)
def given_back(about: Enumerated, statement: Any, match: Match) -> None:
    """Afterwards, budget and balance are met."""
    assert len(statement.transfers) == statement.count
    after = apply(about.start, statement.transfers)
    assert number(match["moves"]) == about.naive.moves(after)
    met = about.judged(after)["policy"]
    assert met["balance_met"]
    assert met["budget_met"]
    for back in statement.returned:
        assert about.naive.owner[back.topic, back.partition] == back.to


def gained(about: Enumerated, before: Held, after: Held, text: str) -> None:
    """The gain at the end of a sentence."""
    naive = about.naive
    score = re.search(r"a balance score (less|more) by ([\d,]+)", text)
    moves = re.search(r"(?:with|and) ([\d,]+) (fewer|more) moves?", text)
    if score is not None:
        sign = 1 if score[1] == "less" else -1
        less = naive.score(before) - naive.score(after)
        assert sign * number(score[2]) == less
    less = naive.moves(before) - naive.moves(after)
    if moves is None:
        assert less == 0
    else:
        assert (1 if moves[2] == "fewer" else -1) * number(moves[1]) == less


@reads(
    "balance",
    r"The loads (?P<loads>[\d, ]+) are not the most even: (?P<transfers>[\d,]+)"
    rf" transfers? in [\d,]+ chains? leads? to (?P<best>[\d ,]+?){GAIN}",
)
def unbalanced(about: Enumerated, statement: Any, match: Match) -> None:
    """The loads before, and the most even ones."""
    naive, loads = about.naive, sorted(about.naive.loads(about.held).values())
    assert numbers(match["loads"]) == loads[::-1]
    best = numbers(match["best"])
    even = [sorted(naive.loads(held).values())[::-1] for held in naive.balanced()]
    assert best in even
    assert number(match["transfers"]) == statement.transfers
    assert sorted(loads) != sorted(best) or naive.capacity(next(iter(naive.in_play)))


@reads(
    "chain",
    r"(?P<path>.+): (?P<giver>\S+) goes from (?P<high>\d+) to (?P<less>\d+)"
    r" partitions?, (?P<receiver>\S+) from (?P<low>\d+) to (?P<more>\d+)"
    rf"{GAIN}",
)
def chain(about: Enumerated, statement: Any, match: Match) -> None:
    """The loads of both ends, and the gain; the balance improves."""
    naive, before = about.naive, about.held
    about.held = apply(before, statement.transfers)
    for held, ends in ((before, ("high", "low")), (about.held, ("less", "more"))):
        loads = naive.loads(held)
        pair = statement.transfers[0].giver, statement.transfers[-1].to
        assert [number(match[end]) for end in ends] == [loads[name] for name in pair]
        assert (match["giver"], match["receiver"]) == pair
    gained(about, before, about.held, statement.text)


@reads(
    "topic",
    r"Topic (?P<topic>\S+) is not even: (?P<giver>\S+) holds (?P<high>\d+) of"
    r" its partitions, (?P<to>\S+) (?P<low>\d+)\. One can go from (?P=giver) to"
    r" (?P=to)\.",
)
def uneven(about: Enumerated, _: Any, match: Match) -> None:
    """The partitions of a topic that two members hold; one can go."""
    topic, giver, to = match["topic"], match["giver"], match["to"]
    holders = [name for (t, _), name in about.start.items() if t == topic]
    assert holders.count(giver) == number(match["high"]) > 0
    assert holders.count(to) == number(match["low"])
    assert topic in about.document["members"][to]["subscription"]


@reads(
    "exchange",
    r".+ could have stayed with .+, the balance is the same.*\.",
)
@reads(
    "exchange",
    r".+ could have stayed with .+: the balance is the same.*\.",
)
def exchange(about: Enumerated, statement: Any, _: Match) -> None:
    """The balance stays, and claims are kept."""
    before = about.held
    about.held = apply(before, statement.transfers)
    assert about.naive.vector(about.held) == about.naive.vector(before)
    for back in statement.restored:
        assert about.naive.owner[back.topic, back.partition] == back.to
    gained(about, before, about.held, statement.text)


@reads(
    "peak",
    r"(?P<member>\S+) has the peak lag, (?P<lag>[\d,]+) records? in"
    r" (?P<load>\d+) partitions?, the largest .+\. After the (?:swap|transfer)"
    r" .+ it has (?P<after>[\d,]+), and (?P<receiver>\S+) (?P<other>[\d,]+)\.",
)
def peak(about: Enumerated, statement: Any, match: Match) -> None:
    """The member has the peak lag; the lags after the exchange."""
    naive, before = about.naive, about.held
    name, other = match["member"], match["receiver"]
    assert number(match["lag"]) == naive.lag(before, name)
    assert naive.peak(before) * naive.capacity(name) == naive.lag(before, name)
    assert number(match["load"]) == naive.loads(before)[name]
    about.held = apply(before, statement.transfers)
    after = [naive.lag(about.held, member) for member in (name, other)]
    assert after == [number(match["after"]), number(match["other"])]
    met = about.judged(about.held)["policy"]
    assert met["balance_met"]
    assert met["budget_met"]


@reads(
    "difference",
    r"(?P<count>[\d,]+) transfers? leads? to the best assignment: .+\.",
)
def better(about: Enumerated, statement: Any, match: Match) -> None:
    """The transfers lead to the best assignment."""
    assert number(match["count"]) == len(statement.transfers)
    verdict = about.judged(apply(about.start, statement.transfers))
    assert verdict["policy"]["balance_met"]
    assert verdict["policy"]["budget_met"]
    values = [level["value"] for level in verdict["objectives"]]
    assert values == about.brute.best(about.policy)


@reads(
    "block",
    r"(?:All|The one) .+ partitions? of topics? .+ is the most even\.",
)
@reads(
    "block",
    r"The one partition of topic .+\.",
)
def block(about: Enumerated, statement: Any, match: Match) -> None:
    """Who can hold the topics, and who does in every balanced assignment."""
    naive, balanced = about.naive, about.naive.balanced()
    members = about.document["members"]
    takers = {
        m for m in members if set(members[m]["subscription"]) & set(statement.topics)
    }
    assert takers == {*statement.members, *statement.above}
    text = match.string
    for held in balanced:
        loads = naive.loads(held)
        mine = [loads[name] for name in statement.members]
        assert sum(mine) == statement.partitions
        others = {name for (topic, _), name in held.items() if topic in statement.below}
        if statement.capacities is None:
            assert sorted(mine, reverse=True) == statement.loads
            if statement.above:
                assert "at least as many in any case" in text
                assert all(loads[name] >= max(mine) for name in statement.above)
            if "with fewer partitions" in text:
                assert all(loads[name] < min(mine) for name in others)
            elif statement.below:
                assert "at most as many partitions even so" in text
                assert all(loads[name] <= min(mine) for name in others)


@reads(
    "claims",
    r".+ owns? (?P<claims>[\d,]+) partitions? that balance would let (?:it|them)"
    r" keep, but can hold at most (?P<room>[\d,]+).*: at least"
    r" (?P<leaving>[\d,]+) (?:has|have) to go to other members\.",
)
def claims(about: Enumerated, statement: Any, match: Match) -> None:
    """So many claims leave their owners in every balanced assignment."""
    mine = [
        spot
        for spot, owner in about.naive.owner.items()
        if owner in statement.members and spot[0] in statement.topics
    ]
    assert len(mine) == number(match["claims"])
    for held in about.naive.balanced():
        loads = about.naive.loads(held)
        assert sum(loads[name] for name in statement.members) <= number(match["room"])
        leaving = sum(held[spot] not in statement.members for spot in mine)
        assert leaving >= number(match["leaving"]) > 0


@reads(
    "outranked",
    r".+ cannot keep .+ \(\d+ partitions?\): balance requires that the topic"
    r" goes to .+, (?P<than>wh(?:ich|ose) .+)\.",
)
def outranked(about: Enumerated, statement: Any, match: Match) -> None:
    """The claims are kept in no balanced assignment, and how the loads compare."""
    for held in about.naive.balanced():
        loads = about.naive.loads(held)
        for place in statement.partitions:
            assert about.naive.owner[statement.topic, place] == statement.member
            assert held[statement.topic, place] in statement.to
        most = max(loads[name] for name in statement.to)
        if match["than"].endswith(" less"):
            assert most < loads[statement.member]
        elif "at most as many" in match["than"]:
            assert most <= loads[statement.member]
        else:
            assert "capacity" in str(about.document["members"])
