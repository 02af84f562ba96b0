/** One session as this page lives it: viewer, websocket, microphone, figures, and the phase they add up to. */

import { ApiError } from "./api.js";
import { fault, faultOf } from "./faults.js";
import { Meter, NO_FIGURES } from "./stats.js";
import { SessionSocket } from "./socket.js";
import { Viewer } from "./whep.js";
import { Microphone } from "./whip.js";

const POLL_MS = 1000;
const STALLED_POLLS = 3;
const SILENT_POLLS = 2;
const RESTART_POLLS = 8;
const ICE_ATTEMPTS = 2;

/**
 * `connecting` until the first picture, `live`, `reconnecting` after a loss; `failed` and `ended` are final.
 *
 * @typedef {"connecting" | "live" | "reconnecting" | "failed" | "ended"} Phase
 * @typedef {{
 *   onPhase: (phase: Phase, fault?: import("./faults.js").Fault) => void,
 *   onStream: (stream: MediaStream) => void,
 *   onMessage: (message: import("./socket.js").ServerMessage) => void,
 *   onNotice: (code: string, shown: boolean) => void,
 *   onFigures: (figures: import("./stats.js").Figures) => void,
 *   onMicLost: (code: string) => void,
 * }} LiveEvents
 */

export class Live {
  /** @type {Phase} */
  phase = "connecting";
  figures = NO_FIGURES;
  /** @type {Microphone | null} */
  microphone = null;
  #meter = new Meter();
  #held = 0;
  #stillPolls = 0;
  #silentPolls = 0;
  #restarting = false;
  #wasUp = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {import("./api.js").Api} api
   * @param {import("./api.js").Session} session
   * @param {boolean} owned whether this page made the session and ends it
   * @param {LiveEvents} events
   */
  constructor(api, session, owned, events) {
    this.api = api;
    this.session = session;
    this.owned = owned;
    this.events = events;
    this.viewer = new Viewer(session, {
      onStream: (stream) => this.#restreamed(stream),
      onUp: () => (this.#wasUp = true),
      onDown: (loss) => this.#lost(loss),
    });
    this.socket = new SessionSocket(session, {
      onMessage: (message) => this.#heard(message),
      onUp: () => events.onNotice("socket", false),
      onDown: () => this.phase === "live" && this.#silentPolls < SILENT_POLLS && events.onNotice("socket", true),
    });
  }

  get over() {
    return this.phase === "failed" || this.phase === "ended";
  }

  begin() {
    this.viewer.connect();
    this.socket.connect();
    this.#timer = setTimeout(() => this.#poll(), POLL_MS);
  }

  /** The page calls this when a frame of the present stream is on screen. */
  pictureShown() {
    if (this.over) return;
    this.events.onNotice("stalled", false);
    this.#enter("live");
  }

  /** By HTTP, which is heard however much sound lies before it on the websocket. */
  async interrupt() {
    await this.api.interrupt(this.session);
  }

  async openMicrophone() {
    const microphone = await Microphone.open(this.session, (code) => {
      this.microphone = null;
      this.events.onMicLost(code);
    });
    if (this.over) microphone.close();
    else this.microphone = microphone;
  }

  closeMicrophone() {
    this.microphone?.close();
    this.microphone = null;
  }

  /** Leaves; a session of our own is ended on the server too. */
  async end() {
    this.#finish("ended");
    if (this.owned) await this.api.end(this.session).catch(() => {});
  }

  /** @param {Phase} phase @param {import("./faults.js").Fault} [trouble] */
  #enter(phase, trouble) {
    if (this.phase === phase && !trouble) return;
    this.phase = phase;
    this.events.onPhase(phase, trouble);
  }

  /** @param {"failed" | "ended"} phase @param {import("./faults.js").Fault} [trouble] */
  #finish(phase, trouble) {
    if (this.over) return;
    clearTimeout(this.#timer);
    this.closeMicrophone();
    this.viewer.close();
    this.socket.close();
    this.#enter(phase, trouble);
    if (phase === "failed" && this.owned) this.api.end(this.session).catch(() => {});
  }

  /** @param {MediaStream} stream */
  #restreamed(stream) {
    this.#meter.reset();
    this.#stillPolls = 0;
    this.events.onStream(stream);
  }

  /** @param {{code: string, error?: ApiError, attempt: number}} loss */
  #lost({ code, error, attempt }) {
    if (this.over) return;
    if (code === "gone") return this.#finish("ended", fault("gone"));
    if (code === "no_h264" || code === "bad_answer") return this.#finish("failed", fault(code));
    if (error && error.status >= 400 && error.status !== 503) return this.#finish("failed", faultOf(error));
    if (code === "ice" && !this.#wasUp && attempt >= ICE_ATTEMPTS) return this.#finish("failed", fault("ice"));
    const trouble = error ? faultOf(error) : fault(code === "ice" && this.#wasUp ? "broken" : code);
    this.#enter(this.phase === "connecting" ? "connecting" : "reconnecting", trouble);
  }

  /** @param {import("./socket.js").ServerMessage} message */
  #heard(message) {
    if (message.type === "state" && message.worker === "closed") return this.#finish("ended", fault("gone"));
    if (message.type === "state") {
      this.#restarting = message.worker === "restarting";
      this.events.onNotice("restarting", this.#restarting);
    }
    this.events.onMessage(message);
  }

  async #poll() {
    await Promise.all([this.#pollServer(), this.#pollFigures()]);
    if (!this.over) this.#timer = setTimeout(() => this.#poll(), POLL_MS);
  }

  async #pollServer() {
    try {
      const state = await this.api.state(this.session);
      this.#held = state.counters.repeated;
      this.session.latency_ms = state.latency_ms;
      this.#noteAnswer(true);
      if (state.state === "closed") this.#finish("ended", fault("gone"));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.gone) this.#finish("ended", fault("gone"));
      else if (error.status === 0) this.#noteAnswer(false);
    }
  }

  /** @param {boolean} answered */
  #noteAnswer(answered) {
    if (this.over) return;
    this.#silentPolls = answered ? 0 : this.#silentPolls + 1;
    if (answered || this.#silentPolls === SILENT_POLLS) this.events.onNotice("unreachable", !answered);
    if (this.#silentPolls === SILENT_POLLS) this.events.onNotice("socket", false);
  }

  async #pollFigures() {
    const peer = this.viewer.peer;
    if (!peer || peer.connectionState !== "connected") return;
    const before = this.figures.framesDecoded;
    const rates = !this.#meter.fresh;
    this.figures = await this.#meter.read(peer, { serverLatencyMs: this.session.latency_ms, held: this.#held });
    if (this.over) return;
    this.#noteStill(this.figures.framesDecoded === before);
    if (rates) this.events.onFigures(this.figures);
  }

  /** @param {boolean} still */
  #noteStill(still) {
    const watched = !document.hidden && !this.#restarting;
    if (!still && this.#stillPolls >= STALLED_POLLS) this.events.onNotice("stalled", false);
    this.#stillPolls = still && watched ? this.#stillPolls + 1 : 0;
    if (this.#stillPolls === STALLED_POLLS && this.phase === "live") this.events.onNotice("stalled", true);
    if (this.#stillPolls >= RESTART_POLLS) this.viewer.restart();
  }
}
