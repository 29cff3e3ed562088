/** Mode Directly and a Work that was sent before the eviction and arrives long after it (D10). */
import { type New, type Work, works } from "@lifeboat/api";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { NotSent, OutcomeUnknown } from "@lifeboat/kit";
import { type Fleet, resources, wrapped } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import {
  bindings,
  deployOn,
  DOWN,
  evacuationFleet,
  placed,
  setTaints,
  SINGLE,
} from "./evacuation.suite.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const FROM = executionNamespace("m1");
let isLetGo = false;

/** A fleet in which Works of Deployments for m1 get lost on the way; those that were sent. */
async function lossyFleet(): Promise<readonly New<Work>[]> {
  const sent: New<Work>[] = [];
  fleet = await evacuationFleet({
    members: ["m1", "m2"],
    through: (context) => ({
      ...context,
      plane: {
        ...wrapped(context.plane),
        // No controller clears the late Work away before it could be carried out.
        delete: (resource, key, options) =>
          key.namespace === FROM && !isLetGo
            ? Promise.reject(new NotSent("the network is down"))
            : context.plane.delete(resource, key, options),
        create: (resource, object, options) => {
          const { kind } = (object as unknown as New<Work>).spec?.workload?.manifests?.[0] ?? {};
          if (object.metadata.namespace !== FROM || kind !== "Deployment")
            return context.plane.create(resource, object, options);
          sent.push(object as unknown as New<Work>);
          return Promise.reject(new OutcomeUnknown("the answer was lost"));
        },
      },
    }),
  });
  return sent;
}

it("never carries out a Work that arrives after its workload has moved on", async () => {
  const sent = await lossyFleet();
  await deployOn(fleet, "web", 1, "m1", SINGLE, {
    failover: { cluster: { purgeMode: "Directly" } },
  });
  const made: string[] = [];
  fleet.member("m1").client.watch(
    resources.deployments,
    {},
    {
      event: (event) => made.push(event.type),
      end: () => undefined,
    },
  );
  await setTaints(fleet, "m1", DOWN);
  await fleet.advance("30s");
  const [late] = sent;
  if (late === undefined) throw new Error("no Work was sent");
  expect((await bindings(fleet)).map(placed)).toEqual([["m2"]]);
  expect((await fleet.member("m2").client.list(resources.deployments)).items).toHaveLength(1);

  await fleet.plane.create(works, late);
  await fleet.advance("3m");
  isLetGo = true;
  await fleet.advance("3m");
  expect(made).toEqual([]);
  const left = (await fleet.plane.list(works)).items.filter(
    ({ metadata }) => metadata.name === late.metadata.name,
  );
  expect(left.map(({ metadata }) => metadata.namespace)).toEqual([executionNamespace("m2")]);
});
