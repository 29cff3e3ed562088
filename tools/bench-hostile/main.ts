/**
 * `npm run bench:hostile`: what one hostile body costs, of each form that a request may have and of the largest size that is
 * accepted. The API server runs in process, without TLS: the time is that of authorizing, decoding, patching, validating.
 *
 *   refused    CPU of one body from an authenticated user without rights
 *   allowed    CPU of one body from an administrator, median of five
 *   stall      the longest piece of work between two turns of the event loop while an administrator's body was worked on, in
 *              CPU, so that other processes of the machine do not count; the median of five
 *   aim        at most 50 ms of CPU for one body, whoever sends it: `kept`, or `ABOVE`. The last line counts. What stays above,
 *              and why, is in docs/decisions/0004-what-the-api-server-leaves-out.md
 *
 * Options: `--only TEXT` for the attacks whose name contains it.
 */
import { parseArgs } from "node:util";
import {
  allowMasters,
  createApiServer,
  createMemoryStorage,
  type Handle,
  type HttpRequest,
} from "@lifeboat/apiserver";
import { createRandom } from "@lifeboat/base";
import { createRealClock, createRealIds, nextTurn } from "@lifeboat/base/adapters";
import { silentLog, silentMetrics } from "@lifeboat/kit";
import { type Attack, attacks, type Sent } from "./attacks.ts";

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const ROUNDS = 5;
const AIM_MS = 50;
const ADMIN = { name: "admin", groups: ["system:masters"] };
const BOB = { name: "bob", groups: ["system:authenticated"] };

const clock = createRealClock();
const server = await createApiServer(
  {
    clock,
    random: createRandom(1),
    ids: createRealIds(),
    log: silentLog,
    metrics: silentMetrics,
    storage: createMemoryStorage(clock, { syncDelayMs: 0 }),
    nextTurn,
  },
  {
    gitVersion: "v1.36.4+bench",
    tokens: new Map(),
    authorizer: allowMasters,
    admissionPlugins: [],
    historyMaxEvents: 100,
    historyMaxBytes: 64 * 1024 * 1024,
  },
);

const stop = new AbortController();
const housekeeping = server.run(stop.signal);
const chosen = attacks.filter(({ name }) => name.includes(values.only));
let above = 0;
console.log(row(["attack", "bytes", "refused", "allowed", "stall", "answer", "aim"]));
for (const attack of chosen) await measure(attack);
console.log(
  `aim: at most ${AIM_MS} ms of CPU for one body: ${chosen.length - above} kept, ${above} above`,
);
stop.abort();
await housekeeping;
await server.close();

async function measure(attack: Attack): Promise<void> {
  for (const sent of attack.before ?? []) await prepare(sent);
  await send(attack, BOB);
  await send(attack, ADMIN);
  const refused: number[] = [];
  const allowed: number[] = [];
  const stalls: number[] = [];
  let answer = 0;
  for (let round = 0; round < ROUNDS; round++) {
    refused.push(await cpuOf(() => send(attack, BOB)));
    allowed.push(
      await cpuOf(async () => {
        answer = await send(attack, ADMIN);
      }),
    );
    stalls.push(await stallOf(() => send(attack, ADMIN)));
  }
  const bytes = String(attack.body.length);
  const isKept = Math.max(median(refused), median(allowed)) <= AIM_MS;
  if (!isKept) above += 1;
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  console.log(
    row([
      attack.name,
      bytes,
      ms(median(refused)),
      ms(median(allowed)),
      ms(median(stalls)),
      String(answer),
      isKept ? "kept" : "ABOVE",
    ]),
  );
}

async function prepare(sent: Sent): Promise<void> {
  for (;;) {
    const status = await send(sent, ADMIN);
    if (status < 300 || status === 409) return;
    // A new kind is served a moment after its definition.
    if (status !== 404) throw new Error(`preparing ${sent.url}: ${status}`);
    await nextTurn();
  }
}

async function send(sent: Sent, user: HttpRequest["certificateUser"]): Promise<number> {
  const handle: Handle = server.handle;
  const { status } = await handle({
    method: sent.method,
    url: sent.url,
    headers: sent.headers ?? {},
    body: sent.body,
    certificateUser: user,
    signal: new AbortController().signal,
  });
  return status;
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = cpu();
  await work();
  return cpu() - before;
}

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The most CPU between two turns of the event loop while the work is under way. */
async function stallOf(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = cpu();
  let isOver = false;
  const look = (): void => {
    const now = cpu();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  await nextTurn();
  return longest;
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function row(cells: readonly string[]): string {
  const [name = "", ...rest] = cells;
  return name.padEnd(44) + rest.map((cell) => cell.padStart(11)).join("");
}
