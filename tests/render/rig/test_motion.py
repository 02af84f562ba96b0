from dataclasses import replace

import numpy as np
from visavis.render.rig.motion import still


def test_a_share_of_another_motion_can_be_added() -> None:
    one = replace(still(), units=np.full(52, 0.5, np.float32), head=np.array([1, 2, 3], np.float32))
    both = still().plus(one, 0.5)
    assert np.allclose(both.units, 0.25)
    assert both.head.tolist() == [0.5, 1.0, 1.5]
    assert both.units.dtype == both.head.dtype == both.gaze.dtype == np.float32


def test_a_motion_less_itself_is_still() -> None:
    one = replace(still(), units=np.full(52, 0.3, np.float32), body=np.ones(2, np.float32))
    nothing = one.plus(one, -1.0)
    assert not nothing.units.any()
    assert not nothing.body.any()


def test_shoulders_are_added_as_the_rest() -> None:
    one = replace(still(), torso=np.array([2.0, -1.0], np.float32))
    assert one.plus(one, 0.5).torso.tolist() == [3.0, -1.5]
    assert not still().torso.any()


def test_a_tongue_is_added_as_the_rest() -> None:
    one = replace(still(), tongue=np.array([0.5, 0.25, 0.0], np.float32))
    assert one.plus(one, -1.0).tongue.tolist() == still().tongue.tolist() == [0, 0, 0]
