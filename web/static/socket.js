/** The native websocket of a session: events in, audio and messages out, reconnected while the session lives. */

const PAUSES_MS = [300, 1000, 2000, 4000, 8000];
const KEEP_ALIVE_MS = 15_000;

/**
 * @typedef {{type: string, id?: string, position_ms?: number, interrupted?: boolean, queued_ms?: number,
 *            code?: string, message?: string, worker?: string, latency_ms?: number}} ServerMessage
 */

export class SessionSocket {
  /** @type {WebSocket | null} */
  #socket = null;
  #attempt = 0;
  #closed = false;
  #rate = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #pulse;

  /**
   * @param {import("./api.js").Session} session
   * @param {{onMessage: (message: ServerMessage) => void, onUp: () => void, onDown: () => void}} events
   */
  constructor(session, events) {
    this.session = session;
    this.events = events;
  }

  get open() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Bytes handed over but not yet on the wire. */
  get pendingBytes() {
    return this.#socket?.bufferedAmount ?? 0;
  }

  connect() {
    const url = new URL(this.session.urls.ws, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    if (this.session.token) url.searchParams.set("token", this.session.token);
    const socket = new WebSocket(url);
    this.#socket = socket;
    this.#rate = 0;
    socket.addEventListener("open", () => this.#opened());
    socket.addEventListener("message", (event) => this.#received(event.data));
    socket.addEventListener("close", () => socket === this.#socket && this.#lost());
  }

  /** Returns whether the message could be sent. @param {string} type @param {object} [fields] */
  send(type, fields = {}) {
    if (!this.open) return false;
    this.#socket?.send(JSON.stringify({ type, ...fields }));
    return true;
  }

  /** Sends s16le mono at `rate` Hz; announces the rate on first use. @param {Int16Array<ArrayBuffer>} pcm @param {number} rate */
  sendAudio(pcm, rate) {
    if (!this.open) return false;
    if (this.#rate !== rate) this.send("start", { sample_rate: rate, format: "s16le" });
    this.#rate = rate;
    this.#socket?.send(pcm);
    return true;
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#pulse);
    this.#socket?.close(1000);
    this.#socket = null;
  }

  #opened() {
    this.#attempt = 0;
    clearInterval(this.#pulse);
    this.#pulse = setInterval(() => this.send("keep_alive"), KEEP_ALIVE_MS);
    this.events.onUp();
  }

  /** @param {unknown} text */
  #received(text) {
    if (typeof text !== "string" || this.#closed) return;
    this.events.onMessage(JSON.parse(text));
  }

  #lost() {
    clearInterval(this.#pulse);
    if (this.#closed) return;
    const pause = PAUSES_MS[Math.min(this.#attempt, PAUSES_MS.length - 1)];
    this.#attempt += 1;
    this.events.onDown();
    this.#timer = setTimeout(() => this.connect(), pause);
  }
}
