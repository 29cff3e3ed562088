/** `lifeboat get KIND`: objects of the control plane, or of members through its proxy (`-C CLUSTER…`), as their API servers print them. */
import {
  clusters,
  isJsonObject,
  type Json,
  type JsonObject,
  Refused,
  resourcePath,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { CommandFailed, UsageError } from "./failure.ts";
import { apiProblem } from "./find-plane.ts";
import { type MemberApi, OWN_API } from "./member-api.ts";
import { DISCOVERY_TYPE, findKind, type MemberKind } from "./member-kinds.ts";
import { formatMemberTables, shown } from "./member-table.ts";
import { objectsText, type Output } from "./output.ts";
import { tell } from "./tell.ts";

export interface AskedObjects {
  readonly kind: string;
  readonly names: readonly string[];
  /** "": of all namespaces. */
  readonly namespace: string;
  readonly output: Output<"table" | "wide" | "name">;
}

const TABLE_TYPE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

interface Found {
  readonly cluster: string;
  readonly kind: MemberKind;
  readonly documents: readonly Json[];
}

/** Prints what the members have, and tells which of them did not answer; throws when any did not. */
export async function getFromMembers(
  api: MemberApi,
  members: readonly string[],
  asked: AskedObjects,
): Promise<void> {
  const problems: string[] = [];
  const all = await Promise.all(
    members.map((cluster) =>
      readFrom(api, cluster, asked).catch((error: unknown) => {
        if (!(error instanceof Refused) && !(error instanceof CommandFailed)) throw error;
        const words = shown(apiProblem(error) ?? error.message);
        problems.push(cluster === OWN_API ? words : `${cluster}: ${words}`);
        return undefined;
      }),
    ),
  );
  const found = all.filter((one) => one !== undefined);
  process.stdout.write(formatted(found, asked));
  if (problems.length === 0 && found.every(({ documents }) => isEmpty(documents)))
    tell(`no ${asked.kind} found${placeText(members, found, asked)}`, "");
  if (problems.length > 0) throw new CommandFailed(problems.join("\nlifeboat: "));
}

function placeText(
  members: readonly string[],
  found: readonly Found[],
  { namespace }: AskedObjects,
): string {
  const isPlaced = namespace !== "" && found.some(({ kind }) => kind.namespaced);
  const where = !isPlaced ? "" : ` in the namespace ${namespace}`;
  return members.includes(OWN_API) ? where : `${where} in ${members.join(", ")}`;
}

/** The clusters that `-C` and `--all-clusters` mean. */
export async function askedClusters(
  plane: Client,
  listed: string | undefined,
  isAll: boolean,
): Promise<readonly string[]> {
  if (listed !== undefined && isAll)
    throw new UsageError("--clusters and --all-clusters exclude each other");
  if (isAll) return (await plane.list(clusters)).items.map(({ metadata }) => metadata.name).sort();
  const names = (listed ?? "").split(",").filter((name) => name !== "");
  if (names.length === 0) throw new UsageError("--clusters: the name of a cluster is needed");
  return [...new Set(names)];
}

async function readFrom(api: MemberApi, cluster: string, asked: AskedObjects): Promise<Found> {
  const kind = await kindOf(api, cluster, asked.kind);
  const isTable = asked.output.kind === "form" && asked.output.form !== "name";
  const accept = isTable ? TABLE_TYPE : "application/json";
  const namespace = kind.namespaced ? asked.namespace : "";
  if (asked.names.length > 0 && kind.namespaced && namespace === "")
    throw new UsageError("an object is named in one namespace: give -n, not -A");
  const names = asked.names.length === 0 ? [""] : asked.names;
  const documents = await Promise.all(
    names.map((name) => api.read(cluster, resourcePath(kind, namespace, name), accept)),
  );
  return { cluster, kind, documents };
}

/** One object of the control plane. */
export async function readObject(
  api: MemberApi,
  kindName: string,
  name: string,
  namespace: string,
): Promise<JsonObject> {
  const output = { kind: "json" } as const;
  const asked = { kind: kindName, names: [name], namespace, output };
  const { documents, kind } = await readFrom(api, OWN_API, asked);
  const [object] = documents.flatMap((document) => objectsOf(document, OWN_API, kind));
  if (object === undefined) throw new CommandFailed(`there is no ${kindName} "${name}"`);
  return object;
}

async function kindOf(api: MemberApi, cluster: string, asked: string): Promise<MemberKind> {
  const documents = await Promise.all(
    ["/api", "/apis"].map((root) => api.read(cluster, root, DISCOVERY_TYPE)),
  );
  const kind = findKind(asked, documents);
  if (kind !== undefined) return kind;
  const hint = cluster === OWN_API ? "; `kubectl api-resources` lists the kinds" : "";
  const what = cluster === OWN_API ? "the control plane" : "it";
  throw new CommandFailed(`${what} serves no kind that is called "${asked}"${hint}`);
}

function formatted(
  found: readonly Found[],
  { output, namespace, names, kind }: AskedObjects,
): string {
  const tables = found.flatMap(({ cluster, documents }) =>
    documents.map((table) => ({ cluster, table })),
  );
  if (output.kind === "form" && output.form !== "name") {
    const hasNamespace = namespace === "" && found.some((one) => one.kind.namespaced);
    return formatMemberTables(tables, { isWide: output.form === "wide", hasNamespace });
  }
  const objects = found.flatMap((one) =>
    one.documents.flatMap((document) => objectsOf(document, one.cluster, one.kind)),
  );
  if (output.kind === "form") return objects.map((object) => `${nameLine(object)}\n`).join("");
  const isOne = names.length === 1 || kind.includes("/");
  return objectsText(output, objects, isOne && found.length === 1);
}

/** Says of which cluster an object is, where nothing else does. */
const CLUSTER_ANNOTATION = "resource.karmada.io/cached-from-cluster";

function objectsOf(document: Json, cluster: string, kind: MemberKind): readonly JsonObject[] {
  if (!isJsonObject(document)) return [];
  const { items } = document;
  const objects = Array.isArray(items) ? items.filter(isJsonObject) : [document];
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  return objects.map((object) => {
    if (cluster === OWN_API) return { apiVersion, kind: kind.kind, ...object };
    const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
    const annotations = isJsonObject(metadata["annotations"]) ? metadata["annotations"] : {};
    const told = { ...metadata, annotations: { ...annotations, [CLUSTER_ANNOTATION]: cluster } };
    return { apiVersion, kind: kind.kind, ...object, metadata: told };
  });
}

function nameLine(object: JsonObject): string {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const annotations = isJsonObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const group = textOf(object["apiVersion"]).split("/").slice(0, -1).join("");
  const kind = textOf(object["kind"]).toLowerCase();
  const name = textOf(metadata["name"]);
  const cluster = textOf(annotations[CLUSTER_ANNOTATION]);
  if (cluster !== "") return shown(`${cluster}: ${kind}/${name}`);
  return shown(`${kind}${group === "" ? "" : `.${group}`}/${name}`);
}

function isEmpty(documents: readonly Json[]): boolean {
  return documents.every((document) => {
    if (!isJsonObject(document)) return true;
    const list = document["rows"] ?? document["items"];
    return Array.isArray(list) && list.length === 0;
  });
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
