"""Masters as Spark spells them, `--conf`, and the settings that a machine has for every job."""

from pathlib import Path

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.spark.settings import Master, parse_master, parse_settings, spark_defaults
from tests.support.cli.runner import run

HADOOP = {"HADOOP_CONF_DIR": "/etc/hadoop"}


@pytest.mark.parametrize(
    ("text", "master"),
    [
        ("local", Master("local")),
        ("local[2]", Master("local")),
        ("local[*]", Master("local")),
        ("local[*, 3]", Master("local")),
        ("local-cluster[2,1,1024]", Master("local")),
        ("spark://a", Master("standalone", (("a", 7077),))),
        ("spark://a:1,b:2", Master("standalone", (("a", 1), ("b", 2)))),
        ("yarn", Master("yarn")),
        ("k8s://https://api:6443", Master("kubernetes", (("api", 6443),))),
        ("k8s://http://api/", Master("kubernetes", (("api", 80),))),
        ("k8s://api", Master("kubernetes", (("api", 443),))),
    ],
)
def test_masters(text: str, master: Master) -> None:
    """Each that Spark knows, with where it has to answer."""
    assert parse_master(text, HADOOP) == master


@pytest.mark.parametrize("text", ["locally", "local[]", "mesos://a", "spark://a:99999", "k8s://"])
def test_what_is_no_master(text: str) -> None:
    """Told with those that are."""
    with pytest.raises(UsageError) as failure:
        parse_master(text, HADOOP)
    assert failure.value.hint


def test_yarn_without_a_cluster() -> None:
    """Where it is stands in Hadoop's files, so their folder has to be named."""
    with pytest.raises(UsageError, match="requires the settings of a Hadoop cluster"):
        parse_master("yarn", {})


def test_settings_of_the_command_line() -> None:
    """A value may hold `=`, and the last of a key counts."""
    texts = ["spark.a=1", "spark.b=-Dx=y", "spark.a=2"]
    assert parse_settings(texts) == {"spark.a": "2", "spark.b": "-Dx=y"}


@pytest.mark.parametrize("text", ["spark.authenticate.secret", "hadoop.key=s3cret", "=s3cret"])
def test_what_is_no_setting(text: str) -> None:
    """Refused without its value."""
    ended = run("lag", "report", "-b", "127.0.0.1:1", "--conf", text)
    assert ended.exit_code == 2
    assert "is not a setting of Spark" in ended.stderr
    assert "s3cret" not in ended.stderr


@pytest.mark.parametrize("variable", ["SPARK_CONF_DIR", "SPARK_HOME"])
def test_settings_of_the_machine(tmp_path: Path, variable: str) -> None:
    """Lines as Spark reads them: blanks, `=` or `:`, comments; no file is no settings."""
    folder = tmp_path if variable == "SPARK_CONF_DIR" else tmp_path / "conf"
    folder.mkdir(exist_ok=True)
    assert spark_defaults({variable: str(tmp_path)}) == {}
    (folder / "spark-defaults.conf").write_text(
        "# of this machine\n\nspark.master   spark://a:7077\n  spark.x=1 2 \n! no\nspark.y: z\n"
    )
    assert spark_defaults({variable: str(tmp_path)}) == {
        "spark.master": "spark://a:7077",
        "spark.x": "1 2",
        "spark.y": "z",
    }
    assert spark_defaults({}) == {}
