/** Ways to give the presenter something to say: the form, the example lines, files, and the keyboard. */

import { byId, make } from "./dom.js";

/**
 * @typedef {{name: () => string, willing: () => boolean, say: (text: string) => void, play: (file: File) => void,
 *            interrupt: () => void, mute: () => void}} Director
 */

/** @type {{label: string, line: (name: string) => string}[]} */
const EXAMPLES = [
  { label: "Hello", line: (name) => `Hello, I'm ${name}. Give me words or a voice, and I give them a face.` },
  {
    label: "News",
    line: () =>
      "Good evening. Sunshine in the north tonight, a light breeze along the coast, and good news for everyone who likes to talk.",
  },
  {
    label: "Twister",
    line: () => "Peter Piper picked a peck of pickled peppers. How many pickled peppers did Peter Piper pick?",
  },
  { label: "Countdown", line: () => "Five, four, three, two, one. And we are live." },
];

/** Wires all inputs to `director`, who is asked first whether words are welcome now. @param {Director} director */
export function prepareInputs(director) {
  prepareForm(director);
  prepareExamples(director);
  prepareFiles(director);
  prepareKeys(director);
}

/** The name of who will speak, wherever the inputs mention it. @param {string} name */
export function nameInputs(name) {
  byId("text", HTMLTextAreaElement).placeholder = `Type what ${name} should say`;
  byId("drop-text", HTMLSpanElement).textContent = `Drop it, and ${name} says it`;
}

/** Gives back words that could not be spoken, unless others were typed since. @param {string} text */
export function returnText(text) {
  const field = byId("text", HTMLTextAreaElement);
  field.value ||= text;
}

/** @param {Director} director */
function prepareForm(director) {
  const form = byId("say", HTMLFormElement);
  const field = byId("text", HTMLTextAreaElement);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text || !director.willing()) return;
    field.value = "";
    director.say(text);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
}

/** @param {Director} director */
function prepareExamples(director) {
  const chips = EXAMPLES.map(({ label, line }) => {
    const chip = make("button", { type: "button", className: "chip", title: line("…") }, label);
    chip.addEventListener("click", () => director.willing() && director.say(line(director.name())));
    return chip;
  });
  byId("examples", HTMLDivElement).append(...chips);
}

/** @param {Director} director */
function prepareFiles(director) {
  const take = (/** @type {FileList | null | undefined} */ files) => {
    const file = files?.[0];
    if (file && director.willing()) director.play(file);
  };
  const input = byId("file", HTMLInputElement);
  input.addEventListener("change", () => {
    take(input.files);
    input.value = "";
  });
  const shade = byId("drop", HTMLDivElement);
  let depth = 0;
  const drag = (/** @type {DragEvent} */ event, /** @type {number} */ step) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    depth = Math.max(0, depth + step);
    shade.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => drag(event, 1));
  addEventListener("dragleave", (event) => drag(event, -1));
  addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    drag(event, -depth);
    take(event.dataTransfer.files);
  });
}

/** Escape interrupts from anywhere; M mutes where it is not typed, or used to choose. @param {Director} director */
function prepareKeys(director) {
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLSelectElement;
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") director.interrupt();
    else if (event.key === "m" && !typing) director.mute();
  });
}
