/** What a watch that survives the control plane's deaths saw of evictions from one cluster. */
import { type ResourceBinding, resourceBindings } from "@lifeboat/api";
import type { Client, Watch } from "@lifeboat/kit";

const TRY_AGAIN_MS = 100;

/** One eviction of one binding, at a second of the control plane's clock. */
export interface Eviction {
  readonly binding: string;
  readonly second: number;
}

/** Follows all bindings from a version on, through every death of the server, without missing a change. */
export class EvictionLog {
  readonly #client: Client;
  readonly #cluster: string;
  readonly #mayForget: boolean;
  readonly #inResult = new Set<string>();
  readonly #evictions: Eviction[] = [];
  readonly #problems: string[] = [];
  #version: string;
  #watch: Watch | undefined;
  #stopped = false;

  private constructor(client: Client, cluster: string, version: string, mayForget: boolean) {
    this.#mayForget = mayForget;
    this.#client = client;
    this.#cluster = cluster;
    this.#version = version;
  }

  /** Begins with what is there now. `mayForget`: the server may know no changes of before its start, as a kube-apiserver. */
  static async start(client: Client, cluster: string, mayForget = false): Promise<EvictionLog> {
    const { metadata, items } = await client.list(resourceBindings);
    const log = new EvictionLog(client, cluster, metadata.resourceVersion, mayForget);
    for (const binding of items) log.#see(binding);
    log.#follow();
    return log;
  }

  /** Everything that was seen, in order. */
  get evictions(): readonly Eviction[] {
    return this.#evictions;
  }

  /** What an eviction must not look like, and why a watch could not go on. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  stop(): void {
    this.#stopped = true;
    this.#watch?.stop();
  }

  #follow(): void {
    const options = { resourceVersion: this.#version };
    this.#watch = this.#client.watch(resourceBindings, options, {
      event: (event) => {
        if (event.type === "BOOKMARK") return;
        this.#version = event.object.metadata.resourceVersion;
        this.#see(event.object);
      },
      end: (why) => {
        if (this.#stopped) return;
        const { code = 0 } = why.kind === "refused" ? why.status : {};
        if (code === 410 && this.#mayForget) void this.#listAgain();
        // A server that has just started, or ends, is asked again.
        else if (why.kind !== "refused" || code === 429 || code >= 500)
          setTimeout(() => this.#follow(), TRY_AGAIN_MS);
        else this.#problems.push(`a watch was refused: ${why.status.message}`);
      },
    });
  }

  /** What is there now is compared with what was seen last. */
  async #listAgain(): Promise<void> {
    try {
      const { metadata, items } = await this.#client.list(resourceBindings);
      this.#version = metadata.resourceVersion;
      for (const binding of items) this.#see(binding);
      this.#follow();
    } catch {
      // It is not ready yet: again.
      setTimeout(() => void this.#listAgain(), TRY_AGAIN_MS);
    }
  }

  #see({ metadata, spec }: ResourceBinding): void {
    const isIn = (spec.clusters ?? []).some(({ name }) => name === this.#cluster);
    const wasIn = this.#inResult.has(metadata.name);
    if (isIn) this.#inResult.add(metadata.name);
    else this.#inResult.delete(metadata.name);
    if (!isIn && wasIn) this.#leave(metadata.name, spec);
    if (isIn && !wasIn && this.#evictions.some(({ binding }) => binding === metadata.name))
      this.#problems.push(`${metadata.name} went back to ${this.#cluster}`);
  }

  /** The cluster left the result: the same write says with a task that it was an eviction. */
  #leave(binding: string, { gracefulEvictionTasks = [] }: ResourceBinding["spec"]): void {
    const tasks = gracefulEvictionTasks.filter(({ fromCluster }) => fromCluster === this.#cluster);
    const at = Date.parse(tasks[0]?.creationTimestamp ?? "");
    if (tasks.length !== 1 || Number.isNaN(at))
      this.#problems.push(`${binding} left ${this.#cluster} with ${tasks.length} tasks`);
    this.#evictions.push({ binding, second: at / 1000 });
  }
}

/** The stretches of time in which more was evicted than a rate and one token allow; times are whole seconds. */
export function tooFast(evictions: readonly Eviction[], perSecond: number): readonly string[] {
  const seconds = evictions.map(({ second }) => second).toSorted((a, b) => a - b);
  return seconds.flatMap((from, i) =>
    seconds.slice(i).flatMap((to, j) => {
      const most = 1 + perSecond * (to - from + 1);
      return j + 1 > most ? [`${j + 1} evictions within ${to - from + 1} s`] : [];
    }),
  );
}
