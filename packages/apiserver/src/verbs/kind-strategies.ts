/**
 * What the server does to objects of a few built-in kinds beyond their schema: the fields that are its own, how long
 * a deletion waits, what becomes of dependents by default. Keyed by the store's table.
 */
import { type AnyObject, asCrd } from "@lifeboat/api";
import { markCrdDeleted } from "../catalog/crd-status.ts";
import type { DeleteOptionsBody } from "./verbs.ts";

export interface KindStrategy {
  prepareCreate?(object: AnyObject): AnyObject;
  /** On updates of the main resource. */
  prepareUpdate?(object: AnyObject, old: AnyObject): AnyObject;
  /** Seconds between the request and the removal; absent: 0. */
  graceSeconds?(object: AnyObject, options: DeleteOptionsBody): number;
  /** Whether something beside metadata.finalizers keeps the object. */
  isHeld?(object: AnyObject): boolean;
  /** Changes that go with deletionTimestamp. */
  markDeleted?(object: AnyObject): AnyObject;
  /** What happens to dependents when the request does not set it. */
  readonly orphansByDefault?: boolean;
  /** The metadata that a write of the status cannot change. */
  readonly keptByStatus?: "labels" | "ownerReferences";
  /** Whether a change of annotations counts as a new generation. */
  readonly annotationsCount?: boolean;
}

export const NAMESPACE_TABLE = "/namespaces";
const NAME_LABEL = "kubernetes.io/metadata.name";
const NAMESPACE_FINALIZER = "kubernetes";
const DEFAULT_POD_GRACE_SECONDS = 30;

const strategies: ReadonlyMap<string, KindStrategy> = new Map<string, KindStrategy>([
  [
    NAMESPACE_TABLE,
    {
      prepareCreate: (namespace) =>
        withNameLabel({
          ...namespace,
          spec: { finalizers: withKubernetes(finalizersOf(namespace)) },
          status: { phase: "Active" },
        }),
      prepareUpdate: (namespace, old) => withNameLabel({ ...namespace, spec: old["spec"] }),
      isHeld: (namespace) => finalizersOf(namespace).length > 0,
      markDeleted: (namespace) => ({
        ...withoutGrace(namespace),
        status: { ...(namespace["status"] as object), phase: "Terminating" },
      }),
    },
  ],
  [
    "apiextensions.k8s.io/customresourcedefinitions",
    {
      // A CRD is never removed at once: its objects go first, and the finalizer it gets means that.
      isHeld: (crd) => crd.metadata.deletionTimestamp === undefined,
      markDeleted: (crd) => markCrdDeleted(asCrd(crd)),
    },
  ],
  ["/pods", { graceSeconds: podGraceSeconds, keptByStatus: "ownerReferences" }],
  [
    "certificates.k8s.io/certificatesigningrequests",
    { prepareUpdate: (request, old) => ({ ...request, spec: old["spec"] }) },
  ],
  ["/replicationcontrollers", { orphansByDefault: true }],
  ["batch/jobs", { orphansByDefault: true }],
  ["apps/deployments", { annotationsCount: true, keptByStatus: "labels" }],
]);

const NONE: KindStrategy = Object.freeze({});

/** The strategy of a table; most have nothing special. */
export function strategyOf(table: string): KindStrategy {
  return strategies.get(table) ?? NONE;
}

function withNameLabel(namespace: AnyObject): AnyObject {
  const { metadata } = namespace;
  if (metadata.labels?.[NAME_LABEL] === metadata.name || metadata.name === "") return namespace;
  const labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
  return { ...namespace, metadata: { ...metadata, labels } };
}

function finalizersOf(namespace: AnyObject): readonly string[] {
  const spec = namespace["spec"] as { readonly finalizers?: readonly string[] } | undefined;
  return spec?.finalizers ?? [];
}

function withKubernetes(finalizers: readonly string[]): readonly string[] {
  return finalizers.includes(NAMESPACE_FINALIZER)
    ? finalizers
    : [...finalizers, NAMESPACE_FINALIZER];
}

/** Namespaces have no grace, and do not show 0 either. */
function withoutGrace(namespace: AnyObject): AnyObject {
  const { deletionGracePeriodSeconds: _, ...metadata } = namespace.metadata;
  return { ...namespace, metadata };
}

/** A pod that runs on no node, or runs no more, has nothing to wait for. */
function podGraceSeconds(pod: AnyObject, options: DeleteOptionsBody): number {
  const spec = pod["spec"] as { nodeName?: string; terminationGracePeriodSeconds?: number };
  const phase = (pod["status"] as { phase?: string } | undefined)?.phase;
  if ((spec.nodeName ?? "") === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const asked =
    options.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_POD_GRACE_SECONDS;
  return Math.max(asked, 0);
}
