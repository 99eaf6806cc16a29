"""Per client: its template, file names, packages, and the command that runs a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.clients import LINES
from conformance.clients.declaration import FOLDER
from conformance.reproducers.case import NoReproducerError, ReproducerCase
from conformance.reproducers.junit_launcher import JUNIT

_PYTHON_MODULES: Final = {
    "range": ("range", "RangePartitionAssignor"),
    "roundrobin": ("roundrobin", "RoundRobinPartitionAssignor"),
    "sticky": ("sticky.sticky_assignor", "StickyPartitionAssignor"),
    "cooperative-sticky": ("cooperative_sticky", "CooperativeStickyAssignor"),
}
_JAVA_CLASSES: Final = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
    "uniform": "UniformAssignor",
}
_COPY: Final = "mvn -q dependency:copy -DoutputDirectory=jars -Dartifact=$jar"
_LAUNCH: Final = (
    "java -cp 'jars/*:classes' org.junit.platform.console.ConsoleLauncher execute"
)
_GO_FUNCTIONS: Final = {
    "range": "Range",
    "roundrobin": "RoundRobin",
    "sticky": "Sticky",
    "cooperative-sticky": "CooperativeSticky",
    "rack-affinity": "RackAffinity",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproducerTarget:
    """How a case is rendered for its client.

    Attributes
    ----------
    file : str
        Name of the test file.
    needs : tuple of str
        Packages with versions, in the words of the client's registry.
    commands : tuple of str
        Shell commands, the last of which runs the test.
    beside : mapping
        Further files of the test by name.
    names : mapping
        Values that the client's template needs, in addition to the case.
    """

    language: str
    template: str
    file: str
    needs: tuple[str, ...]
    commands: tuple[str, ...]
    beside: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)


def target_of(case: ReproducerCase) -> ReproducerTarget:
    """Return how a case is rendered.

    Raises
    ------
    NoReproducerError
        If there is no template for the client.
    """
    client = case.assignor.client
    if client not in _TARGETS:
        raise NoReproducerError(f"{client}: its assignors cannot be called by a test")
    if case.earlier and client != "kafka-clients":
        raise NoReproducerError(f"{client}: a leader that remembers has no template")
    return _TARGETS[client](case)


def camel(slug: str) -> str:
    """Return a slug as a name of a class: ``sticky-endless`` is ``StickyEndless``."""
    return "".join(part[:1].upper() + part[1:] for part in slug.split("-"))


def _python(case: ReproducerCase) -> ReproducerTarget:
    client, version = case.assignor.client, case.assignor.version
    file = f"test_{case.slug.replace('-', '_')}.py"
    module, name = _PYTHON_MODULES[case.assignor.assignor]
    major, minor, *_ = map(int, version.split("."))
    return ReproducerTarget(
        language="Python",
        template=f"{client}.j2",
        file=file,
        needs=(f"{client}=={version}", "pytest"),
        commands=(
            f"pip install {client}=={version} pytest",
            f"PYTHONHASHSEED=0 python -m pytest {file}",
        ),
        names={
            "module": module,
            "assignor_class": name,
            "is_class": major < 3,
            "major_minor": (major, minor),
            "has_generation": name.startswith("Sticky") and client == "kafka-python",
        },
    )


def _go(case: ReproducerCase) -> ReproducerTarget:
    client, version = case.assignor.client, case.assignor.version
    locks = FOLDER / client / "versions" / version
    module = (locks / "go.mod").read_text("utf-8")
    return ReproducerTarget(
        language="Go",
        template=f"{client}.j2",
        file="reproducer_test.go",
        needs=("go.mod",),
        commands=("go test .",),
        beside={
            "go.mod": module.replace("module adapter\n", "module reproducer\n", 1),
            "go.sum": (locks / "go.sum").read_text("utf-8"),
        },
        names={
            "function": _GO_FUNCTIONS[case.assignor.assignor],
            "test": f"Test{camel(case.slug)}",
            "major_minor": tuple(map(int, version.split(".")[:2])),
        },
    )


def _java(case: ReproducerCase) -> ReproducerTarget:
    client, version = case.assignor.client, case.assignor.version
    name = f"{camel(case.slug)}Test"
    jars = [
        jar
        for jar in LINES[version].jars
        if jar.name != "gson"
        and (client != "kafka-clients" or "-group-" not in jar.name)
    ]
    jars = [j for j in jars if client != "kafka-clients" or "server" not in j.name]
    needs = tuple(f"{jar.group}:{jar.name}:{jar.version}" for jar in (*jars, JUNIT))
    return ReproducerTarget(
        language="Java",
        template=f"{client}.j2",
        file=f"{name}.java",
        needs=needs,
        commands=(
            f"for jar in {' '.join(needs)}; do {_COPY}; done",
            f"javac -cp 'jars/*' -d classes {name}.java",
            f"{_LAUNCH} --select-class {name}",
        ),
        names={
            "test": name,
            "method": name[:1].lower() + name[1:].removesuffix("Test"),
            "assignor_class": _JAVA_CLASSES[case.assignor.assignor],
        },
    )


def _node(case: ReproducerCase) -> ReproducerTarget:
    client, version = case.assignor.client, case.assignor.version
    package = {"platformatic-kafka": "@platformatic/kafka"}.get(client, client)
    file = f"{case.slug}.test.mjs"
    return ReproducerTarget(
        language="JavaScript",
        template=f"{client}.j2",
        file=file,
        needs=(f"{package}@{version}",),
        commands=(f"npm install {package}@{version}", f"node --test {file}"),
        names={"major": int(version.split(".")[0])},
    )


_TARGETS: Final[Mapping[str, Callable[[ReproducerCase], ReproducerTarget]]] = {
    "aiokafka": _python,
    "franz-go": _go,
    "group-coordinator": _java,
    "kafka-clients": _java,
    "kafka-go": _go,
    "kafka-python": _python,
    "kafkajs": _node,
    "platformatic-kafka": _node,
    "sarama": _go,
}
