/** The detector against a real API server: claims, bindings, events, and nothing written at rest. */
import {
  clusterOverridePolicies,
  clusterPropagationPolicies,
  clusterRoles,
  type New,
  overridePolicies,
  propagationPolicies,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import {
  configMap,
  deployment,
  newNamespace,
  resources,
  widgetCrd,
  newObject,
} from "@lifeboat/testkit";
import { describe, expect, it } from "vitest";
import { builtinInterpretation, InterpretationFailed } from "../../context/interpretation.ts";
import {
  bindingNamed,
  claimerName,
  clusterBindingNamed,
  clusterRole,
  CONFIG_MAPS,
  createClusterPolicy,
  createPolicy,
  DEPLOYMENTS,
  detectorFleet,
  disturbed,
  disturbedFleet,
  eventsAbout,
  getDeployment,
  key,
  on,
  patch,
  policy,
} from "./detector.suite.ts";

const POLICY_ID = "propagationpolicy.karmada.io/permanent-id";
const CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id";
const WEB = { resourceSelectors: [{ ...DEPLOYMENTS, name: "web" }] };

describe("a template with a policy", () => {
  it.each(["policy first", "template first"])(
    "gets its claim and its binding: %s",
    async (order) => {
      const fleet = await detectorFleet();
      if (order === "template first")
        await fleet.plane.create(resources.deployments, deployment("web"));
      await fleet.settle();
      const made = await createPolicy(fleet, "p", {
        ...on("m1"),
        propagateDeps: true,
        preserveResourcesOnDeletion: true,
        suspension: { dispatching: true },
        conflictResolution: "Overwrite",
      });
      await fleet.settle();
      if (order === "policy first")
        await fleet.plane.create(resources.deployments, deployment("web"));
      await fleet.settle();
      const template = await getDeployment(fleet, "web");
      const binding = await bindingNamed(fleet, "web-deployment");
      const id = made.metadata.labels?.[POLICY_ID];
      expect(template.metadata).toMatchObject({
        labels: { app: "web", [POLICY_ID]: id },
        annotations: {
          "propagationpolicy.karmada.io/namespace": "default",
          "propagationpolicy.karmada.io/name": "p",
        },
      });
      expect(binding).toMatchObject({
        metadata: {
          labels: { [POLICY_ID]: id },
          annotations: {
            "propagationpolicy.karmada.io/namespace": "default",
            "propagationpolicy.karmada.io/name": "p",
          },
          finalizers: ["karmada.io/binding-controller"],
          ownerReferences: [
            { ...DEPLOYMENTS, name: "web", uid: template.metadata.uid, controller: true },
          ],
        },
        spec: {
          resource: {
            ...DEPLOYMENTS,
            namespace: "default",
            name: "web",
            uid: template.metadata.uid,
            resourceVersion: template.metadata.resourceVersion,
          },
          replicas: 1,
          propagateDeps: true,
          preserveResourcesOnDeletion: true,
          suspension: { dispatching: true },
          conflictResolution: "Overwrite",
          schedulerName: "default-scheduler",
          placement: { clusterAffinity: { clusterNames: ["m1"] } },
        },
      });
      expect(await eventsAbout(fleet, "web")).toEqual([
        "ApplyPolicySucceed: Apply policy(default/p) succeed",
        "GetReplicasSucceed: Get replicas(1) succeed",
      ]);
      await fleet.close();
    },
  );

  it("gets a ClusterResourceBinding when it has no namespace", async () => {
    const fleet = await detectorFleet();
    const made = await createClusterPolicy(fleet, "p", {
      resourceSelectors: [
        { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "system:x" },
      ],
    });
    await fleet.plane.create(clusterRoles, clusterRole("system:x"));
    await fleet.settle();
    expect(await clusterBindingNamed(fleet, "system.x-clusterrole")).toMatchObject({
      kind: "ClusterResourceBinding",
      metadata: {
        labels: { [CLUSTER_POLICY_ID]: made.metadata.labels?.[CLUSTER_POLICY_ID] },
        annotations: { "clusterpropagationpolicy.karmada.io/name": "p" },
        finalizers: ["karmada.io/cluster-resource-binding-controller"],
      },
      spec: { resource: { kind: "ClusterRole", name: "system:x" } },
    });
    await fleet.close();
  });

  it("costs one write of the template and one of the binding, and nothing at rest or after a restart", async () => {
    const disturbance = disturbed();
    const fleet = await disturbedFleet(disturbance);
    await createPolicy(fleet, "p", on("m1"));
    const requests = { cpu: "1000m", memory: "1024Mi" };
    await fleet.plane.create(
      resources.deployments,
      deployment("web", {
        template: {
          metadata: { labels: { app: "web" } },
          spec: { containers: [{ name: "c", image: "x", resources: { requests } }] },
        },
      }),
    );
    await fleet.advance("10m");
    expect(disturbance.writes).toEqual(["patch deployments", "create resourcebindings"]);
    await fleet.restart();
    await fleet.advance("10m");
    expect(disturbance.writes).toHaveLength(2);
    await fleet.close();
  });

  it("keeps its binding's generation when only its status changes, also over a restart", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p");
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    const before = await bindingNamed(fleet, "web-deployment");
    const template = await getDeployment(fleet, "web");
    await fleet.plane.update(
      resources.deployments,
      { ...template, status: { replicas: 1 } },
      { subresource: "status" },
    );
    await fleet.restart();
    await fleet.settle();
    expect(await bindingNamed(fleet, "web-deployment")).toEqual(before);
    await patch(fleet, resources.deployments as never, key("web"), {
      metadata: { labels: { a: "b" } },
    });
    await fleet.settle();
    const after = await bindingNamed(fleet, "web-deployment");
    expect(after?.metadata.generation).toBe(2);
    expect(after?.spec.resource.resourceVersion).toBe(
      (await getDeployment(fleet, "web")).metadata.resourceVersion,
    );
    await fleet.close();
  });

  it("is followed in its replicas, and what others wrote on the binding stays", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", { suspension: { dispatching: true } });
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    await patch(fleet, resourceBindings as never, key("web-deployment"), {
      metadata: {
        labels: { mine: "1" },
        annotations: { "policy.karmada.io/applied-placement": "{}" },
      },
      spec: {
        clusters: [{ name: "m1", replicas: 1 }],
        requiredBy: [{ namespace: "default", name: "x" }],
        suspension: { scheduling: true },
        gracefulEvictionTasks: [{ fromCluster: "m2", reason: "X", producer: "me" }],
        rescheduleTriggeredAt: "2026-01-01T00:00:00Z",
      },
    });
    await patch(fleet, resources.deployments as never, key("web"), { spec: { replicas: 5 } });
    await patch(fleet, propagationPolicies as never, key("p"), { spec: { suspension: null } });
    await fleet.settle();
    expect(await bindingNamed(fleet, "web-deployment")).toMatchObject({
      metadata: {
        labels: { mine: "1" },
        annotations: { "policy.karmada.io/applied-placement": "{}" },
      },
      spec: {
        replicas: 5,
        clusters: [{ name: "m1", replicas: 1 }],
        requiredBy: [{ namespace: "default", name: "x" }],
        suspension: { scheduling: true },
        gracefulEvictionTasks: [{ fromCluster: "m2" }],
        rescheduleTriggeredAt: "2026-01-01T00:00:00Z",
      },
    });
    expect((await bindingNamed(fleet, "web-deployment"))?.spec.suspension).toEqual({
      scheduling: true,
    });
    await fleet.close();
  });

  it("gets its claim and its binding back when another writer removes or changes them", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", on("m1"));
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    await patch(fleet, resources.deployments as never, key("web"), {
      metadata: { labels: { [POLICY_ID]: null } },
    });
    await patch(fleet, resourceBindings as never, key("web-deployment"), {
      metadata: { finalizers: null },
      spec: on("elsewhere"),
    });
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "web"))).toBe("p");
    expect((await bindingNamed(fleet, "web-deployment"))?.spec).toMatchObject(on("m1"));
    const uid = (await bindingNamed(fleet, "web-deployment"))?.metadata.uid;
    await fleet.plane.delete(resourceBindings, key("web-deployment"));
    await patch(fleet, resourceBindings as never, key("web-deployment"), {
      metadata: { finalizers: null },
    });
    await fleet.settle();
    const again = await bindingNamed(fleet, "web-deployment");
    expect(again?.metadata.uid).not.toBe(uid);
    expect(again?.spec).toMatchObject(on("m1"));
    await fleet.close();
  });

  it("of a kind whose definition comes later is found, and its going is no deletion of policies", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", {
      resourceSelectors: [{ apiVersion: "ex.io/v1", kind: "Widget" }],
    });
    await fleet.advance("1m");
    await fleet.plane.create(resources.crds, widgetCrd());
    await fleet.advance("1s");
    await fleet.plane.create(
      resources.widgets,
      newObject(resources.widgets, { name: "w" }, { spec: {} }),
    );
    await fleet.advance("1s");
    expect(await bindingNamed(fleet, "w-widget")).toMatchObject({
      spec: { resource: { apiVersion: "ex.io/v1", kind: "Widget", name: "w" } },
    });
    await fleet.close();
  });
});

describe("objects that are no templates", () => {
  it("are left alone", async () => {
    const fleet = await detectorFleet({
      skippedNamespaces: ["kube-.*"],
      skippedApis: ["v1/Secret"],
    });
    for (const name of ["karmada-es-m1", "kube-public2", "mine-kube-x"])
      await fleet.plane.create(resources.namespaces, newNamespace(name));
    await createClusterPolicy(fleet, "all", {
      resourceSelectors: [
        CONFIG_MAPS,
        { apiVersion: "v1", kind: "Secret" },
        { apiVersion: "v1", kind: "Namespace" },
      ],
    });
    const config = (namespace: string, labels = {}) =>
      fleet.plane.create(resources.configMaps, configMap("c", {}, { namespace, labels }));
    await config("karmada-es-m1");
    await config("kube-public2");
    await config("mine-kube-x");
    await config("default", { "resourcetemplate.karmada.io/claimed-by": "somebody" });
    await fleet.plane.create(resources.secrets, newObject(resources.secrets, { name: "s" }));
    await fleet.settle();
    const { items } = await fleet.plane.list(resourceBindings);
    expect(items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      "mine-kube-x/c-configmap",
    ]);
    expect(await clusterBindingNamed(fleet, "karmada-es-m1-namespace")).toBeUndefined();
    expect(await clusterBindingNamed(fleet, "mine-kube-x-namespace")).toBeDefined();
    await fleet.close();
  });
});

describe("which policy", () => {
  it("is the best of the namespace, before any cluster policy, and stays when a better one comes", async () => {
    const fleet = await detectorFleet();
    await createClusterPolicy(fleet, "cluster-wide", { ...WEB, priority: 100 });
    await createPolicy(fleet, "b-all");
    await createPolicy(fleet, "a-all");
    await fleet.settle();
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "web"))).toBe("a-all");
    await createPolicy(fleet, "named", { ...WEB, priority: 9 });
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "web"))).toBe("a-all");
    await fleet.plane.create(
      resources.deployments,
      deployment("web", {}, { namespace: "default", name: "api" }),
    );
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "api"))).toBe("a-all");
    await fleet.close();
  });

  it("changes hands by preemption, up and, when its priority falls, back", async () => {
    const fleet = await detectorFleet();
    await createClusterPolicy(fleet, "wide", { ...WEB, priority: 50, ...on("m0") });
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    await createClusterPolicy(fleet, "wider", { ...WEB, priority: 50, preemption: "Always" });
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "web"))).toBe("wide");
    await createPolicy(fleet, "low", { ...WEB, preemption: "Always", ...on("m1") });
    await fleet.settle();
    const taken = await getDeployment(fleet, "web");
    expect(claimerName(taken)).toBe("low");
    expect(taken.metadata.labels).not.toHaveProperty([CLUSTER_POLICY_ID]);
    expect((await bindingNamed(fleet, "web-deployment"))?.metadata.labels).not.toHaveProperty([
      CLUSTER_POLICY_ID,
    ]);
    await createPolicy(fleet, "high", { ...WEB, priority: 9, preemption: "Always", ...on("m2") });
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "web"))).toBe("high");
    await createPolicy(fleet, "middle", { ...WEB, priority: 5, preemption: "Always" });
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "web"))).toBe("high");
    await patch(fleet, propagationPolicies as never, key("high"), { spec: { priority: 1 } });
    await fleet.settle();
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBe("middle");
    expect(await eventsAbout(fleet, "web")).toEqual(
      expect.arrayContaining([
        "PreemptPolicySucceed: Propagation policy(default/low) preempted cluster propagation policy(wide) successfully",
        "PreemptPolicySucceed: Propagation policy(default/high) preempted propagation policy(default/low) successfully",
        "PreemptPolicySucceed: Propagation policy(default/middle) preempted propagation policy(default/high) successfully",
      ]),
    );
    await fleet.close();
  });

  it("waits for the override policies it depends on", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", { dependentOverrides: ["o"] });
    await createClusterPolicy(fleet, "cp", {
      resourceSelectors: [CONFIG_MAPS],
      dependentOverrides: ["co"],
    });
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.plane.create(resources.configMaps, configMap("c"));
    await fleet.settle();
    expect(await bindingNamed(fleet, "web-deployment")).toBeUndefined();
    expect(await eventsAbout(fleet, "web")).toEqual([
      "ApplyPolicyFailed: Apply policy(default/p) failed: dependent overrides o do not exist",
    ]);
    const spec = { overrideRules: [] };
    await fleet.plane.create(overridePolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "OverridePolicy",
      metadata: { name: "o", namespace: "default" },
      spec,
    });
    await fleet.settle();
    expect(await bindingNamed(fleet, "web-deployment")).toBeDefined();
    expect(await bindingNamed(fleet, "c-configmap")).toBeUndefined();
    await fleet.plane.create(clusterOverridePolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterOverridePolicy",
      metadata: { name: "co" },
      spec,
    });
    await fleet.settle();
    expect(await bindingNamed(fleet, "c-configmap")).toBeDefined();
    await fleet.close();
  });
});

describe("a policy that goes", () => {
  it("releases its templates and bindings, which stay, and then is gone", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", on("m1"));
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    const before = await bindingNamed(fleet, "web-deployment");
    await fleet.plane.delete(propagationPolicies, key("p"));
    await fleet.settle();
    await expect(fleet.plane.get(propagationPolicies, key("p"))).rejects.toThrow("not found");
    const template = await getDeployment(fleet, "web");
    const binding = await bindingNamed(fleet, "web-deployment");
    expect(template.metadata.labels).toEqual({ app: "web" });
    expect(claimerName(template)).toBeUndefined();
    expect(claimerName(binding)).toBeUndefined();
    expect(binding?.metadata.labels).not.toHaveProperty([POLICY_ID]);
    expect(binding?.spec).toEqual(before?.spec);
    await fleet.close();
  });

  it("hands its templates to the next one, binding included", async () => {
    const fleet = await detectorFleet();
    await createClusterPolicy(fleet, "wide", on("m2"));
    await createPolicy(fleet, "p", on("m1"));
    await fleet.settle();
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    const before = await bindingNamed(fleet, "web-deployment");
    await fleet.plane.delete(propagationPolicies, key("p"));
    await fleet.settle();
    const binding = await bindingNamed(fleet, "web-deployment");
    expect(claimerName(await getDeployment(fleet, "web"))).toBe("wide");
    expect(binding?.metadata.uid).toBe(before?.metadata.uid);
    expect(binding?.spec).toMatchObject(on("m2"));
    await fleet.close();
  });

  it("is finished after a crash in the middle, whatever was written by then", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p");
    for (let i = 0; i < 20; i++)
      await fleet.plane.create(resources.deployments, deployment(`d${i}`));
    await fleet.settle();
    await fleet.plane.delete(propagationPolicies, key("p"));
    await fleet.restart();
    await fleet.settle();
    await expect(fleet.plane.get(propagationPolicies, key("p"))).rejects.toThrow("not found");
    const { items } = await fleet.plane.list(resourceBindings);
    expect(items).toHaveLength(20);
    expect(items.filter((binding) => claimerName(binding) !== undefined)).toEqual([]);
    await fleet.close();
  });

  it("does not wait for bindings whose template is gone or leaving", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p");
    await fleet.plane.create(
      resources.deployments,
      deployment("web", {}, { finalizers: ["ex.io/hold"] }),
    );
    await fleet.settle();
    await fleet.plane.delete(resources.deployments, key("web"));
    await fleet.settle();
    await fleet.plane.delete(propagationPolicies, key("p"));
    await fleet.advance("1m");
    await expect(fleet.plane.get(propagationPolicies, key("p"))).rejects.toThrow("not found");
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBeUndefined();
    await fleet.close();
  });

  it("and comes again under its name claims again, by its new id", async () => {
    const fleet = await detectorFleet();
    const first = await createPolicy(fleet, "p");
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    await fleet.plane.delete(propagationPolicies, key("p"));
    await fleet.settle();
    const second = await createPolicy(fleet, "p", on("m3"));
    await fleet.settle();
    const id = second.metadata.labels?.[POLICY_ID];
    expect(id).not.toBe(first.metadata.labels?.[POLICY_ID]);
    expect((await getDeployment(fleet, "web")).metadata.labels?.[POLICY_ID]).toBe(id);
    expect(await bindingNamed(fleet, "web-deployment")).toMatchObject({
      metadata: { labels: { [POLICY_ID]: id } },
      spec: on("m3"),
    });
    await fleet.close();
  });

  it("goes although another one bears a copy of its id and has claims of its own", async () => {
    const fleet = await detectorFleet();
    const first = await createPolicy(fleet, "first", WEB);
    const copy = policy("second", { resourceSelectors: [{ ...DEPLOYMENTS, name: "api" }] });
    const labels = { [POLICY_ID]: first.metadata.labels?.[POLICY_ID] ?? "" };
    await fleet.plane.create(propagationPolicies, {
      ...copy,
      metadata: { ...copy.metadata, labels },
    });
    for (const name of ["web", "api"])
      await fleet.plane.create(resources.deployments, deployment(name));
    await fleet.settle();
    await fleet.plane.delete(propagationPolicies, key("first"));
    await fleet.settle();
    await expect(fleet.plane.get(propagationPolicies, key("first"))).rejects.toThrow("not found");
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBeUndefined();
    expect(claimerName(await bindingNamed(fleet, "api-deployment"))).toBe("second");
    await fleet.close();
  });

  it("goes although half of a claim is left of it somewhere", async () => {
    const fleet = await detectorFleet();
    const made = await createPolicy(fleet, "p", WEB);
    const id = made.metadata.labels?.[POLICY_ID] ?? "";
    const binding: New<ResourceBinding> = {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: { name: "x-configmap", namespace: "default", labels: { [POLICY_ID]: id } },
      spec: {
        resource: { ...CONFIG_MAPS, namespace: "default", name: "x" },
        conflictResolution: "Abort",
      },
    };
    await fleet.plane.create(resourceBindings, binding);
    await fleet.settle();
    await fleet.plane.delete(propagationPolicies, key("p"));
    await fleet.advance("1s");
    await expect(fleet.plane.get(propagationPolicies, key("p"))).rejects.toThrow("not found");
    await fleet.close();
  });

  it("without its finalizer leaves claims behind that are cleared all the same", async () => {
    const fleet = await detectorFleet();
    await fleet.plane.create(
      resources.deployments,
      deployment(
        "web",
        {},
        {
          labels: { app: "web", [CLUSTER_POLICY_ID]: "no-such-policy" },
          annotations: { "clusterpropagationpolicy.karmada.io/name": "ghost" },
        },
      ),
    );
    await fleet.settle();
    expect((await getDeployment(fleet, "web")).metadata.labels).toEqual({ app: "web" });
    await fleet.close();
  });
});

describe("a policy that is edited", () => {
  it("releases what it no longer selects and claims what it does", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", WEB);
    for (const name of ["web", "api"])
      await fleet.plane.create(resources.deployments, deployment(name));
    await fleet.settle();
    await patch(fleet, propagationPolicies as never, key("p"), {
      spec: { resourceSelectors: [{ ...DEPLOYMENTS, namespace: "default", name: "api" }] },
    });
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "web"))).toBeUndefined();
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBeUndefined();
    expect(claimerName(await bindingNamed(fleet, "api-deployment"))).toBe("p");
    await fleet.close();
  });

  it("gets its finalizer back when another writer removes it", async () => {
    const fleet = await detectorFleet();
    await createClusterPolicy(fleet, "p");
    await patch(
      fleet,
      clusterPropagationPolicies as never,
      { namespace: "", name: "p" },
      { metadata: { finalizers: null } },
    );
    await fleet.settle();
    const found = await fleet.plane.get(clusterPropagationPolicies, { namespace: "", name: "p" });
    expect(found.metadata.finalizers).toEqual(["karmada.io/cluster-propagation-policy-controller"]);
    await fleet.close();
  });

  it("that selects nothing gets one Event per generation, not at once, and another when edited in vain", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", { resourceSelectors: [{ ...DEPLOYMENTS, name: "none" }] });
    await createPolicy(fleet, "fine");
    await fleet.advance("5s");
    await fleet.plane.create(resources.deployments, deployment("web"));
    expect(await eventsAbout(fleet, "p")).toEqual([]);
    await fleet.advance("5s");
    const told =
      "NoResourceSelected: The policy selects no resource. It looks for Deployment (apps/v1)";
    expect(await eventsAbout(fleet, "p")).toEqual([told]);
    await patch(fleet, propagationPolicies as never, key("p"), {
      metadata: { labels: { a: "b" } },
    });
    await fleet.advance("10m");
    const { items } = await fleet.plane.list(resources.events);
    expect(items.map(({ reason, count }) => [reason, count])).toContainEqual([
      "NoResourceSelected",
      1,
    ]);
    expect(await eventsAbout(fleet, "fine")).toEqual([]);
    await patch(fleet, propagationPolicies as never, key("p"), {
      spec: { resourceSelectors: [{ apiVersion: "ex.io/v1", kind: "Gone" }] },
    });
    await fleet.advance("11s");
    expect(await eventsAbout(fleet, "p")).toEqual([
      told,
      "NoResourceSelected: The policy selects no resource. It looks for Gone (ex.io/v1), which is not served here",
    ]);
    await fleet.close();
  });
});

describe("a lazy policy", () => {
  const LAZY = { activationPreference: "Lazy" } as const;

  it("propagates a template that is newer than itself at once", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", LAZY);
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBe("p");
    await fleet.close();
  });

  it.each([false, true])(
    "waits for a change of the template that was there before (restart: %s)",
    async (restarts) => {
      const fleet = await detectorFleet();
      await fleet.plane.create(resources.deployments, deployment("web"));
      await createPolicy(fleet, "p", LAZY);
      await fleet.settle();
      const template = await getDeployment(fleet, "web");
      expect(claimerName(template)).toBe("p");
      await fleet.plane.update(
        resources.deployments,
        { ...template, status: { replicas: 1 } },
        { subresource: "status" },
      );
      if (restarts) await fleet.restart();
      await fleet.settle();
      expect(await bindingNamed(fleet, "web-deployment")).toBeUndefined();
      await patch(fleet, resources.deployments as never, key("web"), { spec: { replicas: 2 } });
      await fleet.settle();
      expect(await bindingNamed(fleet, "web-deployment")).toMatchObject({ spec: { replicas: 2 } });
      expect((await getDeployment(fleet, "web")).metadata.annotations).not.toHaveProperty([
        "lifeboat.dev/lazy-since",
      ]);
      await fleet.close();
    },
  );

  it("that is edited changes the binding with the template's next change, also across a restart", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", { ...LAZY, ...on("m1") });
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    await patch(fleet, propagationPolicies as never, key("p"), { spec: on("m2") });
    await fleet.settle();
    await fleet.restart();
    await fleet.settle();
    expect((await bindingNamed(fleet, "web-deployment"))?.spec).toMatchObject(on("m1"));
    await patch(fleet, resources.deployments as never, key("web"), {
      metadata: { annotations: { a: "b" } },
    });
    await fleet.settle();
    expect((await bindingNamed(fleet, "web-deployment"))?.spec).toMatchObject(on("m2"));
    await fleet.close();
  });

  it("that preempts claims the template and leaves the binding to the other until the template changes", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "old", on("m1"));
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    await createPolicy(fleet, "new", {
      ...WEB,
      ...LAZY,
      ...on("m2"),
      priority: 3,
      preemption: "Always",
    });
    await fleet.settle();
    expect(claimerName(await getDeployment(fleet, "web"))).toBe("new");
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBe("old");
    await fleet.plane.delete(propagationPolicies, key("old"));
    await fleet.settle();
    await expect(fleet.plane.get(propagationPolicies, key("old"))).rejects.toThrow("not found");
    expect(await bindingNamed(fleet, "web-deployment")).toMatchObject({ spec: on("m1") });
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBeUndefined();
    await patch(fleet, resources.deployments as never, key("web"), { spec: { replicas: 3 } });
    await fleet.settle();
    expect(await bindingNamed(fleet, "web-deployment")).toMatchObject({
      spec: { ...on("m2"), replicas: 3 },
    });
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBe("new");
    await fleet.close();
  });
});

describe("bindings that are not the template's", () => {
  it("of a kind with the same name in another group is never written, and its going frees the name", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", { resourceSelectors: [DEPLOYMENTS] });
    const foreign: New<ResourceBinding> = {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: { name: "web-deployment", namespace: "default" },
      spec: {
        resource: { apiVersion: "ex.io/v1", kind: "Deployment", namespace: "default", name: "web" },
        conflictResolution: "Abort",
      },
    };
    const before = await fleet.plane.create(resourceBindings, foreign);
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("1m");
    expect(await bindingNamed(fleet, "web-deployment")).toEqual(before);
    expect(await eventsAbout(fleet, "web")).toEqual([
      "ApplyPolicyFailed: Apply policy(default/p) failed: the binding web-deployment belongs to Deployment.ex.io/v1 web",
    ]);
    await fleet.plane.delete(resourceBindings, key("web-deployment"));
    await fleet.settle();
    expect((await bindingNamed(fleet, "web-deployment"))?.spec.resource.apiVersion).toBe("apps/v1");
    await fleet.close();
  });

  it("but a former template's, are waited for", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p");
    const first = await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    await fleet.plane.delete(resources.deployments, key("web"));
    const second = await fleet.plane.create(
      resources.deployments,
      deployment("web", { replicas: 7 }),
    );
    await fleet.advance("1m");
    const leaving = await bindingNamed(fleet, "web-deployment");
    expect(leaving?.spec.resource.uid).toBe(first.metadata.uid);
    expect(leaving?.metadata.deletionTimestamp).toBeDefined();
    await patch(fleet, resourceBindings as never, key("web-deployment"), {
      metadata: { finalizers: null },
    });
    await fleet.settle();
    const made = await bindingNamed(fleet, "web-deployment");
    expect(made?.spec).toMatchObject({ replicas: 7, resource: { uid: second.metadata.uid } });
    await fleet.close();
  });
});

describe("what a kind means", () => {
  it("is asked again when it changes, and a failing script is reported on the template", async () => {
    let replicas: number | undefined;
    let tell: ((apiVersion: string, kind: string) => void) | undefined;
    const fleet = await detectorFleet(
      {},
      {
        interpretation: () => ({
          ...builtinInterpretation,
          name: "interpretation",
          // A service that ends counts as broken, so this one goes on until it is stopped.
          run: (signal) =>
            new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
          replicas: () =>
            replicas === undefined
              ? Promise.reject(new InterpretationFailed("no answer"))
              : Promise.resolve({ replicas }),
          onChange: (handler) => {
            tell = handler;
            return () => {};
          },
        }),
      },
    );
    await createPolicy(fleet, "p", { resourceSelectors: [CONFIG_MAPS, DEPLOYMENTS] });
    await fleet.plane.create(resources.configMaps, configMap("c"));
    await fleet.settle();
    expect(await bindingNamed(fleet, "c-configmap")).toBeUndefined();
    expect(await eventsAbout(fleet, "c")).toEqual(["GetReplicasFailed: no answer"]);
    replicas = 3;
    await fleet.advance("1m");
    expect((await bindingNamed(fleet, "c-configmap"))?.spec.replicas).toBe(3);
    replicas = 4;
    tell?.("v1", "ConfigMap");
    await fleet.settle();
    expect((await bindingNamed(fleet, "c-configmap"))?.spec.replicas).toBe(4);
    await fleet.close();
  });
});
