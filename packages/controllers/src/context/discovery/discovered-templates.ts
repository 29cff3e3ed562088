/**
 * Templates as discovery shows them: an informer for each kind that can be listed, watched and deleted, in the version its
 * group prefers; see templates.ts. Discovery is read again when a CustomResourceDefinition changes, and from time to time
 * for APIs that are served by others.
 *
 * Left out: the control plane's own groups, Events, Leases, and the kinds that the options name.
 */
import {
  type AnyObject,
  apiVersionOf,
  customResourceDefinitions,
  qualifiedName,
  type Resource,
} from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import { claimIdsOf } from "@lifeboat/core/propagation/matching";
import { type Client, Informer, type KitPorts } from "@lifeboat/kit";
import type { Reading } from "../informers.ts";
import type { TemplateHandler, TemplateReference, Templates } from "../templates.ts";
import { type DiscoveredResource, discover } from "./discovered.ts";

export interface TemplatesOptions {
  /** Kinds that are never templates. */
  skips(resource: Resource): boolean;
  readonly reading?: Reading;
}

const AGAIN_MS = 300_000;
const RETRY_MS = 1000;
/** How long a kind that cannot be listed is waited for before the others go ahead without it. */
const PATIENCE_MS = 10_000;

/** Groups whose objects are the control plane's own, or hold nothing that could be propagated. */
const OWN_GROUPS: ReadonlySet<string> = new Set([
  "cluster.karmada.io",
  "policy.karmada.io",
  "work.karmada.io",
  "config.karmada.io",
  "networking.karmada.io",
  "autoscaling.karmada.io",
  "remedy.karmada.io",
  "apps.karmada.io",
  "lifeboat.dev",
  "events.k8s.io",
  "coordination.k8s.io",
]);

const NEEDED_VERBS = ["list", "watch", "delete"];

/** Builds the templates; they follow the API while they run. */
export function createTemplates(
  ports: KitPorts,
  plane: Client,
  options: TemplatesOptions = { skips: () => false },
): Templates {
  return new DiscoveredTemplates(ports, plane, options);
}

interface Followed {
  readonly informer: Informer<AnyObject>;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  unsubscribe(): void;
}

class DiscoveredTemplates implements Templates {
  readonly name = "templates";
  readonly #ports: KitPorts;
  readonly #plane: Client;
  readonly #options: TemplatesOptions;
  readonly #crds: Informer<AnyObject>;
  /** By `apiVersion kind`. */
  readonly #followed = new Map<string, Followed>();
  readonly #handlers = new Set<TemplateHandler>();
  #discovered = false;
  #waiting: (() => void)[] = [];
  #wake: (() => void) | undefined;
  #stale = true;

  constructor(ports: KitPorts, plane: Client, options: TemplatesOptions) {
    this.#ports = ports;
    this.#plane = plane;
    this.#options = options;
    this.#crds = new Informer(ports, plane, customResourceDefinitions, options.reading);
  }

  async whenSynced(signal: AbortSignal): Promise<boolean> {
    if (!(await this.#whenDiscovered(signal))) return false;
    const patience = new AbortController();
    const stop = (): void => patience.abort();
    signal.addEventListener("abort", stop, { once: true });
    void sleep(this.#ports.clock, PATIENCE_MS, patience.signal).then(stop);
    for (const { informer } of this.#followed.values()) await informer.whenSynced(patience.signal);
    signal.removeEventListener("abort", stop);
    stop();
    return !signal.aborted;
  }

  async #whenDiscovered(signal: AbortSignal): Promise<boolean> {
    if (!this.#discovered && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    return !signal.aborted;
  }

  resourceOf(apiVersion: string, kind: string): Resource | undefined {
    const informer = this.#followed.get(`${apiVersion} ${kind}`)?.informer;
    return informer?.synced === true ? informer.resource : undefined;
  }

  get(reference: TemplateReference): AnyObject | undefined {
    const followed = this.#followed.get(`${reference.apiVersion} ${reference.kind}`);
    return followed?.informer.get({ namespace: reference.namespace ?? "", name: reference.name });
  }

  list(apiVersion: string, kind: string, namespace?: string): readonly AnyObject[] {
    const informer = this.#followed.get(`${apiVersion} ${kind}`)?.informer;
    if (informer === undefined) return [];
    return namespace === undefined ? informer.list() : informer.byIndex("namespace", namespace);
  }

  claimedBy(policyId: string): readonly AnyObject[] {
    return [...this.#followed.values()].flatMap(({ informer }) =>
      informer.byIndex("claim", policyId),
    );
  }

  onChange(handler: TemplateHandler): () => void {
    for (const { informer } of this.#followed.values())
      for (const object of informer.list()) handler(informer.resource, undefined, object);
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  async run(signal: AbortSignal): Promise<void> {
    const crds = this.#crds.run(signal);
    const unsubscribe = this.#crds.onChange((old, now) => {
      if (old === undefined || now === undefined || changesApi(old, now)) this.#invalidate();
    });
    const onAbort = (): void => this.#wake?.();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      while (!signal.aborted) await this.#round(signal);
    } finally {
      unsubscribe();
      for (const kind of this.#followed.keys()) await this.#unfollow(kind);
      await crds;
    }
  }

  #invalidate(): void {
    this.#stale = true;
    this.#wake?.();
  }

  async #round(signal: AbortSignal): Promise<void> {
    this.#stale = false;
    let pauseMs = AGAIN_MS;
    try {
      const { resources, failed } = await discover(this.#plane, { signal });
      await this.#follow(resources, failed);
      this.#markDiscovered();
      if (failed.length > 0) pauseMs = RETRY_MS * 10;
    } catch (error) {
      if (signal.aborted) return;
      this.#ports.log.warn("discovery failed, trying again", { error });
      pauseMs = RETRY_MS;
    }
    if (!this.#stale) await this.#pause(pauseMs, signal);
  }

  async #pause(pauseMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    this.#wake = () => over.abort();
    if (signal.aborted) return;
    await sleep(this.#ports.clock, pauseMs, over.signal);
    this.#wake = undefined;
  }

  #markDiscovered(): void {
    this.#discovered = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #follow(
    resources: readonly DiscoveredResource[],
    failed: readonly string[],
  ): Promise<void> {
    const wanted = new Map<string, DiscoveredResource>();
    for (const resource of resources)
      if (isTemplateKind(resource) && !this.#options.skips(resource))
        wanted.set(`${apiVersionOf(resource)} ${resource.kind}`, resource);
    for (const [kind, { informer }] of this.#followed) {
      // Of a group that could not be read the kinds are not known.
      if (failed.includes(apiVersionOf(informer.resource))) continue;
      if (!isSameCollection(informer.resource, wanted.get(kind))) await this.#unfollow(kind);
    }
    for (const [kind, resource] of wanted)
      if (!this.#followed.has(kind)) this.#start(kind, resource);
  }

  #start(kind: string, resource: DiscoveredResource): void {
    const { group, version, plural, namespaced } = resource;
    const informer = new Informer<AnyObject>(
      this.#ports,
      this.#plane,
      Object.freeze({ group, version, plural, kind: resource.kind, namespaced }),
      {
        ...this.#options.reading,
        indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ""], claim: claimIdsOf },
      },
    );
    const stop = new AbortController();
    const unsubscribe = informer.onChange((old, now) => {
      for (const handler of this.#handlers) handler(informer.resource, old, now);
    });
    const ended = informer.run(stop.signal).catch((error: unknown) => {
      this.#ports.log.error("an informer of templates ended", {
        resource: qualifiedName(resource),
        error,
      });
    });
    this.#followed.set(kind, { informer, stop, ended, unsubscribe });
  }

  async #unfollow(kind: string): Promise<void> {
    const followed = this.#followed.get(kind);
    if (followed === undefined) return;
    this.#followed.delete(kind);
    followed.unsubscribe();
    followed.stop.abort();
    await followed.ended;
  }
}

function isTemplateKind({ group, kind, verbs, preferred }: DiscoveredResource): boolean {
  return (
    preferred &&
    !OWN_GROUPS.has(group) &&
    !(group === "" && kind === "Event") &&
    NEEDED_VERBS.every((verb) => verbs.includes(verb))
  );
}

/** Whether a kind is still found where it was: a definition that was created again may move it. */
function isSameCollection(followed: Resource, wanted: Resource | undefined): boolean {
  return wanted?.plural === followed.plural && wanted.namespaced === followed.namespaced;
}

/** Whether a CustomResourceDefinition serves something else than before; its mere bookkeeping does not count. */
function changesApi(old: AnyObject, now: AnyObject): boolean {
  return (
    old.metadata.generation !== now.metadata.generation ||
    JSON.stringify(old["status"]) !== JSON.stringify(now["status"])
  );
}
