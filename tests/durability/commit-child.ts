/**
 * A store on lmdb that does what it is told, line by line, on standard input, and answers each line on standard output by
 * one plain write, at once when the store has answered: `ack REVISION`, or the name of the error. For tests that look at
 * the system calls of the process, or that take its disk away.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { KubeObject } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { storedConfigMap } from "../../testkit/src/stored-object.ts";
import { openLmdbStorage } from "../../packages/apiserver/src/adapters/lmdb-storage.ts";
import { createStore } from "../../packages/apiserver/src/store/create-store.ts";
import { silentLog } from "../../packages/kit/src/log.ts";

const TABLE = "/configmaps";
const STANDARD_OUTPUT = 1;
const [directory = "", reserve = "0"] = process.argv.slice(2);

const storage = await openLmdbStorage(directory, { reserveBytes: Number(reserve) });
const store = await createStore({ clock: createRealClock(), log: silentLog }, storage, {
  volatileTables: new Set(),
});
say("ready");

// The lines: `put KEY BYTES`, `remove KEY`, `list`, `close`.
for await (const line of createInterface({ input: process.stdin })) {
  const [verb = "", key = "", bytes = "0"] = line.split(" ");
  try {
    say(await perform(verb, key, Number(bytes)));
  } catch (error) {
    say(`${(error as Error).name} ${key}`);
  }
}

async function perform(verb: string, key: string, bytes: number): Promise<string> {
  if (verb === "list")
    return `list ${Array.from(store.range(TABLE, {}), (entry) => entry.key).join(",")}`;
  if (verb === "close") return store.close().then(() => "closed");
  const kind = verb === "put" ? "put" : "remove";
  const build = (revision: number): KubeObject => objectOf(key, bytes, revision);
  const entry = await store.commit(TABLE, key, store.head(TABLE, key), { kind, build });
  return `ack ${entry.revision}`;
}

function say(line: string): void {
  writeSync(STANDARD_OUTPUT, `${line}\n`);
}

function objectOf(key: string, bytes: number, revision: number): KubeObject {
  const data = { value: "x".repeat(bytes) };
  return storedConfigMap(key, revision, data);
}
