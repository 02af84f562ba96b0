from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sound import Sound, cuts, level_db, noise, pieces, sine
from visavis.stream.errors import AudioError
from visavis.stream.resample import Decimator, Resampler, check_rate

RATES = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 47_999, 48_000]
EACH = pytest.mark.parametrize("rate", RATES)
LENGTH = 6000
NOISE = noise(LENGTH, level_db=-12)


def resampled(rate: int, parts: list[Sound]) -> Sound:
    resampler = Resampler(rate)
    return np.concatenate([*(resampler.step(part) for part in parts), resampler.flush()])


def spectrum_db(samples: Sound) -> Sound:
    """Power (N / 2 + 1,) of each bin of a windowed transform, in dB of a full-scale sine."""
    window = np.kaiser(len(samples), 20)
    power = np.abs(np.fft.rfft(samples * window)) / (window.sum() / 2)
    return 20 * np.log10(power + 1e-12)


@given(st.sampled_from(RATES), cuts(LENGTH))
@settings(max_examples=60)
def test_the_same_samples_come_out_however_the_sound_was_cut(rate: int, at: list[int]) -> None:
    assert np.array_equal(resampled(rate, pieces(NOISE, at)), resampled(rate, [NOISE]))


@EACH
def test_samples_may_come_one_by_one(rate: int) -> None:
    few = NOISE[:500]
    assert np.array_equal(resampled(rate, list(few.reshape(-1, 1))), resampled(rate, [few]))


@given(st.integers(8_000, 48_000), st.integers(0, 3000))
@settings(max_examples=60)
def test_the_length_is_right_to_within_one_sample(rate: int, count: int) -> None:
    exact = Fraction(count * 48_000, rate)
    assert abs(len(resampled(rate, [NOISE[:count]])) - exact) <= 1


@EACH
def test_the_length_is_still_right_after_a_minute(rate: int) -> None:
    assert abs(len(resampled(rate, [np.zeros(rate, np.float32)] * 60)) - 60 * 48_000) <= 1


@EACH
def test_a_sine_of_1_khz_keeps_its_level_its_pitch_and_its_place(rate: int) -> None:
    out = resampled(rate, [sine(1000, rate, rate)])
    middle = slice(4800, 43_200)
    np.testing.assert_allclose(out[middle], sine(1000, 48_000, 48_000)[middle], atol=1e-4)


@EACH
@pytest.mark.parametrize("share", [0.03, 0.2, 0.4])
def test_a_tone_makes_no_other_tones(rate: int, share: float) -> None:
    hz = 5 * round(share * rate / 5)
    out = resampled(rate, [sine(hz, rate, rate)])[4800:-4800]
    levels = spectrum_db(out)
    bins = np.arange(len(levels)) * 48_000 / len(out)
    assert levels[np.abs(bins - hz) > 60].max() < -100
    assert levels.max() == pytest.approx(-6.02, abs=0.1)


@EACH
def test_everything_is_float32_and_nothing_is_made_of_nothing(rate: int) -> None:
    resampler = Resampler(rate)
    assert resampler.step(NOISE).dtype == np.float32
    assert resampler.flush().dtype == np.float32
    assert len(resampled(rate, [])) == 0


def test_the_programme_rate_passes_untouched_and_at_once() -> None:
    assert np.array_equal(Resampler(48_000).step(NOISE), NOISE)


@pytest.mark.parametrize("rate", [-1, 0, 7_999, 48_001, 96_000])
def test_other_rates_are_refused_with_the_range(rate: int) -> None:
    for refuses in (check_rate, Resampler):
        with pytest.raises(AudioError, match=f"between 8000 and 48000 Hz, not {rate}"):
            refuses(rate)


def test_the_ends_of_the_range_are_taken() -> None:
    assert (check_rate(8_000), check_rate(48_000)) == (8_000, 48_000)


def test_the_decimator_is_one_millisecond_late_and_no_more() -> None:
    click = np.zeros(1920, np.float32)
    click[600] = 1
    heard = Decimator().step(click)
    assert heard.shape == (640,)
    assert int(np.argmax(np.abs(heard))) == (600 + 48) // 3


@pytest.mark.parametrize("hz", [100, 1000, 4000, 6500])
def test_speech_passes_the_decimator_unchanged_but_for_its_delay(hz: int) -> None:
    heard = Decimator().step(sine(hz, 48_000, 9600))
    expected = sine(hz, 16_000, 3200)
    np.testing.assert_allclose(heard[100:], expected[84:-16], atol=2e-3)


@pytest.mark.parametrize(
    ("hz", "least", "most"),
    [(6_800, -0.3, 0.05), (7_500, -6.5, -5.5), (8_010, -22, -19), (8_500, -90, -60), (12_000, -100, -70)],
)
def test_the_decimator_has_the_response_that_is_written_down(hz: int, least: float, most: float) -> None:
    heard = Decimator().step(sine(hz, 48_000, 48_000))[100:]
    assert least < level_db(heard) - level_db(sine(hz, 48_000, 48_000)) < most


@pytest.mark.parametrize("hz", range(8_500, 24_000, 500))
def test_nothing_above_the_heard_band_folds_back_into_it(hz: int) -> None:
    heard = Decimator().step(sine(hz, 48_000, 9600, level=1.0))[100:]
    assert np.abs(heard).max() < 1.2e-3


@given(cuts(400))
@settings(max_examples=40)
def test_the_decimator_gives_the_same_however_many_samples_come_at_once(at: list[int]) -> None:
    sound = noise(1203, level_db=-12)
    decimator, edges = Decimator(), sorted({3 * edge for edge in at} - {0})
    parts = [decimator.step(part) for part in pieces(sound, edges)]
    np.testing.assert_allclose(np.concatenate(parts), Decimator().step(sound), atol=1e-6)


def test_a_reset_decimator_has_forgotten_the_past() -> None:
    decimator = Decimator()
    decimator.step(NOISE[:1920])
    decimator.reset()
    assert np.array_equal(decimator.step(NOISE[:1920]), Decimator().step(NOISE[:1920]))
