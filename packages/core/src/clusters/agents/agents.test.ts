import type { AnyObject } from "@lifeboat/api";
import { expect, it } from "vitest";
import { agentCluster, agentUser, knowsEndorsement } from "./agents.ts";

it("a user names its cluster, and no other user does", () => {
  expect(agentCluster(agentUser("eu-1"))).toBe("eu-1");
  expect(agentCluster("system:karmada:agent:")).toBeUndefined();
  expect(agentCluster("system:karmada:agents")).toBeUndefined();
});

it("an agent knows endorsement when its Lease announces this version of it", () => {
  const lease = (value: string): AnyObject =>
    ({ metadata: { annotations: { "lifeboat.dev/endorsement": value } } }) as unknown as AnyObject;
  expect(knowsEndorsement(lease("v1"))).toBe(true);
  expect(knowsEndorsement(lease("v2"))).toBe(false);
  expect(knowsEndorsement(undefined)).toBe(false);
});
