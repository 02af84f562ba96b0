from dataclasses import fields, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from visavis.render.ditto import keypoints
from visavis.render.ditto.controls import POSE, Controls, Desk, Fade, Following, FrameControls, Item
from visavis.render.ditto.motion import Motion, Source
from visavis.render.ditto.motion_stitch import Driven, MotionStitch, StitchState
from visavis.render.ditto.stitch import StitchNetwork, StitchSize

EVERYTHING = tuple(Item)
FOLLOWINGS = (
    Following(),
    Following.of_video(),
    Following(relative=False, fade=Fade.FIRST),
    Following(factors={Item.EXPRESSION: 1.3, Item.YAW: 0.4, Item.SCALE: 0.5}, fade=Fade.SOURCE),
    Following(blinking=True, stitching=False),
    Following(relative=False, factors={Item.PITCH: 0.5}, drive_eyes=False),
)
FRAMES = (
    FrameControls(),
    FrameControls(delta=(2.0, None, -3.0), alpha=(0.7, 1.3, 0.4)),
    FrameControls(vad_alpha=0.3, lip_alpha=0.5),
    FrameControls(fade_alpha=0.4, fade_items=(Item.EXPRESSION, Item.PITCH, Item.TRANSLATION)),
    FrameControls(
        blink=torch.linspace(-0.1, 0.1, 63).numpy(), delta_expression=torch.linspace(0, 0.2, 63).numpy()
    ),
    FrameControls(delta=(None, 1.0, None), fade_alpha=0.0, fade_items=EVERYTHING),
)


def motion(rows: int, seed: int) -> Motion:
    random = torch.Generator().manual_seed(seed)
    draw = torch.randn(rows, 265, generator=random)
    draw[:, :1] *= 0.1
    draw[:, 1:199] *= 2
    draw[:, 199:] *= 0.1
    return Motion.from_rows(draw)


def faces(rows: int, seed: int = 1) -> Source:
    canonical = 0.3 * torch.randn(rows, 63, generator=torch.Generator().manual_seed(seed + 100))
    return Source(motion(rows, seed), canonical)


def network() -> StitchNetwork:
    torch.manual_seed(7)
    return StitchNetwork(StitchSize.tiny()).eval().requires_grad_(False)


class Run:
    """Frames through the stage, one call each, with fixed faces."""

    def __init__(self, followings: tuple[Following, ...], *, faces: Source | None = None) -> None:
        slots = len(followings)
        self.stage = MotionStitch(network())
        self.controls, self.state = Controls.init(slots), StitchState.init(slots)
        self.faces = faces or globals()["faces"](slots)
        self.points = keypoints.transform(self.faces.motion, self.faces.canonical)
        self.active = torch.ones(slots, dtype=torch.bool)
        for slot, following in enumerate(followings):
            Desk(self.controls).follow_as(slot, following)

    def step(self, driving: Motion, *frames: FrameControls) -> Tensor:
        for slot, frame in enumerate(frames):
            Desk(self.controls).touch(slot, frame)
        return self.stage.step(
            self.faces, self.points, driving, controls=self.controls, state=self.state, active=self.active
        )

    def moved(self, driving: Motion, frame: FrameControls = FRAMES[0]) -> Driven:
        """The only slot's face before the network."""
        Desk(self.controls).touch(0, frame)
        return self.stage.move(
            self.faces, driving, controls=self.controls, state=self.state, active=self.active
        )


def still(face: Source) -> Tensor:
    return torch.stack([keypoints.degrees(getattr(face.motion, item.name.lower())) for item in POSE], -1)


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(6)), shift=st.integers(0, 5))
def test_slots_are_independent_and_their_order_does_not_matter(order: list[int], shift: int) -> None:
    frames = [FRAMES[(slot + shift) % 6] for slot in range(6)]
    whole, other = Run(FOLLOWINGS), Run(tuple(FOLLOWINGS[slot] for slot in order), faces=None)
    other.faces = Source(whole.faces.motion.at(torch.tensor(order)), whole.faces.canonical[order])
    other.points = whole.points[order]
    for time in range(3):
        driving = motion(6, 20 + time)
        found = whole.step(driving, *frames)
        again = other.step(driving.at(torch.tensor(order)), *(frames[slot] for slot in order))
        torch.testing.assert_close(again, found[order], atol=1e-6, rtol=0)


@pytest.mark.parametrize("slot", range(6))
def test_a_slot_in_a_batch_equals_the_slot_alone(slot: int) -> None:
    whole = Run(FOLLOWINGS)
    one = slice(slot, slot + 1)
    alone = Run(FOLLOWINGS[one], faces=Source(whole.faces.motion.at(one), whole.faces.canonical[one]))
    for time in range(4):
        driving = motion(6, 40 + time)
        found = whole.step(driving, *FRAMES)[one]
        torch.testing.assert_close(alone.step(driving.at(one), FRAMES[slot]), found, atol=1e-6, rtol=0)


def test_slots_that_are_not_active_keep_their_state() -> None:
    run = Run(FOLLOWINGS)
    run.step(motion(6, 1), *FRAMES)
    run.active[2:] = False
    before = {each.name: getattr(run.state, each.name).clone() for each in fields(StitchState)}
    run.step(motion(6, 2), *FRAMES)
    for name, value in before.items():
        assert torch.equal(getattr(run.state, name)[2:], value[2:])
    assert run.state.frames.tolist() == [2, 2, 1, 1, 1, 1]


def test_a_slot_that_was_reset_starts_like_a_new_one() -> None:
    used, new = Run(FOLLOWINGS), Run(FOLLOWINGS)
    used.step(motion(6, 1), *FRAMES)
    used.state.reset(0)
    used.state.reset(2)
    assert used.state.has_first.tolist() == [False, True, False, True, True, False]
    driving = motion(6, 2)
    again, fresh = used.step(driving, *FRAMES), new.step(driving, *FRAMES)
    assert torch.equal(again[[0, 2]], fresh[[0, 2]])
    assert not torch.equal(again[[1]], fresh[[1]])


def test_state_is_written_in_place() -> None:
    run = Run(FOLLOWINGS)
    places = [getattr(run.state, each.name).data_ptr() for each in fields(StitchState)]
    run.step(motion(6, 1), *FRAMES)
    run.state.reset(1)
    assert [getattr(run.state, each.name).data_ptr() for each in fields(StitchState)] == places


def test_a_relative_run_begins_with_the_face_as_it_is() -> None:
    run = Run((Following(),))
    found = run.moved(motion(1, 3))
    torch.testing.assert_close(found.expression, run.faces.motion.expression)
    torch.testing.assert_close(found.angles, still(run.faces))
    assert torch.equal(found.scale, run.faces.motion.scale)


def test_a_driver_that_is_what_the_run_starts_from_moves_nothing() -> None:
    run = Run((Following(),))
    first = motion(1, 5)
    run.state.start_from(0, first)
    run.moved(motion(1, 4))
    found = run.moved(first)
    torch.testing.assert_close(found.expression, run.faces.motion.expression)
    assert torch.equal(run.state.first[0, -126:-63], first.expression[0])


def test_only_lips_and_eyes_take_the_drivers_expression() -> None:
    run = Run((Following(relative=False),))
    driving = motion(1, 3)
    found = run.moved(driving).expression[0]
    mask = keypoints.columns(keypoints.LIPS, keypoints.EYES).bool()
    torch.testing.assert_close(found[mask], driving.expression[0, mask])
    torch.testing.assert_close(found[~mask], run.faces.motion.expression[0, ~mask])


def test_blinking_eyes_are_the_sources_and_the_offset() -> None:
    run = Run((Following(relative=False, blinking=True),))
    offset = torch.linspace(-1, 1, 63)
    found = run.moved(motion(1, 3), FrameControls(blink=offset.numpy())).expression[0]
    eyes = keypoints.columns(keypoints.EYES).bool()
    torch.testing.assert_close(found[eyes], (run.faces.motion.expression[0] + offset)[eyes])


def test_items_that_do_not_follow_are_the_sources() -> None:
    run = Run((Following(factors={Item.YAW: 1.0}, relative=False),))
    driving = motion(1, 3)
    found = run.moved(driving)
    assert found.angles[0, 1] == keypoints.degrees(driving.yaw)[0]
    assert torch.equal(found.angles[0, ::2], still(run.faces)[0, ::2])
    assert torch.equal(found.translation, run.faces.motion.translation)
    torch.testing.assert_close(found.expression, run.faces.motion.expression)


def test_the_references_damping_stills_all_and_ours_the_lips_alone() -> None:
    driving = motion(1, 3)
    following = Following(relative=False)
    whole = Run((following,)).moved(driving).expression[0]
    run = Run((following,))
    source = run.faces.motion.expression[0]
    torch.testing.assert_close(run.moved(driving, FrameControls(vad_alpha=0.0)).expression[0], source)
    lips = keypoints.columns(keypoints.LIPS).bool()
    eyes = keypoints.columns(keypoints.EYES).bool()
    damped = run.moved(driving, FrameControls(lip_alpha=0.25)).expression[0]
    torch.testing.assert_close(damped[lips], 0.25 * whole[lips] + 0.75 * source[lips])
    torch.testing.assert_close(damped[eyes], whole[eyes])
    wider = run.moved(driving, FrameControls(lip_alpha=1.5)).expression[0]
    torch.testing.assert_close(wider[lips], 1.5 * whole[lips] - 0.5 * source[lips])
    assert torch.equal(run.moved(driving, FrameControls(vad_alpha=1.7)).expression[0], whole)


def test_deltas_are_degrees_and_factors_act_on_what_there_is() -> None:
    driving = motion(1, 3)
    run = Run((Following(relative=False),))
    plain = run.moved(driving).angles[0]
    found = run.moved(driving, FrameControls(delta=(5.0, None, 2.0), alpha=(0.5, 0.5, 1.0))).angles[0]
    assert found[0].item() == pytest.approx((plain[0].item() + 5) * 0.5, abs=1e-4)
    assert found[1].item() == pytest.approx(keypoints.degrees(driving.yaw * 0.5).item(), abs=1e-4)
    assert found[2].item() == pytest.approx(plain[2].item() + 2, abs=1e-4)


def test_a_fade_to_the_source_ends_there_in_all_items() -> None:
    run = Run((Following(relative=False, fade=Fade.SOURCE),))
    found = run.moved(motion(1, 3), FrameControls(fade_alpha=0.0, fade_items=EVERYTHING))
    torch.testing.assert_close(found.angles, still(run.faces))
    torch.testing.assert_close(found.expression, run.faces.motion.expression)
    torch.testing.assert_close(found.translation, run.faces.motion.translation)


def test_a_fade_to_the_first_driven_frame_ends_there() -> None:
    run = Run((Following(relative=False, fade=Fade.FIRST),))
    first = run.moved(motion(1, 3), FrameControls(delta=(4.0, 4.0, 4.0)))
    frame = FrameControls(delta=(9.0, 9.0, 9.0), fade_alpha=0.0, fade_items=EVERYTHING)
    found = run.moved(motion(1, 4), frame)
    for each in fields(first):
        torch.testing.assert_close(getattr(found, each.name), getattr(first, each.name))
    half = run.moved(motion(1, 3), replace(frame, fade_alpha=0.5))
    torch.testing.assert_close(half.angles, first.angles + 2.5)


def test_a_fade_that_mixes_degrees_and_scores_sees_the_scores_alone() -> None:
    run = Run((Following(relative=False, fade=Fade.SOURCE),))
    frame = FrameControls(delta=(9.0, None, None), fade_alpha=0.5, fade_items=(Item.PITCH,))
    found = run.moved(motion(1, 3), frame)
    wanted = keypoints.degrees(0.5 * run.faces.motion.pitch)
    assert found.angles[0, 0].item() == pytest.approx(wanted.item(), abs=1e-3)


def test_a_frame_without_a_fade_is_not_faded() -> None:
    driving = motion(1, 3)
    plain = Run((Following(relative=False),)).moved(driving)
    for frame, fade in ((FrameControls(), Fade.SOURCE), (FrameControls(fade_alpha=0.0), Fade.NONE)):
        found = Run((Following(relative=False, fade=fade),)).moved(driving, frame)
        assert torch.equal(found.expression, plain.expression)


def test_driven_eyes_keep_their_aim_and_others_do_not() -> None:
    run = Run((Following(relative=False),))
    driven = run.moved(motion(1, 3))
    aimed = run.stage.aim(driven, run.controls, run.state)
    assert (aimed.expression - driven.expression).count_nonzero() == 4
    Desk(run.controls).follow_as(0, Following(drive_eyes=False))
    assert torch.equal(run.stage.aim(driven, run.controls, run.state).expression, driven.expression)


def test_gaze_is_held_against_the_first_source_frame() -> None:
    run = Run((Following(),))
    run.moved(motion(1, 3))
    first = still(run.faces)
    run.faces = faces(1, seed=9)
    run.moved(motion(1, 4))
    assert torch.equal(run.state.gaze, first)


def test_stitching_can_be_off() -> None:
    run = Run((Following(), Following(stitching=False)))
    points = run.step(motion(2, 3), FrameControls(), FrameControls())
    driven = run.stage.move(
        run.faces, motion(2, 3), controls=run.controls, state=run.state, active=run.active
    )
    loose = run.stage.points(run.points, run.stage.aim(driven, run.controls, run.state), run.controls)
    torch.testing.assert_close(points[1], loose[1], atol=1e-6, rtol=0)
    assert not torch.allclose(points[0], run.points[0], atol=1e-4)
    torch.testing.assert_close(points[1], run.points[1], atol=1e-5, rtol=0)
