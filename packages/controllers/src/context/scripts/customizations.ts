/**
 * Which script answers which question about which kind, as customizations come, change and go.
 *
 * Several customizations may be about one kind. Each question is answered by the oldest that has a script for it; the
 * others are passed over, and an Event on them reports it. Only dependencies are answered by all scripts together: each may
 * find what the others do not know of.
 */
import type { ResourceInterpreterCustomization } from "@lifeboat/api";
import type { Interpreter } from "@lifeboat/core/propagation/interpretation";

export type Operation = keyof Interpreter;
type Part = keyof ResourceInterpreterCustomization["spec"]["customizations"];

/** Where a script stands, and what its function is called. */
export const OPERATIONS: Readonly<
  Record<Operation, { readonly part: Part; readonly function: string; readonly results: number }>
> = Object.freeze({
  replicas: { part: "replicaResource", function: "GetReplicas", results: 2 },
  reviseReplicas: { part: "replicaRevision", function: "ReviseReplica", results: 1 },
  retain: { part: "retention", function: "Retain", results: 1 },
  reflectStatus: { part: "statusReflection", function: "ReflectStatus", results: 1 },
  health: { part: "healthInterpretation", function: "InterpretHealth", results: 1 },
  aggregateStatus: { part: "statusAggregation", function: "AggregateStatus", results: 1 },
  dependencies: { part: "dependencyInterpretation", function: "GetDependencies", results: 1 },
});

const NAMES = Object.keys(OPERATIONS) as readonly Operation[];

/** Parts of which several customizations may have a script for one kind: their answers are added up. */
export const ADDED_UP: ReadonlySet<Part> = new Set([OPERATIONS.dependencies.part]);

/** A script that answers a question. */
export interface Chosen {
  readonly customization: string;
  readonly script: string;
}

/** A customization whose script is passed over for that of an older one. */
export interface PassedOver {
  readonly customization: ResourceInterpreterCustomization;
  readonly part: Part;
  readonly by: string;
}

export interface KindChange {
  readonly apiVersion: string;
  readonly kind: string;
  /** Whether any question about the kind has another script than before. */
  readonly isChanged: boolean;
  /** Those that are passed over now and were not before. */
  readonly passedOver: readonly PassedOver[];
}

interface Target {
  readonly all: Map<string, ResourceInterpreterCustomization>;
  chosen: ReadonlyMap<Operation, readonly Chosen[]>;
  passedOver: readonly PassedOver[];
}

const NONE: readonly Chosen[] = Object.freeze([]);

export class Customizations {
  readonly #targets = new Map<string, Target>();

  /** The scripts that answer a question, the oldest first; more than one only where answers are added up. */
  scriptsOf(apiVersion: string, kind: string, operation: Operation): readonly Chosen[] {
    return this.#targets.get(`${apiVersion} ${kind}`)?.chosen.get(operation) ?? NONE;
  }

  /** Takes a change in; answers what it means for the one or two kinds it is about. */
  change(
    old: ResourceInterpreterCustomization | undefined,
    now: ResourceInterpreterCustomization | undefined,
  ): readonly KindChange[] {
    const touched = new Map<string, { readonly apiVersion: string; readonly kind: string }>();
    for (const customization of [old, now]) {
      if (customization === undefined) continue;
      const { target } = customization.spec;
      touched.set(`${target.apiVersion} ${target.kind}`, target);
    }
    if (old !== undefined) this.#targetOf(old).all.delete(old.metadata.name);
    if (now !== undefined) this.#targetOf(now).all.set(now.metadata.name, now);
    return [...touched].map(([key, { apiVersion, kind }]) => ({
      apiVersion,
      kind,
      ...this.#choose(key),
    }));
  }

  #targetOf({ spec: { target } }: ResourceInterpreterCustomization): Target {
    const key = `${target.apiVersion} ${target.kind}`;
    const known = this.#targets.get(key);
    if (known !== undefined) return known;
    const added: Target = { all: new Map(), chosen: new Map(), passedOver: [] };
    this.#targets.set(key, added);
    return added;
  }

  #choose(key: string): Pick<KindChange, "isChanged" | "passedOver"> {
    const target = this.#targets.get(key);
    if (target === undefined) return { isChanged: false, passedOver: [] };
    const before = target.chosen;
    const known = new Set(target.passedOver.map(identityOf));
    const { chosen, passedOver } = choose([...target.all.values()].sort(byAge));
    target.chosen = chosen;
    target.passedOver = passedOver;
    if (target.all.size === 0) this.#targets.delete(key);
    return {
      isChanged: NAMES.some(
        (name) => scriptsIn(before.get(name) ?? NONE) !== scriptsIn(chosen.get(name) ?? NONE),
      ),
      passedOver: passedOver.filter((one) => !known.has(identityOf(one))),
    };
  }
}

/** What distinguishes one choice of scripts from another. */
export function scriptsIn(chosen: readonly Chosen[]): string {
  const [only] = chosen;
  return chosen.length === 1 && only !== undefined
    ? only.script
    : chosen.map(({ script }) => script).join("\0");
}

function choose(
  oldestFirst: readonly ResourceInterpreterCustomization[],
): Pick<Target, "chosen" | "passedOver"> {
  const chosen = new Map<Operation, readonly Chosen[]>();
  const passedOver: PassedOver[] = [];
  for (const customization of oldestFirst)
    for (const operation of NAMES) {
      const { part } = OPERATIONS[operation];
      const script = customization.spec.customizations[part]?.luaScript;
      if (script === undefined) continue;
      const older = chosen.get(operation) ?? NONE;
      const [first] = older;
      if (first === undefined || ADDED_UP.has(part))
        chosen.set(operation, [...older, { customization: customization.metadata.name, script }]);
      else passedOver.push({ customization, part, by: first.customization });
    }
  return { chosen, passedOver };
}

function byAge(
  { metadata: a }: ResourceInterpreterCustomization,
  { metadata: b }: ResourceInterpreterCustomization,
): number {
  return compare(a.creationTimestamp ?? "", b.creationTimestamp ?? "") || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function identityOf({ customization, part, by }: PassedOver): string {
  return `${customization.metadata.uid} ${part} ${by}`;
}
