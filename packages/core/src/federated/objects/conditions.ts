/**
 * What the binding of a federated StatefulSet reports beside its schedule.
 *
 *   IdentitiesAssigned     every replica has its cluster, and every share lies where the placement means it
 *   HeadlessServiceFound   the Service that the set names exists and is headless
 *   PodServicesAddressed   every pod that is to have a Service has an address; there while the set asks for Services
 *   NamesUnique            False: another thing of the namespace has a global name of the set or of its pods (D28); there while the
 *                          set asks for Services
 *   RolloutComplete        every cluster has the pod template of the set, and its pods are updated and ready
 *   ApplicationFailover    False: the policy asks for it, and it is not carried out; there while the policy asks
 */
import type { AnyObject, ResourceBinding } from "@lifeboat/api";
import { textAt } from "../../fields.ts";
import type { PlannedCondition } from "../../plan.ts";
import { hasAddress } from "../../propagation/interpretation/load-balancers.ts";
import { FEDERATED_LET_GO, FEDERATED_SERVICE_TYPE } from "../../well-known.ts";
import { departureName } from "../departure.ts";
import { podName, podsOf } from "../names.ts";
import { type FederatedRecord, readFederated } from "../record.ts";
import type { RolloutDecision } from "../rollout.ts";
import { asksForServices } from "./services.ts";
import { missingReplicas, shareReason, shareReasons } from "../shares.ts";
import { startedShares } from "../start.ts";

/** The types of conditions that these reports have; one that is not reported is taken away. */
export const federatedConditionTypes: readonly string[] = Object.freeze([
  "IdentitiesAssigned",
  "HeadlessServiceFound",
  "PodServicesAddressed",
  "NamesUnique",
  "RolloutComplete",
  "ApplicationFailover",
]);

/** A global name that another thing has. */
export interface TakenName {
  readonly name: string;
  /** What has it, and what does not, with their kinds. */
  readonly winner: string;
  readonly loser: string;
}

export interface ConditionsView {
  readonly binding: ResourceBinding;
  readonly set: AnyObject;
  readonly headless?: AnyObject | undefined;
  /** The Services of the set's pods, as far as they exist. */
  readonly services: readonly AnyObject[];
  /** The global names of the set that another thing has. */
  readonly lostNames?: readonly TakenName[];
  /** How far the pod template has come; absent: not known, or its pods are replaced by hand. */
  readonly rollout?: RolloutDecision | undefined;
}

/** What to report. */
export function federatedConditions(view: ConditionsView): readonly PlannedCondition[] {
  const record = readFederated(view.binding);
  return [
    identities(view.binding, record),
    headlessService(view),
    ...(record !== undefined && asksForServices(view.set)
      ? [addresses(view, record), uniqueNames(view)]
      : []),
    ...(view.rollout === undefined ? [] : [rolledOut(view.rollout)]),
    ...(view.binding.spec.failover?.application === undefined ? [] : [REFUSED]),
  ];
}

function uniqueNames({ lostNames = [] }: ConditionsView): PlannedCondition {
  const type = "NamesUnique";
  const [first] = lostNames;
  if (first === undefined)
    return { type, status: "True", reason: "Unique", message: "No other thing has these names." };
  const more = lostNames.length === 1 ? "" : ` So have ${lostNames.length - 1} other names.`;
  const message = `The name ${first.name} of ${first.loser} is that of ${first.winner}, which DNS answers for it.${more}`;
  return { type, status: "False", reason: "NamesTaken", message };
}

function rolledOut({ reason, message }: RolloutDecision): PlannedCondition {
  const status = reason === "UpToDate" ? "True" : "False";
  return { type: "RolloutComplete", status, reason, message };
}

const REFUSED: PlannedCondition = {
  type: "ApplicationFailover",
  status: "False",
  reason: "FederatedStatefulSet",
  message:
    "The policy asks for failover of the application, which is refused: the replicas of a federated StatefulSet never move.",
};

function identities(
  { spec }: ResourceBinding,
  record: FederatedRecord | undefined,
): PlannedCondition {
  const condition = (reason: string, message: string): PlannedCondition => ({
    type: "IdentitiesAssigned",
    status: reason === "Complete" ? "True" : "False",
    reason,
    message,
  });
  if (record === undefined)
    return condition("RecordUnreadable", "The shares cannot be read from the annotations.");
  const reason = shareReason(record, spec.replicas ?? 0);
  const missing = missingReplicas(record, spec.replicas ?? 0);
  const [count, which] = missing > 0 ? [missing, "missing"] : [-missing, "too many"];
  if (reason !== "Complete") {
    const more = detailsOf(spec.resource.name, record);
    return condition(reason, `${shareReasons[reason]} ${count} replicas are ${which}.${more}`);
  }
  const held = [...record.shares.keys()].filter((name) => !record.clusters.includes(name));
  if (held.length === 0) return condition(reason, shareReasons.Complete);
  return condition(
    "PlacementHeld",
    `The placement no longer means ${held.toSorted().join(", ")}, or the cluster is leaving. The share stays there until a person gives it up: lifeboat statefulset forget.`,
  );
}

/** Which replica leaves and what confirms it, or the numbers of a scale-down that is held. */
function detailsOf(set: string, { held, leaving }: FederatedRecord): string {
  if (held?.reason === "MajorityKept")
    return ` ${held.removed} of the ${held.living} living replicas would go; a majority is ${Math.floor(held.living / 2) + 1}.`;
  if (leaving === undefined) return "";
  return ` ${podName(set, leaving.cluster, leaving.ordinal)} leaves; the annotation ${FEDERATED_LET_GO}: ${departureName(set, leaving)} on the StatefulSet confirms it.`;
}

function headlessService({ set, headless }: ConditionsView): PlannedCondition {
  const type = "HeadlessServiceFound";
  const name = textAt(set, "spec", "serviceName");
  if (headless === undefined) {
    const message =
      name === ""
        ? "The StatefulSet names no Service (spec.serviceName); its pods have no names in DNS."
        : `The Service ${name} does not exist; the pods have no names in DNS.`;
    return { type, status: "False", reason: "ServiceMissing", message };
  }
  if (textAt(headless, "spec", "clusterIP") !== "None") {
    const message = `The Service ${name} is not headless (spec.clusterIP is not None); the pods have no names of their own in DNS.`;
    return { type, status: "False", reason: "NotHeadless", message };
  }
  return { type, status: "True", reason: "Found", message: `The Service ${name} is headless.` };
}

function addresses(
  { set, services, headless }: ConditionsView,
  record: FederatedRecord,
): PlannedCondition {
  const type = "PodServicesAddressed";
  if (textAt(set, "metadata", "annotations", FEDERATED_SERVICE_TYPE) === "ClusterIP") {
    const message =
      "Services of type ClusterIP have the addresses of their own clusters; other clusters reach them only where networks are routed.";
    return { type, status: "True", reason: "ClusterIP", message };
  }
  const byName = new Map(services.map((service) => [service.metadata.name, service]));
  const without = podsOf(set.metadata.name, { shares: startedShares(record) }).filter(
    ({ name }) => {
      const service = byName.get(name);
      return service === undefined || !hasAddress(service);
    },
  );
  if (without.length === 0)
    return { type, status: "True", reason: "Addressed", message: "Every pod has an address." };
  if (headless === undefined) {
    const message = "The Services of the pods need the ports of the headless Service.";
    return { type, status: "False", reason: "ServiceMissing", message };
  }
  const clusters = [...new Set(without.map(({ cluster }) => cluster))];
  const message = `${without.length} pods have no address yet, in ${clusters.join(", ")}. A cluster that gives no load balancers never gives one.`;
  return { type, status: "False", reason: "AddressesMissing", message };
}
