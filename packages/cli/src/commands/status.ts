/**
 * `lifeboat status`: how the fleet is, what waits for a person, and what failover may do.
 *
 * With --exit-code: 0 well, 3 degraded or unknown, 4 a decision waits for a person. With --watch it is drawn again every 2 seconds; a
 * control plane that does not answer meanwhile is shown as unknown, never by its last page.
 */
import {
  type AnyObject,
  certificateSigningRequests,
  clusters,
  clusterTaintPolicies,
  evacuations,
  multiClusterIngresses,
  orNothing,
  Refused,
} from "@lifeboat/api";
import { type Clock, type Instant, parseTime } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import {
  type PublishedSettings,
  readNotifications,
  readSettings as readPublished,
} from "@lifeboat/controllers/operating";
import { readServers } from "@lifeboat/dns";
import { CLIENT_SIGNER } from "@lifeboat/core/clusters/rights";
import { clusterOfRecord, SIGNED_BY_OTHERS, TUNNEL_LABEL } from "@lifeboat/plane";
import { type Client, type Lease, leases } from "@lifeboat/kit";
import { wellKnown } from "@lifeboat/core";
import type { Command } from "commander";
import { readRecord } from "@lifeboat/controllers/context";
import { hasColours } from "../colours.ts";
import { failingProbes } from "../failing-probes.ts";
import { CommandFailed } from "../failure.ts";
import { inWords, planeOptions } from "../find-plane.ts";
import { readOpenTunnels } from "../open-tunnels.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, outputOption, streamedText } from "../output.ts";
import { planeClock } from "../plane-clock.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { showStatus, type ShownStatus, watchStatus } from "../show-status.ts";
import type { HiddenPart, StatusView } from "../status-text.ts";
import { stopOnSignal } from "../stopping.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";
import { describeBrake, describeTrafficBrake } from "./brake.ts";
import { allBindings } from "../all-bindings.ts";

export const statusOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "exit-code",
    type: "switch",
    commandLineOnly: true,
    help: "End with 0 well, 3 degraded or unknown, 4 a decision waits for a person",
  },
  {
    name: "watch",
    short: "w",
    type: "switch",
    commandLineOnly: true,
    help: "Show it again every 2 seconds, until Ctrl-C",
  },
  outputOption(["text"]),
];

export function addStatus(program: Command): void {
  const command = program
    .command("status")
    .description("Show how the fleet is, what waits for a person, and what failover may do");
  declareOptions(command, statusOptions).action(() => {
    const settings = readSettings(command, statusOptions);
    const output = outputFrom(settings, ["text"]);
    return withPlane(settings, (plane) => status(plane, settings, output));
  });
}

const LOOK_MS = 2000;

async function status(plane: Client, settings: Settings, output: Output<"text">): Promise<void> {
  const clock = createRealClock();
  const isColoured = hasColours(process.stdout, process.env);
  const look = async (): Promise<ShownStatus> => {
    // Ages and times that are left are by the clock that wrote what they are counted from.
    const ofPlane = await inWords(() => planeClock(plane, clock));
    const view = await readView(plane, ofPlane);
    return showStatus(view, ofPlane.now(), {
      output,
      isColoured,
      isStream: settings.isOn("watch"),
    });
  };
  let code: number;
  if (settings.isOn("watch")) {
    const stopping = stopOnSignal();
    const isTerminal = process.stdout.isTTY && output.kind === "form";
    const screen = {
      isTerminal,
      rows: () => (isTerminal ? process.stdout.rows : undefined),
      write: (text: string) => void process.stdout.write(text),
    };
    const words = (error: unknown): string => unreachable(error, output);
    code = await watchStatus({ clock, screen, look, words }, LOOK_MS, stopping.signal);
    stopping.release();
  } else {
    const shown = await look();
    print(shown.lines);
    code = shown.exitCode;
  }
  if (settings.isOn("exit-code")) process.exitCode = code;
}

/** What a page shows instead that cannot be read. An error of ours is not hidden. */
function unreachable(error: unknown, output: Output<"text">): string {
  if (!(error instanceof CommandFailed)) throw error;
  const sentence = `UNKNOWN: ${error.message}`;
  return output.kind === "form"
    ? hanging("", sentence).join("\n")
    : streamedText(output, { verdict: "Unknown", sentence, exitCode: 3 }).trimEnd();
}

/** What the page shows, read at the time of `clock`. */
export async function readView(plane: Client, clock: Clock): Promise<StatusView> {
  return inWords(async () => {
    const allowed = new Allowed();
    const itemsOf = async <T>(
      list: Promise<{ readonly items: readonly T[] }>,
    ): Promise<readonly T[]> => (await list).items;
    const budget = await allowed.read("guards", undefined, () => readRecord(plane));
    const settings = await allowed.read("settings", undefined, () => readPublished(plane));
    const metrics = await allowed.read("probes", undefined, () => readMetrics(plane));
    const items = await allowed.read("clusters", [], () => itemsOf(plane.list(clusters)));
    const own = (label: string) => allowed.read("leases", [], () => ownLeases(plane, label));
    const ingresses = await allowed.read("ingresses", [], () =>
      itemsOf(plane.list(multiClusterIngresses)),
    );
    const probes = failingProbes(metrics, items, settings, clock.now());
    const view: StatusView = {
      settings,
      leader: await allowed.read("leases", undefined, () => leaseOf(plane, settings)),
      replicas: await own(wellKnown.MANAGER_REPLICA),
      traffic: { leases: await own(wellKnown.TRAFFIC_PROVIDER), ingresses: ingresses.length },
      clusters: items,
      policies: await allowed.read("policies", [], () => itemsOf(plane.list(clusterTaintPolicies))),
      evacuations: await allowed.read("evacuations", [], () => itemsOf(plane.list(evacuations))),
      bindings: await allowed.read("workloads", [], () => allBindings(plane)),
      budget,
      brake: describeBrake(budget, clock.now()),
      tunnels: readOpenTunnels(metrics ?? "") ?? (await recordedTunnels(plane)),
      trafficBrake: describeTrafficBrake(budget),
      nameServers: await allowed.read("leases", [], () => readServers(plane)),
      waiting: await unsignedRequests(plane, settings, clock.now()),
      ...(await noticesOf(plane, settings, allowed)),
      ...(probes && { probes }),
    };
    return { ...view, hidden: allowed.hidden() };
  });
}

/** What was sent to people, where anything is. */
async function noticesOf(
  plane: Client,
  settings: PublishedSettings | undefined,
  allowed: Allowed,
): Promise<Pick<StatusView, "notices">> {
  if (settings?.["notify"] === undefined) return {};
  const notices = await allowed.read("notices", undefined, () => readNotifications(plane));
  return notices === undefined ? {} : { notices };
}

/** How long a signer may take before its absence is told. */
const SIGNED_MS = 5000;

/** How many requests of clients are approved and not signed, where another process signs; undefined: the person may not read them. */
async function unsignedRequests(
  plane: Client,
  settings: PublishedSettings | undefined,
  now: Instant,
): Promise<number | undefined> {
  if (settings?.["registration"] !== SIGNED_BY_OTHERS) return 0;
  try {
    const { items } = await plane.list<AnyObject>(certificateSigningRequests);
    return items.filter((one) => waitsForSigner(one, now)).length;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

function waitsForSigner({ spec, status }: AnyObject, now: Instant): boolean {
  const { signerName } = (spec ?? {}) as { readonly signerName?: string };
  const { certificate, conditions = [] } = (status ?? {}) as {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly lastUpdateTime?: string }[];
  };
  const approved = conditions.find(({ type }) => type === "Approved");
  const at = parseTime(approved?.lastUpdateTime ?? "");
  return signerName === CLIENT_SIGNER && !certificate && at !== undefined && now - at > SIGNED_MS;
}

/** Reads what the user may read: what is refused is left out and named. */
class Allowed {
  readonly #refused = new Map<HiddenPart, Refused>();

  async read<T>(part: HiddenPart, without: T, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Refused) || error.status.code !== 403) throw error;
      this.#refused.set(part, error);
      return without;
    }
  }

  /** Throws the refusal where nothing is left that a page could show. */
  hidden(): ReadonlySet<HiddenPart> {
    const refused = this.#refused.get("clusters");
    const isAll = this.#refused.has("workloads") && this.#refused.has("evacuations");
    if (refused !== undefined && isAll) throw refused;
    return new Set(this.#refused.keys());
  }
}

/** Beside a kube-apiserver the replicas record their tunnels; undefined: the person may not read that. */
async function recordedTunnels(plane: Client): Promise<ReadonlySet<string> | undefined> {
  const namespace = wellKnown.OWN_NAMESPACE;
  try {
    const { items } = await plane.list(leases, {
      namespace,
      labelSelector: `${TUNNEL_LABEL}=true`,
    });
    return new Set(items.flatMap(({ metadata }) => clusterOfRecord(metadata.name) ?? []));
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** Undefined: the API server serves none. */
async function readMetrics(plane: Client): Promise<string | undefined> {
  try {
    const text = await plane.read("/metrics");
    return typeof text === "string" ? text : undefined;
  } catch (error) {
    // What the user may not read is named on the page.
    if (error instanceof Refused && error.status.code !== 403) return undefined;
    throw error;
  }
}

/** The Leases in the control plane's own namespace with this label. */
async function ownLeases(plane: Client, labelSelector: string): Promise<readonly Lease[]> {
  const { items } = await plane.list(leases, { namespace: wellKnown.OWN_NAMESPACE, labelSelector });
  return items;
}

/** The Lease of the replicas that run the controllers; undefined: one process runs them, without an election. */
async function leaseOf(
  plane: Client,
  settings: PublishedSettings | undefined,
): Promise<Lease | undefined> {
  const [namespace = "", name = ""] = (settings?.["leader-elect-resource"] ?? "").split("/");
  return name === "" ? undefined : orNothing(plane.get(leases, { namespace, name }));
}
