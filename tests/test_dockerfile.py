"""The image, as far as a machine without Docker can test it: files, user, command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.dockerfile import ROOT, arguments_of, copied, copy_to, instructions
from tests.support.other_user import NAMELESS, lacking_for_other_users, other_user
from tests.support.pages import blocks
from tools.set_up import COMMAND

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PLACE = Path("/opt/assignor-oracle")
IGNORED = [
    line
    for line in (ROOT / ".dockerignore").read_text().splitlines()
    if line and not line.startswith("#")
]


def test_every_copied_path_exists() -> None:
    assert copied()
    for path in copied():
        assert path.exists(), path


def test_every_package_is_copied_and_what_installs_it() -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    files = [PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]]
    needed = {*packages, *files, "pyproject.toml", "Makefile", "requirements", "tools"}
    assert needed <= {str(path.relative_to(ROOT)) for path in copied()}


def test_nothing_is_copied_that_runs_leave_behind() -> None:
    """Kernels of this machine, and its packages, would be taken for the image's."""
    assert {".venv", "build", "out", "**/__pycache__"} <= {*IGNORED}
    assert not {*IGNORED} & {str(path.relative_to(ROOT)) for path in copied()}


def test_it_is_set_up_as_a_checkout_is() -> None:
    made = [rest for rest in arguments_of("RUN") if rest.startswith("make ")]
    assert made == ["make setup"]
    assert "\nsetup: " in (ROOT / "Makefile").read_text()
    assert arguments_of("WORKDIR")[0] == str(PLACE)


def test_its_python_is_one_that_the_project_is_locked_for() -> None:
    (image,) = arguments_of("FROM")
    version = re.fullmatch(r"python:(3\.\d+)-slim-bookworm", image)
    assert version
    assert PROJECT["tool"]["mypy"]["python_version"] == version[1]


def test_its_user_is_not_root_and_is_given_by_number() -> None:
    (user,) = arguments_of("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    words = [found.word for found in instructions()]
    assert words.index("USER") > max(
        place for place, word in enumerate(words) if word in {"RUN", "COPY"}
    )


def test_its_command_is_the_installed_one() -> None:
    (entry,) = arguments_of("ENTRYPOINT")
    (command,) = json.loads(entry)
    assert command == str(PLACE / COMMAND.relative_to(ROOT))
    assert Path(command).name in PROJECT["project"]["scripts"]


def test_the_commands_of_the_pages_run_the_image_that_they_build() -> None:
    lines = [
        line
        for _, _, text in blocks("sh")
        for line in text.replace("\\\n", " ").splitlines()
        if line.startswith("docker ")
    ]
    built = {
        name for line in lines for name in re.findall(r"^docker build.* -t (\S+)", line)
    }
    run = [line for line in lines if line.startswith("docker run ")]
    assert len(run) >= 2
    for line in run:
        assert {*line.split()} & built, line
        assert "--rm" in line.split()


@pytest.mark.nightly(minutes=8)
@pytest.mark.skipif(
    (lacking := lacking_for_other_users()) is not None, reason=f"lacking: {lacking}"
)
def test_what_it_copies_is_enough_for_an_audit_by_another_user() -> None:
    """A folder with nothing else is set up as root, and used by a user without a name.

    The path of the installation is all that differs from the image, and Debian's
    packages, of which this machine may have more.
    """
    settings = dict(rest.split("=", 1) for rest in arguments_of("ENV"))
    (ROOT / "build").mkdir(exist_ok=True)
    with TemporaryDirectory(dir=ROOT / "build", prefix="image-") as name:
        Path(name).chmod(0o755)
        copy_to(Path(name))
        (made,) = [rest for rest in arguments_of("RUN") if rest.startswith("make ")]
        environment = os.environ | settings
        subprocess.run(made.split(), cwd=name, env=environment, check=True)
        command = Path(name) / COMMAND.relative_to(ROOT)
        with other_user(NAMELESS) as user:
            source, out = ROOT / "recordings" / "first-look", user.out / "audit"
            words = (command, "audit", source, "--out", out)
            ran = user.run(*words, variables=settings)
            assert ran.returncode == 0, ran.stderr
            assert not user.kept().exists(), "all kernels are in the image"
            assert (user.out / "audit" / "index.html").exists()
