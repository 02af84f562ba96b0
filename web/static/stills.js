/** Live pictures kept while the page is open: from the second time on, the still is what was live. */

import { make } from "./dom.js";

const TYPE = "image/webp";
const QUALITY = 0.85;

export class Stills {
  /** @type {Map<string, string>} */
  #pictures = new Map();

  /** The address of the picture of `avatar` in `size`, or empty. @param {string} avatar @param {string} size */
  of(avatar, size) {
    return this.#pictures.get(`${avatar} ${size}`) ?? "";
  }

  /** Keeps what `video` shows now, unless there is one. @param {HTMLVideoElement} video @param {{avatar: string, size: string}} session */
  async keep(video, { avatar, size }) {
    if (this.of(avatar, size) || !video.videoWidth) return;
    const canvas = make("canvas", { width: video.videoWidth, height: video.videoHeight });
    canvas.getContext("2d")?.drawImage(video, 0, 0);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, TYPE, QUALITY));
    if (blob instanceof Blob) this.#pictures.set(`${avatar} ${size}`, URL.createObjectURL(blob));
  }
}
