/** Live controls of the face: emotion, mouth, gaze and head, sent a few times a second at most. */

import { byId, make, paintSlider } from "./dom.js";

const PAUSE_MS = 120;
const EMOTIONS = ["neutral", "happy", "serious", "surprised", "sad", "concerned"];

/** @type {{name: string, label: string, min: number, max: number, step: number, rest: number, unit: string}[]} */
const SLIDERS = [
  { name: "emotion_level", label: "Strength", min: 0, max: 1, step: 0.05, rest: 1, unit: "%" },
  { name: "intensity", label: "Mouth", min: 0, max: 2, step: 0.05, rest: 1, unit: "%" },
  { name: "gaze_x", label: "Look sideways", min: -1, max: 1, step: 0.05, rest: 0, unit: "" },
  { name: "gaze_y", label: "Look up, down", min: -1, max: 1, step: 0.05, rest: 0, unit: "" },
  { name: "head_yaw", label: "Turn head", min: -20, max: 20, step: 1, rest: 0, unit: "°" },
  { name: "head_pitch", label: "Nod", min: -15, max: 15, step: 1, rest: 0, unit: "°" },
  { name: "head_roll", label: "Tilt", min: -15, max: 15, step: 1, rest: 0, unit: "°" },
  { name: "blink_per_minute", label: "Blinks a minute", min: 0, max: 60, step: 1, rest: 15, unit: "" },
];

export class Face {
  #moods = byId("moods", HTMLFieldSetElement);
  #brief = byId("face-brief", HTMLSpanElement);
  /** @type {Map<string, HTMLInputElement>} */
  #sliders = new Map();
  /** @type {Record<string, string | number>} */
  #change = {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {(change: Record<string, string | number>) => void} onChange fields that differ from what was last sent */
  constructor(onChange) {
    this.onChange = onChange;
    this.#moods.append(...EMOTIONS.map((name) => this.#mood(name)));
    byId("sliders", HTMLDivElement).append(...SLIDERS.map((spec) => this.#slider(spec)));
    byId("face-reset", HTMLButtonElement).addEventListener("click", () => this.#reset());
  }

  /** All fields that are not at rest: what a new session starts with. */
  get values() {
    /** @type {Record<string, string | number>} */
    const values = {};
    if (this.#emotion !== "neutral") values.emotion = this.#emotion;
    for (const { name, rest } of SLIDERS) {
      const value = Number(this.#sliders.get(name)?.value);
      if (value !== rest) values[name] = value;
    }
    return values;
  }

  get #emotion() {
    const input = this.#moods.querySelector("input:checked");
    return input instanceof HTMLInputElement ? input.value : "neutral";
  }

  /** @param {string} name */
  #mood(name) {
    const input = make("input", { type: "radio", name: "emotion", value: name, checked: name === "neutral" });
    input.addEventListener("change", () => this.#set("emotion", name));
    return make("label", {}, input, make("span", {}, name[0].toUpperCase() + name.slice(1)));
  }

  /** @param {(typeof SLIDERS)[number]} spec */
  #slider({ name, label, min, max, step, rest, unit }) {
    const input = make("input", { type: "range", min: `${min}`, max: `${max}`, step: `${step}`, value: `${rest}` });
    const output = make("output", {});
    const show = () => {
      const value = Number(input.value);
      output.textContent = unit === "%" ? `${Math.round(100 * value)}%` : `${value}${unit}`;
      paintSlider(input);
    };
    input.addEventListener("input", () => {
      show();
      this.#set(name, Number(input.value));
    });
    input.addEventListener("visavis:show", show);
    show();
    this.#sliders.set(name, input);
    return make("label", {}, make("span", {}, label), output, input);
  }

  #reset() {
    const neutral = this.#moods.querySelector("input");
    if (neutral) neutral.checked = true;
    this.#set("emotion", "neutral");
    for (const { name, rest } of SLIDERS) {
      const input = /** @type {HTMLInputElement} */ (this.#sliders.get(name));
      input.value = String(rest);
      input.dispatchEvent(new Event("visavis:show"));
      this.#set(name, rest);
    }
  }

  /** @param {string} name @param {string | number} value */
  #set(name, value) {
    this.#change[name] = value;
    const adjusted = Object.keys(this.values).some((each) => each !== "emotion");
    const mood = this.#emotion[0].toUpperCase() + this.#emotion.slice(1);
    this.#brief.textContent = adjusted ? `${mood}, adjusted` : mood;
    this.#timer ??= setTimeout(() => this.#flush(), PAUSE_MS);
  }

  #flush() {
    const change = this.#change;
    this.#change = {};
    this.#timer = undefined;
    this.onChange(change);
  }
}
