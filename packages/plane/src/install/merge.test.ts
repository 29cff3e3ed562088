import type { AnyObject } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { differences, isNewer, mergedObject } from "./merge.ts";
import { aggregationProblem } from "./aggregation.ts";
import { installedObjects } from "./objects.ts";

const found = {
  apiVersion: "v1",
  kind: "X",
  metadata: {
    name: "a",
    uid: "u",
    resourceVersion: "7",
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels: { theirs: "1", ours: "old" },
  },
  rules: [1, 2],
  webhooks: [{ name: "w", clientConfig: { url: "https://a", caBundle: "Q0E=" } }],
} as unknown as AnyObject;

describe("what is there, brought in line", () => {
  const merged = mergedObject(found, {
    apiVersion: "v1",
    kind: "X",
    metadata: { name: "a", labels: { ours: "new" } },
    rules: [3],
    webhooks: [
      { name: "w", clientConfig: { url: "https://b" } },
      { name: "w2", clientConfig: { url: "https://b" } },
    ],
  });

  it("keeps labels of others, its identity, and the bundle, also for a webhook that is new", () => {
    expect(merged).toMatchObject({
      metadata: { uid: "u", resourceVersion: "7", labels: { theirs: "1", ours: "new" } },
      rules: [3],
      webhooks: [
        { clientConfig: { url: "https://b", caBundle: "Q0E=" } },
        { name: "w2", clientConfig: { caBundle: "Q0E=" } },
      ],
    });
  });

  it("differs in lines that a person can read", () => {
    expect(differences(found, merged)).toEqual([
      '-metadata.labels.ours: "old"',
      '+metadata.labels.ours: "new"',
      "-rules[0]: 1",
      "+rules[0]: 3",
      "-rules[1]: 2",
      '-webhooks[0].clientConfig.url: "https://a"',
      '+webhooks[0].clientConfig.url: "https://b"',
      '+webhooks[1]: {"name":"w2","clientConfig":{"url":"https://b","caBundle":"Q0E="}}',
    ]);
  });

  it("does not differ in what the server counts", () => {
    const later = {
      ...found,
      metadata: { ...found.metadata, resourceVersion: "8", generation: 2 },
    };
    expect(differences(found, later)).toEqual([]);
  });
});

it.each([
  ["0.2.0", "0.1.0", true],
  ["0.1.0", "0.2.0", false],
  ["0.10.0", "0.9.3", true],
  ["1.0.0", "1.0.0", false],
  ["1.0.0", "1.0.0-rc.1", true],
  ["1.0.0-rc.2", "1.0.0-rc.1", true],
  ["0.1.0", "", true],
  ["", "0.1.0", false],
])("version %s is newer than %s: %s", (one, other, expected) => {
  expect(isNewer(one, other)).toBe(expected);
});

describe("what is installed", () => {
  const objects = installedObjects({ version: "1.2.3+abc", webhook: {} });
  const kinds = objects.map(({ resource }) => resource.kind);

  it("begins with namespaces and kinds, and ends with what asks the webhook", () => {
    expect(kinds[0]).toBe("Namespace");
    expect(kinds.indexOf("ServiceAccount")).toBeGreaterThan(
      kinds.lastIndexOf("CustomResourceDefinition"),
    );
    expect(kinds.slice(-3)).toEqual([
      "MutatingWebhookConfiguration",
      "ValidatingWebhookConfiguration",
      "APIService",
    ]);
  });

  it("lets the API server reach the managers by a Service, wherever they are", () => {
    const url = "https://managers.example.com:8443";
    const found = (webhook: { url?: string }, kind: string) =>
      installedObjects({ version: "1", webhook }).find(({ resource }) => resource.kind === kind)
        ?.object["spec"];
    expect(found({ url }, "Service")).toEqual({
      type: "ExternalName",
      externalName: "managers.example.com",
    });
    const service = { namespace: "lifeboat-system", name: "lifeboat-webhook" };
    expect(found({ url }, "APIService")).toMatchObject({ service: { ...service, port: 8443 } });
    expect(found({}, "APIService")).toMatchObject({ service: { ...service, port: 443 } });
    const without = installedObjects({ version: "1", webhook: { url }, memberProxy: false });
    expect(without.some(({ resource }) => resource.kind.endsWith("Service"))).toBe(false);
    expect(aggregationProblem({ url })).toBeUndefined();
    expect(aggregationProblem({ url: "https://[::1]:8443" })).toContain("IPv6");
    expect(aggregationProblem({ url: "https://h/lifeboat" })).toContain("path");
  });

  it("keeps the bundle that the manager has written", () => {
    const [wanted] = objects.filter(({ resource }) => resource.kind === "APIService");
    const object = wanted?.object as AnyObject;
    const found = {
      ...object,
      spec: { ...(object["spec"] as object), caBundle: "B", version: "0" },
    };
    expect(mergedObject(found as unknown as AnyObject, object)["spec"]).toEqual({
      ...(object["spec"] as object),
      caBundle: "B",
    });
  });

  it("bears its version as a label may hold it", () => {
    for (const { object } of objects)
      expect(object.metadata.labels?.["app.kubernetes.io/version"]).toBe("1.2.3_abc");
  });

  it("gives no right to widen rights, and deletes only our own kinds, namespaces, Services, and Leases of its own namespace", () => {
    // What tenants may do in their namespaces is no right of ours.
    const isTenants = ({ labels = {} }: (typeof objects)[number]["object"]["metadata"]) =>
      Object.keys(labels).some((label) => label.includes("/aggregate-to-"));
    const roles = objects.filter(
      ({ resource, object }) => resource.kind.endsWith("Role") && !isTenants(object.metadata),
    );
    const rules = roles.flatMap(
      ({ object }) =>
        object["rules"] as readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[],
    );
    expect(rules.flatMap(({ verbs }) => verbs)).not.toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^(escalate|bind|impersonate|deletecollection|\*)$/),
      ]),
    );
    for (const { resource, object } of roles)
      for (const { apiGroups, resources, verbs } of object["rules"] as typeof rules)
        expect(
          !verbs.includes("delete") ||
            apiGroups.every((group) => /karmada\.io$|lifeboat\.dev$/.test(group)) ||
            (resource.kind === "Role" ? ["leases"] : ["namespaces", "services"]).includes(
              resources.join(),
            ),
        ).toBe(true);
  });

  it("asks the webhook about every kind of ours once per operation, and never about status or what a manager needs", () => {
    const configurations = objects.filter(({ resource }) =>
      resource.kind.endsWith("WebhookConfiguration"),
    );
    for (const { object } of configurations) {
      const webhooks = object["webhooks"] as readonly {
        name: string;
        failurePolicy: string;
        objectSelector?: unknown;
        matchConditions?: unknown;
        namespaceSelector?: unknown;
        rules: readonly { apiGroups: string[]; resources: string[]; operations: string[] }[];
      }[];
      const asked = webhooks
        // Of StatefulSets only those are asked about that bear an annotation of the federation; of agents, everything.
        .filter(({ name }) => !/^(restrict-agents|check-(federated|deletion))[.]/.test(name))
        .flatMap(({ rules }) =>
          rules.flatMap(({ apiGroups, resources, operations }) =>
            resources.map((resource) => `${operations.join()} ${resource}.${apiGroups.join()}`),
          ),
        );
      expect(new Set(asked).size).toBe(asked.length);
      expect(asked).toHaveLength(
        2 * kinds.filter((kind) => kind === "CustomResourceDefinition").length,
      );
      expect(asked.filter((one) => one.includes("/status") || one.endsWith("."))).toEqual([]);
      // The manager's own writes are never held up by persons' rules, and persons' writes always meet them.
      const account = objects.find(({ resource }) => resource.kind === "ServiceAccount")?.object;
      const { namespace = "", name = "" } = account?.metadata ?? {};
      const username = `system:serviceaccount:${namespace}:${name}`;
      for (const one of webhooks)
        if (one.name.includes("-records."))
          expect(one.matchConditions).toEqual([
            {
              name: "not-by-the-manager",
              expression: `request.userInfo.username != "${username}"`,
            },
          ]);
        else if (one.name.includes("-orders.")) expect(one.matchConditions).toBeUndefined();
      const every = webhooks.filter(({ rules }) =>
        rules.some(({ resources }) => resources.includes("*")),
      );
      for (const one of every)
        expect(one).toMatchObject({ objectSelector: {}, namespaceSelector: {} });
    }
  });
});
