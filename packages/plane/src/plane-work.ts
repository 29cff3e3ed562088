/** What works on a control plane by itself, over any client of its API: the same in `lifeboat up` and `lifeboat manager`. */
import type { ConnectMember } from "@lifeboat/controllers/context";
import type { Client, KitPorts, Service } from "@lifeboat/kit";
import { type ControllersOptions, createControllers } from "./controllers.ts";
import { createPlaneContext, type PlaneContextPorts } from "./plane-context.ts";

export interface PlaneWork extends Pick<PlaneContextPorts, "interpretation" | "instance"> {
  readonly connect: ConnectMember;
  readonly controllers: ControllersOptions;
}

/** Builds everything, in the order in which it starts. Constructing starts nothing. */
export function createPlaneWork(
  ports: KitPorts & Pick<PlaneContextPorts, "ids">,
  plane: Client,
  { controllers, ...shared }: PlaneWork,
): readonly Service[] {
  const running = createPlaneContext(
    { ...ports, ...shared, skippedApis: controllers.skippedPropagatingApis },
    plane,
  );
  return [...running.services, ...createControllers(running.context, controllers)];
}
