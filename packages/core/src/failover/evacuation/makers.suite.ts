/** Small valid objects for the tests of this folder. */
import type { Evacuation, ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import type { EvictingTaint } from "./affected.ts";
import type { RecordedTaint } from "./taint-identity.ts";

export const NOW = instantOf(Date.UTC(2026, 0, 1));
export const ADDED = "2026-01-01T00:00:00Z";
export const DOWN: EvictingTaint = { key: "down", effect: "NoExecute", timeAdded: ADDED };
export const SLOW: EvictingTaint = { key: "slow", effect: "PreferNoExecute", timeAdded: ADDED };

export function makeBinding(spec: object = {}, metadata: object = {}): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web", namespace: "default", uid: "u1", generation: 1, ...metadata },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "default" },
      replicas: 1,
      clusters: [{ name: "eu-1", replicas: 1 }],
      ...spec,
    },
  } as unknown as ResourceBinding;
}

export function recorded(taint: EvictingTaint, more: Partial<RecordedTaint> = {}): RecordedTaint {
  return { taint, slices: 1, recorded: true, ...more };
}

export function makeEvacuation(
  name: string,
  status?: Evacuation["status"],
  metadata: object = {},
): Evacuation {
  const cluster = name.slice(0, name.lastIndexOf("-"));
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name, uid: `uid of ${name}`, generation: 1, ...metadata },
    spec: { cluster, paused: false },
    ...(status === undefined ? {} : { status }),
  } as unknown as Evacuation;
}
