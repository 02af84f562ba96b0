/** What is being said: lines and files on their way, who speaks now, and how each one ended. */

import { decode, stream } from "./audio_file.js";
import { newId } from "./dom.js";
import { Log } from "./log.js";

/**
 * @typedef {import("./live.js").Live} Live
 */

export class Speech {
  #log = new Log();
  /** @type {Set<string>} */
  #speaking = new Set();
  #files = Promise.resolve();
  #stop = new AbortController();

  /**
   * @param {import("./api.js").Api} api
   * @param {(where: string, error: unknown) => void} onFault
   */
  constructor(api, onFault) {
    this.api = api;
    this.onFault = onFault;
  }

  get speaking() {
    return this.#speaking.size > 0;
  }

  /** Has the server speak `text`. @param {Live} live @param {string} text */
  async say(live, text) {
    const id = newId();
    this.#log.add(id, "text", text);
    try {
      await this.api.say(live.session, { text, id });
      this.#accepted(id);
    } catch (error) {
      this.#log.set(id, "failed");
      this.onFault("say", error);
    }
  }

  /** Streams `file`, after the files before it. @param {Live} live @param {File} file */
  play(live, file) {
    const id = newId();
    this.#log.add(id, "file", file.name);
    const { signal } = this.#stop;
    const pcm = decode(file);
    pcm.catch((error) => {
      this.#log.set(id, "failed");
      this.onFault("file", error);
    });
    this.#files = this.#files.then(() => this.#stream(live, pcm, id, signal)).catch(() => {});
  }

  /** Everything that is not yet heard will not be. */
  interrupt() {
    this.#stopFiles();
    this.#log.drop();
  }

  /** The session, or what it knew, is gone. */
  abandon() {
    this.#stopFiles();
    this.#speaking.clear();
    this.#log.abandon();
  }

  /** @param {string} id */
  started(id) {
    this.#speaking.add(id);
    this.#log.set(id, "speaking");
  }

  /** @param {string} id @param {boolean} interrupted @param {number} [positionMs] */
  finished(id, interrupted, positionMs) {
    this.#speaking.delete(id);
    this.#log.set(id, interrupted ? "interrupted" : "done", positionMs);
  }

  #stopFiles() {
    this.#stop.abort();
    this.#stop = new AbortController();
  }

  /** @param {string} id */
  #accepted(id) {
    if (this.#log.stateOf(id) === "sending") this.#log.set(id, "queued");
  }

  /** @param {Live} live @param {Promise<Int16Array<ArrayBuffer>>} decoded @param {string} id @param {AbortSignal} signal */
  async #stream(live, decoded, id, signal) {
    const pcm = await decoded;
    if (signal.aborted) return;
    const onProgress = (/** @type {number} */ part) => this.#log.progress(id, part);
    const outcome = await stream(live.socket, pcm, { id, signal, onProgress });
    if (outcome === "sent") this.#accepted(id);
    else if (outcome === "lost") this.#log.set(id, "failed");
  }
}
