/**
 * Where a workload ran before its last eviction. The binding keeps it after the eviction is over, so that a person can
 * order the workload back.
 *
 * While another eviction of the workload is under way, the kept value stays: clusters that fail one after the other are
 * one episode, and people want to go back to the state before it.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { isMoving, resultOf } from "../../binding/index.ts";
import { integerAt, isFields, textAt } from "../../fields.ts";
import type { Target } from "../../placement/view.ts";
import { FORMER_RESULT } from "../../well-known.ts";

/** The text of the annotation after an eviction of this binding. */
export function formerResultOf(binding: ResourceBinding): string {
  const kept = binding.metadata.annotations?.[FORMER_RESULT];
  return isMoving(binding) && kept !== undefined ? kept : JSON.stringify(resultOf(binding));
}

/** Where the workload ran before its last eviction; undefined when that is not known. */
export function formerResult(binding: ResourceBinding): readonly Target[] | undefined {
  const text = binding.metadata.annotations?.[FORMER_RESULT];
  const kept = text === undefined ? undefined : parsed(text);
  return Array.isArray(kept) ? kept.flatMap(targetOf) : undefined;
}

function targetOf(value: unknown): readonly Target[] {
  if (!isFields(value) || textAt(value, "name") === "") return [];
  const replicas = integerAt(value, "replicas");
  const name = textAt(value, "name");
  return [replicas === undefined || replicas < 0 ? { name } : { name, replicas }];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
