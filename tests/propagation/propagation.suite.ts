/**
 * The whole way, seen from outside: objects are applied with kubectl to a control plane that is a process, and are looked
 * at in members that are servers of their own. The same suite for simulated and for real members.
 *
 * The tests of one description build on each other: a kind is applied, edited, and goes away again.
 */
import { setTimeout as wait } from "node:timers/promises";
import {
  clusterResourceBindings,
  type Json,
  type KubeObject,
  type ResourceBinding,
  resourceBindings,
  works,
} from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inventoryOf } from "../support/inventory.ts";
import {
  boats,
  deployments,
  firstEdition,
  fileOf,
  NAMESPACE,
  namespaceManifest,
  policyManifests,
  type PropagatedKind,
  propagatedKinds,
  secondEdition,
} from "./manifests.ts";
import { allReady, MEMBERS, type PropagationFleet } from "./propagation-fleet.ts";

const ROLLOUT = ["--timeout=180s"];
/** Of the moments of death. */
const SEED = 20_261_116;

export function propagationSuite(name: string, start: () => Promise<PropagationFleet>): void {
  describe(`propagation to ${name}`, () => {
    let fleet: PropagationFleet;
    const before = new Map<string, readonly string[]>();

    beforeAll(async () => {
      fleet = await start();
      await eventually(() => allReady(fleet.plane));
      for (const [place, client] of everywhere(fleet))
        before.set(place, await eventually(() => inventoryOf(client)));
    });

    afterAll(() => fleet?.close());

    const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
      const { code, stdout, stderr } = await fleet.kubectl.run(args, input);
      expect(stderr.replace(/^Warning:.*\n/gm, "")).toBe("");
      expect(code).toBe(0);
      return stdout;
    };
    const template = (kind: PropagatedKind): Promise<KubeObject> =>
      fleet.plane.get(kind.resource, keyOfKind(kind));
    const copies = (kind: PropagatedKind): Promise<readonly KubeObject[]> =>
      Promise.all(
        [...fleet.members.values()].map((member) => member.get(kind.resource, keyOfKind(kind))),
      );

    describe("objects that are applied", () => {
      beforeAll(async () => {
        await kubectl(["apply", "-f", "-"], fileOf([namespaceManifest]));
        const later = propagatedKinds.filter(({ resource }) => resource === boats);
        const now = propagatedKinds.filter(({ resource }) => resource !== boats);
        await kubectl(["apply", "-f", "-"], fileOf([...policyManifests, ...now.map(firstEdition)]));
        await eventually(async () => {
          await kubectl(["apply", "-f", "-"], fileOf(later.map(firstEdition)));
        });
      });

      it.each(propagatedKinds)("$resource.kind reaches every member", async (kind) => {
        await eventually(async () => {
          for (const copy of await copies(kind)) expect(copy).toMatchObject(kind.first);
        });
      });

      it.each(propagatedKinds)("$resource.kind is reported as applied", async (kind) => {
        await eventually(async () => {
          const { status } = await bindingOf(fleet.plane, kind);
          const applied = status?.aggregatedStatus?.map(({ clusterName, applied: is }) => [
            clusterName,
            is,
          ]);
          expect(applied).toEqual(MEMBERS.map((member) => [member, true]));
          expect(status?.conditions).toContainEqual(
            expect.objectContaining({ type: "FullyApplied", status: "True" }),
          );
        });
      });

      it.each(["deployment/web", "statefulset/db", "daemonset/agent"])(
        "kubectl rollout status sees %s rolled out, on the template",
        async (workload) => {
          const said = await kubectl(["rollout", "status", workload, "-n", NAMESPACE, ...ROLLOUT]);
          expect(said).toMatch(/successfully rolled out|roll ?out complete/);
        },
      );

      it("the template of the Deployment counts the replicas of all members", async () => {
        await eventually(async () => {
          const { metadata, status } = (await template(kindNamed("web"))) as Workload;
          expect(status).toMatchObject({
            replicas: 6,
            readyReplicas: 6,
            observedGeneration: metadata.generation,
          });
        });
      });

      it("the Job is complete, and kubectl wait sees it", async () => {
        await kubectl([
          "wait",
          "--for=condition=complete",
          "job/once",
          "-n",
          NAMESPACE,
          ...ROLLOUT,
        ]);
        expect(await template(kindNamed("once"))).toMatchObject({ status: { succeeded: 3 } });
      });

      it("the Service shows the addresses of all members", async () => {
        await eventually(async () => {
          const { status } = (await template(kindNamed("front"))) as Workload;
          expect(status?.loadBalancer?.ingress).toHaveLength(3);
        });
      });

      it.each<readonly [string, Json]>([
        ["door", { loadBalancer: { ingress: [{ ip: "198.51.100.7" }] } }],
        ["yearly", { lastScheduleTime: "2026-01-01T00:00:00Z" }],
        ["ark", { afloat: true }],
      ])(
        "the status that a member writes on %s comes back on the binding",
        async (name, status) => {
          const kind = kindNamed(name);
          const member = fleet.members.get("member2");
          await member?.patch(
            kind.resource,
            keyOfKind(kind),
            { type: "merge", body: { status } },
            { subresource: "status" },
          );
          await eventually(async () => {
            const items = (await bindingOf(fleet.plane, kind)).status?.aggregatedStatus ?? [];
            const item = items.find(({ clusterName }) => clusterName === "member2");
            expect(item?.status).toMatchObject(status as object);
          });
        },
      );

      it("drift in a member is corrected", async () => {
        const kind = kindNamed("settings");
        const body = { data: { colour: "blue" } };
        await fleet.members.get("member1")?.patch(kind.resource, keyOfKind(kind), {
          type: "merge",
          body,
        });
        await eventually(async () => {
          for (const copy of await copies(kind)) expect(copy).toMatchObject(kind.first);
        });
      });
    });

    describe("objects that are edited", () => {
      beforeAll(async () => {
        await kubectl(["apply", "-f", "-"], fileOf(propagatedKinds.map(secondEdition)));
      });

      it("a rollout is called done only when every member runs the new edition", async () => {
        await kubectl(["rollout", "status", "deployment/web", "-n", NAMESPACE, ...ROLLOUT]);
        for (const copy of await copies(kindNamed("web")))
          expect(copy).toMatchObject({
            spec: { replicas: 3 },
            status: { updatedReplicas: 3, readyReplicas: 3, replicas: 3 },
          });
      });

      it.each(propagatedKinds)("$resource.kind is edited in every member", async (kind) => {
        await eventually(async () => {
          for (const copy of await copies(kind)) expect(copy).toMatchObject(kind.edit);
        });
      });
    });

    describe("the control plane is killed with -9 in the middle of work", () => {
      const names = ["k0", "k1", "k2", "k3"];
      const version = (copy: KubeObject): string | undefined => copy.metadata.labels?.["version"];

      it("and the end state is the same", async () => {
        const random = createRandom(SEED);
        const edition = (n: number): string =>
          fileOf([...names.map((name) => deploymentOf(name, n)), killPolicy]);
        for (let n = 0; n < 4; n += 1) {
          await eventually(async () => {
            await kubectl(["apply", "-f", "-"], edition(n));
          });
          await wait(random.below(1500));
          await fleet.killPlane();
        }
        await kubectl(["delete", "deployment", "k2", "k3", "-n", "default", "--wait=false"]);
        await wait(random.below(400));
        await fleet.killPlane();
        await eventually(async () => {
          for (const [, member] of fleet.members) {
            const { items } = await member.list(deployments, { namespace: "default" });
            expect(items.map((copy) => [copy.metadata.name, version(copy)])).toEqual([
              ["k0", "3"],
              ["k1", "3"],
            ]);
          }
          const { items } = await fleet.plane.list(works);
          const of = items.filter(({ spec }) => /"k[0-3]"/.test(JSON.stringify(spec)));
          expect(of).toHaveLength(2 * MEMBERS.length);
          // A Work that a killed process may have sent a create for goes a minute and a half later.
        }, 240_000);
        await kubectl(["rollout", "status", "deployment/k0", "-n", "default", ...ROLLOUT]);
      }, 600_000);

      it("what was there before is as it was", async () => {
        for (const kind of propagatedKinds)
          for (const copy of await copies(kind)) expect(copy).toMatchObject(kind.edit);
      });

      afterAll(async () => {
        await kubectl(["delete", "deployment", "k0", "k1", "-n", "default"]);
        await kubectl(["delete", "propagationpolicy", "kills", "-n", "default"]);
      });
    });

    describe("objects that are deleted", () => {
      beforeAll(async () => {
        const all = propagatedKinds.map(secondEdition);
        // A definition takes its objects with it, maybe before their own turn.
        const options = ["--wait=false", "--ignore-not-found"];
        await kubectl(["delete", ...options, "-f", "-"], fileOf(all));
      });

      it.each(propagatedKinds)("$resource.kind goes from every member", async (kind) => {
        await eventually(async () => {
          for (const [, member] of fleet.members)
            await expect(member.get(kind.resource, keyOfKind(kind))).rejects.toMatchObject({
              status: { code: 404 },
            });
        });
      });

      it("and with its namespace and its policies nothing is left behind anywhere", async () => {
        await kubectl(["delete", "-f", "-"], fileOf([...policyManifests, namespaceManifest]));
        await eventually(async () => {
          for (const [place, client] of everywhere(fleet))
            expect([place, await inventoryOf(client)]).toEqual([place, before.get(place)]);
        });
      });
    });
  });
}

interface Workload extends KubeObject {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly Json[] } };
}

function everywhere(fleet: PropagationFleet): ReadonlyMap<string, Client> {
  return new Map<string, Client>([["plane", fleet.plane], ...fleet.members]);
}

function kindNamed(name: string): PropagatedKind {
  const kind = propagatedKinds.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no kind has the object ${name}`);
  return kind;
}

function keyOfKind({ name, resource }: PropagatedKind): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace: resource.namespaced ? NAMESPACE : "", name };
}

async function bindingOf(
  plane: Client,
  { name, resource }: PropagatedKind,
): Promise<ResourceBinding> {
  const key = { namespace: "", name: `${name}-${resource.kind.toLowerCase()}` };
  return resource.namespaced
    ? plane.get(resourceBindings, { ...key, namespace: NAMESPACE })
    : plane.get(clusterResourceBindings, key);
}

const killPolicy = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "kills", namespace: "default" },
  spec: { resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }], placement: {} },
};

function deploymentOf(name: string, version: number): Parameters<typeof fileOf>[0][number] {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default", labels: { version: String(version) } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "main", image: `nginx:1.2${version}` }] },
      },
    },
  };
}
