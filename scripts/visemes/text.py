"""Sentences to be spoken: made up on the spot, so that every sound meets every other."""

import gzip
import json
import random
from collections.abc import Sequence
from importlib.resources import files

SENTENCES = (
    "Hello, and welcome back to the show.",
    "My mother bought five pounds of fresh beef from the market.",
    "Can you hear me now, or shall I speak up?",
    "We have very few visitors before the first of February.",
    "Put the paper cup back on top of the box, please.",
    "The judge changed her mind about the choice of church music.",
    "Thirty-three thieves thought that they thrilled the throne.",
    "I would love to, but maybe we should wait until tomorrow.",
    "Our office opens at half past eight every weekday morning.",
    "Big black bugs bit the brown bear on the bottom of his paw.",
    "That is a really good question; let me explain it once more.",
    "Few people ever visit the village above the valley.",
    "She wore a yellow woollen jumper and a pair of purple boots.",
    "Why on earth would he leave without saying a word?",
    "The phone rang, so I picked it up and whispered, who is this?",
    "Measure the pleasure of leisure against the treasure you keep.",
    "A boy named Roy enjoys the noise of his new toy.",
    "Go slowly over the old stone road, and hold on to the rope.",
    "No, I do not think so. Maybe. Perhaps. All right, yes.",
    "Please press the button marked power and wait for the beep.",
    "Mum and dad are coming home from Birmingham by bus.",
    "He left the knife and the fork beside the loaf of bread.",
    "What a beautiful view from the window of the upper room!",
    "Every evening the fishermen come back with empty nets.",
    "You can always call us back if something does not work.",
    "Five famous film makers filmed five flawless features.",
    "In my opinion, it is simply too expensive to build.",
    "Look, the moon is rising over the blue pool in the wood.",
    "The teacher asked each child to choose a chapter to read.",
    "Thank you for your patience; the next speaker is about to begin.",
)
COMMON = (  # noqa: SIM905 (a list of words is read as a text)
    "the a of and to in is you that it he was for on are as with his they at be this have from or one had by "
    "word but not what all were we when your can said there use an each which she do how their if will up "
    "other about out many then them these so some her would make like him into time has look two more write "
    "go see number no way could people my than first water been call who its now find long down day did get "
    "come made may part over new sound take only little work know place year live me back give most very"
).split()
_NATURAL, _FREQUENT, _COMMA = 0.3, 0.45, 0.35


def sentence(chance: random.Random, words: Sequence[str]) -> str:
    """A sentence to speak: one of `SENTENCES`, or a row of common words and of any of `words`."""
    if chance.random() < _NATURAL:
        return chance.choice(SENTENCES)
    row = [
        chance.choice(COMMON if chance.random() < _FREQUENT else words) for _ in range(chance.randint(5, 12))
    ]
    if chance.random() < _COMMA:
        row[len(row) // 2] += ","
    return " ".join(row).capitalize() + chance.choice("...?!")


def words() -> list[str]:
    """Every plain English word that hibari's lexicon spells out."""
    packed = files("hibari").joinpath("assets", "lexicon_us_gold.json.gz").read_bytes()
    lexicon: dict[str, object] = json.loads(gzip.decompress(packed))
    return [
        word
        for word in lexicon
        if word.isascii() and word.isalpha() and word.islower() and 2 < len(word) < 12
    ]
