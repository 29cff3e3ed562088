import type { ResourceBinding } from "@lifeboat/api";
import { expect, it } from "vitest";
import { restoreText } from "./restore-text.ts";

const PLAN = {
  outcome: "restore",
  binding: {} as ResourceBinding,
  targets: [
    { name: "b", replicas: 2 },
    { name: "a", replicas: 3 },
  ],
  leaves: [{ name: "c", replicas: 5 }],
  purgeMode: "Gracefully",
  warnings: [] as readonly string[],
} as const;

it.each([
  [PLAN, "goes back to a:3, b:2. It leaves c once it is healthy where it goes back to."],
  [
    { ...PLAN, purgeMode: "Directly" as const },
    "goes back to a:3, b:2. It leaves c first, and does not run until it is gone there.",
  ],
  [{ ...PLAN, leaves: [] }, "goes back to a:3, b:2."],
  [
    { ...PLAN, leaves: [], warnings: ["no state is kept"] },
    "goes back to a:3, b:2. State: no state is kept.",
  ],
])("says where it goes and what it leaves", (plan, text) => {
  expect(restoreText("deployment/web", plan)).toBe(`deployment/web ${text}`);
});
