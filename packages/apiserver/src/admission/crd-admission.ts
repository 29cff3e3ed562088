/** What a CustomResourceDefinition gets and must satisfy when it is written: its defaults, its own rules, warnings. */
import {
  type AnyObject,
  applyCrdDefaults,
  asCrd,
  crdWarnings,
  type FieldError,
  invalidObject,
  prepareCrd,
  validateCrd,
  validateCrdUpdate,
} from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

const TABLE = "apiextensions.k8s.io/customresourcedefinitions";

export const crdAdmission: AdmissionPlugin = Object.freeze({
  name: "CustomResourceDefinition",
  handles: ({ resource, operation, subresource }: AdmissionRequest) =>
    resource.table === TABLE && operation !== "DELETE" && subresource === "",
  mutate: ({ object, old }: AdmissionRequest): AnyObject => {
    const crd = applyCrdDefaults(asCrd(object as AnyObject));
    return old === undefined ? prepareCrd(crd) : prepareCrd(crd, asCrd(old));
  },
  validate: (request: AdmissionRequest): void => {
    const crd = asCrd(request.object as AnyObject);
    const old = request.old === undefined ? undefined : asCrd(request.old);
    const errors: readonly FieldError[] =
      old === undefined ? validateCrd(crd) : validateCrdUpdate(crd, old);
    if (errors.length > 0) throw invalidObject(request.resource, request.name, errors);
    for (const warning of crdWarnings(crd, old)) request.warn(warning);
  },
});
