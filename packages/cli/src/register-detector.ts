/** `lifeboat register --detector CLUSTER`: makes the identity of a cluster's detector and prints its manifest. */
import { createHash } from "node:crypto";
import { createRealClock } from "@lifeboat/base/adapters";
import { detectorIdentity } from "@lifeboat/core/clusters/rights";
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
    const objects = detectorManifest({
      cluster,
      image: settings.requiredText("agent-image"),
      namespace: settings.requiredText("agent-namespace"),
      kubeconfig,
      condition: asked.condition,
      probeFlags: probeFlags(asked),
    });
    process.stdout.write(objects.map((object) => `---\n${stringify(object)}`).join(""));
    tell(
      `the detector of ${cluster} has its identity; apply the manifest in the cluster. It renews its certificate by itself`,
      "",
    );
  });
}
