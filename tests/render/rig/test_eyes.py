import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import SMALL, avatar, face, meshed, moved
from visavis.render.rig import raster
from visavis.render.rig.eyes import SWING_DEG, Eye, draw_eye, turn_eye
from visavis.render.rig.mesh import Mesh, load_mesh
from visavis.render.rig.motion import Motion
from visavis.render.rig.scan import scratch
from visavis.render.rig.units import unit_vector

F32 = NDArray[np.float32]
SIDE = 80
SCRATCH = scratch(SIDE)
SHOWN = 20
"""Of 255: a pixel shows an eye when it differs by more with what is painted on it."""


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return load_mesh(avatar(), avatar().view(SMALL))


def looked(gaze: tuple[float, float], place: list[tuple[float, float]]) -> F32:
    """The places of the texture that are seen at `place` with a turned eye."""
    places, uv = np.array(place, np.float32), np.zeros((len(place), 2), np.float32)
    across, up = (part * np.radians(most) for part, most in zip(gaze, SWING_DEG, strict=True))
    turn_eye(np.arange(len(place), dtype=np.int32), places, across, up, np.array([181, 181], np.float32), uv)
    return (uv + 0.5) / 90.5 - 1


def test_a_straight_look_shows_the_texture_as_it_is_around_an_iris_that_is_smaller() -> None:
    beside = [(0.0, 0.0), (0.8, -0.2), (-0.6, 0.6)]
    assert looked((0, 0), beside) == pytest.approx(np.array(beside), abs=0.01)
    assert np.hypot(*looked((0, 0), [(0.27, 0.0)])[0]) == pytest.approx(0.33, abs=0.005)


def test_no_part_of_the_texture_is_passed_twice() -> None:
    seen = looked((0, 0), [(share, 0.0) for share in np.linspace(0, 0.95, 60).tolist()])
    assert (np.diff(seen[:, 0]) > 0).all()


@pytest.mark.parametrize(
    ("gaze", "pupil"), [((1, 0), (25 / 90, 0)), ((-1, 0), (-25 / 90, 0)), ((0, 1), (0, -18 / 90))]
)
def test_the_pupil_is_where_the_eye_looks(gaze: tuple[float, float], pupil: tuple[float, float]) -> None:
    """To the right for gaze right, up, which is a smaller place down, for gaze up."""
    assert looked(gaze, [pupil])[0] == pytest.approx((0, 0), abs=0.01)


def test_an_eye_writes_its_own_vertices_only(mesh: Mesh) -> None:
    uv = np.full_like(mesh.uv, -7)
    Eye(avatar(), mesh, 0).turn(np.array([0.5, 0.5], np.float32), uv)
    mine = np.unique(mesh.eyes[0])
    assert (uv[mine] >= 0).all()
    assert (np.delete(uv, mine, 0) == -7).all()


def test_texels_stay_inside_the_texture(mesh: Mesh) -> None:
    uv = mesh.uv.copy()
    width, height = mesh.eye_texture.size
    for gaze in ((1, 1), (-1, -1), (1, -1)):
        for side in (0, 1):
            Eye(avatar(), mesh, side).turn(np.array(gaze, np.float32), uv)
    eyes = uv[np.unique(np.concatenate(mesh.eyes))]
    assert eyes.min() >= 0
    assert (eyes <= (width - 1, height - 1)).all()


def lit(eye: Eye, units: dict[str, float], gaze: tuple[float, float] = (0, 0)) -> F32:
    weights = unit_vector(units)
    return eye.light(weights + eye.hold(weights), np.array(gaze, np.float32))


@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_the_upper_lid_rests_on_the_iris(name: str) -> None:
    """Its edge hides less than a sixth of the iris' height; lashes hide some more."""
    for side in (0, 1):
        eye, mesh = Eye(avatar(name), meshed(name), side), meshed(name)
        radius = np.sin(np.radians(90 * 0.27)) * mesh.eye_radius
        above = -np.sin(np.radians(90 * float(lit(eye, {})[2]))) * mesh.eye_radius
        assert 0 < (1 - above / radius) / 2 < 1 / 6


@pytest.mark.parametrize("side", [0, 1])
def test_surprise_leaves_nothing_of_what_holds_a_lid(mesh: Mesh, side: int) -> None:
    eye = Eye(avatar(), mesh, side)
    half, none = (eye.hold(unit_vector({"eyeWide": weight})).sum() for weight in (0.5, 0.0))
    assert none > 0
    assert half == pytest.approx(none / 2)
    assert not eye.hold(unit_vector({"eyeWide": 1.0})).any()


@pytest.mark.parametrize("name", ["ruby", "marcus"])
@pytest.mark.parametrize(
    "aside", [{}, {"eyeLookDown": 0.9}, {"eyeLookUp": 0.9}, {"cheekSquint": 0.5}, {"eyeWide": 0.4}]
)
def test_a_blink_ends_on_the_lower_lid_wherever_the_eye_looks(name: str, aside: dict[str, float]) -> None:
    for side in (0, 1):
        eye = Eye(avatar(name), meshed(name), side)

        def gap(blink: float, eye: Eye = eye) -> float:
            """In radii of the eye."""
            units = unit_vector({**aside, "eyeBlink": blink})
            units = units + eye.hold(units)
            return float(eye._gap + units @ eye._gap_moves) / meshed(name).eye_radius - 0.11

        assert gap(0) > 0.3
        assert gap(1) == pytest.approx(-0.11, abs=0.01)
        assert all(gap(less) > gap(less + 0.1) for less in (0.0, 0.3, 0.6, 0.9))


def opened(name: str, motion: Motion, monkeypatch: pytest.MonkeyPatch) -> NDArray[np.bool_]:
    """The pixels (H, W) between the lids: those that differ between eyes all pupil and eyes all white."""
    one, pictures = face(name), list[NDArray[np.int64]]()
    middle = (np.array(meshed(name).eye_texture.size, np.float32) - 1) / 2
    for texel in (middle, middle * np.array([0.2, 1.0], np.float32)):

        def stare(eye: Eye, _: F32, uv: F32, texel: NDArray[np.floating] = texel) -> None:
            uv[np.unique(eye.triangles)] = texel

        with monkeypatch.context() as patch:
            patch.setattr(Eye, "turn", stare)
            pictures.append(one.draw(motion, one.canvas()).astype(np.int64))
    return np.abs(pictures[1] - pictures[0]).max(-1) > SHOWN


def seen_pupils(name: str, across: float, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How far to the viewer's right of the middle of its opening each pupil lies, in widths of the opening,
    the model's left eye first."""
    motion, mesh, found = moved({}, gaze=(across, 0)), meshed(name), list[float]()
    shows, canvas = opened(name, motion, monkeypatch), face(name).canvas()
    face(name).draw(motion, canvas)
    for own in mesh.eyes:
        mine = np.unique(own)
        off = canvas.uv[mine] - (np.array(mesh.eye_texture.size, np.float32) - 1) / 2
        near = np.abs(off).sum(1).argsort()[:12]
        to_screen = np.column_stack([off[near], np.ones(12)])
        pupil = float(np.linalg.lstsq(to_screen, canvas.screen[mine[near], 0])[0][2])
        least, most = np.rint((canvas.screen[mine, 0].min(), canvas.screen[mine, 0].max())).astype(np.int64)
        columns = np.flatnonzero(shows[:, least:most].any(0)) + int(least)
        found.append((pupil - float(columns[0] + columns[-1]) / 2) / len(columns))
    return found


@pytest.mark.parametrize("name", ["ruby", "marcus"])
@pytest.mark.parametrize("across", [-0.5, 0.0, 0.5])
def test_both_eyes_turn_alike(name: str, across: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """They meet at the viewer, a trifle nearer to the nose, wherever their balls lie behind the lids."""
    left, right = seen_pupils(name, across, monkeypatch)
    assert -0.02 < right - left < 0.07
    assert (left + right) / 2 == pytest.approx(0.26 * across, abs=0.05)


@pytest.mark.parametrize("side", [0, 1])
def test_a_lowered_lid_throws_a_shadow(mesh: Mesh, side: int) -> None:
    eye = Eye(avatar(), mesh, side)
    lights = [lit(eye, {"eyeBlink": blink}) for blink in (0.0, 0.4, 0.8)]
    assert lights[0][2] < lights[1][2] < lights[2][2]
    assert 0 < lights[0][3] < lights[1][3] <= lights[2][3]


def test_the_light_in_an_eye_follows_its_turn_in_part(mesh: Mesh) -> None:
    eye = Eye(avatar(), mesh, 0)
    ahead, right = lit(eye, {}), lit(eye, {}, (1, 0))
    assert 0 < right[0] - ahead[0] < SWING_DEG[0] / 90
    assert right[1] == ahead[1]


@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_both_eyes_mirror_the_light_at_one_place_from_their_pupils(name: str) -> None:
    mesh, found = meshed(name), list[F32]()
    for side in (0, 1):
        eye, uv = Eye(avatar(name), mesh, side), mesh.uv.copy()
        eye.turn(np.zeros(2, np.float32), uv)
        mine = np.unique(mesh.eyes[side])
        off = uv[mine] - (np.array(mesh.eye_texture.size, np.float32) - 1) / 2
        near = np.abs(off).sum(1).argsort()[:12]
        to_place = np.column_stack([off[near], np.ones(12)])
        pupil = np.linalg.lstsq(to_place, eye.place[mine[near]])[0][2]
        found.append((lit(eye, {})[:2] - pupil).astype(np.float32))
    assert found[0] == pytest.approx(found[1], abs=0.02)
    assert (found[0] < -0.05).all()


@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_the_light_in_an_eye_is_not_hidden_by_the_lid(name: str) -> None:
    for side in (0, 1):
        light = lit(Eye(avatar(name), meshed(name), side), {})
        assert light[1] > light[2] + 0.05
        assert light[1] < 0.15


def ball(light: F32, *, shade: float = 1.0) -> NDArray[np.uint8]:
    """A flat grey eye of places -1..1 over the whole picture, (H, W) of its red."""
    corners = np.array([(0, 0, 1), (0, SIDE, 1), (SIDE, SIDE, 1), (SIDE, 0, 1)], np.float32)
    place = np.ascontiguousarray(corners[:, :2] / (SIDE / 2) - 1)
    out, depth = np.zeros(SIDE * SIDE, np.uint32), np.full(SIDE * SIDE, raster.FAR, np.float32)
    draw_eye(
        corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), np.zeros((4, 2), np.float32), place,
        np.full(4, shade, np.float32), light, np.full(9, 0xFF646464, np.uint32), 3, out, depth, SIDE,
        SCRATCH.spans, SCRATCH.depths,
    )  # fmt: skip
    return out.view(np.uint8).reshape(SIDE, SIDE, 4)[..., 0]


def test_an_eye_is_its_texture_times_its_shade_and_darker_to_its_sides() -> None:
    away = np.array([9, 9, -9, 0], np.float32)
    assert (ball(away)[:, SIDE // 2] == 100).all()
    assert (ball(away, shade=0.5)[:, SIDE // 2] == 50).all()
    across = ball(away)[0, SIDE // 2 :].astype(int)
    assert (np.diff(across) <= 0).all()
    assert 60 < across[-1] < 85


def test_an_iris_gathers_light_across_from_where_it_comes() -> None:
    corners = np.array([(0, 0, 1), (0, SIDE, 1), (SIDE, SIDE, 1), (SIDE, 0, 1)], np.float32)
    uv = np.ascontiguousarray(corners[:, :2] / SIDE * 31)
    out, depth = np.zeros(SIDE * SIDE, np.uint32), np.full(SIDE * SIDE, raster.FAR, np.float32)
    draw_eye(
        corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), uv, np.zeros((4, 2), np.float32),
        np.ones(4, np.float32), np.array([9, 9, -9, 0], np.float32), np.full(33 * 33, 0xFF646464, np.uint32),
        33, out, depth, SIDE, SCRATCH.spans, SCRATCH.depths,
    )  # fmt: skip
    red = out.view(np.uint8).reshape(SIDE, SIDE, 4)[..., 0].astype(int)
    middle, off = SIDE // 2, SIDE // 13
    assert red[middle + off, middle + off] > 115
    assert red[middle - off, middle - off] < 85
    assert red[middle - off, middle + off] == pytest.approx(100, abs=3)
    assert (red[: SIDE // 4] == 100).all()


def test_the_light_is_mirrored_at_its_place() -> None:
    lit = ball(np.array([0.5, -0.5, -9, 0], np.float32))
    y, x = np.unravel_index(int(lit.argmax()), lit.shape)
    assert lit.max() > 200
    assert (x, y) == pytest.approx((SIDE * 0.75, SIDE * 0.25), abs=1.1)
    assert (lit > 110).sum() < 24


def test_a_shadow_lies_below_the_lids_edge() -> None:
    dark = ball(np.array([9, 9, -0.2, 0.45], np.float32))[:, SIDE // 2]
    edge = int(SIDE * 0.4)
    assert dark[edge + 1] < 70
    assert dark[edge + 16] == 100
