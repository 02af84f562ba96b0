/** The presenters to choose from, as a group of radio cards, and the picture size. */

import { byId, icon, make, recall, remember } from "./dom.js";
import { choicesOf } from "./sizes.js";

/** @typedef {import("./api.js").Avatar} Avatar */

/** @type {Record<string, string>} */
const KINDS = { rig: "Built in", ditto: "Neural", picture: "From a picture" };

export class Cast {
  #people = byId("people", HTMLDivElement);
  #size = byId("size", HTMLSelectElement);
  #sizeBox = byId("sizes", HTMLSpanElement);
  /** @type {Avatar[]} */
  #avatars = [];
  /** @type {Map<string, string>} */
  #pictures = new Map();
  /** The size that was chosen last, which the presenter need not have. */
  #wanted = recall("size", "720x1280");

  /** @param {() => void} onChange another presenter or size was chosen */
  constructor(onChange) {
    this.onChange = onChange;
    this.#size.addEventListener("change", () => {
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
    return this.#size.value || this.#wanted;
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

  /** Only shows what is on the air: someone else's session has its presenter, and `size`. @param {string} size */
  lock(size) {
    this.#wanted = size;
    this.#showSizes();
    this.#size.disabled = true;
    for (const input of this.#people.querySelectorAll("input")) input.disabled = true;
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

  /** The sizes of the chosen presenter; where there is but one, there is nothing to choose. */
  #showSizes() {
    const sizes = this.chosen?.sizes ?? [];
    this.#sizeBox.hidden = sizes.length < 2;
    const options = choicesOf(sizes).map(({ size, label }) => make("option", { value: size, title: size }, label));
    this.#size.replaceChildren(...options);
    this.#size.value = sizes.includes(this.#wanted) ? this.#wanted : (sizes[0] ?? "");
  }
}
