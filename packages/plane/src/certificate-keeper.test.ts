/**
 * The certificates of the control plane itself: one that nears its end is reported once a stage, as the controllers' user, and its
 * end is in a metric.
 */
import {
  type AnyObject,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  isRefused,
  namespaces,
} from "@lifeboat/api";
import { addMs, createSeededIds, formatTime, type Instant } from "@lifeboat/base";
import { createPromMetrics } from "@lifeboat/kit/adapters";
import { createManager, silentLog } from "@lifeboat/kit";
import { createWorld, newNamespace, resources, type World } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createCertificateKeeper, type PlaneMaterial } from "./certificate-keeper.ts";
import { CONTROLLER_RULES, CONTROLLERS_USER } from "./plane-rights.ts";

const MINUTE = 60_000;
const INFO = { namespace: "kube-public", name: "cluster-info" };

let world: World;
let material: PlaneMaterial;
let metrics: ReturnType<typeof createPromMetrics>;
let stop: AbortController;

beforeEach(async () => {
  world = await createWorld({ authorizer: "RBAC" });
  const role = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "controllers" };
  const apiVersion = "rbac.authorization.k8s.io/v1";
  await world.client.create(clusterRoles, {
    apiVersion,
    kind: "ClusterRole",
    metadata: { name: role.name },
    rules: CONTROLLER_RULES,
  });
  await world.client.create(clusterRoleBindings, {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata: { name: role.name },
    roleRef: role,
    subjects: [{ apiGroup: role.apiGroup, kind: "User", name: CONTROLLERS_USER.name }],
  });
  await world.client.create(namespaces, newNamespace("kube-public")).catch((error: unknown) => {
    if (!isRefused(error, "AlreadyExists")) throw error;
  });
  metrics = createPromMetrics();
  stop = new AbortController();
  material = { server: "https://x", bundle: "ca", certificates: [] };
});
afterEach(async () => {
  stop.abort();
  await world.close();
});

function run(): void {
  const ports = {
    clock: world.clock,
    random: world.random,
    ids: createSeededIds(world.random.fork("ids")),
    log: silentLog,
    metrics,
    refresh: () => Promise.resolve(material),
  };
  const services = createCertificateKeeper(ports, world.as(CONTROLLERS_USER), "test");
  void createManager(ports, services).run(stop.signal);
}

async function eventsOf(): Promise<readonly string[]> {
  const { items } = await world.client.list<AnyObject>(resources.events);
  return items.map(
    (event) => `${String(event["count"])} ${String(event["reason"])}: ${String(event["message"])}`,
  );
}

function withEnd(notAfter: Instant): PlaneMaterial {
  const server = { name: "server", remedy: "restart it", notBefore: world.clock.now(), notAfter };
  return { ...material, certificates: [server] };
}

it("reports each stage of a certificate that is not renewed once, and shows its end in a metric", async () => {
  const end = addMs(world.clock.now(), 100 * MINUTE);
  material = withEnd(end);
  run();
  await world.advance("69m");
  expect(await eventsOf()).toEqual([]);
  expect(await metrics.expose()).toContain(
    `lifeboat_certificate_expiration_timestamp_seconds{certificate="server"} ${end / 1000}`,
  );
  const ending = `CertificateEnding: the certificate server ends ${formatTime(end)}: restart it`;
  await world.advance("20m");
  expect(await eventsOf()).toEqual([`1 ${ending}`]);
  // In its last tenth it is reported once more.
  await world.advance("10m");
  expect(await eventsOf()).toEqual([`2 ${ending}`]);
  await world.advance("10m");
  const ended = `CertificateEnded: the certificate server ended ${formatTime(end)}: restart it`;
  expect(await eventsOf()).toEqual([`1 ${ended}`, `2 ${ending}`]);
});

it("keeps the address and the authorities in cluster-info, and the signatures that stand beside them", async () => {
  run();
  await world.advance("10s");
  const body = { data: { "jws-kubeconfig-abcdef": "signed" } };
  await world.client.patch(configMaps, INFO, { type: "merge", body });
  material = { ...material, server: "https://y" };
  await world.advance("10s");
  const data = (await world.client.get(configMaps, INFO))["data"];
  expect(data).toMatchObject({
    kubeconfig: expect.stringContaining("server: https://y") as string,
    "jws-kubeconfig-abcdef": "signed",
  });
});
