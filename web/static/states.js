/**
 * The states of the page, and what each shows over the picture and in the status line.
 *
 * @typedef {"loading" | "offline" | "idle" | "starting" | "connecting" | "live" | "reconnecting" | "failed" | "ended"} State
 * @typedef {import("./faults.js").Fault} Fault
 */

/** @type {Record<State, {tone: string, words: (name: string) => string}>} */
const STATUS = {
  loading: { tone: "busy", words: () => "Looking for presenters" },
  offline: { tone: "bad", words: () => "Server not reachable" },
  idle: { tone: "idle", words: () => "Ready" },
  starting: { tone: "busy", words: (name) => `Waking ${name}` },
  connecting: { tone: "busy", words: () => "Connecting" },
  live: { tone: "good", words: () => "Live" },
  reconnecting: { tone: "busy", words: () => "Reconnecting" },
  failed: { tone: "bad", words: () => "Not connected" },
  ended: { tone: "idle", words: () => "Session ended" },
};

/**
 * The status line of `state`, with its tone.
 *
 * @param {State} state
 * @param {{name: string, speaking: boolean, listening: boolean}} now
 */
export function statusOf(state, { name, speaking, listening }) {
  const { tone, words } = STATUS[state];
  if (state === "live" && speaking) return { tone, text: `${name} is speaking` };
  if (state === "live" && listening) return { tone, text: "Listening to you" };
  return { tone, text: words(name) };
}

/**
 * What lies over the picture in `state`; `trouble` is what went wrong, if anything.
 *
 * @param {State} state
 * @param {string} name
 * @param {Fault} [trouble]
 * @returns {import("./stage.js").Cover}
 */
export function coverOf(state, name, trouble) {
  const ended = { title: "The session has ended", text: "" };
  switch (state) {
    case "live":
      return { mode: "none" };
    case "loading":
      return { mode: "busy", title: "One moment", text: "Looking for presenters" };
    case "idle":
      return { mode: "idle", title: name, text: "Speaks what you type, say or play", action: `Start ${name}` };
    case "starting":
      return { mode: "busy", title: name, text: "Waking up", ...trouble, action: undefined, cancel: true };
    case "connecting":
      return { mode: "busy", title: name, text: "Connecting picture and sound", ...trouble, action: undefined, cancel: true };
    case "reconnecting":
      return { mode: "busy", title: "Connecting again", text: "", ...trouble, action: undefined, cancel: true };
    case "ended":
      return { mode: "idle", ...ended, ...trouble };
    default:
      return { mode: "fault", ...ended, ...trouble };
  }
}
