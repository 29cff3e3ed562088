/**
 * An eviction plugin: a rule that lets the old copy of a gracefully evicted workload go. One enabled plugin that agrees
 * suffices; with no plugin enabled, no old copy goes. The floor holds in any case (D9).
 */
import type { EvictionTask } from "@lifeboat/api";
import type { TaskReason } from "../reasons.ts";
import type { TasksView } from "../view.ts";

export interface EvictionPlugin {
  /** As `--evict-plugins` names it. */
  readonly name: string;
  /** Why a task is over when the plugin passes. */
  readonly reason: TaskReason;
  passes(view: TasksView, task: EvictionTask): boolean;
}
