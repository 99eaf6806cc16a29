"""The recipes for a standalone cluster, HDFS, and S3, with real partners."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyarrow.fs import FileSelector, S3FileSystem, copy_files

from tests.pipeline.cluster.commands import (
    ROOT,
    SOURCE,
    assert_same_rows,
    run_of,
)
from tests.pipeline.cluster.hdfs import running_hdfs
from tests.pipeline.cluster.s3 import KEYS, REGION, running_s3
from tests.pipeline.cluster.standalone import standalone_cluster
from tests.support.recipes import RECIPES, copied, run_recipe
from tools.s3_jars import make_s3_jars

ON_TWO_CORES = ("--master", "local[2]")

pytestmark = pytest.mark.nightly(minutes=4)


def test_a_standalone_cluster(expected: Path, tmp_path: Path) -> None:
    with standalone_cluster(tmp_path) as url:
        out = tmp_path / "out"
        variables = {"MASTER": url, "RECORDS": str(ROOT / SOURCE), "OUT": str(out)}
        ended = run_recipe(RECIPES / "standalone.sh", variables=variables)
    assert ended.returncode == 0, ended.stderr
    assert_same_rows(out, expected)
    assert run_of(out)["master"] == url
    assert run_of(out)["cores"] == 3


def test_hdfs(expected: Path, tmp_path: Path) -> None:
    script = RECIPES / "hdfs.sh"
    with running_hdfs(tmp_path) as hdfs:
        hdfs.shell("-mkdir", "-p", "/kafka", "/audits")
        hdfs.shell("-put", ROOT / SOURCE, "/kafka/consumer-offsets")
        variables = {"HADOOP_CONF_DIR": str(hdfs.configuration)}
        ended = run_recipe(script, *ON_TWO_CORES, variables=variables)
        assert ended.returncode == 0, ended.stderr
        hdfs.shell("-get", "/audits/kafka", tmp_path / "out")
        assert "unfinished" not in hdfs.shell("-ls", "-R", "/audits")

        other = variables | {"HADOOP_USER_NAME": "another", "OUT": f"{hdfs.uri}/a"}
        ended = run_recipe(script, *ON_TWO_CORES, variables=other)
        assert ended.returncode == 2
        assert ended.stderr.startswith(f"assignor-oracle: {hdfs.uri}/a: Permission ")
        assert len(ended.stderr.splitlines()) == 1
    assert_same_rows(tmp_path / "out", expected, moved=True)
    assert (tmp_path / "out" / "index.html").is_file()


def test_s3(expected: Path, tmp_path: Path) -> None:
    """The second audit replaces the first, in the root of a bucket."""
    jars, metrics = make_s3_jars(), tmp_path / "audit.prom"
    with running_s3() as endpoint:
        values = {"https://s3.example.org": endpoint, "us-east-1": REGION}
        script = copied(tmp_path, values) / "s3.sh"
        bucket = S3FileSystem(
            access_key=KEYS["AWS_ACCESS_KEY_ID"],
            secret_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            region=REGION,
            endpoint_override=endpoint,
            allow_bucket_creation=True,
        )
        for name in ("kafka", "audits"):
            bucket.create_dir(name)
        copy_files(
            str(ROOT / SOURCE), "kafka/consumer-offsets", destination_filesystem=bucket
        )
        variables = KEYS | {"JARS": str(jars), "OUT": "s3a://audits"}
        for more in ((), ("--metrics", str(metrics), "--fail-on", "invalid")):
            ended = run_recipe(script, *ON_TWO_CORES, *more, variables=variables)
            assert ended.returncode == 0, ended.stderr
            assert "spark:" not in ended.stderr
        copy_files("audits", str(tmp_path / "out"), source_filesystem=bucket)
        places = bucket.get_file_info(FileSelector("audits", recursive=True))
        assert not [place.path for place in places if "/." in place.path]

        ended = run_recipe(
            script, *ON_TWO_CORES, variables=variables | {"OUT": "s3a://absent"}
        )
        assert ended.returncode == 2
        said = ended.stderr.splitlines()[-1]
        assert said.startswith("assignor-oracle: s3a://absent: ")
        assert "bucket does not exist" in said
    assert_same_rows(tmp_path / "out", expected, moved=True)
    assert (tmp_path / "out" / "index.html").is_file()
    families = text_string_to_metric_families(metrics.read_text())
    names = {family.name for family in families}
    assert "assignor_oracle_audit_timestamp_seconds" in names
