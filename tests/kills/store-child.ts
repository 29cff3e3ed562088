/**
 * The process that is killed: a store on lmdb that takes commands as JSON lines on standard input and answers on standard
 * output. It opens the directory only when told to, so that the next child can be started while this one still runs, and
 * imports the store's own files rather than the whole server, to start quickly.
 */
import { createInterface } from "node:readline";
import type { KubeObject } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { storedConfigMap } from "../../testkit/src/stored-object.ts";
import { openLmdbStorage } from "../../packages/apiserver/src/adapters/lmdb-storage.ts";
import { createStore } from "../../packages/apiserver/src/store/create-store.ts";
import type { Entry, Store } from "../../packages/apiserver/src/store/store.ts";
import { silentLog } from "../../packages/kit/src/log.ts";

type Command = { readonly id: number } & (
  | { readonly do: "open"; readonly directory: string }
  | { readonly do: "put"; readonly key: string; readonly value: string }
  | { readonly do: "remove"; readonly key: string }
  | { readonly do: "list"; readonly prefix: string }
  | { readonly do: "watch"; readonly prefix: string; readonly from: number }
);

const TABLE = "/configmaps";
/** Small enough that trimming goes on all the time, large enough for a watcher that resumes at once. */
const OPTIONS = { volatileTables: new Set<string>(), historyMaxEvents: 4000 };
let opened: Store | undefined;

createInterface({ input: process.stdin }).on("line", (line) => {
  const command = JSON.parse(line) as Command;
  perform(command).then(
    (answer) => say({ id: command.id, answer }),
    (error: unknown) => say({ id: command.id, refused: String(error) }),
  );
});
process.stdin.on("end", () => process.exit(0));

async function perform(command: Command): Promise<unknown> {
  if (command.do === "open") {
    const ports = { clock: createRealClock(), log: silentLog };
    opened = await createStore(ports, await openLmdbStorage(command.directory), OPTIONS);
    return opened.revision;
  }
  if (opened === undefined) throw new Error("the store is not open");
  return performOn(opened, command);
}

function performOn(
  store: Store,
  command: Exclude<Command, { readonly do: "open" }>,
): Promise<number | string> | object | string {
  switch (command.do) {
    case "put":
      return put(store, command.key, command.value);
    case "remove":
      return remove(store, command.key);
    case "list":
      return {
        revision: store.revision,
        items: Array.from(store.range(TABLE, { prefix: command.prefix }), itemOf),
      };
    case "watch":
      return watch(store, command.prefix, command.from, command.id);
  }
}

async function put(store: Store, key: string, value: string): Promise<number> {
  const build = (revision: number): KubeObject => objectOf(key, value, revision);
  return (await store.commit(TABLE, key, store.head(TABLE, key), { kind: "put", build })).revision;
}

async function remove(store: Store, key: string): Promise<string> {
  const head = store.head(TABLE, key);
  if (head === undefined) throw new Error("there is nothing to remove");
  const build = (revision: number): KubeObject => objectOf(key, itemOf(head).value, revision);
  await store.commit(TABLE, key, head, { kind: "remove", build });
  return "done";
}

function watch(store: Store, prefix: string, from: number, id: number): string {
  store.watch(
    TABLE,
    { from, prefix, needsPrevious: false },
    {
      change: ({ type, entry }) => {
        say({ id, event: { type, ...itemOf(entry) } });
        return true;
      },
      end: () => undefined,
    },
  );
  return "caught up";
}

function say(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function itemOf(entry: Entry): { key: string; revision: number; value: string } {
  const { value } = entry.object["data"] as { readonly value: string };
  return { key: entry.key, revision: entry.revision, value };
}

function objectOf(key: string, value: string, revision: number): KubeObject {
  const data = { value, padding: "p".repeat(1000 + (revision % 7) * 400) };
  return storedConfigMap(key, revision, data);
}
