/**
 * Looks after what registered agents have in the control plane while their clusters come and go.
 *
 *   the Cluster appears                  the registration notes its uid; rights in the execution namespace are made
 *   the agent renews its Lease           the condition AgentSupported reports whether it knows endorsement (D26)
 *   the Cluster is gone                  a tombstone refuses the agent's identity of before, and its rights go
 *   the Cluster is of mode Push          the same: it has no agent, and the Secrets of its name hold the credential of its member
 *
 * An agent renews its certificate when a fifth of its life is left; when a tenth is left, an Event on its Cluster reports it.
 * A registration without a Cluster is left alone: its agent has not made the Cluster yet. Before a tombstone is written the
 * server is asked once more.
 */
import {
  type AnyObject,
  clusterRoles,
  clusters,
  namespaces,
  type ObjectKey,
  orNothing,
  setCondition,
} from "@lifeboat/api";
import { addMs, parseTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { decideAgentSupport, knowsEndorsement } from "@lifeboat/core/clusters/agents";
import {
  AGENT_CERTIFICATE_MS,
  expiryStage,
  nextStageAt,
} from "@lifeboat/core/clusters/certificates";
import {
  AGENT_OF,
  agentRoleName,
  CLUSTER_UID,
  REGISTERED_UNTIL,
} from "@lifeboat/core/clusters/rights";
import { clusterOfExecutionNamespace } from "@lifeboat/core/propagation/rendering";
import {
  checkAgainAt,
  createController,
  done,
  type Gauge,
  Informer,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import {
  adoptRegistration,
  endRegistration,
  ensureAgentRights,
} from "../../context/agent-registration.ts";
import type { PlaneContext } from "../../context/context.ts";
import { agentCertificateExpiration } from "./metrics.ts";

const CONCURRENCY = 4;

/** Builds the controller and the informers that it needs. */
export function createAgents(context: PlaneContext): readonly Service[] {
  const { plane, informers } = context;
  const roles = new Informer<AnyObject>(context, plane, clusterRoles, { labelSelector: AGENT_OF });
  const executionNamespaces = new Informer<AnyObject>(context, plane, namespaces, {
    labelSelector: `${wellKnown.SYSTEM}=true`,
  });
  const ends = new CertificateEnds(context);
  const controller = createController(context, {
    name: "agents",
    concurrency: CONCURRENCY,
    watches: [
      watching(informers.clusters, ownKey),
      watching(informers.leases, (old, now) => {
        // Renewals are many, and mean nothing here.
        const isNews = old === undefined || knowsEndorsement(old) !== knowsEndorsement(now);
        return isNews ? clusterKeys((now ?? old)?.metadata.name) : [];
      }),
      watching(roles, (old, now) => clusterKeys((now ?? old)?.metadata.labels?.[AGENT_OF])),
      watching(executionNamespaces, (old, now) =>
        clusterKeys(clusterOfExecutionNamespace((now ?? old)?.metadata.name ?? "")),
      ),
    ],
    reconcile: async ({ name }) => {
      const role = roles.get({ namespace: "", name: agentRoleName(name) });
      await look(context, name, role);
      await reportSupport(context, name);
      return ends.look(name, role);
    },
  });
  return [roles, executionNamespaces, controller];
}

function clusterKeys(name: string | undefined): readonly ObjectKey[] {
  return name === undefined ? [] : [{ namespace: "", name }];
}

async function look(
  { plane, informers, clock }: PlaneContext,
  name: string,
  role: AnyObject | undefined,
): Promise<void> {
  if (role === undefined) return;
  const known = role.metadata.annotations?.[CLUSTER_UID];
  const key = { namespace: "", name };
  const cluster = informers.clusters.get(key);
  if (cluster?.spec.syncMode === "Pull") {
    const { uid } = cluster.metadata;
    if (known === undefined) await adoptRegistration(plane, role, uid);
    // The Cluster was deleted, and made again before this was seen: what its agent was issued until then is void all the same.
    if (known !== undefined && known !== uid) await endRegistration(plane, name, role, clock.now());
    else await ensureAgentRights(plane, name);
    return;
  }
  if (cluster === undefined && known === undefined) return;
  const stored = await orNothing(plane.get(clusters, key));
  // A name that was registered and never used, or a mode that was changed: whatever made the Cluster, no agent keeps rights on it.
  const isOver = stored === undefined ? known !== undefined : stored.spec.syncMode === "Push";
  if (isOver) await endRegistration(plane, name, role, clock.now());
}

/** Reports whether the agent of a Pull cluster knows endorsement, as its Lease in the cache shows it. */
async function reportSupport(
  { plane, informers, clock, events }: PlaneContext,
  name: string,
): Promise<void> {
  const cluster = informers.clusters.get({ namespace: "", name });
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return;
  const lease = informers.leases.get({ namespace: wellKnown.CLUSTER_NAMESPACE, name });
  const condition = decideAgentSupport(cluster, lease);
  if (condition === undefined) return;
  const conditions = setCondition(cluster.status?.conditions, condition, clock.now());
  await plane.update(
    clusters,
    { ...cluster, status: { ...cluster.status, conditions } },
    { subresource: "status" },
  );
  if (condition.status === "True") return;
  const { reason, message } = condition;
  events.record(cluster, { type: "Warning", reason, message });
}

/** Shows when agents' certificates end, and reports those that are not renewed in time. */
class CertificateEnds {
  readonly #context: PlaneContext;
  readonly #expiration: Gauge<"member_cluster">;
  /** By cluster: the end that was reported. */
  readonly #told = new Map<string, string>();

  constructor(context: PlaneContext) {
    this.#context = context;
    this.#expiration = context.metrics.gauge(agentCertificateExpiration);
  }

  look(name: string, role: AnyObject | undefined): Outcome {
    const { clock, informers, events } = this.#context;
    const text = role?.metadata.annotations?.[REGISTERED_UNTIL] ?? "";
    const notAfter = parseTime(text);
    if (notAfter === undefined) {
      this.#expiration.remove({ member_cluster: name });
      this.#told.delete(name);
      return done;
    }
    this.#expiration.set(notAfter / 1000, { member_cluster: name });
    const life = { notBefore: addMs(notAfter, -AGENT_CERTIFICATE_MS), notAfter };
    const stage = expiryStage(life, clock.now());
    const cluster = informers.clusters.get({ namespace: "", name });
    const isLate = stage === "last" || stage === "ended";
    if (isLate && cluster !== undefined && this.#told.get(name) !== `${stage} ${text}`) {
      this.#told.set(name, `${stage} ${text}`);
      events.record(cluster, {
        type: "Warning",
        reason: stage === "ended" ? "AgentCertificateEnded" : "AgentCertificateEnding",
        message: `the certificate of the agent ${stage === "ended" ? "ended" : "ends"} ${text} and was not renewed: its agent is away, or its requests are not answered (kubectl get csr)`,
      });
    }
    const next = nextStageAt(life, clock.now());
    return next === undefined ? done : checkAgainAt(next);
  }
}
