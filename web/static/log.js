/** What was said: one entry an utterance, from sending to its end. */

import { byId, icon, make } from "./dom.js";

/** @typedef {"sending" | "queued" | "speaking" | "done" | "interrupted" | "dropped" | "failed"} LineState */

const LONGEST = 40;
const SHOWN_CHARACTERS = 300;

/** @type {Record<LineState, string>} */
const WORDS = {
  sending: "Sending",
  queued: "Up next",
  speaking: "Speaking",
  done: "Said",
  interrupted: "Interrupted",
  dropped: "Dropped",
  failed: "Not sent",
};

/** @type {LineState[]} */
const PENDING = ["sending", "queued", "speaking"];

export class Log {
  #list = byId("log", HTMLOListElement);
  /** @type {Map<string, {row: HTMLLIElement, state: LineState}>} */
  #lines = new Map();

  constructor() {
    this.clear();
  }

  clear() {
    this.#lines.clear();
    this.#list.replaceChildren(make("li", { className: "empty" }, "What you send appears here."));
  }

  /** @param {string} id */
  stateOf(id) {
    return this.#lines.get(id)?.state;
  }

  /** @param {string} id @param {"text" | "file"} kind @param {string} title */
  add(id, kind, title) {
    if (this.#lines.size === 0) this.#list.replaceChildren();
    const brief = title.slice(0, SHOWN_CHARACTERS);
    const words = make("span", { className: "said" }, brief);
    const row = make("li", { title: brief }, icon(kind), words, make("span", { className: "fate" }), make("i", { className: "bar" }));
    this.#list.append(row);
    this.#lines.set(id, { row, state: "sending" });
    this.#forgetOldest();
    this.set(id, "sending");
    this.#list.scrollTop = this.#list.scrollHeight;
  }

  /** @param {string} id @param {LineState} state @param {number} [positionMs] how much of it was heard */
  set(id, state, positionMs) {
    const line = this.#lines.get(id);
    if (!line) return;
    line.state = state;
    line.row.dataset.state = state;
    const seconds = positionMs === undefined ? "" : ` ${(positionMs / 1000).toFixed(1)} s`;
    /** @type {HTMLElement} */ (line.row.querySelector(".fate")).textContent = WORDS[state] + seconds;
  }

  /** @param {string} id @param {number} part how much of it is sent, 0 to 1 */
  progress(id, part) {
    this.#lines.get(id)?.row.style.setProperty("--part", String(part));
  }

  /** Nothing that is still open will be heard. */
  drop() {
    for (const [id, line] of this.#lines) if (line.state !== "speaking" && PENDING.includes(line.state)) this.set(id, "dropped");
  }

  /** The session is gone, and with it everything open. */
  abandon() {
    for (const [id, line] of this.#lines) if (PENDING.includes(line.state)) this.set(id, "dropped");
  }

  #forgetOldest() {
    if (this.#lines.size <= LONGEST) return;
    const [id, line] = /** @type {[string, {row: HTMLLIElement}]} */ (this.#lines.entries().next().value);
    line.row.remove();
    this.#lines.delete(id);
  }
}
