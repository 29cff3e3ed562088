/** What both ends of a tunnel know: names, and how a dead peer is noticed. */
import type { Http2Session } from "node:http2";

/** What an agent asks for by Upgrade. */
export const TUNNEL_PROTOCOL = "lifeboat-tunnel/1";
/** The query parameter of a connection that an agent opens by order. */
export const SESSION_PARAMETER = "session";

/** What a request in the tunnel is for. */
export const MODE_HEADER = "lifeboat-tunnel";
export const MODES = {
  /** For the member's API. */
  forward: "forward",
  /** For the agent: open a connection with the id of `SESSION_HEADER`. */
  dial: "dial",
} as const;
export const SESSION_HEADER = "lifeboat-session";
/** Why the agent has no answer of the member's API: a sentence, percent-encoded. */
export const PROBLEM_HEADER = "lifeboat-problem";

const PING_EVERY_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
const MAX_PROBLEM_LENGTH = 1000;

/** Pings the peer while the session lasts; `dead` is called when it does not answer. The answer ends it. */
export function keepAlive(session: Http2Session, dead: () => void): () => void {
  let late: ReturnType<typeof setTimeout> | undefined;
  const timer = setInterval(() => {
    if (session.destroyed || session.closed) return;
    late ??= setTimeout(dead, PING_TIMEOUT_MS);
    session.ping(() => {
      clearTimeout(late);
      late = undefined;
    });
  }, PING_EVERY_MS);
  return () => {
    clearInterval(timer);
    clearTimeout(late);
  };
}

export function writeProblem(sentence: string): string {
  return encodeURIComponent(shown(sentence.slice(0, MAX_PROBLEM_LENGTH / 3)));
}

/** The sentence; what an agent sends is hostile, so only letters that show are kept. */
export function readProblem(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== "string") return undefined;
  try {
    return shown(decodeURIComponent(header.slice(0, MAX_PROBLEM_LENGTH)));
  } catch {
    return "its agent could not pass the request on";
  }
}

function shown(text: string): string {
  return text.replace(/[^\u0020-\u007e]/g, "?");
}
