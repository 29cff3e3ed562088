/** Agents register, renew and leave; every step may be the last one of its process. */
import {
  type AnyObject,
  certificateSigningRequests,
  type Cluster,
  clusterRoles,
  clusters,
  isRefused,
  type JsonObject,
  type New,
  orNothing,
  type Resource,
} from "@lifeboat/api";
import {
  agentIdentity,
  AGENTS_GROUP,
  agentRoleObjects,
  agentUser,
  CLIENT_SIGNER,
  detectorIdentity,
  detectorRoleObjects,
  DETECTORS_GROUP,
  detectorUser,
  registrationGroup,
} from "@lifeboat/core/clusters/rights";
import { withRevocation } from "@lifeboat/core/clusters/certificates";
import type { Client } from "@lifeboat/kit";
import {
  createFleet,
  createPaperSigner,
  type Fleet,
  newCluster,
  newNamespace,
  paperRequest,
  readPaperCertificate,
  resources,
  wrapped,
} from "@lifeboat/testkit";
import { describe, expect, it, test } from "vitest";
import type { PlaneContext } from "../../context/context.ts";
import { createAgents } from "../agents/create-agents.ts";
import { createClusterController } from "../lifecycle/create-cluster-controller.ts";
import { createCertificates } from "./create-certificates.ts";

const HOUR = 3_600_000;
const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const BY_KIND: Readonly<Record<string, Resource>> = {
  ClusterRole: { ...rbac, plural: "clusterroles", kind: "ClusterRole", namespaced: false },
  ClusterRoleBinding: {
    ...rbac,
    plural: "clusterrolebindings",
    kind: "ClusterRoleBinding",
    namespaced: false,
  },
  Role: { ...rbac, plural: "roles", kind: "Role", namespaced: true },
  RoleBinding: { ...rbac, plural: "rolebindings", kind: "RoleBinding", namespaced: true },
};

interface Started {
  /** Another process signs what is approved. */
  readonly signsElsewhere?: boolean;
  /** How often the controller runs: two leaders. */
  readonly leaders?: number;
  /** Wraps the client of the controllers. */
  readonly client?: (plane: Client) => Client;
}

async function start({
  leaders = 1,
  client = (plane) => plane,
  signsElsewhere = false,
}: Started = {}): Promise<Fleet> {
  const fleet = await createFleet({
    memberModel: false,
    services: (context: PlaneContext) => {
      const own = { ...context, plane: client(context.plane) };
      const paper = createPaperSigner();
      const signer = signsElsewhere ? { read: paper.read } : paper;
      return [
        ...createClusterController(context),
        ...createAgents(own),
        ...Array.from({ length: leaders }, () => createCertificates(own, signer)).flat(),
      ];
    },
  });
  await fleet.settle();
  return fleet;
}

const TOKEN_GROUPS = ["system:bootstrappers", "system:bootstrappers:karmada:default-cluster-token"];

function request(name: string, pem: string): New<AnyObject> {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: btoa(pem),
      signerName: CLIENT_SIGNER,
      usages: ["digital signature", "key encipherment", "client auth"],
      expirationSeconds: 86_400,
    },
  };
}

const asAgent = (cluster: string): string => paperRequest(agentUser(cluster), [AGENTS_GROUP]);

/** Creates a request under the rights of the server, as the given user. */
async function ask(
  fleet: Fleet,
  name: string,
  pem: string,
  user = "system:bootstrap:abcdef",
  groups: readonly string[] = TOKEN_GROUPS,
): Promise<void> {
  await ensureToken(fleet, user);
  // The user counts, not its rights: those are the matter of the server's authorizer.
  const client = fleet.server.client({ name: user, groups: [...groups, "system:masters"] });
  await client.create(certificateSigningRequests, request(name, pem));
}

/** The Secret of the token that a user of this name presents. */
async function ensureToken(fleet: Fleet, user: string): Promise<void> {
  const id = /^system:bootstrap:([a-z0-9]{6})$/.exec(user)?.[1];
  if (id === undefined) return;
  const secrets = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
  const secret: New<AnyObject> = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bootstrap-token-${id}`, namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    stringData: { "token-id": id },
  };
  await fleet.plane.create(secrets, secret).catch((error: unknown) => {
    if (!isRefused(error, "AlreadyExists")) throw error;
  });
}

/** As a person does. */
async function approve(fleet: Fleet, name: string): Promise<void> {
  const approved = { type: "Approved", status: "True", reason: "ByHand" };
  await fleet.plane.patch(
    certificateSigningRequests,
    { namespace: "", name },
    { type: "merge", body: { status: { conditions: [approved] } } },
    { subresource: "approval" },
  );
}

const tokenUser = (i: number): string => `system:bootstrap:${String(i).padStart(6, "t")}`;

interface Answer {
  readonly conditions: readonly string[];
  readonly certificate: ReturnType<typeof readPaperCertificate>;
}

async function answerOf(fleet: Fleet, name: string): Promise<Answer> {
  const found = await fleet.plane.get(certificateSigningRequests, { namespace: "", name });
  const { conditions = [], certificate = "" } = (found["status"] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
    readonly certificate?: string;
  };
  return {
    conditions: conditions.map(({ type, reason }) => `${type}: ${reason}`),
    certificate: certificate === "" ? undefined : readPaperCertificate(atob(certificate)),
  };
}

async function missingRights(fleet: Fleet, cluster: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { kind, metadata } of agentRoleObjects(cluster)) {
    const { namespace = "", name = "" } = metadata;
    const resource = BY_KIND[String(kind)];
    if (resource === undefined) throw new Error(`${String(kind)} is no kind of rights`);
    if ((await orNothing(fleet.plane.get(resource, { namespace, name }))) === undefined)
      missing.push(`${String(kind)} ${namespace}`);
  }
  return missing;
}

const pullCluster = (name: string): New<Cluster> => newCluster(name, { syncMode: "Pull" });

describe("where another process signs", () => {
  it("the rights of an agent exist before its request is approved, and nothing is signed here", async () => {
    const asked: string[] = [];
    const fleet = await start({
      signsElsewhere: true,
      client: (plane) =>
        wrapped(plane, {
          create: (resource, object) => {
            asked.push(`create ${resource.kind}`);
            return plane.create(resource, object);
          },
          update: (resource, object, options) => {
            asked.push(`update ${resource.kind} ${options?.subresource ?? ""}`);
            return plane.update(resource, object, options);
          },
        }),
    });
    await ask(fleet, "r", asAgent("eu-1"));
    await fleet.settle();
    expect(await answerOf(fleet, "r")).toEqual({
      conditions: ["Approved: AgentRegisters"],
      certificate: undefined,
    });
    const approval = asked.indexOf("update CertificateSigningRequest approval");
    for (const kind of ["ClusterRoleBinding", "RoleBinding"]) {
      expect(asked).toContain(`create ${kind}`);
      expect(asked.indexOf(`create ${kind}`)).toBeLessThan(approval);
    }
    expect(asked).not.toContain("update CertificateSigningRequest status");
  });

  it("what a person approved for others is left to that signer", async () => {
    const fleet = await start({ signsElsewhere: true });
    // Here it would be refused for its usages.
    const { spec, ...rest } = request("p", paperRequest("jane", ["team"]));
    const usages = ["client auth", "server auth"];
    await fleet.plane.create(certificateSigningRequests, {
      ...rest,
      spec: { ...(spec as JsonObject), usages },
    });
    await approve(fleet, "p");
    await fleet.settle();
    expect((await answerOf(fleet, "p")).conditions).toEqual(["Approved: ByHand"]);
  });

  it("the name of a cluster that left is free when its last certificate has ended, or by a token for it", async () => {
    const fleet = await start({ signsElsewhere: true });
    await ask(fleet, "first", asAgent("eu-1"), tokenUser(1));
    await fleet.settle();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("1m");
    await fleet.plane.delete(clusters, { namespace: "", name: "eu-1" });
    await fleet.advance("1m");
    await ask(fleet, "soon", asAgent("eu-1"), tokenUser(2));
    await fleet.settle();
    expect((await answerOf(fleet, "soon")).conditions).toEqual(["Denied: NameTaken"]);
    const groups = [...TOKEN_GROUPS, registrationGroup("eu-1")];
    await ask(fleet, "named", asAgent("eu-1"), tokenUser(3), groups);
    await fleet.settle();
    expect((await answerOf(fleet, "named")).conditions).toEqual(["Approved: AgentRegisters"]);
  });
});

describe("a name that was registered, and then joined in mode Push", () => {
  it("keeps no agent: no rights, no renewal, and no certificate of what was approved before", async () => {
    const fleet = await start();
    await ask(fleet, "r", asAgent("eu-1"));
    await fleet.settle();
    await fleet.plane.create(clusters, newCluster("eu-1", { syncMode: "Push" }));
    await fleet.advance("1s");
    expect((await missingRights(fleet, "eu-1")).length).toBe(10);
    const own = agentIdentity("eu-1").requestName;
    await ask(fleet, own, asAgent("eu-1"), agentUser("eu-1"), [AGENTS_GROUP]);
    await ask(fleet, "by-hand", asAgent("eu-1"), "jane", []);
    await approve(fleet, "by-hand");
    await fleet.advance("2s");
    expect((await answerOf(fleet, own)).conditions).toEqual(["Denied: NameTaken"]);
    expect(await answerOf(fleet, "by-hand")).toEqual({
      conditions: ["Approved: ByHand", "Failed: NameTaken"],
      certificate: undefined,
    });
    expect((await missingRights(fleet, "eu-1")).length).toBe(10);
  });
});

describe("the note of an agent's last certificate", () => {
  const noted = async (fleet: Fleet): Promise<string | undefined> => {
    const key = { namespace: "", name: "system:karmada:eu-1:agent" };
    const role = await fleet.plane.get(clusterRoles, key);
    return role.metadata.annotations?.["lifeboat.dev/registered-until"];
  };

  it("keeps the later end when it renews for a shorter time, and so does the tombstone", async () => {
    const fleet = await start({ signsElsewhere: true });
    await ask(fleet, "r", asAgent("eu-1"));
    await fleet.settle();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.settle();
    const first = await noted(fleet);
    await fleet.advance("1h");
    const { spec, ...rest } = request(agentIdentity("eu-1").requestName, asAgent("eu-1"));
    const own = fleet.server.client({
      name: agentUser("eu-1"),
      groups: [AGENTS_GROUP, "system:masters"],
    });
    await own.create(certificateSigningRequests, {
      ...rest,
      spec: { ...(spec as JsonObject), expirationSeconds: 600 },
    });
    await fleet.settle();
    expect((await answerOf(fleet, agentIdentity("eu-1").requestName)).conditions).toEqual([
      "Approved: AgentRenews",
    ]);
    expect(await noted(fleet)).toBe(first);
    const tombstone = { namespace: "karmada-cluster", name: "tombstone-eu-1" };
    const leave = async (): Promise<unknown> => {
      await fleet.plane.delete(clusters, { namespace: "", name: "eu-1" });
      await fleet.advance("1m");
      return (await fleet.plane.get(resources.configMaps, tombstone))["data"];
    };
    expect(await leave()).toMatchObject({ issuedUntil: first });
    // It comes back by a token for it, with a certificate of ten minutes, and leaves again.
    await fleet.plane.patch(resources.configMaps, tombstone, {
      type: "merge",
      body: { data: { issuedUntil: "2027-01-01T00:00:00Z" } },
    });
    await ask(fleet, "again", asAgent("eu-1"), tokenUser(3), [
      ...TOKEN_GROUPS,
      registrationGroup("eu-1"),
    ]);
    await fleet.settle();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("1m");
    expect(await leave()).toMatchObject({ issuedUntil: "2027-01-01T00:00:00Z" });
  });
});

test("where another process signs, an agent that leaves the life of its certificate open is denied", async () => {
  const fleet = await start({ signsElsewhere: true });
  await ensureToken(fleet, tokenUser(1));
  const client = fleet.server.client({
    name: tokenUser(1),
    groups: [...TOKEN_GROUPS, "system:masters"],
  });
  const { spec, ...rest } = request("r", asAgent("eu-1"));
  const { expirationSeconds: _, ...open } = spec as JsonObject;
  await client.create(certificateSigningRequests, { ...rest, spec: open });
  await fleet.settle();
  expect((await answerOf(fleet, "r")).conditions).toEqual(["Denied: TooLong"]);
});

describe("a revocation", () => {
  const revoke = (fleet: Fleet): Promise<unknown> =>
    fleet.plane.create(resources.configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "lifeboat-system", name: "revoked-certificates" },
      data: withRevocation(
        {},
        { user: agentUser("eu-1"), before: fleet.clock.now() },
        fleet.clock.now(),
      ),
    });

  it("denies the renewal that is on its way, and takes the next one", async () => {
    let lets = (): void => undefined;
    const held = new Promise<void>((resolve) => (lets = resolve));
    let isHeld = true;
    const fleet = await start({
      // The controller is slow: it answers after the revocation.
      client: (plane) =>
        wrapped(plane, {
          get: async (resource, key, options) => {
            if (resource.kind === "Cluster" && isHeld) await held;
            return plane.get(resource, key, options);
          },
        }),
    });
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    const own = agentIdentity("eu-1").requestName;
    await ask(fleet, own, asAgent("eu-1"), agentUser("eu-1"), [AGENTS_GROUP]);
    await fleet.plane.create(resources.namespaces, newNamespace("lifeboat-system")).catch(() => 0);
    await revoke(fleet);
    isHeld = false;
    lets();
    await fleet.settle();
    expect(await answerOf(fleet, own)).toEqual({
      conditions: ["Denied: Revoked"],
      certificate: undefined,
    });
    await fleet.advance("1s");
    await fleet.plane.delete(certificateSigningRequests, { namespace: "", name: own });
    await ask(fleet, own, asAgent("eu-1"), agentUser("eu-1"), [AGENTS_GROUP]);
    await fleet.settle();
    expect((await answerOf(fleet, own)).certificate).toBeDefined();
  });
});

describe("an agent", () => {
  it("registers: its certificate comes with its rights", async () => {
    const fleet = await start();
    await ask(fleet, "r", asAgent("eu-1"));
    await fleet.settle();
    const { conditions, certificate } = await answerOf(fleet, "r");
    expect(conditions).toEqual(["Approved: AgentRegisters"]);
    expect(certificate).toMatchObject({ user: agentUser("eu-1"), groups: [AGENTS_GROUP] });
    expect((certificate?.notAfter ?? 0) - fleet.clock.now()).toBe(24 * HOUR);
    expect(await missingRights(fleet, "eu-1")).toEqual([
      "Role karmada-es-eu-1",
      "RoleBinding karmada-es-eu-1",
      "Role karmada-cluster",
      "RoleBinding karmada-cluster",
    ]);
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("1s");
    expect(await missingRights(fleet, "eu-1")).toEqual([]);
  });

  it("renews its own certificate, and no other", async () => {
    const fleet = await start();
    await ask(fleet, "r", asAgent("eu-1"));
    await fleet.settle();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("20h");
    const own = agentIdentity("eu-1").requestName;
    await ask(fleet, own, asAgent("eu-1"), agentUser("eu-1"), [AGENTS_GROUP]);
    const other = agentIdentity("eu-2").requestName;
    await ask(fleet, other, asAgent("eu-1"), agentUser("eu-2"), [AGENTS_GROUP]);
    await expect(
      ask(fleet, other, asAgent("eu-1"), agentUser("eu-1"), [AGENTS_GROUP]),
    ).rejects.toThrow(
      "the agent of cluster eu-1 writes the certificate request agent-eu-1 and no other",
    );
    await fleet.settle();
    expect(await answerOf(fleet, own)).toMatchObject({
      conditions: ["Approved: AgentRenews"],
      certificate: { notAfter: fleet.clock.now() + 24 * HOUR },
    });
    expect(await answerOf(fleet, other)).toEqual({
      conditions: ["Denied: WrongCluster"],
      certificate: undefined,
    });
  });

  it("that left is refused, and its name can be registered again", async () => {
    const fleet = await start();
    await ask(fleet, "r1", asAgent("eu-1"));
    await fleet.settle();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("1m");
    const key = { namespace: "", name: "eu-1" };
    await fleet.plane.delete(clusters, key);
    await fleet.advance("10s");
    const tombstone = { namespace: "karmada-cluster", name: "tombstone-eu-1" };
    expect(await fleet.plane.get(resources.configMaps, tombstone)).toMatchObject({
      data: { refusedBefore: expect.stringMatching(/^2026-01-01T00:01:0/) as string },
    });
    expect((await missingRights(fleet, "eu-1")).length).toBe(10);
    await ask(fleet, "r2", asAgent("eu-1"), "system:bootstrap:second");
    await fleet.advance("2s");
    expect((await answerOf(fleet, "r2")).certificate).toBeDefined();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("10s");
    expect(await missingRights(fleet, "eu-1")).toEqual([]);
  });

  it("whose Cluster was made again before its deletion was seen is refused all the same", async () => {
    const fleet = await start();
    await ask(fleet, "r1", asAgent("eu-1"));
    await fleet.settle();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("1m");
    const key = { namespace: "", name: "eu-1" };
    await fleet.plane.delete(clusters, key);
    await fleet.plane.patch(clusters, key, {
      type: "merge",
      body: { metadata: { finalizers: [] } },
    });
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("10s");
    const tombstone = { namespace: "karmada-cluster", name: "tombstone-eu-1" };
    expect(await orNothing(fleet.plane.get(resources.configMaps, tombstone))).toBeDefined();
  });
});

test("an agent that does not renew is told of when a tenth of its life is left", async () => {
  const fleet = await start();
  await ask(fleet, "r", asAgent("eu-1"));
  await fleet.settle();
  await fleet.plane.create(clusters, pullCluster("eu-1"));
  const reasons = async (): Promise<readonly unknown[]> =>
    (await fleet.plane.list(resources.events)).items.map((event) => event["reason"]);
  await fleet.advance("21h");
  expect(await reasons()).not.toContain("AgentCertificateEnding");
  await fleet.advance("1h");
  expect(await reasons()).toContain("AgentCertificateEnding");
  await fleet.advance("2h");
  expect(await reasons()).toContain("AgentCertificateEnded");
});

describe("a name", () => {
  it("that is registered is taken, but for a token that was given for it", async () => {
    const fleet = await start();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await ask(fleet, "r1", asAgent("eu-1"));
    await ask(fleet, "r2", asAgent("eu-1"), "system:bootstrap:bound1", [registrationGroup("eu-1")]);
    await fleet.settle();
    expect((await answerOf(fleet, "r1")).conditions).toEqual(["Denied: NameTaken"]);
    expect((await answerOf(fleet, "r2")).conditions).toEqual(["Approved: AgentReturns"]);
  });

  it("goes to one of two that register it at once", async () => {
    const fleet = await start();
    await Promise.all([
      ask(fleet, "r1", asAgent("eu-1"), "system:bootstrap:first1"),
      ask(fleet, "r2", asAgent("eu-1"), "system:bootstrap:second"),
    ]);
    await fleet.advance("1s");
    const answers = await Promise.all(["r1", "r2"].map((name) => answerOf(fleet, name)));
    expect(answers.map(({ conditions }) => conditions[0]).toSorted()).toEqual([
      "Approved: AgentRegisters",
      "Denied: NameTaken",
    ]);
    expect(answers.filter(({ certificate }) => certificate !== undefined).length).toBe(1);
  });

  it("whose registration was never finished is free when its certificate has ended", async () => {
    const fleet = await start();
    await ask(fleet, "r1", asAgent("eu-1"));
    await fleet.advance("1h");
    await ask(fleet, "r2", asAgent("eu-1"), "system:bootstrap:second");
    await fleet.advance("24h");
    await ask(fleet, "r3", asAgent("eu-1"), "system:bootstrap:third1");
    await fleet.settle();
    expect((await answerOf(fleet, "r3")).conditions).toEqual(["Approved: AgentRegisters"]);
  });
});

test("a person's request waits for a person, and is signed then", async () => {
  const fleet = await start();
  await ask(fleet, "r", paperRequest("bob", ["team"]), "bob", []);
  await fleet.advance("1m");
  expect(await answerOf(fleet, "r")).toEqual({ conditions: [], certificate: undefined });
  await approve(fleet, "r");
  await fleet.settle();
  expect((await answerOf(fleet, "r")).certificate).toMatchObject({ user: "bob", groups: ["team"] });
});

test("one token registers one cluster, however many ask with it at once, under two leaders", async () => {
  const fleet = await start({ leaders: 2 });
  const names = Array.from({ length: 10 }, (_, i) => `c${i}`);
  await Promise.all(names.map((name) => ask(fleet, `r-${name}`, asAgent(name))));
  await fleet.advance("5s");
  const answers = await Promise.all(names.map((name) => answerOf(fleet, `r-${name}`)));
  const issued = answers.filter(({ certificate }) => certificate !== undefined);
  expect(issued).toHaveLength(1);
  const others = answers.filter((answer) => answer !== issued[0]);
  for (const { conditions } of others) expect(conditions).toEqual(["Denied: TokenRefused"]);
});

test("the response got lost: the same key asks again with its token, another key does not", async () => {
  const fleet = await start();
  const pem = asAgent("eu-1");
  await ask(fleet, "r1", pem);
  await fleet.settle();
  await ask(fleet, "r2", pem);
  await ask(fleet, "r3", paperRequest(agentUser("eu-1"), [AGENTS_GROUP], "another"));
  await fleet.advance("2s");
  expect((await answerOf(fleet, "r2")).certificate?.user).toBe(agentUser("eu-1"));
  expect((await answerOf(fleet, "r3")).certificate).toBeUndefined();
});

describe("a detector", () => {
  const asking = (cluster: string): string => {
    const { commonName, organizations } = detectorIdentity(cluster).subject;
    return paperRequest(commonName, organizations);
  };
  const ofDetector = (fleet: Fleet, cluster: string): Client =>
    fleet.server.client({
      name: detectorUser(cluster),
      groups: [DETECTORS_GROUP, "system:authenticated"],
    });

  /** As `lifeboat register --detector` does it. */
  async function register(fleet: Fleet, cluster: string): Promise<void> {
    const found = await fleet.plane.get(clusters, { namespace: "", name: cluster });
    const annotations = { "lifeboat.dev/cluster-uid": found.metadata.uid ?? "" };
    for (const object of detectorRoleObjects(cluster)) {
      const resource = BY_KIND[String(object["kind"])];
      if (resource === undefined) throw new Error("a kind of rights");
      await fleet.plane.create(resource, {
        ...object,
        metadata: { ...object.metadata, annotations },
      });
    }
  }
  async function joined(...names: readonly string[]): Promise<Fleet> {
    const fleet = await start();
    for (const name of names) await fleet.plane.create(clusters, newCluster(name));
    await fleet.advance("5s");
    for (const name of names) await register(fleet, name);
    return fleet;
  }

  it("renews its own certificate with its own rights, and it is noted for people", async () => {
    const fleet = await joined("eu-1");
    const detector = ofDetector(fleet, "eu-1");
    await detector.create(certificateSigningRequests, request("detector-eu-1", asking("eu-1")));
    await fleet.advance("2s");
    const { conditions, certificate } = await answerOf(fleet, "detector-eu-1");
    expect(conditions).toEqual(["Approved: DetectorRenews"]);
    expect(certificate).toMatchObject({ user: detectorUser("eu-1"), groups: [DETECTORS_GROUP] });
    const name = "system:lifeboat:eu-1:detector";
    const role = await fleet.plane.get(clusterRoles, { namespace: "", name });
    expect(Date.parse(role.metadata.annotations?.["lifeboat.dev/registered-until"] ?? "")).toBe(
      certificate?.notAfter,
    );
    const key = { namespace: "", name: "detector-eu-1" };
    expect((await detector.get(certificateSigningRequests, key)).metadata.name).toBe(key.name);
    await detector.delete(certificateSigningRequests, key);
  });

  it("gets no other identity: neither another detector's nor the agent's", async () => {
    const fleet = await joined("eu-1", "eu-2");
    const detector = ofDetector(fleet, "eu-1");
    // Under a name that is not its own nothing is even made.
    for (const name of ["detector-eu-2", "agent-eu-1", "x"])
      expect(
        isRefused(
          await detector
            .create(certificateSigningRequests, request(name, asking("eu-2")))
            .catch((error: unknown) => error),
          "Forbidden",
        ),
      ).toBe(true);
    const own = { namespace: "", name: "detector-eu-1" };
    for (const [pem, why] of [
      [asking("eu-2"), "WrongCluster"],
      [asAgent("eu-1"), "WrongSubject"],
      [paperRequest(detectorUser("eu-1"), ["system:masters"]), "WrongSubject"],
    ] as const) {
      await detector.create(certificateSigningRequests, request(own.name, pem));
      await fleet.advance("2s");
      expect(await answerOf(fleet, own.name)).toEqual({
        conditions: [`Denied: ${why}`],
        certificate: undefined,
      });
      await detector.delete(certificateSigningRequests, own);
    }
  });

  it("is not renewed for a Cluster of the same name that joined later", async () => {
    const fleet = await joined("eu-1");
    await fleet.plane.delete(clusters, { namespace: "", name: "eu-1" });
    await fleet.advance("30s");
    const renew = async (): Promise<readonly string[]> => {
      // With all rights: what counts here is the answer.
      await ask(fleet, "detector-eu-1", asking("eu-1"), detectorUser("eu-1"), [DETECTORS_GROUP]);
      await fleet.advance("2s");
      const { conditions } = await answerOf(fleet, "detector-eu-1");
      await fleet.plane.delete(certificateSigningRequests, {
        namespace: "",
        name: "detector-eu-1",
      });
      return conditions;
    };
    expect(await renew()).toEqual(["Denied: NoDetector"]);
    await fleet.plane.create(clusters, newCluster("eu-1"));
    await fleet.advance("5s");
    expect(await renew()).toEqual(["Denied: NoDetector"]);
  });
});

test("a token that was deleted meanwhile registers no cluster", async () => {
  const fleet = await start();
  const client = fleet.server.client({
    name: "system:bootstrap:nosuch",
    groups: [...TOKEN_GROUPS, "system:masters"],
  });
  await client.create(certificateSigningRequests, request("r", asAgent("eu-1")));
  await fleet.advance("2s");
  expect(await answerOf(fleet, "r")).toEqual({
    conditions: ["Denied: TokenRefused"],
    certificate: undefined,
  });
});

test("a hundred register in the same second", async () => {
  const fleet = await start();
  const names = Array.from({ length: 100 }, (_, i) => `c${i}`);
  await Promise.all(names.map((name, i) => ask(fleet, `r-${name}`, asAgent(name), tokenUser(i))));
  await fleet.advance("1s");
  const answers = await Promise.all(names.map((name) => answerOf(fleet, `r-${name}`)));
  expect(answers.map(({ certificate }) => certificate?.user)).toEqual(names.map(agentUser));
  expect(new Set(answers.map(({ certificate }) => certificate?.serial)).size).toBe(100);
});

test("two leaders give one certificate", async () => {
  const fleet = await start({ leaders: 2 });
  const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
  await Promise.all(names.map((name, i) => ask(fleet, `r-${name}`, asAgent(name), tokenUser(i))));
  await fleet.advance("5s");
  for (const name of names) {
    const { conditions, certificate } = await answerOf(fleet, `r-${name}`);
    expect(conditions).toEqual(["Approved: AgentRegisters"]);
    expect(certificate?.user).toBe(agentUser(name));
    expect((await missingRights(fleet, name)).length).toBe(4);
  }
});

describe("a process that dies at any write", () => {
  /** Lets this many writes through; the next one is made or not, and nothing is answered any more. */
  function dying(plane: Client, writes: number, isMade: boolean): Client {
    let left = writes;
    const never = new Promise<never>(() => undefined);
    const guard =
      <A extends readonly unknown[], R>(write: (...given: A) => Promise<R>) =>
      (...given: A): Promise<R> => {
        left -= 1;
        if (left >= 0) return write(...given);
        if (left === -1 && isMade) void write(...given).catch(() => undefined);
        return never;
      };
    return wrapped(plane, {
      create: guard(plane.create.bind(plane)),
      update: guard(plane.update.bind(plane)),
      patch: guard(plane.patch.bind(plane)),
      delete: guard(plane.delete.bind(plane)),
    });
  }

  const points = Array.from({ length: 12 }, (_, i) => i).flatMap((writes) =>
    [true, false].map((isMade) => [writes, isMade] as const),
  );

  it.each(points)(
    "after %d writes (the last one made: %j) is followed by another",
    async (writes, isMade) => {
      let generation = 0;
      const fleet = await start({
        client: (plane) => {
          generation += 1;
          return generation === 1 ? dying(plane, writes, isMade) : plane;
        },
      });
      await ask(fleet, "r", asAgent("eu-1"));
      await fleet.advance("10s");
      await fleet.restart();
      await fleet.advance("30s");
      const { conditions, certificate } = await answerOf(fleet, "r");
      expect(conditions).toEqual(["Approved: AgentRegisters"]);
      expect(certificate?.user).toBe(agentUser("eu-1"));
      expect((await missingRights(fleet, "eu-1")).length).toBe(4);
    },
  );

  it.each(points)("while a cluster leaves, after %d writes (%j)", async (writes, isMade) => {
    let generation = 0;
    let isLeaving = false;
    const fleet = await start({
      client: (plane) => {
        generation += 1;
        if (generation > 1) return plane;
        const doomed = dying(plane, writes, isMade);
        const chosen = (): Client => (isLeaving ? doomed : plane);
        return wrapped(plane, {
          create: (...given) => chosen().create(...given),
          update: (...given) => chosen().update(...given),
          patch: (...given) => chosen().patch(...given),
          delete: (...given) => chosen().delete(...given),
        });
      },
    });
    await ask(fleet, "r", asAgent("eu-1"));
    await fleet.settle();
    await fleet.plane.create(clusters, pullCluster("eu-1"));
    await fleet.advance("10s");
    isLeaving = true;
    await fleet.plane.delete(clusters, { namespace: "", name: "eu-1" });
    await fleet.advance("10s");
    await fleet.restart();
    await fleet.advance("30s");
    const tombstone = { namespace: "karmada-cluster", name: "tombstone-eu-1" };
    expect(await orNothing(fleet.plane.get(resources.configMaps, tombstone))).toBeDefined();
    expect((await missingRights(fleet, "eu-1")).length).toBe(10);
  });
});
