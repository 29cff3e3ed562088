/**
 * Interpretation by users' scripts where there are any, and by built-in answers where there are none.
 *
 * 1. A question about a kind with a script for it is answered by that script alone (dependencies: by all scripts for them
 *    together); when a script fails, so does the question. Built-in answers never stand in: they would be answers to another
 *    question.
 * 2. Scripts are asked with the object as it is and never change it; answers are checked before they are passed on.
 * 3. The same object is not asked about twice: objects are frozen, so the first answer holds until the script changes.
 */
import type { AnyObject, Json, ResourceInterpreterCustomization } from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import type { Fields } from "@lifeboat/core";
import {
  aggregateFromScript,
  dependenciesFromScript,
  type Dependency,
  type Health,
  healthFromScript,
  interpreterOf,
  mergedDependencies,
  objectFromScript,
  type Replicas,
  replicasFromScript,
  type ScriptAnswer,
  statusFromScript,
  type StatusItem,
} from "@lifeboat/core/propagation/interpretation";
import type { EventRecorder, Histogram, Informer, KitPorts, Service } from "@lifeboat/kit";
import { type Interpretation, InterpretationFailed } from "../interpretation.ts";
import {
  type Chosen,
  Customizations,
  type Operation,
  OPERATIONS,
  scriptsIn,
} from "./customizations.ts";
import { scriptDuration } from "./metrics.ts";
import { type ScriptEngine, ScriptFailed } from "./script-engine.ts";

export interface InterpretationPorts extends Pick<KitPorts, "clock" | "log" | "metrics"> {
  readonly events: Pick<EventRecorder, "record">;
}

/** Builds the interpretation over the customizations that an informer holds. */
export function createInterpretation(
  ports: InterpretationPorts,
  customizations: Informer<ResourceInterpreterCustomization>,
  engine: ScriptEngine,
): Interpretation & Service {
  return new ScriptedInterpretation(ports, customizations, engine);
}

/** What was answered about an object, by question; void when the scripts are others. */
type Memory = Map<Operation, { readonly scripts: string; readonly answer: Promise<unknown> }>;

class ScriptedInterpretation implements Interpretation, Service {
  readonly name = "interpretation";
  readonly #ports: InterpretationPorts;
  readonly #informer: Informer<ResourceInterpreterCustomization>;
  readonly #engine: ScriptEngine;
  readonly #customizations = new Customizations();
  readonly #handlers = new Set<(apiVersion: string, kind: string) => void>();
  readonly #answered = new WeakMap<object, Memory>();
  readonly #duration: Histogram<"function" | "outcome">;

  constructor(
    ports: InterpretationPorts,
    informer: Informer<ResourceInterpreterCustomization>,
    engine: ScriptEngine,
  ) {
    this.#ports = ports;
    this.#informer = informer;
    this.#engine = engine;
    this.#duration = ports.metrics.histogram(scriptDuration);
    // From the beginning, not from `run`: a caller must find every script once the informer is synced.
    informer.onChange((old, now) => this.#changed(old, now));
  }

  /** There is nothing to do but to answer. */
  run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  whenSynced(signal: AbortSignal): Promise<boolean> {
    return this.#informer.whenSynced(signal);
  }

  onChange(handler: (apiVersion: string, kind: string) => void): () => void {
    // A set holds a function once; two callers with the same one must both be called back.
    const own = (apiVersion: string, kind: string): void => handler(apiVersion, kind);
    this.#handlers.add(own);
    return () => {
      this.#handlers.delete(own);
    };
  }

  isCustomized(apiVersion: string, kind: string, operation: Operation): boolean {
    return this.#customizations.scriptsOf(apiVersion, kind, operation).length > 0;
  }

  async replicas(object: AnyObject): Promise<Replicas> {
    const script = this.#scriptFor(object, "replicas");
    if (script === undefined) return interpreterOf(object).replicas(object);
    return this.#once(object, "replicas", script, ([count, needs]) =>
      replicasFromScript(count, needs),
    );
  }

  async reviseReplicas(object: AnyObject, replicas: number): Promise<Fields> {
    const script = this.#scriptFor(object, "reviseReplicas");
    if (script === undefined) return interpreterOf(object).reviseReplicas(object, replicas);
    return this.#ask("reviseReplicas", script, [object, replicas], ([answer]) =>
      objectFromScript(answer, object),
    );
  }

  async retain(desired: Fields, observed: Fields): Promise<Fields> {
    const script = this.#scriptFor(desired, "retain");
    if (script === undefined) return interpreterOf(desired).retain(desired, observed);
    return this.#ask("retain", script, [desired, observed], ([answer]) =>
      objectFromScript(answer, desired),
    );
  }

  async reflectStatus(object: Fields): Promise<unknown> {
    const script = this.#scriptFor(object, "reflectStatus");
    if (script === undefined) return interpreterOf(object).reflectStatus(object);
    return this.#once(object, "reflectStatus", script, ([status]) => statusFromScript(status));
  }

  async health(object: Fields): Promise<Health> {
    const script = this.#scriptFor(object, "health");
    if (script === undefined) return interpreterOf(object).health(object);
    return this.#once(object, "health", script, ([health]) => healthFromScript(health));
  }

  async aggregateStatus(
    template: AnyObject,
    items: readonly StatusItem[],
  ): Promise<Fields | undefined> {
    const script = this.#scriptFor(template, "aggregateStatus");
    if (script === undefined) return interpreterOf(template).aggregateStatus(template, items);
    // Built-in answers need to know that something is still to be placed; scripts count clusters.
    const copies = items.filter(({ clusterName }) => clusterName !== "");
    return this.#ask("aggregateStatus", script, [template, copies], ([answer]) =>
      aggregateFromScript(answer, template),
    );
  }

  async dependencies(object: AnyObject): Promise<readonly Dependency[]> {
    const scripts = this.#scriptsFor(object, "dependencies");
    if (scripts.length === 0) return interpreterOf(object).dependencies(object);
    const ask = (script: Chosen): Promise<readonly Dependency[]> =>
      this.#ask("dependencies", script, [object], ([list]) => dependenciesFromScript(list));
    return this.#remembered(object, "dependencies", scripts, async () =>
      deepFreeze(mergedDependencies(await Promise.all(scripts.map(ask)))),
    );
  }

  #scriptFor(object: Fields, operation: Operation): Chosen | undefined {
    return this.#scriptsFor(object, operation)[0];
  }

  #scriptsFor({ apiVersion, kind }: Fields, operation: Operation): readonly Chosen[] {
    return this.#customizations.scriptsOf(String(apiVersion), String(kind), operation);
  }

  /** Asks one script about an object alone, unless that was asked before. */
  #once<T>(
    object: Fields,
    operation: Operation,
    script: Chosen,
    take: (results: readonly Json[]) => ScriptAnswer<T>,
  ): Promise<T> {
    return this.#remembered(object, operation, [script], () =>
      this.#ask(operation, script, [object], take),
    );
  }

  /** What these scripts answered about an object; they are asked the first time. Failures are not remembered. */
  #remembered<T>(
    object: Fields,
    operation: Operation,
    chosen: readonly Chosen[],
    ask: () => Promise<T>,
  ): Promise<T> {
    const scripts = scriptsIn(chosen);
    const memory: Memory = this.#answered.get(object) ?? new Map();
    this.#answered.set(object, memory);
    const known = memory.get(operation);
    if (known?.scripts === scripts) return known.answer as Promise<T>;
    const answer = ask();
    memory.set(operation, { scripts, answer });
    answer.catch(() => {
      // The caller gets the error; here it is only not remembered as an answer.
      if (memory.get(operation)?.answer === answer) memory.delete(operation);
    });
    return answer;
  }

  async #ask<T>(
    operation: Operation,
    { script, customization }: Chosen,
    given: readonly unknown[],
    take: (results: readonly Json[]) => ScriptAnswer<T>,
  ): Promise<T> {
    const { function: name, results } = OPERATIONS[operation];
    const { clock } = this.#ports;
    const started = clock.monotonic();
    const ended = (outcome: string): void =>
      this.#duration.observe((clock.monotonic() - started) / 1000, { function: name, outcome });
    const failed = (why: string): InterpretationFailed =>
      new InterpretationFailed(
        `${name} of the ResourceInterpreterCustomization ${customization} failed: ${why}`,
      );
    let found: readonly Json[];
    try {
      // Objects are JSON, whatever their types call it.
      const call = { script, function: name, arguments: given as readonly Json[], results };
      found = await this.#engine.run({ ...call, now: clock.now() });
    } catch (error) {
      if (!(error instanceof ScriptFailed)) throw error;
      ended(error.kind);
      throw failed(error.message);
    }
    const answer = take(found);
    ended("problem" in answer ? "result" : "success");
    if ("problem" in answer) throw failed(answer.problem);
    return deepFreeze(answer.value);
  }

  #changed(
    old: ResourceInterpreterCustomization | undefined,
    now: ResourceInterpreterCustomization | undefined,
  ): void {
    for (const change of this.#customizations.change(old, now)) {
      const { apiVersion, kind } = change;
      for (const { customization, part, by } of change.passedOver)
        this.#ports.events.record(customization, {
          type: "Warning",
          reason: "ScriptPassedOver",
          message: `The script in ${part} is not used: the older customization ${by} has one for ${apiVersion} ${kind}.`,
        });
      if (!change.isChanged) continue;
      for (const handler of this.#handlers) handler(apiVersion, kind);
    }
  }
}
