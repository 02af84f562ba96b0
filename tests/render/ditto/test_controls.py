from dataclasses import fields

import numpy as np
import pytest
import torch
from visavis.render.ditto.controls import (
    HEAD_AND_FACE,
    OFFICIAL,
    Controls,
    Desk,
    Fade,
    Following,
    FrameControls,
    Item,
)


def test_slots_start_as_pictures_whose_frames_bring_nothing() -> None:
    controls = Controls.init(2)
    assert controls.follow[1].tolist() == [False, True, True, True, True, True]
    assert controls.factor.eq(1).all()
    assert controls.relative.all()
    assert controls.drive_eyes.all()
    assert controls.stitching.all()
    assert not controls.blinking.any()
    assert not controls.has_delta.any()
    assert not controls.fading.any()
    assert controls.vad_alpha.tolist() == controls.lip_alpha.tolist() == [1, 1]
    assert controls.alpha.eq(1).all()


def test_a_video_follows_with_its_expression_alone() -> None:
    controls = Controls.init(2)
    Desk(controls).follow_as(0, Following.of_video())
    assert controls.follow[0].tolist() == [False] * 5 + [True]
    assert controls.drive_eyes.tolist() == [False, True]


def test_a_driver_for_another_face_is_scaled_in_expression_and_pose_only() -> None:
    wide = Following(factors={Item.PITCH: 0.5, Item.EXPRESSION: 1.0, Item.TRANSLATION: 1.0}).scaled(1.2)
    assert wide.factors == {Item.PITCH: 0.6, Item.EXPRESSION: 1.2, Item.TRANSLATION: 1.0}
    assert Item.YAW not in wide.factors


def test_a_frame_forgets_what_the_frame_before_brought() -> None:
    controls = Controls.init(1)
    blank = {each.name: getattr(controls, each.name).clone() for each in fields(Controls)}
    full = FrameControls(
        delta=(1.0, None, 0.0),
        alpha=(0.5, 2.0, 1.0),
        vad_alpha=0.3,
        lip_alpha=0.4,
        delta_expression=np.ones(63, np.float32),
        blink=np.ones(63, np.float32),
        fade_alpha=0.5,
        fade_items=(Item.YAW, Item.CANONICAL),
    )
    Desk(controls).touch(0, full)
    assert controls.has_delta.tolist() == [[True, False, True]]
    assert controls.fade_items[0].nonzero().flatten().tolist() == [2, 6]
    assert controls.fading.item()
    Desk(controls).touch(0, FrameControls())
    for name, value in blank.items():
        assert torch.equal(getattr(controls, name), value), name


def test_a_slot_is_written_alone_and_in_place() -> None:
    controls = Controls.init(3)
    places = [getattr(controls, each.name).data_ptr() for each in fields(Controls)]
    Desk(controls).follow_as(1, Following(factors={}, relative=False, stitching=False, fade=Fade.FIRST))
    Desk(controls).touch(1, FrameControls(delta=(3.0, 3.0, 3.0)))
    for each in fields(Controls):
        tensor = getattr(controls, each.name)
        assert torch.equal(tensor[0], tensor[2])
    assert [getattr(controls, each.name).data_ptr() for each in fields(Controls)] == places
    assert not controls.follow[1].any()


def test_all_can_be_copied_from_another_memory() -> None:
    host, device = Controls.init(2), Controls.init(2)
    Desk(host).follow_as(0, Following.of_video())
    Desk(host).touch(1, FrameControls(vad_alpha=0.2))
    device.copy_(host)
    for each in fields(Controls):
        assert torch.equal(getattr(device, each.name), getattr(host, each.name))


@pytest.mark.parametrize("item", Item)
def test_each_item_has_one_official_name(item: Item) -> None:
    assert list(OFFICIAL.values()).count(item) == 1
    assert set(HEAD_AND_FACE) < set(OFFICIAL.values())
