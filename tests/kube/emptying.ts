/**
 * Workloads of a fleet that leave one member after the other, on a control plane that is disturbed meanwhile. Judged each time:
 * everything that was affected was evicted once, at the rate that is set and no faster; there was a healthy copy of each workload all
 * the time; in the end each has one copy, healthy, in another member.
 */
import { evacuations, propagationPolicies, resourceBindings, works } from "@lifeboat/api";
import { deployment, oneOf, resources } from "@lifeboat/testkit";
import { expect } from "vitest";
import { EvictionLog, tooFast } from "../failover/eviction-log.ts";
import { copiesIn, keepLooking, type Looking } from "../failover/looking.ts";
import { Operator, type Taint } from "../failover/operator.ts";
import { MEMBERS, type PropagationFleet } from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";

export interface Failover {
  readonly log: EvictionLog;
  readonly eyes: Looking;
  /** The bindings that have to leave. */
  readonly affected: readonly string[];
  /** The member that fails. */
  readonly member: string;
  /** The evacuations of before. */
  readonly former: readonly string[];
}

/** A busy machine may take this long. */
const PATIENCE_MS = 300_000;
const FULL: Taint = { key: "full", effect: "NoSchedule" };

export class Emptying {
  readonly operator: Operator;
  readonly #fleet: PropagationFleet;
  readonly #names: readonly string[];
  readonly #rate: number;

  constructor(fleet: PropagationFleet, names: readonly string[], rate: number) {
    this.operator = new Operator(fleet);
    this.#fleet = fleet;
    this.#names = names;
    this.#rate = rate;
  }

  /** Everything on one member, healthy, and free to run anywhere. */
  async startOn(member: string): Promise<void> {
    const { plane } = this.#fleet;
    for (const other of othersThan(member)) await this.operator.taint(other, FULL);
    await plane.create(propagationPolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "all", namespace: "default" },
      spec: {
        resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
        placement: oneOf(...MEMBERS),
        failover: { cluster: { purgeMode: "Gracefully" } },
      },
    });
    for (const name of this.#names) await plane.create(resources.deployments, deployment(name));
    await eventually(async () => {
      const { items } = await plane.list(resourceBindings);
      const healthy = items.filter(
        ({ spec, status }) =>
          (spec.clusters ?? []).map(({ name }) => name).join() === member &&
          status?.aggregatedStatus?.[0]?.health === "Healthy",
      );
      expect(healthy).toHaveLength(this.#names.length);
    }, PATIENCE_MS);
    for (const other of othersThan(member)) await this.operator.taint(other);
  }

  /**
   * Lets the member with the most workloads fail; the evictions begin a moment later. `toOne`: a single member takes all that
   * leave, so that the next failover concerns all again.
   */
  async begin(toOne = false): Promise<Failover> {
    const { plane } = this.#fleet;
    const { items } = await plane.list(resourceBindings);
    const on = (member: string): readonly string[] =>
      items
        .filter(({ spec }) => (spec.clusters ?? []).some(({ name }) => name === member))
        .map(({ metadata }) => metadata.name);
    const [member = ""] = MEMBERS.toSorted((a, b) => on(b).length - on(a).length);
    const next = (MEMBERS.indexOf(member) + 1) % MEMBERS.length;
    if (toOne)
      for (const other of othersThan(member))
        await this.operator.taint(other, ...(other === MEMBERS[next] ? [] : [FULL]));
    const affected = on(member);
    const former = (await plane.list(evacuations)).items.map(({ metadata }) => metadata.name);
    const log = await EvictionLog.start(plane, member, true);
    // Its own copies are read first: one that is gone from there was healthy elsewhere before.
    const order = [member, ...othersThan(member)];
    // A look at many copies is work for the machine, too: as a share of its time it stays the same.
    const pauseMs = 200 + 4 * this.#names.length;
    const eyes = keepLooking(async () => {
      const copies: ReadonlyMap<string, boolean>[] = [];
      for (const one of order) copies.push(await copiesIn(this.operator, one));
      return this.#names
        .filter((name) => !copies.some((inMember) => inMember.get(name) === true))
        .map((name) => `${name} has no healthy copy`);
    }, pauseMs);
    await this.operator.taint(member, { key: "down", effect: "NoExecute" });
    return { log, eyes, affected, member, former };
  }

  /** Waits for the end of a failover, judges it, and waits until what it left behind is gone. */
  async end(failover: Failover): Promise<void> {
    await this.over(failover);
    await this.settled();
  }

  /** Waits until the last task of a failover is cleared, and judges it; then all members are well again. */
  async over({ log, eyes, affected, member, former }: Failover): Promise<void> {
    const over = this.#untilOver(member, former);
    await over.catch(() => undefined);
    log.stop();
    const { looks, problems } = await eyes.stop();
    await over;
    expect([...problems, ...log.problems]).toEqual([]);
    expect(log.evictions.map(({ binding }) => binding).toSorted()).toEqual(affected.toSorted());
    expect(tooFast(log.evictions, this.#rate)).toEqual([]);
    expect(looks).toBeGreaterThan(5);
    for (const one of MEMBERS) await this.operator.taint(one);
  }

  async #untilOver(member: string, former: readonly string[]): Promise<void> {
    const { plane } = this.#fleet;
    await eventually(async () => {
      const { items } = await plane.list(resourceBindings);
      const left = items.filter(
        ({ spec }) =>
          spec.gracefulEvictionTasks !== undefined ||
          (spec.clusters ?? []).some(({ name }) => name === member),
      );
      expect(left.map(({ metadata }) => metadata.name)).toEqual([]);
      const records = (await plane.list(evacuations)).items.filter(
        ({ metadata }) => !former.includes(metadata.name),
      );
      expect(records).toHaveLength(1);
    }, PATIENCE_MS);
  }

  /**
   * Waits until nothing of the failovers is left: each workload has one Work and one copy, healthy, and every record is complete. A
   * Work from which a leader was killed after it had removed the object waits for 100 s (late-creates.ts).
   */
  async settled(): Promise<void> {
    const { plane } = this.#fleet;
    await eventually(async () => {
      const { items: bindings } = await plane.list(resourceBindings);
      const wanted = bindings.flatMap(({ spec }) =>
        (spec.clusters ?? []).map(({ name }) => `karmada-es-${name}`),
      );
      expect(bindings).toHaveLength(this.#names.length);
      expect(wanted).toHaveLength(this.#names.length);
      const { items: there } = await plane.list(works);
      expect(there.map(({ metadata }) => metadata.namespace ?? "").toSorted()).toEqual(
        wanted.toSorted(),
      );
      const copies = [...(await this.copies()).values()];
      const counts = this.#names.map((name) => copies.flatMap((one) => one.get(name) ?? []).join());
      expect(counts).toEqual(this.#names.map(() => "true"));
      for (const { metadata, status } of (await plane.list(evacuations)).items) {
        expect(status?.phase, metadata.name).toBe("Completed");
        expect(status?.entries?.done, metadata.name).toBe(status?.entries?.total);
      }
    }, PATIENCE_MS);
  }

  /** Which copies each member has, and whether they are ready. */
  async copies(): Promise<ReadonlyMap<string, ReadonlyMap<string, boolean>>> {
    const read = MEMBERS.map(
      async (member) => [member, await copiesIn(this.operator, member)] as const,
    );
    return new Map(await Promise.all(read));
  }

  async evicted({ log }: Failover, count: number): Promise<void> {
    await eventually(() => {
      expect(log.evictions.length).toBeGreaterThanOrEqual(count);
      return Promise.resolve();
    });
  }
}

function othersThan(member: string): readonly string[] {
  return MEMBERS.filter((name) => name !== member);
}
