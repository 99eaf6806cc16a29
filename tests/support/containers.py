"""Read the manifest, and run its container's command without a container runtime.

The container's root is this machine's, read-only, in a mount namespace of its own, with
the volumes where the manifest has them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from tests.support.other_user import as_user, lacking_for_other_users
from tests.support.recipes import COMMAND, RECIPES, ROOT, SECONDS

MANIFEST: Final = RECIPES / "cronjob.yaml"
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""As in the image."""
_SCRIPT: Final = """
place=$1; work=$2; shift 2
mount -t tmpfs none "$place"
mkdir "$place/upper" "$place/work" "$place/root"
layers="lowerdir=/,upperdir=$place/upper,workdir=$place/work"
mount -t overlay none -o "$layers" "$place/root"
while [ "$1" != -- ]; do
  mkdir -p "$place/root$2"
  mount --rbind "$1" "$place/root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$place/root$2"
  shift 3
done
shift
mount -o remount,ro "$place/root"
exec chroot "$place/root" sh -c 'cd "$0" && exec "$@"' "$work" "$@"
"""
"""Folder for the root, working directory, triples of mounts, --, command."""
_PRIVATE: Final = ("unshare", "--mount", "--propagation", "private")
_IN_NAMESPACE: Final = (*_PRIVATE, "sh", "-eu", "-c", _SCRIPT, "sh")

Mounts = Iterable[tuple[str | Path, str | Path, str]]


def documents() -> dict[str, dict[str, Any]]:
    """Return the objects of the manifest by their kind."""
    found = list(yaml.safe_load_all(MANIFEST.read_text()))
    return {document["kind"]: document for document in found}


def pod() -> dict[str, Any]:
    """Return the specification of the pod."""
    job = documents()["CronJob"]["spec"]["jobTemplate"]["spec"]
    return dict(job["template"]["spec"])


def container() -> dict[str, Any]:
    """Return the specification of the pod's container."""
    (found,) = pod()["containers"]
    return dict(found)


def lacking_for_containers() -> str | None:
    """Return why no read-only root can be made; None if one can."""
    if reason := lacking_for_other_users():
        return reason
    if shutil.which("unshare") is None:
        return "unshare (util-linux), for a read-only root"
    ran = _run_in_root([], ["true"], "/")
    return f"mounts, for a read-only root: {ran.stderr}" if ran.returncode else None


def run_container(
    arguments: list[str], volumes: Mapping[str, Path], work: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, with the user and the volumes of the manifest.

    ``volumes`` has folders of this machine by the names in the manifest; their group is
    changed as the manifest states.
    """
    mounts: list[tuple[str | Path, str | Path, str]] = []
    for mount in container()["volumeMounts"]:
        folder = volumes[mount["name"]]
        is_read_only = mount.get("readOnly", False)
        for path in (folder, *folder.iterdir()):
            os.chown(path, 0, pod()["securityContext"]["fsGroup"])
            path.chmod(0o2770 if path.is_dir() else 0o440)
        mounts.append((folder, mount["mountPath"], "ro" if is_read_only else "rw"))
    # The checkout is the image's; a volume such as /tmp can have hidden it.
    mounts += [(ROOT, ROOT, "ro"), ("/proc", "/proc", "rw"), ("/dev", "/dev", "rw")]
    user = as_user(pod()["securityContext"]["runAsUser"])
    command = [*user, "--no-new-privs", str(COMMAND), *arguments]
    return _run_in_root(mounts, command, work)


def _run_in_root(
    mounts: Mounts, command: list[str], work: str
) -> subprocess.CompletedProcess[str]:
    words = [str(word) for triple in mounts for word in triple]
    with TemporaryDirectory() as place:
        return subprocess.run(
            [*_IN_NAMESPACE, place, work, *words, "--", *command],
            env={"PATH": PATH, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
