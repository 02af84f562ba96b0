from dataclasses import replace

import cv2
import numpy as np
import pytest
from support.faces import Picture, head, landmarks, on_grey, scaled, turned
from visavis.render.crop import CROP_SIDE, moved
from visavis.render.ditto.eyes import eye_values
from visavis.render.landmarks import Face, Landmarks
from visavis.render.portrait import portrait
from visavis.stream.errors import AvatarError

PEOPLE = ("ruby", "marcus")


@pytest.mark.parametrize("name", PEOPLE)
def test_a_head_shot_makes_a_portrait_without_notes(name: str) -> None:
    found = portrait(head(name), landmarks())
    assert found.picture.shape == (360, 360, 3)
    assert found.crop().shape == (CROP_SIDE, CROP_SIDE, 3)
    assert found.preview().shape == (360, 360, 3)
    assert found.notes == ()
    opened, ball = eye_values(found.eye_points())
    assert 0.6 < opened.min() <= opened.max() < 1.4
    assert np.abs(ball).max() < 0.05


@pytest.mark.parametrize("degrees", [0, 25])
def test_the_crop_reaches_no_further_than_it_says(degrees: float) -> None:
    found = portrait(turned(head(), degrees), landmarks())
    x, y, width, height = found.reach()
    edge = [[at, other] for at in range(0, CROP_SIDE, 64) for other in (-0.99, CROP_SIDE - 0.01)]
    points = moved(np.array([*edge, *(point[::-1] for point in edge)]), found.to_plate)
    inside = points[((points >= 0) & (points <= 359)).all(1)]
    assert (inside >= [x, y]).all()
    assert (inside <= [x + width, y + height]).all()
    assert x + width <= 360 >= y + height


def test_the_same_face_is_cropped_alike_wherever_it_lies() -> None:
    near = portrait(head(), landmarks()).crop().astype(int)
    far = portrait(on_grey(head(), 700, 900, 480, 300), landmarks()).crop().astype(int)
    assert np.abs(near - far)[120:400, 120:400].mean() < 6


def test_a_large_picture_is_brought_to_1920_even_pixels() -> None:
    large = portrait(on_grey(scaled(head(), 1400), 2001, 2999, 700, 300), landmarks())
    assert large.picture.shape == (1280, 1920, 3)
    larger = portrait(on_grey(scaled(head(), 2000), 2600, 4000, 900, 300), landmarks())
    assert larger.picture.shape == (1248, 1920, 3)


def test_the_largest_of_several_faces_is_used_and_said() -> None:
    small = on_grey(scaled(head("marcus"), 260), 360, 260, 0, 50)
    found = portrait(np.hstack([small, head()]), landmarks())
    assert found.notes == ("2 faces were found; the largest is used",)
    assert found.square.centre[0] > 300


def test_a_face_that_is_rather_small_is_said() -> None:
    (note,) = portrait(on_grey(scaled(head(), 200), 400, 500, 150, 100), landmarks()).notes
    assert "the face has only" in note


def test_a_crop_that_leaves_the_picture_a_little_is_said() -> None:
    (note,) = portrait(head()[:, 60:], landmarks()).notes
    assert "outside the picture" in note


def blurred(picture: Picture) -> Picture:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 3), np.uint8)


REFUSED = {
    "flat": (np.full((300, 300, 3), 128, np.uint8), "no face was found"),
    "upside down": (head()[::-1, ::-1], "turn the picture upright"),
    "on its side": (np.rot90(head("marcus")), "turn the picture upright"),
    "tilted": (turned(head(), 60), "tilted by .. degrees: turn the picture upright"),
    "tiny": (scaled(head(), 60), "60x60, which is too small"),
    "a strip": (np.zeros((4, 3000, 3), np.uint8), "3000x4, which is too small"),
    "a small face": (on_grey(scaled(head(), 120), 600, 800, 300, 200), "5. pixels .* it needs 64"),
    "half a face": (head()[:, 145:], "outside the picture"),
    "no chin": (head()[:270], "outside the picture"),
    "no forehead": (head()[135:], "outside the picture"),
    "no room": (scaled(head()[65:315, 75:285], 420), "too near the edge"),
    "blurred": (blurred(head()), "too blurred"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_good_avatar_is_refused_with_what_to_do(case: str) -> None:
    picture, said = REFUSED[case]
    with pytest.raises(AvatarError, match=said):
        portrait(np.ascontiguousarray(picture), landmarks())


class Turned(Landmarks):
    """Sees every head turned: deeper by half its `axis`, along x or y."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis = axis

    def faces(self, picture: Picture) -> list[Face]:
        (face,) = super().faces(picture)
        points = face.mesh.points.copy()
        points[:, 2] += 0.9 * points[:, self.axis]
        return [replace(face, mesh=replace(face.mesh, points=points))]


@pytest.mark.parametrize(("axis", "said"), [(0, "turned aside by 4."), (1, "lifted or lowered by [34].")])
def test_a_head_turned_away_is_refused(axis: int, said: str) -> None:
    with pytest.raises(AvatarError, match=f"{said} degrees: use a picture that looks at the camera"):
        portrait(head(), Turned(axis))
