"""The tables are those of Kafka's definitions, and nobody has touched them."""

import pytest

from kgroups.core.protocol.table import request_table, response_table
from kgroups.core.protocol.tables.api_keys import Api
from scripts.messages import TABLES, files


@pytest.mark.oracle
def test_the_tables_are_kafkas() -> None:
    """`make messages` would write what is there."""
    there = {
        path.name: path.read_text(encoding="utf-8")
        for path in TABLES.iterdir()
        if path.suffix in (".py", ".txt")
    }
    assert there == files()


@pytest.mark.parametrize("api", Api, ids=lambda api: api.name)
def test_a_table_knows_its_name_and_versions(api: Api) -> None:
    """Request and answer have the same versions."""
    request, response = request_table(api), response_table(api)
    assert request.name == f"{api.kafka_name}Request"
    assert request.versions == response.versions
    assert request.flexible == response.flexible


def test_an_api_that_is_not_spoken() -> None:
    """A number without a table."""
    with pytest.raises(ValueError, match="4 is not a valid Api"):
        request_table(4)
