/**
 * Reads a trace of system calls (`strace -f -y`) of a server to which one client sent requests, one after the other over
 * one TLS 1.2 connection, and tells for each whether its answer waited for the disk.
 *
 * The content is encrypted, but the first byte of a TLS 1.2 record says what it is: everything before the first record of
 * application data is the handshake. After it, received bytes are a request, and sent bytes its answer.
 *
 * 1. Between the last bytes of a request and the first bytes of its answer, a request that stores something shows whole
 *    commits (store-steps.ts) that began after the former and ended before the latter; any other request shows nothing.
 * 2. Between an answer and the next request nothing happens to the store: that would be work that came after its answer.
 * 3. Receiving counts from when it ended, sending from when it began: doubt is to the disadvantage of the server.
 */
import { commitFault, type StoreStep, stepsBegunBetween, storeSteps } from "./store-steps.ts";
import { parseTrace, type TracedCall } from "./trace-calls.ts";

/** What a request does to the store. */
export type Effect = "stores" | "stores nothing";

export interface RequestVerdict {
  readonly requests: number;
  /** One sentence for each thing that is wrong; empty when all is well. */
  readonly violations: readonly string[];
}

interface Exchange {
  /** Where the last bytes of the request had been received. */
  readonly received: number;
  /** Where the first bytes of the answer began to be sent; Infinity when there is none. */
  readonly answered: number;
}

const RECEIVING: ReadonlySet<string> = new Set(["read", "readv", "recvfrom", "recvmsg"]);
const SENDING: ReadonlySet<string> = new Set(["write", "writev", "sendto", "sendmsg"]);
/** The beginnings of TLS records (their type, then the version 3.x) as strace writes them, in octal. */
const APPLICATION_DATA = String.raw`"\27\3`;
const ALERT = String.raw`"\25\3`;

/** `effects` tells what each request, in the order sent, must do to the store. */
export function judgeRequests(
  trace: string,
  dataFile: string,
  effects: readonly Effect[],
): RequestVerdict {
  const calls = parseTrace(trace);
  const connections = connectionsOf(calls);
  const [connection] = connections;
  if (connection === undefined || connections.length > 1) {
    return { requests: 0, violations: [`${connections.length} connections carried requests`] };
  }
  const exchanges = exchangesOf(calls.filter(({ target }) => target === connection));
  const violations: string[] = [];
  if (exchanges.length !== effects.length) {
    violations.push(`${effects.length} requests were sent, ${exchanges.length} were received`);
  }
  const steps = storeSteps(calls, dataFile);
  for (const [i, exchange] of exchanges.entries()) {
    const fault = exchangeFault(steps, exchange, effects[i]);
    if (fault !== undefined) violations.push(`request ${i}, which ${effects[i]}: ${fault}`);
    const next = exchanges[i + 1];
    if (next === undefined) continue;
    const [stray] = stepsBegunBetween(steps, exchange.answered, next.received);
    if (stray !== undefined) violations.push(`after the answer to request ${i}: ${stray.kind}`);
  }
  return { requests: exchanges.length, violations };
}

function exchangeFault(
  steps: readonly StoreStep[],
  { received, answered }: Exchange,
  effect: Effect | undefined,
): string | undefined {
  if (answered === Infinity) return "there is no answer";
  const own = stepsBegunBetween(steps, received, answered);
  if (effect === "stores") return commitFault(own, answered);
  return own[0] === undefined ? undefined : `the store saw "${own[0].kind}"`;
}

/** The sockets on which application data was received. */
function connectionsOf(calls: readonly TracedCall[]): readonly string[] {
  const found = new Set<string>();
  for (const call of calls) {
    if (call.target.startsWith("socket:") && isFirstRequest(call)) found.add(call.target);
  }
  return [...found];
}

function exchangesOf(calls: readonly TracedCall[]): readonly Exchange[] {
  const exchanges: Exchange[] = [];
  const carrying = calls.filter((call) => isSending(call) || hasReceived(call));
  for (const call of carrying.toSorted((a, b) => pointOf(a) - pointOf(b))) {
    const last = exchanges.at(-1);
    const isHandshake = last === undefined && !isFirstRequest(call);
    if (isHandshake || call.text.includes(ALERT)) continue;
    const isOpen = last?.answered === Infinity;
    if (!isSending(call)) {
      if (isOpen) exchanges.pop();
      exchanges.push({ received: call.ended, answered: Infinity });
    } else if (isOpen) {
      exchanges[exchanges.length - 1] = { ...last, answered: call.begun };
    }
  }
  return exchanges;
}

function isFirstRequest(call: TracedCall): boolean {
  return hasReceived(call) && call.text.includes(APPLICATION_DATA);
}

function hasReceived({ name, result }: TracedCall): boolean {
  return RECEIVING.has(name) && result !== undefined && result > 0;
}

function isSending({ name }: TracedCall): boolean {
  return SENDING.has(name);
}

function pointOf(call: TracedCall): number {
  return isSending(call) ? call.begun : call.ended;
}
