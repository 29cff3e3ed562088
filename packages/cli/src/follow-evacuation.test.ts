/** Following a drain, with the control plane's own controllers on a virtual clock. */
import { DRAIN } from "@lifeboat/core/operating";
import { type PropagationPolicy, type New, propagationPolicies } from "@lifeboat/api";
import { createControllers, DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { createFleet, deployment, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { changeTaints } from "./change-cluster.ts";
import { setPaused } from "./change-evacuation.ts";
import { evacuationFor, type Followed, followDrain } from "./follow-evacuation.ts";
import { type Taint, withTaint } from "./taints.ts";

let fleet: Fleet;
let text: string;
let stop: AbortController;

beforeEach(async () => {
  text = "";
  stop = new AbortController();
  fleet = await createFleet({
    members: ["m1", "m2"],
    services: (context) => createControllers(context, DEFAULT_CONTROLLERS),
  });
  await fleet.advance("15s");
});
afterEach(() => fleet.close());

/** A Deployment that runs on m1 and may run where it is said. */
async function deploy(name: string, clusterNames: readonly string[]): Promise<void> {
  const policy = (names: readonly string[]): New<PropagationPolicy> => ({
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name }],
      placement: {
        clusterAffinity: { clusterNames: names },
        spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Aggregated",
        },
      },
    },
  });
  await fleet.plane.create(resources.deployments, deployment(name));
  const written = await fleet.plane.create(propagationPolicies, policy(["m1"]));
  await fleet.advance("20s");
  const { spec } = policy(clusterNames);
  const key = { namespace: "default", name };
  const found = await fleet.plane.get(propagationPolicies, key);
  await fleet.plane.update(propagationPolicies, { ...found, spec: { ...written.spec, ...spec } });
  await fleet.advance("5s");
}

async function order(): Promise<Taint> {
  const { cluster } = await changeTaints(fleet.plane, "m1", (taints) =>
    withTaint(taints, DRAIN, true),
  );
  return (cluster.spec.taints ?? []).find(({ key }) => key === DRAIN.key) ?? DRAIN;
}

function follow(taint: Taint, isTerminal = false): Promise<Followed> {
  const screen = { isTerminal, write: (more: string): void => void (text += more) };
  const { clock, plane } = fleet;
  return followDrain({ clock, plane, screen }, "m1", taint, stop.signal);
}

it("ends when everything has moved, having said how far it was", async () => {
  await deploy("free", ["m1", "m2"]);
  const following = follow(await order());
  await fleet.advance("60s");
  expect((await following).end).toBe("completed");
  const lines = text.trim().split("\n");
  expect(lines.at(-1)).toBe("[####################] Completed: 1/1 moved");
  expect(new Set(lines).size).toBe(lines.length);
});

it("names what is held once, and what a pause means; ends when the order is taken back", async () => {
  await deploy("bound", ["m1"]);
  const taint = await order();
  const following = follow(taint);
  await fleet.advance("30s");
  expect(text.match(/default\/bound-deployment is held, NoTarget: /g)).toHaveLength(1);
  const waits = "only what is held is left: this waits until it can move.";
  expect(text.split(waits)).toHaveLength(2);
  expect(text.replace(/\n +/g, " ")).toContain("`lifeboat evacuations abandon m1-1 KIND/NAME`");
  expect(text).not.toContain("Closing this terminal");
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const evacuation = await evacuationFor(fleet.plane, "m1", taint);
  const name = evacuation?.metadata.name ?? "";
  expect(await setPaused(fleet.plane, name, true)).toBe(true);
  expect(await setPaused(fleet.plane, name, true)).toBe(false);
  await fleet.advance("10s");
  expect(text).toContain("Paused, PausedByPerson: A person paused this evacuation.");
  await changeTaints(fleet.plane, "m1", (taints) => taints.filter(({ key }) => key !== DRAIN.key));
  await fleet.advance("10s");
  expect((await following).end).toBe("takenBack");
});

it("draws one line anew on a terminal, and stops when it is told to", async () => {
  await deploy("bound", ["m1"]);
  const following = follow(await order(), true);
  await fleet.advance("30s");
  stop.abort();
  await fleet.advance("1s");
  expect(await following).toMatchObject({
    end: "stopped",
    evacuation: { spec: { cluster: "m1" } },
  });
  expect(text).toContain("\r\u001b[2K[....................] ");
  const [first = ""] = text.replace("\r\u001b[2K", "").split("\n");
  expect(first).toBe(
    "Ctrl-C pauses the drain. Closing this terminal does not: it goes on without you.",
  );
  expect(first.length).toBeLessThanOrEqual(80);
  expect(text.endsWith("\n")).toBe(true);
});

it("says so when no controller takes the order up", async () => {
  const following = follow({ ...DRAIN, timeAdded: "2020-01-01T00:00:00Z" });
  await fleet.advance("10s");
  stop.abort();
  await fleet.advance("1s");
  expect(await following).toEqual({ end: "stopped", evacuation: undefined });
  expect(text.match(/no controller has taken it up/g)).toHaveLength(1);
});
