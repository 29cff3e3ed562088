/** Validation of a volume claim's spec, in a claim, in a StatefulSet's template or in an ephemeral volume. */
import { forbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { parseQuantity } from "../../quantity/quantity.ts";
import { dnsSubdomainProblems } from "../../metadata/names.ts";
import { part, partOf, type Problems, pushInvalid, pushRequired, text, texts } from "./fields.ts";
import { checkLabelSelector } from "./label-selector.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];

export function checkClaimSpec(problems: Problems, field: string, spec: JsonObject): void {
  const modes = texts(spec, "accessModes");
  if (modes.length === 0) {
    problems.push(required(`${field}.accessModes`, "at least 1 access mode is required"));
  }
  checkLabelSelector(problems, `${field}.selector`, part(spec, "selector"));
  checkAccessModes(problems, `${field}.accessModes`, modes);
  const storage = text(partOf(partOf(spec, "resources"), "requests"), "storage");
  if (storage === "") problems.push(required(`${field}.resources[storage]`));
  else pushPositive(problems, `${field}.resources[storage]`, storage);
  checkClassName(problems, `${field}.storageClassName`, text(spec, "storageClassName"));
  checkVolumeMode(problems, `${field}.volumeMode`, spec["volumeMode"]);
  for (const name of ["dataSource", "dataSourceRef"]) {
    const source = part(spec, name);
    if (source === undefined) continue;
    pushRequired(problems, `${field}.${name}.name`, text(source, "name"));
    pushRequired(problems, `${field}.${name}.kind`, text(source, "kind"));
  }
}

export function checkAccessModes(
  problems: Problems,
  field: string,
  modes: readonly string[],
): void {
  for (const mode of modes) {
    if (!ACCESS_MODES.includes(mode)) problems.push(notSupported(field, mode, ACCESS_MODES));
  }
  if (modes.includes("ReadWriteOncePod") && modes.some((mode) => mode !== "ReadWriteOncePod")) {
    problems.push(forbidden(field, "may not use ReadWriteOncePod with other access modes"));
  }
}

export function checkClassName(problems: Problems, field: string, name: string): void {
  if (name !== "") pushInvalid(problems, field, name, dnsSubdomainProblems(name));
}

export function checkVolumeMode(problems: Problems, field: string, mode: unknown): void {
  if (typeof mode === "string" && !VOLUME_MODES.includes(mode)) {
    problems.push(notSupported(field, mode, VOLUME_MODES));
  }
}

export function pushPositive(problems: Problems, field: string, amount: string): void {
  const quantity = parseQuantity(amount);
  if (quantity !== undefined && quantity.nanos <= 0n) {
    problems.push(invalid(field, amount, "must be greater than zero"));
  }
}
