/** A fleet: members can be reached by what the control plane knows of them, and only while their link works. */
import { describe, expect, it } from "vitest";
import { createFleet } from "./fleet.ts";
import { deployment, resources } from "./objects.ts";

describe("a fleet", () => {
  it("knows its members' connections and templates of every kind", async () => {
    const fleet = await createFleet({ members: ["m1", "m2"] });
    const { connections, templates } = fleet.context;
    const stop = new AbortController();
    expect(await templates.whenSynced(stop.signal)).toBe(true);
    expect(templates.resourceOf("apps/v1", "Deployment")).toMatchObject({ plural: "deployments" });
    expect(templates.resourceOf("v1", "Event")).toBeUndefined();
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.settle();
    const reference = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      namespace: "default",
      name: "web",
    };
    expect(templates.get(reference)).toMatchObject({ metadata: { name: "web" } });
    const connection = connections.of("m2");
    if (connection.kind !== "connected") throw new Error(connection.kind);
    expect(await connection.client.read("/readyz")).toBe("ok");
    await fleet.close();
  });

  it("loses a member whose link is down, and finds it again", async () => {
    const fleet = await createFleet({ members: ["m1"] });
    const connection = fleet.context.connections.of("m1");
    if (connection.kind !== "connected") throw new Error(connection.kind);
    fleet.member("m1").link.setFault({ kind: "down" });
    await expect(connection.client.read("/readyz")).rejects.toThrow("connection refused");
    fleet.member("m1").link.setFault(undefined);
    expect(await connection.client.read("/readyz")).toBe("ok");
    await fleet.close();
  });

  it("goes on after a crash of the control plane", async () => {
    const fleet = await createFleet({ members: ["m1"] });
    const old = fleet.context.connections.of("m1");
    await fleet.restart();
    const connection = fleet.context.connections.of("m1");
    expect(connection.kind).toBe("connected");
    expect(connection).not.toBe(old);
    await fleet.close();
  });

  it("of more members than Node expects listeners gives no warning of a leak", async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", note);
    const members = Array.from({ length: 12 }, (_, i) => `m${i}`);
    const fleet = await createFleet({ members });
    await fleet.close();
    // Node tells warnings at the end of the turn.
    await new Promise(setImmediate);
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});
