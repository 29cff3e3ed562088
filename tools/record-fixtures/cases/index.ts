/** All cases, by the fixture file they are written to. */
import type { KindCases } from "../case.ts";
import * as core from "./core.ts";
import { pods } from "./core-pods.ts";
import * as others from "./others.ts";
import * as workloads from "./workloads.ts";

export const suites: Readonly<Record<string, readonly KindCases[]>> = {
  pods: [pods],
  core: Object.values(core),
  workloads: Object.values(workloads),
  others: Object.values(others),
};
