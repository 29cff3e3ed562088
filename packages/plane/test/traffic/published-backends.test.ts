/**
 * A tenant that may write ingresses writes no addresses for load balancers: against the embedded server, with all production
 * controllers. The same rules behind the webhook: `packages/plane/src/webhook/review.test.ts`.
 */
import {
  isRefused,
  type KubeObject,
  type MultiClusterIngress,
  multiClusterIngresses,
  type Resource,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { publishedBackends } from "@lifeboat/core/traffic";
import type { Client } from "@lifeboat/kit";
import { type Fleet, refusalOf } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failoverFleet } from "../failover/failover.suite.ts";
import { ingress, KEY, startApplication, startProvider } from "./traffic.suite.ts";

const roleBindings: Resource = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural: "rolebindings",
  kind: "RoleBinding",
  namespaced: true,
};
const EVIL = JSON.stringify({
  generation: 9_000_000_000,
  services: {
    web: {
      ports: [{ name: "http", port: 80 }],
      clusters: { m1: { addresses: ["203.0.113.66"], state: "serving", weight: 1 } },
      bindings: [],
    },
  },
});

let fleet: Fleet;
let tenant: Client;
const stops: AbortController[] = [];

beforeEach(async () => {
  const opened = await failoverFleet(["m1", "m2", "m3"]);
  fleet = opened.fleet;
  await fleet.plane.create(roleBindings, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "jane", namespace: "default" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  tenant = fleet.server.client({ name: "jane", groups: ["system:authenticated"] });
  await startApplication(fleet, opened.hands);
  await fleet.advance("2s");
});
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort();
  await fleet.close();
});

const stored = (key = KEY): Promise<MultiClusterIngress> =>
  fleet.plane.get(multiClusterIngresses, key);
const annotationOf = ({ metadata }: KubeObject): string | undefined =>
  metadata.annotations?.[wellKnown.BACKENDS];
const merge = (annotations: Readonly<Record<string, string | null>>) =>
  ({ type: "merge", body: { metadata: { annotations } } }) as const;
const withAnnotations = (
  object: MultiClusterIngress,
  annotations: Readonly<Record<string, string>>,
): MultiClusterIngress => ({ ...object, metadata: { ...object.metadata, annotations } });

it("a forged address is refused, by patch and by update, and no load balancer gets it", async () => {
  const provider = await startProvider(fleet, stops);
  const real = await stored();
  const backends = annotationOf(real);
  expect(publishedBackends(real).generation).toBeGreaterThan(0);
  const forged = { [wellKnown.BACKENDS]: EVIL };
  const attempts = [
    () => tenant.patch(multiClusterIngresses, KEY, merge(forged)),
    () => tenant.update(multiClusterIngresses, withAnnotations(real, forged)),
  ];
  for (const attempt of attempts)
    expect(await refusalOf(attempt())).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message: expect.stringContaining("only the control plane writes"),
    });
  await fleet.advance("2s");
  expect(annotationOf(await stored())).toBe(backends);
  expect(JSON.stringify(provider.tables)).not.toContain("203.0.113.66");
});

it("a tenant changes all else of an ingress, and what it leaves out stays", async () => {
  const backends = annotationOf(await stored());
  // `kubectl apply` and `edit` send a patch of what they change; others send the whole object.
  await tenant.patch(multiClusterIngresses, KEY, merge({ note: "a" }));
  const read = await tenant.get(multiClusterIngresses, KEY);
  const { annotations = {} } = read.metadata;
  await tenant.update(multiClusterIngresses, withAnnotations(read, { ...annotations, note: "b" }));
  expect((await stored()).metadata.annotations).toMatchObject({
    note: "b",
    [wellKnown.BACKENDS]: backends,
  });
  // As `kubectl replace` of a manifest, and a patch that takes the annotation away.
  const { resourceVersion } = (await stored()).metadata;
  const manifest = { ...ingress, metadata: { ...ingress.metadata, resourceVersion } };
  await tenant.update(multiClusterIngresses, manifest as MultiClusterIngress);
  expect((await stored()).metadata.annotations).toEqual({ [wellKnown.BACKENDS]: backends });
  await tenant.patch(multiClusterIngresses, KEY, merge({ [wellKnown.BACKENDS]: null }));
  expect(annotationOf(await stored())).toBe(backends);
});

it("what a tenant read before the backends changed is a conflict, not a forgery", async () => {
  const read = await tenant.get(multiClusterIngresses, KEY);
  await fleet.plane.patch(multiClusterIngresses, KEY, merge({ [wellKnown.BACKENDS]: EVIL }));
  const attempt = tenant.update(multiClusterIngresses, read).catch((error: unknown) => error);
  expect(isRefused(await attempt, "Conflict")).toBe(true);
});

it("on a new ingress of a tenant the addresses are the control plane's own", async () => {
  const name = "copied";
  const metadata = { ...ingress.metadata, name, annotations: { [wellKnown.BACKENDS]: EVIL } };
  const created = await tenant.create(multiClusterIngresses, { ...ingress, metadata });
  expect(annotationOf(created)).toBeUndefined();
  await fleet.advance("2s");
  const found = annotationOf(await stored({ namespace: "default", name }));
  expect(found).toBeDefined();
  expect(found).not.toContain("203.0.113.66");
});
