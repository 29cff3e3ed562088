/** The controllers with little to do: nodes, Services, claims and CronJobs. */
import { equalJson, keyOf, orNothing } from "@lifeboat/api";
import {
  type Controller,
  createController,
  done,
  Informer,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import * as kinds from "./kinds.ts";
import { BY_OWNER, type Member } from "./member.ts";
import { decideClaim } from "./model/claim.ts";
import { decideSlice, selectsPod } from "./model/endpoint-slice.ts";
import { decideCronJob } from "./model/cron-job.ts";
import { decideNode } from "./model/node.ts";
import { controllerKeys } from "./model/pods.ts";
import { decideService } from "./model/service.ts";

/** Makes the nodes that the member shall have, and makes them again when somebody deletes them. */
export function createNodes(member: Member): Controller {
  const { ports, client, nodes } = member;
  const wanted = new Map(member.options.nodes.map((node) => [node.name, node]));
  const keys = [...wanted.keys()].map((name) => ({ namespace: "", name }));
  return createController(ports, {
    name: "node",
    concurrency: 1,
    watches: [
      watching(nodes, ownKey),
      {
        whenSynced: (signal) => nodes.whenSynced(signal),
        subscribe: (add) => {
          for (const key of keys) add(key);
          return () => undefined;
        },
      },
    ],
    reconcile: async (key) => {
      const options = wanted.get(key.name);
      if (options === undefined) return done;
      const { name, labels = {} } = options;
      const node =
        nodes.get(key) ??
        (await client.create(kinds.nodes, {
          apiVersion: "v1",
          kind: "Node",
          metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
        }));
      await member.report(kinds.nodes, node, decideNode(node, options, ports.clock.now()));
      return done;
    },
  });
}

/** Gives Services of type LoadBalancer an address. */
export function createServices(member: Member): Controller {
  const { services } = member;
  /** The addresses given out, by uid: the copy may not show the last one yet. */
  const given = new Map<string, string>();
  services.onChange((old, now) => {
    const { uid } = (now ?? old)?.metadata ?? { uid: "" };
    const ip = now?.status?.loadBalancer?.ingress?.[0]?.ip;
    if (now === undefined) given.delete(uid);
    else if (ip !== undefined) given.set(uid, ip);
  });
  return createController(member.ports, {
    name: "service",
    concurrency: 1,
    watches: [watching(services, ownKey)],
    reconcile: async (key) => {
      const service = services.get(key);
      if (service === undefined) return done;
      const own = given.get(service.metadata.uid);
      const nodes = member.options.nodes.flatMap(({ address }) => address ?? []);
      const taken = new Set([...nodes, ...given.values()]);
      if (own !== undefined) taken.delete(own);
      const status = decideService(service, taken, member.options.addressPrefix);
      const ip = status.loadBalancer?.ingress?.[0]?.ip;
      if (ip === undefined) given.delete(service.metadata.uid);
      else given.set(service.metadata.uid, ip);
      await member.report(kinds.services, service, status);
      return done;
    },
  });
}

/** Keeps an EndpointSlice for each Service with a selector; the services that it consists of. */
export function createEndpointSlices(member: Member): readonly Service[] {
  const { ports, client, services, pods, options } = member;
  if (!options.endpointSlices) return [];
  const slices = new Informer(ports, client, kinds.endpointSlices);
  const controller = createController(ports, {
    name: "endpoint-slice",
    concurrency: 1,
    watches: [
      watching(slices, (old, now) => {
        const { namespace = "", labels } = (now ?? old)?.metadata ?? {};
        return [{ namespace, name: labels?.["kubernetes.io/service-name"] ?? "" }];
      }),
      watching(services, ownKey),
      watching(pods, (old, now) =>
        services
          .list()
          .filter((one) => [old, now].some((pod) => pod !== undefined && selectsPod(one, pod)))
          .map(keyOf),
      ),
    ],
    reconcile: async (key) => {
      const service = services.get(key);
      // The slice of a Service that is gone is the garbage collector's.
      if (service === undefined || service.metadata.deletionTimestamp !== undefined) return done;
      const wanted = decideSlice(
        service,
        pods.list().filter((pod) => selectsPod(service, pod)),
      );
      if (wanted === undefined) return done;
      const found = slices.get(keyOf(wanted));
      if (found === undefined) {
        await client.create(kinds.endpointSlices, wanted);
        return done;
      }
      const { labels } = wanted.metadata;
      const changed = {
        ...found,
        ...wanted,
        metadata: { ...found.metadata, labels: labels ?? {} },
      };
      if (!equalJson(found, changed)) await client.update(kinds.endpointSlices, changed);
      return done;
    },
  });
  return [slices, controller];
}

/** Binds claims. */
export function createClaims(member: Member): Controller {
  const { claims, client } = member;
  return createController(member.ports, {
    name: "claim",
    concurrency: 2,
    watches: [watching(claims, ownKey)],
    reconcile: async (key) => {
      const claim = claims.get(key);
      if (claim === undefined) return done;
      const plan = decideClaim(claim);
      if (plan.kind === "report") {
        await member.report(kinds.claims, claim, plan.status);
        return done;
      }
      const { uid, resourceVersion } = claim.metadata;
      const spec = { volumeName: plan.volumeName };
      const body = { metadata: { uid, resourceVersion }, spec };
      await orNothing(client.patch(kinds.claims, keyOf(claim), { type: "merge", body }));
      return done;
    },
  });
}

/** Reports which Jobs of a CronJob run. */
export function createCronJobs(member: Member): Controller {
  const { cronJobs, jobs } = member;
  return createController(member.ports, {
    name: "cron-job",
    concurrency: 2,
    watches: [
      watching(cronJobs, ownKey),
      watching(jobs, (old, now) => controllerKeys("CronJob", old, now)),
    ],
    reconcile: async (key) => {
      const cronJob = cronJobs.get(key);
      if (cronJob === undefined) return done;
      const owned = jobs.byIndex(BY_OWNER, cronJob.metadata.uid);
      await member.report(kinds.cronJobs, cronJob, decideCronJob(cronJob, owned));
      return done;
    },
  });
}
