"""Sound made worse on the device that trains: rooms, noise, bands, gain, clipping, and their masks."""

from dataclasses import dataclass

import torch
from torch import Tensor

from .speech import RATE

NO_NOISE, NOISE_ONLY, ROOM, BAND, TILT, CLIP = 0.2, 0.08, 0.4, 0.3, 0.6, 0.1
SNR_DB = (3.0, 40.0)
GAIN_DB = (-34.0, 2.0)
BANDS_HZ = ((300.0, 3400.0), (60.0, 3400.0), (0.0, 4000.0), (100.0, 5500.0), (0.0, 7000.0))
ROOM_SAMPLES = 6400
MEL_MASKS, MEL_MASK_WIDTH, ROW_MASKS, ROW_MASK_WIDTH = 2, 7, 3, 6


@dataclass(frozen=True, slots=True)
class Spoiler:
    """Spoils batches with pieces of `noise` (N,); chance comes from `dice` on the same device."""

    noise: Tensor
    dice: torch.Generator

    def sound(self, clean: Tensor, speaks: Tensor) -> tuple[Tensor, Tensor]:
        """`clean` (B, N) sound, `speaks` (B, N) 0..1 where there is speech.

        The sound spoilt, and which items (B,) hold no speech any more.
        """
        mute = self._odds(clean, NOISE_ONLY)
        voice = clean * ~mute[:, None]
        level = (clean.square() * speaks).sum(1) / speaks.sum(1).clamp(min=1.0)
        voice = self._filtered(voice)
        noisy = voice + self._noise(clean, level.sqrt(), mute)
        noisy = noisy * self._gain(noisy)[:, None]
        limit = self._between(noisy, 0.2, 0.9)[:, None] * noisy.abs().amax(1, keepdim=True)
        clipped = noisy.clamp(-limit, limit)
        noisy = torch.where(self._odds(noisy, CLIP)[:, None], clipped, noisy)
        hiss = 10 ** self._between(noisy, -5.5, -3.7)[:, None]
        return noisy + hiss * torch.randn(noisy.shape, generator=self.dice, device=noisy.device), mute

    def mels(self, mels: Tensor) -> Tensor:
        """Log-mel rows (B, 40, T) with short stretches and a few bands put to their mean."""
        _, bands, rows = mels.shape
        keep = torch.ones_like(mels)
        for count, width, length, axis in (
            (MEL_MASKS, MEL_MASK_WIDTH, bands, 1),
            (ROW_MASKS, ROW_MASK_WIDTH, rows, 2),
        ):
            place = torch.arange(length, device=mels.device)
            for _ in range(count):
                start = self._between(mels, 0, length)[:, None]
                wide = self._between(mels, 0, width)[:, None]
                hidden = (place >= start) & (place < start + wide) & self._odds(mels, 0.5)[:, None]
                keep = keep * (~hidden).unsqueeze(3 - axis)
        return mels * keep + mels.mean((1, 2), keepdim=True) * (1 - keep)

    def _filtered(self, voice: Tensor) -> Tensor:
        """A room, a band and a tilt, all in one product of spectra."""
        size, count = voice.shape
        length = count + ROOM_SAMPLES
        hz = torch.fft.rfftfreq(length, 1 / RATE, device=voice.device)
        t = torch.arange(ROOM_SAMPLES, device=voice.device) / RATE
        decay = self._between(voice, 0.02, 0.12)[:, None]
        echo = torch.randn((size, ROOM_SAMPLES), generator=self.dice, device=voice.device)
        echo = echo * torch.exp(-t / decay) * (t > 0.002)
        loud = 10 ** self._between(voice, -1.2, -0.1)[:, None] * self._odds(voice, ROOM)[:, None]
        echo = echo / echo.square().sum(1, keepdim=True).sqrt() * loud
        shape = 1 + torch.fft.rfft(echo, length)
        tilt_db = self._between(voice, -5, 5)[:, None] * self._odds(voice, TILT)[:, None]
        shape = shape * 10 ** (tilt_db * torch.log2(hz.clamp(min=60.0) / 1000) / 20)
        pick = torch.randint(len(BANDS_HZ), (size,), generator=self.dice, device=voice.device)
        edges = torch.tensor(BANDS_HZ, device=voice.device)[pick]
        low, high = edges[:, :1], edges[:, 1:]
        band = 1 / (1 + (low / hz.clamp(min=1.0)) ** 8) / (1 + (hz / high) ** 16)
        shape = shape * torch.where(self._odds(voice, BAND)[:, None], band, torch.ones_like(band))
        return torch.fft.irfft(torch.fft.rfft(voice, length) * shape, length)[:, :count]

    def _noise(self, clean: Tensor, level: Tensor, mute: Tensor) -> Tensor:
        count = clean.shape[1]
        start = (self._between(clean, 0, 1) * (len(self.noise) - count)).long()
        noise = self.noise[start[:, None] + torch.arange(count, device=clean.device)]
        noise = noise / noise.square().mean(1, keepdim=True).sqrt().clamp(min=1e-4)
        below_db = self._between(clean, *SNR_DB)
        loud = level.clamp(min=0.01) * 10 ** (-below_db / 20) * ~self._odds(clean, NO_NOISE)
        loud = torch.where(mute, 10 ** self._between(clean, -2.5, -0.7), loud)
        return noise * loud[:, None]

    def _gain(self, sound: Tensor) -> Tensor:
        peak = sound.abs().amax(1).clamp(min=1e-3)
        return 10 ** (self._between(sound, *GAIN_DB) / 20) / peak

    def _between(self, like: Tensor, low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(like.shape[0], generator=self.dice, device=like.device)

    def _odds(self, like: Tensor, chance: float) -> Tensor:
        return torch.rand(like.shape[0], generator=self.dice, device=like.device) < chance
