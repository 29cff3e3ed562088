/** Holding back what would be sent to members. */
import { flag, list, object, optional, text } from "../builder/shape.ts";

/** Policies and bindings: whether and where nothing is sent. */
export const suspensionFields = {
  dispatching: optional(flag("true: nothing is sent to any cluster.")),
  dispatchingOnClusters: optional(
    object("Nothing is sent to some clusters.", {
      clusterNames: optional(list("Which ones.", text("A cluster's name."))),
    }),
  ),
} as const;

export const dispatchingSuspension = object(
  "Holds back changes from the members.",
  suspensionFields,
);
