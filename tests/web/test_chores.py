import asyncio
import logging

import pytest
from visavis.web.chores import Bell, Chores, first_of


async def test_chores_end_with_their_owner() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    async with Chores() as chores:
        chores.spawn(work(), "work")
        await asyncio.sleep(0)
    assert ended == ["work"]


async def test_a_failing_chore_is_logged_and_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    async def fails() -> None:
        raise ValueError("no luck")

    async def works() -> None:
        await asyncio.sleep(0)
        done.append("works")

    with caplog.at_level(logging.ERROR):
        async with Chores() as chores:
            chores.spawn(fails(), "the first")
            task = chores.spawn(works(), "the second")
            assert task is not None
            await task
    assert done == ["works"]
    assert "the first failed" in caplog.text
    assert "no luck" in caplog.text


async def test_nothing_starts_once_the_owner_has_left() -> None:
    async def work() -> None:
        raise AssertionError("must not run")

    chores = Chores()
    async with chores:
        pass
    assert chores.spawn(work(), "late") is None


async def test_a_bell_wakes_all_who_wait_and_they_look_again() -> None:
    bell, level, woken = Bell(), [0], list[int]()

    async def wait(wanted: int) -> None:
        await bell.until(lambda: level[0] >= wanted)
        woken.append(wanted)

    async with asyncio.TaskGroup() as group:
        for wanted in (1, 2):
            group.create_task(wait(wanted))
        await asyncio.sleep(0)
        for level[0] in (1, 2):
            bell.ring()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert woken == list(range(1, level[0] + 1))


async def test_a_waiter_that_gave_up_does_not_disturb_the_bell() -> None:
    bell = Bell()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await bell.until(lambda: False)
    assert not bell._waiting
    bell.ring()
    await bell.until(lambda: True)


def test_the_first_error_of_nested_groups_is_found() -> None:
    group = ExceptionGroup("outer", [ExceptionGroup("inner", [KeyError("a")]), ValueError("b")])
    assert isinstance(first_of(group), KeyError)
