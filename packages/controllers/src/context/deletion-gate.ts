/**
 * The one gate that all deletions of Works pass (D19). A controller that deletes Works asks it first and deletes only what
 * it lets through; it is shared by all controllers of a process and holds between processes too.
 */
import type { DeletionCause } from "@lifeboat/core/propagation/brake";
import type { ControllerWatch, Service } from "@lifeboat/kit";
import type { ObjectKey } from "@lifeboat/api";

/** A Work that is to be deleted. */
export interface AskedDeletion {
  readonly uid: string;
  readonly cause: DeletionCause;
}

export interface DeletionGate extends Service {
  /**
   * Answers the uids that may be deleted now. Asking again for one that was let through within the last minute costs
   * nothing. Rejects when the budget cannot be written: then nothing may be deleted.
   */
  admit(asked: readonly AskedDeletion[]): Promise<ReadonlySet<string>>;
  /** Reports these keys whenever a person has released the brake. */
  watching(waiting: () => Iterable<ObjectKey>): ControllerWatch;
}
