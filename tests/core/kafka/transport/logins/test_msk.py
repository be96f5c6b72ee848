"""Amazon MSK: what goes over the wire is signed as botocore signs it; credentials that are none."""

import base64
import urllib.parse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from kgroups.core import extras
from kgroups.core.errors import UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import read_settings
from tests.support.cli.runner import Outcome, run
from tests.support.hostile.scripted_broker import ScriptedBroker
from tests.support.kafka.settings import write_properties_file

KEY_ID, SECRET, SESSION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "sess/ion=="
MODULE: Final = "software.amazon.msk.auth.iam.IAMLoginModule required"
IAM: Final = {"sasl.mechanism": "AWS_MSK_IAM", "sasl.jaas.config": f"{MODULE};"}
HANDLER: Final = {
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.login.callback.handler.class": (
        "software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler"
    ),
}


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials but those that a test gives."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials in the environment."""
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    """One that lets everybody in."""
    good = {"error_code": 0, "error_message": None, "auth_bytes": b""}
    answers: dict[str, Any] = {
        "sasl_handshake": lambda *_: {"error_code": 0, "mechanisms": ("OAUTHBEARER",)},
        "sasl_authenticate": lambda *_: {**good, "session_lifetime_ms": 0},
        "metadata": lambda *_: {
            "throttle_time_ms": 0,
            "brokers": (),
            "cluster_id": "c",
            "controller_id": 1,
            "topics": (),
        },
    }
    with ScriptedBroker(answers) as scripted:
        yield scripted


def write(file: Path, address: str, properties: dict[str, str]) -> Path:
    """A properties file for the broker."""
    given = {"bootstrap.servers": address, "security.protocol": "SASL_PLAINTEXT", **properties}
    return write_properties_file(file, given)


def listed(file: Path, *more: str) -> Outcome:
    """How a listing ends."""
    return run("list", "--command-config", str(file), "--timeout", "60s", *more)


def sent(broker: ScriptedBroker) -> urllib.parse.SplitResult:
    """The signed URL in the first message of the login."""
    names = [(name, request) for name, _, request in broker.seen]
    mechanism = next(request.mechanism for name, request in names if name == "sasl_handshake")
    assert mechanism == "OAUTHBEARER"
    message = next(request.auth_bytes for name, request in names if name == "sasl_authenticate")
    start, _, rest = message.decode().partition("\x01auth=Bearer ")
    token, _, end = rest.partition("\x01")
    assert (start, end) == ("n,,", "\x01")
    return urllib.parse.urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())


@pytest.mark.parametrize("properties", [IAM, HANDLER], ids=["mechanism", "handler"])
@pytest.mark.usefixtures("ours")
def test_what_is_sent_is_signed(
    broker: ScriptedBroker, tmp_path: Path, properties: dict[str, str]
) -> None:
    """Action, region and time, with the signature that botocore computes of them."""
    file = write(tmp_path / "p", broker.address, properties)
    told = listed(file, "--debug")
    url = sent(broker)
    assert (url.scheme, url.netloc) == ("https", "kafka.eu-central-1.amazonaws.com")
    fields = dict(urllib.parse.parse_qsl(url.query))
    assert fields["Action"] == "kafka-cluster:Connect"
    assert fields["X-Amz-Credential"].startswith(f"{KEY_ID}/")
    credentials = Credentials(KEY_ID, SECRET, SESSION)
    signer = SigV4QueryAuth(credentials, "kafka-cluster", "eu-central-1", expires=900)
    given = {
        name: value
        for name, value in fields.items()
        if name not in ("X-Amz-Signature", "User-Agent")
    }
    query = urllib.parse.urlencode(given, quote_via=urllib.parse.quote)
    request = AWSRequest("GET", f"https://{url.netloc}/?{query}")
    request.context["timestamp"] = fields["X-Amz-Date"]
    text = signer.string_to_sign(request, signer.canonical_request(request))
    assert signer.signature(text, request) == fields["X-Amz-Signature"]
    assert SECRET not in told.stderr + url.geturl()
    assert fields["X-Amz-Signature"] not in told.stderr


@pytest.mark.parametrize(
    "host",
    [
        "b-1.shop.a1b2c3.c2.kafka.us-west-2.amazonaws.com",
        "boot-x.c1.kafka-serverless.us-west-2.amazonaws.com",
    ],
)
@pytest.mark.usefixtures("ours")
def test_the_brokers_name_their_region(tmp_path: Path, host: str) -> None:
    """It wins over the environment's."""
    from kgroups.core.kafka.transport.logins.token_keeper import keeper_of

    settings = read_settings(None, write(tmp_path / "p", f"{host}:9098", IAM))
    assert settings.oauth is not None
    token = keeper_of(settings.oauth).obtain(60)
    text = base64.urlsafe_b64decode(token.text + "=" * (-len(token.text) % 4)).decode()
    assert text.startswith("https://kafka.us-west-2.amazonaws.com/")
    assert token.principal == KEY_ID
    assert token.is_fresh
    assert keeper_of(settings.oauth).obtain(60) is token


def test_a_profile(broker: ScriptedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of `sasl.jaas.config`."""
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    text = f"[ops]\naws_access_key_id = OPSKEY\naws_secret_access_key = {SECRET}\n"
    (tmp_path / "credentials").write_text(text)
    jaas = f'{MODULE} awsProfileName="ops";'
    listed(write(tmp_path / "p", broker.address, {**IAM, "sasl.jaas.config": jaas}))
    assert "OPSKEY" in sent(broker).query


def test_what_is_missing(
    broker: ScriptedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Region, credentials, profile: exit code 3; an option, the extra: exit code 2."""
    file = write(tmp_path / "p", broker.address, IAM)
    said = listed(file)
    assert said.exit_code == 3
    assert said.stderr.startswith("error: the AWS region of the cluster is not known\n")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    said = listed(file)
    assert said.exit_code == 3
    assert said.stderr.startswith("error: there are no AWS credentials to sign with\n")
    jaas = f'{MODULE} awsProfileName="nobody";'
    said = listed(write(file, broker.address, {**IAM, "sasl.jaas.config": jaas}))
    assert said.exit_code == 3
    assert said.stderr.startswith("error: the AWS signer failed: ProfileNotFound: ")
    jaas = f'{MODULE} awsRoleExternalId="hunter2";'
    write(file, broker.address, {**IAM, "sasl.jaas.config": jaas})
    with pytest.raises(UsageError, match="is not an option that the AWS signer has"):
        read_settings(None, file)
    monkeypatch.setattr(extras, "MODULES", {**extras.MODULES, "aws": ("no_such_module",)})
    write(file, broker.address, IAM)
    said = listed(file)
    assert said.exit_code == 2
    assert said.stderr.startswith(
        "error: SASL `AWS_MSK_IAM` requires the extra `aws` of kgroups, which is not installed\n"
    )
    assert "'kgroups[aws]'" in said.stderr
    settings = read_settings(None, file)
    with (
        ClusterAdmin(replace(settings, through_librdkafka=True)) as admin,
        pytest.raises(UsageError),
    ):
        admin.list_groups()
    assert broker.count("sasl_handshake") == 0
