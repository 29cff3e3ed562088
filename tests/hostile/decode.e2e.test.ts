/**
 * Bodies that are meant to keep the server busy, against the built command: from a user without rights, without any identity, and from one
 * that may write. Meanwhile another client reads and writes.
 *
 * Two things are counted, and neither is time that passes: the CPU that the server spends for each hostile body, which was more
 * than five seconds for the first of them, and how many requests of the other client are answered meanwhile. Bodies that are refused at
 * once leave it no time for many; where a body is decoded in pieces, several are answered for each.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ONLY_API, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const TOKENS = 'bob-token,bob,1\nalice-token,alice,2,"system:masters"\n';
/** So many hostile bodies are under way at once, and so many are sent in all. */
const AT_ONCE = 4;
const IN_ALL = 12;
/** With what TLS and the other client cost, on a machine that is busy. */
const MAX_CPU_MS_PER_BODY = 500;

const directory = temporaryDirectory("hostile-decode");
let lifeboat: RunningLifeboat;

beforeAll(async () => {
  const tokens = join(directory, "tokens.csv");
  writeFileSync(tokens, TOKENS);
  lifeboat = await startLifeboat({ args: [...ONLY_API, "--token-auth-file", tokens] });
});
afterAll(async () => {
  await lifeboat?.stop();
  removeDirectory(directory);
});

const items = (size: number): string => `a:\n${"- a\n".repeat(Math.floor(size / 4))}`;
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(",")}}`;

const rows: readonly {
  readonly name: string;
  readonly token: string | undefined;
  readonly type: string;
  readonly body: string;
  readonly status: number;
  /** So many requests of the other client are answered at least; absent: one. */
  readonly served?: number;
}[] = [
  {
    name: "2.9 MB of YAML from a user without rights",
    token: "bob-token",
    type: "application/yaml",
    body: items(2_900_000),
    status: 403,
  },
  {
    name: "256 KB of YAML that is wrong everywhere, from a user without rights",
    token: "bob-token",
    type: "application/yaml",
    body: "]".repeat(256 * 1024),
    status: 403,
  },
  {
    name: "60 KB of YAML from an anonymous client",
    token: undefined,
    type: "application/yaml",
    body: items(60_000),
    status: 403,
  },
  {
    name: "2.9 MB of YAML from a user with rights",
    token: "alice-token",
    type: "application/yaml",
    body: items(2_900_000),
    status: 413,
  },
  {
    name: "as much YAML as is read, from a user with rights",
    token: "alice-token",
    type: "application/yaml",
    body: items(12_400),
    status: 422,
    served: IN_ALL,
  },
  {
    name: "256 KB of YAML that is wrong everywhere, from a user with rights",
    token: "alice-token",
    type: "application/yaml",
    body: "]".repeat(256 * 1024),
    status: 400,
  },
  {
    name: "as many keys of JSON as are read, from a user with rights",
    token: "alice-token",
    type: "application/json",
    body: keys(49_900),
    status: 422,
    served: AT_ONCE,
  },
];

describe("17.2: while hostile bodies arrive, others are served", () => {
  for (const { name, token, type, body, status, served = 1 } of rows)
    it(name, async () => {
      const attacker = new Client(token);
      const honest = new Client("alice-token");
      const other = { isNeeded: true, answered: 0 };
      const serving = (async () => {
        while (other.isNeeded) {
          expect((await honest.send("GET", "/version")).status).toBe(200);
          const metadata = { generateName: "small-" };
          const small = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata });
          expect((await honest.send("POST", CONFIG_MAPS, small)).status).toBe(201);
          other.answered += 2;
        }
      })();
      const before = cpuMs(lifeboat.process.pid);
      let left = IN_ALL;
      const attack = async (): Promise<void> => {
        while (left-- > 0)
          expect((await attacker.send("POST", CONFIG_MAPS, body, type)).status).toBe(status);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, attack));
      const spent = cpuMs(lifeboat.process.pid) - before;
      other.isNeeded = false;
      await serving;
      attacker.close();
      honest.close();
      expect(other.answered).toBeGreaterThanOrEqual(served);
      expect(spent / IN_ALL).toBeLessThan(MAX_CPU_MS_PER_BODY);
    });
});

/** What a process has spent so far, on all its threads: fields 14 and 15 of its line, in hundredths of a second. */
function cpuMs(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

class Client {
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  readonly #token: string | undefined;

  constructor(token: string | undefined) {
    this.#token = token;
  }

  send(
    method: string,
    path: string,
    body = "",
    type = "application/json",
  ): Promise<{ readonly status: number }> {
    return new Promise((resolve, reject) => {
      const headers = {
        "content-type": type,
        "content-length": Buffer.byteLength(body),
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      };
      const sending = request(lifeboat.url + path, { method, headers, agent: this.#agent });
      sending.on("error", reject);
      sending.on("response", (response) => {
        response.resume();
        response.once("end", () => resolve({ status: response.statusCode ?? 0 }));
      });
      sending.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
