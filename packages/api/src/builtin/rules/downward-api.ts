/** References from a container or volume to fields and resources of its own pod. */
import { invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { parseQuantity } from "../../quantity/quantity.ts";
import { labelKeyProblems } from "../../metadata/names.ts";
import { type Problems, pushInvalid, text } from "./fields.ts";

export const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
export const VOLUME_FIELDS = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];
/** What can be named at all; each place allows some of these. */
const KNOWN_FIELDS = new Set([
  ...ENV_FIELDS,
  ...VOLUME_FIELDS,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);
const RESOURCES = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const SIZES = new Set([
  "1",
  ...["k", "M", "G", "T", "P", "E"].flatMap((unit) => [`1${unit}`, `1${unit.toUpperCase()}i`]),
]);

export function checkFieldRef(
  problems: Problems,
  field: string,
  reference: JsonObject,
  allowed: readonly string[],
): void {
  const path = text(reference, "fieldPath");
  if (path === "") {
    problems.push(required(`${field}.fieldPath`));
    return;
  }
  const version = text(reference, "apiVersion");
  const subscripted = /^(metadata\.(?:labels|annotations))\['([^']*)'\]$/.exec(path);
  const refusal =
    version !== "v1"
      ? `unsupported pod version: ${version}`
      : subscripted === null && !KNOWN_FIELDS.has(path)
        ? `field label not supported: ${path}`
        : undefined;
  if (refusal !== undefined) {
    problems.push(invalid(`${field}.fieldPath`, path, `error converting fieldPath: ${refusal}`));
    return;
  }
  if (subscripted !== null) {
    const key = subscripted[2] ?? "";
    const name = subscripted[1] === "metadata.annotations" ? key.toLowerCase() : key;
    pushInvalid(problems, field, name, labelKeyProblems(name));
  } else if (!allowed.includes(path)) {
    problems.push(notSupported(`${field}.fieldPath`, path, allowed));
  }
}

export function checkResourceFieldRef(
  problems: Problems,
  field: string,
  reference: JsonObject,
  inVolume: boolean,
): void {
  const resource = text(reference, "resource");
  const hugePages = /^(requests|limits)\.hugepages-/.test(resource);
  if (inVolume && text(reference, "containerName") === "") {
    problems.push(required(`${field}.containerName`));
  } else if (resource === "") {
    problems.push(required(`${field}.resource`));
  } else if (!RESOURCES.includes(resource) && !hugePages) {
    problems.push(notSupported(`${field}.resource`, resource, RESOURCES));
  }
  checkDivisor(problems, `${field}.divisor`, resource, text(reference, "divisor"), hugePages);
}

function checkDivisor(
  problems: Problems,
  field: string,
  resource: string,
  divisor: string,
  hugePages: boolean,
): void {
  const quantity = parseQuantity(divisor);
  if (quantity === undefined || quantity.nanos === 0n) return;
  if (resource.endsWith(".cpu")) {
    if (divisor === "1" || divisor === "1m") return;
    problems.push(
      invalid(
        field,
        resource,
        "only divisor's values 1m and 1 are supported with the cpu resource",
      ),
    );
    return;
  }
  if (SIZES.has(divisor)) return;
  const named = resource.endsWith(".memory")
    ? "memory"
    : resource.endsWith(".ephemeral-storage")
      ? "local ephemeral storage"
      : hugePages
        ? "hugepages"
        : undefined;
  if (named === undefined) return;
  problems.push(
    invalid(
      field,
      resource,
      `only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${named} resource`,
    ),
  );
}
