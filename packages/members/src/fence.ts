/**
 * Keeps a controller from deciding on a copy that does not show its own last writes yet: it would make the same pods
 * twice, or take away more than it should.
 *
 * A look that comes too early ends at once. The write's own event brings the next look; should that never come (made
 * and gone while the watch was broken), the controller looks again after a while.
 */
import type { KubeObject } from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import { checkAgainAt, compareVersions, type KitPorts, type Outcome } from "@lifeboat/kit";

const PATIENCE_MS = 10_000;

/** The copy that must have caught up: an informer. */
interface Copy {
  readonly resourceVersion: string | undefined;
}

export class Fence {
  readonly #clock: KitPorts["clock"];
  readonly #copy: Copy;
  readonly #written = new Map<string, string>();

  constructor(clock: KitPorts["clock"], copy: Copy) {
    this.#clock = clock;
    this.#copy = copy;
  }

  /** Remembers a write of this key. */
  wrote(key: string, object: KubeObject): void {
    const version = object.metadata.resourceVersion;
    const known = this.#written.get(key);
    if (known === undefined || compareVersions(version, known) > 0) this.#written.set(key, version);
  }

  /** Undefined when the copy shows the key's last write, else how the look shall end. */
  tooEarly(key: string): Outcome | undefined {
    const version = this.#written.get(key);
    if (version === undefined) return undefined;
    if (compareVersions(this.#copy.resourceVersion ?? "0", version) < 0)
      return checkAgainAt(addMs(this.#clock.now(), PATIENCE_MS));
    this.#written.delete(key);
    return undefined;
  }
}
