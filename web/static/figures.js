/** The panel of live figures: each with a tone, so that trouble is seen without reading. */

import { byId, make } from "./dom.js";

/** @typedef {import("./stats.js").Figures} Figures */
/** @typedef {{text: string, warn?: boolean}} Reading */

const NONE = "–";

/** @param {number | null} ms @param {number} limit @returns {Reading} */
function milliseconds(ms, limit) {
  return ms === null ? { text: NONE } : { text: `${ms} ms`, warn: Math.abs(ms) > limit };
}

/** @param {number} bps */
function bitrate(bps) {
  return bps >= 1e6 ? `${(bps / 1e6).toFixed(2)} Mb/s` : `${Math.round(bps / 1e3)} kb/s`;
}

/** @type {{label: string, help: string, read: (figures: Figures) => Reading}[]} */
const ROWS = [
  {
    label: "Frames a second",
    help: "Pictures decoded in the last second; 25 is the aim.",
    read: ({ fps }) => ({ text: fps.toFixed(1), warn: fps < 24 }),
  },
  {
    label: "Latency",
    help: "Estimate from sound in to picture on screen: the server's own delay, the jitter buffer, and half a round trip.",
    read: ({ latency_ms }) => milliseconds(latency_ms, 800),
  },
  {
    label: "A/V skew",
    help: "Positive: the sound is ahead of the picture.",
    read: ({ skew_ms }) => milliseconds(skew_ms, 45),
  },
  {
    label: "Bitrate",
    help: "Video and audio received.",
    read: ({ bitrate_bps }) => ({ text: bitrate_bps > 0 ? bitrate(bitrate_bps) : NONE }),
  },
  {
    label: "Held frames",
    help: "Pictures the server had to repeat because the next was late.",
    read: ({ held }) => ({ text: String(held) }),
  },
  {
    label: "Freezes",
    help: "Pauses this browser saw in the picture.",
    read: ({ freezeCount }) => ({ text: String(freezeCount), warn: freezeCount > 0 }),
  },
  {
    label: "Jitter buffer",
    help: "How long a picture waits here before it is shown.",
    read: ({ jitter_ms }) => milliseconds(jitter_ms, 300),
  },
  {
    label: "Round trip",
    help: "Network time to the server and back.",
    read: ({ rtt_ms }) => milliseconds(rtt_ms, 250),
  },
  {
    label: "Picture",
    help: "Codec and size as decoded.",
    read: ({ codec, width, height }) => ({ text: codec ? `${codec} ${width}×${height}` : NONE }),
  },
];

export class FigurePanel {
  #brief = byId("figures-brief", HTMLSpanElement);
  /** @type {HTMLElement[]} */
  #values = [];

  constructor() {
    const list = byId("figure-list", HTMLDListElement);
    for (const { label, help } of ROWS) {
      const value = make("dd", {}, NONE);
      list.append(make("div", { title: help }, make("dt", {}, label), value));
      this.#values.push(value);
    }
  }

  /** @param {Figures} figures */
  show(figures) {
    ROWS.forEach((row, index) => {
      const { text, warn = false } = row.read(figures);
      this.#values[index].textContent = text;
      this.#values[index].dataset.warn = String(warn);
    });
    this.#brief.textContent = `${figures.fps.toFixed(0)} fps`;
  }

  clear() {
    for (const value of this.#values) {
      value.textContent = NONE;
      value.dataset.warn = "false";
    }
    this.#brief.textContent = "";
  }
}
