/**
 * Whatever happens to Works, members, the network and the control plane: once the trouble is over, members hold what the
 * Works ask for, the Works report it, what was deleted is gone, and then nothing is written any more.
 */
import {
  type AnyObject,
  findCondition,
  isRefused,
  type JsonObject,
  type New,
  type ObjectKey,
  type Resource,
  works,
} from "@lifeboat/api";
import fc from "fast-check";
import { expect } from "vitest";
import { createFleet, type Fleet } from "../../../../../testkit/src/fleet.ts";
import type { LinkFault } from "../../../../../testkit/src/link.ts";
import { configMap, deployment, namespace, resources } from "../../../../../testkit/src/objects.ts";
import { createExecution } from "../../propagation/execution/create-execution.ts";
import { ES, marked, nameOf, workOf, writesDuring } from "./execution.suite.ts";

const SUBJECTS = ["c1", "c2", "d1"] as const;
type Subject = (typeof SUBJECTS)[number];

function resourceOf(subject: Subject): Resource {
  return subject === "d1" ? resources.deployments : resources.configMaps;
}

function manifestOf(subject: Subject, value: number): New<AnyObject> {
  return marked(
    subject === "d1"
      ? deployment("d1", { replicas: value })
      : configMap(subject, { value: String(value) }),
  );
}

function keyOf(subject: Subject): ObjectKey {
  return { namespace: ES, name: nameOf(manifestOf(subject, 0)) };
}

const drifts: readonly JsonObject[] = [
  { data: { value: "drift" }, spec: { replicas: 9 } },
  { metadata: { labels: { theirs: "1" } } },
  { metadata: { annotations: { "work.karmada.io/conflict-resolution": "other" } } },
];
const faults: readonly (LinkFault | undefined)[] = [
  { kind: "down" },
  { kind: "partition" },
  { kind: "errors" },
  { kind: "slow", delayMs: 700 },
  undefined,
];

type Step =
  | { readonly kind: "put"; readonly subject: Subject; readonly value: number }
  | { readonly kind: "suspend"; readonly subject: Subject; readonly suspended: boolean }
  | { readonly kind: "delete"; readonly subject: Subject }
  | { readonly kind: "drift"; readonly subject: Subject; readonly drift: JsonObject }
  | { readonly kind: "vanish"; readonly subject: Subject }
  | { readonly kind: "fault"; readonly fault: LinkFault | undefined }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "restart" };

const subject = fc.constantFrom(...SUBJECTS);
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("put" as const),
      subject,
      value: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({ kind: fc.constant("suspend" as const), subject, suspended: fc.boolean() }),
    fc.record({ kind: fc.constant("delete" as const), subject }),
    fc.record({
      kind: fc.constant("drift" as const),
      subject,
      drift: fc.constantFrom(...drifts),
    }),
    fc.record({ kind: fc.constant("vanish" as const), subject }),
    fc.record({ kind: fc.constant("fault" as const), fault: fc.constantFrom(...faults) }),
    fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(0, 1, 300, 5000, 60_000) }),
    fc.constant({ kind: "restart" as const }),
  ),
  { minLength: 3, maxLength: 14 },
);

/** What is not there any more, or is about to go, takes no more changes. */
async function ignoringRefusals(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isRefused(error, "NotFound") && !isRefused(error, "AlreadyExists")) throw error;
  }
}

async function put(fleet: Fleet, which: Subject, value: number): Promise<void> {
  const manifest = manifestOf(which, value);
  const body = { spec: { workload: { manifests: [manifest] } } } as unknown as JsonObject;
  try {
    await fleet.plane.create(works, workOf(manifest));
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
    await fleet.plane.patch(works, keyOf(which), { type: "merge", body });
  }
}

async function take(fleet: Fleet, step: Step): Promise<void> {
  const { client, link } = fleet.member("m1");
  switch (step.kind) {
    case "put":
      return put(fleet, step.subject, step.value);
    case "suspend": {
      const body = { spec: { suspendDispatching: step.suspended } };
      return ignoringRefusals(
        fleet.plane.patch(works, keyOf(step.subject), { type: "merge", body }),
      );
    }
    case "delete":
      return ignoringRefusals(fleet.plane.delete(works, keyOf(step.subject)));
    case "drift": {
      const key = { namespace: "default", name: step.subject };
      const { data, spec, ...rest } = step.drift;
      const isData = step.subject !== "d1";
      const body = {
        ...rest,
        ...(isData && data !== undefined && { data }),
        ...(!isData && spec !== undefined && { spec }),
      };
      const patch = { type: "merge", body } as const;
      return ignoringRefusals(client.patch(resourceOf(step.subject), key, patch));
    }
    case "vanish": {
      const key = { namespace: "default", name: step.subject };
      return ignoringRefusals(client.delete(resourceOf(step.subject), key));
    }
    case "fault":
      return link.setFault(step.fault);
    case "pass":
      return fleet.advance(step.ms);
    case "restart":
      return fleet.restart();
  }
}

async function expectConverged(fleet: Fleet): Promise<void> {
  const { items } = await fleet.plane.list(works, { namespace: ES });
  for (const which of SUBJECTS) {
    const work = items.find(({ metadata }) => metadata.name === keyOf(which).name);
    const objects = await fleet.member("m1").client.list(resourceOf(which), {});
    const object = objects.items.find(({ metadata }) => metadata.name === which);
    if (work === undefined) {
      expect(object).toBeUndefined();
      continue;
    }
    expect(work.metadata.deletionTimestamp).toBeUndefined();
    const [manifest] = work.spec.workload?.manifests ?? [];
    expect(object).toMatchObject(manifest ?? {});
    for (const type of ["Applied", "StatusObserved"])
      expect(findCondition(work.status?.conditions, type)).toMatchObject({
        status: "True",
        observedGeneration: work.metadata.generation,
      });
    expect(work.status?.manifestStatuses).toMatchObject([{ health: "Healthy" }]);
  }
}

/** Runs this many histories. */
export async function checkHistories(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(1000), async (history, seed) => {
      const fleet = await createFleet({ seed, members: ["m1"], services: createExecution });
      await fleet.plane.create(resources.namespaces, namespace(ES));
      for (const step of history) await take(fleet, step);
      fleet.member("m1").link.setFault(undefined);
      for (const which of SUBJECTS)
        await take(fleet, { kind: "suspend", subject: which, suspended: false });
      await fleet.advance("5m");
      await expectConverged(fleet);
      expect(await writesDuring(fleet, () => fleet.advance("5m"))).toBe(0);
      await fleet.close();
    }),
    { numRuns },
  );
}
