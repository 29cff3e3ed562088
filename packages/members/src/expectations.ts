/**
 * Keeps a controller from deciding on a cache that does not show the controller's own last writes yet: it would create the
 * same pods twice, or delete too many.
 *
 * A reconcile that comes too early ends at once. The watch event of the write starts the next one. If that event never
 * comes (the object was created and deleted while the watch was broken), the key is reconciled again after a while.
 */
import type { KubeObject } from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import { checkAgainAt, compareVersions, type KitPorts, type Outcome } from "@lifeboat/kit";

const PATIENCE_MS = 10_000;

/** The informer that must have caught up. */
interface Cache {
  readonly resourceVersion: string | undefined;
}

export class Expectations {
  readonly #clock: KitPorts["clock"];
  readonly #cache: Cache;
  readonly #written = new Map<string, string>();

  constructor(clock: KitPorts["clock"], cache: Cache) {
    this.#clock = clock;
    this.#cache = cache;
  }

  /** Remembers a write of this key. */
  wrote(key: string, object: KubeObject): void {
    const version = object.metadata.resourceVersion;
    const known = this.#written.get(key);
    if (known === undefined || compareVersions(version, known) > 0) this.#written.set(key, version);
  }

  /** Undefined when the cache shows the last write of the key, else how the reconcile ends. */
  tooEarly(key: string): Outcome | undefined {
    const version = this.#written.get(key);
    if (version === undefined) return undefined;
    if (compareVersions(this.#cache.resourceVersion ?? "0", version) < 0)
      return checkAgainAt(addMs(this.#clock.now(), PATIENCE_MS));
    this.#written.delete(key);
    return undefined;
  }
}
