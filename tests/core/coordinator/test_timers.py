"""Keyed deadlines against a model: a plain dict that is searched."""

import hypothesis.strategies as st
from hypothesis import given

from kgroups.core.coordinator.timers import Timers

KEYS = st.sampled_from("abcd")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("schedule"), KEYS, st.integers(0, 20)),
        st.tuples(st.just("cancel"), KEYS, st.just(0)),
        st.tuples(st.just("put off"), KEYS, st.integers(0, 22)),
        st.tuples(st.just("alone"), KEYS, st.integers(0, 22)),
        st.tuples(st.just("due"), st.just(""), st.integers(0, 22)),
    ),
    max_size=60,
)


@given(STEPS)
def test_timers_fire_in_order_of_deadline_then_of_scheduling(
    steps: list[tuple[str, str, int]],
) -> None:
    """Whatever is scheduled, moved and cancelled, the earliest comes first and once."""
    timers: Timers[str, int] = Timers()
    model: dict[str, tuple[int, int]] = {}
    payloads: dict[str, int] = {}
    for turn, (what, key, at_ms) in enumerate(steps):
        if what == "schedule":
            timers.schedule(key, at_ms, turn)
            model[key] = (at_ms, turn)
            payloads[key] = turn
        elif what == "cancel":
            timers.cancel(key)
            model.pop(key, None)
        elif what == "put off":
            later = key in model and model[key][0] <= at_ms
            assert timers.put_off(key, at_ms) is later
            if later:
                model[key] = (at_ms, turn)
        elif what == "alone":
            # It may say no where it is not sure.
            if timers.pop_alone(key, at_ms):
                assert model.pop(key)[0] == at_ms
                assert all(other > at_ms for other, _ in model.values())
        else:
            due = timers.pop_due(at_ms)
            first = min(model.items(), key=lambda item: item[1], default=None)
            if first is None or first[1][0] > at_ms:
                assert due is None
            else:
                assert due is not None
                assert (due.key, due.at_ms, due.payload) == (
                    first[0],
                    first[1][0],
                    payloads[first[0]],
                )
                del model[first[0]]
        assert len(timers) == len(model)
        if timers.is_quiet(at_ms):
            assert all(other > at_ms for other, _ in model.values())
        for each in "abcd":
            assert (each in timers) == (each in model)
            assert timers.deadline(each) == (model[each][0] if each in model else None)
        assert timers.next_deadline() == min((at for at, _ in model.values()), default=None)
        order = sorted(model, key=lambda name: model[name])
        assert [one.key for one in timers.armed()] == order


def test_one_that_is_due_alone_is_taken() -> None:
    """Not before its time, not beside another that is due, not in the place of another."""
    timers: Timers[str, None] = Timers()
    for key, at_ms in (("a", 5), ("b", 7), ("c", 7)):
        timers.schedule(key, at_ms, None)
    assert not timers.pop_alone("a", 4)
    assert not timers.pop_alone("b", 5)
    assert timers.pop_alone("a", 5)
    assert not timers.pop_alone("b", 7)
    assert timers.put_off("c", 9)
    assert timers.next_look() == 7
    assert timers.next_deadline() == 7
    assert [one.key for one in timers.armed()] == ["b", "c"]
