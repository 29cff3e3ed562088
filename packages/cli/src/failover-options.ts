/**
 * The flags of failover: its gates, how fast workloads may move, and what becomes of old copies. A value out of its range
 * is refused at start: a control plane that would not do what its operator believes must not run.
 *
 * Flags and gates that an earlier design had are accepted, do nothing, and are warned about (D1), so that a command line
 * written for it still starts a control plane.
 */
import { purgeModeOf } from "@lifeboat/core/binding";
import { APPROVAL_MODES } from "@lifeboat/core/failover/evacuation";
import {
  type ControllersOptions,
  DEFAULT_CONTROLLERS,
  type Gate,
  gateNames,
  isGate,
  readGateEntries,
} from "@lifeboat/plane";
import { UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Settings } from "./settings.ts";

export type FailoverOptions = Pick<
  ControllersOptions,
  | "failover"
  | "gatesByFlag"
  | "statefulFailoverInjection"
  | "resourceEvictionRate"
  | "secondaryResourceEvictionRate"
  | "unhealthyClusterThreshold"
  | "largeClusterNumThreshold"
  | "noExecutePurgeMode"
  | "evacuationApproval"
  | "evacuationApprovalByFlag"
  | "evictPlugins"
  | "trustFencedCondition"
  | "trafficDrainTimeoutMs"
  | "trafficDrainLimitMs"
>;

const RETIRED_GATES: Readonly<Record<string, string>> = {
  GracefulEviction: "evictions are graceful unless a policy sets another purge mode",
};

const PLUGINS = DEFAULT_CONTROLLERS.evictPlugins;

/** Why each of them does nothing any more. */
const RETIRED_FLAGS: Readonly<Record<string, string>> = {
  "graceful-eviction-timeout": "an old copy goes when the new one is healthy, never by time alone",
  "enable-taint-manager": "the gate Failover is the one switch: --feature-gates Failover=true",
  "failover-eviction-timeout": "ClusterTaintPolicies set how long a condition must hold",
  "default-not-ready-toleration-seconds": "no tolerations are added to policies",
  "default-unreachable-toleration-seconds": "no tolerations are added to policies",
  "enable-no-execute-taint-eviction":
    "the gate Failover is the one switch: --feature-gates Failover=true",
  "allow-no-execute-taint-policy":
    "the gate Failover is the one switch: --feature-gates Failover=true",
};

export const failoverOptions: readonly OptionDefinition[] = [
  {
    name: "feature-gates",
    type: "text",
    value: "GATE=BOOL,…",
    help: `What is switched on; gates are ${gateNames.join(" and ")}, off until one is set, then kept`,
  },
  {
    name: "resource-eviction-rate",
    type: "number",
    value: "N",
    default: "0.5",
    min: 0,
    help: "How many workloads leave failed clusters per second, over the whole fleet; 0: none",
  },
  {
    name: "secondary-resource-eviction-rate",
    type: "number",
    value: "N",
    default: "0.1",
    min: 0,
    help: "The same, while too much of a large fleet has failed; a small one stops then",
  },
  {
    name: "unhealthy-cluster-threshold",
    type: "number",
    value: "SHARE",
    default: "0.55",
    min: 0,
    max: 1,
    help: "Too much of a fleet has failed when more than this share of its clusters has",
  },
  {
    name: "large-cluster-num-threshold",
    type: "integer",
    value: "N",
    default: "10",
    min: 0,
    help: "A fleet is large when it has more clusters than this",
  },
  {
    name: "no-execute-taint-eviction-purge-mode",
    type: "text",
    value: "MODE",
    default: "Gracefully",
    help: "What becomes of old copies when a policy sets no purge mode: Gracefully or Directly",
  },
  {
    name: "evacuation-approval",
    type: "text",
    value: "MODE",
    help: "Required: nothing leaves a failed cluster before a person approves it; Policy: only where policies ask for that; Policy until one is set, then kept",
  },
  {
    name: "evict-plugins",
    type: "text",
    value: "NAMES",
    default: PLUGINS.join(","),
    help: `Any of these ends a graceful eviction; known are ${PLUGINS.join(", ")}; none: nothing does`,
  },
  {
    name: "trust-fenced-condition",
    type: "switch",
    help: "Take the condition Fenced=True of a silent cluster for the proof that it is off (D10)",
  },
  {
    name: "traffic-drain-timeout",
    type: "duration",
    value: "TIME",
    default: "60s",
    min: 0,
    help: "How long an old copy waits for load balancers where none can confirm that it gets no requests (D27)",
  },
  {
    name: "traffic-drain-limit",
    type: "duration",
    value: "TIME",
    default: "10m",
    min: 0,
    help: "How long it waits for load balancers that run and do not confirm it; the last cluster that serves is kept without limit",
  },
  ...Object.entries(RETIRED_FLAGS).map(([name, why]): OptionDefinition => {
    return { name, type: "text", value: "VALUE", help: why, retired: true };
  }),
];

/** What the flags say about failover; throws UsageError on a value that is not valid. */
export function failoverFrom(settings: Settings): FailoverOptions {
  const { on, given } = readGates(settings.text("feature-gates") ?? "");
  return {
    gatesByFlag: [...given],
    failover: on.has("Failover"),
    statefulFailoverInjection: on.has("StatefulFailoverInjection"),
    resourceEvictionRate: settings.number("resource-eviction-rate"),
    secondaryResourceEvictionRate: settings.number("secondary-resource-eviction-rate"),
    unhealthyClusterThreshold: settings.number("unhealthy-cluster-threshold"),
    largeClusterNumThreshold: settings.number("large-cluster-num-threshold"),
    noExecutePurgeMode: purgeModeFrom(
      settings.requiredText("no-execute-taint-eviction-purge-mode"),
    ),
    evacuationApproval: approvalFrom(
      settings.text("evacuation-approval") ?? DEFAULT_CONTROLLERS.evacuationApproval,
    ),
    evacuationApprovalByFlag: settings.text("evacuation-approval") !== undefined,
    evictPlugins: pluginsFrom(settings.requiredText("evict-plugins")),
    trustFencedCondition: settings.isOn("trust-fenced-condition"),
    trafficDrainTimeoutMs: settings.number("traffic-drain-timeout"),
    trafficDrainLimitMs: settings.number("traffic-drain-limit"),
  };
}

/** One sentence for each flag and gate that is given and does nothing. */
export function retiredWarnings(settings: Settings): readonly string[] {
  const flags = Object.entries(RETIRED_FLAGS)
    .filter(([name]) => settings.text(name) !== undefined)
    .map(([name, why]) => `--${name} does nothing any more: ${why}`);
  const gates = readGates(settings.text("feature-gates") ?? "").retired.map(
    (name) => `the feature gate ${name} does nothing any more: ${RETIRED_GATES[name]}`,
  );
  return [...flags, ...gates];
}

interface ReadGates {
  readonly on: ReadonlySet<Gate>;
  readonly given: ReadonlySet<Gate>;
  readonly retired: readonly string[];
}

/** `Failover=true,StatefulFailoverInjection=false`; of two entries for one gate the last counts. */
export function readGates(text: string): ReadGates {
  const on = new Set<Gate>();
  const given = new Set<Gate>();
  const retired = new Set<string>();
  for (const { text: entry, name, value } of readGateEntries(text)) {
    if (value === undefined)
      throw new UsageError(
        `--feature-gates: "${entry}" is not valid: GATE=true or GATE=false is needed`,
      );
    if (Object.hasOwn(RETIRED_GATES, name)) retired.add(name);
    else if (!isGate(name))
      throw new UsageError(
        `--feature-gates: there is no gate "${name}"; known are ${gateNames.join(", ")}`,
      );
    else {
      given.add(name);
      if (value) on.add(name);
      else on.delete(name);
    }
  }
  return { on, given, retired: [...retired] };
}

function purgeModeFrom(text: string): FailoverOptions["noExecutePurgeMode"] {
  const mode = purgeModeOf(text, undefined);
  if (mode === undefined)
    throw new UsageError(
      `--no-execute-taint-eviction-purge-mode: "${text}" is not valid: Gracefully or Directly is needed`,
    );
  return mode;
}

function approvalFrom(text: string): FailoverOptions["evacuationApproval"] {
  const mode = APPROVAL_MODES.find((one) => one.toLowerCase() === text.trim().toLowerCase());
  if (mode === undefined)
    throw new UsageError(
      `--evacuation-approval: "${text}" is not valid: ${APPROVAL_MODES.join(" or ")} is needed`,
    );
  return mode;
}

function pluginsFrom(text: string): readonly string[] {
  if (text.trim() === "none") return [];
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.find((name) => !PLUGINS.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `--evict-plugins: there is no plugin "${unknown}"; known are ${PLUGINS.join(", ")}, and none`,
    );
  return [...new Set(names)];
}
