/**
 * Which script answers which question about which kind, as customizations come, change and go.
 *
 * Several customizations may be about one kind. Each question is answered by the oldest that has a script for it; the
 * others are passed over, and their authors are told.
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

/** The script that answers a question. */
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
  chosen: ReadonlyMap<Operation, Chosen>;
  passedOver: readonly PassedOver[];
}

export class Customizations {
  readonly #targets = new Map<string, Target>();

  scriptOf(apiVersion: string, kind: string, operation: Operation): Chosen | undefined {
    return this.#targets.get(`${apiVersion} ${kind}`)?.chosen.get(operation);
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
      isChanged: NAMES.some((name) => before.get(name)?.script !== chosen.get(name)?.script),
      passedOver: passedOver.filter((one) => !known.has(identityOf(one))),
    };
  }
}

function choose(
  oldestFirst: readonly ResourceInterpreterCustomization[],
): Pick<Target, "chosen" | "passedOver"> {
  const chosen = new Map<Operation, Chosen>();
  const passedOver: PassedOver[] = [];
  for (const customization of oldestFirst)
    for (const operation of NAMES) {
      const { part } = OPERATIONS[operation];
      const script = customization.spec.customizations[part]?.luaScript;
      if (script === undefined) continue;
      const first = chosen.get(operation);
      if (first === undefined)
        chosen.set(operation, { customization: customization.metadata.name, script });
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
