"""`motion_stitch`: every option set at once, a slot each, with the random stitch network; blink schedules."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from visavis.render.ditto import blinks, keypoints, random_weights
from visavis.render.ditto.controls import OFFICIAL, POSE, Controls, Desk, Fade, Following, FrameControls
from visavis.render.ditto.motion import Motion, Source
from visavis.render.ditto.motion_stitch import MotionStitch, StitchState
from visavis.render.ditto.stitch import StitchNetwork

from .harness import Comparison, GoldenFile, matched
from .made_up import ITEMS, in_float32, source_of

TOLERANCE = 1e-5
FADES = {"": Fade.NONE, "s": Fade.SOURCE, "d0": Fade.FIRST}
Case = Mapping[str, Any]  # free-form JSON


def run(file: GoldenFile) -> Iterator[Comparison]:
    file = in_float32(file)
    for name, case in file.cases.items():
        if "blink_len" in case:
            found = blinks.schedule(case["N"], case["blink_len"], case["open_n"], iter(_draws(file, name)))
            yield file.compare(name, found, 0)
    yield from _stitched(file, {name: case for name, case in file.cases.items() if "setup" in case})


def _stitched(file: GoldenFile, cases: dict[str, Case]) -> Iterator[Comparison]:
    faces = source_of(file, tuple(_array(file, f"x_s.{item}") for item in ITEMS), _array(file, "x_s.kp"))
    driver = Motion(*(torch.from_numpy(_array(file, f"x_d.{item}")).to(file.device) for item in ITEMS))
    network = random_weights.loaded(StitchNetwork(), "stitch_network", file.seed).to(file.device)
    stage = MotionStitch(network, file.device)
    told, controls = Controls.init(len(cases)), Controls.init(len(cases), file.device)
    desk = Desk(told)
    state = StitchState.init(len(cases), file.device)
    for slot, case in enumerate(cases.values()):
        desk.follow_as(slot, following(file, case))
        if row := _row_number(case["setup"].get("d0")):
            state.start_from(slot, driver.at(row))
    draws = [_draws(file, name) for name in cases]
    frames = max(case["frames"] for case in cases.values())
    driven, still = [], []
    for frame in range(frames):
        for slot, case in enumerate(cases.values()):
            desk.touch(slot, frame_controls(file, case, frame, draws[slot]))
        controls.copy_(told)
        rows = [min(frame, case["frames"] - 1) for case in cases.values()]
        of_source = [0 if case["image"] else row for case, row in zip(cases.values(), rows, strict=True)]
        source = Source(faces.motion.at(torch.tensor(of_source)), faces.canonical[of_source])
        points = keypoints.transform(source.motion, source.canonical)
        active = torch.tensor([frame < case["frames"] for case in cases.values()], device=file.device)
        at = torch.tensor(rows)
        with torch.no_grad():
            moved = stage.step(source, points, driver.at(at), controls=controls, state=state, active=active)
        still.append(points)
        driven.append(moved)
    for slot, (name, case) in enumerate(cases.items()):
        kept = 1 if case["image"] else case["frames"]
        yield file.compare(f"{name}.x_s", torch.stack(still, 1)[slot, :kept], TOLERANCE)
        yield file.compare(f"{name}.x_d", torch.stack(driven, 1)[slot, : case["frames"]], TOLERANCE)


def following(file: GoldenFile, case: Case) -> Following:
    """The session of a case: its setup over the defaults of a picture or a video."""
    setup = case["setup"]
    default = Following() if case["image"] else Following.of_video()
    keys = setup.get("use_d_keys")
    keys = [keys] if isinstance(keys, str) else keys
    if keys is None:
        factors = default.factors
    else:
        factors = {OFFICIAL[key]: float(keys[key]) if isinstance(keys, dict) else 1.0 for key in keys}
    drive_eyes = setup.get("drive_eye")
    found = Following(
        factors=factors,
        relative=setup.get("relative_d", True),
        drive_eyes=default.drive_eyes if drive_eyes is None else drive_eyes,
        blinking=setup.get("delta_eye_arr") is not None,
        fade=FADES[setup.get("fade_type") or ""],
        stitching=setup.get("flag_stitching", True),
    )
    if setup.get("ch_info"):
        other = _array(file, _named(file, setup["ch_info"])).item()
        found = found.scaled(other / float(_array(file, "x_s.scale")[0].item()))
    return found


def frame_controls(file: GoldenFile, case: Case, frame: int, draws: list[int]) -> FrameControls:
    """What a frame brings: its own values over those for every frame."""
    setup = case["setup"]
    values = dict(setup.get("overall_ctrl_info") or {}) | case.get("ctrl", {}).get(str(frame), {})
    deltas = [values.get(f"delta_{item.name.lower()}") for item in POSE]
    alphas = [values.get(f"alpha_{item.name.lower()}", 1.0) for item in POSE]
    fade_keys = values.get("fade_out_keys", setup.get("fade_out_keys", ["exp"]))
    added = values.get("delta_exp")
    blink = None
    if setup.get("delta_eye_arr") is not None:
        lids = _array(file, setup["delta_eye_arr"])
        length = setup.get("N_d", -1)
        gaps = setup.get("delta_eye_open_n", blinks.RANDOM if draws else blinks.NEVER)
        plan = blinks.schedule(length if length > 0 else blinks.UNKNOWN_LENGTH, len(lids), gaps, iter(draws))
        blink = lids[plan[frame % len(plan)]].reshape(-1)
    return FrameControls(
        delta=(deltas[0], deltas[1], deltas[2]),
        alpha=(alphas[0], alphas[1], alphas[2]),
        vad_alpha=values.get("vad_alpha", 1.0),
        delta_expression=None if added is None else _array(file, added).reshape(-1),
        blink=blink,
        fade_alpha=values.get("fade_alpha"),
        fade_items=tuple(OFFICIAL[key] for key in ([fade_keys] if isinstance(fade_keys, str) else fade_keys)),
    )


def _array(file: GoldenFile, name: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.asarray(file.arrays[name], np.float32)


def _draws(file: GoldenFile, name: str) -> list[int]:
    """The random gaps between blinks of a case."""
    return [int(gap) for gap in file.arrays.get(f"{name}.draws", ())]


def _named(file: GoldenFile, text: str) -> str:
    """The array that a description such as `scale = ch_info_scale` names."""
    for word in reversed(re.findall(r"[\w.]+", text)):
        if word in file.arrays:
            return word
    raise ValueError(f"no array is named in {text!r}")


def _row_number(text: str | None) -> slice | None:
    """`x_d row 5`: that row of the driver."""
    if text is None:
        return None
    row = int(matched("row", r"row\s*(\d+)", text)[1])
    return slice(row, row + 1)
