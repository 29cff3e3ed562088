/** Certificate requests over the in-process client: as which user, what may change, and by whose right. */
import { describe, expect, test } from "vitest";
import {
  type AnyObject,
  certificateSigningRequests,
  type JsonObject,
  type New,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { createWorld, type World } from "@lifeboat/testkit";
import { allowMasters } from "../authorization/allow-masters.ts";
import type { Attributes, Authorizer } from "../authorization/authorizer.ts";

const PEM = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
const CERTIFICATE = btoa("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
const bob = { name: "bob", uid: "b1", groups: ["team"], extra: { k: ["v"] } };
const key = { namespace: "", name: "r" };

function request(spec: JsonObject = {}, name = "r"): New<AnyObject> {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: btoa(PEM),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["client auth"],
      ...spec,
    },
  };
}

/** Bob may write requests, and has these rights on signers: `approve kubernetes.io/*`. */
function bobMay(...rights: readonly string[]): Authorizer {
  return {
    ...allowMasters,
    allows: (attributes: Attributes) => {
      if (attributes.user.groups.includes("system:masters")) return true;
      if (attributes.kind !== "resource") return false;
      if (attributes.plural !== "signers") return true;
      return rights.includes(`${attributes.verb} ${attributes.name}`);
    },
  };
}

const approved = { type: "Approved", status: "True", reason: "R", message: "m" };
const denied = { ...approved, type: "Denied" };

async function made(authorizer: Authorizer = bobMay()): Promise<World> {
  const world = await createWorld({ authorizer });
  await world.as(bob).create(certificateSigningRequests, request());
  return world;
}

async function change(client: Client, subresource: string, status: JsonObject): Promise<AnyObject> {
  const current = await client.get(certificateSigningRequests, key);
  return client.update(
    certificateSigningRequests,
    { ...current, status: { ...(current["status"] as object), ...status } },
    subresource === "" ? {} : { subresource },
  );
}

describe("a new request", () => {
  test("names the user that made it, whatever the client writes, and has no status", async () => {
    const world = await createWorld({ authorizer: bobMay() });
    const forged = request({ username: "admin", uid: "x", groups: ["system:masters"], extra: {} });
    const created = await world.as(bob).create(certificateSigningRequests, {
      ...forged,
      status: { certificate: CERTIFICATE, conditions: [approved] },
    });
    expect(created).toMatchObject({
      spec: { username: "bob", uid: "b1", groups: ["team"], extra: { k: ["v"] } },
    });
    expect(created["status"] ?? {}).toEqual({});
  });

  test("keeps its spec for ever, also through the subresources", async () => {
    const world = await made();
    const before = (await world.client.get(certificateSigningRequests, key))["spec"];
    for (const options of [{}, { subresource: "status" }, { subresource: "approval" }]) {
      const spec = { username: "admin", groups: [], signerName: "a.b/c" };
      await world.client.patch(
        certificateSigningRequests,
        key,
        { type: "merge", body: { spec } },
        options,
      );
      expect((await world.client.get(certificateSigningRequests, key))["spec"]).toEqual(before);
    }
  });

  test.each([
    [{ usages: [] }, "spec.usages: Required value"],
    [{ usages: ["root"] }, 'spec.usages[0]: Unsupported value: "root"'],
    [{ usages: ["signing", "signing"] }, 'spec.usages[1]: Duplicate value: "signing"'],
    [{ expirationSeconds: 599 }, "may not specify a duration less than 600 seconds (10 minutes)"],
    [{ signerName: "x" }, "must be a fully qualified domain and path"],
    [{ signerName: "x/y" }, "should be a domain with at least two segments"],
    [{ signerName: "kubernetes.io/legacy-unknown" }, "legacy signerName is not allowed"],
    [{ request: btoa("x") }, "PEM block type must be CERTIFICATE REQUEST"],
  ])("%j is refused: %s", async (spec, want) => {
    const world = await createWorld();
    await expect(world.client.create(certificateSigningRequests, request(spec))).rejects.toThrow(
      want,
    );
  });
});

describe("approval", () => {
  test("sets conditions with their times, once, and needs the verb approve on the signer", async () => {
    const world = await made(bobMay("approve kubernetes.io/*"));
    const after = await change(world.as(bob), "approval", { conditions: [approved] });
    expect(after).toMatchObject({
      status: {
        conditions: [
          {
            ...approved,
            lastUpdateTime: "2026-01-01T00:00:00Z",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          },
        ],
      },
    });
    await expect(change(world.as(bob), "approval", { conditions: [] })).rejects.toThrow(
      'updates may not remove a condition of type "Approved"',
    );
    await expect(
      change(world.as(bob), "approval", { conditions: [approved, denied] }),
    ).rejects.toThrow("Approved and Denied conditions are mutually exclusive");
  });

  test("without the right is refused, also with that of another signer", async () => {
    const world = await made(bobMay("approve a.b/*", "sign kubernetes.io/kube-apiserver-client"));
    await expect(change(world.as(bob), "approval", { conditions: [approved] })).rejects.toThrow(
      'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
    );
  });

  test("takes no certificate", async () => {
    const world = await made();
    const status = { conditions: [approved], certificate: CERTIFICATE };
    const after = await change(world.client, "approval", status);
    expect(after["status"]).not.toHaveProperty("certificate");
  });

  test.each(["", "status"])("does not come by the subresource %j", async (subresource) => {
    const world = await made();
    const changing = change(world.client, subresource, { conditions: [approved] });
    if (subresource === "")
      expect((await changing)["status"] ?? {}).not.toHaveProperty("conditions");
    else await expect(changing).rejects.toThrow('may not add a condition of type "Approved"');
  });

  test.each([
    [{ ...approved, status: "False" }, 'Unsupported value: "False"'],
    [{ status: "True" }, "type: Required value"],
  ])("of the form %j is refused", async (condition, want) => {
    const world = await made();
    await expect(change(world.client, "approval", { conditions: [condition] })).rejects.toThrow(
      want,
    );
  });
});

describe("the certificate", () => {
  test("is written once, by the subresource status, with the verb sign on the signer", async () => {
    const world = await made(bobMay("sign kubernetes.io/kube-apiserver-client"));
    await change(world.client, "approval", { conditions: [approved] });
    const signed = await change(world.as(bob), "status", { certificate: CERTIFICATE });
    expect(signed).toMatchObject({ status: { certificate: CERTIFICATE, conditions: [approved] } });
    const other = btoa("-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n");
    await expect(change(world.as(bob), "status", { certificate: other })).rejects.toThrow(
      "updates may not modify existing certificate content",
    );
    expect((await change(world.as(bob), "", { certificate: other }))["status"]).toMatchObject({
      certificate: CERTIFICATE,
    });
  });

  test("needs that right, and has to be PEM", async () => {
    const world = await made(bobMay("approve kubernetes.io/*"));
    await expect(change(world.as(bob), "status", { certificate: CERTIFICATE })).rejects.toThrow(
      "user not permitted to sign requests",
    );
    await expect(change(world.client, "status", { certificate: btoa("x") })).rejects.toThrow(
      "must contain at least one CERTIFICATE PEM block",
    );
  });
});

describe("old requests go", () => {
  const exists = async (world: World): Promise<boolean> =>
    (await world.client.list(certificateSigningRequests)).items.length === 1;

  test("an hour after they were answered, over a restart", async () => {
    const world = await made();
    await world.advance("10h");
    await change(world.client, "approval", { conditions: [denied] });
    await world.advance("59m");
    await world.restart();
    expect(await exists(world)).toBe(true);
    await world.advance("2m");
    expect(await exists(world)).toBe(false);
  });

  test("a day after they were made, when nothing was answered, or nothing issued", async () => {
    const world = await made();
    await change(world.client, "approval", { conditions: [approved] });
    await world.advance("23h");
    expect(await exists(world)).toBe(true);
    await world.advance("61m");
    expect(await exists(world)).toBe(false);
  });
});
