/** Joining makes exactly what it announces, can be repeated after dying anywhere, and refuses what would confuse. */
import {
  clusterRoleBindings,
  clusterRoles,
  clusters,
  failure,
  namespaces,
  Refused,
  secrets,
} from "@lifeboat/api";
import { configMap, newCluster, newNamespace, resources, wrapped } from "@lifeboat/testkit";
import { ensureRegistrationRights } from "@lifeboat/controllers/context";
import { agentRoleName } from "@lifeboat/core/clusters/rights";
import { describe, expect, it } from "vitest";
import { joinCluster } from "./join.ts";
import {
  asReal,
  AUTHORITY,
  createGround,
  deathsUntilDone,
  dyingPair,
  type Ground,
  traces,
  without,
} from "./registration.suite.ts";
import { unjoinCluster } from "./unjoin.ts";

const IN_MEMBER = [
  "ClusterRole /karmada-controller-manager:karmada-m1",
  "ClusterRole /karmada-impersonator",
  "ClusterRoleBinding /karmada-controller-manager:karmada-m1",
  "ClusterRoleBinding /karmada-impersonator",
  "Namespace /karmada-cluster",
  "Secret karmada-cluster/karmada-impersonator",
  "Secret karmada-cluster/karmada-m1",
  "ServiceAccount karmada-cluster/karmada-impersonator",
  "ServiceAccount karmada-cluster/karmada-m1",
];
const IN_PLANE = [
  "Cluster /m1",
  "Namespace /karmada-cluster",
  "Namespace /karmada-es-m1",
  "Secret karmada-cluster/m1",
  "Secret karmada-cluster/m1-impersonator",
];

function withoutDefaultAccount(found: readonly string[]): readonly string[] {
  return found.filter((one) => !one.endsWith("/default"));
}

describe("joinCluster", () => {
  it("makes the accounts, their rights and tokens, the Secrets and the Cluster", async () => {
    const ground = await createGround();
    const { plane, member } = ground;
    const outcome = await ground.join({ provider: "p", region: "r", zones: ["z1", "z2"] });
    expect(outcome.credential).toBe("serviceAccount");
    await ground.fleet.advance("5s");
    expect(withoutDefaultAccount(await traces(member, false))).toEqual(IN_MEMBER);
    expect(withoutDefaultAccount(await traces(plane, true))).toEqual(IN_PLANE);
    const cluster = await plane.get(clusters, { namespace: "", name: "m1" });
    const kubeSystem = await member.get(namespaces, { namespace: "", name: "kube-system" });
    expect(cluster.spec).toMatchObject({
      id: kubeSystem.metadata.uid,
      syncMode: "Push",
      apiEndpoint: "https://m1.test:6443",
      secretRef: { namespace: "karmada-cluster", name: "m1" },
      impersonatorSecretRef: { namespace: "karmada-cluster", name: "m1-impersonator" },
      provider: "p",
      region: "r",
      zones: ["z1", "z2"],
    });
    const owner = { kind: "Cluster", name: "m1", uid: cluster.metadata.uid };
    const annotations = { "lifeboat.dev/api-endpoint": "https://m1.test:6443" };
    expect(await plane.get(secrets, { namespace: "karmada-cluster", name: "m1" })).toMatchObject({
      metadata: { ownerReferences: [owner], annotations },
      data: { token: btoa("token of karmada-m1"), caBundle: btoa(AUTHORITY) },
    });
    const impersonator = { namespace: "karmada-cluster", name: "m1-impersonator" };
    expect(await plane.get(secrets, impersonator)).toMatchObject({
      metadata: { ownerReferences: [owner], annotations },
      data: { token: btoa("token of karmada-impersonator") },
    });
    const impersonatorRole = { namespace: "", name: "karmada-impersonator" };
    expect(await member.get(clusterRoles, impersonatorRole)).toMatchObject({
      rules: [
        {
          apiGroups: [""],
          resources: ["users", "groups", "serviceaccounts"],
          verbs: ["impersonate"],
        },
        { apiGroups: ["authentication.k8s.io"], resources: ["*"], verbs: ["impersonate"] },
      ],
    });
    expect(await member.get(clusterRoleBindings, impersonatorRole)).toMatchObject({
      subjects: [
        { kind: "ServiceAccount", namespace: "karmada-cluster", name: "karmada-impersonator" },
      ],
    });
    const role = { namespace: "", name: "karmada-controller-manager:karmada-m1" };
    expect(await member.get(clusterRoles, role)).toMatchObject({
      metadata: { labels: { "karmada.io/system": "true" } },
      rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
        { nonResourceURLs: ["*"], verbs: ["get"] },
      ],
    });
    expect(await member.get(clusterRoleBindings, role)).toMatchObject({
      subjects: [{ kind: "ServiceAccount", namespace: "karmada-cluster", name: "karmada-m1" }],
    });
    await ground.fleet.close();
  });

  it("changes nothing when it is repeated", async () => {
    const ground = await createGround();
    await ground.join();
    await ground.fleet.advance("5s");
    const key = { namespace: "", name: "m1" };
    const before = await ground.plane.get(clusters, key);
    const { clients, counter } = dyingPair([ground.plane, ground.member], 1e9, "before");
    await ground.join({ plane: clients[0], member: clients[1] });
    expect(await ground.plane.get(clusters, key)).toEqual(before);
    // Only creations that find what is there.
    expect(counter.writes).toBeLessThanOrEqual(14);
    await ground.fleet.close();
  });

  it.each(["before", "after"] as const)(
    "ends the same after dying %s each of its writes",
    async (when) => {
      const ground = await createGround();
      const { plane, member } = ground;
      const deaths = await deathsUntilDone(ground, when, (clients) => ground.join(clients));
      expect(deaths).toBeGreaterThanOrEqual(10);
      await ground.fleet.advance("5s");
      expect(withoutDefaultAccount(await traces(member, false))).toEqual(IN_MEMBER);
      expect(withoutDefaultAccount(await traces(plane, true))).toEqual(IN_PLANE);
      const { metadata } = await plane.get(clusters, { namespace: "", name: "m1" });
      for (const name of ["m1", "m1-impersonator"]) {
        const secret = await plane.get(secrets, { namespace: "karmada-cluster", name });
        expect(secret.metadata.ownerReferences).toMatchObject([{ uid: metadata.uid }]);
      }
      await ground.fleet.close();
    },
  );

  it("brings endpoint and credentials up to date when the same cluster joins again", async () => {
    const ground = await createGround({ embedded: true });
    const access = { server: "https://m1.test:6443", insecureSkipTlsVerify: false, token: "one" };
    await ground.join({ access });
    await ground.join({ access: { ...access, server: "https://m1.test:7443", token: "two" } });
    const cluster = await ground.plane.get(clusters, { namespace: "", name: "m1" });
    expect(cluster.spec.apiEndpoint).toBe("https://m1.test:7443");
    const secret = { namespace: "karmada-cluster", name: "m1" };
    expect(await ground.plane.get(secrets, secret)).toMatchObject({
      metadata: { annotations: { "lifeboat.dev/api-endpoint": "https://m1.test:7443" } },
      data: { token: btoa("two") },
    });
    await ground.fleet.close();
  });

  it("waits for a namespace that is still going in the member since it left", async () => {
    const ground = await createGround();
    const finalizers = ["test/held"];
    const held = configMap("held", {}, { namespace: "karmada-cluster", finalizers });
    await ground.member.create(namespaces, newNamespace("karmada-cluster"));
    await ground.member.create(resources.configMaps, held);
    await ground.member.delete(namespaces, { namespace: "", name: "karmada-cluster" });
    await expect(ground.join()).rejects.toThrow(/karmada-cluster is still being deleted/);
    const body = { metadata: { finalizers: [] } };
    const key = { namespace: "karmada-cluster", name: "held" };
    ground.clock.after(5000, () => {
      void ground.member.patch(resources.configMaps, key, { type: "merge", body });
    });
    expect((await ground.join()).credential).toBe("serviceAccount");
    await ground.fleet.close();
  });

  it("checks certificates again when the cluster joins again with an authority", async () => {
    const ground = await createGround();
    await ground.join({ access: { server: "https://m1.test", insecureSkipTlsVerify: true } });
    const key = { namespace: "", name: "m1" };
    expect((await ground.plane.get(clusters, key)).spec.insecureSkipTLSVerification).toBe(true);
    await ground.join();
    expect(
      (await ground.plane.get(clusters, key)).spec.insecureSkipTLSVerification,
    ).toBeUndefined();
    await ground.fleet.close();
  });

  it("uses the kubeconfig's token where the member issues none, and does not wait for our own server", async () => {
    const access = {
      server: "https://m1.test:6443",
      insecureSkipTlsVerify: false,
      caBundle: AUTHORITY,
      token: "m1-token",
    };
    const own = await createGround({ embedded: true });
    const before = own.clock.monotonic();
    expect((await own.join({ access })).credential).toBe("kubeconfig");
    expect(own.clock.monotonic() - before).toBeLessThanOrEqual(500);
    await own.fleet.advance("5s");
    expect(own.fleet.context.connections.of("m1").kind).toBe("connected");
    // The administrator's token is no impersonator's: the proxy stays closed.
    expect(own.fleet.context.connections.impersonatorOf("m1")).toMatchObject({
      kind: "unusable",
      message: expect.stringMatching(/m1-impersonator does not exist/) as string,
    });
    await own.join({ access: { ...access, impersonatorToken: "of the impersonator" } });
    await own.fleet.advance("5s");
    expect(own.fleet.context.connections.impersonatorOf("m1").kind).toBe("unusable");
    await own.join({ access: { ...access, impersonatorToken: "impersonator" } });
    await own.fleet.advance("5s");
    expect(own.fleet.context.connections.impersonatorOf("m1")).toMatchObject({
      kind: "usable",
      access: { token: "impersonator" },
    });
    await own.fleet.close();

    const other = await createGround({ issuesTokens: false });
    const start = other.clock.monotonic();
    expect((await other.join({ access })).credential).toBe("kubeconfig");
    expect(other.clock.monotonic() - start).toBeGreaterThanOrEqual(30_000);
    await other.fleet.close();
  });

  it("says what is missing where there is no token at all, and registers nothing", async () => {
    const ground = await createGround({ issuesTokens: false });
    await expect(ground.join()).rejects.toThrow(
      /issued no token for its service account karmada-cluster\/karmada-m1 within 30s.*no bearer token/,
    );
    expect(await traces(ground.plane, true)).toEqual([]);
    await ground.fleet.close();
  });

  it("refuses the same cluster under a second name, and another cluster under the same name", async () => {
    const ground = await createGround();
    await ground.join();
    await expect(ground.join({ name: "m2" })).rejects.toThrow(/joined already, as m1/);
    const other = await ground.fleet.addMember("other");
    await expect(ground.join({ member: other.client })).rejects.toThrow(
      /another cluster is joined as m1/,
    );
    expect(await traces(other.client, false)).toEqual([]);
    await ground.fleet.close();
  });

  it("refuses a name that a Pull cluster or a leaving one has", async () => {
    const ground = await createGround();
    const { metadata } = await ground.member.get(namespaces, {
      namespace: "",
      name: "kube-system",
    });
    await ground.plane.create(clusters, newCluster("m1", { syncMode: "Pull", id: metadata.uid }));
    await expect(ground.join()).rejects.toThrow(/another cluster is joined as m1/);
    await ground.plane.delete(clusters, { namespace: "", name: "m1" });
    await ground.fleet.advance("10s");
    await ground.join();
    await ground.fleet.advance("1s");
    const finalizers = ["test/held", "karmada.io/cluster-controller"];
    const key = { namespace: "", name: "m1" };
    await ground.plane.patch(clusters, key, { type: "merge", body: { metadata: { finalizers } } });
    await ground.plane.delete(clusters, key);
    await expect(ground.join()).rejects.toThrow(/is leaving/);
    await ground.fleet.close();
  });

  describe("of a name that an agent has registered (T1, T3)", () => {
    const until = { "lifeboat.dev/registered-by": "system:bootstrap:abcdef" };
    const register = async ({ plane }: Ground, marks: object = until): Promise<void> => {
      await ensureRegistrationRights(plane, "m1");
      const key = { namespace: "", name: agentRoleName("m1") };
      const body = { metadata: { annotations: { ...marks } } };
      await plane.patch(clusterRoles, key, { type: "merge", body });
    };
    const secretsOf = async ({ plane }: Ground): Promise<readonly string[]> =>
      (await traces(plane, true)).filter((one) => /^(Secret|Cluster) /.test(one));

    it("is refused before any Secret is written, until the registration is ended", async () => {
      const ground = await createGround();
      await register(ground);
      for (const dryRun of [true, false])
        await expect(ground.join({ dryRun })).rejects.toThrow(
          /system:bootstrap:abcdef has registered the name m1.*lifeboat unregister m1/,
        );
      expect(await secretsOf(ground)).toEqual([]);
      expect(await traces(ground.member, false)).toEqual([]);
      const { clock, plane } = ground;
      const leaving = { plane, name: "m1", mode: "Pull" } as const;
      await ground.finish(unjoinCluster({ clock }, leaving));
      const tombstone = { namespace: "karmada-cluster", name: "tombstone-m1" };
      await plane.get(resources.configMaps, tombstone);
      expect((await ground.join()).credential).toBe("serviceAccount");
      await ground.fleet.close();
    });

    it("is refused when it is registered while the member makes its tokens", async () => {
      const ground = await createGround();
      const member = wrapped(ground.member, {
        create: async (resource, object, options) => {
          if (resource.kind === "ServiceAccount" && options?.dryRun !== true)
            await register(ground);
          return ground.member.create(resource, object, options);
        },
      });
      await expect(ground.join({ member: asReal(member) })).rejects.toThrow(
        /registered the name m1/,
      );
      expect(await secretsOf(ground)).toEqual([]);
      await ground.fleet.close();
    });

    it("waits for the rights of an agent whose cluster has just left", async () => {
      const ground = await createGround();
      await register(ground, { ...until, "lifeboat.dev/cluster-uid": "gone" });
      await expect(ground.join()).rejects.toThrow(/go within seconds.*join again then/);
      expect(await secretsOf(ground)).toEqual([]);
      await ground.fleet.close();
    });
  });

  it.each([
    ["a name that is another's Secret", { name: "eu-impersonator" }],
    ["a bad name", { name: "Not_A_Name" }],
    ["a long name", { name: "a".repeat(49) }],
    ["a bad zone", { zones: ["no zone"] }],
    [
      "a bad endpoint",
      { access: { server: "https://u:p@m1", insecureSkipTlsVerify: false, token: "t" } },
    ],
  ])("refuses %s before anything is written anywhere", async (_name, changes) => {
    const ground = await createGround();
    await expect(ground.join(changes)).rejects.toThrow();
    expect(await traces(ground.plane, true)).toEqual([]);
    expect(await traces(ground.member, false)).toEqual([]);
    await ground.fleet.close();
  });

  it("17.14: refuses plain http unless it is allowed, and then the Secret says so", async () => {
    const ground = await createGround();
    const access = { server: "http://m1.test", insecureSkipTlsVerify: false };
    await expect(ground.join({ access })).rejects.toThrow(/plain http.*--allow-insecure-http/);
    await expect(ground.join({ access, dryRun: true })).rejects.toThrow(/plain http/);
    expect(await traces(ground.plane, true)).toEqual([]);
    expect(await traces(ground.member, false)).toEqual([]);
    await ground.join({ access, allowHttp: true });
    const secret = { namespace: "karmada-cluster", name: "m1" };
    expect((await ground.plane.get(secrets, secret)).metadata.annotations).toEqual({
      "lifeboat.dev/api-endpoint": "http://m1.test",
      "lifeboat.dev/allow-insecure-http": "true",
    });
    await ground.fleet.advance("1s");
    expect(ground.fleet.context.connections.of("m1").kind).toBe("connected");
    await ground.fleet.close();
  });

  it("writes nothing in a dry run, and refuses what it would refuse", async () => {
    const ground = await createGround();
    const outcome = await ground.join({ dryRun: true });
    expect(outcome.cluster.metadata.name).toBe("m1");
    expect(outcome.credential).toBeUndefined();
    expect(await traces(ground.plane, true)).toEqual([]);
    expect(await traces(ground.member, false)).toEqual([]);
    await ground.join();
    await expect(ground.join({ dryRun: true, name: "m2" })).rejects.toThrow(/joined already/);
    await ground.fleet.close();
  });

  it("refuses the control plane itself (17.16)", async () => {
    const ground = await createGround();
    const before = await traces(ground.plane, true);
    const self = { member: asReal(ground.plane) };
    await expect(ground.join(self)).rejects.toThrow(/the control plane itself/);
    await expect(ground.join({ ...self, dryRun: true })).rejects.toThrow(/control plane itself/);
    expect(await traces(ground.plane, true)).toEqual(before);
    await ground.fleet.close();
  });

  it("refuses in a dry run what cannot be: no token, no rights, a namespace that goes, a bad change (17.16)", async () => {
    const own = await createGround({ embedded: true });
    await expect(own.join({ dryRun: true })).rejects.toThrow(/no bearer token/);
    await expect(own.join()).rejects.toThrow(/no bearer token/);
    expect(await traces(own.member, false)).toEqual([]);
    await own.fleet.close();

    const ground = await createGround();
    const forbidden = wrapped(ground.member, {
      create: (resource, object, options) =>
        resource.plural === clusterRoles.plural
          ? Promise.reject(new Refused(failure(403, "Forbidden", "you may not")))
          : ground.member.create(resource, object, options),
    });
    await expect(ground.join({ dryRun: true, member: forbidden })).rejects.toThrow(/you may not/);
    await ground.join();
    await expect(ground.join({ dryRun: true, zones: ["no zone"] })).rejects.toThrow(/zone/);
    expect(await ground.join({ dryRun: true, region: "r" })).toMatchObject({
      cluster: { spec: { region: "r" } },
    });
    const key = { namespace: "", name: "m1" };
    expect((await ground.plane.get(clusters, key)).spec.region).toBeUndefined();
    await ground.fleet.close();

    const held = await createGround();
    const finalizers = ["test/held"];
    await held.member.create(namespaces, newNamespace("karmada-cluster"));
    const inside = configMap("held", {}, { namespace: "karmada-cluster", finalizers });
    await held.member.create(resources.configMaps, inside);
    await held.member.delete(namespaces, { namespace: "", name: "karmada-cluster" });
    await expect(held.join({ dryRun: true })).rejects.toThrow(/still being deleted/);
    await held.fleet.close();
  });

  it("refuses a cluster without kube-system, and stops waiting when it is told to", async () => {
    const ground = await createGround({ issuesTokens: false });
    const stop = new AbortController();
    const joining = joinCluster({ clock: ground.clock }, ground.request({ signal: stop.signal }));
    const refused = expect(joining).rejects.toThrow(/interrupted/);
    await ground.fleet.advance("1s");
    stop.abort();
    await refused;
    const bare = without(ground.member, "kube-system");
    await expect(ground.join({ member: bare })).rejects.toThrow(/no namespace kube-system/);
    await ground.fleet.close();
  });
});
