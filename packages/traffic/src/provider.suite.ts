/** What every load balancer must do with a routing table; run against real HTTP servers on loopback. */
import {
  createServer,
  get,
  type IncomingHttpHeaders,
  request as send,
  type Server,
  type ServerResponse,
} from "node:http";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as sendOverTls } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Backend, Pool, Route, RoutingTable } from "@lifeboat/core/traffic";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LocalProvider, ServedCertificate } from "./provider.ts";

export interface ProviderUnderTest {
  readonly provider: LocalProvider;
  /** Ends it and removes what it left. */
  end(): Promise<void>;
}

/** A real HTTP server that answers with its name; `?held`: once it is released. */
export class TestBackend {
  readonly name: string;
  readonly server: Server;
  requests = 0;
  headers: IncomingHttpHeaders = {};
  readonly #held: (() => void)[] = [];
  onRequest: ((response: ServerResponse) => void) | undefined;

  constructor(name: string) {
    this.name = name;
    this.server = createServer((request, response) => {
      this.requests += 1;
      this.headers = request.headers;
      request.resume();
      if (this.onRequest !== undefined) return this.onRequest(response);
      const answer = (): void => {
        response.end(`${this.name} ${request.method} ${request.url}`);
      };
      request.once("end", () => {
        if (request.url?.endsWith("?held") === true) this.#held.push(answer);
        else answer();
      });
    });
    this.server.on("upgrade", (_request, socket) => {
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n",
      );
      socket.on("error", () => undefined);
      socket.pipe(socket);
    });
  }

  /** How many requests wait for their answer. */
  get held(): number {
    return this.#held.length;
  }

  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  /** Stays when it is closed. */
  port = 0;

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    ({ port: this.port } = this.server.address() as AddressInfo);
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

export interface Answer {
  readonly code: number;
  readonly text: string;
}

export function ask(port: number, path: string, host = "web.example.com"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = get({ port, path, headers: { host }, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.once("end", () => resolve({ code: response.statusCode ?? 0, text }));
      response.once("error", reject);
    });
    asked.once("error", reject);
  });
}

/** A certificate that names the host, with its key. */
function certificateFor(host: string): ServedCertificate {
  const directory = mkdtempSync(join(tmpdir(), "lifeboat-certificate-"));
  const [key, certificate] = [join(directory, "key"), join(directory, "crt")];
  const subject = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const args = ["req", "-x509", ...made, "-keyout", key, "-out", certificate, "-days", "1"];
  execFileSync("openssl", [...args, ...subject], { stdio: "ignore" });
  const pair = {
    hosts: [host],
    certificate: readFileSync(certificate, "utf8"),
    key: readFileSync(key, "utf8"),
  };
  rmSync(directory, { recursive: true });
  return pair;
}

/** Asks over TLS for a host, and trusts one certificate alone. */
function askOverTls(port: number, host: string, trusted: ServedCertificate): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { port, path: "/", servername: host, ca: trusted.certificate, agent: false };
    const asked = sendOverTls({ ...options, headers: { host } }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.once("end", () => resolve({ code: response.statusCode ?? 0, text }));
    });
    asked.once("error", reject);
    asked.end();
  });
}

function post(port: number, path: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host: "web.example.com" };
    const asked = send({ port, path, method: "POST", headers, agent: false }, (response) => {
      response.resume();
      response.once("end", () => resolve({ code: response.statusCode ?? 0, text: "" }));
    });
    asked.once("error", reject);
    asked.end(body);
  });
}

export function backendOf(
  { name, port }: { readonly name: string; readonly port: number },
  changes: Partial<Backend> = {},
): Backend {
  return { cluster: name, address: "127.0.0.1", port, weight: 1, state: "serving", ...changes };
}

export function tableOf(
  routes: readonly (Partial<Route> & { readonly pool: string })[],
  pools: readonly Pool[],
): RoutingTable {
  return {
    routes: routes.map((route) => ({
      host: "web.example.com",
      path: "/",
      pathType: "Prefix",
      isDefault: false,
      ...route,
    })),
    pools,
    certificates: [],
    problems: [],
    generations: {},
    draining: new Set(),
  };
}

/** Declares the tests of one provider. */
export function describeProvider(name: string, create: () => Promise<ProviderUnderTest>): void {
  describe(`the provider ${name}`, () => {
    let under: ProviderUnderTest;
    let port: number;
    let tlsPort: number | undefined;
    let a: TestBackend;
    let b: TestBackend;
    const POOL = "default/web/web/80";

    beforeEach(async () => {
      under = await create();
      ({ port, tlsPort } = await under.provider.open());
      a = new TestBackend("a");
      b = new TestBackend("b");
      await Promise.all([a.listen(), b.listen()]);
    });
    afterEach(async () => {
      a.close();
      b.close();
      await under.end();
    });

    const apply = (
      table: RoutingTable,
      certificates: readonly ServedCertificate[] = [],
    ): Promise<void> => under.provider.apply(table, certificates);
    const both = (stateOfA: Backend["state"] = "serving"): RoutingTable =>
      tableOf(
        [{ pool: POOL }],
        [{ id: POOL, backends: [backendOf(a, { state: stateOfA }), backendOf(b)] }],
      );
    const names = async (count: number): Promise<readonly string[]> => {
      const found = new Set<string>();
      for (let i = 0; i < count; i++) found.add((await ask(port, "/")).text.slice(0, 1));
      return [...found].sort();
    };
    /** Health checks of new backends may need a moment. */
    const until = async (wanted: string): Promise<void> => {
      for (let i = 0; i < 100 && (await names(6)).join("") !== wanted; i++) await wait(50);
      expect((await names(6)).join("")).toBe(wanted);
    };

    it("serves nothing before the first table", async () => {
      const answer = await ask(port, "/").catch(() => ({ code: 503 }));
      expect(answer.code).toBe(503);
    });

    it("sends requests to all backends, and by host and path", async () => {
      const other = "default/other/api/80";
      await apply(
        tableOf(
          [
            { pool: other, path: "/api" },
            { pool: POOL, path: "/exact", pathType: "Exact" },
            { pool: POOL, host: "*.wild.example.com", path: "/" },
          ],
          [
            { id: POOL, backends: [backendOf(a)] },
            { id: other, backends: [backendOf(b)] },
          ],
        ),
      );
      const asked: readonly (readonly [string, string, string])[] = [
        ["/api", "web.example.com", "b GET /api"],
        ["/api/x?y=1", "web.example.com:80", "b GET /api/x?y=1"],
        ["/exact", "WEB.example.com", "a GET /exact"],
        ["/api/x", "web.example.com.", "b GET /api/x"],
        ["/api/x", "web.example.com.:80", "b GET /api/x"],
        ["/z", "one.wild.example.com.", "a GET /z"],
        ["/z", "one.wild.example.com", "a GET /z"],
      ];
      for (const [path, host, text] of asked)
        expect(await ask(port, path, host)).toEqual({ code: 200, text });
      for (const [path, host] of [
        ["/apix", "web.example.com"],
        ["/exact/more", "web.example.com"],
        ["/z", "two.one.wild.example.com"],
        ["/", "else.example.com"],
      ])
        expect((await ask(port, path ?? "", host)).code).toBe(404);
      expect((await ask(port, "/api/../secret")).code).toBe(400);
    });

    it("ends TLS with the certificate of the host that is asked for, and with a new one once it is given", async () => {
      const at = tlsPort ?? 0;
      const web = certificateFor("web.example.com");
      const other = certificateFor("other.example.com");
      const pools = [{ id: POOL, backends: [backendOf(a)] }];
      const table = tableOf([{ pool: POOL }, { pool: POOL, host: "other.example.com" }], pools);
      await apply(table, [web, other]);
      for (const one of [web, other]) {
        const host = one.hosts[0] ?? "";
        expect(await askOverTls(at, host, one)).toEqual({ code: 200, text: "a GET /" });
        expect(a.headers).toMatchObject({ host, "x-forwarded-proto": "https" });
      }
      await expect(askOverTls(at, "web.example.com", other)).rejects.toThrow();
      await expect(askOverTls(at, "unknown.example.com", web)).rejects.toThrow();

      const renewed = certificateFor("web.example.com");
      await apply(table, [renewed, other]);
      expect((await askOverTls(at, "web.example.com", renewed)).code).toBe(200);
      const broken = { hosts: ["web.example.com"], certificate: "no certificate", key: "no key" };
      await apply(table, [broken, other]);
      expect((await askOverTls(at, "other.example.com", other)).code).toBe(200);
      expect((await ask(port, "/")).code).toBe(200);
    });

    it("drains: no new request after apply, those under way end, and it is reported until then", async () => {
      await apply(both());
      await until("ab");
      const slow = Array.from({ length: 8 }, () => ask(port, "/?held"));
      for (let i = 0; i < 100 && a.held + b.held < slow.length; i++) await wait(50);
      expect(a.held).toBeGreaterThan(0);
      await apply(both("draining"));
      const before = a.requests;
      expect(await names(10)).toEqual(["b"]);
      expect(a.requests).toBe(before);
      expect([...(await under.provider.leaving())]).toEqual([[POOL, "ends"]]);
      a.release();
      b.release();
      const answers = await Promise.all(slow);
      expect(answers.map(({ code }) => code)).toEqual(slow.map(() => 200));
      expect(answers.some(({ text }) => text.startsWith("a"))).toBe(true);
      for (let i = 0; i < 40 && (await under.provider.leaving()).size > 0; i++) await wait(50);
      expect((await under.provider.leaving()).size).toBe(0);
      await apply(both());
      await until("ab");
    });

    it("a drain whose only substitute refuses connections: the backend that drains serves, and is not reported as left", async () => {
      await apply(both());
      await until("ab");
      b.close();
      await apply(both("draining"));
      // A load balancer may need a moment until it knows that b is gone.
      await until("a");
      for (let i = 0; i < 20; i++)
        expect(await ask(port, "/")).toEqual({ code: 200, text: "a GET /" });
      expect((await post(port, "/", "x")).code).toBe(200);
      expect([...(await under.provider.leaving())]).toEqual([[POOL, "serves"]]);
      // It is still carried out: what takes requests again gets all of them.
      await b.listen(b.port);
      await until("b");
      const before = a.requests;
      expect(await names(10)).toEqual(["b"]);
      expect(a.requests).toBe(before);
      for (let i = 0; i < 40 && (await under.provider.leaving()).size > 0; i++) await wait(50);
      expect((await under.provider.leaving()).size).toBe(0);
    });

    it.each([
      ["drains", true],
      ["is taken out", false],
    ])(
      "a request at a backend that %s is under way until it ends, whatever else changes",
      async (_what, stays) => {
        await apply(both());
        await until("ab");
        const slow = Array.from({ length: 4 }, () => ask(port, "/?held"));
        for (let i = 0; i < 100 && a.held + b.held < slow.length; i++) await wait(50);
        const gone = tableOf([{ pool: POOL }], [{ id: POOL, backends: [backendOf(b)] }]);
        await apply(stays ? both("draining") : gone);
        for (const more of ["one", "two"]) {
          const table = stays ? both("draining") : gone;
          const id = `default/${more}/${more}/80`;
          await apply({
            ...table,
            routes: [
              ...table.routes,
              {
                host: `${more}.example.com`,
                path: "/",
                pathType: "Prefix",
                pool: id,
                isDefault: false,
              },
            ],
            pools: [...table.pools, { id, backends: [backendOf(b)] }],
          });
          expect([...(await under.provider.leaving())]).toEqual([[POOL, "ends"]]);
        }
        b.release();
        expect([...(await under.provider.leaving())]).toEqual([[POOL, "ends"]]);
        a.release();
        expect((await Promise.all(slow)).map(({ code }) => code)).toEqual(slow.map(() => 200));
        for (let i = 0; i < 40 && (await under.provider.leaving()).size > 0; i++) await wait(50);
        expect((await under.provider.leaving()).size).toBe(0);
      },
    );

    it("a new ingress forgets no drain, and no request fails meanwhile", async () => {
      await apply(both());
      await until("ab");
      await apply(both("draining"));
      const failed: string[] = [];
      const over = new AbortController();
      const clients = Array.from({ length: 4 }, async () => {
        while (!over.signal.aborted) {
          const { code, text } = await ask(port, "/").catch((error: unknown) => ({
            code: 0,
            text: String(error),
          }));
          if (code !== 200 || !text.startsWith("b")) failed.push(`${code} ${text}`);
        }
      });
      const before = a.requests;
      const more = "default/more/more/80";
      const table = both("draining");
      await apply({
        ...table,
        routes: [
          ...table.routes,
          { host: "more.example.com", path: "/", pathType: "Prefix", pool: more, isDefault: false },
        ],
        pools: [...table.pools, { id: more, backends: [backendOf(a)] }],
      });
      expect((await ask(port, "/", "more.example.com")).text).toBe("a GET /");
      await wait(200);
      over.abort();
      await Promise.all(clients);
      expect(failed).toEqual([]);
      expect(a.requests - before).toBe(1);
    });

    it("shares requests by weight", async () => {
      await apply(
        tableOf(
          [{ pool: POOL }],
          [{ id: POOL, backends: [backendOf(a, { weight: 3 }), backendOf(b)] }],
        ),
      );
      await until("ab");
      [a.requests, b.requests] = [0, 0];
      for (let i = 0; i < 40; i++) await ask(port, "/");
      expect(a.requests).toBeGreaterThanOrEqual(28);
      expect(b.requests).toBeGreaterThanOrEqual(8);
    });

    it("a backend that refuses connections costs no request; a request that arrived is not repeated", async () => {
      await apply(both());
      await until("ab");
      a.close();
      for (let i = 0; i < 20; i++) expect((await ask(port, "/")).code).toBe(200);
      expect((await post(port, "/", "x")).code).toBe(200);
      // b takes the request and breaks off: what it did is unknown.
      b.requests = 0;
      b.onRequest = (response) => void response.destroy();
      expect((await post(port, "/", "x")).code).toBe(502);
      expect(b.requests).toBe(1);
    });

    it("passes who asked, and not what the client claims about it", async () => {
      await apply(tableOf([{ pool: POOL }], [{ id: POOL, backends: [backendOf(a)] }]));
      await new Promise<void>((resolve) => {
        const headers = {
          host: "web.example.com",
          "x-forwarded-for": "6.6.6.6",
          "x-forwarded-proto": "https",
          "x-forwarded-port": "6",
          forwarded: "for=6.6.6.6",
          "x-own": "1",
        };
        get({ port, path: "/", headers, agent: false }, (response) => {
          response.resume().once("end", resolve);
        });
      });
      expect(a.headers).toMatchObject({
        host: "web.example.com",
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "http",
        "x-forwarded-host": "web.example.com",
        "x-own": "1",
      });
      expect(a.headers).not.toHaveProperty("forwarded");
      expect(a.headers).not.toHaveProperty("x-forwarded-port");
    });

    it("refuses paths that lead upwards, in every notation, and no others", async () => {
      await apply(tableOf([{ pool: POOL }], [{ id: POOL, backends: [backendOf(a)] }]));
      const raw = (path: string): Promise<number> =>
        new Promise((resolve, reject) => {
          const socket = connect(port, "127.0.0.1");
          socket.once("data", (chunk) => {
            socket.destroy();
            resolve(Number(String(chunk).split(" ")[1]));
          });
          socket.once("error", reject);
          socket.write(`GET ${path} HTTP/1.1\r\nhost: web.example.com\r\n\r\n`);
        });
      for (const path of [
        "/a/../b",
        "/a/..",
        "/a/./b",
        "/a/..%2fb",
        "/a%2F..%2fb",
        "/a/%2e%2E/b",
        "/a/.%2e",
        "/a%5c..%5Cb",
        "/..;/..",
      ])
        expect([path, await raw(path)]).toEqual([path, 400]);
      for (const path of [
        "/",
        "/a..b",
        "/.well-known/x",
        "/a/...",
        "/a?x=/../",
        "/a/..b/c",
        "/a%2fb",
      ])
        expect([path, await raw(path)]).toEqual([path, 200]);
    });

    it("lets clients change the protocol", async () => {
      await apply(tableOf([{ pool: POOL }], [{ id: POOL, backends: [backendOf(a)] }]));
      const text = await new Promise<string>((resolve, reject) => {
        const socket = connect(port, "127.0.0.1");
        let seen = "";
        socket.on("data", (chunk) => {
          seen += String(chunk);
          if (seen.includes("\r\n\r\n") && !seen.includes("ping")) socket.write("ping");
          if (!seen.includes("ping")) return;
          socket.destroy();
          resolve(seen);
        });
        socket.once("error", reject);
        socket.write(
          "GET /ws HTTP/1.1\r\nhost: web.example.com\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n",
        );
      });
      expect(text).toMatch(/^HTTP\/1\.1 101 /);
      expect(text).toContain("ping");
    });
  });
}
