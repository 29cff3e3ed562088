/**
 * Members that answer like small Kubernetes API servers until they are told to attack, each in its own way: `POST /attack`,
 * `POST /peace`. Both close every connection, so that clients read everything again. `POST /seen` answers what a member was sent.
 *
 * Program: hostile-member.ts DIRECTORY ATTACK…. It prints `listening ATTACK PORT` for each and keeps its certificates in the directory.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createRealClock } from "@lifeboat/base/adapters";
import { openPki } from "@lifeboat/apiserver/adapters";

/** What no Event, condition or log of the control plane may hold. */
const MARKER = "body-of-a-hostile-member";

const MIB = 1024 * 1024;
/** Not larger than an object may be: it has to be read to find out that it is too deep. */
const nested = `{"kind":"List","a":${'{"a":'.repeat(MIB / 2)}1${"}".repeat(MIB / 2)}}`;
const listOf = (items: string): string =>
  `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[${items}]}`;
const metadataOf = (i: number): string =>
  `{"name":"p${i}","namespace":"default","uid":"u${i}","resourceVersion":"5"}`;
const manyItems = listOf(
  Array.from({ length: 150_000 }, (_, i) => `{"metadata":${metadataOf(i)}}`).join(","),
);
const manyValues = `{"metadata":${metadataOf(1)},"x":[${"{},".repeat(4 * MIB)}{}]}`;
const onePage = Array.from({ length: 1000 }, (_, i) => `{"metadata":${metadataOf(i)}}`).join(",");

let served = 0;

const documents: Readonly<Record<string, unknown>> = {
  "/version": { gitVersion: "v1.36.4" },
  "/apis": {
    groups: [
      {
        name: "apps",
        versions: [{ groupVersion: "apps/v1", version: "v1" }],
        preferredVersion: { groupVersion: "apps/v1", version: "v1" },
      },
    ],
  },
  "/api/v1": {
    resources: [
      { name: "namespaces", kind: "Namespace", namespaced: false, verbs: ["list"] },
      { name: "pods", kind: "Pod", namespaced: true, verbs: ["list"] },
      { name: "nodes", kind: "Node", namespaced: false, verbs: ["list"] },
    ],
  },
  "/apis/apps/v1": {
    resources: [{ name: "deployments", kind: "Deployment", namespaced: true, verbs: ["list"] }],
  },
};

function send(response: ServerResponse, code: number, body: string, type = "application/json") {
  response.writeHead(code, { "content-type": type });
  response.end(body);
}

function honest(request: IncomingMessage, response: ServerResponse, url: URL): void {
  const known = documents[url.pathname];
  if (url.pathname === "/readyz") send(response, 200, "ok", "text/plain");
  else if (known !== undefined) send(response, 200, JSON.stringify(known));
  else if (url.searchParams.get("watch") === "true") {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
  } else if (request.method === "POST" || request.method === "PUT") echo(request, response);
  else if (isCollection(url.pathname)) send(response, 200, listOf(""));
  else send(response, 404, JSON.stringify({ kind: "Status", apiVersion: "v1", code: 404 }));
}

function isCollection(path: string): boolean {
  return /\/(pods|nodes|namespaces|deployments|customresourcedefinitions)$/.test(path);
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const object = JSON.parse(Buffer.concat(chunks).toString()) as { metadata: object };
    served += 1;
    const metadata = { ...object.metadata, uid: `e${served}`, resourceVersion: String(served) };
    send(response, 201, JSON.stringify({ ...object, metadata }));
  });
}

function isWatch(url: URL): boolean {
  return url.searchParams.get("watch") === "true";
}

type Attack = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

/** What attacks do; an attack that answers false leaves the request to the honest part. */
const attacks: Readonly<Record<string, Attack>> = {
  "nested-json": (_, response, url) => {
    if (url.pathname === "/readyz") return false;
    if (isWatch(url)) response.write(`${nested}\n`);
    else send(response, 200, nested);
    return true;
  },
  "ignored-limit": (_, response, url) => {
    if (url.pathname === "/readyz") return false;
    if (isWatch(url)) return false;
    send(response, 200, isCollection(url.pathname) ? manyItems : manyValues);
    return true;
  },
  "endless-pages": (_, response, url) => {
    if (!isCollection(url.pathname)) return false;
    if (isWatch(url)) {
      // So that the collection is listed again.
      send(response, 410, JSON.stringify({ kind: "Status", apiVersion: "v1", code: 410 }));
      return true;
    }
    served += 1;
    const metadata = `{"resourceVersion":"5","continue":"more-${served}"}`;
    send(
      response,
      200,
      `{"metadata":${metadata},"items":[${onePage.replaceAll('"p', `"p${served}-`)}]}`,
    );
    return true;
  },
  "endless-answer": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"items":[');
    pump(response, () => '{"x":1},'.repeat(8000));
    return true;
  },
  "endless-watch": (_, response, url) => {
    if (!isWatch(url)) return false;
    response.writeHead(200, { "content-type": "application/json" });
    let version = 10;
    pump(response, () => {
      let text = "";
      for (let i = 0; i < 500; i++) {
        version += 1;
        const metadata = `{"name":"p${version % 50}","namespace":"default","uid":"u${version % 50}","resourceVersion":"${version}"}`;
        text += `{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":${metadata}}}\n`;
      }
      return text;
    });
    return true;
  },
  "many-groups": (_, response, url) => {
    if (isWatch(url) && url.pathname.endsWith("/customresourcedefinitions")) {
      // A new kind, so that discovery is read again.
      served += 1;
      const metadata = `{"name":"k${served}","uid":"k${served}","resourceVersion":"${100 + served}"}`;
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`{"type":"ADDED","object":{"metadata":${metadata}}}\n`);
      return true;
    }
    if (url.pathname !== "/apis") return false;
    const groups = Array.from({ length: 50_000 }, (_, i) => ({
      name: `g${i}.io`,
      versions: [{ groupVersion: `g${i}.io/v1`, version: "v1" }],
    }));
    send(response, 200, JSON.stringify({ groups }));
    return true;
  },
  "error-pages": (request, response, url) => {
    const isHonest = isWatch(url) || url.pathname === "/readyz" || url.pathname in documents;
    if (request.method === "GET" && isHonest) return false;
    const page = `<html><body>\u001b[31m${MARKER}</body></html>`;
    send(response, 500, page, "text/html");
    return true;
  },
  redirects: (request, response) => {
    response.writeHead(307, {
      location: `https://${request.headers.host}/elsewhere${request.url}`,
    });
    response.end(MARKER);
    return true;
  },
};

/** Writes for as long as the other side reads. */
function pump(response: ServerResponse, next: () => string): void {
  const more = (): void => {
    while (!response.destroyed && response.write(next())) continue;
  };
  response.on("drain", more);
  more();
}

/** One member on a port of its own. */
function startMember(name: string, attack: Attack, tls: { cert: string; key: string }): void {
  let isAttacking = false;
  let attacked = 0;
  let isRedirectFollowed = false;
  const authorizations = new Set<string>();
  const server = createServer(tls, (request, response) => {
    const url = new URL(request.url ?? "/", "https://hostile");
    if (url.pathname === "/attack" || url.pathname === "/peace") {
      isAttacking = url.pathname === "/attack";
      send(response, 200, "");
      setImmediate(() => server.closeAllConnections());
      return;
    }
    if (url.pathname === "/seen") {
      const seen = { authorizations: [...authorizations], attacked, isRedirectFollowed };
      send(response, 200, JSON.stringify(seen));
      return;
    }
    authorizations.add(request.headers.authorization ?? "");
    isRedirectFollowed ||= url.pathname.startsWith("/elsewhere");
    if (isAttacking && attack(request, response, url)) attacked += 1;
    else honest(request, response, url);
  });
  server.listen(0, "127.0.0.1", () => {
    process.stdout.write(`listening ${name} ${(server.address() as AddressInfo).port}\n`);
  });
}

const [directory = "", ...names] = process.argv.slice(2);
const pki = await openPki(createRealClock(), directory);
const { certificate, key } = await pki.server([]);
for (const name of names) {
  const attack = attacks[name];
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  startMember(name, attack, { cert: certificate, key });
}
