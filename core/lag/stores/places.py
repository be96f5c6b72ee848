"""Where tables are kept: a local folder, or one in an object store or HDFS (through delta-rs).

A store's options are those of delta-rs: what the environment says of its kind (`AWS_*`, `GOOGLE_*`,
`AZURE_*`), and how long anything may take. No Hadoop and no Java. Nothing here, and nothing that is
shown of it, tells a value of an option: some are secrets.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from kgroups.core.errors import (
    ClusterError,
    KgroupsError,
    NotFoundError,
    UsageError,
    shorten,
)

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


class Kind(NamedTuple):
    """A kind of store.

    Args:
        scheme: as delta-rs spells it.
        prefix: of the variables that say how to enter it; None: it has files of its own for that.
        login: the variables that it takes as a rule, for hints.
    """

    scheme: str
    prefix: str | None
    login: str


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "s3": Kind("s3", "AWS_", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"),
        "s3a": Kind("s3", "AWS_", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"),
        "gs": Kind("gs", "GOOGLE_", "GOOGLE_APPLICATION_CREDENTIALS"),
        "abfss": Kind("abfss", "AZURE_", "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN"),
        "hdfs": Kind("hdfs", None, "HADOOP_CONF_DIR, and a ticket where it asks for Kerberos"),
    }
)
"""By the schemes that users write."""

# `s3a://bucket/key`, and what is left of it where a shell or a script has tidied it.
_URI: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/.*)", re.DOTALL)
_FORMS: Final = "a local folder, file:///…, " + ", ".join(f"{scheme}://…" for scheme in KINDS)
# Requests that fail at once are tried so often; a store that does not answer is asked once.
RETRIES: Final = 3
TIMEOUT_MS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Store:
    """A folder in an object store or HDFS; small, so that it travels to Spark's tasks.

    Args:
        uri: as delta-rs takes it, without a slash at its end.
        kind: of which kind it is.
        options: how to enter it, as delta-rs spells them.
        timeout_ms: how long a request may take.
    """

    uri: str
    kind: Kind
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_ms: int = TIMEOUT_MS

    def __truediv__(self, name: str) -> "Store":
        return replace(self, uri=f"{self.uri}/{name}")

    def __str__(self) -> str:
        return self.uri

    @property
    def storage_options(self) -> dict[str, str]:
        """Options for delta-rs, whose own time limits are minutes."""
        limits = dict.fromkeys(("timeout", "connect_timeout", "retry_timeout"), self.timeout_ms)
        return {
            "max_retries": str(RETRIES),
            "backoff_config.max_backoff": "1s",
            **{name: f"{ms}ms" for name, ms in limits.items()},
            **self.options,
        }

    def files(self) -> "FileSystem":
        """The folder as a file system of Arrow's.

        Raises:
            KgroupsError: an option cannot be understood.
        """
        from deltalake.fs import DeltaStorageHandler
        from pyarrow.fs import PyFileSystem

        with failures_told(self):
            return PyFileSystem(DeltaStorageHandler(self.uri, self.storage_options))


Place = Path | Store


def parse_place(text: str, environ: Mapping[str, str]) -> Place:
    """A local folder, or a store with what the environment says of it.

    Raises:
        UsageError: a URI of another kind, or without a bucket.
    """
    match = _URI.match(text)
    if match is None:
        return Path(text).expanduser()
    scheme, rest = match[1].lower(), match[2]
    is_whole = rest.startswith("//")
    if scheme == "file" and not (is_whole and urlsplit(text).netloc not in ("", "localhost")):
        return Path(unquote(urlsplit(text).path))
    kind = KINDS.get(scheme)
    authority = rest[2:].split("/", 1)[0] if is_whole else ""
    if kind is None or not authority:
        raise UsageError(
            f"`{shorten(text)}` "
            + ("is no kind of store that is known" if kind is None else "names no bucket"),
            hint=f"one of {_FORMS}",
        )
    if ("@" in authority and kind.scheme != "abfss") or re.search(r"[?#\s]", rest):
        raise UsageError(
            "the URI of a store has no login, no query and no spaces",
            hint=f"the login is taken from the environment: {kind.login}",
        )
    options = {
        name: value
        for name, value in environ.items()
        if kind.prefix is not None and name.startswith(kind.prefix) and value
    }
    return Store(f"{kind.scheme}:{rest.rstrip('/')}", kind, options)


def within(place: Place, timeout_ms: int) -> Place:
    """The same place, whose requests take no longer than this."""
    return replace(place, timeout_ms=timeout_ms) if isinstance(place, Store) else place


def storage_options(place: Place) -> dict[str, str] | None:
    """Options for delta-rs for a place; None for a local one."""
    return place.storage_options if isinstance(place, Store) else None


def key_in(place: Place, path: str) -> str:
    """A file's path as the place's own file system has it."""
    return path.removeprefix(f"{place}/") if isinstance(place, Store) else path


def parquet_source(place: Place) -> dict[str, Any]:
    """The file system of a place, for Arrow's readers and writers of Parquet."""
    return {"filesystem": place.files()} if isinstance(place, Store) else {}


def has_tables(store: Store) -> bool:
    """Whether a store has tables of captures: one request.

    Raises:
        NotFoundError: the bucket does not exist.
        ClusterError: the store cannot be reached or entered, or does not answer.
    """
    from pyarrow.fs import FileType

    with failures_told(store):
        (info,) = store.files().get_file_info(["captures/_delta_log"])
    return bool(info.type != FileType.NotFound)


def sizes_in(store: Store, folders: Iterable[str]) -> dict[str, int]:
    """How many bytes the files of some of its folders have: a request a folder.

    Args:
        folders: as URIs.
    Returns:
        By the files' URIs.
    Raises:
        KgroupsError: the store failed.
    """
    from pyarrow.fs import FileSelector

    sizes = {}
    with failures_told(store):
        files = store.files()
        for folder in folders:
            for info in files.get_file_info(FileSelector(key_in(store, folder))):
                sizes[f"{store}/{info.path}"] = info.size
    return sizes


def split_file(store: Store) -> tuple[Store, str]:
    """The folder of a single file, and its name there.

    Raises:
        UsageError: the URI has a bucket and no file.
    """
    folder, _, name = store.uri.rpartition("/")
    if folder.endswith("/"):
        raise UsageError(
            f"`{store}` names no file", hint=f"for example {store.kind.scheme}://bucket/lag.parquet"
        )
    return replace(store, uri=folder), name


def check_file(store: Store) -> None:
    """See that a store can be reached, before the work that fills a file of it.

    Raises:
        UsageError: it names no file, or a folder.
        NotFoundError: the bucket does not exist.
        ClusterError: the store cannot be reached or entered, or does not answer.
    """
    from pyarrow.fs import FileType

    folder, name = split_file(store)
    with failures_told(store):
        (info,) = folder.files().get_file_info([name])
    if info.type == FileType.Directory:
        raise UsageError(f"`{store}` cannot be written: it is a folder", hint="name a file in it")


# --- what fails --------------------------------------------------------------------------------


class Cause(NamedTuple):
    """The error that a failure of a store stands for.

    Args:
        sign: what delta-rs says of it.
        error: how the command ends.
        text, hint: `{place}`, `{login}`, `{timeout}` and `{why}` stand for what they are.
    """

    sign: re.Pattern[str]
    error: type[KgroupsError]
    text: str
    hint: str


def _cause(sign: str, error: type[KgroupsError], text: str, hint: str) -> Cause:
    return Cause(re.compile(sign), error, text, hint)


CAUSES: Final = (
    _cause(
        "Object at location .* not found",
        KgroupsError,
        "captures at `{place}` were removed while they were read",
        "try again",
    ),
    _cause(
        "NoSuchBucket|ContainerNotFound|bucket does not exist|FilesystemNotFound",
        NotFoundError,
        "the bucket of `{place}` does not exist",
        "check its name, region and endpoint",
    ),
    _cause(
        # Where cloud machines ask for a login of their own: the last thing that is tried.
        r"169\.254\.169\.254|/latest/api/token|metadata\.google|no providers in chain"
        "|CredentialsNotLoaded|credential provider",
        ClusterError,
        "no login for `{place}`",
        "set {login}",
    ),
    _cause(
        "403 Forbidden|401 Unauthorized|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch"
        "|AuthenticationFailed|[Cc]redential|Permission denied",
        ClusterError,
        "not authorized at `{place}`",
        "check {login}, and the rights on the bucket",
    ),
    _cause(
        "operation timed out|deadline has elapsed",
        ClusterError,
        "`{place}` did not answer in {timeout} s",
        "increase --timeout, or check the endpoint",
    ),
    _cause(
        "URL scheme is not allowed",
        UsageError,
        "`{place}` is reached without TLS, which has to be allowed",
        "set AWS_ALLOW_HTTP=true, or use an endpoint with https",
    ),
    _cause(
        r"error sending request|tcp connect error|dns error|Connection (refused|reset)|os error",
        ClusterError,
        "`{place}` cannot be reached: {why}",
        "check the network, and the endpoint if the environment names one",
    ),
)


@contextmanager
def failures_told(place: Place | None) -> Iterator[None]:
    """A block in which a store may fail; what fails in a local folder is left to the caller.

    Raises:
        KgroupsError: what the store's failure means.
    """
    try:
        yield
    except OSError as exc:
        if isinstance(place, Store):
            raise store_failure(place, exc) from exc
        raise


def is_of_store(said: str) -> bool:
    """Whether an error that came through others is that of a store."""
    return re.search(r"Generic \w+ error|Object at location", said) is not None


def store_failure(place: Place, exc: BaseException) -> KgroupsError:
    """The failure of a store as one sentence, without credentials."""
    said, store = str(exc), place if isinstance(place, Store) else None
    why = _last_cause(said, store)
    parts = {
        "place": shorten(str(place)),
        "login": store.kind.login if store else "",
        "timeout": f"{store.timeout_ms / 1000:g}" if store else "",
        "why": why,
    }
    for cause in CAUSES:
        if cause.sign.search(said):
            return cause.error(cause.text.format(**parts), hint=cause.hint.format(**parts))
    return KgroupsError(f"`{parts['place']}` failed: {why}", code="STORE_FAILED")


def _last_cause(said: str, store: Store | None) -> str:
    """The innermost cause of an error of delta-rs, without addresses and logins."""
    plain = re.sub(r"\x1b\[[0-9;]*m|↳", "", said)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("<")]  # the answer's XML
    why = lines[-1] if lines else "no reason given"
    why = re.sub(r"https?://\S+", "(address)", why)
    for value in store.options.values() if store else ():
        if len(value) > 3:
            why = why.replace(value, "…")
    return shorten(re.sub(r" \(os error \d+\)", "", why).rstrip("."))
