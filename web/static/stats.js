/** Live figures of a viewing peer, from two WebRTC reports about a second apart. */

/**
 * @typedef {{fps: number, framesDecoded: number, freezeCount: number, bitrate_bps: number, skew_ms: number | null,
 *            latency_ms: number | null, jitter_ms: number | null, rtt_ms: number | null, audioLevel: number,
 *            codec: string, width: number, height: number, packetsLost: number, held: number}} Figures
 */

/** @type {Figures} */
export const NO_FIGURES = Object.freeze({
  fps: 0,
  framesDecoded: 0,
  freezeCount: 0,
  bitrate_bps: 0,
  skew_ms: null,
  latency_ms: null,
  jitter_ms: null,
  rtt_ms: null,
  audioLevel: 0,
  codec: "",
  width: 0,
  height: 0,
  packetsLost: 0,
  held: 0,
});

/** Keeps the last report of a peer and turns the next one into `Figures`. */
export class Meter {
  /** @type {Record<string, any>} */
  #video = {};
  /** @type {Record<string, any>} */
  #audio = {};

  /** No report yet: the next figures have no rates. */
  get fresh() {
    return this.#video.timestamp === undefined;
  }

  /** Forget the last report: another peer follows. */
  reset() {
    this.#video = {};
    this.#audio = {};
  }

  /**
   * @param {RTCPeerConnection} peer
   * @param {{serverLatencyMs: number, held: number}} server
   * @returns {Promise<Figures>}
   */
  async read(peer, { serverLatencyMs, held }) {
    const report = await peer.getStats();
    const parts = [...report.values()];
    const video = inbound(parts, "video");
    const audio = inbound(parts, "audio");
    const seconds = (video.timestamp - this.#video.timestamp) / 1000;
    const jitterMs = bufferedMs(video, this.#video);
    const rttMs = roundTripMs(parts);
    const figures = {
      fps: rate(video.framesDecoded, this.#video.framesDecoded, seconds),
      framesDecoded: video.framesDecoded ?? 0,
      freezeCount: video.freezeCount ?? 0,
      bitrate_bps: Math.round(
        8 * (rate(video.bytesReceived, this.#video.bytesReceived, seconds) +
          rate(audio.bytesReceived, this.#audio.bytesReceived, seconds)),
      ),
      skew_ms: skewMs(audio, video),
      latency_ms: jitterMs === null ? null : Math.round(serverLatencyMs + jitterMs + (rttMs ?? 0) / 2),
      jitter_ms: jitterMs,
      rtt_ms: rttMs,
      audioLevel: audio.audioLevel ?? 0,
      codec: codecName(report.get(video.codecId)),
      width: video.frameWidth ?? 0,
      height: video.frameHeight ?? 0,
      packetsLost: (video.packetsLost ?? 0) + (audio.packetsLost ?? 0),
      held,
    };
    this.#video = video;
    this.#audio = audio;
    return figures;
  }
}

/** @param {any[]} parts @param {string} kind @returns {Record<string, any>} */
function inbound(parts, kind) {
  return parts.find((part) => part.type === "inbound-rtp" && part.kind === kind) ?? {};
}

/** Units per second, one decimal; 0 without a span. @param {number} now @param {number} before @param {number} seconds */
function rate(now, before, seconds) {
  const value = (now - before) / seconds;
  return Number.isFinite(value) ? Math.max(0, Math.round(value * 10) / 10) : 0;
}

/**
 * What one frame waited between arrival and screen since the last report.
 *
 * @param {Record<string, any>} now
 * @param {Record<string, any>} before
 */
function bufferedMs(now, before) {
  const frames = now.jitterBufferEmittedCount - (before.jitterBufferEmittedCount ?? 0);
  if (!(frames > 0)) return null;
  return Math.round((1000 * (now.jitterBufferDelay - (before.jitterBufferDelay ?? 0))) / frames);
}

/** Positive: the sound is ahead of the picture. @param {Record<string, any>} audio @param {Record<string, any>} video */
function skewMs(audio, video) {
  const ms = audio.estimatedPlayoutTimestamp - video.estimatedPlayoutTimestamp;
  return Number.isFinite(ms) && Math.abs(ms) < 60_000 ? Math.round(ms) : null;
}

/** @param {any[]} parts */
function roundTripMs(parts) {
  const pair = parts.find((part) => part.type === "candidate-pair" && part.nominated && part.state === "succeeded");
  const seconds = pair?.currentRoundTripTime;
  return seconds === undefined ? null : Math.round(seconds * 1000);
}

/** @param {any} codec */
function codecName(codec) {
  return codec ? String(codec.mimeType).replace("video/", "") : "";
}
