/** Seeded bugs about a wall clock of the plane that jumps. */
import type { SimMutant } from "../mutant.ts";

const FORWARD = ["clock-jumps-forward"];

export const clockMutants: readonly SimMutant[] = [
  {
    oracle: "taints-wait-for-their-window",
    promise: "A3",
    breaks: "a jump of the clock is not seen",
    file: "packages/base/src/steady-time.ts",
    condition: "no-jump",
    replace: "true",
    caughtIn: FORWARD,
  },
  {
    oracle: "taints-wait-for-their-window",
    promise: "A3",
    breaks: "a time of before a jump is read as one of after it",
    file: "packages/base/src/steady-time.ts",
    marked: "shift-by-jump",
    replace: "",
    caughtIn: FORWARD,
  },
  {
    oracle: "tolerations-are-respected",
    promise: "B3",
    breaks: "a toleration ends when the wall clock says so",
    file: "packages/controllers/src/failover/evacuation/line.ts",
    symbol: "dueOf",
    replace: "({ toleratedUntil }) => toleratedUntil ?? instantOf(0)",
    caughtIn: FORWARD,
  },
  {
    oracle: "evictions-keep-the-rate",
    promise: "C1",
    breaks: "a token is free when the wall clock says so",
    file: "packages/controllers/src/failover/evacuation/reservations.ts",
    symbol: "Reservations.usedUntil.until",
    replace: "seen",
    caughtIn: FORWARD,
  },
];
