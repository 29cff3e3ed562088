/**
 * A label that keeps any object, of any kind, from being deleted by any client until it is taken off. Clients match the words of
 * the refusal: they are those of the field.
 */
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
      `This resource is protected, please make sure to remove the label: ${LABEL}`,
    );
  },
});
