/**
 * Looks after the control plane's own certificates while it runs: every few seconds what is near its end is renewed (by
 * `refresh`, which knows the files), `kube-public/cluster-info` shows the address and the CA bundle, a metric shows every end,
 * and an Event names a certificate that nears its end although it should have been renewed.
 */
import { type AnyObject, configMaps, type Json, keyOf, orNothing } from "@lifeboat/api";
import { formatTime, type Ids, type Instant, sleep } from "@lifeboat/base";
import { type ExpiryStage, expiryStage, type Life } from "@lifeboat/core/clusters/certificates";
import { type Client, createEventRecorder, type KitPorts, type Service } from "@lifeboat/kit";
import { certificateExpiration } from "./metrics.ts";

/** One of the control plane's own certificates. */
export interface OwnCertificate extends Life {
  /** `authority`, `server`, `client admin`. */
  readonly name: string;
  /** What a person does when it is not renewed by itself. */
  readonly remedy: string;
}

/** What the control plane serves with from now on. */
export interface PlaneMaterial {
  /** Where clients reach the API. */
  readonly server: string;
  /** The certificates of all authorities that clients have to trust, PEM. */
  readonly bundle: string;
  readonly certificates: readonly OwnCertificate[];
}

export interface CertificateKeeperPorts extends KitPorts {
  readonly ids: Ids;
  /** Renews what is due, and lets the server use it. */
  refresh(): Promise<PlaneMaterial>;
}

const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" };
/** Revoked trust and repaired files count within this time. */
const EVERY_MS = 5000;

/** The services that have to run. */
export function createCertificateKeeper(
  ports: CertificateKeeperPorts,
  plane: Client,
  instance: string,
): readonly Service[] {
  const { clock, log } = ports;
  const events = createEventRecorder(ports, plane, { component: "lifeboat", instance });
  const expiration = ports.metrics.gauge(certificateExpiration);
  const told = new Map<string, ExpiryStage>();
  const tell = (
    { name, remedy, ...life }: OwnCertificate,
    about: AnyObject,
    now: Instant,
  ): void => {
    expiration.set(life.notAfter / 1000, { certificate: name });
    const stage = expiryStage(life, now);
    if (told.get(name) === stage) return;
    told.set(name, stage);
    if (stage === "fine") return;
    const end = `${stage === "ended" ? "ended" : "ends"} ${formatTime(life.notAfter)}`;
    events.record(about, {
      type: "Warning",
      reason: stage === "ended" ? "CertificateEnded" : "CertificateEnding",
      message: `the certificate ${name} ${end}: ${remedy}`,
    });
  };
  const keeper: Service = {
    name: "certificate-keeper",
    async run(signal) {
      do {
        try {
          const material = await ports.refresh();
          const about = await keepClusterInfo(plane, material);
          for (const certificate of material.certificates) tell(certificate, about, clock.now());
        } catch (error) {
          if (signal.aborted) return;
          log.warn("looking after certificates failed, trying again", { error });
        }
      } while (await sleep(clock, EVERY_MS, signal));
    },
  };
  return [events, keeper];
}

/** Lets `kube-public/cluster-info` show the address and the CA bundle to everyone; answers it. */
async function keepClusterInfo(
  plane: Client,
  { server, bundle }: PlaneMaterial,
): Promise<AnyObject> {
  const data = { kubeconfig: clusterInfoText(server, bundle) };
  const found = await orNothing(plane.get(configMaps, CLUSTER_INFO));
  if (found !== undefined && isSame(found, data.kubeconfig)) return found;
  if (found === undefined)
    return plane.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: CLUSTER_INFO,
      data,
    });
  const { resourceVersion } = found.metadata;
  // Signatures by bootstrap tokens stand beside it: their controller makes them again.
  const body: Json = { metadata: { resourceVersion }, data };
  return plane.patch(configMaps, keyOf(found), { type: "merge", body });
}

function isSame(found: AnyObject, kubeconfig: string): boolean {
  return (found["data"] as { readonly kubeconfig?: string } | undefined)?.kubeconfig === kubeconfig;
}

/** A kubeconfig without a user, in the form that clients of cluster-info know. */
export function clusterInfoText(server: string, bundle: string): string {
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${btoa(bundle)}
    server: ${server}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`;
}
