/**
 * Path tricks over the whole way (T5, T6): raw request targets on a TLS connection, through transport, router, rights and proxy, to a
 * member that is allowed and past one that is not. What arrives is below the root of the allowed member, in the caller's name, and
 * nothing arrives at the other.
 */
import type * as http from "node:http";
import * as tls from "node:tls";
import { allowMasters, type Authorizer } from "@lifeboat/apiserver";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { createGround, type Ground, type ScriptedMember } from "./proxy-ground.suite.ts";

const REQUESTS = Number(process.env["LIFEBOAT_PROXY_REQUESTS"] ?? 1500);
const TIMEOUT_MS = 3_600_000;
/** What a member may be asked for: encoded, clean, never empty in the middle. */
const BELOW = /^\/(?:[A-Za-z0-9!'()*._~%-]+(?:\/[A-Za-z0-9!'()*._~%-]+)*\/?)?(?:\?[\x20-\x7e]*)?$/;

/** The caller has the proxy into m1 and nothing else; the server itself and the agent have what they need. */
const onlyM1: Authorizer = {
  ...allowMasters,
  allows: (asked) =>
    asked.user.name !== "admin" ||
    (asked.kind === "resource" &&
      `${asked.plural}/${asked.subresource} ${asked.name}` === "clusters/proxy m1"),
};

const WAY = "/apis/cluster.karmada.io/v1alpha1/clusters";
const PLAIN =
  "api v1 pods m1 m2 proxy clusters . .. ... %2e %2E%2e .%2e %252e%252e %c0%ae%c0%ae ..; ;a %2f %2F..%2f %5c.. \\.. % %zz %00 %0d%0a %20";
const ODD = "* @m2 m2:443 //m2 # ?x=/../m2 https: %68ttps: ..%00/ %09 & proxy%2f.. m1%2f..%2fm2";
const segment = fc.constantFrom(...`${PLAIN} ${ODD}`.split(" "), "", "\u00ff", "a".repeat(3000));
const target = fc
  .tuple(
    fc.constantFrom(
      `${WAY}/m1/proxy`,
      `${WAY}/m1/proxy`,
      "/apis/proxy.lifeboat.dev/v1alpha1/clusters/m1/proxy",
      `${WAY}/m1/%70roxy`,
      `${WAY}/m1`,
      `${WAY}/m1/proxy/..`,
      `https://m2${WAY}/m1/proxy`,
      `/${WAY}/m1/proxy`,
    ),
    fc.array(segment, { maxLength: 6 }),
    fc.constantFrom("", "/", "?", "?a=b", "?watch=1&x=%2e%2e", "/.."),
  )
  .map(([way, parts, end]) => [way, ...parts].join("/") + end);
const asked = fc.record({
  target,
  method: fc.constantFrom("GET", "GET", "HEAD", "DELETE"),
  host: fc.constantFrom("127.0.0.1", "m2", "m2:443"),
});

let ground: Ground | undefined;
afterEach(async () => {
  await ground?.close();
  ground = undefined;
});

const answer: http.RequestListener = (_, response) => response.end("ok");

test.each(["push", "tunnel"] as const)(
  "by %s nothing leaves the root of the member that is asked for",
  async (way) => {
    ground = await createGround({ authorizer: onlyM1 });
    const [allowed, other] = [await ground.member(answer), await ground.member(answer)];
    await open(ground, way, "m1", allowed);
    ground.routes.set("m2", { kind: "push", access: other.access });
    const sample = fc.sample(asked, REQUESTS);
    const sender = createSender(ground);
    const codes = new Map<string, number>();
    for (const { method, target: path, host } of sample) {
      const code = await sender.send(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    sender.close();
    expect(other.requests).toEqual([]);
    const urls = allowed.requests.map(({ url = "" }) => url);
    expect(urls.filter((url) => !isBelow(url))).toEqual([]);
    for (const { headers } of allowed.requests) expect(headers["impersonate-user"]).toBe("admin");
    // Enough of them pass, and enough are refused, for this to mean something.
    expect(urls.length).toBeGreaterThan(REQUESTS / 20);
    expect(REQUESTS - (codes.get("200") ?? 0)).toBeGreaterThan(REQUESTS / 4);
    for (const code of codes.keys()) expect(["200", "400", "403", "404", "405"]).toContain(code);
  },
  TIMEOUT_MS,
);

async function open(
  on: Ground,
  way: "push" | "tunnel",
  cluster: string,
  member: ScriptedMember,
): Promise<void> {
  if (way === "push") {
    on.routes.set(cluster, { kind: "push", access: member.access });
    return;
  }
  on.routes.set(cluster, { kind: "tunnel" });
  await on.agent(cluster, member);
}

function isBelow(url: string): boolean {
  if (!BELOW.test(url)) return false;
  const [path = ""] = url.split("?");
  return (
    new URL(path, "https://m").pathname === path &&
    path.split("/").every((part) => !/^\.{1,2}$|\//.test(decodeURIComponent(part)))
  );
}

/** Sends requests byte for byte, one after another, on a connection that is opened again when the server closes it. */
function createSender({ port, pki, admin }: Ground) {
  let socket: tls.TLSSocket | undefined;
  const connect = (): Promise<tls.TLSSocket> =>
    new Promise((resolve, reject) => {
      const opened = tls.connect(
        {
          host: "127.0.0.1",
          port,
          ca: pki.ca,
          cert: admin.certificate,
          key: admin.key,
          ALPNProtocols: ["http/1.1"],
        },
        () => resolve(opened),
      );
      opened.once("error", reject);
    });
  return {
    close: () => socket?.destroy(),
    send: async (request: string): Promise<string> => {
      if (socket === undefined || socket.destroyed || !socket.writable) socket = await connect();
      const on = socket;
      on.removeAllListeners("error").on("error", () => undefined);
      return new Promise((resolve) => {
        let text = "";
        const done = (): void => {
          on.off("data", take).off("close", done);
          const [, code = "none"] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? [];
          if (/^connection: close/im.test(text)) on.destroy();
          resolve(code);
        };
        const take = (chunk: Buffer): void => {
          text += chunk.toString("latin1");
          if (isWhole(text, request.startsWith("HEAD"))) done();
        };
        on.on("data", take).once("close", done);
        on.write(Buffer.from(request, "latin1"));
      });
    },
  };
}

function isWhole(text: string, isHead: boolean): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  if (isHead) return true;
  const [, length] = /^content-length: (\d+)/im.exec(text.slice(0, end)) ?? [];
  if (length !== undefined) return text.length >= end + 4 + Number(length);
  return text.endsWith("0\r\n\r\n");
}
