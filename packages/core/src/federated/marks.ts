/**
 * What makes a binding one of a federated StatefulSet, or of a Service of one of its pods (D15).
 *
 * 1. A StatefulSet's opt-in is taken over while it is placed nowhere, and never again: from then on the binding alone
 *    decides, whatever becomes of the template.
 * 2. That its pods form a quorum, and which replicas the application let go, may be changed at any time, so they follow the
 *    template.
 * 3. The Service of a pod stays with the pod: its binding bears the name of the set, by which evacuations leave it alone.
 */
import type { NewMeta } from "@lifeboat/api";
import { type Fields, textAt } from "../fields.ts";
import {
  APPLIED_PLACEMENT,
  FEDERATED,
  FEDERATED_LET_GO,
  FEDERATED_POD,
  FEDERATED_QUORUM,
  FEDERATED_RECORD,
  FEDERATED_SET,
  FEDERATED_SHARES,
} from "../well-known.ts";

/** The annotations of the binding of this template, beside those that it keeps; undefined takes one away. */
export function federatedMarks(
  template: Fields,
  existing: NewMeta,
): Readonly<Record<string, string | undefined>> {
  const { annotations = {} } = existing;
  if (isServiceOfPod(template))
    return { [FEDERATED_SET]: textAt(template, "metadata", "labels", FEDERATED_SET) };
  const isNew =
    annotations[APPLIED_PLACEMENT] === undefined && annotations[FEDERATED_RECORD] === undefined;
  const asked = textAt(template, "metadata", "annotations", FEDERATED_QUORUM);
  const isSet = asksForFederation(template);
  const letGo = textAt(template, "metadata", "annotations", FEDERATED_LET_GO);
  const quorum = {
    [FEDERATED_QUORUM]: isSet && asked !== "" ? asked : undefined,
    [FEDERATED_LET_GO]: isSet && letGo !== "" ? letGo : undefined,
  };
  if (!isNew) return quorum;
  return { ...quorum, [FEDERATED_SHARES]: isSet ? "{}" : undefined };
}

/** Whether the replicas of the binding's set form one quorum. */
export function isQuorum({ metadata }: { readonly metadata: NewMeta }): boolean {
  return metadata.annotations?.[FEDERATED_QUORUM] === "true";
}

/** The departures that the application confirmed, as the binding holds them. */
export function confirmedDepartures({ metadata }: { readonly metadata: NewMeta }): string {
  return metadata.annotations?.[FEDERATED_LET_GO] ?? "";
}

/** Whether the template is a StatefulSet that asks to be federated. */
export function asksForFederation(template: Fields): boolean {
  return (
    textAt(template, "apiVersion") === "apps/v1" &&
    textAt(template, "kind") === "StatefulSet" &&
    textAt(template, "metadata", "annotations", FEDERATED) === "true"
  );
}

/** Whether the binding is of a federated StatefulSet, or of a Service of one of its pods: nothing moves it. */
export function neverMoves({ metadata }: { readonly metadata: NewMeta }): boolean {
  const { annotations = {} } = metadata;
  return annotations[FEDERATED_SHARES] !== undefined || annotations[FEDERATED_SET] !== undefined;
}

function isServiceOfPod(template: Fields): boolean {
  return (
    textAt(template, "apiVersion") === "v1" &&
    textAt(template, "kind") === "Service" &&
    textAt(template, "metadata", "labels", FEDERATED_SET) !== "" &&
    textAt(template, "spec", "selector", FEDERATED_POD) === textAt(template, "metadata", "name")
  );
}
