/**
 * HTTP servers behind the Services of a simulated member (`--serve-http`), so that requests can be watched as they move.
 *
 * 1. A Service of type LoadBalancer has a loopback address of its own (127.x.y.z) and is served there, on its own ports. Ports
 *    below 1024 need the right to listen there, as on any machine. One of type NodePort is served at the addresses of the nodes, with
 *    the policy Local at those with a ready pod of it. Pods are not served: the API takes no loopback address for an EndpointSlice.
 * 2. Only ready pods that the selector matches answer, in turn. Without one the port is closed, as that of a load balancer without
 *    endpoints; requests under way are answered.
 * 3. The answer names cluster, Service and pod. `?delay=MS` delays it, up to a minute.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AnyObject, formatKey, keyOf, nodes, pods, services } from "@lifeboat/api";
import { type Clock, soon } from "@lifeboat/base";
import { integerAt, listAt, textAt, textsAt } from "@lifeboat/core";
import { createManager, Informer, type KitPorts, type Log, type Service } from "@lifeboat/kit";
import type { SimulatedMember } from "@lifeboat/plane";

const MAX_DELAY_MS = 60_000;
const READER = { name: "system:member-services", groups: ["system:masters"] } as const;

/**
 * The first half of the load-balancer addresses of a member. Each member has its own, so that no two Services of a fleet get the
 * same address: on loopback where they are served, else of the shared address space (RFC 6598), where nothing listens.
 */
export function addressPrefix(name: string, isServed: boolean): string {
  const number = Number(/\d+$/.exec(name)?.[0] ?? 0);
  return isServed ? `127.${100 + (number % 100)}` : `100.${64 + (number % 64)}`;
}

/** The address of a node of a member, by the number of the node. */
export function nodeAddress(prefix: string, node: number): string {
  return `${prefix}.${255 - (node >> 8)}.${node & 255}`;
}

/** Builds the servers of one member; they run until the signal aborts. */
export function createServiceServers(ports: KitPorts, member: SimulatedMember): Service {
  const client = member.server.client(READER);
  const objects = new Informer(ports, client, services);
  const running = new Informer(ports, client, pods);
  const machines = new Informer(ports, client, nodes);
  const servers = new ServiceServers(ports, member.name, { objects, running, machines });
  const work: Service = { name: "services", run: (signal) => servers.run(signal) };
  return createManager(ports, [objects, running, machines, work]);
}

/** One address and port of a Service. */
interface Wanted {
  readonly host: string;
  readonly port: number;
  readonly service: AnyObject;
}

interface Watched {
  readonly objects: Informer<AnyObject>;
  readonly running: Informer<AnyObject>;
  readonly machines: Informer<AnyObject>;
}

class ServiceServers {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #cluster: string;
  readonly #services: Informer<AnyObject>;
  readonly #pods: Informer<AnyObject>;
  readonly #nodes: Informer<AnyObject>;
  readonly #open = new Map<string, Server>();
  #turn = 0;

  constructor({ clock, log }: KitPorts, cluster: string, { objects, running, machines }: Watched) {
    this.#clock = clock;
    this.#log = log;
    this.#cluster = cluster;
    this.#services = objects;
    this.#pods = running;
    this.#nodes = machines;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#services.whenSynced(signal);
    await this.#nodes.whenSynced(signal);
    if (!(await this.#pods.whenSynced(signal))) return;
    let isDue = false;
    const look = (): void => {
      if (isDue) return;
      isDue = true;
      soon(() => {
        isDue = false;
        if (!signal.aborted) this.#look();
      });
    };
    const all = [this.#services, this.#pods, this.#nodes];
    const ends = all.map((informer) => informer.onChange(look));
    look();
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    for (const end of ends) end();
    for (const server of this.#open.values()) close(server);
    this.#open.clear();
  }

  #look(): void {
    const wanted = new Map(this.#services.list().flatMap((service) => this.#wantedOf(service)));
    for (const [id, server] of this.#open)
      if (!wanted.has(id)) {
        this.#open.delete(id);
        close(server);
      }
    for (const [id, one] of wanted) if (!this.#open.has(id)) this.#listen(id, one);
  }

  #wantedOf(service: AnyObject): readonly (readonly [string, Wanted])[] {
    const ready = this.#readyPods(service);
    if (ready.length === 0) return [];
    const isOnNodes = textAt(service, "spec", "type") === "NodePort";
    const hosts = isOnNodes
      ? this.#answeringNodes(service, ready).map((node) =>
          textAt(listAt(node, "status", "addresses")[0], "address"),
        )
      : listAt(service, "status", "loadBalancer", "ingress").map((one) => textAt(one, "ip"));
    return hosts
      .filter((host) => host.startsWith("127."))
      .flatMap((host) =>
        listAt(service, "spec", "ports").flatMap((one) => {
          const port = integerAt(one, isOnNodes ? "nodePort" : "port");
          return port === undefined ? [] : [[`${host}:${port}`, { host, port, service }] as const];
        }),
      );
  }

  #answeringNodes(service: AnyObject, ready: readonly AnyObject[]): readonly AnyObject[] {
    const isLocal = textAt(service, "spec", "externalTrafficPolicy") === "Local";
    const names = new Set(ready.map((pod) => textAt(pod, "spec", "nodeName")));
    return this.#nodes.list().filter(({ metadata }) => !isLocal || names.has(metadata.name));
  }

  #readyPods(service: AnyObject): readonly AnyObject[] {
    const selector = Object.entries(textsAt(service, "spec", "selector"));
    if (selector.length === 0) return [];
    return this.#pods.list().filter((pod) => {
      const { namespace, deletionTimestamp, labels = {} } = pod.metadata;
      if (namespace !== service.metadata.namespace || deletionTimestamp !== undefined) return false;
      return selector.every(([key, value]) => labels[key] === value) && isReady(pod);
    });
  }

  #listen(id: string, { host, port, service }: Wanted): void {
    const server = createServer((request, response) => this.#answer(service, request, response));
    server.keepAliveTimeout = 60_000;
    this.#open.set(id, server);
    server.once("error", (error) => {
      if (this.#open.get(id) === server) this.#open.delete(id);
      this.#log.warn("a Service of a simulated member cannot be served", {
        cluster: this.#cluster,
        service: formatKey(keyOf(service)),
        error,
      });
    });
    server.listen({ host, port });
  }

  #answer(service: AnyObject, request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const current = this.#services.get(keyOf(service)) ?? service;
    const ready = this.#readyPods(current);
    const pod = ready[this.#turn++ % Math.max(1, ready.length)]?.metadata.name ?? "";
    const url = new URL(request.url ?? "/", "http://service");
    const delayMs = Math.min(MAX_DELAY_MS, Number(url.searchParams.get("delay") ?? 0) || 0);
    const { namespace = "", name } = current.metadata;
    const body = { cluster: this.#cluster, namespace, service: name, pod, path: url.pathname };
    const send = (): void => {
      response.writeHead(200, { "content-type": "application/json", "x-cluster": this.#cluster });
      response.end(`${JSON.stringify(body)}\n`);
    };
    if (delayMs > 0) this.#clock.after(delayMs, send);
    else send();
  }
}

function isReady(pod: AnyObject): boolean {
  return listAt(pod, "status", "conditions").some(
    (one) => textAt(one, "type") === "Ready" && textAt(one, "status") === "True",
  );
}

/** No new connections; requests under way are answered. */
function close(server: Server): void {
  server.close();
  server.closeIdleConnections();
}
