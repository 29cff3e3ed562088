/** Questions about a kind that a user has taught the control plane, on a real API server with the real Lua. */
import {
  type AnyObject,
  type New,
  type ResourceInterpreterCustomization,
  resourceInterpreterCustomizations as customizations,
} from "@lifeboat/api";
import { createFleet, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInProcessScriptEngine } from "../../adapters/script-in-process.ts";
import { type Interpretation, InterpretationFailed } from "../interpretation.ts";
import { createInterpretation } from "./create-interpretation.ts";

type Scripts = Partial<
  Record<keyof ResourceInterpreterCustomization["spec"]["customizations"], string>
>;

let fleet: Fleet;
let asked: string[];

beforeEach(async () => {
  const engine = createInProcessScriptEngine({ instructions: 200_000 });
  asked = [];
  fleet = await createFleet({
    interpretation: (ports, informers) =>
      createInterpretation(ports, informers.customizations, {
        ...engine,
        run: (call) => {
          asked.push(call.function);
          return engine.run(call);
        },
      }),
  });
});
afterEach(() => fleet.close());

const interpretation = (): Interpretation => fleet.context.interpretation;

const customization = (
  name: string,
  scripts: Scripts,
  target = { apiVersion: "shop.io/v1", kind: "Workload" },
): New<ResourceInterpreterCustomization> => ({
  apiVersion: "config.karmada.io/v1alpha1",
  kind: "ResourceInterpreterCustomization",
  metadata: { name },
  spec: {
    target,
    customizations: Object.fromEntries(
      Object.entries(scripts).map(([part, luaScript]) => [part, { luaScript }]),
    ),
  },
});

async function teach(scripts: Scripts, name = "workload"): Promise<void> {
  await fleet.plane.create(customizations, customization(name, scripts));
  await fleet.settle();
}

/** A kind that is much like a Deployment. */
const workload = (parts: Readonly<Record<string, unknown>> = {}): AnyObject => ({
  apiVersion: "shop.io/v1",
  kind: "Workload",
  metadata: {
    name: "w",
    namespace: "default",
    uid: "u",
    generation: 2,
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: {
    replicas: 3,
    paused: false,
    args: [],
    template: {
      spec: {
        serviceAccountName: "runner",
        containers: [{ name: "c", resources: { requests: { cpu: "100m" } } }],
      },
    },
  },
  ...parts,
});

const ALL: Scripts = {
  replicaResource: `
    local kube = require("kube")
    function GetReplicas(obj)
      return obj.spec.replicas, kube.accuratePodRequirements(obj.spec.template)
    end`,
  replicaRevision: `
    function ReviseReplica(obj, desiredReplica)
      obj.spec.replicas = desiredReplica
      return obj
    end`,
  retention: `
    function Retain(desiredObj, observedObj)
      desiredObj.spec.paused = observedObj.spec.paused
      return desiredObj
    end`,
  statusReflection: `
    function ReflectStatus(observedObj)
      if observedObj.status == nil then return {} end
      return { ready = observedObj.status.ready, conditions = observedObj.status.conditions }
    end`,
  statusAggregation: `
    function AggregateStatus(desiredObj, statusItems)
      local ready = 0
      for i = 1, #statusItems do
        if statusItems[i].status ~= nil and statusItems[i].status.ready ~= nil then
          ready = ready + statusItems[i].status.ready
        end
      end
      if desiredObj.status == nil then desiredObj.status = {} end
      desiredObj.status.ready = ready
      desiredObj.status.clusters = #statusItems
      return desiredObj
    end`,
  healthInterpretation: `
    function InterpretHealth(observedObj)
      return observedObj.status ~= nil and observedObj.status.ready == observedObj.spec.replicas
    end`,
  dependencyInterpretation: `
    function GetDependencies(desiredObj)
      local found = {}
      found[1] = { apiVersion = "v1", kind = "Secret", namespace = desiredObj.metadata.namespace, name = "s" }
      found[2] = { apiVersion = "v1", kind = "ServiceAccount", namespace = desiredObj.metadata.namespace,
                   name = desiredObj.spec.template.spec.serviceAccountName }
      found[3] = found[1]
      return found
    end`,
};

describe("a kind with scripts", () => {
  beforeEach(() => teach(ALL));

  it("has the replicas and requirements that its script answers", async () => {
    expect(await interpretation().replicas(workload())).toEqual({
      replicas: 3,
      requirements: { resourceRequest: { cpu: "100m" } },
    });
  });

  it("is revised by its script, and keeps everything else as it was", async () => {
    const revised = await interpretation().reviseReplicas(workload(), 7);
    const { spec } = workload();
    expect(revised).toEqual(workload({ spec: { ...(spec as object), replicas: 7 } }));
    expect(Object.isFrozen(revised)).toBe(true);
  });

  it("retains what its script answers", async () => {
    const observed = workload({ spec: { paused: true } });
    expect(await interpretation().retain(workload(), observed)).toMatchObject({
      spec: { paused: true, replicas: 3, args: [] },
    });
  });

  it("reports the status that its script answers", async () => {
    const status = { ready: 2, conditions: [], secret: "x" };
    expect(await interpretation().reflectStatus(workload({ status }))).toEqual({
      ready: 2,
      conditions: [],
    });
    expect(await interpretation().reflectStatus(workload())).toBeUndefined();
  });

  it("has the status that its script makes of its copies", async () => {
    const items = [
      { clusterName: "a", status: { ready: 2 } },
      { clusterName: "b", status: { ready: 1 } },
      { clusterName: "c" },
      { clusterName: "" },
    ];
    const template = workload({ status: { seen: true } });
    expect(await interpretation().aggregateStatus(template, items)).toEqual({
      seen: true,
      ready: 3,
      clusters: 3,
    });
  });

  it("is as healthy as its script answers", async () => {
    expect(await interpretation().health(workload({ status: { ready: 3 } }))).toBe("Healthy");
    expect(await interpretation().health(workload())).toBe("Unhealthy");
  });

  it("needs what its script lists, sorted and each once", async () => {
    expect(await interpretation().dependencies(workload())).toEqual([
      { apiVersion: "v1", kind: "Secret", namespace: "default", name: "s" },
      { apiVersion: "v1", kind: "ServiceAccount", namespace: "default", name: "runner" },
    ]);
  });

  it("is asked about once as long as neither the object nor the script changes", async () => {
    const object = workload();
    const [first, second] = await Promise.all([
      interpretation().replicas(object),
      interpretation().replicas(object),
    ]);
    expect(second).toBe(first);
    expect(asked).toEqual(["GetReplicas"]);
    await interpretation().replicas(workload());
    expect(asked).toEqual(["GetReplicas", "GetReplicas"]);
  });

  it("is known as customized, and others are not", () => {
    const is = (apiVersion: string, kind: string): boolean =>
      interpretation().isCustomized(apiVersion, kind, "health");
    expect(is("shop.io/v1", "Workload")).toBe(true);
    expect(is("shop.io/v2", "Workload")).toBe(false);
    expect(is("apps/v1", "Deployment")).toBe(false);
  });

  it("is still known after a restart", async () => {
    await fleet.restart();
    expect(await interpretation().whenSynced(new AbortController().signal)).toBe(true);
    expect(await interpretation().health(workload({ status: { ready: 3 } }))).toBe("Healthy");
  });
});

describe("kinds without scripts", () => {
  it("have the built-in answers", async () => {
    await teach({ healthInterpretation: "function InterpretHealth() return false end" });
    expect(await interpretation().replicas(workload())).toEqual({ replicas: 0 });
    expect(await interpretation().health(workload({ kind: "Other" }))).toBe("Healthy");
    expect(await interpretation().health(workload())).toBe("Unhealthy");
    expect(await interpretation().dependencies(workload())).toEqual([]);
  });

  it("of which some are built in can be taught otherwise", async () => {
    const target = { apiVersion: "v1", kind: "ConfigMap" };
    const scripts = { healthInterpretation: "function InterpretHealth() return false end" };
    await fleet.plane.create(customizations, customization("c", scripts, target));
    await fleet.settle();
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } } as const;
    expect(await interpretation().health(object)).toBe("Unhealthy");
  });
});

describe("a script that fails", () => {
  const FAILURES: readonly (readonly [string, Scripts, () => Promise<unknown>, string])[] = [
    [
      "raises an error",
      { replicaResource: "function GetReplicas(o) return o.spec.nothing.replicas end" },
      () => interpretation().replicas(workload()),
      "GetReplicas of the ResourceInterpreterCustomization workload failed: luaScript:1: attempt to index a nil value (field 'nothing')",
    ],
    [
      "never ends",
      { healthInterpretation: "function InterpretHealth() while true do end end" },
      () => interpretation().health(workload()),
      "took more than 200000 instructions",
    ],
    [
      "counts in halves",
      { replicaResource: "function GetReplicas() return 1.5 end" },
      () => interpretation().replicas(workload()),
      "the number of replicas is 1.5",
    ],
    [
      "answers neither yes nor no",
      { healthInterpretation: "function InterpretHealth() return 'yes' end" },
      () => interpretation().health(workload()),
      'the answer is "yes", not true or false',
    ],
    [
      "gives another object back",
      {
        replicaRevision:
          "function ReviseReplica(o) o.metadata.namespace = 'kube-system' return o end",
      },
      () => interpretation().reviseReplicas(workload(), 1),
      "another metadata.namespace",
    ],
    [
      "gives nothing back",
      { retention: "function Retain() end" },
      () => interpretation().retain(workload(), workload()),
      "the answer is nil, not the object",
    ],
    [
      "lists something else than dependencies",
      { dependencyInterpretation: "function GetDependencies() return { { kind = 'Secret' } } end" },
      () => interpretation().dependencies(workload()),
      "dependency 1 has no apiVersion or no kind",
    ],
    [
      "has another function than is asked for",
      { statusReflection: "function Reflect() return {} end" },
      () => interpretation().reflectStatus(workload()),
      "the script defines no function ReflectStatus",
    ],
  ];

  it.each(FAILURES)("because it %s is reported", async (_, scripts, ask, message) => {
    await teach(scripts);
    const failure: unknown = await ask().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InterpretationFailed);
    expect((failure as Error).message).toContain(message);
  });

  it("is asked again, for it may have been busy", async () => {
    await teach({ healthInterpretation: "function InterpretHealth() return 1 end" });
    const object = workload();
    await expect(interpretation().health(object)).rejects.toThrow(InterpretationFailed);
    await expect(interpretation().health(object)).rejects.toThrow(InterpretationFailed);
    expect(asked).toHaveLength(2);
  });
});

describe("changes of scripts", () => {
  const healthy = (is: boolean): Scripts => ({
    healthInterpretation: `function InterpretHealth() return ${is} end`,
  });
  const told = (): string[] => {
    const kinds: string[] = [];
    interpretation().onChange((apiVersion, kind) => kinds.push(`${apiVersion} ${kind}`));
    return kinds;
  };

  it("are reported once each, and hold at once even for what was asked before", async () => {
    const kinds = told();
    const object = workload();
    await teach(healthy(false));
    expect(await interpretation().health(object)).toBe("Unhealthy");
    const key = { namespace: "", name: "workload" };
    await fleet.plane.patch(customizations, key, {
      type: "merge",
      body: {
        spec: {
          customizations: {
            healthInterpretation: { luaScript: "function InterpretHealth() return true end" },
          },
        },
      },
    });
    await fleet.settle();
    expect(await interpretation().health(object)).toBe("Healthy");
    await fleet.plane.delete(customizations, key);
    await fleet.settle();
    expect(kinds).toEqual(Array.from({ length: 3 }, () => "shop.io/v1 Workload"));
    expect(interpretation().isCustomized("shop.io/v1", "Workload", "health")).toBe(false);
  });

  it("that change no script are not reported", async () => {
    await teach(healthy(true));
    const kinds = told();
    const key = { namespace: "", name: "workload" };
    const body = { metadata: { labels: { a: "b" } } };
    await fleet.plane.patch(customizations, key, { type: "merge", body });
    await fleet.settle();
    expect(kinds).toEqual([]);
  });

  it("to another kind are reported for both", async () => {
    await teach(healthy(true));
    const kinds = told();
    const body = { spec: { target: { kind: "Other" } } };
    const key = { namespace: "", name: "workload" };
    await fleet.plane.patch(customizations, key, { type: "merge", body });
    await fleet.settle();
    expect(kinds).toEqual(["shop.io/v1 Workload", "shop.io/v1 Other"]);
    expect(interpretation().isCustomized("shop.io/v1", "Workload", "health")).toBe(false);
  });

  it("are not reported to a handler that was removed", async () => {
    const kinds: string[] = [];
    const end = interpretation().onChange((_, kind) => kinds.push(kind));
    end();
    await teach(healthy(true));
    expect(kinds).toEqual([]);
  });
});

describe("several customizations of one kind", () => {
  it("answer by the oldest for each question, with an Event on the others", async () => {
    await teach({ healthInterpretation: "function InterpretHealth() return false end" }, "z-old");
    await fleet.advance("2s");
    await teach(
      {
        healthInterpretation: "function InterpretHealth() return true end",
        replicaResource: "function GetReplicas() return 9 end",
      },
      "a-new",
    );
    expect(await interpretation().health(workload())).toBe("Unhealthy");
    expect(await interpretation().replicas(workload())).toEqual({ replicas: 9 });
    const { items } = await fleet.plane.list(resources.events);
    expect(items).toMatchObject([
      {
        type: "Warning",
        reason: "ScriptPassedOver",
        involvedObject: { kind: "ResourceInterpreterCustomization", name: "a-new" },
        message:
          "The script in healthInterpretation is not used: the older customization z-old has one for shop.io/v1 Workload.",
      },
    ]);
    await fleet.plane.delete(customizations, { namespace: "", name: "z-old" });
    await fleet.settle();
    expect(await interpretation().health(workload())).toBe("Healthy");
  });

  const needing = (...names: readonly string[]): Scripts => ({
    dependencyInterpretation: `function GetDependencies(obj) return {
      ${names.map((name) => `{ apiVersion = "v1", kind = "Secret", namespace = "default", name = "${name}" }`).join(",\n")}
    } end`,
  });
  const needed = async (object: AnyObject): Promise<readonly (string | undefined)[]> =>
    (await interpretation().dependencies(object)).map(({ name }) => name);

  it("17.14: add up what an object depends on, sorted and each once, and none is passed over", async () => {
    await teach(needing("b", "c"), "z-old");
    await fleet.advance("2s");
    const object = workload();
    expect(await needed(object)).toEqual(["b", "c"]);
    const kinds: string[] = [];
    interpretation().onChange((_, kind) => kinds.push(kind));
    await teach(needing("c", "a"), "a-new");
    expect(kinds).toEqual(["Workload"]);
    expect(await needed(object)).toEqual(["a", "b", "c"]);
    const calls = asked.length;
    expect(await needed(object)).toEqual(["a", "b", "c"]);
    expect(asked).toHaveLength(calls);
    expect((await fleet.plane.list(resources.events)).items).toEqual([]);
    await fleet.plane.delete(customizations, { namespace: "", name: "z-old" });
    await fleet.settle();
    expect(await needed(object)).toEqual(["a", "c"]);
  });

  it("17.14: answer nothing about dependencies while one of the scripts fails", async () => {
    await teach(needing("b"), "a-good");
    await teach(
      { dependencyInterpretation: "function GetDependencies() error('no') end" },
      "z-bad",
    );
    await expect(interpretation().dependencies(workload())).rejects.toThrow(
      "GetDependencies of the ResourceInterpreterCustomization z-bad failed",
    );
  });
});
