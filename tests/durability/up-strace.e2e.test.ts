/**
 * Aim: `lifeboat up` answers no write before it is on the disk, and syncs for nothing else. Method: the system calls of
 * the whole product are traced while one client sends one request after the other over one connection; the trace must
 * show the whole commit between each request and its answer.
 */
import { readFileSync, realpathSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ONLY_API, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { type Effect, judgeRequests } from "./request-trace.ts";
import { requireStrace, straceInto } from "./strace.ts";

const ROUNDS = 12;
/** Longer than what is written at a start keeps apart. */
const QUIET_MS = 3000;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** More than a socket hands over at once. */
const HUGE = 150_000;

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly code: number;
  readonly effect: Effect;
}

test("lifeboat answers no write before it is synced, and syncs for no other request", async ({
  skip,
}) => {
  requireStrace(skip);
  const folder = realpathSync(temporaryDirectory("up-strace"));
  const trace = join(folder, "trace");
  const dataDirectory = join(folder, "data");
  try {
    const lifeboat = await startLifeboat({
      dataDirectory,
      under: straceInto(trace),
      args: ONLY_API,
    });
    const steps = Array.from({ length: ROUNDS }, (_, round) => stepsOf(round)).flat();
    try {
      await untilStarted(trace);
      await sendAll(lifeboat, steps);
    } finally {
      await lifeboat.stop();
    }
    const effects = steps.map(({ effect }) => effect);
    const dataFile = join(dataDirectory, "store", "data.mdb");
    const verdict = judgeRequests(readFileSync(trace, "utf8"), dataFile, effects);
    expect(verdict).toEqual({ requests: steps.length, violations: [] });
  } finally {
    removeDirectory(folder);
  }
});

/** After `ready` a new control plane still writes what others look for: its address, the rules of aggregated roles. */
async function untilStarted(trace: string): Promise<void> {
  const countCalls = (): number => readFileSync(trace, "utf8").split("data.mdb").length;
  let before = 0;
  let quietSince = performance.now();
  await eventually(() => {
    const now = countCalls();
    if (now !== before) quietSince = performance.now();
    before = now;
    return performance.now() - quietSince > QUIET_MS
      ? Promise.resolve()
      : Promise.reject(new Error("the control plane still writes"));
  });
}

/** Four writes of one object, between requests that must leave the store alone. */
function stepsOf(round: number): readonly Step[] {
  const name = `map-${round}`;
  const path = `${CONFIG_MAPS}/${name}`;
  const size = round === 5 ? HUGE : (round * 1700) % 9000;
  const withData = (value: string): unknown => ({ metadata: { name }, data: { value } });
  const writes = { effect: "stores" } as const;
  const leaves = { effect: "stores nothing" } as const;
  const patch = { method: "PATCH", path, type: "application/merge-patch+json", code: 200 };
  const labels = { metadata: { labels: { round: `${round}` } } };
  return [
    { method: "GET", path, code: 404, ...leaves },
    { method: "POST", path: CONFIG_MAPS, body: withData("x".repeat(size)), code: 201, ...writes },
    { method: "POST", path: CONFIG_MAPS, body: withData("other"), code: 409, ...leaves },
    { method: "PUT", path, body: withData("y".repeat(size + 1)), code: 200, ...writes },
    { method: "GET", path, code: 200, ...leaves },
    { ...patch, body: labels, ...writes },
    { ...patch, body: labels, ...leaves },
    { ...patch, path: `${path}?dryRun=All`, body: { data: { value: "z" } }, ...leaves },
    { method: "GET", path: CONFIG_MAPS, code: 200, ...leaves },
    { method: "DELETE", path, code: 200, ...writes },
  ];
}

async function sendAll(lifeboat: RunningLifeboat, steps: readonly Step[]): Promise<void> {
  const file = (name: string): Buffer => readFileSync(join(lifeboat.dataDirectory, "pki", name));
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 1,
    // The judge tells the handshake from the requests by what TLS 1.3 hides.
    maxVersion: "TLSv1.2",
    ca: file("ca.crt"),
    cert: file("client-admin.crt"),
    key: file("client-admin.key"),
  });
  try {
    for (const step of steps) {
      const code = await send(agent, lifeboat.url, step);
      expect(code, `${step.method} ${step.path}`).toBe(step.code);
    }
  } finally {
    agent.destroy();
  }
}

/** Sends one request and answers with its code when the whole answer has been read. */
function send(agent: Agent, url: string, step: Step): Promise<number | undefined> {
  const { method, path, body, type = "application/json" } = step;
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = {
    "content-length": Buffer.byteLength(text),
    ...(body === undefined ? {} : { "content-type": type }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, agent, headers }, (answer) => {
      answer.resume();
      answer.once("error", reject);
      answer.once("end", () => resolve(answer.statusCode));
    });
    sent.once("error", reject);
    sent.end(text);
  });
}

const FILE = "/d/data.mdb";
const OPEN = [
  `7 openat(AT_FDCWD</>, "${FILE}", O_RDWR|O_CREAT, 0664) = 19<${FILE}>`,
  `7 openat(AT_FDCWD</>, "${FILE}", O_WRONLY|O_DSYNC|O_CLOEXEC) = 20<${FILE}>`,
  String.raw`7 read(23<socket:[5]>, "\26\3\1\5\330\1"..., 65536) = 1501`,
  String.raw`7 write(23<socket:[5]>, "\26\3\3\0z\2"..., 1352) = 1352`,
  String.raw`7 read(23<socket:[5]>, "\26\3\3\1\324\7\301"..., 65536) = 746`,
  String.raw`7 write(23<socket:[5]>, "\24\3\3\0\1\1"..., 51) = 51`,
];
const CLOSE = [
  String.raw`7 read(23<socket:[5]>, "\25\3\3\0\32"..., 65536) = 31`,
  String.raw`7 read(23<socket:[5]>, "", 65536) = 0`,
  String.raw`7 write(23<socket:[5]>, "\25\3\3\0\32"..., 31) = 31`,
];
const REQUEST = String.raw`7 read(23<socket:[5]>, "\27\3\3\1\"-\260"..., 65536) = 411`;
const MORE = String.raw`7 read(23<socket:[5]>, "\260\1) = 7"..., 65536) = 100`;
const ANSWER = String.raw`7 write(23<socket:[5]>, "\27\3\3\1V\212"..., 347) = 347`;
const ANSWER_PARTS = String.raw`7 writev(23<socket:[5]>, [{iov_base="\27\3\3\26\216"..., iov_len=9}], 1) = 9`;
const OTHER = REQUEST.replace("socket:[5]", "socket:[6]");
const DATA = `8 writev(19<${FILE}>, [{iov_base="x"..., iov_len=4096}], 1) = 4096`;
const SYNC = `8 fdatasync(19<${FILE}>)          = 0`;
const SYNC_BEGUN = `8 fdatasync(19<${FILE}> <unfinished ...>`;
const SYNC_ENDED = "8 <... fdatasync resumed>)      = 0";
const HEADER = `8 pwrite64(20<${FILE}>, "x"..., 128, 40) = 128`;
const HEADER_BEGUN = `8 pwrite64(20<${FILE}>, "x"..., 128, 40 <unfinished ...>`;
const HEADER_ENDED = "8 <... pwrite64 resumed>)       = 128";
const REQUEST_BEGUN = "7 read(23<socket:[5]>,  <unfinished ...>";
const REQUEST_ENDED = String.raw`7 <... read resumed>"\27\3\3\1V"..., 65536) = 411`;
const ANSWER_BEGUN = String.raw`7 write(23<socket:[5]>, "\27\3\3\1V"..., 347 <unfinished ...>`;
const ANSWER_ENDED = "7 <... write resumed>)          = 347";
const COMMIT = [DATA, DATA, SYNC, HEADER];
const W = "stores";
const R = "stores nothing";

interface SeededTrace {
  readonly name: string;
  readonly calls: readonly string[];
  readonly effects: readonly Effect[];
}

const goodTraces: readonly SeededTrace[] = [
  {
    name: "a commit between request and answer",
    calls: [REQUEST, ...COMMIT, ANSWER],
    effects: [W],
  },
  {
    name: "a request and an answer in several parts",
    calls: [REQUEST, MORE, ...COMMIT, ANSWER, ANSWER_PARTS],
    effects: [W],
  },
  {
    name: "two commits for one request",
    calls: [REQUEST, ...COMMIT, ...COMMIT, ANSWER],
    effects: [W],
  },
  {
    name: "a read between two writes",
    calls: [REQUEST, ...COMMIT, ANSWER, REQUEST, ANSWER_PARTS, REQUEST, ...COMMIT, ANSWER],
    effects: [W, R, W],
  },
  {
    name: "calls that are interrupted in the trace only",
    calls: [
      REQUEST_BEGUN,
      REQUEST_ENDED,
      DATA,
      SYNC_BEGUN,
      SYNC_ENDED,
      HEADER_BEGUN,
      HEADER_ENDED,
      ANSWER_BEGUN,
      ANSWER_ENDED,
    ],
    effects: [W],
  },
  {
    name: "commits before the first request and after the last answer",
    calls: [...COMMIT, REQUEST, ANSWER, ...COMMIT],
    effects: [R],
  },
];

const badTraces: readonly (SeededTrace & { readonly says: RegExp })[] = [
  {
    name: "a write without a commit",
    calls: [REQUEST, ANSWER],
    effects: [W],
    says: /the store saw \[\]/,
  },
  {
    name: "an answer before the sync",
    calls: [REQUEST, DATA, ANSWER, SYNC, HEADER],
    effects: [W],
    says: /saw \[data written\]/,
  },
  {
    name: "an answer before the header",
    calls: [REQUEST, DATA, SYNC, ANSWER, HEADER],
    effects: [W],
    says: /saw \[data written, data synced\]/,
  },
  {
    name: "the head of an answer before the commit and the rest after it",
    calls: [REQUEST, ANSWER, ...COMMIT, ANSWER_PARTS],
    effects: [W],
    says: /the store saw \[\]/,
  },
  {
    name: "a header before the sync",
    calls: [REQUEST, DATA, HEADER, SYNC, ANSWER],
    effects: [W],
    says: /saw \[data written, header written, data synced\]/,
  },
  {
    name: "no sync at all",
    calls: [REQUEST, DATA, HEADER, ANSWER],
    effects: [W],
    says: /saw \[data written, header written\]/,
  },
  {
    name: "data after the sync",
    calls: [REQUEST, DATA, SYNC, DATA, HEADER, ANSWER],
    effects: [W],
    says: /saw \[data written, data synced, data written, header written\]/,
  },
  {
    name: "a header that is not written synchronously",
    calls: [REQUEST, DATA, SYNC, HEADER.replace("20<", "19<"), ANSWER],
    effects: [W],
    says: /saw \[data written, data synced, header written without a sync\]/,
  },
  {
    name: "a header that is written before the sync and once more after it",
    calls: [REQUEST, DATA, HEADER.replace("20<", "19<"), SYNC, HEADER, ANSWER],
    effects: [W],
    says: /saw \[data written, header written without a sync, data synced, header written\]/,
  },
  {
    name: "a sync that failed",
    calls: [REQUEST, DATA, SYNC.replace("= 0", "= -1 EIO (Input/output error)"), HEADER, ANSWER],
    effects: [W],
    says: /call failed/,
  },
  {
    name: "a sync of another file",
    calls: [REQUEST, DATA, SYNC.replace(FILE, "/d/other"), HEADER, ANSWER],
    effects: [W],
    says: /saw \[data written, header written\]/,
  },
  {
    name: "a sync under way while the header is written",
    calls: [REQUEST, DATA, SYNC_BEGUN, HEADER.replace("8 ", "9 "), SYNC_ENDED, ANSWER],
    effects: [W],
    says: /"data synced" was still under way at "header written"/,
  },
  {
    name: "a header under way when the answer goes out",
    calls: [REQUEST, DATA, SYNC, HEADER_BEGUN, ANSWER, HEADER_ENDED],
    effects: [W],
    says: /"header written" was still under way at the answer/,
  },
  {
    name: "a header that ended while the answer was under way",
    calls: [REQUEST, DATA, SYNC, HEADER_BEGUN, ANSWER_BEGUN, HEADER_ENDED, ANSWER_ENDED],
    effects: [W],
    says: /"header written" was still under way at the answer/,
  },
  {
    name: "a header that never ended",
    calls: [REQUEST, DATA, SYNC, HEADER_BEGUN, ANSWER],
    effects: [W],
    says: /"header written" was still under way at the answer/,
  },
  {
    name: "a sync that began before the request was received",
    calls: [REQUEST, ANSWER, DATA, SYNC_BEGUN, REQUEST, SYNC_ENDED, HEADER, ANSWER],
    effects: [R, W],
    says: /saw \[header written\]/,
  },
  {
    name: "a commit that began before the request was received whole",
    calls: [REQUEST_BEGUN, ...COMMIT, REQUEST_ENDED, ANSWER],
    effects: [W],
    says: /the store saw \[\]/,
  },
  {
    name: "each commit after its answer, in time for the next",
    calls: [REQUEST, ANSWER, REQUEST, ...COMMIT, ANSWER, REQUEST, ...COMMIT, ANSWER],
    effects: [W, W, R],
    says: /request 0, which stores: the store saw \[\]/,
  },
  {
    name: "a sync for a read",
    calls: [REQUEST, SYNC, ANSWER],
    effects: [R],
    says: /which stores nothing: the store saw "data synced"/,
  },
  {
    name: "a commit between an answer and the next request",
    calls: [REQUEST, ...COMMIT, ANSWER, ...COMMIT, REQUEST, ANSWER],
    effects: [W, R],
    says: /after the answer to request 0: data written/,
  },
  { name: "no answer", calls: [REQUEST, ...COMMIT], effects: [W], says: /there is no answer/ },
  {
    name: "fewer requests than were sent",
    calls: [REQUEST, ...COMMIT, ANSWER],
    effects: [W, R],
    says: /2 requests were sent, 1 were received/,
  },
  {
    name: "a second connection",
    calls: [REQUEST, ...COMMIT, ANSWER, OTHER],
    effects: [W],
    says: /2 connections carried requests/,
  },
  { name: "no request", calls: [], effects: [], says: /0 connections carried requests/ },
];

for (const { name, calls, effects } of goodTraces)
  test(`a trace with ${name} is judged good`, () => {
    const verdict = judgeRequests([...OPEN, ...calls, ...CLOSE].join("\n"), FILE, effects);
    expect(verdict).toEqual({ requests: effects.length, violations: [] });
  });

for (const { name, calls, effects, says } of badTraces)
  test(`a trace with ${name} is judged bad`, () => {
    const { violations } = judgeRequests([...OPEN, ...calls, ...CLOSE].join("\n"), FILE, effects);
    expect(violations.join("\n")).toMatch(says);
  });
