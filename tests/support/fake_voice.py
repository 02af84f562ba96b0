"""A speech process that makes tones: each sentence a tenth of a second for each of its words.

A text with the word `fail` in it cannot be spoken; one with `hang` keeps silent.
"""

import argparse
import socket

import numpy as np
from visavis.stream.link import to_frame
from visavis.stream.pcm import from_float
from visavis.web.voice_link import Cancel, Done, More, Piece, Speak, Voices, voice_inbox

RATE = 24_000
WORD_SAMPLES = RATE // 10


class FakeVoice:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._left: dict[int, list[str]] = {}
        self._credit: dict[int, int] = {}

    def run(self) -> None:
        inbox = voice_inbox()
        self._connection.sendall(to_frame(Voices(("heart", "emma"))))
        while data := self._connection.recv(1 << 16):
            for message in inbox.feed(data):
                self._obey(message)

    def _obey(self, message: Speak | More | Cancel) -> None:
        match message:
            case Speak():
                self._left[message.job] = [part for part in message.text.split(".") if part.strip()]
                self._credit[message.job] = message.credit
            case More():
                self._credit[message.job] = self._credit.get(message.job, 0) + 1
            case Cancel():
                self._left.pop(message.job, None)
                return
        self._speak(message.job)

    def _speak(self, job: int) -> None:
        while job in self._left and self._credit[job] > 0:
            if not self._left[job]:
                del self._left[job]
                self._connection.sendall(to_frame(Done(job)))
                return
            sentence = self._left[job].pop(0)
            if "hang" in sentence:
                self._left[job].insert(0, sentence)
                return
            if "fail" in sentence:
                self._left[job].clear()
                self._connection.sendall(to_frame(Done(job, "this cannot be spoken")))
                del self._left[job]
                return
            self._credit[job] -= 1
            self._connection.sendall(to_frame(self._piece(job, sentence)))

    def _piece(self, job: int, sentence: str) -> Piece:
        samples = WORD_SAMPLES * len(sentence.split())
        tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(samples) / RATE)
        return Piece(job, RATE, from_float(tone.astype(np.float32)), ((0, 0, samples),))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    with socket.socket(fileno=parser.parse_args().fd) as connection:
        FakeVoice(connection).run()


if __name__ == "__main__":
    main()
