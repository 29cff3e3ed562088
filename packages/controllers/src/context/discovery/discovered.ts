/**
 * Reading an API's discovery: which kinds there are, where they are served, which verbs they have.
 *
 * 1. Groups that cannot be read are named in `failed`; the others are still answered.
 * 2. Nothing throws on a malformed document: what cannot be understood is left out. Only one with too many groups is
 *    refused whole, because a group that is left out counts as not served.
 */
import { isJsonObject, type Json, type Resource } from "@lifeboat/api";
import { type CallOptions, type Client, ExcessiveResponse, NotSent } from "@lifeboat/kit";

export interface DiscoveredResource extends Resource {
  readonly verbs: readonly string[];
  /** Whether this is the version its group prefers. */
  readonly preferred: boolean;
}

export interface Discovered {
  /** Without subresources. */
  readonly resources: readonly DiscoveredResource[];
  /** `group/version` of what could not be read. */
  readonly failed: readonly string[];
}

/** Reads the discovery of an API; rejects only when the list of groups itself cannot be read. */
export async function discover(client: Client, options: CallOptions = {}): Promise<Discovered> {
  const groups = await client.read("/apis", options);
  const versions = [{ path: "/api/v1", group: "", version: "v1", preferred: true }];
  const add = (one: (typeof versions)[number]): void => {
    if (versions.length > MAX_VERSIONS) throw tooManyGroups();
    versions.push(one);
  };
  for (const group of listAt(groups, "groups")) {
    const preferred = textAt(fieldAt(group, "preferredVersion"), "groupVersion");
    for (const entry of listAt(group, "versions")) {
      const groupVersion = textAt(entry, "groupVersion");
      const name = textAt(group, "name");
      const version = textAt(entry, "version");
      if (!isName(name) || !isName(version) || groupVersion !== `${name}/${version}`) continue;
      add({
        path: `/apis/${groupVersion}`,
        group: name,
        version,
        preferred: groupVersion === preferred,
      });
    }
  }
  const read = await Promise.all(
    versions.map(async (entry) => {
      try {
        return { ...entry, document: await client.read(entry.path, options) };
      } catch (error) {
        if (options.signal?.aborted === true) throw error;
        return { ...entry, document: undefined };
      }
    }),
  );
  const failed = read.flatMap(({ document, group, version }) =>
    document === undefined ? [group === "" ? version : `${group}/${version}`] : [],
  );
  const resources = read.flatMap(({ document, group, version, preferred }) =>
    document === undefined ? [] : resourcesOf(document, group, version, preferred),
  );
  return { resources, failed };
}

/** Each kind that can be listed once, in the version that its group prefers, where that has it. */
export function onePerTable(
  resources: readonly DiscoveredResource[],
): readonly DiscoveredResource[] {
  const chosen = new Map<string, DiscoveredResource>();
  for (const resource of resources) {
    const { group, plural, verbs, preferred } = resource;
    const table = `${group}/${plural}`;
    if (verbs.includes("list") && (preferred || !chosen.has(table))) chosen.set(table, resource);
  }
  return [...chosen.values()];
}

function resourcesOf(
  document: Json,
  group: string,
  version: string,
  preferred: boolean,
): readonly DiscoveredResource[] {
  return listAt(document, "resources").flatMap((entry) => {
    const plural = textAt(entry, "name");
    const kind = textAt(entry, "kind");
    if (!isName(plural) || !KIND.test(kind)) return [];
    const verbs = listAt(entry, "verbs").filter((verb) => typeof verb === "string");
    const namespaced = fieldAt(entry, "namespaced") === true;
    return [{ group, version, plural, kind, namespaced, verbs, preferred }];
  });
}

/** Every version is one more request: a server that claims to have more asks for too many. */
const MAX_VERSIONS = 2000;

function tooManyGroups(): NotSent {
  const message = `the API has more than ${MAX_VERSIONS} groups and versions`;
  return new NotSent(message, { cause: new ExcessiveResponse("TooManyItems", message) });
}

/** Names become parts of paths and of messages. */
function isName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name);
}

const KIND = /^[A-Za-z][A-Za-z0-9]{0,127}$/;

function fieldAt(value: Json | undefined, key: string): Json | undefined {
  return isJsonObject(value) ? value[key] : undefined;
}

function listAt(value: Json, key: string): readonly Json[] {
  const list = fieldAt(value, key);
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}

function textAt(value: Json | undefined, key: string): string {
  const text = fieldAt(value, key);
  return typeof text === "string" ? text : "";
}
