/** `lifeboat describe KIND NAME`: one object of the control plane with its conditions, Events and history. */
import {
  events,
  type Json,
  isJsonObject,
  type JsonObject,
  ledgerSlices,
  Refused,
} from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { readLedger } from "@lifeboat/core/history";
import type { Command } from "commander";
import { describeLines } from "../describe-text.ts";
import { UsageError } from "../failure.ts";
import { findPlane, type FoundPlane, inWords, planeOptions } from "../find-plane.ts";
import { readObject } from "../get-from-members.ts";
import { chosenEntries, type HistoryFilter } from "../history/history-text.ts";
import { createMemberApi } from "../member-api.ts";
import { namedObjects } from "../named-objects.ts";
import type { OptionDefinition } from "../options.ts";
import { outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";

export const describeOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "namespace",
    short: "n",
    type: "text",
    value: "NAMESPACE",
    default: "default",
    help: "Of the object",
  },
  outputOption(["text"]),
];

export function addDescribe(program: Command): void {
  const command = program
    .command("describe")
    .description("Show everything about one object: conditions, Events, history")
    .argument("<KIND>", "cluster, deployment, evacuation, …, or KIND/NAME")
    .argument("[NAME]", "the object");
  declareOptions(command, describeOptions).action(async (asked: string, name?: string) => {
    const { kind, names } = namedObjects(asked, name === undefined ? [] : [name]);
    const [only] = names;
    if (only === undefined)
      throw new UsageError("the name of an object is needed: KIND NAME, or KIND/NAME");
    const settings = readSettings(command, describeOptions);
    await inWords(() => describeOne(kind, only, settings));
  });
}

async function describeOne(kind: string, name: string, settings: Settings): Promise<void> {
  const output = outputFrom(settings, ["text"]);
  const plane = await findPlane(settings);
  const api = createMemberApi(plane.http);
  try {
    const object = await readObject(api, kind, name, settings.requiredText("namespace"));
    const found = {
      object,
      events: await eventsOf(plane, object),
      history: await historyOf(plane, object),
    };
    show(
      output,
      () => describeLines(found, createRealClock().now()),
      () => found,
    );
  } finally {
    api.close();
    plane.close();
  }
}

async function eventsOf(
  { client }: FoundPlane,
  object: JsonObject,
): Promise<readonly JsonObject[]> {
  const uid = textAt(object, "metadata", "uid");
  const items = await readable(async () => (await client.list(events)).items);
  return items
    .map((event) => event as unknown as JsonObject)
    .filter(
      (event) =>
        textAt(event, "involvedObject", "uid") === uid || textAt(event, "regarding", "uid") === uid,
    );
}

async function historyOf({ client }: FoundPlane, object: JsonObject) {
  const items = await readable(async () => (await client.list(ledgerSlices)).items);
  const name = textAt(object, "metadata", "name");
  const kind = textAt(object, "kind");
  const isNamed = kind === "Cluster" || kind === "Evacuation";
  const filter: HistoryFilter = isNamed
    ? { name }
    : { workload: { kind, namespace: textAt(object, "metadata", "namespace"), name } };
  return chosenEntries(readLedger(items), filter);
}

/** What this user may not read is left out: the object itself is shown. */
async function readable<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refused && error.status.code === 403) return [];
    throw error;
  }
}

function textAt(object: JsonObject, ...path: readonly string[]): string {
  let at: Json | undefined = object;
  for (const name of path) at = at !== undefined && isJsonObject(at) ? at[name] : undefined;
  return typeof at === "string" ? at : "";
}
