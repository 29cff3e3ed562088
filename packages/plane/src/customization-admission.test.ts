/** What a control plane takes and refuses of scripts, before it stores them. */
import { createRandom, createSeededIds, type Instant, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import {
  type New,
  type ResourceInterpreterCustomization,
  resourceInterpreterCustomizations as customizations,
} from "@lifeboat/api";
import { createMemoryStorage } from "@lifeboat/apiserver";
import { type ScriptEngine, ScriptFailed } from "@lifeboat/controllers/context";
import { createInProcessScriptEngine } from "@lifeboat/controllers/adapters";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { refusalOf } from "@lifeboat/testkit";
import { beforeEach, describe, expect, it } from "vitest";
import { createControlPlane } from "./control-plane.ts";

let client: Client;
let checked: string[];

const engine = createInProcessScriptEngine();
const counting: Pick<ScriptEngine, "check"> = {
  check: (script) => {
    checked.push(script);
    return engine.check(script);
  },
};

async function open(scripts: Pick<ScriptEngine, "check">): Promise<Client> {
  const clock = new VirtualClock(0 as Instant, drainPromises);
  const random = createRandom(1);
  const ids = createSeededIds(random.fork("ids"));
  const storage = createMemoryStorage(clock, { syncDelayMs: 0 });
  const ports = { clock, random, ids, log: silentLog, metrics: silentMetrics, storage };
  const plane = await createControlPlane(ports, { version: "0.0.0", tokens: new Map(), scripts });
  return plane.server.client({ name: "admin", groups: ["system:masters"] });
}

beforeEach(async () => {
  checked = [];
  client = await open(counting);
});

type Scripts = ResourceInterpreterCustomization["spec"]["customizations"];

const customization = (
  name: string,
  scripts: Scripts,
  kind = "Widget",
): New<ResourceInterpreterCustomization> => ({
  apiVersion: "config.karmada.io/v1alpha1",
  kind: "ResourceInterpreterCustomization",
  metadata: { name },
  spec: { target: { apiVersion: "ex.io/v1", kind }, customizations: scripts },
});

const HEALTHY = { luaScript: "function InterpretHealth(o) return true end" };
const COUNT = { luaScript: "function GetReplicas(o) return 1 end" };
const LOOP = { luaScript: "while true do end" };

describe("a customization", () => {
  it("is stored with scripts that are Lua, and they are not run", async () => {
    await client.create(customizations, customization("a", { healthInterpretation: LOOP }));
    expect(checked).toEqual([LOOP.luaScript]);
  });

  it("is refused with the place and Lua's own words for each script that is not", async () => {
    const broken = customization("a", {
      healthInterpretation: { luaScript: "function InterpretHealth(o)\n  retrun true\nend" },
      replicaResource: COUNT,
      componentResource: { luaScript: "\u001bLua" },
    });
    const refused = await refusalOf(client.create(customizations, broken));
    expect(refused).toMatchObject({
      code: 422,
      reason: "Invalid",
      details: {
        causes: [
          {
            field: "spec.customizations.healthInterpretation.luaScript",
            message: expect.stringContaining("luaScript:2: syntax error near 'true'"),
          },
          {
            field: "spec.customizations.componentResource.luaScript",
            message: expect.stringContaining("the script is not text"),
          },
        ],
      },
    });
  });

  it("is refused when another one answers the same question about the same kind", async () => {
    await client.create(customizations, customization("a", { healthInterpretation: HEALTHY }));
    const second = customization("b", { healthInterpretation: HEALTHY, replicaResource: COUNT });
    const refused = await refusalOf(client.create(customizations, second));
    expect(refused.details?.causes).toMatchObject([
      {
        field: "spec.customizations.healthInterpretation.luaScript",
        message: expect.stringContaining(
          "the customization a has a script for this of ex.io/v1 Widget already",
        ),
      },
    ]);
    await client.create(customizations, customization("c", { replicaResource: COUNT }));
    await client.create(customizations, customization("d", { replicaResource: COUNT }, "Gadget"));
  });

  it("17.14: may add dependencies to those that another one finds", async () => {
    const none = { luaScript: "function GetDependencies(o) return {} end" };
    await client.create(customizations, customization("a", { dependencyInterpretation: none }));
    await client.create(customizations, customization("b", { dependencyInterpretation: none }));
    const both = customization("c", {
      dependencyInterpretation: none,
      healthInterpretation: HEALTHY,
    });
    await client.create(customizations, both);
    const second = customization("d", { healthInterpretation: HEALTHY });
    expect((await refusalOf(client.create(customizations, second))).code).toBe(422);
  });

  it("is checked again only where it changes", async () => {
    await client.create(customizations, customization("a", { healthInterpretation: HEALTHY }));
    checked = [];
    const key = { namespace: "", name: "a" };
    const patch = (body: object) =>
      client.patch(customizations, key, { type: "merge", body } as never);
    await patch({ metadata: { labels: { a: "b" } } });
    expect(checked).toEqual([]);
    await patch({ spec: { customizations: { replicaResource: COUNT } } });
    expect(checked).toEqual([COUNT.luaScript]);
    await patch({ spec: { target: { kind: "Gadget" } } });
    expect(checked).toHaveLength(3);
    const broken = { spec: { customizations: { retention: { luaScript: "x =" } } } };
    expect((await refusalOf(patch(broken))).code).toBe(422);
    await client.delete(customizations, key);
  });

  it("waits for better times when scripts cannot be checked", async () => {
    const busy = await open({ check: () => Promise.reject(new ScriptFailed("busy", "too many")) });
    const refused = await refusalOf(
      busy.create(customizations, customization("a", { replicaResource: COUNT })),
    );
    expect(refused).toMatchObject({ code: 503, details: { retryAfterSeconds: 1 } });
  });
});
