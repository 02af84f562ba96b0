import errno
import os
import pickle
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from visavis.render.ditto import configuration as module
from visavis.render.ditto.configuration import Configuration, Model, Options, load_configuration
from visavis.render.ditto.plain_pickle import MOST_FILE_BYTES
from visavis.stream.errors import SetupError

REFERENCE = {
    "x_s_info_lst": [
        {"scale": np.full((1, 1), 1.2, np.float32), "exp": np.zeros((1, 63), np.float32)},
        {"scale": np.full((1, 1), 1.3, np.float32), "exp": np.ones((1, 63), np.float32)},
    ],
    "eye_open_lst": [np.full((1, 2), 0.3, np.float32), np.full((1, 2), 0.1, np.float32)],
    "eye_ball_lst": np.zeros((2, 6), np.float32),
    "sc": np.arange(63, dtype=np.float32),
}
ONLINE = {
    "online_mode": True,
    "overlap_v2": 70,
    "sampling_timesteps": 10,
    "fix_kp_cond": 1,
    "fix_kp_cond_dim": [0, 202],
    "smo_k_d": 3,
    "overall_ctrl_info": {"delta_pitch": 2},
    "emo": np.full((600, 8), 0.125),
    "delta_eye_arr": np.zeros((15, 63), np.float32),
    "v_min_max_for_clip": np.arange(4 * 265, dtype=np.float32).reshape(4, 265),
    "ch_info": REFERENCE,
    "ctrl_info": None,
    "something_new": 1,
}
MODEL = {
    "model_path": "lmdm_v0.4_hubert.pth",
    "device": "cuda",
    "motion_feat_dim": 265,
    "audio_feat_dim": 1103,
    "seq_frames": 80,
    "use_emo": True,
    "use_sc": True,
    "use_eye_open": True,
    "use_eye_ball": True,
    "w2f_type": "hubert",
}


def file_of(tmp_path: Path, options: dict[str, Any], model: dict[str, Any] = MODEL) -> Path:
    path = tmp_path / "cfg.pkl"
    path.write_bytes(
        pickle.dumps({"base_cfg": {}, "audio2motion_cfg": model, "default_kwargs": options}, protocol=4)
    )
    return path


def read(tmp_path: Path, options: dict[str, Any], model: dict[str, Any] = MODEL) -> Configuration:
    return load_configuration(file_of(tmp_path, options, model))


def fails(path: Path) -> str:
    with pytest.raises(SetupError) as caught:
        load_configuration(path)
    line = str(caught.value)
    assert line.startswith(str(path))
    assert "\n" not in line
    return line


def test_options_of_the_live_kind_are_read_with_their_arrays(tmp_path: Path) -> None:
    found = read(tmp_path, ONLINE)
    options = found.options
    assert (options.online, options.overlap, options.steps, options.motion_smoothing) == (True, 70, 10, 3)
    assert (options.restart_every, options.restart_keeps) == (1, (0, 202))
    assert options.controls == {"delta_pitch": 2.0}
    assert isinstance(options.emotion, np.ndarray)
    assert options.emotion.shape == (600, 8)
    assert options.emotion.dtype == np.float32
    assert options.blinks is not None
    assert options.blinks.shape == (15, 63)
    assert options.limits is not None
    np.testing.assert_array_equal(options.limits, np.arange(2 * 265).reshape(2, 265))
    assert found.unknown == ("something_new",)


def test_gaps_of_blinks_may_be_several_and_a_table_of_controls_may_hold_an_expression(tmp_path: Path) -> None:
    given = {"delta_eye_open_n": [60, 80], "overall_ctrl_info": {"delta_yaw": 3, "delta_exp": np.zeros(63)}}
    options = read(tmp_path, given).options
    assert options.blink_gap == (60, 80)
    assert options.controls == {"delta_yaw": 3.0}


def test_limits_need_the_least_and_the_most(tmp_path: Path) -> None:
    line = fails(file_of(tmp_path, {"v_min_max_for_clip": np.zeros((1, 265), np.float32)}, MODEL))
    assert "v_min_max_for_clip has one row" in line


def test_the_reference_face_is_its_first_frame_and_all_eyes(tmp_path: Path) -> None:
    reference = read(tmp_path, ONLINE).options.reference
    assert reference is not None
    assert reference.motion["scale"].tolist() == pytest.approx([1.2])
    assert reference.motion["exp"].shape == (63,)
    assert (reference.eye_open.shape, reference.eye_ball.shape) == ((2, 2), (2, 6))
    assert reference.canonical[-1] == 62


def test_what_a_file_leaves_out_keeps_the_default(tmp_path: Path) -> None:
    found = read(tmp_path, {"ch_info": None}, {})
    assert found == Configuration(Model(), Options(), ())


def test_each_field_is_read_from_a_name_of_its_own() -> None:
    for table, kind in ((module._MODEL, Model), (module._OPTIONS, Options)):
        assert list(table) == [field.name for field in fields(kind)]
        assert len({official for official, _ in table.values()}) == len(table)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(4, 4), ([3, 6], (3, 6)), ([[3], [3, 6]], ((3,), (3, 6))), ((1,), (1,)), (np.int64(2), 2)],
)
def test_emotions_are_labels_mixtures_or_a_row_a_frame(
    tmp_path: Path, value: object, expected: object
) -> None:
    assert read(tmp_path, {"emo": value}).options.emotion == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["exp", "t"], {"exp": 1.0, "t": 1.0}),
        ({"exp": 0.5}, {"exp": 0.5}),
        ("exp", {"exp": 1.0}),
    ],
)
def test_items_that_follow_may_have_factors(
    tmp_path: Path, value: object, expected: dict[str, float]
) -> None:
    assert read(tmp_path, {"use_d_keys": value}).options.follow == expected


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"overlap_v2": "many"}, "overlap_v2 is no whole number"),
        ({"overlap_v2": 80}, "overlap_v2 is 80, not 0 to 79"),
        ({"sampling_timesteps": 0}, "sampling_timesteps is 0, not 1 to 1000"),
        ({"crop_scale": float("nan")}, "crop_scale is no number"),
        ({"max_size": float("inf")}, "max_size has values of the wrong kind"),
        ({"online_mode": "yes"}, "online_mode is neither true nor false"),
        ({"fade_type": 1}, "fade_type is no text"),
        ({"fade_out_keys": 1}, "fade_out_keys is no list"),
        ({"emo": 8}, "emo has label 8"),
        ({"emo": np.zeros((5, 7))}, r"emo has shape (5, 7) instead of (-1, 8)"),
        ({"emo": np.full((5, 8), np.nan)}, "emo has a value that is no number"),
        ({"delta_eye_arr": "x"}, "delta_eye_arr is no array"),
        ({"delta_eye_arr": [["x"]]}, "delta_eye_arr"),
        ({"delta_eye_arr": [[1.0], [1.0, 2.0]]}, "delta_eye_arr"),
        ({"fix_kp_cond_dim": [0, 266]}, "outside of a row of motion"),
        ({"fix_kp_cond_dim": [0]}, "is no pair"),
        ({"overall_ctrl_info": [1]}, "overall_ctrl_info is no table"),
        ({"ch_info": 1}, "ch_info is no table"),
        ({"ch_info": {"x_s_info_lst": []}}, "ch_info has no frame"),
        ({"ch_info": {"x_s_info_lst": [1]}}, "ch_info has no motion"),
        ({"ch_info": {k: v for k, v in REFERENCE.items() if k != "sc"}}, "ch_info lacks 'sc'"),
        ({"ch_info": REFERENCE | {"eye_open_lst": [{}]}}, "ch_info has values of the wrong kind"),
    ],
)
def test_an_option_of_the_wrong_kind_is_named(tmp_path: Path, options: dict[str, Any], line: str) -> None:
    assert line in fails(file_of(tmp_path, options))


@pytest.mark.parametrize("content", [[1], {}, {"audio2motion_cfg": 1}, None, {"audio2motion_cfg": {}}])
def test_another_pickle_is_no_configuration(tmp_path: Path, content: object) -> None:
    path = tmp_path / "cfg.pkl"
    path.write_bytes(pickle.dumps(content))
    assert "is no configuration of Ditto: it has no " in fails(path)


class Harm:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.system, ("exit 1",)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (pickle.dumps({"default_kwargs": Harm()}), "wants to run posix.system"),
        (pickle.dumps(1)[:-1], "is damaged or no pickle"),
        (b"N." + bytes(MOST_FILE_BYTES), "are allowed"),
        (b"<!DOCTYPE html>", "is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"", "is empty"),
    ],
    ids=["harm", "truncated", "long", "page", "pointer", "empty"],
)
def test_a_bad_file_is_one_line_with_what_to_do(tmp_path: Path, content: bytes, line: str) -> None:
    path = tmp_path / "cfg.pkl"
    path.write_bytes(content)
    assert line in fails(path)
    assert "visavis weights fetch" in fails(path)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    assert "is missing: get it with visavis weights fetch" in fails(tmp_path / "none.pkl")


def test_a_closed_file_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(tmp_path, {})

    def refuse(one: Path, *_: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(one))

    monkeypatch.setattr(Path, "open", refuse)
    assert "permission denied" in fails(path)
