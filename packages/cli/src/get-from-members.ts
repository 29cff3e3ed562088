/** `lifeboat get KIND -C CLUSTER…`: objects of members, through the control plane's proxy. */
import {
  clusters,
  encodeYaml,
  isJsonObject,
  type Json,
  type JsonObject,
  Refused,
  resourcePath,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { CommandFailed, UsageError } from "./failure.ts";
import type { MemberApi } from "./member-api.ts";
import { DISCOVERY_TYPE, findKind, type MemberKind } from "./member-kinds.ts";
import { formatMemberTables, shown } from "./member-table.ts";

export interface AskedObjects {
  readonly kind: string;
  readonly names: readonly string[];
  /** "": of all namespaces. */
  readonly namespace: string;
  readonly format: "table" | "wide" | "json" | "yaml" | "name";
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
        problems.push(`${cluster}: ${shown(error.message)}`);
        return undefined;
      }),
    ),
  );
  const found = all.filter((one) => one !== undefined);
  process.stdout.write(formatted(found, asked));
  if (problems.length === 0 && found.every(({ documents }) => isEmpty(documents)))
    process.stderr.write(`no ${asked.kind} found in ${members.join(", ")}\n`);
  if (problems.length > 0) throw new CommandFailed(problems.join("\nlifeboat: "));
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
  const isTable = asked.format === "table" || asked.format === "wide";
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

async function kindOf(api: MemberApi, cluster: string, asked: string): Promise<MemberKind> {
  const documents = await Promise.all(
    ["/api", "/apis"].map((root) => api.read(cluster, root, DISCOVERY_TYPE)),
  );
  const kind = findKind(asked, documents);
  if (kind !== undefined) return kind;
  throw new CommandFailed(`it serves no kind that is called "${asked}"`);
}

function formatted(found: readonly Found[], { format, namespace }: AskedObjects): string {
  const tables = found.flatMap(({ cluster, documents }) =>
    documents.map((table) => ({ cluster, table })),
  );
  if (format === "table" || format === "wide") {
    const hasNamespace = namespace === "" && found.some(({ kind }) => kind.namespaced);
    return formatMemberTables(tables, { isWide: format === "wide", hasNamespace });
  }
  const objects = found.flatMap(({ cluster, kind, documents }) =>
    documents.flatMap((document) => objectsOf(document, cluster, kind)),
  );
  if (format === "name") return objects.map((object) => `${nameLine(object)}\n`).join("");
  const list = {
    apiVersion: "v1",
    kind: "List",
    metadata: { resourceVersion: "" },
    items: objects,
  };
  return format === "json" ? `${JSON.stringify(list, null, 4)}\n` : encodeYaml(list);
}

/** Says of which cluster an object is, where nothing else does. */
const CLUSTER_ANNOTATION = "resource.karmada.io/cached-from-cluster";

function objectsOf(document: Json, cluster: string, kind: MemberKind): readonly JsonObject[] {
  if (!isJsonObject(document)) return [];
  const { items } = document;
  const objects = Array.isArray(items) ? items.filter(isJsonObject) : [document];
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  return objects.map((object) => {
    const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
    const annotations = isJsonObject(metadata["annotations"]) ? metadata["annotations"] : {};
    const told = { ...metadata, annotations: { ...annotations, [CLUSTER_ANNOTATION]: cluster } };
    return { apiVersion, kind: kind.kind, ...object, metadata: told };
  });
}

function nameLine(object: JsonObject): string {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const annotations = isJsonObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const kind = textOf(object["kind"]).toLowerCase();
  return shown(`${textOf(annotations[CLUSTER_ANNOTATION])}: ${kind}/${textOf(metadata["name"])}`);
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
