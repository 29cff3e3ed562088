/** A label that keeps any object, of any kind, from being deleted by anybody until it is taken off. */
import { forbiddenBecause } from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

const LABEL = "resourcetemplate.karmada.io/deletion-protected";

export const deletionProtection: AdmissionPlugin = Object.freeze({
  name: "DeletionProtection",
  handles: ({ operation, old }: AdmissionRequest) =>
    operation === "DELETE" && old?.metadata.labels?.[LABEL] === "Always",
  validate: ({ resource, name }: AdmissionRequest): void => {
    throw forbiddenBecause(
      resource,
      name,
      `this resource is protected; to delete it, remove the label ${LABEL} first`,
    );
  },
});
