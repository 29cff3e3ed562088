/** What people do with federated StatefulSets: make, scale and rename them, and give shares up. */
import {
  type AnyObject,
  clusters,
  hasCondition,
  type New,
  resourceBindings,
  services,
  statefulSets,
} from "@lifeboat/api";
import { unreachable } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { decideForget } from "@lifeboat/core/federated";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { rememberedOf } from "../oracles/federated-reading.ts";
import type { Simulation } from "../simulation.ts";
import { ifThere, merge } from "./writing.ts";

export type FederatedStep =
  | {
      /** A StatefulSet with its headless Service; of one that is there, what is said here is changed. */
      readonly do: "federated";
      readonly name: string;
      readonly replicas: number;
      readonly quorum?: boolean;
      /** Whether every pod gets a Service and a global name. */
      readonly global?: boolean;
      /** What its opt-in says; "true" when absent. Anything else about a placed set is refused. */
      readonly optIn?: string;
      /** A change of content: the tag of the image. */
      readonly version?: number;
    }
  | {
      /** `lifeboat statefulset forget`: a person gives up a share for ever, unless that is refused. */
      readonly do: "forget";
      readonly set: string;
      readonly member: string;
    }
  | {
      /** The application of a quorum has let the replica go that is to leave, if one is. */
      readonly do: "let-go";
      readonly set: string;
    };

type Of<D extends FederatedStep["do"]> = Extract<FederatedStep, { readonly do: D }>;

/** Begins a step; it is done when the plane has taken or refused it. */
export function takeFederatedStep(simulation: Simulation, step: FederatedStep): void {
  switch (step.do) {
    case "federated":
      return simulation.user(async (plane) => {
        await merge(plane, services, headless(step));
        await merge(plane, statefulSets, federatedSet(step));
        const key = { namespace: "default", name: step.name };
        const body = { metadata: { annotations: annotationsOf(step) } };
        await ifThere(() => plane.patch(statefulSets, key, { type: "merge", body }));
      });
    case "forget":
      return simulation.user((plane) => forget(plane, step));
    case "let-go":
      return simulation.user((plane) => letGo(plane, step.set));
    default:
      return unreachable(step);
  }
}

function headless({ name }: Of<"federated">): New<AnyObject> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: {
      clusterIP: "None",
      selector: { app: name },
      ports: [{ name: "peer", port: 2380, protocol: "TCP" }],
    },
  };
}

function federatedSet(step: Of<"federated">): New<AnyObject> {
  const { name, replicas, version = 1 } = step;
  const labels = { app: name };
  const containers = [{ name: "main", image: `registry.test/db:${version}` }];
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name, namespace: "default", labels, annotations: annotationsOf(step) },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

function annotationsOf({ quorum, global, optIn = "true" }: Of<"federated">) {
  return {
    [wellKnown.FEDERATED]: optIn,
    ...(quorum !== undefined && { [wellKnown.FEDERATED_QUORUM]: String(quorum) }),
    ...(global !== undefined && { [wellKnown.FEDERATED_SERVICES]: String(global) }),
  };
}

/** What the command does; a refusal is an answer, too. */
async function forget(plane: Client, { set, member }: Of<"forget">): Promise<void> {
  const key = { namespace: "default", name: bindingName("StatefulSet", set) };
  await ifThere(async () => {
    const binding = await plane.get(resourceBindings, key);
    const { items } = await plane.list(clusters);
    const ready = items.filter(({ status }) => hasCondition(status?.conditions, "Ready"));
    const plan = decideForget(binding, member, new Set(ready.map(({ metadata }) => metadata.name)));
    if (plan.outcome === "forget") await plane.update(resourceBindings, plan.binding);
  });
}

/** What an operator's hook writes. */
async function letGo(plane: Client, set: string): Promise<void> {
  await ifThere(async () => {
    const name = bindingName("StatefulSet", set);
    const binding = await plane.get(resourceBindings, { namespace: "default", name });
    const { leaving } = rememberedOf(binding) ?? {};
    if (leaving === undefined) return;
    const pod = `${set}-${leaving.cluster}-${leaving.ordinal}`;
    const annotations = { [wellKnown.FEDERATED_LET_GO]: `${pod}/${leaving.number}` };
    const key = { namespace: "default", name: set };
    await plane.patch(statefulSets, key, { type: "merge", body: { metadata: { annotations } } });
  });
}
