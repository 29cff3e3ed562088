/**
 * What is known of a member besides its health: its version, its API, its nodes and pods.
 *
 * Nothing starts before the member has answered a probe. Nodes and pods are watched, and only what counts of them is
 * kept. Version and API are read again after five minutes, after a CustomResourceDefinition changed, after a read that
 * failed in part, and after the member had been away (an upgrade shows there first); always on the occasion of a probe.
 *
 * 1. What is not known (yet) is absent, never empty.
 * 2. At most one read of the API is under way, and it ends in time.
 */
import {
  type Cluster,
  customResourceDefinitions,
  isJsonObject,
  keptAs,
  type KubeObject,
  nodes,
  pods,
} from "@lifeboat/api";
import { anew, sleep } from "@lifeboat/base";
import { listAt } from "@lifeboat/core";
import {
  type ClusterKnowledge,
  decideEnablements,
  type EnablementPlan,
  type EnablementView,
} from "@lifeboat/core/failover/health";
import {
  type NodeOffer,
  nodeOfferOf,
  type PodClaim,
  podClaimOf,
  Room,
} from "@lifeboat/core/placement/capacity";
import { nodeAddressOf, NodeAddresses } from "@lifeboat/core/traffic";
import {
  type Client,
  type CollectionLimits,
  excessIn,
  Informer,
  type KitPorts,
} from "@lifeboat/kit";
import { discover } from "../../context/discovery/discovered.ts";
import { withDeadline } from "./deadline.ts";

interface KeptNode extends KubeObject {
  readonly offer: NodeOffer;
  /** Where it is reached from outside, if it can be. */
  readonly address: string | undefined;
}

interface KeptPod extends KubeObject {
  readonly claim: PodClaim | undefined;
}

interface KeptCrd extends KubeObject {
  /** What it serves depends on these. */
  readonly conditions: string;
}

const NODES = keptAs<KeptNode>(nodes);
const PODS = keptAs<KeptPod>(pods);
const CRDS = keptAs<KeptCrd>(customResourceDefinitions);

const API_AGAIN_MS = 300_000;
const API_TIMEOUT_MS = 30_000;
const AFTER_ERROR_MS = 10_000;
/** Anything else is no version. */
const VERSION = /^[\w.+-]{1,128}$/;

/** A member, and how much it may report. */
export interface MemberSource {
  readonly client: Client;
  readonly limits: CollectionLimits;
}

export class MemberCollector {
  readonly room = new Room();
  readonly #addresses = new NodeAddresses();
  readonly #ports: KitPorts;
  readonly #client: Client;
  readonly #limits: CollectionLimits;
  readonly #signal: AbortSignal;
  readonly #onNews: () => void;
  readonly #nodes: Informer<KeptNode>;
  readonly #pods: Informer<KeptPod>;
  readonly #crds: Informer<KeptCrd>;
  #started = false;
  #isReading = false;
  /** When the API is to be read again, in monotonic time. */
  #apiDueAt = 0;
  #version: string | undefined;
  #api: EnablementView | undefined;
  #complete: EnablementPlan | undefined;

  /** Collects until the signal aborts; `onNews` is called when something becomes known that was not. */
  constructor(
    ports: KitPorts,
    { client, limits }: MemberSource,
    signal: AbortSignal,
    onNews: () => void,
  ) {
    this.#ports = ports;
    this.#client = client;
    this.#limits = limits;
    this.#signal = signal;
    this.#onNews = onNews;
    this.#nodes = new Informer(ports, client, NODES, { transform: keepNode, limits });
    this.#pods = new Informer(ports, client, PODS, { transform: keepPod, limits });
    this.#crds = new Informer(ports, client, CRDS, { transform: keepCrd, limits });
  }

  /** Whether nodes and pods are known. */
  get hasRoom(): boolean {
    return this.#nodes.synced && this.#pods.synced;
  }

  /** The member answered a probe; `afterSilence`: and had not before. */
  answered(afterSilence: boolean): void {
    if (!this.#started) this.#start();
    const now = this.#ports.clock.monotonic();
    if (afterSilence) this.#apiDueAt = now;
    if (!this.#isReading && now >= this.#apiDueAt) void this.#readApi(now);
  }

  /** What is known, for a Cluster whose status holds so much already. */
  knowledge({ spec, status }: Cluster): ClusterKnowledge {
    const enablements = this.#enablements(status?.apiEnablements);
    const nodeAddresses = this.hasRoom ? this.#addresses.list() : undefined;
    return {
      conditions: enablements === undefined ? [] : [enablements.condition],
      ...(enablements && { apiEnablements: enablements.apiEnablements }),
      ...(this.#version !== undefined && { kubernetesVersion: this.#version }),
      ...(this.hasRoom && {
        nodeSummary: this.room.nodeSummary(),
        resourceSummary: this.room.resourceSummary(spec.resourceModels),
      }),
      ...(nodeAddresses && { nodeAddresses }),
    };
  }

  #enablements(former: EnablementPlan["apiEnablements"] = []): EnablementPlan | undefined {
    if (this.#complete !== undefined) return this.#complete;
    if (this.#api === undefined) return undefined;
    // An empty read never takes the place of something that was known (D20).
    if (this.#api.resources.length === 0 && former.length > 0) return undefined;
    return decideEnablements(this.#api, former);
  }

  #start(): void {
    this.#started = true;
    this.#nodes.onChange((old, now) => {
      const { name = "" } = (now ?? old)?.metadata ?? {};
      this.room.changeNode(name, old?.offer, now?.offer);
      this.#addresses.change(name, now?.address);
    });
    this.#pods.onChange((old, now) => this.room.changePod(old?.claim, now?.claim));
    this.#crds.onChange((old, now) => {
      const isSame =
        old?.metadata.generation === now?.metadata.generation &&
        old?.conditions === now?.conditions;
      if (this.#crds.synced && !isSame) this.#apiDueAt = 0;
    });
    for (const informer of [this.#nodes, this.#pods, this.#crds]) void this.#run(informer);
    void this.#tellWhenSynced();
  }

  /** An informer ends only by its signal, or by an unforeseen error: then it begins again after a while. */
  async #run(informer: { readonly name: string; run(signal: AbortSignal): Promise<void> }) {
    while (!this.#signal.aborted) {
      try {
        await informer.run(this.#signal);
      } catch (error) {
        this.#ports.log.error("an informer of a member failed", { informer: informer.name, error });
        await sleep(this.#ports.clock, AFTER_ERROR_MS, this.#signal);
      }
    }
  }

  async #tellWhenSynced(): Promise<void> {
    if (!(await this.#nodes.whenSynced(this.#signal))) return;
    if (await this.#pods.whenSynced(this.#signal)) this.#onNews();
  }

  async #readApi(now: number): Promise<void> {
    this.#isReading = true;
    this.#apiDueAt = now + API_AGAIN_MS;
    try {
      const [version, api] = await withDeadline(
        this.#ports.clock,
        API_TIMEOUT_MS,
        this.#signal,
        (signal) =>
          Promise.all([readVersion(this.#client, signal), discover(this.#client, { signal })]),
      );
      if (this.#signal.aborted) return;
      this.#take(version ?? this.#version, api);
    } catch (error) {
      if (this.#signal.aborted) return;
      const excess = excessIn(error);
      if (excess !== undefined) this.#limits.tell(excess);
      // Nothing was learned: at the next probe again. What was known stands.
      this.#apiDueAt = 0;
      if (this.#api === undefined) this.#take(this.#version, { resources: [], failed: [] });
    } finally {
      this.#isReading = false;
    }
    this.#onNews();
  }

  #take(version: string | undefined, api: EnablementView): void {
    this.#version = version;
    this.#api = api;
    const isComplete = api.failed.length === 0 && api.resources.length > 0;
    this.#complete = isComplete ? decideEnablements(api) : undefined;
    if (!isComplete) this.#apiDueAt = 0;
  }
}

async function readVersion(client: Client, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await client.read("/version", { signal });
    const version = isJsonObject(answer) ? answer["gitVersion"] : undefined;
    return typeof version === "string" && VERSION.test(version) ? version : undefined;
  } catch {
    // The probe decides whether the member is well; without an answer the version is not known, as with a wrong one.
    return undefined;
  }
}

function keepNode(node: KeptNode): KeptNode {
  return {
    ...anew,
    ...identityOf(node),
    offer: nodeOfferOf(node),
    address: nodeAddressOf(node),
  };
}

function keepPod(pod: KeptPod): KeptPod {
  return { ...anew, ...identityOf(pod), claim: podClaimOf(pod) };
}

function keepCrd(crd: KeptCrd): KeptCrd {
  const conditions = JSON.stringify(listAt(crd, "status", "conditions"));
  return { ...anew, ...identityOf(crd), conditions };
}

function identityOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, generation } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(namespace !== undefined && { namespace }),
      ...(generation !== undefined && { generation }),
    },
  };
}
