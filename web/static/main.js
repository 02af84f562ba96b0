/** Starts the page, and shows tests what it is doing. */

import { fault } from "./faults.js";
import { Page } from "./page.js";
import { NO_FIGURES } from "./stats.js";

const page = new Page();

/** What a test may read: plain JSON throughout. */
Object.defineProperty(window, "visavis", {
  value: {
    get state() {
      return page.state;
    },
    get speaking() {
      return page.speech.speaking;
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
