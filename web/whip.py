"""A voice over WHIP: an offer to send sound, which is cut into utterances and spoken."""

import logging
import time
from typing import Protocol

import numpy as np
from aiortc import RTCPeerConnection
from aiortc.mediastreams import MediaStreamError
from av import AudioFrame
from numpy.typing import NDArray

from ..stream.channel import Channel
from ..stream.clock import PROGRAM_HZ
from ..stream.errors import LinkError, UsageError
from ..stream.level import VoiceGate
from ..stream.pcm import from_float
from . import sender
from .chores import Chores
from .intake import CutReason, Utterance
from .peer import Peer, Peers, parse_offer
from .program import Program

_LOG = logging.getLogger(__name__)

BACKLOG = 250
"""Pieces of 20 ms that wait while somebody else speaks: 5 s; of more, the newest are lost."""

Decided = NDArray[np.float32] | None
"""Speech, or None for its end."""


class SoundTrack(Protocol):
    """What a microphone sends, decoded."""

    async def recv(self) -> object: ...


class Microphone:
    """One client's voice, spoken into a session as segments `mic-1`, `mic-2` and so on.

    The rest of an utterance that was interrupted is not said.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._gate = VoiceGate(PROGRAM_HZ)
        # One more than speech may take, so that an end always has room, and two ends in a row are one.
        self._decided: Channel[Decided] = Channel(BACKLOG + 1, loser="newest")
        self._ended = True
        self._utterance: Utterance | None = None
        self._closed = False
        self.dropped = 0

    async def listen(self, track: SoundTrack) -> None:
        """Take in what `track` sends until it ends."""
        try:
            while True:
                self.hear(mono(await track.recv()))
        except MediaStreamError:
            self.close()

    def hear(self, samples: NDArray[np.float32]) -> None:
        """Take in (N,) float32 at 48 kHz."""
        speech: list[NDArray[np.float32]] = []
        for _, part in self._gate.feed(samples):
            if part is not None:
                speech.append(part)
                continue
            self._decide(speech)
            speech = []
            self._decide_end()
        self._decide(speech)
        self._program.bell.ring()

    async def speak(self) -> None:
        """Say what was heard, in turn with the session's other voices, until `close`."""
        bell = self._program.bell
        while True:
            await bell.until(lambda: len(self._decided) > 0 or self._closed)
            if not len(self._decided):
                break
            await self._say(self._decided.get())
        await self._say(None)

    def close(self) -> None:
        """Nothing more is heard."""
        self._closed = True
        self._program.bell.ring()

    def _decide(self, speech: list[NDArray[np.float32]]) -> None:
        if not speech:
            return
        if len(self._decided) >= BACKLOG:
            self.dropped += 1
            return
        self._decided.put(np.concatenate(speech))
        self._ended = False

    def _decide_end(self) -> None:
        if not self._ended:
            self._decided.put(None)
        self._ended = True

    async def _say(self, decided: Decided) -> None:
        if decided is None:
            if self._utterance is not None:
                self._utterance.end()
            self._utterance = None
            return
        if self._utterance is None or self._utterance.cut not in (None, CutReason.INTERRUPTED):
            self._utterance = self._program.intake.utter(self._program.intake.fresh_label("mic"))
        await self._utterance.feed(from_float(decided), PROGRAM_HZ)


async def ingest(peers: Peers, chores: Chores, program: Program, offer: str) -> Peer:
    """Answer the offer of a client that sends sound. Raises ProtocolError, UsageError or CapacityError."""
    _check(offer)
    microphone = Microphone(program)

    def prepare(connection: RTCPeerConnection) -> None:
        transceiver = connection.addTransceiver("audio", direction="recvonly")
        transceiver.setCodecPreferences(sender.codecs_of("audio", "opus"))
        sender.hurry(transceiver.receiver)

    def ended() -> None:
        microphone.close()
        program.leave(microphone, time.monotonic_ns())

    peer = await peers.connect(
        "whip",
        program.what.name,
        offer,
        prepare=prepare,
        connected=lambda: None,
        ended=ended,
    )
    program.join(microphone)
    track = peer.connection.getTransceivers()[0].receiver.track
    chores.spawn(microphone.listen(track), "microphone")
    chores.spawn(microphone.speak(), "microphone's speech")
    return peer


def mono(frame: object) -> NDArray[np.float32]:
    """(N,) float32 at 48 kHz of a decoded Opus frame, which is interleaved s16 stereo."""
    if not isinstance(frame, AudioFrame) or frame.sample_rate != PROGRAM_HZ:
        raise LinkError("the microphone's decoder gave something other than sound at 48 kHz")
    samples = frame.to_ndarray().reshape(-1, len(frame.layout.channels))
    return samples.mean(axis=1, dtype=np.float32) / np.float32(32768)


def _check(offer: str) -> None:
    sending = [
        media
        for media in parse_offer(offer).media
        if media.kind == "audio" and media.direction in ("sendonly", "sendrecv") and media.port
    ]
    if not sending:
        raise UsageError("the offer sends no sound; a microphone offers sendonly audio")
    if all(codec.name.lower() != "opus" for media in sending for codec in media.rtp.codecs):
        raise UsageError("this server takes Opus, which the offer lacks; offer it")
