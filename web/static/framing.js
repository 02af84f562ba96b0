/** Where a presenter's head shot lies in the live picture: there the still shows it, so that nothing jumps at the start. */

import { sidesOf } from "./sizes.js";

/**
 * A box in a picture, in parts of its width and height.
 *
 * @typedef {{left: number, top: number, width: number, height: number}} Place
 */

/** @type {Place} */
export const WHOLE = { left: 0, top: 0, width: 1, height: 1 };

/** What the head shots of the built-in presenters show of the frame that they are drawn in: left, top, right, bottom. */
const HEAD_SHOT = [394, 174, 1206, 986];
/** What each of their sizes shows of it. @type {Record<string, number[]>} */
const CUTS = {
  "720x1280": [305, 110, 1295, 1870],
  "512x512": [308, 128, 1292, 1112],
  "1080x1920": [260, 0, 1340, 1920],
  "1920x1080": [-284, 130, 1884, 1349.5],
};

/**
 * The place of the square head shot of a presenter of `kind` in a picture of `size`. Where a face lies in a
 * photograph is not known here: its head shot is shown as large as it fits.
 *
 * @param {string} kind
 * @param {string} size
 * @returns {Place}
 */
export function headPlace(kind, size) {
  const cut = kind === "rig" ? CUTS[size] : undefined;
  return cut ? within(HEAD_SHOT, cut) : fitted(size);
}

/** @param {number[]} box @param {number[]} cut @returns {Place} */
function within([left, top, right, bottom], cut) {
  const width = cut[2] - cut[0];
  const height = cut[3] - cut[1];
  return {
    left: (left - cut[0]) / width,
    top: (top - cut[1]) / height,
    width: (right - left) / width,
    height: (bottom - top) / height,
  };
}

/** @param {string} size @returns {Place} */
function fitted(size) {
  const { width, height } = sidesOf(size);
  const side = Math.min(width, height);
  return { left: (1 - side / width) / 2, top: (1 - side / height) / 4, width: side / width, height: side / height };
}
