/** The flags of `lifeboat manager` beyond those of the controllers. */
import type { LEADER_ELECTION_TIMES } from "@lifeboat/kit";
import { type ElectionOptions, MANAGER_LEASE, type ShareTimes } from "@lifeboat/plane";
import { controllerOptions } from "../controller-options.ts";
import { dnsOptions } from "../dns/dns-options.ts";
import { UsageError } from "../failure.ts";
import { besideGatewayOptions } from "../gateway/open-traffic.ts";
import { leaseOptions } from "../lease-options.ts";
import { notifyOptions } from "../notify-options.ts";
import type { OptionDefinition } from "../options.ts";
import { logLevelOption } from "../process-options.ts";
import type { Settings } from "../settings.ts";

export const managerOptions: readonly OptionDefinition[] = [
  {
    name: "kubeconfig",
    type: "text",
    value: "FILE",
    help: "Of the kube-apiserver; default the service account of the pod. Read again when it changes",
  },
  {
    name: "context",
    type: "text",
    value: "NAME",
    help: "The context of the kubeconfig; default its current one",
  },
  {
    name: "leader-elect",
    type: "switch",
    default: "true",
    help: "Run controllers only while this replica holds the Lease; false: this is the only replica",
  },
  {
    name: "leader-elect-lease-duration",
    type: "duration",
    value: "TIME",
    default: "15s",
    min: 1000,
    help: "How long other replicas wait after the last renewal before one of them leads",
  },
  {
    name: "leader-elect-renew-deadline",
    type: "duration",
    value: "TIME",
    default: "10s",
    min: 500,
    help: "How long the leader goes on without a renewal; it must be shorter than the lease",
  },
  {
    name: "leader-elect-retry-period",
    type: "duration",
    value: "TIME",
    default: "2s",
    min: 100,
    help: "How often a replica tries to take or renew the Lease",
  },
  {
    name: "leader-elect-resource-name",
    type: "text",
    value: "NAME",
    default: MANAGER_LEASE.name,
    help: "The name of the Lease",
  },
  {
    name: "leader-elect-resource-namespace",
    type: "text",
    value: "NAMESPACE",
    default: MANAGER_LEASE.namespace,
    help: "The namespace of the Lease",
  },
  {
    name: "share-members",
    type: "switch",
    help: "Share out status and Works of Push members between all replicas; the same for each of them. Not proven yet on large fleets",
  },
  {
    name: "webhook-listen",
    type: "text",
    value: "HOST:PORT",
    default: ":8443",
    help: "Where admission and the way into members are served over TLS; port 0 takes a free one",
  },
  {
    name: "member-proxy",
    type: "switch",
    default: "true",
    help: "Serve the way into members (proxy.lifeboat.dev) and take the tunnels of pull members",
  },
  {
    name: "registration",
    type: "switch",
    default: "true",
    help: "Approve clusters that register by a token, sign cluster-info and make the rights of agents; needs `lifeboat install --registration`",
  },
  {
    name: "advertise-address",
    type: "text",
    value: "HOST",
    help: "Where other replicas reach this one, at the port of --webhook-listen; default the address that it listens on, or the first of the machine",
  },
  {
    name: "health-listen",
    type: "text",
    value: "HOST:PORT",
    default: ":8081",
    help: "Where /livez, /readyz and /metrics are served over HTTP; port 0 takes a free one",
  },
  ...dnsOptions,
  ...besideGatewayOptions,
  ...notifyOptions,
  ...controllerOptions,
  ...leaseOptions([
    "Accepted without effect: agents decide it (`lifeboat agent --cluster-lease-duration`); how long silence is borne is --cluster-monitor-grace-period",
    "Accepted without effect: agents decide it (`lifeboat agent --cluster-lease-renew-interval-fraction`)",
  ]),
  logLevelOption("warn"),
];

/** How the leader is elected; undefined: not at all. Throws UsageError when the times cannot work together. */
export function electionFrom(settings: Settings): ElectionOptions | undefined {
  const times = {
    leaseDurationMs: settings.number("leader-elect-lease-duration"),
    renewDeadlineMs: settings.number("leader-elect-renew-deadline"),
    retryPeriodMs: settings.number("leader-elect-retry-period"),
  } satisfies Record<keyof typeof LEADER_ELECTION_TIMES, number>;
  if (times.renewDeadlineMs >= times.leaseDurationMs)
    throw new UsageError(
      "--leader-elect-renew-deadline must be shorter than --leader-elect-lease-duration: " +
        "the leader has to stop before another replica may begin",
    );
  if (times.retryPeriodMs * 1.2 >= times.renewDeadlineMs)
    throw new UsageError(
      "--leader-elect-retry-period, with a fifth added, must be shorter than --leader-elect-renew-deadline: " +
        "the leader needs at least one renewal within it",
    );
  if (!settings.isOn("leader-elect")) return undefined;
  const lease = {
    namespace: settings.requiredText("leader-elect-resource-namespace"),
    name: settings.requiredText("leader-elect-resource-name"),
  };
  return { lease, ...times };
}

/** How replicas share out members; undefined: not at all. Each renews a Lease of its own by the times of the election. */
export function shareFrom(
  settings: Settings,
  election: ElectionOptions | undefined,
): ShareTimes | undefined {
  if (!settings.isOn("share-members")) return undefined;
  if (election === undefined)
    throw new UsageError(
      "--share-members needs --leader-elect: one replica has no other to share with",
    );
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = election;
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}
