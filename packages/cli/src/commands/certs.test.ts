import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Resource } from "@lifeboat/api";
import { openPki } from "@lifeboat/apiserver/adapters";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { createRealClock, drainPromises } from "@lifeboat/base/adapters";
import {
  bundleMark,
  readRevocations,
  type Revocations,
} from "@lifeboat/core/clusters/certificates";
import { agentRoleObjects, detectorRoleObjects } from "@lifeboat/core/clusters/rights";
import { readCertificate, writeKubeconfig } from "@lifeboat/kit/adapters";
import { createWorld, newNamespace, resources, wrapped } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { main } from "../main.ts";
import { addRevocation, issuedCertificates, leftBehind, revokeUser } from "./certs.ts";

const DAY = 24 * 3_600_000;
const FAR = "2026-12-31T00:00:00Z";
const clock = createRealClock();
const ago = (days: number): VirtualClock =>
  new VirtualClock(instantOf(clock.now() - days * DAY), drainPromises);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "certs-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
  process.exitCode = 0;
});

/** A data directory whose plane was last up so many days ago. */
async function plane(days: number): Promise<string> {
  const pki = await openPki(ago(days), join(directory, "pki"));
  await pki.server([]);
  const client = await pki.client("admin", ["system:masters"]);
  const kubeconfig = join(directory, "lifeboat.kubeconfig");
  const server = "https://127.0.0.1:1";
  await writeKubeconfig(kubeconfig, { name: "lifeboat", server, ca: pki.bundle, client });
  return kubeconfig;
}

async function told(...args: readonly string[]): Promise<string> {
  const texts: string[] = [];
  const hear = (text: unknown): boolean => {
    texts.push(String(text));
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, "write").mockImplementation(hear),
  );
  try {
    await main(args);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return texts.join("");
}

const leftOf = (file: string): number => {
  const read = readCertificate(readFileSync(join(directory, "pki", file), "utf8"));
  return (read?.notAfter ?? 0) - clock.now();
};

describe("certs renew", () => {
  it.each([
    ["certificates", 400],
    ["certificates and authority", 4000],
  ])("repairs a plane whose %s have ended", async (_what, days) => {
    const kubeconfig = await plane(days);
    const before = readFileSync(kubeconfig, "utf8");
    expect(leftOf("server.crt")).toBeLessThan(0);
    expect(await told("certs", "renew", "--data-dir", directory)).toContain("are good");
    expect(leftOf("server.crt")).toBeGreaterThan(360 * DAY);
    expect(leftOf("client-admin.crt")).toBeGreaterThan(360 * DAY);
    const pem = (file: string): string => readFileSync(join(directory, "pki", file), "utf8");
    const ca = new X509Certificate(pem("ca.crt"));
    expect(new X509Certificate(pem("server.crt")).verify(ca.publicKey)).toBe(true);
    const after = readFileSync(kubeconfig, "utf8");
    expect(after).not.toBe(before);
    expect(after).toContain('server: "https://127.0.0.1:1"');
  });

  it("without a kubeconfig says what to do", async () => {
    await plane(400);
    writeFileSync(join(directory, "lifeboat.kubeconfig"), "");
    expect(await told("certs", "renew", "--data-dir", directory)).toContain("lifeboat up");
    expect(process.exitCode).toBe(1);
  });
});

test("certs lists what lies on this host, also when the plane is down", async () => {
  await plane(350);
  vi.stubEnv("KUBECONFIG", "");
  const text = await told("certs", "--data-dir", directory);
  vi.unstubAllEnvs();
  expect(text).toMatch(/^ca +20\S+ +3\d\d\d days +90 % /m);
  expect(text).toMatch(
    /^server +20\S+ +14 days +4 % +[0-9A-F]+ +lifeboat up; lifeboat certs renew$/m,
  );
  expect(text).toContain("those of agents, detectors and users are not shown");
});

test("certs rotate-ca takes one step at a time, and none before its turn", async () => {
  await plane(1);
  const step = (...flags: readonly string[]): Promise<string> =>
    told("certs", "rotate-ca", "--data-dir", directory, ...flags);
  expect(await step()).toContain("give one step");
  expect(await step("--commit", "--force")).toContain("there is no next authority");
  expect(await step("--finish")).toContain("there is no old authority");
  expect(await step("--prepare", "--dry-run")).toContain("would be made");
  expect(await step("--commit", "--force")).toContain("there is no next authority");
  expect(await step("--prepare")).toContain("trusted beside the current one");
  const kubeconfig = ["--kubeconfig", join(directory, "lifeboat.kubeconfig")];
  const commit = ["--commit", "--force", ...kubeconfig];
  // The control plane is down, which is what --force is for.
  const asked = await step(...commit);
  expect(asked).toContain("Which agents do not trust it yet is not known");
  expect(asked).toContain("There is no terminal to confirm on: add --yes");
  expect(await step(...commit, "--dry-run")).toContain("nothing was changed (dry run)");
  expect(await step("--finish", "--yes")).toContain("there is no old authority");
  expect(await step(...commit, "--yes")).toContain("signs from now on");
  expect(await step("--finish")).toContain("every certificate that it signed is void, for good");
  expect(await step("--finish", "--dry-run")).toContain("nothing was changed (dry run)");
  expect(await step("--finish", "--yes")).toContain("trusted no more");
});

const configMaps: Resource = resources.configMaps;
const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

test("certs lists those of agents and of detectors, each with its own life", async () => {
  const { client } = await createWorld();
  const roles: Resource = {
    ...rbac,
    plural: "clusterroles",
    kind: "ClusterRole",
    namespaced: false,
  };
  const marked = async (objects: ReturnType<typeof agentRoleObjects>, marks: object) => {
    const [role] = objects;
    if (role === undefined) throw new Error("there is a ClusterRole");
    const annotations = marks as Record<string, string>;
    await client.create(roles, { ...role, metadata: { ...role.metadata, annotations } });
  };
  await marked(agentRoleObjects("eu-1"), {
    "lifeboat.dev/registered-until": "2026-01-02T00:00:00Z",
  });
  await marked(detectorRoleObjects("eu-1"), {
    "lifeboat.dev/registered-since": "2025-12-01T00:00:00Z",
    "lifeboat.dev/registered-until": "2026-01-30T00:00:00Z",
  });
  // Registered, and without a certificate of ours yet.
  await marked(detectorRoleObjects("eu-2"), {});
  const listed = (await issuedCertificates(client)).map(
    ({ name, notBefore, notAfter, renewedBy }) => [name, (notAfter - notBefore) / DAY, renewedBy],
  );
  expect(listed).toEqual([
    ["system:karmada:agent:eu-1", 1, "its agent, after 70 to 80 % of its life"],
    ["system:lifeboat:detector:eu-1", 60, "its detector, after 70 to 80 % of its life"],
  ]);
});

test("certs lists those of users with their end, also of a record that has no more than that", async () => {
  const { client } = await createWorld();
  await client.create(resources.namespaces, newNamespace("lifeboat-system"));
  const common = { groups: [], roles: ["edit"], namespace: "" };
  const [since, until] = ["2025-12-31T23:55:00Z", "2026-04-01T00:00:00Z"];
  await client.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "lifeboat-system", name: "users" },
    data: {
      "61": JSON.stringify({ ...common, user: "alice", since, until, serial: "0A" }),
      "62": JSON.stringify({ ...common, user: "bob", until }),
      "63": "edited by hand",
      "64": "{}",
    },
  });
  const listed = (await issuedCertificates(client)).map(
    ({ name, notBefore, notAfter, serial, renewedBy }) => [
      name,
      (notAfter - notBefore) / DAY,
      serial,
      renewedBy,
    ],
  );
  expect(listed).toEqual([
    ["alice", 90, "0A", "a person: lifeboat users add alice"],
    ["bob", 0, "", "a person: lifeboat users add bob"],
  ]);
});

test("certs shows what was revoked, by user or by serial, and not what was issued after that", async () => {
  const { client } = await createWorld();
  await client.create(resources.namespaces, newNamespace("lifeboat-system"));
  const entry = (user: string, since: string, serial: string) =>
    JSON.stringify({ user, groups: [], roles: [], namespace: "", since, until: FAR, serial });
  await client.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "lifeboat-system", name: "users" },
    data: {
      "61": entry("alice", "2026-01-01T00:00:00Z", "0A"),
      "62": entry("bob", "2026-01-01T00:00:00Z", "0B"),
      "63": entry("carol", "2026-01-03T00:00:00Z", "0C"),
      "64": entry("dan", "2026-01-01T00:00:00Z", "0D"),
    },
  });
  const now = instantOf(Date.parse("2026-01-02T00:00:00Z"));
  await addRevocation(client, { user: "alice", before: now }, now);
  await addRevocation(
    client,
    { user: "bob", serial: "0b", until: instantOf(now + DAY), before: now },
    now,
  );
  await addRevocation(client, { user: "carol", before: now }, now);
  const listed = await issuedCertificates(client);
  expect(listed.map(({ name, isRevoked }) => [name, isRevoked])).toEqual([
    ["alice", true],
    ["bob", true],
    ["carol", false],
    ["dan", false],
  ]);
});

test("an agent is left behind until its Lease tells that it trusts the bundle", async () => {
  const { client } = await createWorld();
  await client.create(resources.namespaces, newNamespace("karmada-cluster"));
  const roles: Resource = {
    ...rbac,
    plural: "clusterroles",
    kind: "ClusterRole",
    namespaced: false,
  };
  const leases: Resource = {
    group: "coordination.k8s.io",
    version: "v1",
    plural: "leases",
    kind: "Lease",
    namespaced: true,
  };
  for (const name of ["a", "b", "c"]) {
    const [role] = agentRoleObjects(name);
    if (role === undefined) throw new Error("an agent has a ClusterRole");
    await client.create(roles, role);
    const annotations = { "lifeboat.dev/ca-bundle": bundleMark(name === "a" ? "new" : "old") };
    const metadata = { namespace: "karmada-cluster", name, annotations };
    if (name !== "c")
      await client.create(leases, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata,
      });
  }
  expect(await leftBehind(client, "new")).toEqual(["b", "c"]);
});

test("a revocation counts by the control plane's clock, until its write is through", async () => {
  const world = await createWorld();
  const { client } = world;
  await client.create(resources.namespaces, newNamespace("lifeboat-system"));
  const revoked = async (): Promise<Revocations> => {
    const key = { namespace: "lifeboat-system", name: "revoked-certificates" };
    return readRevocations(await client.get(configMaps, key));
  };
  // The clock of this machine shows another year.
  const start = world.clock.now();
  await revokeUser(client, "bob", undefined);
  expect((await revoked()).users.get("bob")).toBe(start);
  const slow = wrapped(client, {
    update: async (resource, object, options) => {
      await world.advance("1500ms");
      return client.update(resource, object, options);
    },
  });
  await revokeUser(slow, "bob", undefined);
  expect((await revoked()).users.get("bob")).toBe(start + 1000);
  await revokeUser(slow, "eve", "0a");
  const { asked, serials } = await revoked();
  expect([...serials]).toEqual(["a"]);
  expect(asked.get("eve")).toBe(start + 4000);
});

test("two revocations at once are both kept", async () => {
  const { client } = await createWorld();
  await client.create(resources.namespaces, newNamespace("lifeboat-system"));
  const now = clock.now();
  await Promise.all(
    ["a", "b", "c"].map((user) => addRevocation(client, { user, before: now }, now)),
  );
  const key = { namespace: "lifeboat-system", name: "revoked-certificates" };
  const { data } = (await client.get(configMaps, key)) as unknown as { readonly data: object };
  expect(Object.keys(data).toSorted()).toEqual(["user-61", "user-62", "user-63"]);
});
