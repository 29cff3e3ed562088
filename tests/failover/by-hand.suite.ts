/** Failover by hand, as a person at a terminal does it: each verb against a control plane with three members, well and badly used. */
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Kubectl } from "../support/kubectl.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { type RunningProcess, startProcess } from "../support/processes.ts";

/** What the control plane is started with, beside the gate StatefulFailoverInjection. */
export const BY_HAND_FLAGS: readonly string[] = [
  "--cluster-failure-threshold",
  "2s",
  "--cluster-success-threshold",
  "2s",
  "--cluster-status-update-frequency",
  "500ms",
  "--resource-eviction-rate",
  "2",
];

interface Ended {
  readonly code: number | string;
  readonly output: string;
}

/** A control plane with three simulated members that have joined. */
export interface PlaneByHand {
  readonly kubectl: Kubectl;
  /** The flags by which a command finds it. */
  readonly reach: readonly string[];
  /** Whether the API server serves the metrics of the controllers. */
  readonly hasProbes: boolean;
  stop(): Promise<unknown>;
}

export function byHandSuite(kind: string, startPlane: () => Promise<PlaneByHand>): void {
  describe(`failover by hand, ${kind}`, () => {
    let plane: PlaneByHand;
    let kubectl: Kubectl;

    function start(...args: string[]): RunningProcess {
      return startProcess(lifeboatCommand, [...args, ...plane.reach]);
    }

    async function lifeboat(...args: string[]): Promise<Ended> {
      const child = start(...args);
      return { code: await child.ended, output: child.output() };
    }

    async function until(what: string, look: () => Promise<boolean>): Promise<void> {
      const deadline = Date.now() + 180_000;
      while (!(await look())) {
        if (Date.now() > deadline) throw new Error(`did not come about: ${what}`);
        await wait(200);
      }
    }

    async function jsonPath(path: string, ...what: string[]): Promise<string> {
      return (await kubectl.run(["get", ...what, "-o", `jsonpath=${path}`])).stdout;
    }

    /** Where a workload runs: `member1:2 member2:1`. */
    async function clustersOf(name: string): Promise<string> {
      const path = "{range .spec.clusters[*]}{.name}:{.replicas} {end}";
      return (await jsonPath(path, "resourcebinding", `${name}-deployment`)).trim();
    }

    const taintsOf = (cluster: string): Promise<string> =>
      jsonPath("{range .spec.taints[*]}{.key}={.value}:{.effect} {end}", "cluster", cluster);

    /** A Deployment that runs whole in one cluster. */
    function whole(name: string, clusterNames: readonly string[]): readonly object[] {
      const labels = { app: name };
      return [
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name, labels },
          spec: {
            replicas: 2,
            selector: { matchLabels: labels },
            template: {
              metadata: { labels },
              spec: { containers: [{ name: "c", image: "registry.example/c:1" }] },
            },
          },
        },
        {
          apiVersion: "policy.karmada.io/v1alpha1",
          kind: "PropagationPolicy",
          metadata: { name },
          spec: {
            resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name }],
            placement: {
              clusterAffinity: { clusterNames },
              spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
              replicaScheduling: {
                replicaSchedulingType: "Divided",
                replicaDivisionPreference: "Aggregated",
              },
            },
          },
        },
      ];
    }

    async function create(objects: readonly object[]): Promise<void> {
      const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
      expect(await kubectl.run(["create", "-f", "-"], list)).toMatchObject({ code: 0 });
    }

    /** Creates a workload that starts on member1 and may run on the clusters named. */
    async function onMember1(name: string, others: readonly string[]): Promise<void> {
      await create(whole(name, ["member1"]));
      await until(`${name} runs on member1`, async () => (await clustersOf(name)) === "member1:2");
      await until(`${name} is healthy`, async () => {
        const path = "{.status.aggregatedStatus[0].health}";
        return (await jsonPath(path, "resourcebinding", `${name}-deployment`)) === "Healthy";
      });
      const placement = JSON.stringify({
        spec: { placement: { clusterAffinity: { clusterNames: ["member1", ...others] } } },
      });
      await kubectl.run(["patch", "propagationpolicy", name, "--type=merge", "-p", placement]);
      await until("the policy is taken over", async () => {
        const path = "{.spec.placement.clusterAffinity.clusterNames[1]}";
        return (
          (await jsonPath(path, "resourcebinding", `${name}-deployment`)) === (others[0] ?? "")
        );
      });
    }

    beforeAll(async () => {
      plane = await startPlane();
      ({ kubectl } = plane);
    });

    afterAll(async () => {
      await plane?.stop();
    });

    describe("taint, cordon and uncordon", () => {
      it("add and remove taints, and say what they did", async () => {
        expect(
          await lifeboat("taint", "clusters", "member2", "a=1:NoSchedule", "b:NoSchedule"),
        ).toEqual({
          code: 0,
          output: "cluster/member2 tainted\n",
        });
        expect(await taintsOf("member2")).toBe("a=1:NoSchedule b=:NoSchedule ");
        expect(await lifeboat("taint", "clusters", "member2", "a=2:NoSchedule")).toMatchObject({
          code: 1,
          output: expect.stringContaining("--overwrite") as string,
        });
        const overwrite = ["taint", "clusters", "member2", "a=2:NoSchedule", "--overwrite"];
        expect(await lifeboat(...overwrite, "--dry-run")).toMatchObject({
          code: 0,
          output: "cluster/member2 tainted (dry run)\n",
        });
        expect(await taintsOf("member2")).toContain("a=1:NoSchedule");
        expect(await lifeboat(...overwrite)).toMatchObject({ code: 0 });
        expect(await taintsOf("member2")).toContain("a=2:NoSchedule");
        expect(await lifeboat("taint", "clusters", "member2", "a-", "b:NoSchedule-")).toEqual({
          code: 0,
          output: "cluster/member2 untainted\n",
        });
        expect(await taintsOf("member2")).toBe("");
      });

      it("close a cluster and open it again", async () => {
        expect(await lifeboat("cordon", "member2")).toEqual({
          code: 0,
          output: "cluster/member2 cordoned\n",
        });
        expect(await taintsOf("member2")).toBe("cluster.karmada.io/unschedulable=:NoSchedule ");
        expect(await lifeboat("cordon", "member2")).toEqual({
          code: 0,
          output: "cluster/member2 already cordoned\n",
        });
        expect(await lifeboat("uncordon", "member2")).toEqual({
          code: 0,
          output: "cluster/member2 uncordoned\n",
        });
        expect(await taintsOf("member2")).toBe("");
      });

      it.each([
        [["taint", "clusters", "member2", "a:NoExecuteSoon"], 2, "the effect must be one of"],
        [["taint", "clusters", "member2", "a"], 2, "key:Effect is needed"],
        [["taint", "clusters", "member2"], 2, "missing required argument"],
        [["taint", "clusters", "member2", "a-"], 1, 'cluster "member2": it has no taint a'],
        [["taint", "clusters", "nobody", "a:NoSchedule"], 1, "there are member1, member2, member3"],
        [["taint", "clusters", "member2,nobody", "a:NoSchedule"], 1, 'no cluster "nobody"'],
        [["cordon"], 2, "missing required argument"],
        [["cordon", "nobody"], 1, 'no cluster "nobody"'],
        [["uncordon", "member1", "nobody"], 1, 'no cluster "nobody"'],
        [["drain", "nobody"], 1, 'no cluster "nobody"'],
        [["drain", "member1", "--timeout", "soon"], 2, "a duration such as 30s"],
        [["evacuations", "show", "nobody"], 1, 'no evacuation "nobody"'],
        [["evacuations", "pause"], 2, "--cluster or --namespace is needed to pause; one of them"],
        [
          ["evacuations", "resume", "a", "--all"],
          2,
          "--cluster or --namespace is needed to resume; one of them",
        ],
        [["evacuations", "abandon", "a"], 2, "missing required argument"],
        [["evacuations", "restore", "web"], 2, "KIND/NAME is needed"],
        [["evacuations", "restore", "deployment/nobody"], 1, 'no binding of deployment "nobody"'],
        [["evacuations", "sink"], 2, "too many arguments"],
        [["brake", "fix"], 2, "too many arguments"],
      ])("%j is refused with a sentence", async (args, code, message) => {
        const answer = await lifeboat(...args);
        expect(answer).toEqual({ code, output: expect.stringContaining(message) as string });
      });

      it("and nothing was changed by any of it", async () => {
        for (const name of ["member1", "member2", "member3"]) expect(await taintsOf(name)).toBe("");
        expect(await jsonPath("{.items}", "evacuations")).toBe("[]");
      });
    });

    describe("drain", () => {
      beforeAll(async () => {
        await onMember1("free", ["member2"]);
        await onMember1("bound", []);
      });

      it("says beforehand what would leave, where it would run and what would be held", async () => {
        const { code, output } = await lifeboat("drain", "member1", "--dry-run");
        expect(code).toBe(0);
        expect(output).toContain("1 workload would leave member1, 1 would be held");
        expect(output).toMatch(/Deployment default\/free +member2:2/);
        expect(output).toMatch(/Deployment default\/bound +held, NoTarget: /);
        expect(await taintsOf("member1")).toBe("");
        for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
      });

      it("asks, and without anybody to ask changes nothing", async () => {
        const { code, output } = await lifeboat("drain", "member1");
        expect({ code, output }).toEqual({
          code: 2,
          output: expect.stringContaining("--yes") as string,
        });
        expect(await taintsOf("member1")).toBe("");
      });

      it("moves what can move although the gate is off, names what is held, and pauses on Ctrl-C", async () => {
        const drain = start("drain", "member1", "--yes");
        await drain.printed(/default\/bound-deployment is held, NoTarget: /);
        await drain.printed(/Held: 1\/2 moved, 1 held/);
        expect(await clustersOf("free")).toBe("member2:2");
        expect(await drain.stop("SIGINT")).toBe(1);
        expect(drain.output()).toContain("evacuation/member1-1 paused: 1 of 2 moved");
        expect(drain.output()).toContain("go on:     lifeboat drain member1");
        expect(await jsonPath("{.spec.paused}", "evacuation", "member1-1")).toBe("true");
      });

      it("goes on when it is ordered again, and says so when the time is up", async () => {
        const { code, output } = await lifeboat("drain", "member1", "--timeout", "2s");
        expect(code).toBe(1);
        expect(output).toContain("evacuation/member1-1 resumed");
        expect(output).toContain("is not empty in this time; the order stands");
        expect(await jsonPath("{.spec.paused}", "evacuation", "member1-1")).toBe("false");
      });
    });

    describe("evacuations", () => {
      it("are listed and shown, within 80 columns", async () => {
        const list = await lifeboat("evacuations");
        expect(list.output).toMatch(/^NAME +PHASE +MOVED +HELD +RATE +AGE +REASON$/m);
        expect(list.output).toMatch(/^member1-1 +Held +1\/2 +1 /m);
        const show = await lifeboat("evacuations", "show", "member1-1");
        expect(show.output).toMatch(/^Taint +lifeboat.dev\/drain:NoExecute$/m);
        expect(show.output).toMatch(/^Deployment default\/bound +member1:2 → - +held: NoTarget/m);
        expect(show.output).toMatch(
          /^Deployment default\/free +member1:2 → member2:2 .* healthy$/m,
        );
        for (const line of (list.output + show.output).split("\n"))
          expect(line.length).toBeLessThanOrEqual(80);
      });

      it("are paused and resumed, one and all", async () => {
        const say = async (...args: string[]): Promise<string> =>
          (await lifeboat("evacuations", ...args)).output;
        expect(await say("pause", "member1-1")).toBe("evacuation/member1-1 paused\n");
        expect(await say("pause", "member1-1")).toBe("evacuation/member1-1 already paused\n");
        expect(await say("pause", "--all")).toBe("all evacuations paused\n");
        expect((await lifeboat("status")).output).toContain("a person paused all evacuations");
        expect(await say("resume", "--all", "--dry-run")).toContain("1 in member1-1");
        expect(await lifeboat("evacuations", "resume", "--all")).toMatchObject({ code: 2 });
        expect(await say("resume", "--all", "--yes")).toBe(
          "all evacuations resumed\npaused by themselves, until they are resumed by name: member1-1\n",
        );
        expect(await say("resume", "member1-1", "--yes")).toBe("evacuation/member1-1 resumed\n");
      });

      it("abandon lets a workload stay, for good", async () => {
        expect(
          await lifeboat("evacuations", "abandon", "member1-1", "deployment/free"),
        ).toMatchObject({
          code: 1,
          output: expect.stringContaining("has left member1 already") as string,
        });
        const asking = ["evacuations", "abandon", "member1-1", "deploy/bound"];
        // Without a terminal nothing is done that was not confirmed.
        expect(await lifeboat(...asking)).toEqual({
          code: 2,
          output: expect.stringContaining("add --yes to go on") as string,
        });
        expect((await lifeboat(...asking, "--dry-run")).output).toContain("nothing was changed");
        const abandon = [...asking, "--yes"];
        expect(await lifeboat(...abandon)).toEqual({
          code: 0,
          output: "deploy/bound stays on member1\n",
        });
        await until("the evacuation is over", async () => {
          const phase = await jsonPath("{.status.phase}", "evacuation", "member1-1");
          return phase === "Completed";
        });
        expect(await lifeboat(...abandon)).toEqual({
          code: 0,
          output: "deploy/bound stays already on member1\n",
        });
        expect(await clustersOf("bound")).toBe("member1:2");
      });

      it("uncordon takes the order back; what has moved stays", async () => {
        expect(await lifeboat("uncordon", "member1")).toEqual({
          code: 0,
          output: "cluster/member1 uncordoned: what has not left it stays\n",
        });
        expect(await clustersOf("free")).toBe("member2:2");
      });

      it("17.9: restore brings a workload back, and its substitute leaves in order", async () => {
        const order = ["evacuations", "restore", "deployment/free"];
        const planned =
          "deployment/free goes back to member1:2. It leaves member2 once it is healthy";
        const dry = await lifeboat(...order, "--dry-run");
        expect(dry.output).toContain(planned);
        const asked = await lifeboat(...order);
        expect(asked).toMatchObject({
          code: 2,
          output: expect.stringContaining("--yes") as string,
        });
        expect(await clustersOf("free")).toBe("member2:2");
        expect(await lifeboat(...order, "--yes")).toEqual({
          code: 0,
          output: "deployment/free goes back to member1:2\n",
        });
        expect(await clustersOf("free")).toBe("member1:2");
        await until("the substitute is gone", async () => {
          const path = "{.spec.gracefulEvictionTasks}";
          const tasks = await jsonPath(path, "resourcebinding", "free-deployment");
          const names = await jsonPath(
            "{.items[*].metadata.name}",
            "work",
            "-n",
            "karmada-es-member2",
          );
          return tasks === "" && !names.includes("free");
        });
        expect(await lifeboat("evacuations", "restore", "deployment/bound")).toMatchObject({
          code: 1,
          output: expect.stringContaining("No eviction of the workload is recorded") as string,
        });
      });

      it("17.9: restore does not put a workload onto a cluster that is dead", async () => {
        expect(await lifeboat("member", "fail", "member2", "--mode", "api-down")).toMatchObject({
          code: 0,
        });
        await until("member2 is not ready", async () => {
          const path = '{.status.conditions[?(@.type=="Ready")].status}';
          return (await jsonPath(path, "cluster", "member2")) !== "True";
        });
        const { code, output } = await lifeboat(
          "evacuations",
          "restore",
          "deployment/free",
          "--yes",
        );
        expect({ code, output }).toEqual({
          code: 1,
          output: expect.stringContaining("member2 cannot run it now: Ready is ") as string,
        });
        expect(await clustersOf("free")).toBe("member1:2");
        expect(await lifeboat("member", "heal", "member2")).toMatchObject({ code: 0 });
        await until("member2 is ready again", async () => {
          const path = '{.status.conditions[?(@.type=="Ready")].status}{.spec.taints}';
          return (await jsonPath(path, "cluster", "member2")) === "True";
        });
      });

      it("of an empty cluster need nothing but the order", async () => {
        expect(await lifeboat("drain", "member3")).toEqual({
          code: 0,
          output: "nothing is on member3; it stays closed until `lifeboat uncordon member3`\n",
        });
        expect(await lifeboat("uncordon", "member3")).toMatchObject({ code: 0 });
      });
    });

    describe("status and brake", () => {
      it("show gates, rate, clusters and policies, within 80 columns", async () => {
        const { code, output } = await lifeboat("status");
        expect(code).toBe(0);
        expect(output).toContain("Failover off, StatefulFailoverInjection on");
        expect(output).toContain("Nothing moves by itself: the feature gate Failover is off.");
        expect(output).toMatch(/^Rate +2\/s; 0\/s above 55 % failed\. FleetHealthy/m);
        expect(output).toMatch(/^member2 +\S+ +\S.* +ready/m);
        // A cluster that has just stopped answering must not hide behind a page on which all is well.
        expect(output.includes("probes not known here")).toBe(!plane.hasProbes);
        expect(/^Probes +not known here: this API server/m.test(output)).toBe(!plane.hasProbes);
        expect(output).toMatch(
          /^default-not-ready +cluster.karmada.io\/not-ready:NoSchedule when/m,
        );
        for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
      });

      it("release the brake only when it is on, at a time that counts", async () => {
        expect((await lifeboat("brake")).output).toBe(
          "the deletion guard is armed: it stops a mass deletion\n",
        );
        expect(await lifeboat("brake", "release")).toEqual({
          code: 0,
          output: "no guard is tripped: there is nothing to release\n",
        });
        const later = new Date(Date.now() + 5000).toISOString().replace(/\.\d+Z/, "Z");
        const condition = {
          type: "MassDeletion",
          status: "True",
          reason: "TooManyDeletions",
          message: "21 of 100 Works were deleted within a minute",
          lastTransitionTime: later,
        };
        const patch = JSON.stringify({ status: { conditions: [condition] } });
        const args = ["patch", "evacuationbudget", "fleet", "--subresource=status", "--type=merge"];
        expect(await kubectl.run([...args, "-p", patch])).toMatchObject({ code: 0 });
        expect((await lifeboat("brake")).output).toContain(
          `the deletion guard is tripped since ${later}: 21 of 100`,
        );
        expect(await lifeboat("brake", "release")).toMatchObject({ code: 2 });
        expect((await lifeboat("brake", "release", "--dry-run")).output).toContain(
          "without the guard for ten minutes",
        );
        expect(await lifeboat("brake", "release", "--yes")).toMatchObject({ code: 0 });
        const released = await jsonPath("{.spec.brakeReleasedAt}", "evacuationbudget", "fleet");
        expect(released >= later).toBe(true);
        await until("the guard is released", async () =>
          (await lifeboat("brake")).output.startsWith("the deletion guard is released"),
        );
      });
    });
  });
}
