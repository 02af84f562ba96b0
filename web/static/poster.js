/** The still picture of who will be live, and its colours around it. */

import { byId, make } from "./dom.js";
import { WHOLE } from "./framing.js";

/** @typedef {import("./framing.js").Place} Place */

/** Of its own sides, where a still that is a part of the picture dissolves. */
const FADE = { x: "15%", top: "10%", bottom: "18%" };
/** Where the lower edge of a head shot shows clothes, from and length in parts of it: they go on below, the neck does not. */
const SHOULDER = [0.17, 0.07];
/** How dark it is under a head shot: a part of the picture below its lower edge, and the opacity there. */
const DUSK = [
  { below: -0.06, opacity: 0 },
  { below: 0.1, opacity: 0.66 },
  { below: 0.3, opacity: 0.92 },
];

export class Poster {
  #image = byId("poster", HTMLImageElement);
  #ambient = byId("ambient", HTMLCanvasElement);
  #backdrop = byId("backdrop", HTMLCanvasElement);
  /** @type {Place} */
  #place = WHOLE;

  constructor() {
    this.#image.addEventListener("load", () => this.#paint());
  }

  /** Shows `picture`, an address or empty, at `place` of the live picture. @param {string} picture @param {Place} place */
  show(picture, place) {
    this.#place = place;
    this.#lay();
    if (!picture) this.#image.removeAttribute("src");
    else if (this.#image.getAttribute("src") !== picture) this.#image.src = picture;
    else if (this.#image.complete) this.#paint();
  }

  #lay() {
    const { style } = this.#image;
    const { left, top, width, height } = this.#place;
    style.left = `${100 * left}%`;
    style.top = `${100 * top}%`;
    style.width = `${100 * width}%`;
    style.height = `${100 * height}%`;
    style.setProperty("--fade-x", width < 0.99 ? FADE.x : "0%");
    style.setProperty("--fade-top", height < 0.99 ? FADE.top : "0%");
    style.setProperty("--fade-bottom", height < 0.99 ? FADE.bottom : "0%");
  }

  #paint() {
    if (!this.#image.naturalWidth) return;
    this.#soften(this.#ambient, WHOLE, 3, 4);
    this.#soften(this.#backdrop, this.#place, 12, 16);
    this.#darken(this.#backdrop);
  }

  /** Below a head shot there is nothing to show. @param {HTMLCanvasElement} canvas */
  #darken(canvas) {
    const end = this.#place.top + this.#place.height;
    const brush = canvas.getContext("2d");
    if (end > 0.99 || !brush) return;
    const shade = brush.createLinearGradient(0, 0, 0, canvas.height);
    for (const { below, opacity } of DUSK) shade.addColorStop(Math.min(1, end + below), `rgb(9 11 14 / ${opacity})`);
    brush.fillStyle = shade;
    brush.fillRect(0, 0, canvas.width, canvas.height);
  }

  /**
   * The poster's colours without its detail: in `columns` and `rows`, at `place`, its edges drawn out to those of
   * the canvas.
   *
   * @param {HTMLCanvasElement} canvas
   * @param {Place} place
   * @param {number} columns
   * @param {number} rows
   */
  #soften(canvas, place, columns, rows) {
    const { width, height } = canvas;
    const { naturalWidth, naturalHeight } = this.#image;
    const large = make("canvas", { width: 8 * width, height: 8 * height });
    const brush = large.getContext("2d");
    const across = bands(naturalWidth, place.left, place.width, large.width);
    const down = bands(naturalHeight, place.top, place.height, large.height);
    for (const [x, w, toX, toW] of across) {
      for (const [y, h, toY, toH] of down) {
        if (toW > 0 && toH > 0) brush?.drawImage(this.#image, x, y, w, h, toX, toY, toW, toH);
      }
    }
    const [[, , left, span], [y, h, top, rest]] = [across[1], down[2]];
    const [from, length] = SHOULDER.map((part) => part * naturalWidth);
    if (rest > 0) brush?.drawImage(this.#image, from, y, length, h, left, top, span, rest);
    const small = make("canvas", { width: columns, height: rows });
    scale(large, small);
    scale(small, canvas);
  }
}

/**
 * Along one side: the picture's first pixels drawn out to the start, the picture itself, its last ones to the end,
 * each as (from, length) of the picture and of the canvas.
 *
 * @param {number} pixels
 * @param {number} start
 * @param {number} part
 * @param {number} length
 * @returns {[number, number, number, number][]}
 */
function bands(pixels, start, part, length) {
  const from = start * length;
  const to = (start + part) * length;
  const edge = Math.max(1, Math.round(pixels / 40));
  return [
    [0, edge, 0, from],
    [0, pixels, from, to - from],
    [pixels - edge, edge, to, length - to],
  ];
}

/** @param {HTMLCanvasElement} from @param {HTMLCanvasElement} to */
function scale(from, to) {
  const context = to.getContext("2d");
  if (!context) return;
  context.imageSmoothingQuality = "high";
  context.drawImage(from, 0, 0, to.width, to.height);
}
