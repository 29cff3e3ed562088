/**
 * What a kind means to us: built-in answers, or those of a user's script (ResourceInterpreterCustomization).
 *
 * Asking is part of observing: a reconcile asks first and decides then. Answers are as little trusted as any other input.
 *
 * 1. A question ends in an answer or in `InterpretationFailed`, within a bounded time.
 * 2. Kinds without a customization are answered by `core/propagation/interpretation`, at once.
 */
import type { AnyObject } from "@lifeboat/api";
import type { Fields } from "@lifeboat/core";
import type {
  Dependency,
  Health,
  Interpreter,
  Replicas,
  StatusItem,
} from "@lifeboat/core/propagation/interpretation";
import { interpreterOf } from "@lifeboat/core/propagation/interpretation";

/** A script had no usable answer: it failed, took too long, or answered something else than was asked. */
export class InterpretationFailed extends Error {
  override readonly name = "InterpretationFailed";
}

export interface Interpretation {
  replicas(object: AnyObject): Promise<Replicas>;
  reviseReplicas(object: AnyObject, replicas: number): Promise<Fields>;
  retain(desired: Fields, observed: Fields): Promise<Fields>;
  reflectStatus(object: Fields): Promise<unknown>;
  health(object: Fields): Promise<Health>;
  aggregateStatus(template: AnyObject, items: readonly StatusItem[]): Promise<Fields | undefined>;
  dependencies(object: AnyObject): Promise<readonly Dependency[]>;
  /** Whether a script answers this question for this kind. */
  isCustomized(apiVersion: string, kind: string, operation: keyof Interpreter): boolean;
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /** Called with the kind whose customization came, changed or went. The answer ends it. */
  onChange(handler: (apiVersion: string, kind: string) => void): () => void;
}

/** Built-in answers alone. */
export const builtinInterpretation: Interpretation = Object.freeze({
  replicas: (object: AnyObject) => Promise.resolve(interpreterOf(object).replicas(object)),
  reviseReplicas: (object: AnyObject, replicas: number) =>
    Promise.resolve(interpreterOf(object).reviseReplicas(object, replicas)),
  retain: (desired: Fields, observed: Fields) =>
    Promise.resolve(interpreterOf(desired).retain(desired, observed)),
  reflectStatus: (object: Fields) => Promise.resolve(interpreterOf(object).reflectStatus(object)),
  health: (object: Fields) => Promise.resolve(interpreterOf(object).health(object)),
  aggregateStatus: (template: AnyObject, items: readonly StatusItem[]) =>
    Promise.resolve(interpreterOf(template).aggregateStatus(template, items)),
  dependencies: (object: AnyObject) => Promise.resolve(interpreterOf(object).dependencies(object)),
  isCustomized: () => false,
  whenSynced: () => Promise.resolve(true),
  onChange: () => () => {},
});
