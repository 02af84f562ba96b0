// Runs HeadAudio's processor over 32-bit float samples at 16 kHz from standard input.
// node headaudio.mjs PACKAGE  prints one "second viseme" line for each viseme and "second -1" where speech ends.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2]);
const from = (name) => import(pathToFileURL(join(folder, "modules", name)));
const { Processor } = await from("processor.mjs");
const { Training } = await from("training.mjs");

const bytes = readFileSync(join(folder, "dist", "model-en-mixed.bin"));
globalThis.fetch = async () => new Response(bytes);
const { model } = await new Training({}).loadModel("model");

const lines = [];
const port = {
  postMessage: ({ event, t, viseme }) => {
    if (event === "viseme" && viseme !== null) lines.push(`${t} ${viseme}`);
    if (event === "ended") lines.push(`${t} -1`);
  },
};
const processor = new Processor({ sampleRate: 16000 }, { port });
processor._onmessage({ data: { event: "model", model } });
const input = readFileSync(0);
const samples = new Float32Array(input.buffer, input.byteOffset, input.length / 4);
for (let at = 0; at < samples.length; at += 128) processor.process(samples.subarray(at, at + 128));
console.log(lines.join("\n"));
