// The service: questions, decisions, and news for as long as the connection holds.

// Seconds until the next attempt, the longest pause, without news until we look, and for an answer.
const FIRST = 1;
const LONGEST = 15;
const SILENCE = 20;
const PATIENCE = 5;

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export async function ask(path, given = {}) {
  const answer = await fetch(path, { headers: { Accept: "application/json" }, ...given });
  const values = await answer.json();
  if (!answer.ok) throw new Refused(values.error || answer.statusText, answer.status);
  return values;
}

export function decide(path, values) {
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values) });
}

export const streamPath = (name, rest = "") => `/streams/${encodeURIComponent(name)}${rest}`;

// Listen for the status of streams. told: { status(values), connected(), lost(), refused() }. Returns a function that connects
// again, for when somebody has logged in.
export function listen(told) {
  let source = null;
  let pause = FIRST;
  let heard = Date.now();
  let waiting = 0;

  function open() {
    waiting = 0;
    source = new EventSource("/events");
    source.addEventListener("open", () => {
      pause = FIRST;
      heard = Date.now();
      told.connected();
    });
    source.addEventListener("status", (event) => {
      heard = Date.now();
      told.status(JSON.parse(event.data));
    });
    source.addEventListener("error", lose);
  }

  function lose() {
    if (waiting) return;
    source.close();
    told.lost();
    waiting = setTimeout(again, 1000 * pause);
    pause = Math.min(2 * pause, LONGEST);
  }

  // A service that has started again does not know the session any more.
  async function again() {
    try {
      const { rights } = await ask("/session", { signal: AbortSignal.timeout(1000 * PATIENCE) });
      if (!rights.includes("read")) {
        told.refused();
        return;
      }
      open();
    } catch {
      waiting = 0;
      lose();
    }
  }

  // A connection that ended without a word looks like a quiet one, so ask now and then.
  setInterval(async () => {
    if (waiting || Date.now() - heard < 1000 * SILENCE) return;
    heard = Date.now();
    try {
      await ask("/health", { signal: AbortSignal.timeout(1000 * PATIENCE) });
    } catch {
      lose();
    }
  }, 1000 * PATIENCE);
  window.addEventListener("offline", lose);
  open();
  return open;
}
