/**
 * What the control plane has to know about a kind to run copies of its objects in many clusters.
 *
 * The built-in interpreters are pure. Scripts that users bring implement the same operations behind an asynchronous
 * port of the controllers; their answers have the types of this file, and are as little trusted as any other input.
 */
import type { Fields } from "../../fields.ts";

export type Health = "Healthy" | "Unhealthy" | "Unknown";

/** What one replica asks of a cluster; parts that ask for nothing are absent. */
export interface ReplicaRequirements {
  readonly nodeClaim?: {
    readonly hardNodeAffinity?: Fields;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly unknown[];
  };
  /** Resource name to quantity. */
  readonly resourceRequest?: Readonly<Record<string, string>>;
}

export interface Replicas {
  /** 0 for kinds that are not counted in replicas. */
  readonly replicas: number;
  readonly requirements?: ReplicaRequirements;
}

/** What is known of the copy in one cluster: an entry of a binding's `status.aggregatedStatus`. */
export interface StatusItem {
  readonly clusterName: string;
  /** As `reflectStatus` took it from the copy; absent until it was seen. */
  readonly status?: unknown;
}

/** An object that another one cannot run without: named, or chosen by labels. */
export interface Dependency {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly labelSelector?: Fields;
}

export interface Interpreter {
  /** How many replicas the object asks for, and what each of them needs. */
  replicas(object: Fields): Replicas;
  /** The object asking for this many replicas; kinds that are not counted stay as they are. */
  reviseReplicas(object: Fields, replicas: number): Fields;
  /** The desired object with what the member itself decided on the observed one. Metadata is not its concern. */
  retain(desired: Fields, observed: Fields): Fields;
  /** What is reported of the copy's status; undefined when there is nothing to report. */
  reflectStatus(object: Fields): unknown;
  /** Whether the copy does what it is for. */
  health(object: Fields): Health;
  /** The template's status from those of its copies; undefined when the template's status is not ours to write. */
  aggregateStatus(template: Fields, items: readonly StatusItem[]): Fields | undefined;
  /** What the object refers to in its own namespace, sorted, each once. */
  dependencies(object: Fields): readonly Dependency[];
}

/** The operations for which a kind has an answer of its own. */
export type KindHooks = Readonly<Partial<Interpreter>>;
