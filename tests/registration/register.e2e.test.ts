/** Registration by a token, tokens of ServiceAccounts, and users, as processes: what an operator types, and what comes of it. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKubectl, type Kubectl } from "../support/kubectl.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

let plane: RunningLifeboat;
let kubectl: Kubectl;
let directory: string;

beforeAll(async () => {
  plane = await startLifeboat({ args: ["--log-level", "debug"] });
  kubectl = createKubectl(plane);
  directory = temporaryDirectory("register");
});

afterAll(async () => {
  await plane?.stop();
  kubectl?.close();
  removeDirectory(directory);
});

interface Result {
  readonly code: number | string;
  readonly output: string;
}

async function lifeboat(...args: readonly string[]): Promise<Result> {
  const running = startProcess(lifeboatCommand, args, {
    KUBECONFIG: "",
    XDG_DATA_HOME: "/nonexistent",
    LIFEBOAT_DATA_DIR: plane.dataDirectory,
  });
  const code = await running.ended;
  return { code, output: running.output() };
}

interface Given {
  readonly endpoint: string;
  readonly token: string;
  readonly pin: string;
}

async function createToken(...args: readonly string[]): Promise<Given> {
  const { output, code } = await lifeboat("token", "create", "--print-register-command", ...args);
  expect({ code, output }).toMatchObject({ code: 0 });
  const [, endpoint = "", token = "", pin = ""] =
    /^lifeboat register (\S+) --token (\S+) --discovery-token-ca-cert-hash (\S+) /.exec(output) ??
    [];
  return { endpoint, token, pin };
}

const fileOf = (cluster: string, run = ""): string =>
  join(directory, `${cluster}${run}.kubeconfig`);

function register(
  { endpoint, token, pin }: Given,
  cluster: string,
  ...args: readonly string[]
): Promise<Result> {
  const all = args.includes("--agent-kubeconfig")
    ? args
    : ["--agent-kubeconfig", fileOf(cluster), ...args];
  return lifeboat(
    "register",
    endpoint,
    "--token",
    token,
    "--discovery-token-ca-cert-hash",
    pin,
    "--cluster-name",
    cluster,
    ...all,
  );
}

async function as(file: string, args: readonly string[]): Promise<Result> {
  const other = createKubectl({ ...plane, kubeconfig: file });
  const { code, stdout, stderr } = await other.run(args);
  other.close();
  return { code, output: stdout + stderr };
}

/** A proxy that gives every connection that it is asked for by CONNECT. */
async function startConnectProxy() {
  let asked = 0;
  const server = createServer();
  server.on("connect", (request: IncomingMessage, client: Duplex) => {
    asked += 1;
    const [host, port] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host ?? "", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
    client.on("error", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: () => asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe("a cluster", () => {
  it("registers step by step, with an identity of its own and no other", async () => {
    const given = await createToken();
    const check = await register(given, "eu-1", "--check");
    expect(check).toMatchObject({ code: 0 });
    expect(check.output).toContain("can be registered (nothing was changed)");
    expect(existsSync(fileOf("eu-1"))).toBe(false);
    expect((await kubectl.run(["get", "csr", "-o", "name"])).stdout).toBe("");

    const done = await register(given, "eu-1");
    expect(done.output).toMatch(
      /reach +ok[^]*authority +ok[^]*token +ok[^]*request +ok[^]*approval +ok/,
    );
    expect(done.code).toBe(0);
    expect(statSync(fileOf("eu-1")).mode & 0o777).toBe(0o600);
    expect(existsSync(`${fileOf("eu-1")}.pending`)).toBe(false);
    const own = await as(fileOf("eu-1"), [
      "auth",
      "whoami",
      "-o",
      "jsonpath={.status.userInfo.username}",
    ]);
    expect(own.output).toBe("system:karmada:agent:eu-1");
    const mine = ["auth", "can-i", "get", "works.work.karmada.io", "-n", "karmada-es-eu-2"];
    expect((await as(fileOf("eu-1"), mine)).output).toContain("no");

    // The same token, another key: the first registration has taken it.
    const replay = await register(given, "eu-1", "--agent-kubeconfig", fileOf("eu-1", "-replay"));
    expect(replay).toMatchObject({
      code: 1,
      output: expect.stringContaining("approval    FAILED"),
    });
    expect(replay.output).toContain("has registered a cluster already");
    const other = await register(given, "eu-2");
    expect(other).toMatchObject({ code: 1, output: expect.stringContaining("create another one") });

    const list = await lifeboat("token", "list");
    expect(list.output).toMatch(new RegExp(`${given.token.slice(0, 6)} +in \\d+m\\S* +any +eu-1`));
  });

  it("registers through a proxy, which the kubeconfig of its agent names", async () => {
    const proxy = await startConnectProxy();
    try {
      const given = await createToken();
      const done = await register(given, "behind", "--proxy-url", proxy.url);
      expect(done).toMatchObject({ code: 0, output: expect.stringMatching(/^proxy +ok +http/m) });
      expect(proxy.asked()).toBeGreaterThan(0);
      const before = proxy.asked();
      const whoami = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];
      const own = await as(fileOf("behind"), whoami);
      expect(own.output).toBe("system:karmada:agent:behind");
      expect(proxy.asked()).toBeGreaterThan(before);
    } finally {
      proxy.close();
    }
    // Through a proxy that is away nothing is reached, and the direct way is not tried.
    const away = await register(await createToken(), "away", "--proxy-url", proxy.url);
    expect(away).toMatchObject({ code: 1, output: expect.stringMatching(/reach +FAILED/) });
  });

  it("is told which step fails, and what to do", async () => {
    const given = await createToken("--cluster", "eu-3");
    const tries: readonly (readonly [Partial<Given>, readonly string[], string, RegExp])[] = [
      [{ endpoint: "127.0.0.1:1" }, [], "reach", /no answer from .*check the address/],
      [{ pin: `sha256:${"0".repeat(64)}` }, [], "authority", /not the one that .* names/],
      [{ token: "zzzzzz.0123456789abcdef" }, [], "token", /knows no live token zzzzzz/],
      [
        { token: `${given.token.slice(0, 7)}0123456789abcdef` },
        [],
        "token",
        /not signed by this token/,
      ],
    ];
    for (const [change, args, step, message] of tries) {
      const { code, output } = await register({ ...given, ...change }, "eu-3", ...args);
      expect(output).toMatch(new RegExp(`^${step} +FAILED`, "m"));
      expect(output).toMatch(message);
      expect(code).toBe(1);
    }
    const wrong = await register(given, "eu-4");
    expect(wrong.output).toContain("approval    FAILED");
    expect(wrong.output).toContain("another cluster");
    // None of this has taken it.
    expect((await register(given, "eu-3")).code).toBe(0);
  });

  it("gets the manifest of its agent, and nothing secret is in the control plane's log or Secrets", async () => {
    const given = await createToken();
    const { code, output } = await register(
      given,
      "eu-5",
      "--print-manifest",
      "--agent-image",
      "i:1",
    );
    expect(code).toBe(0);
    expect(output).toContain("kind: Deployment");
    expect(output).toContain("priorityClassName: system-cluster-critical");
    expect(output).toMatch(/image: "?i:1/);
    const secret = given.token.slice(7);
    const stored = await kubectl.run(["get", "secrets,configmaps,events,csr", "-A", "-o", "yaml"]);
    expect(stored.stdout).toContain("token-secret-hash");
    for (const text of [secret, Buffer.from(secret).toString("base64")]) {
      expect(stored.stdout).not.toContain(text);
      expect(plane.process.output()).not.toContain(text);
    }
    const deleted = await lifeboat("token", "delete", given.token, "--yes");
    expect(deleted).toMatchObject({ code: 0 });
    expect((await register(given, "eu-6")).output).toContain("token       FAILED");
  });

  it.each<[string, readonly string[], RegExp]>([
    [
      "no pin",
      ["register", "h:1", "--token", "a", "--cluster-name", "x"],
      /ca-cert-hash is needed/,
    ],
    [
      "a pin of another form",
      [
        "register",
        "h:1",
        "--token",
        "a",
        "--cluster-name",
        "x",
        "--discovery-token-ca-cert-hash",
        "x",
      ],
      /"x" is no pin/,
    ],
    ["a bad name", ["register", "h:1", "--token", "a", "--cluster-name", "X"], /"X" is not valid/],
    ["a long life", ["token", "create", "--ttl", "2h"], /--ttl/],
    ["a user of the system", ["users", "add", "system:admin"], /is of the system/],
  ])("called with %s is told so", async (_name, args, message) => {
    const { code, output } = await lifeboat(...args);
    expect(output).toMatch(message);
    expect(code).toBe(2);
  });
});

describe("other tokens and users", () => {
  it("kubectl create token issues a token that counts until its account goes", async () => {
    await kubectl.run(["create", "serviceaccount", "robot"]);
    const { stdout, code } = await kubectl.run(["create", "token", "robot", "--duration", "20m"]);
    expect(code).toBe(0);
    const token = stdout.trim();
    const view = await kubectl.run(["config", "view", "--raw", "-o", "json"]);
    const config = JSON.parse(view.stdout) as { clusters: { cluster: Record<string, string> }[] };
    const cluster = config.clusters[0]?.cluster ?? {};
    const who = async (): Promise<number> => {
      const response = await kubectl.run(
        ["create", "-o", "jsonpath={.status.authenticated}", "-f", "-"],
        JSON.stringify({
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenReview",
          spec: { token },
        }),
      );
      return response.stdout === "true" ? 200 : 401;
    };
    expect(cluster["server"]).toContain("https://");
    expect(await who()).toBe(200);
    await kubectl.run(["delete", "serviceaccount", "robot"]);
    expect(await who()).toBe(401);
  });

  it("a user gets a kubeconfig with the roles that were asked for, and no more", async () => {
    await kubectl.run(["create", "namespace", "shop"]);
    const file = join(directory, "bob.kubeconfig");
    const added = await lifeboat(
      "users",
      "add",
      "bob",
      "--group",
      "team",
      "--role",
      "edit",
      "-n",
      "shop",
      "-o",
      file,
    );
    expect(added).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toContain("client-key-data");
    expect((await as(file, ["create", "configmap", "c", "-n", "shop"])).code).toBe(0);
    expect((await as(file, ["create", "configmap", "c", "-n", "default"])).output).toContain(
      "forbidden",
    );
    expect((await lifeboat("users", "list")).output).toMatch(/bob +team +edit +shop +20/);
    const none = await lifeboat("users", "add", "eve", "--role", "nothing-like-it");
    expect(none).toMatchObject({ code: 1, output: expect.stringContaining("no ClusterRole") });
  });
});
