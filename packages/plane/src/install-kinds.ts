/**
 * Puts the CRDs of the control plane's kinds into an API server, as they are in this version of the program.
 *
 * 1. Repeating it changes nothing; a CRD that differs is brought up to date, whatever changed it.
 * 2. All CRDs go at once: on the embedded server that is two commits.
 */
import {
  asCrd,
  controlPlaneKinds,
  crdOf,
  type CustomResourceDefinition,
  customResourceDefinitions,
  equalJson,
  hasCrdCondition,
  isRefused,
  keptAs,
  type NewCrd,
} from "@lifeboat/api";
import { decideCrdStatus } from "@lifeboat/apiserver";
import type { Clock } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";

const CRDS = keptAs<CustomResourceDefinition>(customResourceDefinitions);

/** Creates or updates the CRDs; answers them as they are stored. They are served once they are established. */
export function installKinds(client: Client): Promise<readonly CustomResourceDefinition[]> {
  return Promise.all(controlPlaneKinds.map((kind) => installCrd(client, crdOf(kind))));
}

/**
 * Establishes CRDs without waiting for the server's housekeeping, which would decide the same: for an embedded server
 * that has not begun to run, so that its first answer already knows these kinds.
 */
export async function establishKinds(
  clock: Clock,
  client: Client,
  crds: readonly CustomResourceDefinition[],
): Promise<void> {
  const waiting = crds.filter((crd) => !hasCrdCondition(crd, "Established"));
  await Promise.all(
    waiting.map((crd) => {
      const status = decideCrdStatus(
        crd,
        crds.filter((other) => other !== crd),
        clock.now(),
      );
      return client.update(CRDS, { ...crd, status }, { subresource: "status" });
    }),
  );
}

async function installCrd(client: Client, wanted: NewCrd): Promise<CustomResourceDefinition> {
  const key = { namespace: "", name: wanted.metadata.name };
  for (;;) {
    try {
      const found = await client.get(CRDS, key);
      if (equalJson(found.spec, wanted.spec)) return found;
      return await client.update(CRDS, asCrd({ ...found, spec: wanted.spec }));
    } catch (error) {
      if (isRefused(error, "Conflict")) continue;
      if (!isRefused(error, "NotFound")) throw error;
    }
    try {
      return await client.create(CRDS, wanted);
    } catch (error) {
      // Another process installs at the same time: read again.
      if (!isRefused(error, "AlreadyExists")) throw error;
    }
  }
}
