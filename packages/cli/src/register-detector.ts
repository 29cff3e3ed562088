/** `lifeboat register --detector CLUSTER`: makes the identity of a cluster's detector and prints its manifest. */
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { createRealClock } from "@lifeboat/base/adapters";
import { detectorIdentity } from "@lifeboat/core/clusters/rights";
import { parseKubeconfig, resolveAccess } from "@lifeboat/kit";
import { makeCertificateRequest } from "@lifeboat/kit/adapters";
import { detectorManifest, detectorName, registerDetector } from "@lifeboat/plane";
import { stringify } from "yaml";
import { checkClusterName } from "./commands/join.ts";
import { askedProbe, probeFlags } from "./detector-probe.ts";
import { UsageError } from "./failure.ts";
import { kubeconfigFor } from "./plane-kubeconfig.ts";
import type { Settings } from "./settings.ts";
import { withPlane } from "./with-plane.ts";
import { tell } from "./tell.ts";

/** The longest value of a label. */
const MAX_LABEL = 63;

/** `server`: where the member reaches the control plane; absent: where this command does. */
export async function makeDetector(
  cluster: string,
  server: string | undefined,
  settings: Settings,
): Promise<void> {
  checkClusterName(cluster);
  const asked = askedProbe(settings);
  if (detectorName(asked.condition).length > MAX_LABEL)
    throw new UsageError(
      `--condition-type: "${asked.condition}" makes a name of a DaemonSet of more than ${MAX_LABEL} characters: give it fewer capital letters`,
    );
  const addresses = askedAddresses(settings);
  const { request, key } = makeCertificateRequest(detectorIdentity(cluster).subject);
  await withPlane(settings, async (plane) => {
    const certificate = await registerDetector({ clock: createRealClock() }, plane, {
      cluster,
      request,
      requestId: createHash("sha256").update(request).digest("hex").slice(0, 16),
      lifeMs: settings.number("detector-ttl"),
      timeoutMs: settings.number("wait"),
    });
    const kubeconfig = await kubeconfigFor(settings, { certificate, key }, server);
    const host = hostNameIn(kubeconfig);
    const objects = detectorManifest({
      cluster,
      image: settings.requiredText("agent-image"),
      namespace: settings.requiredText("agent-namespace"),
      kubeconfig,
      condition: asked.condition,
      probeFlags: probeFlags(asked),
      ...(host !== undefined && addresses.length > 0 && { server: { host, addresses } }),
    });
    process.stdout.write(objects.map((object) => `---\n${stringify(object)}`).join(""));
    tell(
      `the detector of ${cluster} has its identity; apply the manifest in the cluster. It renews its certificate by itself`,
      "",
    );
    if (host !== undefined && addresses.length === 0)
      tell(
        `a detector that starts while ${cluster} resolves no names does not reach ${host}, and its silence lifts what its report blocked: name the addresses of ${host} with --server-addresses, or register with an address`,
      );
  });
}

/** The addresses that the control plane is reached at; throws UsageError on what is none. */
export function askedAddresses(settings: Pick<Settings, "text">): readonly string[] {
  const given = settings.text("server-addresses") ?? "";
  const addresses = given.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
  const wrong = addresses.find((one) => isIP(one) === 0);
  if (wrong !== undefined) throw new UsageError(`--server-addresses: "${wrong}" is no IP address`);
  return addresses;
}

/** The host name by which a kubeconfig names the control plane; undefined: it names an address. */
export function hostNameIn(kubeconfig: string): string | undefined {
  const { server } = resolveAccess(parseKubeconfig(kubeconfig, "", "the kubeconfig")).cluster;
  const host = new URL(server).hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? host : undefined;
}
