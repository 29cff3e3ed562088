/**
 * Which users write the published backends of an ingress: the control plane alone. Load balancers send requests to whatever address
 * stands there, so a tenant that writes it sends the requests of others to a machine of its choice.
 *
 * 1. A change by any other user is refused. It is none when the annotation is sent as it is stored.
 * 2. A request that leaves the annotation out keeps what is stored, as `kubectl replace` of a manifest does.
 * 3. On a new object it is left out with a warning: a manifest that was read from a control plane can be created on another one,
 *    and its addresses are the control plane's to find.
 * 4. `system:masters` may, as everything: for repairs.
 */
import type { KubeObject } from "@lifeboat/api";
import { BACKENDS } from "../well-known.ts";

/** The controllers of an embedded control plane, and the account of `lifeboat manager` on a kube-apiserver. */
const WRITERS: ReadonlySet<string> = new Set([
  "system:lifeboat",
  "system:serviceaccount:lifeboat-system:lifeboat-manager",
]);
const MASTERS = "system:masters";

/** Whether a user may write published backends. */
export function publishesBackends(user: {
  readonly name: string;
  readonly groups: readonly string[];
}): boolean {
  return WRITERS.has(user.name) || user.groups.includes(MASTERS);
}

/** What another user's write of an ingress is to be; `warning`: what of it was left out or kept. */
export function keepBackends<T extends KubeObject>(
  old: KubeObject | undefined,
  object: T,
): { readonly object: T; readonly warning?: string } {
  const sent = object.metadata.annotations?.[BACKENDS];
  const stored = old?.metadata.annotations?.[BACKENDS];
  if (old === undefined && sent !== undefined) {
    const { [BACKENDS]: _, ...annotations } = object.metadata.annotations ?? {};
    return {
      object: { ...object, metadata: { ...object.metadata, annotations } },
      warning: `metadata.annotations[${BACKENDS}]: left out, only the control plane writes it`,
    };
  }
  if (sent !== undefined || stored === undefined) return { object };
  const annotations = { ...object.metadata.annotations, [BACKENDS]: stored };
  return { object: { ...object, metadata: { ...object.metadata, annotations } } };
}

/** Why another user's write is refused; undefined: it is not. */
export function backendsRefusal(
  old: KubeObject | undefined,
  object: KubeObject,
): string | undefined {
  const same = object.metadata.annotations?.[BACKENDS] === old?.metadata.annotations?.[BACKENDS];
  return same
    ? undefined
    : `only the control plane writes the annotation ${BACKENDS}: leave it out, and it stays as it is`;
}
