/** The access matrix as requests: sends them all, and tells which were not answered as the table says, and what they changed. */
import type { RawAnswer, RawClient } from "../support/raw-client.ts";
import { CLUSTER, type Column, isAllowed } from "./access-table.ts";
import { type MatrixRequest, requestsTo } from "./requests.ts";
import { pathOf } from "./served.ts";
import { clusterOf, eventOf, leaseOf, PLACES, requestOf, type World } from "./world.ts";

const SIDE_BY_SIDE = 16;

/** Bodies that only the right to them can refuse, where RBAC lets a request pass to admission. */
const BODIES: Readonly<Record<string, (name: string) => object>> = {
  "cluster.karmada.io/clusters": clusterOf,
  "coordination.k8s.io/leases": leaseOf,
  "certificates.k8s.io/certificatesigningrequests": (name) => ({
    ...requestOf(CLUSTER, CLUSTER),
    metadata: { name },
  }),
  "/events": (name) => (name === "one" ? aboutWork() : eventOf(aboutWhom(name))),
  "events.k8s.io/events": (name) => ({
    ...newEvent,
    regarding: { kind: "Cluster", name: aboutWhom(name) },
    metadata: { name },
  }),
  "authorization.k8s.io/selfsubjectaccessreviews": () => ({
    spec: { resourceAttributes: { verb: "get", resource: "pods" } },
  }),
  "authorization.k8s.io/selfsubjectrulesreviews": () => ({ spec: { namespace: "default" } }),
};

function aboutWork(): object {
  const involvedObject = { kind: "Work", namespace: `karmada-es-${CLUSTER}`, name: "one" };
  return { metadata: { name: "one" }, involvedObject };
}

/** The events of namespaces of clusters are called otherwise: those are about the agent's own. */
function aboutWhom(name: string): string {
  return name === "one" ? CLUSTER : name.replace("of-", "");
}
const newEvent = {
  eventTime: "2026-01-01T00:00:00.000000Z",
  reportingController: "test",
  reportingInstance: "test",
  action: "a",
  reason: "r",
  type: "Normal",
};

function bodyOf({ of, name, namespace, contentType }: MatrixRequest): object {
  if (contentType === "application/json-patch+json") return [];
  if (contentType !== undefined) return {};
  const apiVersion = of.group === "" ? of.version : `${of.group}/${of.version}`;
  const given = BODIES[of.id]?.(name) as { readonly metadata?: object } | undefined;
  const metadata = { name, ...(of.namespaced && { namespace }), ...given?.metadata };
  return { apiVersion, kind: of.kind, ...given, metadata };
}

/** Sends a request. One that the table allows is a rehearsal, so that the world stays as it is. */
async function send(
  world: World,
  client: RawClient,
  request: MatrixRequest,
  isRehearsal: boolean,
): Promise<RawAnswer> {
  const { method, path, verb, contentType } = request;
  if (verb === "watch") {
    const watch = await client.watch(path);
    watch.stop();
    return { code: watch.code, body: "" };
  }
  if (method === "GET") return client.ask(method, path);
  const dry = `${path}${path.includes("?") ? "&" : "?"}dryRun=All`;
  const current = isRehearsal && verb === "update" ? await stored(world, request) : undefined;
  const body = current ?? (method === "DELETE" ? undefined : bodyOf(request));
  const headers = contentType === undefined ? {} : { "content-type": contentType };
  return client.ask(method, isRehearsal ? dry : path, { body, headers });
}

async function stored({ admin }: World, request: MatrixRequest): Promise<unknown> {
  const { code, body } = await admin.ask("GET", request.path);
  return code === 200 ? JSON.parse(body) : undefined;
}

/** What came of every request that was not answered as the table says. */
export async function differences(
  world: World,
  column: Column,
  client: RawClient,
  isFine: (request: MatrixRequest, code: number) => boolean,
): Promise<{ readonly sent: number; readonly allowed: number; readonly wrong: readonly string[] }> {
  const all = world.served.flatMap((of) => requestsTo(of, PLACES[column]));
  const wrong: string[] = [];
  let allowed = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let request = all[next++]; request !== undefined; request = all[next++]) {
      const may = isAllowed(column, { ...request, id: request.of.id });
      if (may) allowed += 1;
      const { code, body } = await send(world, client, request, may);
      if (may ? isFine(request, code) : code === 403) continue;
      wrong.push(
        `${may ? "allowed" : "refused"}: ${request.method} ${request.path} ${request.contentType ?? ""} → ${code} ${body.slice(0, 200)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return { sent: all.length, allowed, wrong };
}

/** All objects, without what changes by itself. */
export async function snapshot({ served, admin }: World): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const of of served) {
    if (of.subresource !== "") continue;
    const { code, body } = await admin.ask("GET", pathOf(of, "", ""));
    if (code !== 200) continue;
    for (const item of (JSON.parse(body) as { items: Stored[] }).items ?? []) {
      const { metadata, status: _, ...rest } = item;
      const { namespace = "", name, uid, labels, annotations, finalizers } = metadata;
      const kept = { uid, labels, annotations, finalizers, ...rest };
      found.set(`${of.id} ${of.version} ${namespace}/${name}`, JSON.stringify(kept));
    }
  }
  return found;
}

interface Stored {
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly name: string;
    readonly namespace?: string;
  };
  readonly status?: unknown;
}

export function changed(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) =>
      before.get(key) !== after.get(key) &&
      !/^(coordination|\/events|events|lifeboat\.dev\/ledgerslices)/.test(key),
  );
}
