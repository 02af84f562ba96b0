"""What an official configuration changes for live sessions, and what it cannot."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from visavis.render.ditto.configuration import Options, Reference
from visavis.render.ditto.controls import Item
from visavis.render.ditto.live_options import LiveOptions
from visavis.render.ditto.motion import Motion, Source
from visavis.render.ditto.mover import EYE_FRAMES
from visavis.stream.errors import SetupError

SIZES = {"scale": 1, "pitch": 66, "yaw": 66, "roll": 66, "t": 3, "exp": 63, "kp": 63}


def reference(**changed: np.ndarray) -> Reference:
    random = np.random.default_rng(1)
    motion = {name: random.normal(0, 1, size).astype(np.float32) for name, size in SIZES.items()}
    motion["scale"][:] = 1.5
    for array in motion.values():
        array.flags.writeable = False
    eyes = random.normal(0, 1, (4, 2)).astype(np.float32), random.normal(0, 1, (4, 6)).astype(np.float32)
    return Reference({**motion, **changed}, *eyes, random.normal(0, 1, 63).astype(np.float32))


def face() -> tuple[Source, tuple[torch.Tensor, torch.Tensor], torch.Tensor]:
    source = Source(Motion.from_rows(torch.randn(3, 265)), torch.randn(3, 63))
    return source, (torch.rand(3, 2), torch.rand(3, 6)), torch.randn(63)


def test_without_a_configuration_the_model_sees_the_avatar_and_is_not_bounded() -> None:
    options, (source, eyes, canonical) = LiveOptions.of(), face()
    character = options.character(source, eyes, canonical)
    assert torch.equal(character.start, source.motion.to_rows()[0])
    assert torch.equal(character.canonical, canonical)
    row = 1e6 * torch.randn(265)
    assert torch.equal(options.bounded(row), row)
    assert options.following(1, 2.0).factors[Item.YAW] == 1


def test_pictures_blink_by_their_own_process_and_videos_as_they_were_filmed() -> None:
    options = LiveOptions.of(replace(Options(), blinks=np.ones((15, 63), np.float32)))
    assert options.following(1, 1.0).blinking
    assert options.following(1, 1.0).drive_eyes
    assert not options.following(9, 1.0).drive_eyes
    assert set(options.following(9, 1.0).factors) == {Item.EXPRESSION}
    assert [options.manner(frames).filmed for frames in (1, 2)] == [False, True]


def test_eyes_are_told_as_filmed_unless_the_first_frame_s_are_to_hold() -> None:
    usual, locked = LiveOptions.of(), LiveOptions.of(Options(eyes_of_first_frame=True))
    assert [usual.films_eyes(frames) for frames in (1, 2, EYE_FRAMES, EYE_FRAMES + 1)] == [
        False,
        True,
        True,
        False,
    ]
    assert not locked.films_eyes(2)
    assert not LiveOptions.of(Options(reference=reference())).films_eyes(2)


def test_a_clip_of_any_length_has_room_for_its_eyes() -> None:
    frames = EYE_FRAMES + 5
    source = Source(Motion.from_rows(torch.randn(frames, 265)), torch.randn(frames, 63))
    character = LiveOptions.of().character(
        source, (torch.rand(frames, 2), torch.rand(frames, 6)), torch.randn(63)
    )
    assert len(character.eye_open) == len(character.eye_ball) == EYE_FRAMES


def test_bounds_hold() -> None:
    limits = np.stack((np.full(265, -0.1), np.full(265, 0.2))).astype(np.float32)
    limits.flags.writeable = False
    options = LiveOptions.of(Options(limits=limits))
    assert options.bounded(torch.tensor([-1.0, 0.1, 1.0] + [0.0] * 262))[:3].tolist() == pytest.approx(
        [-0.1, 0.1, 0.2]
    )


def test_a_reference_character_stands_in_for_the_avatar() -> None:
    other = reference()
    options = LiveOptions.of(Options(reference=other))
    character = options.character(*face())
    motion = Motion.from_rows(character.start)
    assert motion.scale.item() == pytest.approx(1.5)
    assert np.allclose(motion.yaw, other.motion["yaw"])
    assert np.allclose(motion.expression, other.motion["exp"])
    assert character.eye_open.shape == (4, 2)
    following = options.following(1, 1.2)
    assert following.factors[Item.EXPRESSION] == pytest.approx(1.25)
    assert following.factors[Item.TRANSLATION] == 1


@pytest.mark.parametrize("changed", [{"exp": np.zeros(62, np.float32)}, {"scale": np.zeros(1, np.float32)}])
def test_a_reference_character_that_is_not_whole_is_refused(changed: dict[str, np.ndarray]) -> None:
    with pytest.raises(SetupError, match="not whole"):
        LiveOptions.of(Options(reference=reference(**changed)))


def test_what_follows_the_driver_and_what_is_added_can_be_set() -> None:
    given = Options(
        follow={"exp": 0.5, "pitch": 2.0}, relative=False, stitch=False, controls={"delta_pitch": 2}
    )
    options = LiveOptions.of(given)
    following = options.following(1, 1.0)
    assert following.factors == {Item.EXPRESSION: 0.5, Item.PITCH: 2.0}
    assert not following.relative
    assert not following.stitching
    assert options.manner(1).bearing == (2, 0, 0)


def test_the_source_leads_again_where_the_configuration_has_it() -> None:
    usual, online = LiveOptions.of(), LiveOptions.of(Options(restart_every=1, restart_keeps=(0, 202)))
    assert (usual.restart_every, usual.restart_keeps) == (0, (0, 0))
    assert (online.restart_every, online.restart_keeps) == (1, (0, 202))
    assert LiveOptions.of(Options(restart_every=3)).restart_keeps == (0, 0)
