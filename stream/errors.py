"""The errors this project raises on purpose. Each message says what to do about it.

::

    VisavisError
    ├── UsageError            the caller asked for something that cannot be
    │   ├── AudioError        rate, format or amount of audio
    │   ├── ControlError      a live control out of its range
    │   ├── AvatarError       unknown, damaged or unsuitable avatar
    │   └── ProtocolError     a message that is not in the protocol
    ├── CapacityError         full now; try again later
    │   └── StartingError     not up yet, or again; try again in a few seconds
    ├── IllegalTransition     a session event in a state that forbids it
    ├── LinkError             the link between front and worker broke
    ├── EncoderError          no usable encoder, or one lost in mid-stream
    ├── DeviceError           what draws is lost: the worker ends, and another takes over
    └── SetupError            this machine lacks something the user must install
"""


class VisavisError(Exception):
    """Base of the tree. `code` is the stable word used on every wire."""

    code = "failed"


class UsageError(VisavisError):
    code = "bad_request"


class AudioError(UsageError):
    code = "bad_audio"


class ControlError(UsageError):
    code = "bad_control"


class AvatarError(UsageError):
    code = "bad_avatar"


class ProtocolError(UsageError):
    code = "bad_message"


class CapacityError(VisavisError):
    code = "full"


class StartingError(CapacityError):
    code = "starting"


class IllegalTransition(VisavisError):
    code = "illegal_transition"


class LinkError(VisavisError):
    code = "link_lost"


class EncoderError(VisavisError):
    code = "encoder_lost"


class DeviceError(VisavisError):
    code = "device_lost"


class SetupError(VisavisError):
    code = "setup"
