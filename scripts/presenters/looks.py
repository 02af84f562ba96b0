"""How ruby and marcus look: colours of skin, eyes and hair, and the studio's light, as frozen data.

Lengths are in model units (1 unit = 1 dm), colours are 8-bit sRGB triples, shares run from 0 to 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

Rgb = tuple[int, int, int]
Throat = Literal["bones", "larynx"]


@dataclass(frozen=True, slots=True)
class SkinLook:
    """Colours of the skin's zones and how strongly they show; `age` scales lines and folds, `mottle` how far
    the skin's tone varies from place to place; `throat` is what shows under it there."""

    base: Rgb
    warm: Rgb
    spot: Rgb
    blush: Rgb
    lips: Rgb
    lid: Rgb
    scalp: Rgb
    blush_share: float
    lip_share: float
    freckles: float
    vessels: float
    roughness: float
    age: float
    throat: Throat
    mottle: float = 1.0


@dataclass(frozen=True, slots=True)
class EyeLook:
    """Iris colours from the dark ring inward; `iris` and `pupil` are angles in degrees about the axis."""

    ring: Rgb
    outer: Rgb
    inner: Rgb
    white: Rgb = (203, 196, 190)
    iris: float = 30.0
    pupil: float = 10.5
    seed: int = 5


@dataclass(frozen=True, slots=True)
class Grade:
    """What packing does to rendered hair: regions, `region_px` master pixels wide, come closer to the
    lightness `tone`, darker ones by the power `even` and lighter ones by `calm`; strands differ from their
    region by the power `fine`; colours come by `share` closer to grey times `tint`; `floor` is added to
    black."""

    tone: float
    even: float
    calm: float
    tint: tuple[float, float, float]
    share: float
    floor: tuple[float, float, float] = (0.0, 0.0, 0.0)
    fine: float = 1.0
    region_px: float = 16.0


@dataclass(frozen=True, slots=True)
class HairLook:
    """A head of hair: `style` picks the grower; `dark`, `light` bound the strands' colours and `bias` above 1
    makes dark ones the rule, `tips` is how much lighter they end. `grade` is None for hair as it was
    rendered."""

    style: str
    dark: Rgb
    light: Rgb
    bias: float
    roughness: float
    strands: int
    radius: float
    tips: float = 0.12
    grade: Grade | None = None


@dataclass(frozen=True, slots=True)
class BrowLook:
    """Where the brow runs (x from the nose outward, y above the eyes' centres) and its hairs;
    `ends` are how few of them grow at the nose and at the temple, `grey` how far they are salt and pepper."""

    dark: Rgb
    light: Rgb
    hairs: int
    x: tuple[float, float]
    y: float
    arch: float
    fall: float
    thick: float
    length: float
    radius: float
    ends: tuple[float, float] = (1.3, 1.05)
    grey: float = 0.0


@dataclass(frozen=True, slots=True)
class BeardLook:
    """A short full beard; `dark`, `light` and `bias` as in HairLook; `grade` brings it to one tone."""

    dark: Rgb
    light: Rgb
    bias: float
    strands: int
    length: float
    radius: float
    grade: Grade


@dataclass(frozen=True, slots=True)
class LightLook:
    """Watts of the studio's lamps, of which two light the hair alone, `hair` its crown and `locks` its
    lengths, strength of the surrounding grey, and exposure in stops."""

    key: float = 700.0
    fill: float = 115.0
    rim_right: float = 150.0
    rim_left: float = 95.0
    top: float = 70.0
    under: float = 12.0
    hair: float = 0.0
    locks: float = 0.0
    around: float = 0.28
    exposure: float = 0.45


@dataclass(frozen=True, slots=True)
class Look:
    """All that is painted, grown or lit of one presenter; `beard` is None for a bare chin."""

    skin: SkinLook
    eye: EyeLook
    hair: HairLook
    brow: BrowLook
    beard: BeardLook | None = None
    light: LightLook = field(default_factory=LightLook)


RUBY: Final = Look(
    skin=SkinLook(
        base=(216, 164, 139),
        warm=(202, 136, 108),
        spot=(176, 114, 88),
        blush=(212, 118, 98),
        lips=(182, 88, 84),
        lid=(180, 120, 102),
        scalp=(104, 74, 61),
        blush_share=0.20,
        lip_share=0.80,
        freckles=0.12,
        vessels=0.03,
        roughness=0.43,
        age=0.0,
        throat="bones",
        mottle=0.45,
    ),
    eye=EyeLook(ring=(34, 24, 18), outer=(92, 62, 36), inner=(138, 94, 48), pupil=9.6),
    hair=HairLook(
        style="bob",
        dark=(17, 12, 9),
        light=(74, 49, 34),
        bias=1.4,
        roughness=0.24,
        strands=48000,
        radius=0.0015,
        tips=0.42,
        grade=Grade(
            tone=54,
            even=0.14,
            calm=0.14,
            tint=(1.34, 0.95, 0.74),
            share=0.42,
            floor=(4, 3, 2),
            fine=1.22,
            region_px=26.0,
        ),
    ),
    brow=BrowLook(
        dark=(46, 35, 29),
        light=(88, 68, 55),
        hairs=600,
        x=(0.138, 0.545),
        y=0.147,
        arch=0.058,
        fall=0.056,
        thick=0.074,
        length=0.066,
        radius=0.0011,
        ends=(1.25, 1.35),
    ),
    light=LightLook(fill=150.0, hair=190.0, locks=300.0, exposure=0.53),
)

MARCUS: Final = Look(
    skin=SkinLook(
        base=(204, 157, 136),
        warm=(192, 131, 109),
        spot=(158, 104, 82),
        blush=(194, 104, 88),
        lips=(180, 106, 98),
        lid=(176, 118, 100),
        scalp=(128, 104, 94),
        blush_share=0.22,
        lip_share=0.60,
        freckles=0.20,
        vessels=0.22,
        roughness=0.44,
        age=1.7,
        throat="larynx",
    ),
    eye=EyeLook(ring=(38, 38, 38), outer=(94, 99, 98), inner=(130, 114, 88), seed=9),
    hair=HairLook(
        style="cropped",
        dark=(40, 33, 28),
        light=(172, 166, 158),
        bias=1.3,
        roughness=0.40,
        strands=52000,
        radius=0.0015,
        grade=Grade(tone=100, even=0.2, calm=0.62, tint=(1.045, 0.988, 0.94), share=0.80, fine=1.28),
    ),
    brow=BrowLook(
        dark=(42, 35, 31),
        light=(132, 122, 113),
        hairs=1350,
        x=(0.110, 0.565),
        y=0.120,
        arch=0.040,
        fall=0.024,
        thick=0.098,
        length=0.082,
        radius=0.0013,
        ends=(1.35, 1.50),
        grey=0.6,
    ),
    beard=BeardLook(
        dark=(56, 44, 35),
        light=(192, 180, 166),
        bias=1.0,
        strands=40000,
        length=0.062,
        radius=0.0013,
        grade=Grade(
            tone=102, even=0.45, calm=0.45, tint=(1.075, 0.985, 0.91), share=0.7, fine=1.15, region_px=20.0
        ),
    ),
    light=LightLook(rim_right=75.0, rim_left=60.0, top=70.0),
)

LOOKS: Final[Mapping[str, Look]] = MappingProxyType({"ruby": RUBY, "marcus": MARCUS})
