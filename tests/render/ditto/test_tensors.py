import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.render.ditto.tensors import check
from visavis.stream.errors import AvatarError

Tensors = dict[str, NDArray[np.generic]]


def whole() -> Tensors:
    return {
        "appearance": np.zeros((1, 32, 16, 64, 64), np.float16),
        "motion": np.zeros((1, 265), np.float32),
        "canonical": np.zeros((1, 63), np.float32),
        "matrix": np.eye(3, dtype=np.float32)[None],
        "eye_open": np.zeros((1, 2), np.float32),
        "eye_ball": np.zeros((1, 6), np.float32),
    }


def test_what_is_whole_passes() -> None:
    check("ada", (), whole())


def test_face_units_belong_to_rigs() -> None:
    with pytest.raises(AvatarError, match="has face units"):
        check("ada", ("jawOpen",), whole())


@pytest.mark.parametrize("key", whole())
def test_each_tensor_is_needed_and_no_other(key: str) -> None:
    tensors = whole()
    tensors["vertices"] = tensors.pop(key)
    with pytest.raises(AvatarError, match=f"{key}.*; register it again"):
        check("ada", (), tensors)


@pytest.mark.parametrize("key", whole())
def test_each_tensor_has_its_type_and_shape_and_is_finite(key: str) -> None:
    good = whole()[key]
    hole = good.copy()
    hole[..., -1] = np.nan
    for bad, said in (
        (good.astype(np.float64), "float64"),
        (good[:, :1], "not float"),
        (np.concatenate([good, good]), "not float"),
        (hole, "not all numbers"),
    ):
        with pytest.raises(AvatarError, match=f"{key} of avatar ada.*{said}"):
            check("ada", (), {**whole(), key: bad})


@pytest.mark.parametrize("rows", [[[1, 2, 0], [2, 4, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 0], [0, 0.1, 1]]])
def test_a_crop_that_lies_nowhere_is_refused(rows: list[list[float]]) -> None:
    with pytest.raises(AvatarError, match="lies nowhere"):
        check("ada", (), {**whole(), "matrix": np.array([rows], np.float32)})
