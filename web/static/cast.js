/** The presenters to choose from, as a group of radio cards, and the picture size. */

import { byId, icon, make, recall, remember } from "./dom.js";

/** @typedef {import("./api.js").Avatar} Avatar */

/** @type {Record<string, string>} */
const KINDS = { rig: "Built in", ditto: "Neural", picture: "From a picture" };

export class Cast {
  #people = byId("people", HTMLDivElement);
  #sizes = byId("sizes", HTMLFieldSetElement);
  /** @type {Avatar[]} */
  #avatars = [];
  /** @type {Map<string, string>} */
  #pictures = new Map();
  /** The size that was chosen last, which the presenter need not have. */
  #wanted = recall("size", "720x1280");

  /** @param {() => void} onChange another presenter or size was chosen */
  constructor(onChange) {
    this.onChange = onChange;
    for (const input of this.#sizeInputs()) input.checked = input.value === this.#wanted;
    this.#sizes.addEventListener("change", () => {
      this.#wanted = this.size;
      remember("size", this.#wanted);
      this.onChange();
    });
    this.#people.addEventListener("change", () => {
      remember("avatar", this.chosen?.name ?? "");
      this.#showSizes();
      this.onChange();
    });
  }

  get empty() {
    return this.#avatars.length === 0;
  }

  /** @returns {Avatar | undefined} */
  get chosen() {
    const input = this.#people.querySelector("input:checked");
    const name = input instanceof HTMLInputElement ? input.value : "";
    return this.#avatars.find((avatar) => avatar.name === name);
  }

  get size() {
    return this.#sizeInputs().find((input) => input.checked)?.value ?? this.#wanted;
  }

  /** The picture of the chosen presenter, or empty. */
  get picture() {
    return this.#pictures.get(this.chosen?.name ?? "") ?? "";
  }

  /**
   * Fills the cards and chooses `preferred`, else the last visit's, else the first.
   *
   * @param {Avatar[]} avatars
   * @param {(avatar: Avatar) => Promise<string>} pictureOf
   * @param {string} preferred
   */
  async fill(avatars, pictureOf, preferred) {
    this.#avatars = avatars;
    const sources = await Promise.all(avatars.map((avatar) => pictureOf(avatar).catch(() => "")));
    avatars.forEach((avatar, index) => this.#pictures.set(avatar.name, sources[index]));
    const wanted = [preferred, recall("avatar", ""), avatars[0]?.name];
    const name = wanted.find((each) => avatars.some((avatar) => avatar.name === each));
    this.#people.replaceChildren(...avatars.map((avatar) => this.#card(avatar, avatar.name === name)));
    this.#showSizes();
  }

  /** Only shows what is on the air: someone else's session has its presenter and size. @param {boolean} locked */
  lock(locked) {
    this.#sizes.disabled = locked;
    for (const input of this.#people.querySelectorAll("input")) input.disabled = locked;
  }

  /** @param {Avatar} avatar @param {boolean} checked */
  #card(avatar, checked) {
    const source = this.#pictures.get(avatar.name);
    const picture = source ? make("img", { src: source, alt: "" }) : make("span", { className: "blank" }, avatar.title.charAt(0));
    const input = make("input", { type: "radio", name: "avatar", value: avatar.name, checked });
    const mark = make("span", { className: "mark" }, icon("check"));
    const kind = make("span", { className: "kind" }, KINDS[avatar.kind] ?? avatar.kind);
    const names = make("span", { className: "names" }, make("b", {}, avatar.title), kind);
    return make("label", { className: "person" }, input, picture, mark, names);
  }

  #sizeInputs() {
    return [...this.#sizes.querySelectorAll("input")];
  }

  /** A button for each size of the chosen presenter, who may be of a picture with one of its own. */
  #showSizes() {
    const sizes = this.chosen?.sizes ?? [];
    if (sizes.length === 0) return;
    const checked = sizes.includes(this.#wanted) ? this.#wanted : sizes[0];
    for (const label of this.#sizes.querySelectorAll("label")) label.remove();
    this.#sizes.append(...sizes.map((size) => sizeButton(size, size === checked)));
  }
}

/** @param {string} size such as 720x1280 @param {boolean} checked */
function sizeButton(size, checked) {
  const [width, height] = size.split("x").map(Number);
  const shape = width === height ? "Square" : width < height ? "Portrait" : "Landscape";
  const input = make("input", { type: "radio", name: "size", value: size, checked });
  return make("label", { title: size }, input, make("span", {}, shape));
}
