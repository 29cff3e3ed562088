/**
 * A storage whose rows come from a backup, older than what clients have seen.
 *
 * Clients hold versions that the backup knows nothing of. Were the counter to go on from the backup, a watch that begins
 * at such a version would wait in silence, or miss changes once the counter has passed it, and no client would notice.
 *
 * 1. Versions go on far above every one that can have been given out since the backup.
 * 2. The past is forgotten: a client that resumes a watch or a list at an older version gets 410, and lists again.
 * 3. Both are durable before anything is served; doing it again does no harm.
 */
import type { Loaded, Storage } from "./storage.ts";

/** More versions than are given out between a backup and its use; there is room for millions of such steps. */
const STEP = 1_000_000_000;

/** The same storage, loaded as what it is: a past state of which clients know the future. */
export function restoredStorage(storage: Storage): Storage {
  return {
    load: async (): Promise<Loaded> => {
      const loaded = await storage.load();
      const revisionCeiling = loaded.revisionCeiling + STEP;
      const historyStart = revisionCeiling + 1;
      await storage.commit({ changes: [], revisionCeiling, trimHistoryBefore: historyStart });
      return { ...loaded, revisionCeiling, historyStart, history: [] };
    },
    commit: (batch) => storage.commit(batch),
    lackOfRoom: (bytes) => storage.lackOfRoom(bytes),
    close: () => storage.close(),
  };
}
