/** A Pull cluster that leaves from its own side, where the rights of its agent go with its Cluster. */
import { clusters, failure, Refused } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { createFleet, type Fleet, newCluster } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { unregisterFromMember, type UnregisterOutcome } from "./unregister.ts";

const KEY = { namespace: "", name: "eu-1" };

let fleet: Fleet;
beforeEach(async () => {
  fleet = await createFleet({ memberModel: false });
  await fleet.plane.create(clusters, newCluster("eu-1"));
});
afterEach(() => fleet.close());

/** The control plane as the agent sees it: after so many reads it has no rights any more. */
function withRightsFor(reads: number): Client {
  let left = reads;
  const get = (async (...asked: Parameters<Client["get"]>) => {
    if (left-- > 0) return fleet.plane.get(...asked);
    throw new Refused(failure(403, "Forbidden", 'clusters "eu-1" is forbidden'));
  }) as Client["get"];
  const remove = fleet.plane.delete.bind(fleet.plane);
  return { get, delete: remove } as unknown as Client;
}

function unregister(plane: Client, force = false): Promise<UnregisterOutcome> {
  const request = { name: "eu-1", force, waitMs: 0, dryRun: false };
  return unregisterFromMember({ clock: fleet.clock }, { ...request, plane, member: fleet.plane });
}

it("takes lost rights for the end, once the Cluster is being deleted", async () => {
  await expect(unregister(withRightsFor(1))).resolves.toMatchObject({ leftInPlane: [] });
});

it("does not take lost rights for the end before that", async () => {
  await expect(unregister(withRightsFor(0))).rejects.toThrow(/add --force/);
  await expect(fleet.plane.get(clusters, KEY)).resolves.toBeDefined();
  const { leftInPlane } = await unregister(withRightsFor(0), true);
  expect(leftInPlane.join()).toContain("the Cluster eu-1");
});
