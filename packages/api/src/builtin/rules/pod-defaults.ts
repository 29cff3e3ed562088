/**
 * The defaults of pods and of everything that holds a pod template.
 *
 * 1. A new object is built only where a default is missing; all else is shared with the input.
 * 2. Applying defaults twice changes nothing the second time.
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from "../../quantity/quantity.ts";
import type { Json, JsonObject } from "../../json.ts";
import {
  count,
  isAbsent,
  items,
  mapShared,
  part,
  partOf,
  text,
  withValue,
  withValues,
} from "./fields.ts";

/** Defaults of a pod itself: its template part, and what only real pods get. */
export function defaultPod(pod: JsonObject): JsonObject {
  const spec = defaultPodSpec(partOf(pod, "spec"));
  const hostNetwork = spec["hostNetwork"] === true;
  const complete = (container: JsonObject): JsonObject =>
    openHostPorts(requestLimits(container), hostNetwork);
  const containers = mapShared(items(spec, "containers"), complete);
  const initContainers = mapShared(items(spec, "initContainers"), complete);
  let next = withField(spec, "containers", containers, spec["containers"] !== undefined);
  next = withField(next, "initContainers", initContainers, spec["initContainers"] !== undefined);
  next = defaultPodResources(next);
  if (next["enableServiceLinks"] === undefined)
    next = withValues(next, { enableServiceLinks: true });
  const status = defaultPodStatus(partOf(pod, "status"), next);
  if (next === pod["spec"] && status === pod["status"]) return pod;
  return withValues(pod, { spec: next, status });
}

/** Defaults of `template`, as workloads hold it. */
export function defaultPodTemplate(template: JsonObject): JsonObject {
  const spec = defaultPodSpec(partOf(template, "spec"));
  return spec === template["spec"] ? template : withValue(template, "spec", spec);
}

/** Defaults of a pod spec, in a pod or in a template. */
export function defaultPodSpec(spec: JsonObject): JsonObject {
  let next = withLists(spec);
  if (
    !text(next, "restartPolicy") ||
    next["terminationGracePeriodSeconds"] === undefined ||
    !text(next, "dnsPolicy") ||
    next["securityContext"] === undefined ||
    !text(next, "schedulerName")
  ) {
    next = withValues(next, {
      restartPolicy: text(next, "restartPolicy") || "Always",
      terminationGracePeriodSeconds: next["terminationGracePeriodSeconds"] ?? 30,
      dnsPolicy: text(next, "dnsPolicy") || "ClusterFirst",
      securityContext: next["securityContext"] ?? {},
      schedulerName: text(next, "schedulerName") || "default-scheduler",
    });
  }
  const account = text(next, "serviceAccountName") || text(next, "serviceAccount");
  if (account !== text(next, "serviceAccountName") || account !== text(next, "serviceAccount")) {
    next = withValues(next, { serviceAccountName: account, serviceAccount: account });
  }
  return next;
}

function withLists(spec: JsonObject): JsonObject {
  let next = spec;
  for (const [name, change] of LISTS) {
    const list = next[name];
    if (list === undefined) continue;
    const changed = mapShared(items(next, name), change);
    if (changed !== list) next = withValue(next, name, changed);
  }
  const overhead = part(next, "overhead");
  const rounded = overhead === undefined ? undefined : roundQuantities(overhead);
  return rounded === overhead ? next : withValues(next, { overhead: rounded });
}

const LISTS: readonly (readonly [string, (item: JsonObject) => JsonObject])[] = [
  ["containers", defaultContainer],
  ["initContainers", defaultContainer],
  ["ephemeralContainers", defaultContainer],
  ["volumes", defaultVolume],
];

export function defaultContainer(container: JsonObject): JsonObject {
  let next = container;
  if (
    !text(next, "imagePullPolicy") ||
    !text(next, "terminationMessagePath") ||
    !text(next, "terminationMessagePolicy")
  ) {
    next = withValues(next, {
      terminationMessagePath: text(next, "terminationMessagePath") || "/dev/termination-log",
      terminationMessagePolicy: text(next, "terminationMessagePolicy") || "File",
      imagePullPolicy: text(next, "imagePullPolicy") || pullPolicyOf(text(next, "image")),
    });
  }
  next = changeList(next, "ports", defaultPort);
  next = changeList(next, "env", defaultEnv);
  next = changePart(next, "livenessProbe", defaultProbe);
  next = changePart(next, "readinessProbe", defaultProbe);
  next = changePart(next, "startupProbe", defaultProbe);
  next = changePart(next, "lifecycle", defaultLifecycle);
  return changePart(next, "resources", defaultResources);
}

/** Images without a tag, or with the tag `latest` and no digest, may change under their name. */
function pullPolicyOf(image: string): string {
  if (image.includes("@")) {
    return tagOf(image.slice(0, image.indexOf("@"))) === "latest" ? "Always" : "IfNotPresent";
  }
  const tag = tagOf(image);
  return tag === "" || tag === "latest" ? "Always" : "IfNotPresent";
}

function tagOf(image: string): string {
  const colon = image.lastIndexOf(":");
  return colon > image.lastIndexOf("/") ? image.slice(colon + 1) : "";
}

function defaultPort(port: JsonObject): JsonObject {
  return text(port, "protocol") === "" ? withValues(port, { protocol: "TCP" }) : port;
}

function defaultEnv(variable: JsonObject): JsonObject {
  return changePart(variable, "valueFrom", defaultValueFrom);
}

function defaultValueFrom(source: JsonObject): JsonObject {
  const next = changePart(source, "fieldRef", defaultFieldRef);
  return changePart(next, "resourceFieldRef", defaultResourceFieldRef);
}

function defaultFieldRef(reference: JsonObject): JsonObject {
  return text(reference, "apiVersion") === ""
    ? withValues(reference, { apiVersion: "v1" })
    : reference;
}

/** The divisor is not optional on the wire. */
function defaultResourceFieldRef(reference: JsonObject): JsonObject {
  return reference["divisor"] === undefined ? withValues(reference, { divisor: "0" }) : reference;
}

function defaultProbe(probe: JsonObject): JsonObject {
  const next = changePart(probe, "httpGet", defaultHttpGet);
  const withService = changePart(next, "grpc", defaultGrpc);
  if (
    count(next, "timeoutSeconds") &&
    count(next, "periodSeconds") &&
    count(next, "successThreshold") &&
    count(next, "failureThreshold")
  ) {
    return withService;
  }
  return withValues(withService, {
    timeoutSeconds: count(next, "timeoutSeconds") || 1,
    periodSeconds: count(next, "periodSeconds") || 10,
    successThreshold: count(next, "successThreshold") || 1,
    failureThreshold: count(next, "failureThreshold") || 3,
  });
}

function defaultGrpc(action: JsonObject): JsonObject {
  return isAbsent(action["service"]) ? withValues(action, { service: "" }) : action;
}

function defaultHttpGet(action: JsonObject): JsonObject {
  if (text(action, "path") !== "" && text(action, "scheme") !== "") return action;
  return withValues(action, {
    path: text(action, "path") || "/",
    scheme: text(action, "scheme") || "HTTP",
  });
}

function defaultLifecycle(lifecycle: JsonObject): JsonObject {
  const next = changePart(lifecycle, "postStart", defaultHandler);
  return changePart(next, "preStop", defaultHandler);
}

function defaultHandler(handler: JsonObject): JsonObject {
  return changePart(handler, "httpGet", defaultHttpGet);
}

function defaultResources(resources: JsonObject): JsonObject {
  const next = changePart(resources, "limits", roundQuantities);
  return changePart(next, "requests", roundQuantities);
}

/** Resources are counted in thousandths; finer amounts are rounded up. */
export function roundQuantities(quantities: JsonObject): JsonObject {
  let next: Record<string, Json | undefined> | undefined;
  for (const name in quantities) {
    const value = text(quantities, name);
    const rounded = roundToMilli(value);
    if (rounded === value) continue;
    next ??= { ...quantities };
    next[name] = rounded;
  }
  return next ?? quantities;
}

const ONE_MILLI = 1_000_000n;

function roundToMilli(value: string): string {
  // Only nano and micro suffixes, and fractions, can be finer than a thousandth.
  const last = value.charCodeAt(value.length - 1);
  if (last !== 0x6e && last !== 0x75 && !value.includes(".")) return value;
  const quantity = parseQuantity(value);
  if (quantity === undefined || quantity.nanos % ONE_MILLI === 0n) return value;
  const floor = quantity.nanos / ONE_MILLI;
  const up = quantity.nanos > 0n ? floor + 1n : floor;
  return formatQuantity({ ...quantity, nanos: up * ONE_MILLI });
}

const VOLUME_PARTS: Readonly<Record<string, (source: JsonObject) => JsonObject>> = {
  secret: defaultMode,
  configMap: defaultMode,
  downwardAPI: (source) => changeList(defaultMode(source), "items", defaultDownwardFile),
  projected: (source) => changeList(defaultMode(source), "sources", defaultProjection),
  hostPath: defaultHostPath,
  ephemeral: (source) => changePart(source, "volumeClaimTemplate", defaultClaimTemplate),
  image: (source) =>
    text(source, "pullPolicy") === ""
      ? withValues(source, { pullPolicy: pullPolicyOf(text(source, "reference")) })
      : source,
  iscsi: defaultIscsi,
  rbd: defaultRbd,
  azureDisk: defaultAzureDisk,
  scaleIO: defaultScaleIo,
};

function defaultVolume(volume: JsonObject): JsonObject {
  let sources = 0;
  let next = volume;
  for (const name in volume) {
    if (name === "name") continue;
    sources += 1;
    const change = Object.hasOwn(VOLUME_PARTS, name) ? VOLUME_PARTS[name] : undefined;
    if (change !== undefined) next = changePart(next, name, change);
  }
  return sources === 0 ? withValues(volume, { emptyDir: {} }) : next;
}

function defaultMode(source: JsonObject): JsonObject {
  return source["defaultMode"] === undefined ? withValues(source, { defaultMode: 420 }) : source;
}

function defaultDownwardFile(file: JsonObject): JsonObject {
  return defaultValueFrom(file);
}

function defaultProjection(source: JsonObject): JsonObject {
  const next = changePart(source, "serviceAccountToken", (token) =>
    token["expirationSeconds"] === undefined
      ? withValues(token, { expirationSeconds: 3600 })
      : token,
  );
  return changePart(next, "downwardAPI", (files) =>
    changeList(files, "items", defaultDownwardFile),
  );
}

export function defaultHostPath(source: JsonObject): JsonObject {
  return source["type"] === undefined ? withValues(source, { type: "" }) : source;
}

function defaultClaimTemplate(template: JsonObject): JsonObject {
  return changePart(template, "spec", defaultClaimSpec);
}

/** Defaults of a claim's spec, in a claim or in a template of one. */
export function defaultClaimSpec(spec: JsonObject): JsonObject {
  const next = changePart(spec, "resources", defaultResources);
  const mirrored = mirrorDataSource(next);
  return mirrored["volumeMode"] === undefined
    ? withValues(mirrored, { volumeMode: "Filesystem" })
    : mirrored;
}

/** `dataSource` and `dataSourceRef` say the same thing in an older and a newer way. */
function mirrorDataSource(spec: JsonObject): JsonObject {
  const source = part(spec, "dataSource");
  const reference = part(spec, "dataSourceRef");
  if (source !== undefined && reference === undefined)
    return withValues(spec, { dataSourceRef: source });
  if (source !== undefined || reference === undefined) return spec;
  return reference["namespace"] === undefined ? withValues(spec, { dataSource: reference }) : spec;
}

export function defaultIscsi(source: JsonObject): JsonObject {
  return text(source, "iscsiInterface") === ""
    ? withValues(source, { iscsiInterface: "default" })
    : source;
}

export function defaultRbd(source: JsonObject): JsonObject {
  if (text(source, "pool") && text(source, "user") && text(source, "keyring")) return source;
  return withValues(source, {
    pool: text(source, "pool") || "rbd",
    user: text(source, "user") || "admin",
    keyring: text(source, "keyring") || "/etc/ceph/keyring",
  });
}

export function defaultAzureDisk(source: JsonObject): JsonObject {
  const { cachingMode, kind, fsType, readOnly } = source;
  if (!isAbsent(cachingMode) && !isAbsent(kind) && !isAbsent(fsType) && !isAbsent(readOnly)) {
    return source;
  }
  return withValues(source, {
    cachingMode: cachingMode ?? "ReadWrite",
    fsType: fsType ?? "ext4",
    readOnly: readOnly ?? false,
    kind: kind ?? "Shared",
  });
}

export function defaultScaleIo(source: JsonObject): JsonObject {
  if (text(source, "storageMode") !== "" && text(source, "fsType") !== "") return source;
  return withValues(source, {
    storageMode: text(source, "storageMode") || "ThinProvisioned",
    fsType: text(source, "fsType") || "xfs",
  });
}

/** A limit without a request is a request too. */
function requestLimits(container: JsonObject): JsonObject {
  const resources = part(container, "resources");
  const limits = part(resources, "limits");
  if (limits === undefined) return container;
  const requests = partOf(resources, "requests");
  let next: Record<string, Json | undefined> | undefined;
  for (const name in limits) {
    if (Object.hasOwn(requests, name)) continue;
    next ??= { ...requests };
    next[name] = limits[name];
  }
  return next === undefined
    ? container
    : withValues(container, { resources: { ...resources, requests: next } });
}

function openHostPorts(container: JsonObject, hostNetwork: boolean): JsonObject {
  if (!hostNetwork) return container;
  return changeList(container, "ports", (port) =>
    count(port, "hostPort") === 0 && count(port, "containerPort") !== 0
      ? withValues(port, { hostPort: port["containerPort"] })
      : port,
  );
}

const POD_LEVEL = new Set(["cpu", "memory"]);

/** Requests of the pod as a whole follow its containers, then its own limits. */
function defaultPodResources(spec: JsonObject): JsonObject {
  const resources = part(spec, "resources");
  const limits = part(resources, "limits");
  if (resources === undefined || limits === undefined) return spec;
  const requests: Record<string, Json | undefined> = { ...part(resources, "requests") };
  const before = Object.keys(requests).length;
  for (const [name, sum] of sumRequests(spec)) {
    if (POD_LEVEL.has(name) && !Object.hasOwn(requests, name)) requests[name] = formatQuantity(sum);
  }
  for (const name in limits) {
    const supported = POD_LEVEL.has(name) || name.startsWith("hugepages-");
    if (supported && !Object.hasOwn(requests, name)) requests[name] = limits[name];
  }
  if (Object.keys(requests).length === before) return spec;
  return withValues(spec, { resources: { ...resources, requests } });
}

/** Containers add up; init containers run one after another and count by their maximum. */
function sumRequests(spec: JsonObject): ReadonlyMap<string, Quantity> {
  const sums = new Map<string, Quantity>();
  for (const container of items(spec, "containers")) addRequests(sums, container);
  const starting = new Map<string, Quantity>();
  const running = new Map<string, Quantity>();
  for (const container of items(spec, "initContainers")) {
    if (text(container, "restartPolicy") === "Always") {
      addRequests(sums, container);
      addRequests(running, container);
      raise(starting, running);
    } else {
      const needed = new Map(running);
      addRequests(needed, container);
      raise(starting, needed);
    }
  }
  raise(sums, starting);
  return sums;
}

function addRequests(sums: Map<string, Quantity>, container: JsonObject): void {
  const requests = partOf(partOf(container, "resources"), "requests");
  for (const name in requests) {
    const quantity = parseQuantity(text(requests, name));
    if (quantity === undefined) continue;
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? quantity : addQuantities(sum, quantity));
  }
}

function raise(sums: Map<string, Quantity>, other: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of other) {
    const sum = sums.get(name);
    if (sum === undefined || compareQuantities(sum, quantity) < 0) sums.set(name, quantity);
  }
}

/** A pod begins as pending, in the service class its resources put it in. */
function defaultPodStatus(status: JsonObject, spec: JsonObject): JsonObject {
  if (text(status, "phase") !== "" && text(status, "qosClass") !== "") return status;
  return withValues(status, {
    phase: text(status, "phase") || "Pending",
    qosClass: text(status, "qosClass") || serviceClassOf(spec),
  });
}

/** Guaranteed when every container requests exactly its limits of cpu and memory, best effort when none asks for any. */
export function serviceClassOf(spec: JsonObject): "Guaranteed" | "Burstable" | "BestEffort" {
  const pod = part(spec, "resources");
  const holders =
    pod === undefined
      ? [...items(spec, "containers"), ...items(spec, "initContainers")].map((container) =>
          partOf(container, "resources"),
        )
      : [pod];
  let any = false;
  let guaranteed = true;
  for (const resources of holders) {
    for (const name of POD_LEVEL) {
      const request = quantityOf(partOf(resources, "requests"), name);
      const limit = quantityOf(partOf(resources, "limits"), name);
      any ||= request !== undefined || limit !== undefined;
      guaranteed &&=
        limit !== undefined && (request === undefined || compareQuantities(request, limit) === 0);
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

function quantityOf(list: JsonObject, name: string): Quantity | undefined {
  const quantity = parseQuantity(text(list, name));
  return quantity === undefined || quantity.nanos === 0n ? undefined : quantity;
}

/** Replaces a part by its changed form, if it is there and changes. */
export function changePart(
  of: JsonObject,
  name: string,
  change: (value: JsonObject) => JsonObject,
): JsonObject {
  const value = part(of, name);
  if (value === undefined) return of;
  const next = change(value);
  return next === value ? of : withValue(of, name, next);
}

/** Replaces a list by its changed form, if it is there and changes. */
export function changeList(
  of: JsonObject,
  name: string,
  change: (item: JsonObject) => JsonObject,
): JsonObject {
  const list = of[name];
  if (!Array.isArray(list)) return of;
  const next = mapShared(list as readonly JsonObject[], change);
  return next === list ? of : withValue(of, name, next);
}

function withField(of: JsonObject, name: string, value: Json, present: boolean): JsonObject {
  return !present || of[name] === value ? of : withValue(of, name, value);
}
