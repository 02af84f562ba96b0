"""What a session needs beside its engine's slot: its avatar, its plate and its encoders."""

from dataclasses import dataclass
from functools import lru_cache

from ..stream.link import Open
from .avatar import Avatar, find_avatar
from .color import color_space
from .composite import Compositor
from .encode import Encoder, open_encoder
from .encode_audio import OpusEncoder
from .engine import DrawsPictures

_PLATES = 8


@dataclass(frozen=True, slots=True)
class Parts:
    """A compositor only where the engine draws crops."""

    avatar: Avatar
    compositor: Compositor | None
    video: Encoder
    audio: OpusEncoder


def parts_for(request: Open, pictures: DrawsPictures | None) -> Parts:
    """For `request`; `pictures` of the engine where it makes whole ones. Raises AvatarError and
    EncoderError."""
    size = (request.width, request.height)
    avatar = find_avatar(request.avatar)
    if pictures:
        # It is decoded and kept here, where nobody who draws waits for it.
        avatar.plate(size)
    compositor = None if pictures else _compositor(request.avatar, size)
    layout = pictures.layout if pictures else "i420"
    video = open_encoder(*size, bitrate_bps=request.bitrate_bps, color=color_space(*size), layout=layout)
    return Parts(avatar, compositor, video, OpusEncoder())


@lru_cache(maxsize=_PLATES)
def _compositor(avatar: str, size: tuple[int, int]) -> Compositor:
    return Compositor(find_avatar(avatar).plate(size), color_space(*size))
