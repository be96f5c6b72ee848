"""Configurations of a group: what holds, and changes to it as data. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from kgroups.core.errors import ItemError, NotFoundError, RefusedError, meant
from kgroups.core.offsets.drift import Drift, drifted
from kgroups.core.offsets.result import Result, result_of
from kgroups.core.offsets.write_file import ChangedSetting
from kgroups.core.snapshot import GroupType

Source = Literal[
    "group", "dynamic_broker", "dynamic_default_broker", "static_broker", "default", "unknown"
]
PREFIXES: Final[Mapping[GroupType, tuple[str, ...]]] = {
    "classic": (),
    "consumer": ("consumer.",),
    "share": ("share.", "errors.deadletterqueue."),
    "streams": ("streams.",),
}
"""How the configurations begin that a type of group uses; one without a dot is every type's."""

SETTINGS: Final = (
    "consumer.assignment.interval.ms",
    "consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms",
    "errors.deadletterqueue.copy.record.enable",
    "errors.deadletterqueue.topic.name",
    "share.assignment.interval.ms",
    "share.auto.offset.reset",
    "share.delivery.count.limit",
    "share.heartbeat.interval.ms",
    "share.isolation.level",
    "share.partition.max.record.locks",
    "share.record.lock.duration.ms",
    "share.renew.acknowledge.enable",
    "share.session.timeout.ms",
    "streams.assignment.interval.ms",
    "streams.assignor.name",
    "streams.heartbeat.interval.ms",
    "streams.initial.rebalance.delay.ms",
    "streams.num.standby.replicas",
    "streams.rack.aware.assignment.tags",
    "streams.session.timeout.ms",
)
"""Those of Kafka 4.4, for completion; brokers tell which they have."""

_MOVED: Final = "SETTING_CHANGED"


PLAN_SETTINGS: Final[Mapping[GroupType, tuple[str, ...]]] = {
    "share": ("share.assignment.interval.ms",),
    "streams": (
        "streams.num.standby.replicas",
        "streams.assignment.interval.ms",
        "streams.initial.rebalance.delay.ms",
    ),
}
"""Configurations of a group that a plan depends on."""


class Setting(NamedTuple):
    """One configuration of a group.

    Args:
        source: where it comes from.
        own: the value that the group itself has; None for none.
        inherited: the value without that; None if not known.
        inherited_from: the broker's setting that gives it; None if not known.
    """

    value: str | None
    source: Source
    own: str | None = None
    inherited: str | None = None
    inherited_from: str | None = None


class SettingChange(NamedTuple):
    """One configuration that is to be set on a group or unset, and what became of it.

    Args:
        old, new: the group's own value; None for none.
    """

    group: str
    setting: str
    old: str | None
    new: str | None
    note: str | None = None
    result: Result = "planned"
    error: ItemError | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Group and configuration."""
        return self.group, self.setting

    @property
    def target(self) -> str:
        """Its name in messages."""
        return self.setting

    def failed(self, error: ItemError) -> "SettingChange":
        """The same change that came to nothing, or of which it is not known."""
        return self._replace(result=result_of(error), error=error)


def saved_settings(changes: Iterable[SettingChange]) -> Iterable[ChangedSetting]:
    """Changes as rows of a file."""
    return (ChangedSetting(*change[:4]) for change in changes)


def is_used(setting: str, kind: GroupType | None) -> bool:
    """Whether groups of a type use a configuration; None for a group that does not exist."""
    return kind is None or "." not in setting or setting.startswith(PREFIXES[kind])


def plan_settings(
    group: str,
    settings: Mapping[str, Setting],
    wanted: Mapping[str, str | None],
    kind: GroupType | None,
) -> list[SettingChange]:
    """A change for each wanted configuration; skipped where the group has it already.

    Args:
        settings: every configuration that there is, by name.
        wanted: the group's own values; None unsets one.
        kind: the type of the group; None if it does not exist.
    Raises:
        NotFoundError: there is no such configuration.
    """
    changes = []
    for name, value in wanted.items():
        if name not in settings and name in SETTINGS:
            raise NotFoundError(
                f"the brokers have no group configuration `{name}`",
                hint="Kafka 4.4 has it; `kgroups config GROUP --all` lists theirs",
            )
        if name not in settings:
            raise NotFoundError(
                f"no such group configuration: `{name}`",
                hint=meant(name, settings) or "`kgroups config GROUP` lists them",
            )
        now = settings[name]
        change = SettingChange(group, name, now.own, value)
        if now.own == value:
            change = change._replace(result="skipped")
        elif not is_used(name, kind):
            change = change._replace(note=f"{kind} groups do not use it")
        elif value is None and now.inherited is not None:
            change = change._replace(note=f"{now.inherited} holds then")
        changes.append(change)
    return changes


def undo_settings(
    rows: Iterable[ChangedSetting], settings: Mapping[str, Setting]
) -> list[SettingChange]:
    """Back to what a write replaced; refused where the value was changed since."""
    changes = []
    for row in rows:
        now = _own(settings, row.setting)
        change = SettingChange(row.group, row.setting, now, row.old)
        if now == row.old:
            change = change._replace(result="skipped")
        elif now != row.new:
            text = f"`{row.setting}` was changed since: {_text(row.new)} was written"
            hint = "use --set or --unset to change it anyway"
            code = RefusedError.exit_code
            change = change.failed(ItemError(row.setting, _MOVED, text, hint, code))
        changes.append(change)
    return changes


def settings_now(
    rows: Iterable[ChangedSetting], settings: Mapping[str, Setting], drift: Drift
) -> list[SettingChange]:
    """The changes of a saved plan as things stand now; skipped where they are made already."""
    changes = []
    for row in rows:
        now = _own(settings, row.setting)
        change = SettingChange(row.group, row.setting, now, row.new)
        if now == row.new:
            change = change._replace(result="skipped")
        elif now != row.old:
            text = f"`{row.setting}` is {_text(now)} now: it was {_text(row.old)}"
            change = drifted(change, _MOVED, f"{text} when the plan was saved", drift)
        changes.append(change)
    return changes


def _own(settings: Mapping[str, Setting], name: str) -> str | None:
    return settings[name].own if name in settings else None


def _text(value: str | None) -> str:
    return "unset" if value is None else f"`{value}`"
