/** `lifeboat status`: may anything move by itself, what makes it move, and what is moving. */
import { clusters, clusterTaintPolicies, evacuations, orNothing } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import {
  type PublishedSettings,
  readSettings as readPublished,
} from "@lifeboat/controllers/operating";
import { type Client, type Lease, leases } from "@lifeboat/kit";
import type { Command } from "commander";
import { readRecord } from "@lifeboat/controllers/context";
import { planeOptions } from "../find-plane.ts";
import { declareOptions, readSettings } from "../settings.ts";
import { statusLines } from "../status-text.ts";
import { print, withPlane } from "../with-plane.ts";
import { describeBrake } from "./brake.ts";
import { allBindings } from "./evacuations.ts";

export const statusOptions = planeOptions;

export function addStatus(program: Command): void {
  const command = program
    .command("status")
    .description("Show what failover may do, what would make it act, and what it does");
  declareOptions(command, statusOptions).action(() =>
    withPlane(readSettings(command, statusOptions), status),
  );
}

async function status(plane: Client): Promise<void> {
  const budget = await readRecord(plane);
  const settings = await readPublished(plane);
  const view = {
    settings,
    leader: await leaseOf(plane, settings),
    clusters: (await plane.list(clusters)).items,
    policies: (await plane.list(clusterTaintPolicies)).items,
    evacuations: (await plane.list(evacuations)).items,
    bindings: await allBindings(plane),
    budget,
    brake: describeBrake(budget),
  };
  print(statusLines(view, createRealClock().now()));
}

/** The Lease of the replicas that run the controllers; undefined: one process runs them, without an election. */
async function leaseOf(
  plane: Client,
  settings: PublishedSettings | undefined,
): Promise<Lease | undefined> {
  const [namespace = "", name = ""] = (settings?.["leader-elect-resource"] ?? "").split("/");
  return name === "" ? undefined : orNothing(plane.get(leases, { namespace, name }));
}
