/** Keeps the confirmed zone in a file over restarts: written whole beside it, then put in its place. */
import { readFile, rename, writeFile } from "node:fs/promises";
import type { ConfirmedZone, ZoneStore } from "../keeper.ts";

export function zoneFile(path: string): ZoneStore {
  return {
    async load() {
      let text: string;
      try {
        text = await readFile(path, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
      const kept = JSON.parse(text) as ConfirmedZone;
      if (!Number.isSafeInteger(kept.serial) || !Array.isArray(kept.sets))
        throw new Error(`${path} holds no zone`);
      return kept;
    },
    async save(zone) {
      await writeFile(`${path}.new`, JSON.stringify(zone), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
  };
}
