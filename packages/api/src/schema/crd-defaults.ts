/** What the server fills into CustomResourceDefinitions, and what it keeps of their status when clients write them. */
import type { CrdSpec, CrdStatus, CustomResourceDefinition } from "./crd.ts";
import { storageVersionOf } from "./crd.ts";

/** Singular and list kind from the kind, conversion None, the port of a conversion webhook. Idempotent. */
export function applyCrdDefaults(crd: CustomResourceDefinition): CustomResourceDefinition {
  const names = { ...crd.spec.names };
  const kind = names.kind ?? "";
  const singular = names.singular ?? "";
  const listKind = names.listKind ?? "";
  const spec: CrdSpec = {
    ...crd.spec,
    names: {
      ...names,
      ...(singular === "" && kind !== "" ? { singular: kind.toLowerCase() } : {}),
      ...(listKind === "" && kind !== "" ? { listKind: `${kind}List` } : {}),
    },
    conversion: conversionOf(crd.spec),
  };
  return { ...crd, spec };
}

function conversionOf(spec: CrdSpec): CrdSpec["conversion"] & object {
  const { conversion } = spec;
  if (conversion === undefined) return { strategy: "None" };
  const config = conversion.webhook?.clientConfig;
  const service = config?.service;
  if (service === undefined || service.port !== undefined) return conversion;
  const clientConfig = { ...config, service: { ...service, port: 443 } };
  return { ...conversion, webhook: { ...conversion.webhook, clientConfig } };
}

/**
 * The status a client's write leaves: on a create only the stored versions, on an update what was there before; in both
 * cases the storage version joins the stored ones.
 */
export function prepareCrd(
  crd: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): CustomResourceDefinition {
  const before: CrdStatus = old?.status ?? {
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
  };
  const stored = before.storedVersions ?? [];
  const storage = storageVersionOf(crd);
  const missing = storage !== undefined && !stored.includes(storage);
  const storedVersions = missing ? [...stored, storage] : stored;
  return {
    ...crd,
    status: { ...before, storedVersions: storedVersions.length === 0 ? null : storedVersions },
  };
}
