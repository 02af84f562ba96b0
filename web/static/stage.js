/** The picture in the middle: poster, video, what lies over it, and the keys below it. */

import { byId, paintSlider, recall, remember, setIcon } from "./dom.js";
import { Poster } from "./poster.js";
import { shapeOf, sidesOf } from "./sizes.js";

/** @typedef {import("./faults.js").Fault} Fault */
/**
 * @typedef {{mode: "none"} | {mode: "idle" | "busy" | "fault", title: string, text: string, action?: string,
 *            cancel?: boolean}} Cover
 * @typedef {{onStart: () => void, onCancel: () => void, onInterrupt: () => void, onMic: () => void,
 *            onEnd: () => void, onShown: (video: HTMLVideoElement) => void}} StageEvents
 * @typedef {{title: string, size: string, picture: string, place: import("./framing.js").Place}} Shown
 */

const NOTICE_MS = 9000;

export class Stage {
  #studio = byId("studio", HTMLElement);
  #frame = byId("frame", HTMLDivElement);
  #video = byId("stage", HTMLVideoElement);
  #poster = new Poster();
  #cover = byId("cover", HTMLDivElement);
  #start = byId("start", HTMLButtonElement);
  #cancel = byId("cancel", HTMLButtonElement);
  #dock = byId("dock", HTMLDivElement);
  #tap = byId("tap", HTMLButtonElement);
  #notice = byId("notice", HTMLDivElement);
  #mic = byId("mic", HTMLButtonElement);
  #level = byId("level", HTMLDivElement);
  #mute = byId("mute", HTMLButtonElement);
  #volume = byId("volume", HTMLInputElement);
  /** @type {Map<string, Fault>} */
  #notices = new Map();

  /** @param {StageEvents} events */
  constructor(events) {
    this.events = events;
    this.#start.addEventListener("click", events.onStart);
    this.#cancel.addEventListener("click", events.onCancel);
    byId("interrupt", HTMLButtonElement).addEventListener("click", events.onInterrupt);
    this.#mic.addEventListener("click", events.onMic);
    byId("end", HTMLButtonElement).addEventListener("click", events.onEnd);
    byId("full", HTMLButtonElement).addEventListener("click", () => this.#toggleFull());
    byId("notice-close", HTMLButtonElement).addEventListener("click", () => this.#dismiss());
    this.#tap.addEventListener("click", () => this.#unblock());
    this.#prepareSound();
  }

  /** Shows who will be, or is, on the air, with a still of them. @param {Shown} shown */
  present({ title, size, picture, place }) {
    const { width, height } = sidesOf(size);
    this.#studio.style.setProperty("--ratio", String(width / height));
    this.#frame.dataset.shape = shapeOf(size);
    byId("plate-name", HTMLSpanElement).textContent = title;
    this.#poster.show(picture, place);
  }

  /** @param {Cover} cover */
  cover(cover) {
    const covered = cover.mode !== "none";
    const hadKeys = this.#dock.contains(document.activeElement);
    this.#frame.dataset.cover = cover.mode;
    this.#cover.inert = !covered;
    this.#dock.inert = covered;
    if (cover.mode === "none") return this.#offerText();
    byId("cover-title", HTMLHeadingElement).textContent = cover.title;
    byId("cover-text", HTMLParagraphElement).textContent = cover.text;
    byId("start-label", HTMLSpanElement).textContent = cover.action ?? "";
    this.#start.hidden = !cover.action;
    this.#cancel.hidden = !cover.cancel;
    if (hadKeys) (cover.action ? this.#start : this.#cancel).focus({ preventScroll: true });
  }

  /** Plays `stream`; `onShown` follows when its first picture is on screen. @param {MediaStream} stream */
  attach(stream) {
    const video = this.#video;
    video.srcObject = stream;
    const watch = () => {
      if ("requestVideoFrameCallback" in video) video.requestVideoFrameCallback(shown);
      else /** @type {HTMLVideoElement} */ (video).addEventListener("timeupdate", shown, { once: true });
    };
    const shown = () => {
      if (video.srcObject !== stream) return;
      if (stream.getVideoTracks().some((track) => track.muted)) return watch();
      this.#frame.dataset.picture = "true";
      this.events.onShown(video);
    };
    watch();
    this.#play();
  }

  /** Back to the poster. */
  detach() {
    this.#video.srcObject = null;
    this.#frame.dataset.picture = "false";
    this.#tap.hidden = true;
    for (const code of [...this.#notices.keys()]) this.unnotice(code);
  }

  /** The last picture is no longer the present. @param {boolean} stale */
  stale(stale) {
    if (stale) this.#frame.dataset.picture = "false";
  }

  /** @param {boolean} speaking */
  speaking(speaking) {
    this.#frame.dataset.speaking = String(speaking);
  }

  /** Says something beside the picture; with `brief` it goes by itself. @param {string} code @param {Fault} fault @param {boolean} brief */
  notice(code, fault, brief) {
    this.#notices.set(code, fault);
    this.#showNotice();
    if (brief) setTimeout(() => this.#notices.get(code) === fault && this.unnotice(code), NOTICE_MS);
  }

  /** @param {string} code */
  unnotice(code) {
    if (this.#notices.delete(code)) this.#showNotice();
  }

  /** @param {"off" | "asking" | "on"} state */
  microphone(state) {
    this.#mic.setAttribute("aria-pressed", String(state === "on"));
    this.#mic.dataset.state = state;
    this.#mic.title = state === "off" ? "Talk into the microphone" : "Switch the microphone off";
    this.#dock.dataset.mic = state;
    if (state !== "on") this.level(0);
  }

  /** @param {number} level 0 to 1 */
  level(level) {
    this.#dock.style.setProperty("--level", level.toFixed(3));
    this.#level.setAttribute("aria-valuenow", String(Math.round(100 * level)));
  }

  toggleMute() {
    this.#video.muted = !this.#video.muted;
  }

  /** With nothing else in hand, typing is next; not on touch screens, where that would raise the keyboard. */
  #offerText() {
    const idle = document.activeElement === document.body || this.#cover.contains(document.activeElement);
    if (idle && matchMedia("(hover: hover)").matches) byId("text", HTMLTextAreaElement).focus({ preventScroll: true });
  }

  #showNotice() {
    const fault = [...this.#notices.values()].at(-1);
    this.#notice.hidden = !fault;
    if (!fault) return;
    byId("notice-title", HTMLElement).textContent = fault.title;
    byId("notice-text", HTMLParagraphElement).textContent = fault.text;
  }

  #dismiss() {
    const code = [...this.#notices.keys()].at(-1);
    if (code !== undefined) this.unnotice(code);
  }

  #prepareSound() {
    const video = this.#video;
    video.volume = Math.min(1, Math.max(0, Number(recall("volume", "1")) || 0));
    this.#volume.value = String(video.volume);
    paintSlider(this.#volume);
    this.#volume.addEventListener("input", () => {
      video.volume = Number(this.#volume.value);
      video.muted = video.volume === 0;
      remember("volume", this.#volume.value);
    });
    this.#mute.addEventListener("click", () => this.toggleMute());
    video.addEventListener("volumechange", () => {
      setIcon(this.#mute, video.muted ? "muted" : "sound");
      this.#mute.setAttribute("aria-pressed", String(video.muted));
      this.#volume.value = String(video.muted ? 0 : video.volume);
      paintSlider(this.#volume);
      if (!video.muted) this.#tap.hidden = true;
    });
  }

  /** A browser may refuse sound before a click: then the picture plays mute, and a tap brings the sound. */
  async #play() {
    try {
      await this.#video.play();
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== "NotAllowedError") return;
      this.#video.muted = true;
      this.#tap.hidden = false;
      await this.#video.play().catch(() => {});
    }
  }

  #unblock() {
    this.#tap.hidden = true;
    this.#video.muted = false;
    this.#play();
  }

  #toggleFull() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.#frame.requestFullscreen?.().catch(() => {});
  }
}
