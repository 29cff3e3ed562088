/** Names and amounts of resources in requests, limits and quotas. */
import { forbidden, invalid, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../quantity/quantity.ts";
import { labelKeyProblems } from "../../metadata/names.ts";
import { part, partOf, type Problems, pushInvalid, text } from "./fields.ts";

const CONTAINER = new Set(["cpu", "memory", "ephemeral-storage"]);
const COUNTED = new Set([
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);
const MEASURED = [
  "cpu",
  "memory",
  "ephemeral-storage",
  "storage",
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
];
const QUOTA = new Set([...MEASURED, ...COUNTED].filter((name) => name !== "storage"));
const STANDARD = new Set([...MEASURED, ...COUNTED]);

export function quantityIn(list: JsonObject | undefined, name: string): Quantity | undefined {
  return list === undefined || !Object.hasOwn(list, name)
    ? undefined
    : parseQuantity(text(list, name));
}

/** Resources of the cluster itself, as opposed to those that devices bring. */
function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

function isExtended(name: string): boolean {
  return (
    !isNative(name) &&
    !name.startsWith("requests.") &&
    labelKeyProblems(`requests.${name}`).length === 0
  );
}

function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

function mayOvercommit(name: string): boolean {
  return isNative(name) && !isHugePages(name);
}

export function checkResourceName(problems: Problems, field: string, name: string): void {
  const wrong = labelKeyProblems(name);
  pushInvalid(problems, field, name, wrong);
  if (wrong.length > 0 || name.includes("/")) return;
  if (!STANDARD.has(name) && !isHugePages(name)) {
    problems.push(invalid(field, name, "must be a standard resource type or fully qualified"));
  }
}

function checkContainerResource(problems: Problems, field: string, name: string): void {
  checkResourceName(problems, field, name);
  if (!name.includes("/")) {
    if (!CONTAINER.has(name) && !isHugePages(name)) {
      problems.push(invalid(field, name, "must be a standard resource for containers"));
    }
  } else if (!isNative(name) && !isExtended(name)) {
    problems.push(invalid(field, name, "doesn't follow extended resource name standard"));
  }
}

export function checkQuotaResource(problems: Problems, field: string, name: string): void {
  checkResourceName(problems, field, name);
  if (name.includes("/")) return;
  if (!QUOTA.has(name) && !/^(requests\.)?hugepages-/.test(name)) {
    problems.push(invalid(field, name, "must be a standard resource for quota"));
  }
}

/** Not negative, and whole where things are counted rather than measured. */
export function checkAmount(problems: Problems, field: string, name: string, amount: string): void {
  const quantity = parseQuantity(amount);
  if (quantity === undefined) return;
  if (quantity.nanos < 0n) {
    problems.push(invalid(field, amount, "must be greater than or equal to 0"));
  }
  const counted = COUNTED.has(name) || isExtended(name);
  if (counted && quantity.nanos % 1_000_000_000n !== 0n) {
    problems.push(invalid(field, amount, "must be an integer"));
  }
}

/** `resources` of a container. Requests are within limits, and equal to them where sharing is impossible. */
export function checkResources(
  problems: Problems,
  field: string,
  resources: JsonObject | undefined,
): void {
  if (resources === undefined) return;
  const limits = partOf(resources, "limits");
  const requests = partOf(resources, "requests");
  for (const name in limits) {
    const at = `${field}.limits[${name}]`;
    checkContainerResource(problems, at, name);
    checkAmount(problems, at, name, text(limits, name));
  }
  for (const name in requests) {
    const at = `${field}.requests[${name}]`;
    checkContainerResource(problems, at, name);
    checkAmount(problems, at, name, text(requests, name));
    checkWithinLimit(problems, field, name, resources);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const alone = !names.includes("cpu") && !names.includes("memory");
  if (alone && names.some(isHugePages)) {
    problems.push(forbidden(field, "HugePages require cpu or memory"));
  }
}

function checkWithinLimit(
  problems: Problems,
  field: string,
  name: string,
  resources: JsonObject,
): void {
  const limit = quantityIn(part(resources, "limits"), name);
  const request = quantityIn(part(resources, "requests"), name);
  if (request === undefined) return;
  if (limit === undefined) {
    if (!mayOvercommit(name)) {
      problems.push(
        required(`${field}.limits`, "Limit must be set for non overcommitable resources"),
      );
    }
    return;
  }
  const order = compareQuantities(request, limit);
  const wanted = mayOvercommit(name) ? "less than or equal to" : "equal to";
  if (mayOvercommit(name) ? order <= 0 : order === 0) return;
  const most = text(partOf(resources, "limits"), name);
  problems.push(
    invalid(
      `${field}.requests`,
      text(partOf(resources, "requests"), name),
      `must be ${wanted} ${name} limit of ${most}`,
    ),
  );
}
