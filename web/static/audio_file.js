/** Audio files: decoded and resampled by the browser, streamed at about the speed at which they are spoken. */

export const RATE = 24_000;
const CHUNK_SAMPLES = RATE / 10;
const AHEAD_MS = 4000;
const PENDING_BYTES = 128 << 10;
const LONGEST_MINUTES = 20;
const LARGEST_BYTES = 200 << 20;

/** A file that cannot be spoken; the message says why. */
export class AudioFileError extends Error {}

/**
 * `file` as s16 mono at `RATE`.
 *
 * @param {File} file
 * @returns {Promise<Int16Array<ArrayBuffer>>}
 */
export async function decode(file) {
  if (file.size > LARGEST_BYTES) throw new AudioFileError(`${file.name} is over 200 MB. Choose a shorter piece.`);
  const context = new OfflineAudioContext(1, 1, RATE);
  let audio;
  try {
    audio = await context.decodeAudioData(await file.arrayBuffer());
  } catch {
    throw new AudioFileError(`${file.name} is not audio this browser can read. WAV, MP3, M4A, Ogg and FLAC work.`);
  }
  if (audio.duration > LONGEST_MINUTES * 60) {
    throw new AudioFileError(`${file.name} is longer than ${LONGEST_MINUTES} minutes. Choose a shorter piece.`);
  }
  if (audio.length === 0) throw new AudioFileError(`${file.name} holds no sound.`);
  return toPcm(audio);
}

/** @param {AudioBuffer} audio */
function toPcm(audio) {
  const channels = Array.from({ length: audio.numberOfChannels }, (_, index) => audio.getChannelData(index));
  const pcm = new Int16Array(audio.length);
  for (let n = 0; n < pcm.length; n += 1) {
    let sum = 0;
    for (const channel of channels) sum += channel[n];
    pcm[n] = Math.max(-32768, Math.min(32767, Math.round((sum / channels.length) * 32767)));
  }
  return pcm;
}

/**
 * Sends `pcm` as one segment `id`. Stays a few seconds ahead of the voice, so an interrupt has little to throw away.
 *
 * @param {import("./socket.js").SessionSocket} socket
 * @param {Int16Array<ArrayBuffer>} pcm
 * @param {{id: string, signal: AbortSignal, onProgress: (part: number) => void}} options
 * @returns {Promise<"sent" | "stopped" | "lost">}
 */
export async function stream(socket, pcm, { id, signal, onProgress }) {
  const startMs = performance.now();
  if (!socket.send("segment_start", { id })) return "lost";
  for (let at = 0; at < pcm.length; at += CHUNK_SAMPLES) {
    while (mustWait(socket, at, startMs) && !signal.aborted) await pause(50);
    if (signal.aborted) {
      socket.send("segment_end");
      return "stopped";
    }
    if (!socket.sendAudio(pcm.slice(at, at + CHUNK_SAMPLES), RATE)) return "lost";
    onProgress(Math.min(1, (at + CHUNK_SAMPLES) / pcm.length));
  }
  return socket.send("segment_end", { id }) ? "sent" : "lost";
}

/** @param {import("./socket.js").SessionSocket} socket @param {number} sent @param {number} startMs */
function mustWait(socket, sent, startMs) {
  const aheadMs = (sent / RATE) * 1000 - (performance.now() - startMs);
  return socket.open && (aheadMs > AHEAD_MS || socket.pendingBytes > PENDING_BYTES);
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
