/**
 * Two network namespaces with a wire between them, made and removed by the test: no address outside of them is used. They need
 * root and iproute2; where they cannot be had, the test fails and tells so.
 */
import { execFileSync } from "node:child_process";

export interface Place {
  /** A program and its arguments that runs the command given after them in this namespace. */
  readonly under: readonly string[];
  /** Its address on the wire. */
  readonly address: string;
}

export interface WiredPlaces {
  readonly plane: Place;
  readonly member: Place;
  /** Takes the wire away, or puts it back; connections are not told. */
  setWire(isUp: boolean): void;
  stop(): Promise<void>;
}

/** Of the block that is kept for examples: it exists nowhere. */
const ADDRESSES = { plane: "192.0.2.1", member: "192.0.2.2" } as const;
const ENDS = ["plane", "member"] as const;

/** Makes both namespaces and the wire. */
export function wirePlaces(): WiredPlaces {
  const name = (end: (typeof ENDS)[number]): string => `lifeboat-${process.pid}-${end}`;
  const link = (end: (typeof ENDS)[number]): string => `lb-${end}`;
  const stop = (): Promise<void> => {
    for (const end of ENDS) tried("netns", "delete", name(end));
    return Promise.resolve();
  };
  try {
    for (const end of ENDS) ip("netns", "add", name(end));
    const far = ["peer", "name", link("member"), "netns", name("member")];
    ip("-n", name("plane"), "link", "add", link("plane"), "type", "veth", ...far);
    for (const end of ENDS) {
      ip("-n", name(end), "link", "set", "lo", "up");
      ip("-n", name(end), "address", "add", `${ADDRESSES[end]}/30`, "dev", link(end));
      ip("-n", name(end), "link", "set", link(end), "up");
    }
  } catch (error) {
    void stop();
    throw new Error(
      `this test makes network namespaces, which needs root and iproute2: ${String(error)}`,
      { cause: error },
    );
  }
  const place = (end: (typeof ENDS)[number]): Place => ({
    under: ["ip", "netns", "exec", name(end)],
    address: ADDRESSES[end],
  });
  return {
    plane: place("plane"),
    member: place("member"),
    setWire: (isUp) =>
      ip("-n", name("member"), "link", "set", link("member"), isUp ? "up" : "down"),
    stop,
  };
}

/** Runs `ip`; throws what it printed when it fails. */
export function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
}

/** The same for what may not be there. */
export function tried(...args: readonly string[]): void {
  try {
    ip(...args);
  } catch {
    // It was not made, or is gone.
  }
}
