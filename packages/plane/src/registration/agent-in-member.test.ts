/** Installing and removing an agent leaves nothing behind that stops the cluster from registering again. */
import {
  clusterRoleBindings,
  clusterRoles,
  deployments,
  namespaces,
  type Resource,
  serviceAccounts,
} from "@lifeboat/api";
import { memoryKey } from "@lifeboat/controllers/member-side";
import { createWorld, resources, type World, wrapped } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  installAgent,
  installedCluster,
  installedKubeconfig,
  removeAgent,
} from "./agent-in-member.ts";
import { AGENT_NAMESPACE, type AgentManifest } from "./agent-manifest.ts";
import { findObject } from "./ensure.ts";

const AGENT: AgentManifest = {
  cluster: "m1",
  image: "lifeboat:test",
  namespace: AGENT_NAMESPACE,
  kubeconfig: "apiVersion: v1",
  replicas: 2,
};
const MEMORY = memoryKey("m1", AGENT_NAMESPACE);

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const find = (resource: Resource, key: Readonly<Record<"namespace" | "name", string>>) =>
  findObject(world.client, resource, key);

/** What a running agent keeps: the uid of the Cluster that it made. */
function remember(): Promise<unknown> {
  return world.client.create(resources.configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: MEMORY,
    data: { uid: "of-a-cluster-that-left" },
  });
}

it("is found again, with its kubeconfig, and installed twice it is one", async () => {
  await installAgent(world.client, AGENT);
  await installAgent(world.client, AGENT);
  expect(await installedCluster(world.client)).toBe("m1");
  expect(await installedKubeconfig(world.client, "m1")).toBe("apiVersion: v1");
});

it("when installed again forgets the Cluster of the registration before", async () => {
  await installAgent(world.client, AGENT);
  await remember();
  await installAgent(world.client, AGENT);
  expect(await find(resources.configMaps, MEMORY)).toBeUndefined();
});

it("leaves nothing when it is removed, not even its memory", async () => {
  await installAgent(world.client, AGENT);
  await remember();
  expect(await removeAgent(world.client, "m1")).toEqual([]);
  expect(await find(resources.configMaps, MEMORY)).toBeUndefined();
  const space = await find(namespaces, { namespace: "", name: AGENT_NAMESPACE });
  expect(space === undefined || space.metadata.deletionTimestamp !== undefined).toBe(true);
});

it("in a namespace of its own is found and removed, also after a removal that died", async () => {
  const agent = { ...AGENT, namespace: "edge", kubeconfig: "apiVersion: v1 # edge" };
  await installAgent(world.client, agent);
  expect(await installedKubeconfig(world.client, "m1")).toBe("apiVersion: v1 # edge");
  const named = { namespace: "edge", name: "lifeboat-agent" };
  const secret = { namespace: "edge", name: "lifeboat-agent-kubeconfig" };
  const died = wrapped(world.client, {
    delete: (resource, key, options) =>
      resource.kind === "Secret"
        ? Promise.reject(new Error("died"))
        : world.client.delete(resource, key, options),
  });
  await expect(removeAgent(died, "m1")).rejects.toThrow("died");
  expect(await find(deployments, named)).toBeUndefined();
  expect(await find(resources.secrets, secret)).toBeDefined();
  expect(await removeAgent(world.client, "m1")).toEqual([]);
  for (const resource of [deployments, serviceAccounts])
    expect(await find(resource, named)).toBeUndefined();
  expect(await find(resources.secrets, secret)).toBeUndefined();
  for (const resource of [clusterRoles, clusterRoleBindings])
    expect(await find(resource, { namespace: "", name: "lifeboat-agent" })).toBeUndefined();
});

it("of another cluster is neither replaced nor removed", async () => {
  await installAgent(world.client, AGENT);
  await expect(installAgent(world.client, { ...AGENT, cluster: "m2" })).rejects.toThrow(
    "runs the agent of cluster m1 already",
  );
  expect(await removeAgent(world.client, "m2")).toEqual([
    "the agent in namespace karmada-system, which is that of cluster m1",
  ]);
  expect(await installedCluster(world.client)).toBe("m1");
});
