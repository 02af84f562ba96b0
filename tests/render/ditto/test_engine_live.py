"""The engine under live controls, in silence, across interrupts, with clips, and with bad input."""

import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support import tiny
from support.ticks import tick
from visavis.render.avatar import Avatar
from visavis.render.ditto.keypoints import LIPS
from visavis.render.ditto.limiter import LIMIT_DEG
from visavis.render.ditto.motion_stitch import Driven
from visavis.render.engine import Crop, Due
from visavis.stream.controls import Controls
from visavis.stream.errors import UsageError

SIZE = (720, 1280)
SILENCE = np.zeros(640, np.float32)


def speech(index: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng((seed, index)).normal(0, 0.1, 640).astype(np.float32)


class Show:
    """A session in slot 0, tick by tick; every frame that can be is drawn."""

    def __init__(self, avatar: Avatar | None = None, *, seed: int = 1, hop: int = 2) -> None:
        self.engine = tiny.engine(hop)
        self.engine.open(0, avatar or tiny.avatar(), size=SIZE, seed=seed, index=0)
        self.delay = self.engine.spec.lookahead // self.engine.spec.hop
        self.next = self.first = 0
        self.crops: dict[int, Crop] = {}
        self.faces: dict[int, Driven] = {}

    def hear(self, sounds: Iterable[NDArray[np.float32]]) -> None:
        for sound in sounds:
            frame = self.next - self.delay
            due = Due(0, replace(tick(self.next), heard=sound), draw=frame >= self.first)
            (crop,) = self.engine.step([due])
            if crop is not None:
                assert crop.index == frame
                self.crops[frame] = crop
                self.faces[frame] = self.engine.face(0, frame)
            self.next += 1

    def silence(self, ticks: int) -> None:
        self.hear(SILENCE for _ in range(ticks))

    def speak(self, ticks: int, seed: int = 0) -> None:
        self.hear(speech(self.next + tick, seed) for tick in range(ticks))

    def interrupt(self, sent: int) -> None:
        self.engine.interrupt(0, sent)
        self.next = self.first = sent + 1

    def angles(self, frames: Iterable[int]) -> torch.Tensor:
        """(T, 3) degrees."""
        return torch.cat([self.faces[frame].angles for frame in frames])

    def lips(self, frames: Iterable[int]) -> torch.Tensor:
        """(T, 18) how far lips are from where the picture has them."""
        return torch.cat([lips(self.faces[frame].expression) for frame in frames]) - lips(rest())

    def __getitem__(self, frame: int) -> NDArray[np.uint8]:
        return self.crops[frame].pixels


def lips(expression: torch.Tensor) -> torch.Tensor:
    return expression.unflatten(-1, (21, 3))[..., LIPS, :].flatten(-2)


def rest(avatar: Avatar | None = None) -> torch.Tensor:
    """(1, 63) the expression of the picture."""
    motion = (avatar or tiny.avatar()).tensors["motion"]
    return torch.from_numpy(np.array(motion[:1, 202:], np.float32))


def test_silence_has_lips_at_rest_and_no_two_pictures_alike() -> None:
    show = Show()
    show.silence(60)
    assert not show.lips(show.faces).any()
    pictures = list(show.crops)
    for before, after in pairwise(pictures):
        assert not np.array_equal(show[before], show[after])


def test_lips_come_back_to_rest_after_speech_over_three_frames() -> None:
    show = Show()
    show.silence(20)
    show.speak(20)
    show.silence(30)
    size = show.lips(show.faces).abs().amax(1)
    assert not size[:17].any()
    assert (size[20:38] > 0.01).all()
    assert not size[46:].any()


def test_heads_live_in_silence_and_are_never_jerked() -> None:
    show = Show()
    show.silence(30)
    show.speak(20)
    show.silence(20)
    path = show.angles(show.faces)
    assert (path[5:20].diff(dim=0).abs().amax(1) > 0).all()
    assert path.diff(dim=0).diff(dim=0).abs().max() <= LIMIT_DEG + 1e-3


def test_controls_change_the_frames_that_follow_and_none_before() -> None:
    plain, told = Show(), Show()
    for show in (plain, told):
        show.speak(20)
    told.engine.control(0, Controls(head_yaw=15, gaze_x=0.5, intensity=0.5))
    for show in (plain, told):
        show.speak(25)
    last = max(plain.crops)
    assert all(np.array_equal(plain[frame], told[frame]) for frame in range(20 - told.delay))
    assert not np.array_equal(plain[last], told[last])
    turned = told.angles([last]) - plain.angles([last])
    assert turned[0].tolist() == pytest.approx([0, -15, 0], abs=0.02)
    assert torch.allclose(told.lips([last]), 0.5 * plain.lips([last]), atol=1e-5)


def test_an_emotion_reaches_the_motion_model() -> None:
    plain, happy = Show(), Show()
    happy.engine.control(0, Controls(emotion={"happy": 0.7, "surprised": 0.3}))
    for show in (plain, happy):
        show.speak(30)
    assert not torch.equal(plain.lips([20]), happy.lips([20]))


def test_what_is_wished_when_a_session_opens_holds_from_its_first_frame_on() -> None:
    show = Show()
    show.engine.control(0, Controls(head_roll=10))
    show.silence(30)
    plain = Show()
    plain.silence(30)
    assert show.angles([0, 20])[:, 2] - plain.angles([0, 20])[:, 2] == pytest.approx(10, abs=1e-3)


def steps(faces: list[Driven]) -> list[float]:
    """How far the face moves from each frame to the next: expression, and degrees for turns."""
    return [
        max(float((b.expression - a.expression).abs().max()), float((b.angles - a.angles).abs().max()) / 40)
        for a, b in pairwise(faces)
    ]


@pytest.mark.parametrize("sent", [15, 22, 31])
@pytest.mark.parametrize("hop", [2, 5])
def test_no_step_across_an_interrupt_is_larger_than_in_speech(sent: int, hop: int) -> None:
    show = Show(hop=hop)
    show.speak(50)
    ordinary = max(steps([show.faces[frame] for frame in range(10, 30)]))
    before = [show.faces[frame] for frame in range(sent + 1)]
    show.interrupt(sent)
    show.silence(25)
    after = [show.faces[frame] for frame in range(sent + 1, show.next - show.delay)]
    assert max(steps([before[-1], *after])) <= ordinary


@pytest.mark.parametrize("sent", [15, 22])
def test_a_face_is_at_rest_a_quarter_of_a_second_after_an_interrupt(sent: int) -> None:
    show = Show()
    show.speak(40)
    show.interrupt(sent)
    show.silence(20)
    size = show.lips(range(sent + 1, sent + 12)).abs().amax(1)
    assert (size[:4] > 0).all()
    assert not size[6:].any()


def test_speech_after_an_interrupt_is_what_it_would_have_been() -> None:
    """Sound that was dropped leaves nothing behind, once the face has eased out of it."""
    cut, clean = Show(seed=4), Show(seed=4)
    cut.speak(30)
    cut.interrupt(20)
    cut.speak(30, seed=9)
    clean.speak(21)
    clean.speak(30, seed=9)
    late = range(40, 51 - clean.delay)
    for frame in late:
        assert torch.allclose(cut.faces[frame].expression, clean.faces[frame].expression, atol=1e-5)
        assert torch.allclose(cut.faces[frame].angles, clean.faces[frame].angles, atol=0.05)


def test_an_interrupt_in_an_interrupt_goes_on_from_what_was_sent() -> None:
    show = Show()
    show.speak(30)
    ordinary = max(steps([show.faces[frame] for frame in range(5, 24)]))
    show.interrupt(20)
    show.speak(12, seed=3)
    before = show.faces[22]
    show.interrupt(22)
    show.silence(20)
    assert max(steps([before, *(show.faces[frame] for frame in range(23, 36))])) <= ordinary


def clip(frames: int) -> Avatar:
    """An avatar of several frames, each of them another face in another place."""
    one = tiny.avatar()
    tensors = {
        name: np.concatenate([tiny.avatar(seed).tensors[name] for seed in range(frames)])
        for name in one.tensors
    }
    tensors["matrix"] = tensors["matrix"].copy()
    tensors["matrix"][:, 0, 2] += np.arange(frames)
    return replace(one, tensors=MappingProxyType(tensors))


def test_a_clip_plays_to_and_fro_and_each_frame_has_its_own_place() -> None:
    show = Show(clip(4))
    show.silence(25)
    moved = [show.crops[frame].matrix[0, 2] - show.crops[0].matrix[0, 2] for frame in range(16)]
    assert moved == [0, 1, 2, 3, 3, 2, 1, 0] * 2


def test_a_clip_moves_as_it_was_filmed_smoothed_and_speaks_with_its_expression() -> None:
    avatar = clip(4)
    show = Show(avatar)
    show.silence(20)
    mean = torch.from_numpy(avatar.tensors["motion"].mean(0, keepdims=True))
    assert torch.allclose(show.faces[3].expression, mean[:, 202:], atol=1e-5), "all four lie within 13 frames"
    assert torch.allclose(show.angles([3]), show.angles([9]), atol=1e-3)
    show.speak(20)
    assert not torch.allclose(lips(show.faces[30].expression), lips(mean[:, 202:]), atol=1e-3)


def test_a_step_that_is_refused_was_not_heard() -> None:
    one = Show().engine
    first = Due(0, tick(0), draw=False)
    for bad in ([Due(0, tick(1), draw=False)], [first, first], [first, Due(3, tick(0), draw=False)]):
        with pytest.raises(UsageError, match=r"slot [03] "):
            one.step(bad)
    one.step([first])
    with pytest.raises(UsageError, match="expects tick 1, not 0"):
        one.step([first])


def test_sound_that_is_no_number_leaves_a_face_that_goes_on() -> None:
    show = Show()
    show.speak(10)
    show.hear([np.full(640, np.nan, np.float32), np.full(640, np.inf, np.float32)])
    show.speak(20)
    assert all(bool(face.expression.isfinite().all()) for face in show.faces.values())


def test_the_last_of_a_storm_of_controls_holds_and_nothing_is_left_of_the_others() -> None:
    show, calm = Show(), Show()
    for one in (show, calm):
        one.speak(10)
    random = np.random.default_rng(1)

    def storm(count: int) -> None:
        for _ in range(count):
            show.engine.control(0, Controls(head_yaw=random.uniform(-20, 20), gaze_x=random.uniform(-1, 1)))

    storm(100)
    tracemalloc.start()
    storm(1000)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 20_000
    for one in (show, calm):
        one.engine.control(0, Controls(head_yaw=8))
        one.speak(40)
    last = max(show.faces)
    assert torch.allclose(show.faces[last].angles, calm.faces[last].angles, atol=1e-3)


def test_each_session_has_a_life_of_its_own() -> None:
    one, other = Show(seed=1), Show(seed=2)
    one.silence(20)
    other.silence(20)
    assert not torch.allclose(one.angles([10]), other.angles([10]), atol=1e-2)


def test_engines_of_all_hops_agree_on_what_lives_in_silence() -> None:
    """Life belongs to the seed and the frame, not to how windows lie."""
    faces = []
    for hop in (2, 5):
        show = Show(hop=hop)
        show.silence(40)
        faces.append(show.faces[20].expression)
    assert torch.allclose(faces[0], faces[1], atol=1e-5)
