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
    arms, `teeth_drop` lowers the upper teeth in dm, `distance` is the camera's in dm.
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


RUBY: Final = Cast(
    name="ruby",
    title="Ruby",
    shape=Shape(
        sex="female",
        old=0.14,
        origins=MappingProxyType({"caucasian": 0.62, "asian": 0.22, "african": 0.16}),
        targets=MappingProxyType(
            {
                "head/head-oval": 0.45,
                "head/head-scale-horiz-decr": 0.22,
                "chin/chin-height-decr": 0.20,
                "chin/chin-width-decr": 0.35,
                "forehead/forehead-scale-vert-decr": 0.35,
                "nose/nose-scale-horiz-decr": 0.25,
                "nose/nose-scale-vert-decr": 0.15,
                "nose/nose-point-up": 0.15,
                "mouth/mouth-upperlip-volume-incr": 0.25,
                "mouth/mouth-lowerlip-volume-incr": 0.2,
                "mouth/mouth-scale-horiz-incr": 0.25,
                "mouth/mouth-angles-up": 0.25,
                "mouth/mouth-dimples-in": 0.15,
                "neck/neck-scale-horiz-decr": 0.15,
                "neck/measure-neck-height-decr": 0.6,
                "torso/measure-shoulder-dist-decr": 0.8,
                "torso/torso-vshape-decr": 0.3,
            }
            | _both(
                {
                    "cheek/cheek-inner-decr": 0.15,
                    "eyes/eye-scale-incr": 0.85,
                    "eyes/eye-trans-in": 0.35,
                    "eyes/eye-height2-incr": 0.15,
                    "cheek/cheek-volume-incr": 0.05,
                    "cheek/cheek-bones-incr": 0.2,
                    "ears/ear-scale-decr": 0.5,
                    "ears/ear-wing-decr": 0.5,
                    "eyes/eye-bag-decr": 0.3,
                    "eyes/eye-corner2-up": 0.15,
                }
            )
        ),
        rest=MappingProxyType(
            {
                "mouthSmileLeft": 0.36,
                "mouthSmileRight": 0.36,
                "cheekSquintLeft": 0.2,
                "cheekSquintRight": 0.2,
                "eyeSquintLeft": 0.15,
                "eyeSquintRight": 0.15,
                "eyeBlinkLeft": 0.10,
                "eyeBlinkRight": 0.10,
                "mouthDimpleLeft": 0.1,
                "mouthDimpleRight": 0.1,
            }
        ),
        slim=0.30,
        teeth_drop=0.055,
        distance=10.7,
    ),
    colors=MappingProxyType({"jacket": (22, 44, 72), "shirt": (236, 228, 218)}),
)

MARCUS: Final = Cast(
    name="marcus",
    title="Marcus",
    shape=Shape(
        sex="male",
        old=0.55,
        origins=MappingProxyType({"caucasian": 0.66, "asian": 0.12, "african": 0.22}),
        targets=MappingProxyType(
            {
                "head/head-square": 0.2,
                "head/head-fat-incr": 0.1,
                "head/head-age-incr": 0.30,
                "neck/measure-neck-height-incr": 0.5,
                "torso/torso-muscle-pectoral-decr": 0.9,
                "nose/nose-scale-horiz-incr": 0.1,
                "chin/chin-width-incr": 0.15,
                "forehead/forehead-scale-vert-decr": 0.15,
                "mouth/mouth-angles-up": 0.35,
                "mouth/mouth-scale-horiz-incr": 0.2,
                "neck/neck-scale-horiz-decr": 0.55,
                "torso/measure-shoulder-dist-decr": 0.9,
                "torso/torso-vshape-decr": 0.8,
            }
            | _both(
                {
                    "eyes/eye-scale-incr": 0.50,
                    "eyes/eye-trans-in": 0.25,
                    "eyes/eye-bag-incr": 0.3,
                    "eyes/eye-corner2-up": 0.45,
                    "cheek/cheek-volume-incr": 0.1,
                    "ears/ear-scale-decr": 0.2,
                }
            )
        ),
        rest=MappingProxyType(
            {
                "mouthSmileLeft": 0.42,
                "mouthSmileRight": 0.42,
                "cheekSquintLeft": 0.1,
                "cheekSquintRight": 0.1,
                "mouthDimpleLeft": 0.1,
                "mouthDimpleRight": 0.1,
                "eyeWideLeft": 0.25,
                "eyeWideRight": 0.25,
            }
        ),
        slim=0.26,
        teeth_drop=0.045,
        distance=11.8,
    ),
    colors=MappingProxyType({"jacket": (34, 36, 42), "shirt": (150, 170, 196)}),
)

CAST: Final = MappingProxyType({each.name: each for each in (RUBY, MARCUS)})
