/** A plane that can be killed, as the kill test sees it: the seam for swapping the store's child for the whole product. */
import type { ListedItem, SeenEvent } from "./history-checker.ts";

export interface KillablePlane {
  /** Resolves with the revision when acknowledged, with `refused` when it certainly did not happen; never after a kill. */
  put(key: string, value: string): Promise<number | "refused">;
  /** Resolves with `done` when acknowledged; the revision of a deletion need not be told. */
  remove(key: string): Promise<"done" | "refused">;
  list(prefix: string): Promise<{
    readonly revision: number;
    readonly items: readonly ListedItem[];
  }>;
  /** Resolves when all past events were given to the sink; live ones follow. */
  watch(prefix: string, from: number, sink: (event: SeenEvent) => void): Promise<void>;
  /** kill -9; resolves when the process is gone and everything it had sent has been read. */
  kill(): Promise<void>;
}

/** Starts a plane on the data of the one before. */
export type StartPlane = () => Promise<KillablePlane>;
