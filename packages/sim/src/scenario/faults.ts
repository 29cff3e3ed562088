/** Lets things go wrong, and heals them. */
import { unreachable } from "@lifeboat/base";
import { OutcomeUnknown } from "@lifeboat/kit";
import type { Link } from "../network/link.ts";
import type { Simulation } from "../simulation.ts";
import type { Fault } from "./scenario.ts";

/** Arranges a fault; its times count from now. `begins` is called when it begins. */
export function arrangeFault(simulation: Simulation, fault: Fault, begins: () => void): void {
  const { clock, writes } = simulation;
  if ("at" in fault) clock.after(fault.at * 1000, begins);
  if ("from" in fault) clock.after(fault.from * 1000, begins);
  const at = (seconds: number, act: () => void): void => void clock.after(seconds * 1000, act);
  switch (fault.fault) {
    case "crash":
      return at(fault.at, () => simulation.crashPlane(fault.downFor * 1000));
    case "crash-at-write": {
      const { write, moment, downFor } = fault;
      const act = (): void => {
        begins();
        simulation.crashPlane(downFor * 1000);
      };
      return writes.plan({ number: writes.count + write, moment, act });
    }
    case "lost-answer-at-write": {
      const act = (): never => {
        begins();
        throw new OutcomeUnknown("the answer was lost");
      };
      return writes.plan({ number: writes.count + fault.write, moment: "after", act });
    }
    case "link": {
      const link = linkOf(simulation, fault.link);
      at(fault.from, () => link.set(fault.conditions));
      return at(fault.until, () => link.set(undefined));
    }
    case "reset":
      return at(fault.at, () => linkOf(simulation, fault.link).reset("the connection was reset"));
    case "member-crash":
      return at(fault.at, () => simulation.crashMember(fault.member, fault.downFor * 1000));
    case "pods": {
      const member = simulation.member(fault.member);
      at(fault.from, () => member.suffer({ kind: fault.kind }));
      return at(fault.until, () => member.suffer(undefined));
    }
    case "disk-full":
      at(fault.from, () => simulation.planeDisk.fill());
      return at(fault.until, () => simulation.planeDisk.free());
    case "disk-fail":
      at(fault.at, () => simulation.planeDisk.fail());
      // The product stops writing for good then, and whoever runs it starts it again.
      return at(fault.at + 1, () => simulation.crashPlane(fault.downFor * 1000));
    case "clock-skew":
      return at(fault.at, () => {
        simulation.plane.skewMs = fault.skewMs;
        simulation.crashPlane(1000);
      });
    default:
      return unreachable(fault);
  }
}

/** Nothing is wrong any more, and nobody is dead for longer than a second. */
export function healAll(simulation: Simulation): void {
  simulation.planeLink.set(undefined);
  simulation.planeDisk.free();
  if (!simulation.plane.running) simulation.plane.start();
  for (const member of simulation.members.values()) {
    member.link.set(undefined);
    member.suffer(undefined);
    if (!member.running) member.start();
  }
}

function linkOf(simulation: Simulation, name: string): Link {
  return name === "plane" ? simulation.planeLink : simulation.member(name).link;
}
