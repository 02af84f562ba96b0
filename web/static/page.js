/** The page as a whole: chooses, starts, speaks, and keeps every part told of the state it is in. */

import { Api, ApiError } from "./api.js";
import { AudioFileError } from "./audio_file.js";
import { Cast } from "./cast.js";
import { byId } from "./dom.js";
import { Face } from "./face.js";
import { fault, faultOf, sentence } from "./faults.js";
import { FigurePanel } from "./figures.js";
import { WHOLE, headPlace } from "./framing.js";
import { nameInputs, prepareInputs, returnText } from "./inputs.js";
import { Live } from "./live.js";
import { Speech } from "./speech.js";
import { Stage } from "./stage.js";
import { coverOf, statusOf } from "./states.js";
import { Stills } from "./stills.js";
import { MicError } from "./whip.js";

/**
 * @typedef {import("./states.js").State} State
 * @typedef {import("./faults.js").Fault} Fault
 * @typedef {{kind: "greeting"} | {kind: "text", text: string} | {kind: "file", file: File}} Opening
 */

const RETRY_MS = 3000;
const SLOW_MS = 8000;

export class Page {
  /** @type {State} */
  state = "loading";
  /** @type {Live | null} */
  live = null;
  #query = new URLSearchParams(location.search);
  #api = new Api(this.#query.get("token") ?? "");
  #watched = this.#query.get("session") ?? "";
  #turn = 0;
  /** @type {Opening} */
  #opening = { kind: "greeting" };
  #opened = false;
  #troubled = false;
  #micAsked = false;
  #stills = new Stills();

  constructor() {
    this.stage = new Stage({
      onStart: () => this.#pressed(),
      onCancel: () => this.stop(),
      onInterrupt: () => this.interrupt(),
      onMic: () => this.toggleMicrophone(),
      onEnd: () => this.stop(),
      onShown: (video) => this.#pictureShown(video),
    });
    this.cast = new Cast(() => this.#recast());
    this.speech = new Speech(this.#api, (where, error) => this.#complain(where, error));
    this.face = new Face((change) => this.#control(change));
    this.panel = new FigurePanel();
    prepareInputs({
      name: () => this.name,
      willing: () => this.#willing,
      say: (text) => this.say(text),
      play: (file) => this.play(file),
      interrupt: () => this.interrupt(),
      mute: () => this.stage.toggleMute(),
    });
    addEventListener("pagehide", () => this.live?.end());
  }

  /** The name on the card, for sentences. */
  get name() {
    return this.cast.chosen?.title ?? "the presenter";
  }

  /** Loads the presenters, again and again until the server answers. */
  async load() {
    const turn = ++this.#turn;
    try {
      const watched = this.#watched ? await this.#api.find(this.#watched) : null;
      const avatars = await this.#avatars(watched);
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

  /** All presenters; with a token for one session only, its own. @param {import("./api.js").Session | null} watched */
  async #avatars(watched) {
    try {
      return await this.#api.avatars();
    } catch (error) {
      if (!watched || !(error instanceof ApiError) || error.status !== 401) throw error;
      const { avatar, engine, size } = watched;
      const title = avatar.charAt(0).toUpperCase() + avatar.slice(1);
      return [{ name: avatar, title, kind: engine, sizes: [size], preview: "" }];
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
    const turn = ++this.#turn;
    const left = this.#leave();
    this.#opening = opening;
    this.#enter("starting");
    await left;
    if (turn !== this.#turn) return;
    try {
      const wish = { avatar: avatar.name, size: this.cast.size, controls: this.face.values };
      const session = await this.#api.create(wish);
      if (turn !== this.#turn) await this.#api.end(session);
      else this.#begin(session, true);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const warm = error.status !== 503 || (await this.#api.ready());
      if (turn !== this.#turn) return;
      if (warm) this.#unstarted(opening, error);
      else this.#startLater(opening, turn);
    }
  }

  /** @param {Opening} opening @param {ApiError} error */
  #unstarted(opening, error) {
    if (opening.kind === "text") returnText(opening.text);
    this.#fail("failed", faultOf(error));
  }

  /** The server's renderer is still warming up. @param {Opening} opening @param {number} turn */
  #startLater(opening, turn) {
    this.#enter("starting", fault("not_ready"));
    setTimeout(() => {
      if (turn !== this.#turn) return;
      this.state = "idle";
      this.start(opening);
    }, RETRY_MS);
  }

  /** Ends what runs and goes back to the poster. */
  async stop() {
    this.#turn += 1;
    const left = this.#leave();
    this.#enter(this.#watched ? "ended" : "idle");
    await left;
  }

  async interrupt() {
    if (this.state !== "live" && this.state !== "reconnecting") return;
    this.speech.interrupt();
    await this.live?.interrupt().catch((error) => this.#complain("interrupt", error));
  }

  /** Speaks `text`; wakes the presenter first where none is live. @param {string} text */
  say(text) {
    if (this.#alive && this.live) this.speech.say(this.live, text);
    else this.start({ kind: "text", text });
  }

  /** Speaks what is in `file`; wakes the presenter first where none is live. @param {File} file */
  play(file) {
    if (this.#alive && this.live) this.speech.play(this.live, file);
    else this.start({ kind: "file", file });
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
    if (live !== this.live) return;
    this.stage.microphone(live.microphone ? "on" : "off");
    this.#tell();
    this.#drawLevel();
  }

  get #alive() {
    return this.state === "live" || this.state === "reconnecting";
  }

  /** Words are welcome while live, and before: then they wake the presenter. */
  get #willing() {
    return this.#alive || (!this.#watched && ["idle", "ended", "failed"].includes(this.state));
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
    this.cast.lock(session.size);
    this.#present();
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
    if (this.state !== "connecting" || this.#troubled) return;
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
    else if (opening.kind === "file") this.play(opening.file);
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
    this.speech.abandon();
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
    this.#troubled = Boolean(trouble);
    document.body.dataset.phase = state;
    this.stage.stale(state === "reconnecting");
    this.stage.cover(coverOf(state, this.name, trouble));
    this.#tell();
  }

  /** The status line. */
  #tell() {
    const { speaking } = this.speech;
    const listening = Boolean(this.live?.microphone);
    const { tone, text } = statusOf(this.state, { name: this.name, speaking, listening });
    this.stage.speaking(speaking);
    byId("status", HTMLParagraphElement).dataset.tone = tone;
    const line = byId("status-text", HTMLSpanElement);
    if (line.textContent !== text) line.textContent = text;
  }

  /** @param {import("./socket.js").ServerMessage} message */
  #heard({ type, id = "", position_ms, interrupted, message, code }) {
    if (type === "playback_started") this.speech.started(id);
    else if (type === "playback_finished") this.speech.finished(id, interrupted ?? false, position_ms);
    else if (type === "error") {
      this.stage.notice("server", { title: "The server reports a problem", text: sentence(message ?? code ?? "") }, true);
    }
    this.#tell();
  }

  /** @param {string} code @param {boolean} shown */
  #noticed(code, shown) {
    if (shown && code === "restarting") {
      this.speech.abandon();
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
    this.#present();
    nameInputs(this.name);
    if (this.live || this.state === "starting") this.#restart();
    else if (this.state === "idle" || this.state === "ended" || (this.state === "failed" && !this.cast.empty)) this.#enter("idle");
  }

  /** The chosen presenter in the chosen size, as last seen live, else by the head shot. */
  #present() {
    const { chosen, size } = this.cast;
    const still = this.#stills.of(chosen?.name ?? "", size);
    const place = still ? WHOLE : headPlace(chosen?.kind ?? "", size);
    this.stage.present({ title: this.name, size, picture: still || this.cast.picture, place });
  }

  /** The first picture of a session; of ours it is one at rest, a good still. @param {HTMLVideoElement} video */
  async #pictureShown(video) {
    const live = this.live;
    live?.pictureShown();
    if (!live?.owned) return;
    await this.#stills.keep(video, live.session);
    this.#present();
  }

  async #restart() {
    await this.stop();
    await this.start({ kind: "greeting" });
  }

  #drawLevel() {
    const microphone = this.live?.microphone;
    if (!microphone) return;
    this.stage.level(microphone.level());
    setTimeout(() => this.#drawLevel(), 66);
  }
}
