/** Viewing over WHEP: one peer at a time, replaced with growing pauses while the session lives. */

import { ApiError } from "./api.js";
import { leave, negotiate } from "./handshake.js";

const PAUSES_MS = [300, 1000, 2000, 4000, 8000];
const CONNECT_LIMIT_MS = 10_000;
const PATIENCE_MS = 4000;
/** Browsers hold sound 60 to 80 ms back; a picture held as long is in step from its first second on. */
const PICTURE_HOLD_MS = 70;

/**
 * @typedef {{
 *   onStream: (stream: MediaStream) => void,
 *   onUp: () => void,
 *   onDown: (reason: {code: string, error?: ApiError, attempt: number}) => void,
 * }} ViewerEvents
 */

function videoCodecs() {
  return RTCRtpReceiver.getCapabilities?.("video")?.codecs ?? [];
}

/** @param {RTCRtpCodec} codec */
function isH264(codec) {
  return codec.mimeType.toLowerCase() === "video/h264";
}

/** Can this browser decode what the server sends? */
export function decodesH264() {
  return videoCodecs().some(isH264);
}

/** Asks for H.264 before all else. @param {RTCRtpTransceiver} transceiver */
function preferH264(transceiver) {
  const codecs = videoCodecs();
  transceiver.setCodecPreferences?.([...codecs.filter(isH264), ...codecs.filter((codec) => !isH264(codec))]);
}

export class Viewer {
  /** @type {RTCPeerConnection | null} */
  peer = null;
  #location = "";
  #attempt = 0;
  #closed = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {import("./api.js").Session} session
   * @param {ViewerEvents} events
   */
  constructor(session, events) {
    this.session = session;
    this.events = events;
  }

  /** Connects, and again after every loss, until `close`. */
  async connect() {
    const peer = (this.peer = this.#build());
    try {
      const location = await negotiate(peer, this.session.urls.whep, this.session.token);
      if (peer !== this.peer) return leave(location, this.session.token);
      this.#location = location;
      this.#watch(peer, CONNECT_LIMIT_MS);
    } catch (error) {
      if (peer !== this.peer) return;
      const reached = !(error instanceof ApiError) || (error.status >= 400 && error.status < 500 && !error.gone);
      if (reached && !decodesH264()) this.#lost("no_h264");
      else if (error instanceof ApiError) this.#lost(error.gone ? "gone" : error.code, error);
      else this.#lost("bad_answer");
    }
  }

  /** Drops the present peer and connects anew, as after a loss. */
  restart() {
    if (!this.#closed) this.#lost("stalled");
  }

  close() {
    this.#closed = true;
    this.#drop();
  }

  #build() {
    const peer = new RTCPeerConnection({ iceServers: this.session.ice_servers, bundlePolicy: "max-bundle" });
    const stream = new MediaStream();
    for (const kind of ["audio", "video"]) {
      const transceiver = peer.addTransceiver(kind, { direction: "recvonly", streams: [stream] });
      const { receiver } = transceiver;
      if (kind === "video") {
        preferH264(transceiver);
        if ("jitterBufferTarget" in receiver) receiver.jitterBufferTarget = PICTURE_HOLD_MS;
      }
      stream.addTrack(receiver.track);
    }
    peer.addEventListener("connectionstatechange", () => this.#changed(peer));
    this.events.onStream(stream);
    return peer;
  }

  /** @param {RTCPeerConnection} peer */
  #changed(peer) {
    if (peer !== this.peer) return;
    clearTimeout(this.#timer);
    if (peer.connectionState === "connected") {
      this.#attempt = 0;
      this.events.onUp();
    } else if (peer.connectionState === "failed" || peer.connectionState === "closed") {
      this.#lost("ice");
    } else if (peer.connectionState === "disconnected") {
      this.#watch(peer, PATIENCE_MS);
    } else {
      this.#watch(peer, CONNECT_LIMIT_MS);
    }
  }

  /** Gives up on `peer` unless it is connected in time. @param {RTCPeerConnection} peer @param {number} limitMs */
  #watch(peer, limitMs) {
    clearTimeout(this.#timer);
    if (peer.connectionState === "connected") return;
    this.#timer = setTimeout(() => this.#lost("ice"), limitMs);
  }

  /** @param {string} code @param {ApiError} [error] */
  #lost(code, error) {
    this.#drop();
    if (this.#closed) return;
    const pause = PAUSES_MS[Math.min(this.#attempt, PAUSES_MS.length - 1)];
    this.#attempt += 1;
    this.events.onDown({ code, error, attempt: this.#attempt });
    if (!this.#closed) this.#timer = setTimeout(() => this.connect(), Math.max(pause, error?.retryAfterMs ?? 0));
  }

  #drop() {
    clearTimeout(this.#timer);
    const peer = this.peer;
    this.peer = null;
    if (this.#location) leave(this.#location, this.session.token);
    this.#location = "";
    peer?.close();
  }
}
