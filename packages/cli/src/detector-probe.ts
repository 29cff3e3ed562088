/**
 * What a detector probes, and which condition it reports: the flags that `lifeboat detector` and `lifeboat register --detector` share.
 *
 * 1. Name resolution has the condition that clients know. Every other probe names its own, under the prefix of detectors: admission
 *    takes no other from a detector (core/clusters/rights/detector-condition.ts).
 * 2. What is refused is refused before an identity is made.
 */
import { httpProbe, resolveNameProbe, tcpProbe } from "@lifeboat/controllers/adapters";
import type { Probe } from "@lifeboat/controllers/member-side";
import { wellKnown } from "@lifeboat/core";
import { isDetectorCondition } from "@lifeboat/core/clusters/rights";
import { parseHttpTarget, parseTcpTarget } from "@lifeboat/core/remedy/detector";
import { UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Settings } from "./settings.ts";

export const probeOptions: readonly OptionDefinition[] = [
  {
    name: "probe",
    type: "text",
    value: "dns|http|tcp",
    default: "dns",
    help: "What the detector does: resolve --name, or reach --target by HTTP or TCP",
  },
  {
    name: "name",
    type: "text",
    value: "NAME",
    default: "kubernetes.default",
    help: "The name that is asked for, as a pod asks, for --probe dns",
  },
  {
    name: "target",
    type: "text",
    value: "URL|HOST:PORT",
    help: "A URL for --probe http (200 to 399 is success, a redirection is not followed), HOST:PORT for tcp",
  },
  {
    name: "target-insecure-skip-tls-verify",
    type: "switch",
    help: "Take any certificate of an https target",
  },
  {
    name: "condition-type",
    type: "text",
    value: "TYPE",
    help: `The condition of the Cluster: ${wellKnown.DETECTOR_CONDITION_PREFIX}NAME; default for --probe dns: ${wellKnown.NAME_RESOLUTION}`,
  },
];

export interface AskedProbe {
  readonly probe: "dns" | "http" | "tcp";
  readonly condition: string;
  readonly name: string;
  readonly target: string;
  readonly skipTlsVerify: boolean;
}

/** What the flags ask for; throws UsageError on what does not fit together. */
export function askedProbe(settings: Settings): AskedProbe {
  const probe = settings.requiredText("probe");
  if (probe !== "dns" && probe !== "http" && probe !== "tcp")
    throw new UsageError(`--probe: "${probe}" is not valid: dns, http or tcp is needed`);
  const target = settings.text("target") ?? "";
  const skipTlsVerify = settings.isOn("target-insecure-skip-tls-verify");
  if (probe === "dns" && target !== "")
    throw new UsageError("--target is for --probe http or tcp: give --name for dns");
  if (probe === "http" && parseHttpTarget(target) === undefined)
    throw new UsageError(
      "--probe http needs --target, an http or https URL without a user or password",
    );
  if (probe === "tcp" && parseTcpTarget(target) === undefined)
    throw new UsageError(
      "--probe tcp needs --target HOST:PORT, such as 10.0.0.1:443 or [fd00::1]:443",
    );
  if (skipTlsVerify && parseHttpTarget(target)?.protocol !== "https:")
    throw new UsageError("--target-insecure-skip-tls-verify needs an https --target");
  const condition = conditionOf(probe, settings.text("condition-type"));
  return { probe, condition, name: settings.requiredText("name"), target, skipTlsVerify };
}

function conditionOf(probe: AskedProbe["probe"], asked: string | undefined): string {
  const { NAME_RESOLUTION, DETECTOR_CONDITION_PREFIX } = wellKnown;
  if (asked === undefined && probe === "dns") return NAME_RESOLUTION;
  const form = `${DETECTOR_CONDITION_PREFIX}NAME, where NAME is up to 40 letters and digits and begins with a capital letter`;
  if (asked === undefined) throw new UsageError(`--probe ${probe} needs --condition-type ${form}`);
  if (!isDetectorCondition(asked))
    throw new UsageError(
      `--condition-type: "${asked}" is not a detector's to write: ${form} is needed`,
    );
  if (asked === NAME_RESOLUTION && probe !== "dns")
    throw new UsageError(`--condition-type: ${asked} is reported by --probe dns alone`);
  return asked;
}

/** The flags of `lifeboat detector` that ask for this probe, as a manifest has them; what is a default is left out. */
export function probeFlags(asked: AskedProbe): readonly string[] {
  const { probe, name, target, condition } = asked;
  const given =
    probe === "dns"
      ? name === nameDefault
        ? []
        : [`--name=${name}`]
      : [`--probe=${probe}`, `--target=${target}`];
  return [
    ...given,
    ...(asked.skipTlsVerify ? ["--target-insecure-skip-tls-verify"] : []),
    ...(condition === wellKnown.NAME_RESOLUTION ? [] : [`--condition-type=${condition}`]),
  ];
}

const nameDefault = probeOptions.find(({ name }) => name === "name")?.default;

/** The probe itself. */
export function probeFor(
  { probe, name, target, skipTlsVerify }: AskedProbe,
  { resolvConf, periodMs }: { readonly resolvConf: string; readonly periodMs: number },
): Probe {
  const url = probe === "http" ? parseHttpTarget(target) : undefined;
  if (url !== undefined) return httpProbe({ url, skipTlsVerify });
  const end = probe === "tcp" ? parseTcpTarget(target) : undefined;
  if (end !== undefined) return tcpProbe(end);
  return resolveNameProbe({ name, resolvConf, timeoutMs: periodMs });
}
