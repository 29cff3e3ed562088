/**
 * A model of what runs in a cluster beside its API server: controllers, scheduler and kubelets.
 *
 * 1. It sees the cluster through a `Client` alone, so it runs on the embedded API server and on a real one.
 * 2. All time comes from the clock and all chance from the random port: the same seed gives the same run.
 * 3. At rest it writes nothing.
 * 4. What it must not lose is in the cluster: a model that dies at any write and starts again ends in the same state.
 *
 * Owners' deletion is not carried out here: that is the garbage collector's, which comes with the API server.
 */
import { type Client, createManager, type KitPorts, type Service } from "@lifeboat/kit";
import { createDeployments } from "./deployments.ts";
import type { MemberFault } from "./fault.ts";
import { Member } from "./member.ts";
import type { MemberOptions } from "./member-options.ts";
import { createPodOwners } from "./pod-owners.ts";
import { PodRunner } from "./pod-runner.ts";
import { createScheduler } from "./scheduler.ts";
import {
  createClaims,
  createCronJobs,
  createEndpointSlices,
  createNodes,
  createServices,
} from "./small-controllers.ts";

export interface MemberModel extends Service {
  /** Lets this go wrong from now on, in the place of what went wrong before. */
  setFault(fault: MemberFault): void;
  /** Nothing goes wrong any more: pods become ready again. */
  heal(): void;
}

/** Builds the model of one cluster; `run` starts it. */
export function createMemberModel(
  ports: KitPorts,
  client: Client,
  options: MemberOptions,
): MemberModel {
  const member = new Member(ports, client, options);
  const runner = new PodRunner(member);
  return running("member-model", runner, ports, [
    ...member.informers(),
    createNodes(member),
    createDeployments(member),
    ...createPodOwners(member),
    createScheduler(member),
    runner,
    createServices(member),
    ...createEndpointSlices(member),
    createClaims(member),
    createCronJobs(member),
  ]);
}

/**
 * Builds the part of the model that a cluster lacks whose own controllers run, as a kube-controller-manager's do: nodes,
 * the scheduler, the kubelets, load balancers and volumes.
 */
export function createNodeModel(
  ports: KitPorts,
  client: Client,
  options: MemberOptions,
): MemberModel {
  const member = new Member(ports, client, options);
  const runner = new PodRunner(member);
  return running("node-model", runner, ports, [
    ...member.informers(),
    createNodes(member),
    createScheduler(member),
    runner,
    createServices(member),
    createClaims(member),
  ]);
}

function running(
  name: string,
  runner: PodRunner,
  ports: KitPorts,
  services: readonly Service[],
): MemberModel {
  const manager = createManager(ports, services);
  return {
    name,
    run: (signal) => manager.run(signal),
    setFault: (fault) => runner.setFault(fault),
    heal: () => runner.setFault(undefined),
  };
}
