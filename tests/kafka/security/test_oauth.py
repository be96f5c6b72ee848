"""OAUTHBEARER against a broker that checks signatures: sources of tokens, refusals, renewal."""

import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from socket import create_server

import pytest

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import RequestTrace, read_settings
from tests.support.cli.process import start
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster, free_ports
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.child import WAIT_S
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.token_server import AUDIENCE, CLIENT, ISSUER, SECRET, TokenServer
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, produce
from tests.support.official.running import run_ours

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "a broker that checks tokens; without one: tests/core/kafka/transport/logins/test_tokens.py"
    ),
]

MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
REAUTH_MS = 1_500
"""For the listener with TLS: a process that is held up for that long has to connect anew."""

ENDPOINT = "sasl.oauthbearer.token.endpoint.url"


@pytest.fixture(scope="module")
def tokens() -> Iterator[TokenServer]:
    """The provider of tokens."""
    with TokenServer() as server:
        yield server


def listener(name: str, keys: str) -> dict[str, str]:
    """A listener that takes passwords, and tokens that are signed."""
    start = f"listener.name.{name}"
    oauth = f"{start}.oauthbearer"
    package = "org.apache.kafka.common.security.oauthbearer"
    return {
        f"{start}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
        f"{oauth}.sasl.jaas.config": f"{MODULE};",
        f"{oauth}.sasl.server.callback.handler.class": (
            f"{package}.OAuthBearerValidatorCallbackHandler"
        ),
        f"{oauth}.sasl.oauthbearer.jwks.endpoint.url": keys,
        f"{oauth}.sasl.oauthbearer.expected.audience": AUDIENCE,
        f"{oauth}.sasl.oauthbearer.expected.issuer": ISSUER,
    }


@pytest.fixture(scope="module")
def broker(tokens: TokenServer) -> Iterator[KafkaCluster]:
    """A broker that takes signed tokens; with TLS it wants everybody to log in again soon."""
    keys = tokens.url("keys")
    spec = ClusterSpec(
        protocols=("SASL_PLAINTEXT", "SASL_SSL"),
        properties={
            **listener("sasl_plaintext", keys),
            **listener("sasl_ssl", keys),
            "listener.name.sasl_ssl.connections.max.reauth.ms": str(REAUTH_MS),
        },
        system_properties={"org.apache.kafka.sasl.oauthbearer.allowed.urls": keys},
    )
    with KafkaCluster(spec) as cluster:
        yield cluster


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the properties go."""
    return tmp_path / "client.properties"


def write(file: Path, broker: KafkaCluster, properties: Mapping[str, str]) -> Path:
    """The file with properties of a login by OAUTHBEARER, unless they say otherwise."""
    base = {
        "bootstrap.servers": broker.addresses("SASL_PLAINTEXT"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
    }
    return write_properties_file(file, {**base, **properties})


def spellings(url: str, secret: str = SECRET) -> dict[str, dict[str, str]]:
    """The same client, as Java and librdkafka spell it."""
    java = "sasl.oauthbearer.client.credentials.client"
    extensions = 'extension_logicalCluster="lkc-1" extension_traceId="7"'
    login = f'clientId="{CLIENT}" clientSecret="{secret}" scope="groups" {extensions}'
    return {
        "Java 4.1": {
            ENDPOINT: url,
            f"{java}.id": CLIENT,
            f"{java}.secret": secret,
            "sasl.oauthbearer.scope": "groups",
        },
        "Java before": {
            ENDPOINT: url,
            "sasl.login.callback.handler.class": (
                "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
            ),
            "sasl.jaas.config": f"{MODULE} {login};",
        },
        "librdkafka": {
            "sasl.oauthbearer.method": "oidc",
            ENDPOINT: url,
            "sasl.oauthbearer.client.id": CLIENT,
            "sasl.oauthbearer.client.secret": secret,
            "sasl.oauthbearer.scope": "groups",
            "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,traceId=7",
        },
    }


SPELLINGS = list(spellings(""))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_client_credentials(
    broker: KafkaCluster, tokens: TokenServer, file: Path, spelling: str
) -> None:
    """Over the wire, with one token for all connections, and nothing secret in the trace."""
    url = tokens.url(f"token?for={SPELLINGS.index(spelling)}")
    write(file, broker, spellings(url)[spelling])
    settings = read_settings(None, file)
    before = tokens.issued
    with ClusterAdmin(settings) as admin, ClusterAdmin(settings) as other:
        assert admin.notice is None
        for each in (admin, other):
            assert each.list_groups().cluster_id == broker.cluster_id
    assert tokens.issued == before + 1
    assert tokens.asked[-1] == {"grant_type": "client_credentials", "scope": "groups"}
    told = run("list", "--command-config", str(file), "--debug")
    assert told.exit_code == 0
    assert SECRET not in told.stderr + repr(settings)


@pytest.mark.parametrize("source", ["oidc", "exec"])
def test_librdkafka_gets_the_same_tokens(
    broker: KafkaCluster, tokens: TokenServer, file: Path, source: str
) -> None:
    """What has to go through librdkafka logs in too, and says why where it cannot."""
    kept = file.parent / "token"
    kept.write_text(tokens.token())
    properties = spellings(tokens.url("token?librdkafka"))["librdkafka"]
    if source == "exec":
        properties = {ENDPOINT: f"exec:cat {kept}"}
    settings = read_settings(None, write(file, broker, properties))
    with ClusterAdmin(replace(settings, through_librdkafka=True), timeout_ms=60_000) as admin:
        assert admin.list_groups().cluster_id == broker.cluster_id
    broken = {ENDPOINT: "exec:echo two words"}
    settings = read_settings(None, write(file, broker, broken))
    with (
        ClusterAdmin(replace(settings, through_librdkafka=True)) as admin,
        pytest.raises(KgroupsError) as caught,
    ):
        admin.list_groups()
    assert caught.value.message == "the token command `echo` gave no token"
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("source", ["file", "file URL", "exec", "exec of JSON"])
def test_other_sources(broker: KafkaCluster, tokens: TokenServer, file: Path, source: str) -> None:
    """A token from a file, and what a command prints: the token, or an answer with it."""
    token = tokens.token()
    kept = file.parent / "token"
    kept.write_text(json.dumps({"access_token": token}) if "JSON" in source else f"{token}\n")
    place = {"file": f"file:{kept}", "file URL": f"file://{kept}"}.get(source, f"exec:cat {kept}")
    write(file, broker, {ENDPOINT: place})
    with ClusterAdmin(read_settings(None, file)) as admin:
        assert admin.notice is None
        assert admin.list_groups().cluster_id == broker.cluster_id


def refusal(file: Path, step: str = "token") -> str:
    """The error and the hint with which a command ends, exit code 3, and `ping` at its step."""
    words = ("--command-config", str(file), "--timeout", "60s")
    outcome = run("list", *words)
    assert (outcome.exit_code, outcome.stdout) == (3, ""), outcome
    message = outcome.stderr.partition("\n")[0].removeprefix("error: ")
    ping = run("ping", *words, "-o", "json")
    assert ping.exit_code == 3
    last = ping.document["items"][-1]
    assert (last["step"], last["status"]) == (step, "failed")
    assert last["detail"] == message
    debug = run("list", *words, "--debug")
    for said in (outcome, ping, debug):
        assert SECRET not in said.stdout + said.stderr
        assert "Traceback" not in said.stderr
    return outcome.stderr


def test_wrong_secret(broker: KafkaCluster, tokens: TokenServer, file: Path) -> None:
    """The endpoint said no: which client, and its reason without what it repeats of ours."""
    url = tokens.url("token")
    for properties in spellings(url, "Mistaken-7c2f").values():
        write(file, broker, properties)
        said = refusal(file)
        assert said.startswith(
            f"error: the token endpoint `{url}` rejected the client `{CLIENT}`: "
            "HTTP 401, invalid_client: not: Basic …\n"
        )
        assert "Mistaken" not in said
        assert "hint: check the client id, the client secret and the scope" in said


def test_broken_endpoints(broker: KafkaCluster, tokens: TokenServer, file: Path) -> None:
    """Unknown host, closed port, wrong path, another page, no token, redirection: one sentence."""
    closed = f"http://127.0.0.1:{free_ports(1)[0]}/token"
    tokens.said |= {
        "/missing": (404, "<html>nothing here</html>"),
        "/page": (200, "<html>hello</html>"),
        "/other": (200, '{"id_token": "x"}'),
        "/moved": (302, ""),
        "/odd": (200, '{"access_token": "a\\u0001auth=b"}'),
    }
    cases = {
        "http://issuer.invalid/token": "cannot be reached: the host name is not known",
        closed: "cannot be reached: connection refused",
        tokens.url("missing"): "answered HTTP 404",
        tokens.url("page"): "did not answer with a JSON object",
        tokens.url("other"): "gave no token",
        tokens.url("moved"): "answered HTTP 302",
        tokens.url("odd"): "gave no token",
        tokens.url("keys").replace("http:", "https:"): "cannot be reached: ",
    }
    for url, words in cases.items():
        write(file, broker, spellings(url)["librdkafka"])
        assert refusal(file).startswith(f"error: the token endpoint `{url}` {words}"), url


def test_silent_endpoint(broker: KafkaCluster, file: Path) -> None:
    """One that accepts and never answers costs the time that was given."""
    with closing(create_server(("127.0.0.1", 0))) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/token"
        write(file, broker, spellings(url)["Java 4.1"])
        outcome = run("list", "--command-config", str(file), "--timeout", "700ms")
    assert outcome.exit_code == 3
    assert outcome.stderr.startswith(f"error: the token endpoint `{url}` ")
    assert "in time" in outcome.stderr or "timed out" in outcome.stderr


def test_tokens_that_brokers_refuse(broker: KafkaCluster, tokens: TokenServer, file: Path) -> None:
    """Expired, not valid yet, for somebody else: what is wrong as far as the token tells."""
    kept = file.parent / "token"
    write(file, broker, {ENDPOINT: f"file:{kept}"})
    address = broker.address(1, "SASL_PLAINTEXT")
    start = f"error: {address} rejected the login of `alice` with OAUTHBEARER: "
    cases: list[tuple[dict[str, object], str, str]] = [
        (
            {"iat": 1_700_000_000, "exp": 1_700_000_600},
            "the token expired on 2023-11-14 22:23:20 UTC\n",
            "check this machine's clock",
        ),
        (
            {"nbf": 4_000_000_000, "exp": 4_000_000_600},
            "the token is not valid before 2096-10-02 07:06:40 UTC\n",
            "check the clocks",
        ),
        ({"aud": "somebody-else"}, "invalid_token\n", "audience"),
    ]
    for claims, words, hint in cases:
        token = tokens.token(**claims)
        kept.write_text(token)
        said = refusal(file, "login")
        assert said.startswith(start + words), said
        assert hint in said.partition("hint: ")[2]
        assert token not in said


def test_broken_files_and_commands(broker: KafkaCluster, file: Path) -> None:
    """What is wrong with the source, before the broker hears anything of a login."""
    odd = file.parent / "odd"
    odd.write_text("two words\n")
    cases = {
        f"file:{file.parent}/none": "cannot be read: no such file or directory",
        f"file:{odd}": f"the token file `{odd}` gave no token",
        "exec:no-such-program-here x": "`no-such-program-here` cannot be run",
        "exec:sh -c 'echo locked >&2; exit 3'": "no token: `sh` failed with exit code 3: locked",
        "exec:echo two words": "the token command `echo` gave no token",
    }
    for place, words in cases.items():
        write(file, broker, {ENDPOINT: place})
        assert words in refusal(file).partition("\n")[0], place


def test_no_command_from_a_file_that_others_write(broker: KafkaCluster, file: Path) -> None:
    """Nobody else decides what runs."""
    write(file, broker, {ENDPOINT: "exec:echo x"})
    file.chmod(0o620)
    outcome = run("list", "--command-config", str(file))
    assert outcome.exit_code == 2
    assert "`exec:` is not run from a file that other users can change" in outcome.stderr


def test_no_secret_is_kept(
    broker: KafkaCluster, tokens: TokenServer, file: Path, tmp_path: Path
) -> None:
    """Neither in the undo file of a write, nor in the log of writes, nor in what they print."""
    create_topics(broker.bootstrap, {"kept": 1})
    produce(broker.bootstrap, {("kept", 0): 5})
    commit_offsets(broker.bootstrap, {"keeper": {("kept", 0): 3}})
    write(file, broker, spellings(tokens.url("token?kept"))["librdkafka"])
    state = tmp_path / "state"
    line = ("reset-offsets", "keeper", "--topic", "kept:0", "--to", "1", "--yes", "--debug")
    way = ("--command-config", str(file), "--timeout", "60s")
    done = run(*line, *way, env={"XDG_STATE_HOME": str(state)})
    assert done.exit_code == 0, done
    token = tokens.given[-1]
    written = [each.read_text() for each in state.rglob("*") if each.is_file()]
    assert any("keeper" in text for text in written)
    for text in (*written, done.stdout, done.stderr):
        assert SECRET not in text
        assert token not in text


def test_the_official_grammar(broker: KafkaCluster, tokens: TokenServer, file: Path) -> None:
    """Logs in too, and fails with a sentence of ours in its frame."""
    write(file, broker, spellings(tokens.url("token?official"))["Java before"])
    words = [
        "--bootstrap-server",
        broker.addresses("SASL_PLAINTEXT"),
        "--command-config",
        str(file),
    ]
    assert run_ours([*words, "--list"]).status == 0
    write(file, broker, spellings(tokens.url("token"), "Mistaken-7c2f")["Java before"])
    told = run_ours([*words, "--list"])
    assert (told.status, told.stdout) == (1, "")
    assert "SaslAuthenticationException: There is no token to log in with." in told.stderr
    assert "check the client id" in told.stderr
    assert "Mistaken" not in told.stderr
    assert "Traceback" not in told.stderr


def counted(traces: list[RequestTrace], api: str) -> int:
    """How often an API was asked."""
    return sum(each.api == api for each in traces)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_a_login_is_renewed(
    broker: KafkaCluster, tokens: TokenServer, file: Path, mechanism: str
) -> None:
    """On the same connections, before the broker closes them (KIP-368)."""
    properties = broker.librdkafka_settings("SASL_SSL", mechanism=mechanism)
    if mechanism == "OAUTHBEARER":
        properties |= spellings(tokens.url("token?renewed"))["Java 4.1"]
    traces: list[RequestTrace] = []
    settings = replace(read_settings(None, write(file, broker, properties)), trace=traces.append)
    with ClusterAdmin(settings, timeout_ms=60_000) as admin:

        def is_renewed() -> bool:
            with suppress(KgroupsError):  # held up for too long: it connects anew
                admin.list_groups()
            return counted(traces, "SaslHandshake") >= counted(traces, "ApiVersions") + 2

        wait_until(is_renewed, "logins to be renewed twice")


def test_watching_outlives_tokens(broker: KafkaCluster, tokens: TokenServer, file: Path) -> None:
    """New tokens are got while `--watch` goes on, and it goes on with them."""
    write(file, broker, spellings(tokens.url("token?watch"))["librdkafka"])
    tokens.lifetime_s, before = 4.0, tokens.issued
    line = ("list", "--watch", "200ms", "-o", "jsonl", "--timeout", "60s")
    try:
        with start(*line, "--command-config", str(file)) as process:
            documents = (json.loads(process.line()) for _ in range(1_000))
            good = (each for each in documents if not each["errors"])
            assert any(tokens.issued >= before + 3 for _ in good)
            assert next(good)["summary"] is not None
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=WAIT_S)
    finally:
        tokens.lifetime_s = 600.0
