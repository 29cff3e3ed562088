/** What works on a control plane by itself, over any client of its API: the same in `lifeboat up` and `lifeboat manager`. */
import type { MemberProxy } from "@lifeboat/apiserver";
import type { ConnectMember, PlaneContext } from "@lifeboat/controllers/context";
import type { Client, KitPorts, Service } from "@lifeboat/kit";
import type { MemberRoutes } from "@lifeboat/proxy";
import { type ControllersOptions, type ControllersPart, createControllers } from "./controllers.ts";
import { createPlaneContext, type PlaneContextPorts } from "./plane-context.ts";

export interface PlaneWork extends Pick<
  PlaneContextPorts,
  "interpretation" | "instance" | "reading"
> {
  readonly connect: ConnectMember;
  /** Builds the way into members; absent: the control plane passes no request on. */
  readonly proxy?: (routes: MemberRoutes) => MemberProxy;
  readonly controllers: ControllersOptions;
  /** Which of the controllers run; all when absent. */
  readonly part?: ControllersPart;
}

/** Builds everything, in the order in which it starts. Constructing starts nothing. */
export function createPlaneWork(
  ports: KitPorts & Pick<PlaneContextPorts, "ids" | "registration">,
  plane: Client,
  { controllers, connect, interpretation, instance, reading, part }: PlaneWork,
): { readonly context: PlaneContext; readonly services: readonly Service[] } {
  const { context, services } = createPlaneContext(
    {
      ...ports,
      connect,
      instance,
      ...(interpretation === undefined ? {} : { interpretation }),
      ...(reading === undefined ? {} : { reading }),
      skippedApis: controllers.skippedPropagatingApis,
      clusterStatusUpdateFrequencyMs: controllers.clusterStatusUpdateFrequencyMs,
    },
    plane,
  );
  return { context, services: [...services, ...createControllers(context, controllers, part)] };
}
