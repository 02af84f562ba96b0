/** The offer and answer by HTTP that WHEP and WHIP share. */

import { call } from "./api.js";

const GATHERING_LIMIT_MS = 2000;

/**
 * Makes the offer, waits for its candidates, posts it and applies the answer.
 *
 * @param {RTCPeerConnection} peer
 * @param {string} url
 * @param {string} token
 * @returns {Promise<string>} the address that ends what was begun
 */
export async function negotiate(peer, url, token) {
  await peer.setLocalDescription(await peer.createOffer());
  await gathered(peer);
  const response = await call(url, {
    method: "POST",
    token,
    headers: { "Content-Type": "application/sdp" },
    body: peer.localDescription?.sdp ?? "",
  });
  const location = new URL(response.headers.get("Location") ?? url, response.url).href;
  await peer.setRemoteDescription({ type: "answer", sdp: await response.text() });
  return location;
}

/**
 * Tells the server that this peer leaves. `keepalive` lets the message outlive the page; a browser without it
 * still says goodbye by closing the peer.
 *
 * @param {string} location
 * @param {string} token
 */
export function leave(location, token) {
  call(location, { method: "DELETE", token, keepalive: true }).catch(() => {});
}

/** Resolves when all candidates are known, at the latest after the limit. @param {RTCPeerConnection} peer */
function gathered(peer) {
  if (peer.iceGatheringState === "complete") return Promise.resolve();
  return /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHERING_LIMIT_MS);
      peer.addEventListener("icegatheringstatechange", () => {
        if (peer.iceGatheringState !== "complete") return;
        clearTimeout(timer);
        resolve();
      });
    })
  );
}
