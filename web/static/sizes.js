/** Picture sizes, as the server writes them ("720x1280"), in words that tell them apart. */

/** @typedef {"portrait" | "square" | "landscape"} Shape */

const HD_PX = 1080;
const SQUARE = { least: 0.7, most: 1.2 };
/** @type {Shape[]} */
const SHAPES = ["portrait", "square", "landscape"];

/** Width and height. @param {string} size */
export function sidesOf(size) {
  const [width, height] = size.split("x").map(Number);
  return { width, height };
}

/** What a picture counts as; photographs are rarely square to the pixel. @param {string} size @returns {Shape} */
export function shapeOf(size) {
  const { width, height } = sidesOf(size);
  const ratio = width / height;
  if (ratio < SQUARE.least) return "portrait";
  return ratio > SQUARE.most ? "landscape" : "square";
}

/**
 * `sizes` by shape, the smallest first, each with a label of its own: the shape where that is enough, else with
 * HD, else with its pixels.
 *
 * @param {string[]} sizes
 * @returns {{size: string, label: string}[]}
 */
export function choicesOf(sizes) {
  const ordered = [...sizes].sort((one, other) => rank(one) - rank(other) || area(one) - area(other));
  const shapes = ordered.map(wordOf);
  const grades = ordered.map((size, index) => (alone(shapes, index) || !isHd(size) ? shapes[index] : `${shapes[index]} HD`));
  return ordered.map((size, index) => ({
    size,
    label: alone(grades, index) ? grades[index] : `${shapes[index]} ${size.replace("x", " × ")}`,
  }));
}

/** @param {string} size */
function wordOf(size) {
  const shape = shapeOf(size);
  return shape.charAt(0).toUpperCase() + shape.slice(1);
}

/** Whether no other word is the same. @param {string[]} words @param {number} index */
function alone(words, index) {
  return words.filter((word) => word === words[index]).length === 1;
}

/** @param {string} size */
function isHd(size) {
  const { width, height } = sidesOf(size);
  return Math.min(width, height) >= HD_PX;
}

/** @param {string} size */
function rank(size) {
  return SHAPES.indexOf(shapeOf(size));
}

/** @param {string} size */
function area(size) {
  const { width, height } = sidesOf(size);
  return width * height;
}
