/** Disks of a plane whose members have joined and are ready: where scenarios begin. Made once per set of members. */
import { freshImages, type Images } from "../images.ts";
import type { SimulationPorts } from "../simulation.ts";
import { createSimulation } from "../simulation.ts";

const made = new Map<string, Promise<Images>>();

/** `pull`: those of the members that pull. */
export function joinedImages(
  ports: SimulationPorts,
  members: readonly string[],
  pull: readonly string[] = [],
): Promise<Images> {
  const key = `${members.join()} ${pull.join()}`;
  const found = made.get(key) ?? makeImages(ports, members, pull);
  made.set(key, found);
  return found;
}

async function makeImages(
  ports: SimulationPorts,
  members: readonly string[],
  pull: readonly string[],
): Promise<Images> {
  const fresh = await freshImages();
  const simulation = await createSimulation(ports, { seed: 1, members, pull, images: fresh });
  await simulation.advance("60s");
  return {
    takenAt: simulation.clock.now(),
    plane: simulation.planeDisk.image(),
    member: fresh.member,
    joined: new Map([...simulation.members].map(([name, { disk }]) => [name, disk.image()])),
  };
}
