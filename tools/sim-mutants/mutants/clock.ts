/** Seeded bugs about a wall clock of the plane that jumps. */
import type { SimMutant } from "../mutant.ts";

const FORWARD = ["clock-jumps-forward"];

export const clockMutants: readonly SimMutant[] = [
  {
    oracle: "taints-wait-for-their-window",
    promise: "A3",
    breaks: "a jump of the clock is not seen",
    file: "packages/base/src/steady-time.ts",
    find: "if (Math.abs(byMs) <= DRIFT_MS) return;",
    replace: "if (Number.isFinite(byMs)) return;",
    caughtIn: FORWARD,
  },
  {
    oracle: "taints-wait-for-their-window",
    promise: "A3",
    breaks: "a time of before a jump is read as one of after it",
    file: "packages/base/src/steady-time.ts",
    find: "    shift += step.byMs;",
    replace: "    shift += 0 * step.byMs;",
    caughtIn: FORWARD,
  },
  {
    oracle: "tolerations-are-respected",
    promise: "B3",
    breaks: "a toleration ends when the wall clock says so",
    file: "packages/controllers/src/failover/evacuation/board.ts",
    find: "return addedAt === undefined ? toleratedUntil : due(addedAt, toleratedUntil - addedAt);",
    replace: "return addedAt === due(toleratedUntil, 0) ? addedAt : toleratedUntil;",
    caughtIn: FORWARD,
  },
  {
    oracle: "evictions-keep-the-rate",
    promise: "C1",
    breaks: "a token is free when the wall clock says so",
    file: "packages/controllers/src/failover/evacuation/releaser.ts",
    find: "const until = Math.max(used, this.#notBefore);",
    replace: "const until = seen;",
    caughtIn: FORWARD,
  },
];
