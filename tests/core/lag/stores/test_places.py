"""Folders and stores by their URIs: which there are, what enters them, what their failures mean."""

from pathlib import Path

import pytest

from kgroups.core.errors import ClusterError, KgroupsError, NotFoundError, UsageError
from kgroups.core.lag.stores.places import Store, parse_place, store_failure, within

ENVIRONMENT = {
    "AWS_REGION": "eu-west-1",
    "AWS_SECRET_ACCESS_KEY": "s3cret",
    "GOOGLE_APPLICATION_CREDENTIALS": "/keys/me.json",
    "AZURE_STORAGE_ACCOUNT_KEY": "k3y",
    "HOME": "/home/me",
    "AWS_PROFILE": "",
}


@pytest.mark.parametrize(
    ("text", "uri", "options"),
    [
        ("s3://b/k/", "s3://b/k", {"AWS_REGION", "AWS_SECRET_ACCESS_KEY"}),
        ("s3a://b", "s3://b", {"AWS_REGION", "AWS_SECRET_ACCESS_KEY"}),
        ("S3A://b/k", "s3://b/k", {"AWS_REGION", "AWS_SECRET_ACCESS_KEY"}),
        ("gs://b/k", "gs://b/k", {"GOOGLE_APPLICATION_CREDENTIALS"}),
        (
            "abfss://c@account.dfs.core.windows.net/k",
            "abfss://c@account.dfs.core.windows.net/k",
            {"AZURE_STORAGE_ACCOUNT_KEY"},
        ),
        ("hdfs://name:8020/lag", "hdfs://name:8020/lag", set()),
    ],
)
def test_a_store_takes_what_the_environment_says_of_its_kind(
    text: str, uri: str, options: set[str]
) -> None:
    """And nothing of another kind, nothing empty; none of it is shown."""
    store = parse_place(text, ENVIRONMENT)
    assert isinstance(store, Store)
    assert str(store) == uri
    assert store.options == {name: ENVIRONMENT[name] for name in options}
    assert str(store / "rows") == f"{uri}/rows"
    assert not any(ENVIRONMENT[name] in repr(store) for name in options)


def test_nothing_takes_longer_than_it_may() -> None:
    """Each limit of delta-rs, which are minutes, is set; what the environment says comes first."""
    store = within(parse_place("s3://b/k", {"AWS_X": "y"}), 2_500)
    assert isinstance(store, Store)
    assert store.storage_options == {
        "timeout": "2500ms",
        "connect_timeout": "2500ms",
        "retry_timeout": "2500ms",
        "max_retries": "3",
        "backoff_config.max_backoff": "1s",
        "AWS_X": "y",
    }


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/data/lag", "/data/lag"),
        ("lag", "lag"),
        ("~/lag", str(Path("~/lag").expanduser())),
        ("file:///data/my%20lag", "/data/my lag"),
        ("file://localhost/data", "/data"),
        ("file:/data", "/data"),
    ],
)
def test_local_folders(text: str, path: str) -> None:
    """Paths, and `file:` in each of its spellings."""
    assert parse_place(text, ENVIRONMENT) == Path(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("s3:/b/k", "names no bucket"),
        ("s3:///k", "names no bucket"),
        ("ftp://host/k", "is no kind of store that is known"),
        ("file://elsewhere/k", "is no kind of store that is known"),
        ("s3://who:s3cret@b/k", "no login"),
        ("s3://b/k?secret=s3cret", "no query"),
    ],
)
def test_what_is_no_place(text: str, said: str) -> None:
    """Never a local folder in the name of a bucket, and never a secret in a message."""
    with pytest.raises(UsageError) as failure:
        parse_place(text, ENVIRONMENT)
    assert said in failure.value.message
    assert failure.value.hint
    assert "s3cret" not in failure.value.message + failure.value.hint


@pytest.mark.parametrize(
    ("said", "error", "text"),
    [
        ("... <Code>NoSuchBucket</Code>", NotFoundError, "the bucket of `gs://b/k` does not exist"),
        ("GET http://169.254.169.254/x", ClusterError, "no login for `gs://b/k`"),
        ("403 Forbidden", ClusterError, "not authorized at `gs://b/k`"),
        ("operation timed out", ClusterError, "`gs://b/k` did not answer in 10 s"),
        (
            "error sending request\n ↳ tcp connect error\n ↳ Connection refused (os error 111)",
            ClusterError,
            "`gs://b/k` cannot be reached: Connection refused",
        ),
        (
            "Generic GCS error\n ↳ at https://u:p@h/x?sig=abc with tok3n",
            KgroupsError,
            "`gs://b/k` failed: at (address) with …",
        ),
    ],
)
def test_failures_of_stores(said: str, error: type[KgroupsError], text: str) -> None:
    """Each in one sentence, without addresses and without what the environment holds."""
    store = parse_place("gs://b/k", {"GOOGLE_TOKEN": "tok3n"})
    failure = store_failure(store, OSError(said))
    assert type(failure) is error
    assert failure.message == text
