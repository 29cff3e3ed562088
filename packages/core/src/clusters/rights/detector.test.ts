import { describe, expect, test } from "vitest";
import type { AgentWrite } from "./agent-admission.ts";
import { detectorRefusal, detectorRoleObjects, isDetectorsWrite } from "./detector.ts";
import { CLIENT_SIGNER, DETECTORS_GROUP, detectorUser } from "./identity.ts";

const user = { name: detectorUser("eu-1"), groups: [DETECTORS_GROUP, "system:authenticated"] };
const ready = { type: "Ready", status: "True" };
const dns = { type: "ServiceDomainNameResolutionReady", status: "False" };
const http = { type: "detector.lifeboat.dev/IngressReady", status: "False" };
const many = (n: number) =>
  Array.from({ length: n }, (_, i) => ({ ...http, type: `detector.lifeboat.dev/T${i}` }));
const cluster = (conditions: readonly object[], status: object = {}) => ({
  metadata: { name: "eu-1" },
  status: { remedyActions: ["TrafficControl"], conditions, ...status },
});

const status = (now: object, old: object, more: Partial<AgentWrite> = {}): AgentWrite => ({
  user,
  operation: "UPDATE",
  group: "cluster.karmada.io",
  plural: "clusters",
  subresource: "status",
  namespace: "",
  name: "eu-1",
  object: now,
  old,
  ...more,
});
const lease = (
  namespace: string,
  name: string,
  of = "eu-1",
  more: Partial<AgentWrite> = {},
): AgentWrite => ({
  user,
  operation: "CREATE",
  group: "coordination.k8s.io",
  plural: "leases",
  subresource: "",
  namespace,
  name,
  object: { metadata: { labels: { "lifeboat.dev/detector-of": of } } },
  ...more,
});

const request = (name: string, more: Partial<AgentWrite> = {}): AgentWrite => ({
  user,
  operation: "CREATE",
  group: "certificates.k8s.io",
  plural: "certificatesigningrequests",
  subresource: "",
  namespace: "",
  name,
  object: { spec: { signerName: CLIENT_SIGNER } },
  ...more,
});

describe("a detector", () => {
  test.each([
    ["reports its condition", status(cluster([ready, dns]), cluster([ready]))],
    [
      "changes its condition",
      status(cluster([ready, dns]), cluster([ready, { ...dns, status: "True" }])),
    ],
    ["reports a condition of its prefix", status(cluster([ready, http]), cluster([ready]))],
    ["reports two", status(cluster([ready, dns, http]), cluster([ready, dns]))],
    [
      "keeps more than it may add",
      status(cluster([...many(20), dns]), cluster([...many(20), { ...dns, status: "True" }])),
    ],
    ["withdraws it", status(cluster([ready]), cluster([ready, dns]))],
    ["writes its Lease", lease("karmada-es-eu-1", "detector-abc")],
    ["asks for its own certificate", request("detector-eu-1")],
    [
      "deletes its last request",
      request("detector-eu-1", { operation: "DELETE", object: undefined }),
    ],
    ["is elected", lease("karmada-es-eu-1", "detector-leader", "", { object: { metadata: {} } })],
  ])("%s", (_, write) => {
    expect(detectorRefusal(write)).toBeUndefined();
  });

  test.each([
    [
      "reports another condition",
      status(cluster([{ ...ready, status: "False" }]), cluster([ready])),
    ],
    [
      "adds another condition",
      status(cluster([ready, { type: "Fenced", status: "True" }]), cluster([ready])),
    ],
    ...[
      "Ready",
      "AgentSupported",
      "StaleCopiesRemoved",
      "Leaving",
      "IngressReady",
      "detector.lifeboat.dev/",
      "detector.lifeboat.dev/ready",
      "detector.lifeboat.dev/A/B",
      "detector.lifeboat.dev/A\nB",
      `detector.lifeboat.dev/A${"b".repeat(40)}`,
      "xdetector.lifeboat.dev/A",
      "Detector.lifeboat.dev/A",
      "",
    ].map((type): [string, AgentWrite] => [
      `adds the condition ${JSON.stringify(type)}`,
      status(cluster([ready, { type, status: "True" }]), cluster([ready])),
    ]),
    [
      "adds a condition without a type",
      status(cluster([ready, { status: "True" }]), cluster([ready])),
    ],
    ["removes another condition", status(cluster([dns]), cluster([ready, dns]))],
    ["reports very many conditions", status(cluster([ready, ...many(17)]), cluster([ready]))],
    [
      "writes the actions of Remedies",
      status(cluster([ready], { remedyActions: [] }), cluster([ready])),
    ],
    [
      "writes another part of the status",
      status(cluster([ready], { kubernetesVersion: "v9" }), cluster([ready])),
    ],
    ["writes the Cluster itself", status(cluster([ready]), cluster([ready]), { subresource: "" })],
    [
      "deletes its Cluster",
      status(cluster([ready]), cluster([ready]), { operation: "DELETE", subresource: "" }),
    ],
    ["reports on another cluster", status(cluster([dns]), cluster([]), { name: "eu-2" })],
    ["asks under the name of another detector", request("detector-eu-2")],
    ["asks under the name of the agent", request("agent-eu-1")],
    ["deletes the request of the agent", request("agent-eu-1", { operation: "DELETE" })],
    ["changes its request", request("detector-eu-1", { operation: "UPDATE" })],
    [
      "approves its request",
      request("detector-eu-1", { operation: "UPDATE", subresource: "approval" }),
    ],
    [
      "asks another signer",
      request("detector-eu-1", {
        object: { spec: { signerName: "kubernetes.io/kubelet-serving" } },
      }),
    ],
    ["writes a Lease of another cluster", lease("karmada-es-eu-2", "detector-abc")],
    ["writes the Lease of the agent", lease("karmada-cluster", "eu-1")],
    ["writes another Lease in its namespace", lease("karmada-es-eu-1", "other")],
    [
      "writes a Lease in the name of another cluster",
      lease("karmada-es-eu-1", "detector-x", "eu-2"),
    ],
    [
      "writes a Work",
      lease("karmada-es-eu-1", "detector-x", "eu-1", { group: "work.karmada.io", plural: "works" }),
    ],
    [
      "is of no cluster",
      {
        ...lease("karmada-es-", "detector-x"),
        user: { ...user, name: "system:lifeboat:detector:" },
      },
    ],
    [
      "lacks its group",
      { ...lease("karmada-es-eu-1", "detector-x"), user: { ...user, groups: [] } },
    ],
    [
      "has the group and another name",
      { ...lease("karmada-es-eu-1", "detector-x"), user: { ...user, name: "bob" } },
    ],
  ])("does not: %s", (_, write) => {
    expect(isDetectorsWrite(write)).toBe(true);
    expect(detectorRefusal(write)).toMatch(/.{10}/u);
  });

  test.each([undefined, null, 7, "x", [], { metadata: 7, status: [] }])(
    "may send %j, and nothing is thrown",
    (object) => {
      expect(() => detectorRefusal(status(object as object, object as object))).not.toThrow();
      expect(() =>
        detectorRefusal(lease("karmada-es-eu-1", "detector-x", "", { object })),
      ).not.toThrow();
    },
  );

  test("has rights on its own cluster alone, and no wildcard", () => {
    const text = JSON.stringify(detectorRoleObjects("eu-1"));
    expect(text).not.toContain('"*"');
    for (const role of detectorRoleObjects("eu-1"))
      for (const rule of (role["rules"] ?? []) as readonly {
        resources: string[];
        resourceNames?: string[];
        verbs: string[];
      }[]) {
        if (rule.resources.includes("leases")) continue;
        const isRequest = rule.resources.includes("certificatesigningrequests");
        // What RBAC cannot bind to a name, admission does.
        if (isRequest && rule.resourceNames === undefined) expect(rule.verbs).toEqual(["create"]);
        else expect(rule.resourceNames).toEqual([isRequest ? "detector-eu-1" : "eu-1"]);
      }
  });
});
