/**
 * Reads what `strace -f -y` writes: one traced system call for each, joined again where strace split it because threads
 * overlapped.
 *
 * Positions are line numbers of the trace. A call ran somewhere between `begun` and `ended`; two calls are in a certain
 * order only when one ended before the other began. Judges compare the positions that favour the process least.
 */

export interface TracedCall {
  readonly name: string;
  /** The first argument where that is a descriptor, else empty. */
  readonly descriptor: string;
  /** What that descriptor refers to: a path, or such as `socket:[7]`. */
  readonly target: string;
  readonly text: string;
  /** Undefined when it did not return within the trace. */
  readonly result: number | undefined;
  readonly begun: number;
  /** Infinity when it did not return within the trace. */
  readonly ended: number;
}

const UNFINISHED = " <unfinished ...>";
const RESUMED = "resumed>";

/** All calls in the order in which they began. Lines that are no calls (signals, exits) are left out. */
export function parseTrace(trace: string): readonly TracedCall[] {
  const open = new Map<string, { readonly text: string; readonly begun: number }>();
  const calls: TracedCall[] = [];
  for (const [position, line] of trace.split("\n").entries()) {
    const [, thread = "", text = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (text.endsWith(UNFINISHED)) {
      open.set(thread, { text: text.slice(0, -UNFINISHED.length), begun: position });
    } else if (text.startsWith("<... ")) {
      const start = open.get(thread);
      open.delete(thread);
      const rest = text.slice(text.indexOf(RESUMED) + RESUMED.length);
      if (start !== undefined) calls.push(callOf(start.text + rest, start.begun, position));
    } else if (/^\w+\(/.test(text)) {
      calls.push(callOf(text, position, position));
    }
  }
  for (const { text, begun } of open.values()) calls.push(callOf(text, begun, Infinity));
  return calls.toSorted((a, b) => a.begun - b.begun);
}

function callOf(text: string, begun: number, position: number): TracedCall {
  const [, name = "", descriptor = "", target = ""] =
    /^(\w+)\((?:(\d+)<([^>]*)>)?/.exec(text) ?? [];
  // No quote may follow: within a quoted argument the same characters are data.
  const returned = /\)\s+= (-?\d+)[^"]*$/.exec(text)?.[1];
  const result = returned === undefined ? undefined : Number(returned);
  const ended = result === undefined ? Infinity : position;
  return { name, descriptor, target, text, result, begun, ended };
}
