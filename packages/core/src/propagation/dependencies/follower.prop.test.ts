import type { ResourceBinding } from "@lifeboat/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bindingNamed, configMapObject, recording, workloadBinding } from "./binding.suite.ts";
import { decideFollower } from "./follower.ts";

const object = configMapObject("c");
const web = workloadBinding("web", {}, { annotations: recording("c") });
const [made] = decideFollower({ object, referrers: [web] }).commands;
const attached = bindingNamed("c-configmap", made?.binding ?? web);

describe("the binding of an object that workloads need", () => {
  it("is the same for workloads in any order, and settles in one step", () => {
    const clusters = fc.uniqueArray(fc.constantFrom("m1", "m2", "m3"));
    const referrer = fc
      .record({
        name: fc.constantFrom("a", "b", "c", "d"),
        clusters,
        overwrite: fc.boolean(),
        record: fc.constantFrom<string | undefined>("c", "d", undefined),
      })
      .map(({ name, clusters: names, overwrite, record }) =>
        workloadBinding(
          name,
          {
            clusters: names.map((cluster) => ({ name: cluster })),
            conflictResolution: overwrite ? "Overwrite" : "Abort",
          },
          record === undefined ? {} : { annotations: recording(record) },
        ),
      );
    const several = fc.uniqueArray(referrer, { selector: ({ metadata }) => metadata.name });
    fc.assert(
      fc.property(several, fc.boolean(), (referrers, isAttached) => {
        const before = isAttached ? attached : undefined;
        const plan = decideFollower({ object, attached: before, referrers });
        const reversed = referrers.toReversed();
        expect(decideFollower({ object, attached: before, referrers: reversed })).toEqual(plan);
        const [command] = plan.commands;
        if (command === undefined) return;
        const binding = {
          ...attached,
          ...command.binding,
          metadata: { ...attached.metadata, ...command.binding.metadata },
        };
        const settled = decideFollower({ object, attached: binding as ResourceBinding, referrers });
        expect(settled.commands).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
