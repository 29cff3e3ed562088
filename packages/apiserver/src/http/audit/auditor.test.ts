/** What the audit log holds of requests to the real server, and what becomes of them when it fails. */
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { silentMetrics } from "@lifeboat/kit";
import { createWorld, type World } from "@lifeboat/testkit";
import { expect, it } from "vitest";
import { makeRequest, send, type SendOptions } from "../exchange.suite.ts";
import { type AuditMode, createAuditor } from "./auditor.ts";
import { DEFAULT_POLICY, parsePolicy } from "./policy.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const SECRETS = "/api/v1/namespaces/default/secrets";
const EVERYTHING = parsePolicy({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  rules: [{ level: "RequestResponse" }],
});

interface Line {
  readonly stage: string;
  readonly verb: string;
  readonly auditID: string;
}

interface Audited {
  readonly world: World;
  readonly lines: Line[];
  /** Whether lines can be written. */
  works: boolean;
  readonly ask: (method: string, url: string, options?: SendOptions) => ReturnType<typeof send>;
}

async function audited(policy = EVERYTHING, mode: AuditMode = "blocking"): Promise<Audited> {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const lines: Line[] = [];
  const log = {
    append: (line: string) => {
      if (!result.works) return Promise.reject(new Error("the disk is full"));
      lines.push(JSON.parse(line) as Line);
      return Promise.resolve();
    },
  };
  const auditor = createAuditor({ clock, metrics: silentMetrics, log }, policy, mode);
  const world = await createWorld({ clock, auditor, housekeeping: false });
  const result: Audited = {
    world,
    lines,
    works: true,
    ask: (method, url, options) => send(world.server.handle, method, url, options),
  };
  return result;
}

const configMap = (name: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
});

it("records a request before it is carried out and before it is answered, under one id", async () => {
  const { ask, lines } = await audited();
  const { headers } = await ask("POST", CONFIG_MAPS, { body: configMap("a") });
  expect(lines).toMatchObject([
    { stage: "RequestReceived", verb: "create", level: "RequestResponse" },
    {
      stage: "ResponseComplete",
      verb: "create",
      user: { username: "admin", groups: ["system:masters", "system:authenticated"] },
      objectRef: { resource: "configmaps", namespace: "default", apiVersion: "v1" },
      requestObject: { metadata: { name: "a" } },
      responseObject: { metadata: { name: "a", uid: expect.any(String) as string } },
      responseStatus: { code: 201 },
    },
  ]);
  expect(new Set(lines.map(({ auditID }) => auditID))).toEqual(new Set([headers["audit-id"]]));
});

it("records one line of every change and none of reads where no policy is given", async () => {
  const { ask, lines } = await audited(DEFAULT_POLICY);
  await ask("GET", CONFIG_MAPS);
  await ask("GET", "/version");
  await ask("POST", CONFIG_MAPS, { body: configMap("a") });
  await ask("DELETE", `${CONFIG_MAPS}/a`);
  expect(lines.map(({ stage, verb }) => `${verb} ${stage}`)).toEqual([
    "create ResponseComplete",
    "delete ResponseComplete",
  ]);
});

it("holds no value of a Secret", async () => {
  const { ask, lines } = await audited();
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "db" },
    stringData: { password: "canary" },
  };
  await ask("POST", SECRETS, { body });
  await ask("GET", SECRETS);
  await ask("PATCH", `${SECRETS}/db`, {
    headers: { "content-type": "application/json-patch+json" },
    body: [{ op: "replace", path: "/data/password", value: "Y2FuYXJ5" }],
  });
  expect(lines.length).toBeGreaterThan(4);
  expect(JSON.stringify(lines)).not.toMatch(/canary|Y2FuYXJ5/);
});

it("records refusals, impersonation, and streams when they start", async () => {
  const { ask, lines, world } = await audited();
  await ask("DELETE", `${CONFIG_MAPS}/none`, { user: { name: "eve", groups: [] } });
  await ask("GET", CONFIG_MAPS, { headers: { "impersonate-user": "bob" } });
  expect(lines[1]).toMatchObject({
    user: { username: "eve" },
    responseStatus: { code: 403, reason: "Forbidden" },
  });
  expect(lines[3]).toMatchObject({
    user: { username: "admin" },
    impersonatedUser: { username: "bob" },
    responseStatus: { code: 403 },
  });
  const { body } = await world.server.handle(
    makeRequest("GET", `${CONFIG_MAPS}?watch=true&timeoutSeconds=1`),
  );
  expect(lines.at(-1)).toMatchObject({ verb: "watch", stage: "ResponseStarted" });
  const before = lines.length;
  if ("stop" in body) body.stop();
  if ("stop" in body) body.stop();
  expect(lines.slice(before)).toMatchObject([{ verb: "watch", stage: "ResponseComplete" }]);
});

it.each<AuditMode>(["batch", "blocking"])(
  "a log that fails stops nothing in mode %s",
  async (mode) => {
    const one = await audited(EVERYTHING, mode);
    one.works = false;
    expect(await one.ask("POST", CONFIG_MAPS, { body: configMap("a") })).toMatchObject({
      status: 201,
    });
  },
);

it("what cannot be recorded is refused in mode blocking-strict, and not carried out", async () => {
  const one = await audited(DEFAULT_POLICY, "blocking-strict");
  one.works = false;
  const refused = await one.ask("POST", CONFIG_MAPS, { body: configMap("a") });
  expect(refused).toMatchObject({ status: 500 });
  expect(refused.json).toMatchObject({ kind: "Status" });
  one.works = true;
  expect(await one.ask("GET", `${CONFIG_MAPS}/a`)).toMatchObject({ status: 404 });
  expect(await one.ask("POST", CONFIG_MAPS, { body: configMap("a") })).toMatchObject({
    status: 201,
  });
});
