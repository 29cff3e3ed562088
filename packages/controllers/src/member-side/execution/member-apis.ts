/**
 * Which kinds a member serves, by its discovery.
 *
 * 1. Discovery is read when the first kind is asked for, and again when a kind is missing, at most once in five seconds.
 * 2. A member that did not answer is asked again after five seconds, or when `tryAgain` is called; until then every caller
 *    gets the same error, so that a thousand Works do not wait for it one after another.
 * 3. A kind counts as not served only when its group was read; a group that cannot be read, and a discovery without any
 *    group, are errors and never an answer (D20).
 */
import { apiVersionOf, type Resource } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import { type Client, NotSent } from "@lifeboat/kit";
import { discover } from "../../context/discovery/discovered.ts";

const AGAIN_MS = 5000;

export class MemberApis {
  readonly #clock: Clock;
  readonly #member: Client;
  #kinds: ReadonlyMap<string, Resource> = new Map();
  #failed: ReadonlySet<string> = new Set();
  #readAt = -Infinity;
  #error: unknown;
  readonly #doubted = new Set<string>();
  #reading: Promise<void> | undefined;

  constructor(clock: Clock, member: Client) {
    this.#clock = clock;
    this.#member = member;
  }

  /** The resource of a kind; undefined when the member does not serve it. Rejects when the member does not answer. */
  async resourceOf(apiVersion: string, kind: string): Promise<Resource | undefined> {
    const known = this.#kinds.get(`${apiVersion} ${kind}`);
    if (known !== undefined && !this.#doubted.has(`${apiVersion} ${kind}`)) return known;
    if (this.#reading !== undefined || this.#clock.monotonic() - this.#readAt >= AGAIN_MS)
      await this.#readOnce();
    if (this.#error !== undefined) throw this.#error;
    const found = this.#kinds.get(`${apiVersion} ${kind}`);
    if (found === undefined && this.#failed.has(apiVersion))
      throw new NotSent(`the discovery of ${apiVersion} cannot be read`);
    return found;
  }

  /** The member may be back. */
  tryAgain(): void {
    if (this.#error !== undefined) this.#readAt = -Infinity;
  }

  /** A kind is perhaps served no more: it is looked up again, as soon as discovery may be read again. */
  doubt(apiVersion: string, kind: string): void {
    this.#doubted.add(`${apiVersion} ${kind}`);
  }

  #readOnce(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const found = await discover(this.#member).catch((error: unknown) => {
      this.#error = error;
    });
    this.#readAt = this.#clock.monotonic();
    if (found === undefined) return;
    const { resources, failed } = found;
    if (!resources.some(({ group }) => group !== "")) {
      this.#error = new NotSent("the cluster's discovery is empty");
      return;
    }
    this.#error = undefined;
    this.#doubted.clear();
    this.#failed = new Set(failed);
    const kinds = new Map<string, Resource>();
    for (const [kind, resource] of this.#kinds)
      if (this.#failed.has(apiVersionOf(resource))) kinds.set(kind, resource);
    for (const { group, version, plural, kind, namespaced } of resources)
      kinds.set(
        `${apiVersionOf({ group, version })} ${kind}`,
        Object.freeze({ group, version, plural, kind, namespaced }),
      );
    this.#kinds = kinds;
  }
}
