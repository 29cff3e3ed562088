/** A workload is found by every name that kubectl takes for its kind, in every command. */
import { type New, type ResourceBinding, resourceBindings } from "@lifeboat/api";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { NumberedEntry } from "@lifeboat/core/history";
import { createFleet } from "@lifeboat/testkit";
import { expect, test } from "vitest";
import { findBinding } from "./find-binding.ts";
import { chosenEntries } from "./history/history-text.ts";

const NAMES: readonly (readonly [kind: string, spelled: readonly string[]])[] = [
  ["Deployment", ["deployment", "deployments", "Deployment", "deploy", "deployments.apps"]],
  ["Ingress", ["ingress", "ingresses", "ing", "ingresses.networking.k8s.io"]],
  ["NetworkPolicy", ["networkpolicy", "networkpolicies", "netpol"]],
  ["StorageClass", ["storageclass", "storageclasses", "sc"]],
  ["Endpoints", ["endpoints", "ep"]],
];

test.each(NAMES)("%s: its binding is found as %j", async (kind, spelled) => {
  const fleet = await createFleet({ memberModel: false });
  const name = bindingName(kind.toLowerCase(), "web");
  const binding: New<ResourceBinding> = {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, namespace: "default" },
    spec: { resource: { apiVersion: "v1", kind, name: "web", namespace: "default" } },
  };
  await fleet.plane.create(resourceBindings, binding);
  for (const asked of spelled) {
    const workload = { kind: asked, name: "web", namespace: "default" };
    expect((await findBinding(fleet.plane, workload)).metadata.name, asked).toBe(name);
  }
  await fleet.close();
});

test.each(NAMES)("%s: its history is found as %j, and that of no other kind", (kind, spelled) => {
  const entryOf = (of: string): NumberedEntry =>
    ({
      at: "2026-01-01T00:00:00Z",
      action: "Evicted",
      workload: { apiVersion: "v1", kind: of, name: "web", namespace: "default" },
    }) as unknown as NumberedEntry;
  const entries = [entryOf(kind), entryOf("Boat")];
  for (const asked of spelled) {
    const workload = { kind: asked, name: "web", namespace: "default" };
    expect(chosenEntries(entries, { workload }), asked).toEqual([entries[0]]);
  }
});
