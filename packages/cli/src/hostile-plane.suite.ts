/**
 * A control plane on loopback that answers as a real one, up to a request of a command, and from then on as one that is ill, or as
 * another than the command was made for.
 *
 * The API server is ours, in this process, with objects of every kind that commands read; only the way to it is disturbed.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { namespaces } from "@lifeboat/api";
import { createFleet, createWorld, type Fleet, type World } from "@lifeboat/testkit";
import { fillWorld } from "./hostile-world.suite.ts";

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

/** Every fault, in the order of their kinds. */
export const FAULTS = [
  "forbidden",
  "absent",
  "conflict",
  "busy",
  "broken",
  "slow store",
  "garbage",
  "another document",
  "a page",
  "cut off",
  "closed",
] as const satisfies readonly Fault[];

/** A request as it came. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** It asks for a change that stays: no dry run, no question about rights. */
  readonly isWrite: boolean;
}

export interface HostilePlane {
  readonly url: string;
  /** Of a cluster that is joined to nothing yet; its requests count and fail as those of the control plane. */
  readonly memberUrl: string;
  /** The control plane itself, until the world is made again. What is changed there directly stays until then. */
  readonly fleet: Fleet;
  /**
   * The world is as it was in the beginning, and every answer is what it should be; requests are counted from here. A new world is
   * made when something was written to the former one.
   */
  behave(): Promise<void>;
  /** The same, but from the request of this number on (the first is 0) every one has the fault; with `once` only that one. */
  fail(from: number, fault: Fault, once?: boolean): Promise<void>;
  /** What was asked since. */
  readonly requests: readonly Asked[];
  /** Whether something was written since. */
  readonly isChanged: boolean;
  close(): Promise<void>;
}

const ADMIN = { name: "admin", groups: ["system:masters", "system:authenticated"] };

/** What is asked by POST and changes nothing. */
const QUESTIONS = /\/(selfsubjectaccessreviews|selfsubjectreviews|selfsubjectrulesreviews)\b/;

/** A control plane and a cluster beside it. */
interface Worlds {
  readonly fleet: Fleet;
  readonly member: World;
}

async function newWorlds(fill: (fleet: Fleet) => Promise<void>): Promise<Worlds> {
  const fleet = await createFleet({ memberModel: false });
  await fill(fleet);
  const member = await createWorld({ clock: fleet.clock });
  const system = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } };
  await member.client.create(namespaces, system).catch(() => undefined);
  return { fleet, member };
}

async function closeWorlds({ fleet, member }: Worlds): Promise<void> {
  await fleet.close();
  await member.close();
}

/** With what the error tables need, or with what `fill` makes. */
export async function openHostilePlane(fill = fillWorld): Promise<HostilePlane> {
  let worlds = await newWorlds(fill);
  let requests: Asked[] = [];
  let isChanged = false;
  let isFaulty = (_n: number): Fault | undefined => undefined;
  const listener =
    (apiOf: (of: Worlds) => Pick<Fleet["server"], "handle">) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      const { method = "GET", url: path = "" } = request;
      const isWrite = method !== "GET" && !path.includes("dryRun=All") && !QUESTIONS.test(path);
      const fault = isFaulty(requests.length);
      requests.push({ method, path, isWrite });
      // What every client asks before anything else is what tells a control plane from others: see error-paths.test.ts.
      if (fault !== undefined) answer(fault, path, response);
      else
        void pass(apiOf(worlds), request, response).then((isDone) => {
          if (isWrite && isDone) isChanged = true;
        });
    };
  const servers = [
    createServer(listener(({ fleet }) => fleet.server)),
    createServer(listener(({ member }) => member.server)),
  ];
  const [url = "", memberUrl = ""] = await Promise.all(servers.map(opened));
  const begin = async (faulty: typeof isFaulty): Promise<void> => {
    // What the former command left open must not reach the new world.
    for (const server of servers) server.closeAllConnections();
    if (isChanged) {
      await closeWorlds(worlds);
      worlds = await newWorlds(fill);
    }
    requests = [];
    isChanged = false;
    isFaulty = faulty;
  };
  return {
    url,
    memberUrl,
    get fleet() {
      return worlds.fleet;
    },
    behave: () => begin(() => undefined),
    fail: (from, fault, once = false) =>
      begin((n) => ((once ? n === from : n >= from) ? fault : undefined)),
    get requests() {
      return requests;
    },
    get isChanged() {
      return isChanged;
    },
    close: async () => {
      await Promise.all(servers.map(closed));
      await closeWorlds(worlds);
    },
  };
}

async function opened(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** To the real API server; answers whether that did what was asked, and not only tried it. */
async function pass(
  api: Pick<Fleet["server"], "handle">,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { status, headers, body } = await api.handle({
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
  // A deletion has its dry run in the body.
  return status < 300 && !Buffer.concat(chunks).includes('"dryRun":["All"]');
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
