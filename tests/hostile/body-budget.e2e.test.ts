/**
 * Bodies that begin and never end: by clients without valid credentials, by a user without rights, and by the very user
 * whose writes must succeed. Meanwhile every honest write is answered, and afterwards the memory is free again.
 */
import { readFileSync, writeFileSync } from "node:fs";
import * as http2 from "node:http2";
import { request } from "node:https";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ONLY_API, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** Together they fill the memory for bodies to the last few bytes; each alone is below the limit of a body. */
const UNFINISHED = 202;
const UNFINISHED_BYTES = Math.floor((512 * 1024 * 1024) / UNFINISHED);
const HONEST_WRITES = 20;
/**
 * Of unfinished bodies; what each takes at least, and what the later two may leave behind. A process gives memory back when it likes,
 * so what is there after a wave differs by some 150 MB; two waves that stayed would take 384 MiB.
 */
const WAVES = 3;
const HELD_BYTES = 192 * 1024 * 1024;
const GROWTH_BYTES = 256 * 1024 * 1024;

interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

let directory: string;
let running: RunningLifeboat;
let admin: Credentials;

beforeEach(async () => {
  directory = temporaryDirectory("body-budget");
  const tokens = join(directory, "tokens.csv");
  writeFileSync(tokens, "mallorys-token,mallory,1,\n");
  running = await startLifeboat({ args: [...ONLY_API, "--token-auth-file", tokens] });
  const kubeconfig = readFileSync(running.kubeconfig, "utf8");
  const decoded = (field: string): Buffer =>
    Buffer.from(
      new RegExp(`${field}"?:\\s*"?([A-Za-z0-9+/=]+)`).exec(kubeconfig)?.[1] ?? "",
      "base64",
    );
  admin = {
    headers: {},
    cert: decoded("client-certificate-data"),
    key: decoded("client-key-data"),
  };
});

afterEach(async () => {
  await running.process.stop("SIGKILL");
  await running.stop();
  removeDirectory(directory);
});

it.each([
  ["clients with a wrong token", () => ({ headers: { authorization: "Bearer x" } })],
  ["a user without rights", () => ({ headers: { authorization: "Bearer mallorys-token" } })],
  ["the same user", () => admin],
] as const)(
  "17.3: answers honest writes while bodies of %s do not end",
  async (_who, credentials) => {
    await writeHonestly("warm-up", 5);
    const attacks = Array.from({ length: UNFINISHED }, (_, i) =>
      beginBody(credentials(), i % 2 === 0 ? 1 : 2),
    );
    await Promise.all(attacks.map(({ begun }) => begun));
    await writeHonestly("during", HONEST_WRITES);
    for (const { leave } of attacks) leave();
    await eventually(async () => {
      expect(await heldBytes()).toBe(0);
    }, 120_000);
    await writeHonestly("after", 5);
  },
);

it("17.3: the memory of a wave of unfinished bodies serves the next one", async () => {
  const residents: number[] = [];
  for (let wave = 0; wave < WAVES; wave++) {
    const attacks = Array.from({ length: UNFINISHED }, (_, i) =>
      beginBody(admin, i % 2 === 0 ? 1 : 2),
    );
    await Promise.all(attacks.map(({ begun }) => begun));
    await eventually(async () => {
      expect(await heldBytes()).toBeGreaterThan(HELD_BYTES);
    }, 120_000);
    for (const { leave } of attacks) leave();
    await eventually(async () => {
      expect(await heldBytes()).toBe(0);
    }, 120_000);
    residents.push(residentBytes(running.process.pid));
  }
  const [first = 0] = residents;
  const most = Math.max(...residents);
  expect(most, residents.join(", ")).toBeLessThan(first + GROWTH_BYTES);
});

/** `begun` resolves when everything but the end was handed over, or the server wants no more of it. */
function beginBody(
  { headers, ...tls }: Credentials,
  version: 1 | 2,
): { readonly begun: Promise<void>; readonly leave: () => void } {
  const body = Buffer.alloc(UNFINISHED_BYTES, " ");
  if (version === 1) {
    const sent = request(`${running.url}${CONFIG_MAPS}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      ...tls,
      rejectUnauthorized: false,
      agent: false,
    });
    const begun = new Promise<void>((resolve) => {
      sent.on("error", () => resolve());
      sent.on("response", (response) => {
        response.on("error", () => undefined);
        response.resume();
        resolve();
      });
      sent.write(body, () => resolve());
    });
    return { begun, leave: () => sent.destroy() };
  }
  const session = http2.connect(running.url, { ...tls, rejectUnauthorized: false });
  const stream = session.request({ ...headers, ":method": "POST", ":path": CONFIG_MAPS });
  const begun = new Promise<void>((resolve) => {
    session.on("error", () => resolve());
    stream.on("error", () => resolve());
    stream.on("close", () => resolve());
    stream.resume();
    stream.write(body, () => resolve());
  });
  return { begun, leave: () => session.destroy() };
}

let written = 0;

/** One after another, each over a connection of its own, by turns in both protocols. */
async function writeHonestly(purpose: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    written += 1;
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `${purpose}-${written}` },
      data: { text: "x".repeat(10_000) },
    };
    const body = JSON.stringify(object);
    const status = i % 2 === 0 ? await postHttp1(body) : await postHttp2(body);
    expect(status, running.process.output().slice(-2000)).toBe(201);
  }
}

function postHttp1(body: string): Promise<number | string> {
  const { cert, key } = admin;
  return new Promise((resolve) => {
    const options = { method: "POST", cert, key, rejectUnauthorized: false, agent: false };
    const sent = request(`${running.url}${CONFIG_MAPS}`, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", (error) => resolve(String(error)));
    sent.end(body);
  });
}

async function postHttp2(body: string): Promise<number | string> {
  const { cert, key } = admin;
  const session = http2.connect(running.url, { cert, key, rejectUnauthorized: false });
  try {
    return await new Promise((resolve) => {
      session.on("error", (error) => resolve(String(error)));
      const stream = session.request({ ":method": "POST", ":path": CONFIG_MAPS });
      stream.on("error", (error) => resolve(String(error)));
      stream.on("response", (headers) => resolve(Number(headers[":status"])));
      stream.on("close", () => resolve("closed without an answer"));
      stream.resume();
      stream.end(body);
    });
  } finally {
    session.destroy();
  }
}

/** What a process has in memory now. */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** What the server itself says that bodies take. */
async function heldBytes(): Promise<number> {
  const { cert, key } = admin;
  const text = await new Promise<string>((resolve, reject) => {
    const options = { cert, key, rejectUnauthorized: false, agent: false };
    request(`${running.url}/metrics`, options, (response) => {
      let received = "";
      response.on("data", (chunk: Buffer) => (received += chunk.toString()));
      response.on("end", () => resolve(received));
    })
      .on("error", reject)
      .end();
  });
  const values = [...text.matchAll(/^lifeboat_request_body_bytes\{.*\} (\d+)$/gm)];
  expect(values.length, text.slice(0, 500)).toBeGreaterThan(0);
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}
