"""The registry: specifications, declarations, and clients that are not installed."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from conformance.clients import (
    ClientAssignor,
    MissingClientError,
    UnknownClientError,
    all_client_assignors,
    client_assignor,
    matching_client_assignors,
)
from conformance.clients.declaration import FOLDER, declarations, read_declaration
from conformance.clients.installed import built_command, place_of, record_build
from rebalance import OutsideError

DECLARED = """
language = "Go"
kind = "adapter"
versions = ["2.0", "1.0"]
default = "range"
build = {toolchain = "go"}
assignors = {range = {deterministic = true}, sticky = {versions = ["2.0"]}}
"""


def test_a_full_specification_names_itself() -> None:
    every = all_client_assignors()
    assert len({assignor.spec for assignor in every}) == len(every) >= 10
    for assignor in every:
        assert client_assignor(assignor.spec) == assignor
        assert matching_client_assignors(assignor.spec) == (assignor,)


@pytest.mark.parametrize(
    ("spec", "full"),
    [
        ("kafka-clients", "kafka-clients@4.4.0/sticky"),
        ("kafka-clients@3.9.2", "kafka-clients@3.9.2/sticky"),
        ("kafka-clients/range", "kafka-clients@4.4.0/range"),
        ("group-coordinator", "group-coordinator@4.4.0/uniform"),
    ],
)
def test_the_newest_version_and_the_default_assignor(spec: str, full: str) -> None:
    assert client_assignor(spec).spec == full


def test_a_version_covers_its_assignors() -> None:
    covered = matching_client_assignors("kafka-clients@3.9.2")
    names = ["range", "roundrobin", "sticky", "cooperative-sticky"]
    assert [assignor.assignor for assignor in covered] == names
    assert [assignor.cooperative for assignor in covered] == [False, False, False, True]
    assert [assignor.deterministic for assignor in covered] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("nobody", "no 'nobody'; there are .*kafka-clients"),
        ("kafka-clients@9", "kafka-clients has no version '9', but 4.4.0, 3.9.2"),
        ("kafka-clients/odd", "kafka-clients@4.4.0 has no 'odd', but range, round"),
        ("group-coordinator@4.4.0/sticky", "no 'sticky', but range, uniform"),
        ("kafka-clients@/range", r"is not NAME\[@VERSION\]\[/ASSIGNOR\]"),
        ("kafka-clients/", "is not NAME"),
        ("", "is not NAME"),
    ],
)
def test_an_unknown_client_is_named(spec: str, reason: str) -> None:
    with pytest.raises(UnknownClientError, match=reason) as caught:
        client_assignor(spec)
    assert caught.value.exit_code == 2


def test_a_client_that_is_not_installed_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORACLE_CLIENTS", str(tmp_path / "clients"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for assignor in all_client_assignors():
        if assignor.kind == "adapter":
            with pytest.raises(MissingClientError, match="run `make clients`") as error:
                assignor.program()
            assert error.value.exit_code == 3
            assert f"{assignor.client}@{assignor.version}" in str(error.value)


def test_a_client_on_the_wire_has_no_program() -> None:
    one = ClientAssignor(
        client="x",
        version="1",
        assignor="range",
        cooperative=False,
        deterministic=True,
        language="C",
        kind="wire",
    )
    with pytest.raises(UnknownClientError, match="x@1/range has no adapter"):
        one.program()


def test_a_build_of_other_inputs_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORACLE_CLIENTS", str(tmp_path))
    client = declarations()[0]
    version = client.versions[0]
    assert built_command(client, version) is None
    place = place_of(client, version)
    place.mkdir()
    record_build(client, version, place, [sys.executable, "adapter"])
    assert built_command(client, version) == (sys.executable, "adapter")
    record = (place / "built.json").read_text()
    changed = re.sub('"digest":"..', '"digest":"zz', record)
    (place / "built.json").write_text(changed)
    assert built_command(client, version) is None
    record_build(client, version, place, ["/nowhere/to/be/found"])
    assert built_command(client, version) is None


def test_a_declaration_states_which_version_has_an_assignor() -> None:
    client = read_declaration(DECLARED, name="some")
    assert client.has("2.0", "sticky")
    assert not client.has("1.0", "sticky")
    assert not client.has("3.0", "range")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('"Go"', "3", "some/client.toml: language: .*string"),
        ('"range"\n', '"lag"\n', "no assignor 'lag'"),
        (
            'sticky = {versions = ["2.0"]',
            'sticky = {versions = ["7"]',
            "no version '7'",
        ),
        ("kind =", "knd =", "some/client.toml: "),
        ("kind =", "kind", "some/client.toml: "),
    ],
)
def test_a_wrong_declaration_is_named(before: str, after: str, reason: str) -> None:
    assert before in DECLARED
    with pytest.raises(OutsideError, match=reason):
        read_declaration(DECLARED.replace(before, after), name="some")


def test_every_folder_is_declared_with_sources_that_exist() -> None:
    for client in declarations():
        assert client.folder == FOLDER / client.name
        for source in client.build.sources:
            assert (client.folder / source).is_file(), (client.name, source)


def test_every_version_is_pinned_with_digests() -> None:
    for client in declarations():
        folder = client.folder / "versions"
        toolchain = client.build.toolchain
        if toolchain in {"java", "none"}:
            assert not folder.exists()
            continue
        assert {path.name for path in folder.iterdir()} == set(client.versions)
        for version in client.versions:
            check = {"go": go_pins, "node": node_pins, "python": python_pins}[toolchain]
            check(folder / version, client.build.package or "", version)


def go_pins(folder: Path, package: str, version: str) -> None:
    assert f"{package} v{version}\n" in (folder / "go.mod").read_text()
    assert f"{package} v{version} h1:" in (folder / "go.sum").read_text()


def node_pins(folder: Path, package: str, version: str) -> None:
    lock = json.loads((folder / "package-lock.json").read_text())
    locked = lock["packages"]
    assert locked[f"node_modules/{package}"]["version"] == version
    for name, about in locked.items():
        assert not name or about["integrity"].startswith("sha512-"), name
        assert "resolved" not in about, name  # names a registry


def python_pins(folder: Path, package: str, version: str) -> None:
    lock = (folder / "requirements.lock").read_text()
    assert f"{package}=={version} " in lock
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        assert "--hash=sha256:" in entry
