import asyncio

import pytest
from aiortc.mediastreams import MediaStreamError
from hypothesis import given
from hypothesis import strategies as st
from support.front import tick
from visavis.web.bitrate import Estimate
from visavis.web.tracks import BACKLOG_TICKS, Encoded, Feed, PacketTrack


def feed(*, has_video: bool = True, has_audio: bool = True) -> Feed:
    return Feed(has_video=has_video, has_audio=has_audio, estimate=Estimate(1_000_000))


async def taken(track: PacketTrack | None, count: int) -> list[Encoded]:
    assert track is not None
    return [await asyncio.wait_for(track.recv(), 1) for _ in range(count)]


def seconds(packet: Encoded) -> float:
    assert packet.pts is not None
    assert packet.time_base is not None
    return float(packet.pts * packet.time_base)


async def test_a_late_joiner_starts_at_a_keyframe_and_its_sound_in_the_same_tick() -> None:
    viewer = feed()
    assert viewer.waiting
    for index in range(100, 104):
        viewer.put(tick(index))
    viewer.put(tick(104, keyframe=True))
    viewer.put(tick(105))
    assert not viewer.waiting
    pictures = await taken(viewer.video, 2)
    sounds = await taken(viewer.audio, 4)
    assert [packet.pts for packet in pictures] == [104 * 3600, 105 * 3600]
    assert [packet.pts for packet in sounds] == [104 * 1920, 104 * 1920 + 960, 105 * 1920, 105 * 1920 + 960]
    assert seconds(pictures[0]) == seconds(sounds[0])
    assert viewer.dropped == 0


async def test_a_slow_viewer_loses_pictures_up_to_the_next_keyframe_and_keeps_its_sound() -> None:
    viewer = feed()
    viewer.put(tick(0, keyframe=True))
    for index in range(1, BACKLOG_TICKS):
        viewer.put(tick(index))
    assert not viewer.waiting
    await taken(viewer.audio, 2 * BACKLOG_TICKS)
    viewer.put(tick(BACKLOG_TICKS))
    viewer.put(tick(BACKLOG_TICKS + 1))
    assert viewer.waiting
    assert viewer.dropped == BACKLOG_TICKS + 2
    viewer.put(tick(BACKLOG_TICKS + 2, keyframe=True))
    assert [packet.pts for packet in await taken(viewer.video, 1)] == [(BACKLOG_TICKS + 2) * 3600]
    sounds = await taken(viewer.audio, 6)
    assert sounds[0].pts == BACKLOG_TICKS * 1920


@given(st.lists(st.sampled_from(["tick", "keyframe", "take", "restart"]), max_size=80))
def test_a_decoder_never_sees_a_picture_without_the_one_it_builds_on(steps: list[str]) -> None:
    async def run() -> None:
        viewer = feed(has_audio=False)
        assert viewer.video is not None
        index, seen = 0, list[int]()
        keyframes: set[int] = set()
        for step in steps:
            if step == "take":
                if not viewer.video.room_for(BACKLOG_TICKS):
                    packet = await viewer.video.recv()
                    seen.append((packet.pts or 0) // 3600)
            elif step == "restart":
                viewer.restart()
                index += 5
            else:
                if step == "keyframe":
                    keyframes.add(index)
                viewer.put(tick(index, keyframe=step == "keyframe"))
                index += 1
            assert viewer.video.room_for(0)
        for before, now in zip([None, *seen], seen, strict=False):
            assert now in keyframes or before == now - 1

    asyncio.run(run())


async def test_after_a_restart_of_the_encoder_a_viewer_waits_for_its_first_keyframe() -> None:
    viewer = feed()
    viewer.put(tick(0, keyframe=True))
    viewer.restart()
    viewer.put(tick(10))
    assert viewer.waiting
    viewer.put(tick(11, keyframe=True))
    assert [packet.pts for packet in await taken(viewer.video, 2)] == [0, 11 * 3600]


async def test_a_listener_without_pictures_does_not_wait_for_any() -> None:
    listener = feed(has_video=False)
    assert not listener.waiting
    assert listener.bitrate_bps is None
    listener.put(tick(7))
    assert [packet.pts for packet in await taken(listener.audio, 2)] == [7 * 1920, 7 * 1920 + 960]


async def test_sound_that_nobody_takes_is_bounded() -> None:
    listener = feed(has_video=False)
    for index in range(1_000):
        listener.put(tick(index))
    assert listener.audio is not None
    assert listener.audio.clear() <= 2 * BACKLOG_TICKS


async def test_a_track_tells_the_pts_of_what_was_taken_last() -> None:
    viewer = feed()
    viewer.put(tick(3, keyframe=True))
    assert viewer.video is not None
    assert viewer.video.last_pts is None
    await viewer.video.recv()
    assert viewer.video.last_pts == 3 * 3600


async def test_stopping_ends_a_pending_recv() -> None:
    viewer = feed()
    assert viewer.video is not None
    async with asyncio.TaskGroup() as group:
        receiving = group.create_task(_ends(viewer.video))
        await asyncio.sleep(0)
        viewer.stop()
    assert receiving.result()
    with pytest.raises(MediaStreamError):
        await viewer.video.recv()


async def _ends(track: PacketTrack) -> bool:
    with pytest.raises(MediaStreamError):
        await track.recv()
    return True
