/**
 * A control plane on loopback that answers as a real one, up to a request of a command, and from then on as one that is ill, or as
 * another than the command was made for.
 *
 * The API server is ours, in this process, with objects of every kind that commands read; only the way to it is disturbed.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  clusters,
  clusterTaintPolicies,
  configMaps,
  evacuations,
  evacuationSlices,
  remedies,
  resourceBindings,
} from "@lifeboat/api";
import { createFleet, type Fleet, resources } from "@lifeboat/testkit";

const { deployments } = resources;

/** What a request is answered with instead. */
export type Fault =
  | "forbidden"
  | "absent"
  | "conflict"
  | "busy"
  | "broken"
  | "slow store"
  | "garbage"
  | "another document"
  | "a page"
  | "cut off"
  | "closed";

export interface HostilePlane {
  readonly url: string;
  readonly fleet: Fleet;
  /** Every answer is what it should be; requests are counted from here. */
  behave(): void;
  /** From the request of this number on (the first is 0) every one has the fault; with `once` only that one. */
  fail(from: number, fault: Fault, once?: boolean): void;
  /** How many requests came since. */
  readonly requests: number;
  close(): Promise<void>;
}

const ADMIN = { name: "admin", groups: ["system:masters", "system:authenticated"] };

export async function openHostilePlane(): Promise<HostilePlane> {
  const fleet = await createFleet({ memberModel: false });
  await fill(fleet);
  let requests = 0;
  let isFaulty = (_n: number): Fault | undefined => undefined;
  const server = createServer((request, response) => {
    const fault = isFaulty(requests++);
    const path = request.url ?? "";
    // What every client asks before anything else is what tells a control plane from others: see error-paths.test.ts.
    if (fault === undefined) void pass(fleet, request, response);
    else answer(fault, path, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fleet,
    behave: () => {
      requests = 0;
      isFaulty = () => undefined;
    },
    fail: (from, fault, once = false) => {
      requests = 0;
      isFaulty = (n) => ((once ? n === from : n >= from) ? fault : undefined);
    },
    get requests() {
      return requests;
    },
    close: async () => {
      await closed(server);
      await fleet.close();
    },
  };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** To the real API server. */
async function pass(
  fleet: Fleet,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { status, headers, body } = await fleet.server.handle({
    method: request.method ?? "GET",
    url: request.url ?? "",
    headers: request.headers as Readonly<Record<string, string | undefined>>,
    body: Buffer.concat(chunks),
    certificateUser: ADMIN,
    signal: gone.signal,
  });
  response.writeHead(status, headers as Record<string, string>);
  if (body instanceof Uint8Array) response.end(body);
  else if (Array.isArray(body)) response.end(Buffer.concat(body as readonly Uint8Array[]));
  else if ("start" in body) {
    const stream = body;
    response.flushHeaders();
    response.once("close", () => stream.stop());
    stream.start({
      write: (chunk: Uint8Array) => response.write(chunk),
      onDrain: (callback: () => void) => void response.once("drain", callback),
      end: () => void response.end(),
      abort: () => void response.destroy(),
    } as Parameters<typeof stream.start>[0]);
  } else response.destroy();
}

const REFUSALS: Partial<Record<Fault, readonly [code: number, reason: string, message: string]>> = {
  forbidden: [403, "Forbidden", 'this is forbidden: User "nurse" cannot do it'],
  absent: [404, "NotFound", "the server could not find the requested resource"],
  conflict: [409, "Conflict", "the object has been modified; please apply your changes to it"],
  busy: [429, "TooManyRequests", "too many requests, please try again later"],
  broken: [500, "InternalError", "an error on the server has prevented the request"],
  "slow store": [500, "InternalError", "etcdserver: request timed out"],
};

function answer(fault: Fault, path: string, response: ServerResponse): void {
  const refusal = REFUSALS[fault];
  const json = { "content-type": "application/json" };
  if (refusal !== undefined) {
    const [code, reason, message] = refusal;
    response.writeHead(code, { ...json, ...(fault === "busy" ? { "retry-after": "1" } : {}) });
    response.end(
      JSON.stringify({
        apiVersion: "v1",
        kind: "Status",
        status: "Failure",
        code,
        reason,
        message,
      }),
    );
  } else if (fault === "garbage") response.writeHead(200, json).end('{"kind": "List", "items": [');
  else if (fault === "another document")
    response.writeHead(200, json).end('{"apiVersion": "v2", "kind": "Menu", "items": "soup"}');
  else if (fault === "a page")
    response.writeHead(200, { "content-type": "text/html" }).end("<html>please log in</html>");
  else if (fault === "closed") response.destroy();
  else {
    response.writeHead(200, { ...json, "content-length": "1000" });
    response.write(`{"apiVersion": "v1", "kind": "List", "metadata": {}, "path": "${path.length}"`);
    setImmediate(() => response.destroy());
  }
}

/** One of everything that commands act on, named `member1` where a command takes any name. */
async function fill({ plane, clock }: Fleet): Promise<void> {
  const lastTransitionTime = new Date(clock.now()).toISOString().replace(/\.\d+/, "");
  for (const name of ["member1", "member2"]) {
    const made = await plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: { syncMode: "Push", apiEndpoint: "https://127.0.0.1:1" },
    });
    const ready = { type: "Ready", reason: "ClusterReady", message: "", lastTransitionTime };
    await plane.update(
      clusters,
      {
        ...made,
        status: {
          conditions: [{ ...ready, status: name === "member1" ? "False" : "True" }],
          apiEnablements: [
            { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
          ],
        },
      },
      { subresource: "status" },
    );
  }
  await plane.create(clusterTaintPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "failed" },
    spec: {
      matchConditions: [{ conditionType: "Ready", operator: "NotIn", statusValues: ["True"] }],
      taintsToAdd: [{ key: "failed", effect: "NoExecute", addOnMatchSeconds: 10 }],
    },
  });
  const resource = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" };
  const bound = await plane.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web-deployment", namespace: "default" },
    spec: { resource, replicas: 2, clusters: [{ name: "member1", replicas: 2 }], placement: {} },
  });
  await plane.create(evacuations, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "member1" },
    spec: { cluster: "member1", paused: false },
  });
  const { uid, name } = bound.metadata;
  await plane.create(evacuationSlices, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationSlice",
    metadata: { name: "member1-0" },
    spec: {
      evacuation: "member1",
      taint: { key: "failed", effect: "NoExecute" },
      ordinal: 0,
      entries: [
        {
          binding: { kind: "ResourceBinding", namespace: "default", name, uid },
          resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          lane: "Workload",
        },
      ],
    },
  });
  await plane.create(deployments, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "web" }] },
      },
    },
  });
  await plane.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "lifeboat-system", name: "settings" },
    data: { "feature-gates": "Failover=true" },
  });
  await plane.create(remedies, {
    apiVersion: "remedy.karmada.io/v1alpha1",
    kind: "Remedy",
    metadata: { name: "names" },
    spec: { actions: ["TrafficControl"] },
  });
}
