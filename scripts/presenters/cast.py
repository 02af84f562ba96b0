"""Who the presenters are: the parameters of their shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Shape:
    """What `person.Person` is built from.

    `old` mixes young (0) and old (1), `origins` weigh the macro targets and sum to 1, `targets` are weights
    of detail targets, `rest` weights of face units that are part of the rest pose. `slim` thins the
    arms, `teeth_drop` lowers the upper teeth in dm, `distance` is the camera's in dm, `eyeballs` is how
    large they are against the base mesh's, with the same front.
    """

    sex: str
    old: float
    origins: Mapping[str, float]
    targets: Mapping[str, float]
    rest: Mapping[str, float]
    slim: float
    teeth_drop: float
    distance: float
    arms_deg: float = 39.0
    eyeballs: float = 1.0


@dataclass(frozen=True, slots=True)
class Cast:
    """One presenter: `name` is the folder's, `title` what viewers read."""

    name: str
    title: str
    shape: Shape
    colors: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)


def _both(targets: Mapping[str, float]) -> dict[str, float]:
    """Weights by "folder/target" for both sides: the data has "l-target" and "r-target"."""
    split = [(*name.split("/"), weight) for name, weight in targets.items()]
    return {f"{folder}/{side}-{name}": weight for folder, name, weight in split for side in "lr"}


def _pair(units: Mapping[str, float]) -> dict[str, float]:
    """Face units of both sides: "mouthSmile" becomes "mouthSmileLeft" and "mouthSmileRight"."""
    return {f"{name}{side}": weight for name, weight in units.items() for side in ("Left", "Right")}


RUBY: Final = Cast(
    name="ruby",
    title="Ruby",
    shape=Shape(
        sex="female",
        old=0.10,
        origins=MappingProxyType({"caucasian": 0.62, "asian": 0.22, "african": 0.16}),
        targets=MappingProxyType(
            {
                "head/head-oval": 0.10,
                "head/head-scale-horiz-decr": 0.34,
                "head/head-invertedtriangular": 0.15,
                "chin/chin-height-decr": 0.15,
                "chin/chin-width-decr": 0.75,
                "chin/chin-triangle": 0.35,
                "chin/chin-bones-decr": 0.40,
                "head/head-fat-decr": 0.60,
                "forehead/forehead-scale-vert-decr": 0.45,
                "nose/nose-scale-horiz-decr": 0.60,
                "nose/nose-scale-vert-decr": 0.15,
                "nose/nose-point-up": 0.20,
                "nose/nose-point-width-decr": 0.40,
                "nose/nose-width2-decr": 0.30,
                "nose/nose-width1-decr": 0.20,
                "mouth/mouth-upperlip-volume-incr": 0.45,
                "mouth/mouth-lowerlip-volume-incr": 0.25,
                "mouth/mouth-scale-horiz-incr": 0.10,
                "mouth/mouth-angles-up": 0.30,
                "mouth/mouth-cupidsbow-incr": 0.25,
                "neck/neck-scale-horiz-decr": 0.32,
                "neck/measure-neck-height-decr": 0.40,
                "torso/measure-shoulder-dist-decr": 0.80,
                "torso/torso-vshape-decr": 0.30,
            }
            | _both(
                {
                    "eyes/eye-scale-incr": 1.65,
                    "eyes/eye-trans-out": 0.20,
                    "eyes/eye-height2-incr": 0.10,
                    "eyes/eye-bag-decr": 0.80,
                    "eyes/eye-corner2-up": 0.10,
                    "eyes/eye-corner1-up": 0.60,
                    "cheek/cheek-volume-decr": 0.35,
                    "cheek/cheek-inner-decr": 0.20,
                    "cheek/cheek-bones-incr": 0.50,
                    "ears/ear-scale-decr": 0.50,
                    "ears/ear-wing-decr": 0.50,
                }
            )
        ),
        rest=MappingProxyType(
            _pair(
                {
                    "mouthSmile": 0.48,
                    "cheekSquint": 0.24,
                    "mouthDimple": 0.06,
                    "mouthLowerDown": -0.20,
                }
            )
            | {"jawOpen": -0.07}
        ),
        slim=0.30,
        teeth_drop=0.055,
        eyeballs=1.05,
        distance=11.3,
    ),
    colors=MappingProxyType({"jacket": (22, 44, 72), "shirt": (236, 228, 218)}),
)

MARCUS: Final = Cast(
    name="marcus",
    title="Marcus",
    shape=Shape(
        sex="male",
        old=0.42,
        origins=MappingProxyType({"caucasian": 0.70, "asian": 0.08, "african": 0.22}),
        targets=MappingProxyType(
            {
                "head/head-oval": 0.25,
                "head/head-age-incr": 0.20,
                "head/head-scale-horiz-incr": 0.18,
                "head/head-square": 0.10,
                "neck/measure-neck-height-incr": 0.40,
                "torso/torso-muscle-pectoral-decr": 0.90,
                "chin/chin-width-incr": 0.20,
                "chin/chin-prominent-incr": 0.15,
                "eyebrows/eyebrows-trans-down": 0.45,
                "eyebrows/eyebrows-trans-forward": 0.35,
                "forehead/forehead-scale-vert-decr": 0.45,
                "nose/nose-hump-incr": 0.12,
                "mouth/mouth-scale-horiz-decr": 0.18,
                "mouth/mouth-upperlip-volume-incr": 0.35,
                "mouth/mouth-lowerlip-height-decr": 0.25,
                "neck/neck-scale-horiz-decr": 0.45,
                "torso/measure-shoulder-dist-decr": 0.90,
                "torso/torso-vshape-decr": 0.80,
            }
            | _both(
                {
                    "eyes/eye-scale-incr": 0.70,
                    "eyes/eye-trans-in": 0.20,
                    "eyes/eye-height2-incr": 0.35,
                    "eyes/eye-eyefold-up": 0.20,
                    "eyes/eye-eyefold-angle-up": 0.50,
                    "eyes/eye-corner2-up": 0.55,
                    "eyes/eye-bag-decr": 0.45,
                    "cheek/cheek-bones-incr": 0.45,
                    "ears/ear-scale-decr": 0.20,
                    "ears/ear-wing-decr": 0.30,
                }
            )
        ),
        rest=MappingProxyType(
            _pair(
                {
                    "mouthSmile": 0.36,
                    "cheekSquint": 0.18,
                    "mouthDimple": 0.08,
                    "eyeWide": 0.24,
                    "eyeSquint": 0.16,
                    "browDown": 0.14,
                }
            )
            | {"jawOpen": -0.025, "browInnerUp": -0.35}
        ),
        slim=0.26,
        teeth_drop=0.045,
        distance=12.4,
    ),
    colors=MappingProxyType({"jacket": (34, 36, 42), "shirt": (150, 170, 196)}),
)

CAST: Final = MappingProxyType({each.name: each for each in (RUBY, MARCUS)})
