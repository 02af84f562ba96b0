/**
 * What can go wrong, in words for the person in front of the page: what happened, and what to do.
 *
 * @typedef {{title: string, text: string, action?: string}} Fault
 */

/** @type {Record<string, Fault>} */
const FAULTS = {
  unreachable: {
    title: "The server does not answer",
    text: "Check that it runs (visavis serve) and that this machine can reach it. The page keeps trying.",
  },
  not_ready: {
    title: "The server is warming up",
    text: "Its renderer is not ready yet. This takes a few seconds after a start; the page keeps trying.",
  },
  no_avatars: {
    title: "No presenters are installed",
    text: "Add one on the server with: visavis avatar add. Then reload this page.",
  },
  starting: {
    title: "The server is warming up",
    text: "Its renderer is not ready yet. Try again in a few seconds.",
    action: "Try again",
  },
  full: {
    title: "No free place just now",
    text: "Wait for another session to end, then try again.",
    action: "Try again",
  },
  ice: {
    title: "The picture cannot get through",
    text: "The server answered, but no media arrives. Allow UDP between this browser and the server (VPNs and firewalls often block it), or set up a TURN server.",
    action: "Try again",
  },
  no_h264: {
    title: "This browser has no H.264",
    text: "The video is H.264, which this browser cannot decode. Use Chrome, Edge or Safari; in Firefox, enable the OpenH264 plugin under Add-ons.",
    action: "Try again",
  },
  no_webrtc: {
    title: "This browser has no WebRTC",
    text: "Live video needs it. Use a current Chrome, Edge, Safari or Firefox, or enable WebRTC in the settings.",
  },
  bad_answer: {
    title: "The connection could not be agreed on",
    text: "The browser refused the server's answer. Reload the page; if it stays, update browser and server.",
    action: "Try again",
  },
  unauthorized: {
    title: "This server wants a token",
    text: "Open the page with its token in the address: ?token=…",
  },
  gone: {
    title: "The session has ended",
    text: "It was closed, ran out of time, or the server was started anew.",
    action: "Start again",
  },
  stalled: {
    title: "The picture has stopped",
    text: "No frames arrive. The page connects again by itself.",
  },
  restarting: {
    title: "The renderer is restarting",
    text: "The picture comes back by itself within a few seconds. What was being said is lost; send it again.",
  },
  broken: {
    title: "The connection broke",
    text: "The page connects again by itself. If it does not, check the network and the server.",
  },
  socket: {
    title: "Control connection lost",
    text: "Picture and sound go on. The page connects again by itself.",
  },
  mic_insecure: {
    title: "The microphone needs a secure page",
    text: "Open this page over https (scripts/make_cert makes a certificate), or on the server's own machine.",
  },
  mic_denied: {
    title: "The microphone is blocked",
    text: "Allow it for this page in the address bar's site settings, then press the microphone again.",
  },
  mic_missing: {
    title: "No microphone found",
    text: "Plug one in or choose another input in the system's sound settings, then press the microphone again.",
  },
  mic_busy: {
    title: "The microphone cannot be opened",
    text: "Another program may be using it. Close that, then press the microphone again.",
  },
  mic_lost: {
    title: "The microphone lost its connection",
    text: "Your voice no longer reaches the server. Press the microphone to connect it again.",
  },
};

/** Errors of the API whose own message is shown under a title of ours. */
/** @type {Record<number, string>} */
const BY_STATUS = { 0: "unreachable", 401: "unauthorized", 503: "full" };

/** @param {string} code @returns {Fault} */
export function fault(code) {
  return FAULTS[code] ?? { title: "Something went wrong", text: code, action: "Try again" };
}

/** What to show for an `ApiError`: our title, the server's own advice. @param {import("./api.js").ApiError} error @returns {Fault} */
export function faultOf(error) {
  const known = FAULTS[error.code] ?? FAULTS[BY_STATUS[error.status]];
  if (!known) return { title: "The server refused that", text: sentence(error.message), action: "Try again" };
  if (error.status === 0 || error.status === 401) return { ...known, action: "Try again" };
  return { ...known, text: sentence(error.message) || known.text, action: known.action ?? "Try again" };
}

/** A server's message as a sentence. @param {string} message */
export function sentence(message) {
  const ended = /[.!?…]$/.test(message) || !message ? message : `${message}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}
