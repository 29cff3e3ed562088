import type { AnyObject } from "@lifeboat/api";
import { expect, it } from "vitest";
import { knowsEndorsement } from "./agents.ts";

it("an agent knows endorsement when its Lease announces this version of it", () => {
  const lease = (value: string): AnyObject =>
    ({ metadata: { annotations: { "lifeboat.dev/endorsement": value } } }) as unknown as AnyObject;
  expect(knowsEndorsement(lease("v1"))).toBe(true);
  expect(knowsEndorsement(lease("v2"))).toBe(false);
  expect(knowsEndorsement(undefined)).toBe(false);
});
