/**
 * One reason for which the old copy of a workload that moves gracefully may go. Of the enabled plugins any one suffices;
 * with none, nothing is let go. Whatever a plugin says, the floor holds (D9).
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
