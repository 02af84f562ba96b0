/**
 * HTTP calls to the server. Every failure becomes an `ApiError` whose message is fit to be shown.
 *
 * @typedef {{name: string, title: string, kind: string, sizes: string[], preview: string}} Avatar
 * @typedef {{session: string, ws: string, whep: string, whip: string}} SessionUrls
 * @typedef {{id: string, token: string, avatar: string, engine: string, size: string, latency_ms: number,
 *            ice_servers: RTCIceServer[], urls: SessionUrls}} Session
 * @typedef {{state: string, avatar: string, engine: string, size: string, latency_ms: number, viewers: number,
 *            queued_ms: number, bitrate_bps: number,
 *            counters: {generated: number, repeated: number, late: number, underruns: number}}} SessionState
 */

const CALL_TIMEOUT_MS = 10_000;
const CREATE_TIMEOUT_MS = 45_000;

/** A call that did not work. `status` is 0 when no answer came at all. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {number} [retryAfterMs]
   */
  constructor(status, code, message, retryAfterMs = 0) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  /** The session is unknown to the server: it ended, or the server was started anew. */
  get gone() {
    return this.status === 404 || this.status === 410;
  }
}

/**
 * `fetch` with a bearer token, a time limit and errors as `ApiError`.
 *
 * @param {string | URL} url
 * @param {RequestInit & {token?: string, timeoutMs?: number}} [options]
 */
export async function call(url, options = {}) {
  const { token, timeoutMs = CALL_TIMEOUT_MS, ...init } = options;
  const headers = new Headers(init.headers);
  if (token) headers.set("Authorization", `Bearer ${token}`);
  let response;
  try {
    response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    const slow = error instanceof DOMException && error.name === "TimeoutError";
    throw new ApiError(0, slow ? "timeout" : "unreachable", "The server does not answer.");
  }
  if (!response.ok) throw await errorFrom(response);
  return response;
}

/** @param {Response} response */
async function errorFrom(response) {
  const body = await response.json().catch(() => null);
  const detail = body && typeof body.error === "object" ? body.error : {};
  const wait = Number(response.headers.get("Retry-After")) || 0;
  return new ApiError(
    response.status,
    detail.code || `http_${response.status}`,
    detail.message || `The server answered ${response.status} ${response.statusText}.`,
    wait * 1000,
  );
}

/** @param {unknown} value */
function json(value) {
  return { headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) };
}

/** The server's API; `token` is the bearer token of the page's address, or empty. */
export class Api {
  /** @param {string} token */
  constructor(token) {
    this.token = token;
  }

  /** @returns {Promise<Avatar[]>} */
  async avatars() {
    const response = await call("/v1/avatars", { token: this.token });
    return (await response.json()).avatars;
  }

  /** Whether the renderer takes sessions. */
  async ready() {
    return call("/readyz", { token: this.token }).then(
      () => true,
      () => false,
    );
  }

  /** An address for `<img>`, which cannot carry a token itself. @param {string} path */
  async picture(path) {
    if (!path || !this.token) return path;
    const response = await call(path, { token: this.token });
    return URL.createObjectURL(await response.blob());
  }

  /**
   * A new session. The page's own token, where it has one, outlives the session's.
   *
   * @param {{avatar: string, size: string, controls?: object}} wish
   * @returns {Promise<Session>}
   */
  async create(wish) {
    const response = await call("/v1/sessions", {
      method: "POST",
      token: this.token,
      timeoutMs: CREATE_TIMEOUT_MS,
      ...json(wish),
    });
    const session = await response.json();
    return { ...session, token: this.token || session.token };
  }

  /** An existing session as this page sees it; `token` alone opens it. @param {string} id @returns {Promise<Session>} */
  async find(id) {
    const path = `/v1/sessions/${encodeURIComponent(id)}`;
    const response = await call(path, { token: this.token });
    const urls = { session: path, ws: `${path}/ws`, whep: `/whep/${id}`, whip: `/whip/${id}` };
    return { ice_servers: [], urls, ...(await response.json()), id, token: this.token };
  }

  /** @param {Session} session @returns {Promise<SessionState>} */
  async state(session) {
    const response = await call(session.urls.session, { token: session.token });
    return await response.json();
  }

  /** @param {Session} session @param {object} change */
  async control(session, change) {
    await call(session.urls.session, { method: "PATCH", token: session.token, ...json(change) });
  }

  /** @param {Session} session @param {{text: string, id: string}} line */
  async say(session, line) {
    await call(`${session.urls.session}/say`, { method: "POST", token: session.token, ...json(line) });
  }

  /** @param {Session} session */
  async interrupt(session) {
    await call(`${session.urls.session}/interrupt`, { method: "POST", token: session.token });
  }

  /** Ends the session; works while the page is being left. @param {Session} session */
  async end(session) {
    await call(session.urls.session, { method: "DELETE", token: session.token, keepalive: true });
  }
}
