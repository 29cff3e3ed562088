/** What random people do with federated StatefulSets, and what goes wrong with the DNS server. */
import fc from "fast-check";
import { type Fault, NAME_SERVER, type Scenario, type Step } from "../scenario/scenario.ts";
import { ofLinks } from "./arbitrary-faults.ts";
import type { Size } from "./arbitrary-scenario.ts";
import { someOf, time } from "./arbitrary-steps.ts";

const SETS = ["f0", "f1"];
/** With the name of any member it is too long. */
const TOO_LONG = `f${"0".repeat(50)}`;

const set = fc.constantFrom(...SETS);
const replicas = fc.integer({ min: 0, max: 7 });

/** Federated StatefulSets and a DNS server besides what else happens in a world. */
export function withFederated(worlds: fc.Arbitrary<Scenario>, size: Size): fc.Arbitrary<Scenario> {
  return fc
    .record({
      world: worlds,
      first: fc.tuple(...SETS.map((name) => arbitrarySet(name, size))),
      later: someOf(arbitraryKinds(size)).chain((chosen) =>
        fc.array(fc.oneof(...chosen), { maxLength: size.steps }),
      ),
      trouble: fc.array(fc.oneof(...troubles), { maxLength: 2 }),
    })
    .map(({ world, first, later, trouble }) => ({
      ...world,
      names: true,
      steps: [...world.steps, ...first.flat(), ...later].toSorted((a, b) => a.at - b.at),
      faults: [...world.faults, ...trouble],
    }));
}

const troubles: readonly fc.Arbitrary<Fault>[] = ofLinks([NAME_SERVER], []);

function policyOf(name: string, clusters?: readonly string[]): Step {
  return {
    at: 0,
    do: "policy",
    name: `p-${name}`,
    selects: [{ kind: "StatefulSet", name }],
    ...(clusters !== undefined && { clusters }),
  };
}

function arbitrarySet(name: string, { members }: Size): fc.Arbitrary<readonly Step[]> {
  return fc
    .record({
      set: fc.record(
        {
          at: fc.integer({ min: 0, max: 10 }),
          do: fc.constant("federated" as const),
          name: fc.constant(name),
          replicas,
          quorum: fc.constant(true),
          global: fc.boolean(),
        },
        { requiredKeys: ["at", "do", "name", "replicas"] },
      ),
      clusters: fc.option(someOf(members), { nil: undefined }),
    })
    .map((given) => [given.set, policyOf(name, given.clusters)]);
}

function arbitraryKinds({ members }: Size): readonly fc.Arbitrary<Step>[] {
  const member = fc.constantFrom(...members);
  const federated = fc.constant("federated" as const);
  return [
    fc.record({ at: time, do: federated, name: set, replicas }),
    fc.record(
      { at: time, do: federated, name: set, replicas, quorum: fc.boolean(), global: fc.boolean() },
      { requiredKeys: ["at", "do", "name", "replicas"] },
    ),
    // What is refused once a set is placed, and what always is.
    fc.record({
      at: time,
      do: federated,
      name: fc.constantFrom(...SETS, TOO_LONG),
      replicas,
      optIn: fc.constantFrom("true", "false", "maybe"),
    }),
    fc.record({ at: time, do: fc.constant("forget" as const), set, member }),
    fc.record({ at: time, do: fc.constant("let-go" as const), set }),
    fc.record({ at: time, do: fc.constantFrom("join" as const, "unjoin" as const), member }),
    fc.record({
      at: time,
      do: fc.constant("unjoin" as const),
      member,
      force: fc.constant(true),
    }),
    fc
      .record({ at: time, name: set, clusters: someOf(members) })
      .map(({ at, name, clusters }) => ({ ...policyOf(name, clusters), at })),
    fc
      .record({ at: time, name: set })
      .map((step) => ({ ...step, do: "delete", what: "StatefulSet" })),
    fc
      .record({ at: time, name: set, clusters: someOf(members) })
      .map((step) => ({ ...step, do: "place-by-hand", kind: "StatefulSet" })),
  ];
}
