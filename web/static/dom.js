/** Small helpers over the document; everything that is asked for must exist. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * The element `id`, which must be of `type`.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`the page lacks #${id}`);
  return element;
}

/**
 * A new element with `fields` set on it and `children` inside.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Partial<HTMLElementTagNameMap[K]>} [fields]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, fields = {}, ...children) {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
}

/** One of the page's own icons. @param {string} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Shows another icon in `button`. @param {HTMLElement} button @param {string} name */
export function setIcon(button, name) {
  button.querySelector("use")?.setAttribute("href", `#i-${name}`);
}

/** Lets the style sheet fill the track of a slider from zero to its thumb. @param {HTMLInputElement} slider */
export function paintSlider(slider) {
  const low = Number(slider.min);
  const percent = (/** @type {number} */ value) => (100 * (value - low)) / (Number(slider.max) - low);
  const ends = [percent(Math.max(0, low)), percent(Number(slider.value))].sort((one, other) => one - other);
  slider.style.setProperty("--from", `${ends[0]}%`);
  slider.style.setProperty("--fill", `${ends[1]}%`);
}

/** A short name for a segment. Not a secret: works on plain http too. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** What the browser keeps between visits, or `fallback` where it keeps nothing. @param {string} key @param {string} fallback */
export function recall(key, fallback) {
  try {
    return localStorage.getItem(`visavis.${key}`) ?? fallback;
  } catch {
    return fallback;
  }
}

/** @param {string} key @param {string} value */
export function remember(key, value) {
  try {
    localStorage.setItem(`visavis.${key}`, value);
  } catch {
    // Private windows may refuse; the page works the same.
  }
}
