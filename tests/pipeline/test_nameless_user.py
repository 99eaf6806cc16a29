"""What Spark receives from a user without a name."""

from __future__ import annotations

import os
import pwd

import pytest

from pipeline import session
from pipeline.nameless_user import home_option, is_nameless, name_of_user
from rebalance import OutsideError


@pytest.fixture(autouse=True)
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    for name in ("SPARK_USER", "HADOOP_USER_NAME", "HOME"):
        monkeypatch.delenv(name, raising=False)


def test_a_user_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_nameless()
    monkeypatch.undo()
    assert not is_nameless()


def test_the_name_is_a_given_one_or_the_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert name_of_user() == str(os.geteuid())
    monkeypatch.setenv("HADOOP_USER_NAME", "hdfs")
    assert name_of_user() == "hdfs"
    monkeypatch.setenv("SPARK_USER", "spark")
    assert name_of_user() == "spark"


@pytest.mark.parametrize(
    ("home", "option"),
    [
        ("/data/a home", "'-Duser.home=/data/a home'"),
        ("home", "-Duser.home=/nonexistent"),
        ("", "-Duser.home=/nonexistent"),
    ],
)
def test_java_has_an_absolute_home(
    monkeypatch: pytest.MonkeyPatch, home: str, option: str
) -> None:
    monkeypatch.setenv("HOME", home)
    assert home_option() == option


def test_a_session_on_a_cluster_states_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, str] = {}

    def stop(settings: dict[str, str]) -> None:
        seen.update(settings, user=os.environ["SPARK_USER"])
        raise OSError("stopped here")

    monkeypatch.setattr(session, "log_in", stop)
    with pytest.raises(OutsideError, match="on yarn: stopped here"):
        session.spark_context("yarn", "an audit")
    assert (seen["spark.master"], seen["spark.app.name"]) == ("yarn", "an audit")
    assert "-Duser.home=/nonexistent" in seen["spark.driver.extraJavaOptions"]
    assert seen["user"] == str(os.geteuid())
    assert "SPARK_USER" not in os.environ
