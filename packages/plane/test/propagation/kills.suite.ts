/**
 * The control plane dies at any moment of a propagation and starts again: the end state is the same. Members are slow here,
 * so that there are moments in the middle.
 */
import { type AnyObject, overridePolicies, works } from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import type { Fleet } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kinds, MEMBERS, named, openFleet, Shop } from "./propagation.suite.ts";

let fleet: Fleet;
const LONGEST_MS = 1500;

/** Declares the test: so many lives, with deaths at moments that the seed chooses. */
export function livesAndDies(rounds: number, seed: number): void {
  beforeAll(async () => {
    fleet = await openFleet();
    for (const [i, member] of MEMBERS.entries())
      fleet.member(member).link.setFault({ kind: "slow", delayMs: 60 + 20 * i });
    await fleet.advance("15s");
  });
  afterAll(() => fleet.close());

  it("ends in the same state wherever it dies", async () => {
    const undisturbed = await Shop.open(fleet, "life-0");
    await live(undisturbed, () => fleet.advance(LONGEST_MS));
    const expected = await endOf(undisturbed);
    expect(expected).toMatchObject({ bindings: [true, false], status: { readyReplicas: 6 } });
    const random = createRandom(seed);
    for (let round = 1; round <= rounds; round += 1) {
      const shop = await Shop.open(fleet, `life-${round}`);
      await live(shop, async () => {
        await fleet.advance(random.below(LONGEST_MS));
        if (random.below(2) === 0) return;
        await fleet.restart();
      });
      expect([round, await endOf(shop)]).toEqual([round, expected]);
    }
  }, 300_000);
}

/** Everything that a person does in a round; `between` happens after each step. */
async function live(shop: Shop, between: () => Promise<void>): Promise<void> {
  const steps: readonly (() => Promise<unknown>)[] = [
    () => shop.policy("p", { propagateDeps: true, resourceSelectors: [named(kinds.deployments)] }),
    () => shop.create(kinds.configMaps, "needed", { data: { a: "1" } }),
    async () => {
      await shop.deploy("stays", mounting("stays"));
      await shop.deploy("goes");
    },
    () =>
      fleet.plane.create(overridePolicies, {
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: "OverridePolicy",
        metadata: { name: "o", namespace: shop.namespace },
        spec: {
          overrideRules: [
            {
              targetCluster: { clusterNames: ["m2"] },
              overriders: {
                plaintext: [{ path: "/spec/minReadySeconds", operator: "add", value: 1 }],
              },
            },
          ],
          resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
        },
      }),
    () => shop.edit(kinds.deployments, "stays", { spec: { replicas: 2 } }),
    () => shop.edit(kinds.configMaps, "needed", { data: { a: "2" } }),
    () => shop.delete(kinds.deployments, "goes"),
  ];
  for (const step of steps) {
    await step();
    await between();
  }
  // What a life that ended may have sent is waited for before a Work goes.
  await fleet.advance("4m");
}

const mounting = (app: string) => ({
  template: {
    metadata: { labels: { app } },
    spec: {
      containers: [{ name: "c", image: "nginx:1.27" }],
      volumes: [{ name: "v", configMap: { name: "needed" } }],
    },
  },
});

/** What there is in the end, without what is different in every life: ids, versions, times and the namespace's name. */
async function endOf(shop: Shop): Promise<unknown> {
  const found: Record<string, unknown> = {};
  for (const member of MEMBERS) {
    const { client } = fleet.member(member);
    for (const kind of [kinds.deployments, kinds.configMaps]) {
      const { items } = await client.list(kind, { namespace: shop.namespace });
      found[`${member} ${kind.kind}`] = items.map(content);
    }
  }
  const { items } = await fleet.plane.list(works);
  const own = items.filter(({ spec }) => JSON.stringify(spec).includes(`"${shop.namespace}"`));
  found["works"] = own
    .map(
      ({ metadata }) =>
        `${metadata.namespace}/${metadata.name.replace(shop.namespace, "life").replace(/-[a-z0-9]+$/, "")}`,
    )
    .toSorted();
  const template = (await shop.template(kinds.deployments, "stays")) as AnyObject & {
    readonly status?: unknown;
  };
  found["status"] = template.status;
  found["bindings"] = [
    await shop.hasBinding("stays-deployment"),
    await shop.hasBinding("goes-deployment"),
  ];
  return found;
}

function content(object: AnyObject): unknown {
  const { metadata, ...rest } = object as AnyObject & { readonly spec?: unknown };
  const { name, labels = {} } = metadata;
  return { name, labels: Object.keys(labels).toSorted(), ...rest, status: undefined };
}
