"""The manifest is one of Kubernetes, fits the image, and its command works."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.broker import Broker
from pipeline.live import read_client_properties
from tests.oracle.plugins.real import Place
from tests.support.containers import (
    MANIFEST,
    container,
    documents,
    lacking_for_containers,
    pod,
    run_container,
)
from tests.support.dockerfile import arguments_of
from tools.recipe_partners import make_recipe_partners

GROUP = "of-cronjob"
OLDEST, NEWEST = "1.31", "1.37"
"""Versions of Kubernetes; ``podFailurePolicy`` is stable from the oldest one on."""

VALIDATE = """
import sys
import kubernetes_validate
import yaml

try:
    for document in yaml.safe_load_all(sys.stdin):
        used = kubernetes_validate.validate(document, sys.argv[1], strict=True)
        assert used == sys.argv[1], used
except kubernetes_validate.ValidationError as error:
    sys.exit(f"{list(error.path)}: {error.message}")
"""


def validated(text: str, version: str) -> str:
    """Return the fault that Kubernetes' own schemas find; empty if there is none."""
    ran = subprocess.run(
        [make_recipe_partners(), "-c", VALIDATE, version],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode == 0) == (ran.stderr == ""), ran.stderr
    return ran.stderr


@pytest.mark.heavy
@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_kubernetes_accepts_it(version: str) -> None:
    text = MANIFEST.read_text()
    assert validated(text, version) == ""
    for line, wrong in (
        ("concurrencyPolicy: Forbid", "concurrencyPolicies: Forbid"),
        ("readOnlyRootFilesystem: true", "readOnlyRootFilesystem: yes please"),
        ("startingDeadlineSeconds: 3600", "startingDeadlineSeconds: 1h"),
    ):
        assert line in text
        assert validated(text.replace(line, wrong), version) != "", wrong


def test_runs_never_overlap_and_are_not_repeated_for_a_finding() -> None:
    spec = documents()["CronJob"]["spec"]
    job = spec["jobTemplate"]["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    (rule,) = job["podFailurePolicy"]["rules"]
    assert rule["onExitCodes"] == {
        "containerName": container()["name"],
        "operator": "In",
        "values": [1, 2, 4],
    }
    assert job["template"]["spec"]["restartPolicy"] == "Never", "the policy needs it"


def test_it_is_restricted_as_the_image_allows() -> None:
    """Fields of the pod security standard "restricted", and a read-only root."""
    (image_user,) = arguments_of("USER")
    security, own = pod()["securityContext"], container()["securityContext"]
    assert security["runAsNonRoot"] is True
    assert f"{security['runAsUser']}:{security['runAsGroup']}" == image_user
    assert security["fsGroup"] == security["runAsGroup"]
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "command" not in container(), "the image has the entry point"
    requests, limits = (container()["resources"][k] for k in ("requests", "limits"))
    assert requests["memory"] == limits["memory"]


def test_names_agree() -> None:
    """Volumes, claim, secret, and paths in arguments and in the client's settings."""
    volumes: dict[str, Any] = {volume["name"]: volume for volume in pod()["volumes"]}
    mounts = {
        mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]
    }
    secret = documents()["Secret"]
    assert volumes.keys() == mounts.keys()
    claim = volumes["data"]["persistentVolumeClaim"]["claimName"]
    assert claim == documents()["PersistentVolumeClaim"]["metadata"]["name"]
    assert volumes["client"]["secret"]["secretName"] == secret["metadata"]["name"]
    assert volumes["client"]["secret"]["defaultMode"] == 0o440
    assert mounts["data"] == arguments_of("WORKDIR")[-1]
    assert mounts["tmp"] == "/tmp"  # noqa: S108

    settings = secret["stringData"]["client.properties"]
    client = {f"{mounts['client']}/{name}" for name in secret["stringData"]}
    for text in (settings, "\n".join(container()["args"])):
        named = set(re.findall(rf"{mounts['client']}/\S+", text))
        assert named
        assert named <= client
    for option in ("--out", "--metrics"):
        (path,) = re.findall(rf"{option}=(\S+)", "\n".join(container()["args"]))
        assert path.startswith(f"{mounts['data']}/")


def test_the_secret_has_settings_that_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(documents()["Secret"]["stringData"][file.name])
    settings = read_client_properties(file).for_librdkafka()
    assert settings["security.protocol"] == "SASL_SSL"
    assert settings["sasl.username"] == "audit"


@pytest.fixture
def place(broker: Broker) -> Iterator[Place]:
    """A group that has rebalanced at the broker."""
    place = Place(broker=broker, group=GROUP, topics={GROUP: 4})
    place.make_topics()
    member = place.kafka_python("range")
    place.settled(member)
    yield place
    member.leave()


@pytest.mark.heavy(minutes=1)
@pytest.mark.skipif(
    (lacking := lacking_for_containers()) is not None, reason=f"lacking: {lacking}"
)
def test_its_command_audits_a_cluster(place: Place, tmp_path: Path) -> None:
    """By the stated user, in a read-only root; the address of the broker differs."""
    folders = {volume["name"]: tmp_path / volume["name"] for volume in pod()["volumes"]}
    for folder in folders.values():
        folder.mkdir()
    settings = folders["client"] / "client.properties"
    settings.write_text("security.protocol=PLAINTEXT\n")
    example, address = "kafka.kafka.svc:9093", place.broker.address
    arguments = [text.replace(example, address) for text in container()["args"]]
    assert arguments != container()["args"]

    ended = run_container(arguments, folders, arguments_of("WORKDIR")[-1])
    assert ended.returncode == 0, ended.stderr
    data = folders["data"]
    assert (data / "audit" / "index.html").is_file()
    assert f'group="{GROUP}"' in (data / "assignor_oracle.prom").read_text()
    written = {path.stat().st_uid for path in data.rglob("*")}
    assert written == {pod()["securityContext"]["runAsUser"]}

    other = [text.replace("/data/", "/var/lib/") for text in arguments]
    ended = run_container(other, folders, "/")
    assert ended.returncode == 2
    assert "read-only file system" in ended.stderr.lower()
