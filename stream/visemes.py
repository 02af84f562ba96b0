"""The 15 mouth shapes that every part of the project speaks of, and the phonemes behind them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

VISEMES = ("aa", "eh", "ih", "oh", "ou", "pp", "ss", "th", "dd", "ff", "kk", "nn", "rr", "ch", "sil")
"""Order of every viseme vector. The names follow the set of 15 that lip-sync tools share."""
SILENCE = VISEMES.index("sil")
ROWS_PER_TICK = 4
"""Viseme rows: one each 10 ms."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A mouth shape known beforehand: `viseme` from sample `start` to `end` of its segment, at the chunk's
    rate.
    """

    viseme: int
    start: int
    end: int


# ruff: noqa: RUF001 (phonetic letters look like others)
_BY_VISEME = {
    "aa": "aɑɐæ",
    "eh": "ɛəʌɜᵊe",
    "ih": "iɪ",
    "oh": "ɔɒo",
    "ou": "uʊ",
    "pp": "pbm",
    "ss": "szʃʒh",
    "th": "θð",
    "dd": "tdTɾ",
    "ff": "fv",
    "kk": "kɡ",
    "nn": "nŋ",
    "rr": "ɹlwjr",
    "ch": "ʧʤ",
}
_SINGLE = {symbol: VISEMES.index(name) for name, symbols in _BY_VISEME.items() for symbol in symbols}
_DIPHTHONG = {
    "A": ("eh", "ih"),
    "I": ("aa", "ih"),
    "W": ("aa", "ou"),
    "Y": ("oh", "ih"),
    "O": ("oh", "ou"),
    "Q": ("eh", "ou"),
}
_LOOKS = {"l": "nn", "ŋ": "kk", "w": "ou", "j": "ih"}
_SEEN = _SINGLE | {symbol: VISEMES.index(name) for symbol, name in _LOOKS.items()}
"""What lips and tongue do for sounds that go by another name where only the ear decides: no L is round."""
_STRESS = frozenset("ˈˌ")
_LONG = "ː"


def cues_of(phonemes: Sequence[str], durations: Iterable[int], *, seen: bool = False) -> list[Cue]:
    """Cues for `phonemes` (one symbol each, pads and punctuation included) that last `durations` samples: as
    a net names sounds that it hears, or as they are `seen` on who says them.

    The cues cover the whole time without a gap. Stress marks lend their time to the sound that follows; a
    length mark or a short word gap holds the shape before it; a diphthong turns at 55 % of its time;
    everything else is silence.
    """
    single = _SEEN if seen else _SINGLE
    cues: list[Cue] = []
    at = 0
    lead: int | None = None
    for symbol, duration in zip(phonemes, durations, strict=True):
        end = at + duration
        if symbol in _STRESS:
            lead = at if lead is None else lead
            at = end
            continue
        begin = at if lead is None else lead
        lead = None
        at = end
        if symbol in _DIPHTHONG:
            first, second = (VISEMES.index(name) for name in _DIPHTHONG[symbol])
            turn = begin + (end - begin) * 55 // 100
            cues += (Cue(first, begin, turn), Cue(second, turn, end))
        elif symbol in single:
            cues.append(Cue(single[symbol], begin, end))
        elif cues and (symbol == _LONG or (symbol == " " and end - begin <= _SHORT_GAP)):
            cues[-1] = Cue(cues[-1].viseme, cues[-1].start, end)
        else:
            cues.append(Cue(SILENCE, begin, end))
    if lead is not None:
        cues.append(Cue(SILENCE, lead, at))
    return cues


_SHORT_GAP = 2400
"""Samples of the synthesiser's 24 kHz under which a gap between words does not close the mouth: 100 ms."""
