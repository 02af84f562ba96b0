"""The stage against a plain telling of the reference's steps: one face, one frame, one dict at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from visavis.render.ditto import keypoints
from visavis.render.ditto.controls import OFFICIAL, Controls, Desk, Fade, Following, FrameControls
from visavis.render.ditto.motion import Motion, Source
from visavis.render.ditto.motion_stitch import Driven, MotionStitch, StitchState

POSES = ("pitch", "yaw", "roll")
WIDTHS = {"scale": 1, "pitch": 66, "yaw": 66, "roll": 66, "t": 3, "exp": 63, "kp": 63}
LIPS, EYES = (6, 12, 14, 17, 19, 20), (11, 13, 15, 16, 18)
Face = dict[str, np.ndarray]


@dataclass
class Plain:
    """The reference's state and steps, in float64."""

    factors: Mapping[str, float]
    relative: bool
    drive_eye: bool
    blinking: bool
    fade_type: str
    first: Face | None = None
    target: Face | None = None
    gaze: dict[str, float] = field(default_factory=dict)

    def step(self, s: Face, driver: Face, frame: FrameControls) -> Face:
        self.gaze = self.gaze or {pose: degrees(s[pose]) for pose in POSES}
        if self.relative and self.first is None:
            self.first = driver
        d = dict(driver)
        if self.first is not None:
            d = {key: s[key] + self.factors.get(key, 1) * (d[key] - self.first[key]) for key in d}
        for key in s:
            if key not in d or key not in self.factors:
                d[key] = s[key]
            elif self.first is None:
                d[key] = d[key] * self.factors[key]
        self.express(s, d, frame)
        for pose, delta, alpha in zip(POSES, frame.delta, frame.alpha, strict=True):
            if delta is not None:
                d[pose] = np.array([degrees(d[pose]) + delta])
            d[pose] = d[pose] * alpha
        if self.fade_type == "d0" and self.target is None:
            self.target = dict(d)
        if frame.fade_alpha is not None and self.fade_type:
            target = s if self.fade_type == "s" else self.target
            assert target
            for item in frame.fade_items:
                key = next(name for name, one in OFFICIAL.items() if one == item)
                d[key] = d[key] * frame.fade_alpha + target[key] * (1 - frame.fade_alpha)
        if self.drive_eye:
            dx = 0.26 * (degrees(d["yaw"]) - self.gaze["yaw"])
            dy = 0.28 * (degrees(d["pitch"]) - self.gaze["pitch"])
            d["exp"] = d["exp"].copy()
            d["exp"][33] += dx * (0.0007 if dx > 0 else 0.001)
            d["exp"][45] += dx * (0.001 if dx > 0 else 0.0007)
            d["exp"][[34, 46]] -= 0.001 * dy
        return d

    def express(self, s: Face, d: Face, frame: FrameControls) -> None:
        follows = columns(LIPS + (EYES if self.drive_eye and not self.blinking else ()))
        exp = np.where(follows, d["exp"], s["exp"])
        if self.drive_eye and self.blinking and frame.blink is not None:
            exp = exp + frame.blink.astype(np.float64) * columns(EYES)
        if frame.vad_alpha < 1:
            exp = exp * frame.vad_alpha + s["exp"] * (1 - frame.vad_alpha)
        if frame.delta_expression is not None:
            exp = exp + frame.delta_expression.astype(np.float64)
        d["exp"] = exp


def degrees(scores: np.ndarray) -> float:
    if scores.shape != (66,):
        return float(scores[0])
    weights = np.exp(scores - scores.max())
    return float((weights / weights.sum() * np.arange(66)).sum() * 3 - 97.5)


def columns(points: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros((21, 3), bool)
    mask[list(points)] = True
    return mask.ravel()


def face(random: np.random.Generator) -> Face:
    spread = {"scale": 0.1, "t": 0.1, "exp": 0.08, "kp": 0.3}
    drawn = {key: spread.get(key, 2.0) * random.standard_normal(width) for key, width in WIDTHS.items()}
    drawn["scale"] += 1.3
    return {key: value.astype(np.float32).astype(float) for key, value in drawn.items()}


def as_motion(given: Face) -> Motion:
    return Motion(*(torch.tensor(given[key])[None].float() for key in list(WIDTHS)[:-1]))


def agree(found: Driven, wanted: Face) -> None:
    angles = torch.tensor([degrees(wanted[pose]) for pose in POSES])
    torch.testing.assert_close(found.angles[0].double(), angles.double(), atol=1e-4, rtol=0)
    pairs = {"scale": found.scale, "t": found.translation, "exp": found.expression, "kp": found.canonical}
    for key, value in pairs.items():
        torch.testing.assert_close(value[0].double(), torch.from_numpy(wanted[key]), atol=1e-5, rtol=0)


share = st.floats(-0.5, 1.5, width=32)
coordinates = st.integers(0, 99).map(
    lambda seed: 0.1 * np.random.default_rng(seed).standard_normal(63, np.float32)
)
frames = st.builds(
    FrameControls,
    delta=st.tuples(*[st.none() | st.floats(-20, 20, width=32)] * 3),
    alpha=st.tuples(*[st.just(1.0) | share] * 3),
    vad_alpha=st.just(1.0) | share,
    delta_expression=st.none() | coordinates,
    blink=coordinates,
    fade_alpha=st.none() | share,
    fade_items=st.sets(st.sampled_from(list(OFFICIAL.values()))).map(tuple),
)
followings = st.builds(
    Following,
    factors=st.dictionaries(st.sampled_from(list(OFFICIAL.values())), st.just(1.0) | share),
    relative=st.booleans(),
    drive_eyes=st.booleans(),
    blinking=st.booleans(),
    fade=st.sampled_from(Fade),
)


@settings(max_examples=150, deadline=None)
@given(
    following=followings,
    brought=st.lists(frames, min_size=1, max_size=4),
    given_first=st.booleans(),
    filmed=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_options_in_any_frames_give_what_the_reference_would(
    following: Following, brought: list[FrameControls], given_first: bool, filmed: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    names = {item: key for key, item in OFFICIAL.items()}
    plain = Plain(
        {names[item]: factor for item, factor in following.factors.items()},
        following.relative,
        following.drive_eyes,
        following.blinking,
        {Fade.NONE: "", Fade.SOURCE: "s", Fade.FIRST: "d0"}[following.fade],
    )
    stage = MotionStitch(lambda source, driven: driven)
    controls, state = Controls.init(1), StitchState.init(1)
    Desk(controls).follow_as(0, following)
    if given_first:
        plain.first = {key: value for key, value in face(random).items() if key != "kp"}
        state.start_from(0, as_motion(plain.first))
    source = face(random)
    for frame in brought:
        source = face(random) if filmed else source
        driver = {key: value for key, value in face(random).items() if key != "kp"}
        Desk(controls).touch(0, frame)
        active, canonical = torch.ones(1, dtype=torch.bool), torch.tensor(source["kp"])[None].float()
        driven = stage.move(
            Source(as_motion(source), canonical),
            as_motion(driver),
            controls=controls,
            state=state,
            active=active,
        )
        agree(stage.aim(driven, controls, state), plain.step(source, driver, frame))


def test_the_telling_uses_the_same_groups_of_keypoints() -> None:
    assert (LIPS, EYES) == (keypoints.LIPS, keypoints.EYES)
