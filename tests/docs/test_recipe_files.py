"""The scripts of the recipes pass on their variables, and the page has all files."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.pipeline.cluster.hdfs import MINICLUSTER
from tests.pipeline.cluster.standalone import SPARK_HOME
from tests.support.recipes import RECIPES
from tools.s3_jars import FOLDER, S3_JARS

SCRIPTS = sorted(RECIPES.glob("*.sh"))
SPY = """#!/bin/sh
echo "$@"
echo "$SPARK_CONF_DIR|$HADOOP_CONF_DIR|$SPARK_DIST_CLASSPATH"
exit 4
"""


def test_the_page_has_every_file() -> None:
    text = (RECIPES / "README.md").read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    named = {link for link in links if not link.startswith("../")}
    files = {p.relative_to(RECIPES).as_posix() for p in RECIPES.rglob("*.*")}
    assert {name for name in named if not name.startswith("../")} == files - {
        "README.md"
    }
    assert {script.name for script in SCRIPTS} == {"hdfs.sh", "s3.sh", "standalone.sh"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_pass_on_options_and_the_exit_code(
    script: Path, tmp_path: Path
) -> None:
    spy = tmp_path / "a spy"
    spy.write_text(SPY)
    spy.chmod(0o755)
    given = {"PATH": os.environ["PATH"], "ORACLE": str(spy), "OUT": "out"}
    given |= {"RECORDS": "records", "MASTER": "spark://h:1", "JARS": "jars"}
    ended = subprocess.run(
        [script, "--since", "24h"],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 4, ended.stderr
    said, settings = ended.stdout.splitlines()
    master = " --master spark://h:1" if script.stem == "standalone" else ""
    assert said == f"audit records --out out{master} --since 24h"
    assert (
        settings
        == {
            "hdfs": "|/etc/hadoop/conf|",
            "s3": f"{RECIPES}/s3||jars/*",
            "standalone": f"{RECIPES}/standalone||",
        }[script.stem]
    )


def test_hadoop_is_that_of_spark() -> None:
    """Hadoop's modules of different versions do not fit together."""
    (client,) = (SPARK_HOME / "jars").glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    of_s3 = [jar.version for jar in S3_JARS if jar.group == "org.apache.hadoop"]
    assert of_s3 == [version]
    assert MINICLUSTER.version == version
    assert f"({version} of pyspark" in (RECIPES / "README.md").read_text()


def test_the_jars_are_where_the_script_looks_for_them() -> None:
    place = f"/opt/assignor-oracle/{FOLDER.relative_to(FOLDER.parents[1])}"
    assert f'"${{JARS:={place}}}"' in (RECIPES / "s3.sh").read_text()
