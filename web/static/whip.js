/** The microphone over WHIP, with a level that can be drawn. */

import { ApiError } from "./api.js";
import { leave, negotiate } from "./handshake.js";

/** Why the microphone could not be opened; `code` is a key of faults.js. */
export class MicError extends Error {
  /** @param {string} code @param {string} [message] */
  constructor(code, message = code) {
    super(message);
    this.name = "MicError";
    this.code = code;
  }
}

/** @type {Record<string, string>} */
const CODES = {
  NotAllowedError: "mic_denied",
  SecurityError: "mic_denied",
  NotFoundError: "mic_missing",
  OverconstrainedError: "mic_missing",
  NotReadableError: "mic_busy",
  AbortError: "mic_busy",
};

async function capture() {
  if (!window.isSecureContext || !navigator.mediaDevices) throw new MicError("mic_insecure");
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    throw new MicError(CODES[name] ?? "mic_busy");
  }
}

export class Microphone {
  /** @type {RTCPeerConnection} */
  #peer;
  /** @type {AudioContext} */
  #context;
  /** @type {AnalyserNode} */
  #analyser;
  #location = "";
  #closed = false;

  /**
   * Asks for the microphone and sends it to `session`; `onLost` is called once when that ends by itself.
   *
   * @param {import("./api.js").Session} session
   * @param {(code: string) => void} onLost
   */
  static async open(session, onLost) {
    const stream = await capture();
    const microphone = new Microphone(session, stream, onLost);
    try {
      await microphone.#connect();
    } catch (error) {
      microphone.close();
      if (error instanceof ApiError) throw error;
      throw new MicError("mic_lost");
    }
    return microphone;
  }

  /**
   * @param {import("./api.js").Session} session
   * @param {MediaStream} stream
   * @param {(code: string) => void} onLost
   */
  constructor(session, stream, onLost) {
    this.session = session;
    this.stream = stream;
    this.onLost = onLost;
    this.#peer = new RTCPeerConnection({ iceServers: session.ice_servers });
    this.#context = new AudioContext();
    this.#analyser = this.#context.createAnalyser();
    this.#analyser.fftSize = 1024;
    this.#context.createMediaStreamSource(stream).connect(this.#analyser);
    this.#context.resume().catch(() => {});
  }

  async #connect() {
    const [track] = this.stream.getAudioTracks();
    track.addEventListener("ended", () => this.#lose("mic_missing"));
    this.#peer.addTransceiver(track, { direction: "sendonly", streams: [this.stream] });
    this.#peer.addEventListener("connectionstatechange", () => {
      if (this.#peer.connectionState === "failed") this.#lose("mic_lost");
    });
    this.#location = await negotiate(this.#peer, this.session.urls.whip, this.session.token);
  }

  /** Loudness now: 0 is silence, 1 is full scale, on a scale that follows the ear. */
  level() {
    const samples = new Float32Array(this.#analyser.fftSize);
    this.#analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    const decibels = 10 * Math.log10(power + 1e-9);
    return Math.min(1, Math.max(0, (decibels + 60) / 54));
  }

  /** @param {string} code */
  #lose(code) {
    if (this.#closed) return;
    this.close();
    this.onLost(code);
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    for (const track of this.stream.getTracks()) track.stop();
    if (this.#location) leave(this.#location, this.session.token);
    this.#peer.close();
    this.#context.close().catch(() => {});
  }
}
