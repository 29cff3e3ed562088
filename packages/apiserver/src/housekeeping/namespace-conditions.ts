/** The conditions of a namespace that is being deleted about what is left in it, in the words of Kubernetes. Pure. */

export interface NamespaceCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** What is left of one collection. */
export interface Leftovers {
  /** `deployments.apps`. */
  readonly resource: string;
  readonly count: number;
  /** The finalizers of the objects that are left, with repetition. */
  readonly finalizers: readonly string[];
}

/** The conditions after a look; the very array `before` when nothing changed. */
export function decideNamespaceConditions(
  before: readonly NamespaceCondition[],
  leftovers: readonly Leftovers[],
  time: string,
): readonly NamespaceCondition[] {
  const wanted = [...FINE, contentRemaining(leftovers), finalizersRemaining(leftovers)];
  const after = wanted.map((verdict): NamespaceCondition => {
    const old = before.find((condition) => condition.type === verdict.type);
    const lastTransitionTime = old?.status === verdict.status ? old.lastTransitionTime : time;
    return { ...verdict, lastTransitionTime };
  });
  const others = before.filter(({ type }) => !after.some((condition) => condition.type === type));
  const conditions = [...others, ...after];
  return sameConditions(conditions, before) ? before : conditions;
}

type Verdict = Omit<NamespaceCondition, "lastTransitionTime">;

const FINE: readonly Verdict[] = [
  {
    type: "NamespaceDeletionDiscoveryFailure",
    status: "False",
    reason: "ResourcesDiscovered",
    message: "All resources successfully discovered",
  },
  {
    type: "NamespaceDeletionGroupVersionParsingFailure",
    status: "False",
    reason: "ParsedGroupVersions",
    message: "All legacy kube types successfully parsed",
  },
  {
    type: "NamespaceDeletionContentFailure",
    status: "False",
    reason: "ContentDeleted",
    message: "All content successfully deleted, may be waiting on finalization",
  },
];

function contentRemaining(leftovers: readonly Leftovers[]): Verdict {
  const type = "NamespaceContentRemaining";
  if (leftovers.length === 0)
    return {
      type,
      status: "False",
      reason: "ContentRemoved",
      message: "All content successfully removed",
    };
  const parts = leftovers
    .map(({ resource, count }) => `${inGroup(resource)} has ${count} resource instances`)
    .toSorted();
  const message = `Some resources are remaining: ${parts.join(", ")}`;
  return { type, status: "True", reason: "SomeResourcesRemain", message };
}

/** Kubernetes writes the empty group of core resources too: `pods.`. */
function inGroup(resource: string): string {
  return resource.includes(".") ? resource : `${resource}.`;
}

function finalizersRemaining(leftovers: readonly Leftovers[]): Verdict {
  const type = "NamespaceFinalizersRemaining";
  const counts = new Map<string, number>();
  for (const name of leftovers.flatMap(({ finalizers }) => finalizers))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  if (counts.size === 0)
    return {
      type,
      status: "False",
      reason: "ContentHasNoFinalizers",
      message: "All content-preserving finalizers finished",
    };
  const parts = [...counts].map(([name, count]) => `${name} in ${count} resource instances`);
  const message = `Some content in the namespace has finalizers remaining: ${parts.toSorted().join(", ")}`;
  return { type, status: "True", reason: "SomeFinalizersRemain", message };
}

function sameConditions(
  a: readonly NamespaceCondition[],
  b: readonly NamespaceCondition[],
): boolean {
  return (
    a.length === b.length &&
    a.every((condition) => {
      const other = b.find(({ type }) => type === condition.type);
      return (
        other !== undefined &&
        other.status === condition.status &&
        other.reason === condition.reason &&
        other.message === condition.message
      );
    })
  );
}
