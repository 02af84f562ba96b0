/** The page: chooses, starts, speaks, and keeps every part told of the state it is in. */

import { Api, ApiError } from "./api.js";
import { AudioFileError, decode, stream } from "./audio_file.js";
import { Cast } from "./cast.js";
import { byId, make, newId } from "./dom.js";
import { Face } from "./face.js";
import { fault, faultOf } from "./faults.js";
import { FigurePanel } from "./figures.js";
import { Live } from "./live.js";
import { Log } from "./log.js";
import { Stage } from "./stage.js";
import { NO_FIGURES } from "./stats.js";
import { MicError } from "./whip.js";

/**
 * @typedef {"loading" | "offline" | "idle" | "starting" | "connecting" | "live" | "reconnecting" | "failed" | "ended"} State
 * @typedef {import("./faults.js").Fault} Fault
 * @typedef {{kind: "greeting"} | {kind: "text", text: string} | {kind: "file", file: File}} Opening
 */

const RETRY_MS = 3000;
const SLOW_MS = 8000;
const EXAMPLES = [
  { label: "Introduction", text: (/** @type {string} */ name) => `Hello, I'm ${name}. Give me words or a voice, and I give them a face.` },
  { label: "Evening news", text: () => "Good evening. Sunshine in the north tonight, a light breeze along the coast, and good news for everyone who likes to talk." },
  { label: "Tongue twister", text: () => "Peter Piper picked a peck of pickled peppers. How many pickled peppers did Peter Piper pick?" },
  { label: "Countdown", text: () => "Five, four, three, two, one. And we are live." },
];

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

class Page {
  /** @type {State} */
  state = "loading";
  /** @type {Live | null} */
  live = null;
  #query = new URLSearchParams(location.search);
  #api = new Api(this.#query.get("token") ?? "");
  #watched = this.#query.get("session") ?? "";
  #turn = 0;
  /** @type {Set<string>} */
  #speaking = new Set();
  /** @type {Opening} */
  #opening = { kind: "greeting" };
  #opened = false;
  #micAsked = false;
  #file = Promise.resolve();
  #stopFile = new AbortController();
  #drags = 0;

  constructor() {
    this.stage = new Stage({
      onStart: () => this.#pressed(),
      onCancel: () => this.stop(),
      onInterrupt: () => this.interrupt(),
      onMic: () => this.toggleMicrophone(),
      onEnd: () => this.stop(),
      onShown: () => this.live?.pictureShown(),
    });
    this.cast = new Cast(() => this.#recast());
    this.log = new Log();
    this.face = new Face((change) => this.#control(change));
    this.panel = new FigurePanel();
    this.text = byId("text", HTMLTextAreaElement);
    this.#prepareForm();
    this.#prepareFiles();
    this.#prepareKeys();
    addEventListener("pagehide", () => this.live?.end());
  }

  /** The name on the card, for sentences. */
  get name() {
    return this.cast.chosen?.title ?? "the presenter";
  }

  get speaking() {
    return this.#speaking.size > 0;
  }

  /** Loads the presenters, again and again until the server answers. */
  async load() {
    const turn = ++this.#turn;
    try {
      const avatars = await this.#api.avatars();
      const watched = this.#watched ? await this.#api.find(this.#watched) : null;
      await this.cast.fill(avatars, (avatar) => this.#api.picture(avatar.preview), watched?.avatar ?? "");
      if (turn !== this.#turn) return;
      this.#recast();
      if (watched) this.#watch(watched);
      else if (this.cast.empty) this.#fail("failed", fault("no_avatars"));
      else this.#enter("idle");
    } catch (error) {
      if (turn !== this.#turn) return;
      if (!(error instanceof ApiError)) throw error;
      this.#unloaded(error, turn);
    }
  }

  /** This browser cannot do it at all. @param {Fault} trouble */
  refuse(trouble) {
    this.#fail("failed", trouble);
  }

  /** Makes a session and opens it with `opening` as soon as its picture is there. @param {Opening} opening */
  async start(opening) {
    const avatar = this.cast.chosen;
    if (!avatar || this.state === "starting") return;
    await this.#leave();
    const turn = ++this.#turn;
    this.#opening = opening;
    this.#enter("starting");
    try {
      const wish = { avatar: avatar.name, size: this.cast.size, controls: this.face.values };
      const session = await this.#api.create(wish);
      if (turn !== this.#turn) await this.#api.end(session);
      else this.#begin(session, true);
    } catch (error) {
      if (turn !== this.#turn) return;
      if (!(error instanceof ApiError)) throw error;
      this.#fail("failed", faultOf(error));
    }
  }

  /** Ends what runs and goes back to the poster. */
  async stop() {
    this.#turn += 1;
    await this.#leave();
    this.#enter(this.#watched ? "ended" : "idle");
  }

  async interrupt() {
    if (this.state !== "live" && this.state !== "reconnecting") return;
    this.#stopFile.abort();
    this.log.drop();
    await this.live?.interrupt().catch((error) => this.#complain("interrupt", error));
  }

  /** Speaks `text`; wakes the presenter first where none is live. @param {string} text */
  async say(text) {
    if (!this.#alive) return this.start({ kind: "text", text });
    const session = /** @type {Live} */ (this.live).session;
    const id = newId();
    this.log.add(id, "text", text);
    try {
      await this.#api.say(session, { text, id });
      if (this.log.stateOf(id) === "sending") this.log.set(id, "queued");
    } catch (error) {
      this.log.set(id, "failed");
      this.#complain("say", error);
    }
  }

  /** Speaks what is in `file`, after the files before it. @param {File} file */
  speakFile(file) {
    if (!this.#alive) return this.start({ kind: "file", file });
    this.#file = this.#file.then(() => this.#stream(file)).catch((error) => this.#complain("file", error));
    return this.#file;
  }

  async toggleMicrophone() {
    const live = this.live;
    if (!live || this.#micAsked) return;
    this.stage.unnotice("microphone");
    if (live.microphone) {
      live.closeMicrophone();
      this.stage.microphone("off");
      return this.#tell();
    }
    this.#micAsked = true;
    this.stage.microphone("asking");
    await live.openMicrophone().catch((error) => this.#complain("microphone", error));
    this.#micAsked = false;
    this.stage.microphone(live.microphone ? "on" : "off");
    this.#tell();
    this.#drawLevel();
  }

  get #alive() {
    return this.state === "live" || this.state === "reconnecting";
  }

  /** The one big button. */
  #pressed() {
    if (this.state === "offline" || this.state === "loading" || this.cast.empty) return this.#retry();
    if (this.#watched) return this.#retry();
    return this.start({ kind: "greeting" });
  }

  #retry() {
    this.#enter("loading");
    return this.load();
  }

  /** @param {ApiError} error @param {number} turn */
  #unloaded(error, turn) {
    if (error.gone && this.#watched) return this.#fail("ended", { ...fault("gone"), action: "Look again" });
    if (error.status !== 0 && error.status < 500) return this.#fail("failed", faultOf(error));
    this.#enter("offline", error.status === 0 ? { ...fault("unreachable"), action: "Try now" } : faultOf(error));
    setTimeout(() => turn === this.#turn && this.load(), RETRY_MS);
  }

  /** @param {import("./api.js").Session} session */
  #watch(session) {
    this.cast.lock(true);
    this.stage.present(this.name, this.cast.picture, session.size);
    this.#opened = true;
    this.#begin(session, false);
  }

  /** @param {import("./api.js").Session} session @param {boolean} owned */
  #begin(session, owned) {
    this.#opened = !owned;
    const live = new Live(this.#api, session, owned, {
      onPhase: (phase, trouble) => live === this.live && this.#phased(phase, trouble),
      onStream: (media) => live === this.live && this.stage.attach(media),
      onMessage: (message) => live === this.live && this.#heard(message),
      onNotice: (code, shown) => live === this.live && this.#noticed(code, shown),
      onFigures: (figures) => live === this.live && this.panel.show(figures),
      onMicLost: (code) => live === this.live && this.#micLost(code),
    });
    this.live = live;
    this.#enter("connecting");
    live.begin();
    setTimeout(() => live === this.live && this.#stillWaiting(), SLOW_MS);
  }

  #stillWaiting() {
    if (this.state !== "connecting") return;
    this.#enter("connecting", { title: "Still waiting for the picture", text: "The server is slow to send it. You can wait, or cancel and try again." });
  }

  /** @param {import("./live.js").Phase} phase @param {Fault} [trouble] */
  #phased(phase, trouble) {
    if (phase === "failed" || phase === "ended") {
      this.#settle();
      this.live = null;
      this.#fail(phase, trouble);
      return;
    }
    this.#enter(phase, trouble);
    if (phase === "live" && !this.#opened) this.#open();
  }

  /** The first words of a session of ours. */
  #open() {
    this.#opened = true;
    const opening = this.#opening;
    if (opening.kind === "text") this.say(opening.text);
    else if (opening.kind === "file") this.speakFile(opening.file);
    else this.say(`Hello, I'm ${this.name}. Type something, play a recording, or just talk to me.`);
  }

  /** Ends our session, if any, before another begins. */
  async #leave() {
    const live = this.live;
    this.live = null;
    this.#settle();
    await live?.end();
  }

  /** What hung on the session that is over. */
  #settle() {
    this.#stopFile.abort();
    this.#speaking.clear();
    this.log.abandon();
    this.stage.microphone("off");
    this.stage.detach();
    this.panel.clear();
  }

  /** @param {"failed" | "ended"} state @param {Fault} [trouble] */
  #fail(state, trouble) {
    this.#enter(state, trouble ?? { ...fault("gone"), action: this.#watched ? "Look again" : "Start again" });
  }

  /** The one place that changes the state. @param {State} state @param {Fault} [trouble] */
  #enter(state, trouble) {
    this.state = state;
    document.body.dataset.phase = state;
    this.stage.stale(state === "reconnecting");
    this.stage.cover(this.#coverFor(state, trouble));
    this.#tell();
  }

  /** @param {State} state @param {Fault} [trouble] @returns {import("./stage.js").Cover} */
  #coverFor(state, trouble) {
    const calm = { title: this.name, text: "" };
    switch (state) {
      case "live":
        return { mode: "none" };
      case "loading":
        return { mode: "busy", title: "One moment", text: "Looking for presenters" };
      case "idle":
        return { mode: "idle", ...calm, text: "Speaks what you type, say or play", action: `Start ${this.name}`, ready: true };
      case "starting":
        return { mode: "busy", ...calm, text: "Waking up", cancel: true };
      case "connecting":
        return { mode: "busy", ...calm, text: "Connecting picture and sound", ...trouble, action: undefined, cancel: true };
      case "reconnecting":
        return { mode: "busy", title: "Connecting again", text: "", ...trouble, action: undefined, cancel: true };
      default:
        return { mode: "fault", title: "The session has ended", text: "", ready: true, ...trouble };
    }
  }

  /** The status line. */
  #tell() {
    let { tone, words } = STATUS[this.state];
    if (this.state === "live" && this.speaking) words = (name) => `${name} is speaking`;
    else if (this.state === "live" && this.live?.microphone) words = () => "Listening to you";
    byId("status", HTMLParagraphElement).dataset.tone = tone;
    const line = byId("status-text", HTMLSpanElement);
    const text = words(this.name);
    if (line.textContent !== text) line.textContent = text;
  }

  /** @param {import("./socket.js").ServerMessage} message */
  #heard({ type, id = "", position_ms, interrupted, message, code }) {
    if (type === "playback_started") {
      this.#speaking.add(id);
      this.log.set(id, "speaking");
    } else if (type === "playback_finished") {
      this.#speaking.delete(id);
      this.log.set(id, interrupted ? "interrupted" : "done", position_ms);
    } else if (type === "error") {
      this.stage.notice("server", { title: "The server reports a problem", text: message ?? code ?? "" }, true);
    }
    this.stage.speaking(this.speaking);
    this.#tell();
  }

  /** @param {string} code @param {boolean} shown */
  #noticed(code, shown) {
    if (shown && code === "restarting") {
      this.#speaking.clear();
      this.log.abandon();
      this.stage.speaking(false);
      this.#tell();
    }
    if (shown) this.stage.notice(code, fault(code), false);
    else this.stage.unnotice(code);
  }

  /** @param {string} code */
  #micLost(code) {
    this.stage.microphone("off");
    this.stage.notice("microphone", fault(code), false);
    this.#tell();
  }

  /** Says beside the picture what did not work. @param {string} where @param {unknown} error */
  #complain(where, error) {
    if (error instanceof ApiError) this.stage.notice(where, faultOf(error), true);
    else if (error instanceof MicError) this.stage.notice(where, fault(error.code), false);
    else if (error instanceof AudioFileError) this.stage.notice(where, { title: "This file cannot be spoken", text: error.message }, true);
    else throw error;
  }

  /** @param {Record<string, string | number>} change */
  async #control(change) {
    if (!this.live) return;
    await this.#api.control(this.live.session, change).catch((error) => this.#complain("controls", error));
  }

  /** Another presenter or size: shown at once; when one is live, a new session takes over. */
  #recast() {
    this.stage.present(this.name, this.cast.picture, this.cast.size);
    this.text.placeholder = `Type what ${this.name} should say`;
    byId("drop-text", HTMLSpanElement).textContent = `Drop it, and ${this.name} says it`;
    if (this.live || this.state === "starting") this.#restart();
    else if (this.state === "idle" || this.state === "ended" || (this.state === "failed" && !this.cast.empty)) this.#enter("idle");
  }

  async #restart() {
    await this.stop();
    await this.start({ kind: "greeting" });
  }

  /** @param {File} file */
  async #stream(file) {
    const live = this.live;
    if (!live) return;
    const id = newId();
    this.log.add(id, "file", file.name);
    const stop = (this.#stopFile = new AbortController());
    try {
      const pcm = await decode(file);
      const outcome = await stream(live.socket, pcm, {
        id,
        signal: stop.signal,
        onProgress: (part) => this.log.progress(id, part),
      });
      if (outcome === "sent" && this.log.stateOf(id) === "sending") this.log.set(id, "queued");
      else if (outcome === "stopped") this.log.set(id, "interrupted");
      else if (outcome === "lost") this.log.set(id, "failed");
    } catch (error) {
      this.log.set(id, "failed");
      throw error;
    }
  }

  #drawLevel() {
    const microphone = this.live?.microphone;
    if (!microphone) return;
    this.stage.level(microphone.level());
    setTimeout(() => this.#drawLevel(), 66);
  }

  #prepareForm() {
    const form = byId("say", HTMLFormElement);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.text.value.trim();
      if (!text || !this.#canSpeak) return;
      this.text.value = "";
      this.say(text);
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    const chips = EXAMPLES.map(({ label, text }) => {
      const chip = make("button", { type: "button", className: "chip", title: text("…") }, label);
      chip.addEventListener("click", () => this.#canSpeak && this.say(text(this.name)));
      return chip;
    });
    byId("examples", HTMLDivElement).append(...chips);
  }

  /** Words are welcome while live, and before: then they wake the presenter. */
  get #canSpeak() {
    return this.#alive || (!this.#watched && (this.state === "idle" || this.state === "ended" || this.state === "failed"));
  }

  #prepareFiles() {
    const input = byId("file", HTMLInputElement);
    input.addEventListener("change", () => {
      const [file] = input.files ?? [];
      if (file && this.#canSpeak) this.speakFile(file);
      input.value = "";
    });
    const drop = byId("drop", HTMLDivElement);
    const shade = (/** @type {number} */ change) => {
      this.#drags = Math.max(0, this.#drags + change);
      drop.hidden = this.#drags === 0;
    };
    addEventListener("dragenter", (event) => event.dataTransfer?.types.includes("Files") && shade(1));
    addEventListener("dragleave", (event) => event.dataTransfer?.types.includes("Files") && shade(-1));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      shade(-this.#drags);
      const file = event.dataTransfer?.files[0];
      if (file && this.#canSpeak) this.speakFile(file);
    });
  }

  #prepareKeys() {
    addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLTextAreaElement;
      if (event.key === "Escape" && !event.isComposing) this.interrupt();
      else if (event.key === "m" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) this.stage.toggleMute();
    });
  }
}

const page = new Page();

/** What a test may read: plain JSON throughout. */
Object.defineProperty(window, "visavis", {
  value: {
    get state() {
      return page.state;
    },
    get speaking() {
      return page.speaking;
    },
    get session() {
      const session = page.live?.session;
      if (!session) return null;
      const { id, avatar, engine, size, latency_ms } = session;
      return { id, avatar, engine, size, latency_ms };
    },
    stats: () => ({ ...(page.live?.figures ?? NO_FIGURES) }),
  },
});

if (typeof RTCPeerConnection === "undefined") {
  page.refuse(fault("no_webrtc"));
} else {
  page.load();
}
