/**
 * What a server makes known of itself, and what a person answers.
 *
 * 1. Each server has a Lease `lifeboat-system/lifeboat-dns-<instance>` and writes its state on it: when that changes, and as a sign of
 *    life. `lifeboat status` and `lifeboat dns` read it. Serving never waits for it.
 * 2. The ConfigMap `lifeboat-system/dns` holds a person's confirmation of a change that servers hold.
 */
import { isRefused, namespaces, orNothing } from "@lifeboat/api";
import { formatMicroTime, sleep } from "@lifeboat/base";
import { type Client, type KitPorts, type Lease, leases, type Service } from "@lifeboat/kit";
import type { ZoneKeeper } from "./keeper.ts";

const OWN_NAMESPACE = "lifeboat-system";

/** `data.confirmed` is a person's word: a held change is published when it becomes another one. */
export const CONFIRMATION = Object.freeze({ namespace: OWN_NAMESPACE, name: "dns" });

const PREFIX = "lifeboat-dns-";
const STATE = "lifeboat.dev/dns-state";

export interface ServerState {
  readonly zone: string;
  readonly federation: string;
  readonly ttl: number;
  /** `HOST:PORT`. */
  readonly listen: string;
  readonly names: number;
  /** Why a change is held; absent: none is. */
  readonly held?: string;
  /** One sentence per name that two things would have, the first few. */
  readonly clashes?: readonly string[];
}

export interface ReporterOptions {
  /** Which of several servers this is: the host's or pod's name. */
  readonly instance: string;
  readonly zone: string;
  readonly federation: string;
  readonly ttl: number;
  readonly listen: () => string;
}

const RENEW_MS = 20_000;
const LEASE_SECONDS = 60;
const MAX_CLASHES = 5;
/** What a burst of changes costs: one write. */
const GATHER_MS = 1000;

/** Builds the service that keeps the Lease. */
export function createReporter(
  { clock, log }: KitPorts,
  plane: Client,
  keeper: ZoneKeeper,
  options: ReporterOptions,
): Service {
  return {
    name: "dns report",
    async run(signal) {
      let wake: (() => void) | undefined;
      keeper.onState(() => wake?.());
      while (!signal.aborted) {
        try {
          await report(plane, options, stateOf(keeper, options), formatMicroTime(clock.now()));
        } catch (error) {
          log.debug("the state of the DNS server could not be reported", { error });
        }
        const rest = new AbortController();
        const stop = (): void => rest.abort();
        signal.addEventListener("abort", stop, { once: true });
        wake = stop;
        await sleep(clock, RENEW_MS, rest.signal);
        wake = undefined;
        signal.removeEventListener("abort", stop);
        await sleep(clock, GATHER_MS, signal);
      }
    },
  };
}

function stateOf(keeper: ZoneKeeper, options: ReporterOptions): ServerState {
  const { zone, federation, ttl } = options;
  const { zone: served, content, held } = keeper.state();
  const clashes = (content?.names.clashes ?? [])
    .slice(0, MAX_CLASHES)
    .map(({ name, winner, loser }) => `${name} is the name of ${winner}, and not of ${loser}`);
  return {
    zone,
    federation,
    ttl,
    listen: options.listen(),
    names: served?.size ?? 0,
    ...(held === undefined ? {} : { held: held.message }),
    ...(clashes.length === 0 ? {} : { clashes }),
  };
}

async function report(
  plane: Client,
  { instance }: ReporterOptions,
  state: ServerState,
  renewTime: string,
): Promise<void> {
  const key = { namespace: OWN_NAMESPACE, name: leaseName(instance) };
  const annotations = { [STATE]: JSON.stringify(state) };
  const spec = { holderIdentity: instance, leaseDurationSeconds: LEASE_SECONDS, renewTime };
  const found = await orNothing(plane.get(leases, key));
  if (found === undefined) {
    await ensureNamespace(plane);
    const metadata = { ...key, annotations };
    await plane.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata,
      spec,
    });
    return;
  }
  const metadata = {
    ...found.metadata,
    annotations: { ...found.metadata.annotations, ...annotations },
  };
  await plane.update(leases, { ...found, metadata, spec: { ...found.spec, ...spec } });
}

async function ensureNamespace(plane: Client): Promise<void> {
  const metadata = { name: OWN_NAMESPACE };
  try {
    await plane.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
  } catch (error) {
    if (!isRefused(error, "AlreadyExists") && !isRefused(error, "Forbidden")) throw error;
  }
}

function leaseName(instance: string): string {
  const name = instance.toLowerCase().replaceAll(/[^a-z0-9.-]/g, "-");
  return `${PREFIX}${name}`.slice(0, 253).replace(/[-.]+$/, "");
}

export interface ReportedServer {
  readonly instance: string;
  readonly state: ServerState;
  /** When it last gave a sign of life, as written. */
  readonly renewTime: string;
  readonly leaseSeconds: number;
}

/** Every server that ever reported, in the order of their names. */
export async function readServers(plane: Client): Promise<readonly ReportedServer[]> {
  const { items } = await plane.list(leases, { namespace: OWN_NAMESPACE });
  return items.filter(({ metadata }) => metadata.name.startsWith(PREFIX)).flatMap(readServer);
}

function readServer({ metadata, spec }: Lease): readonly ReportedServer[] {
  const state = parsed(metadata.annotations?.[STATE] ?? "");
  if (typeof state?.zone !== "string" || typeof state.federation !== "string") return [];
  return [
    {
      instance: spec?.holderIdentity ?? metadata.name,
      state,
      renewTime: spec?.renewTime ?? "",
      leaseSeconds: spec?.leaseDurationSeconds ?? LEASE_SECONDS,
    },
  ];
}

function parsed(text: string): ServerState | undefined {
  try {
    return JSON.parse(text) as ServerState;
  } catch {
    return undefined;
  }
}
