/**
 * The flags about the Lease of a Pull cluster, of which agents decide. Control planes in the field take them too, so that a command line that
 * is carried over works: `up` hands them to the agents that it starts itself, `manager` starts none.
 */
import type { OptionDefinition } from "./options.ts";

/** With the help of each, in the order duration, fraction. */
export function leaseOptions([duration, fraction]: readonly [
  string,
  string,
]): readonly OptionDefinition[] {
  return [
    {
      name: "cluster-lease-duration",
      type: "duration",
      value: "TIME",
      default: "40s",
      min: 1000,
      help: duration,
    },
    {
      name: "cluster-lease-renew-interval-fraction",
      type: "number",
      value: "N",
      default: "0.25",
      min: 0.01,
      max: 0.99,
      help: fraction,
    },
  ];
}
