/** The table row of a pod: what its containers do, put into one word. */
import type { Instant } from "@lifeboat/base";
import type { JsonObject } from "../../json.ts";
import { count, items, part, partOf, text } from "./fields.ts";
import { ageOf } from "./human-duration.ts";
import { isTrue, nameOf, objectAge, printer } from "./printer.ts";

export const podPrinter = printer(
  [
    "Name:name",
    "Ready",
    "Status",
    "Restarts",
    "Age",
    "IP*",
    "Node*",
    "Nominated Node*",
    "Readiness Gates*",
  ],
  (pod, now) => {
    const spec = partOf(pod, "spec");
    const status = partOf(pod, "status");
    const seen = observeContainers(pod);
    return [
      nameOf(pod),
      `${seen.ready}/${seen.total}`,
      statusWord(pod, seen.reason),
      restartsText(seen, now),
      objectAge(pod, now),
      text(items(status, "podIPs")[0], "ip") || "<none>",
      text(spec, "nodeName") || "<none>",
      text(status, "nominatedNodeName") || "<none>",
      readinessGates(spec, status),
    ];
  },
);

interface Observed {
  reason: string;
  ready: number;
  total: number;
  restarts: number;
  lastRestart: string;
}

function observeContainers(pod: JsonObject): Observed {
  const spec = partOf(pod, "spec");
  const status = partOf(pod, "status");
  const sides = new Set(
    items(spec, "initContainers")
      .filter((container) => text(container, "restartPolicy") === "Always")
      .map((container) => text(container, "name")),
  );
  const seen: Observed = {
    reason: text(status, "reason") || text(status, "phase"),
    ready: 0,
    total: items(spec, "containers").length + sides.size,
    restarts: 0,
    lastRestart: "",
  };
  const gated = items(status, "conditions").some(
    (condition) =>
      text(condition, "type") === "PodScheduled" && text(condition, "reason") === "SchedulingGated",
  );
  if (gated) seen.reason = "SchedulingGated";
  const sideRestarts: Observed = { ...seen, restarts: 0, lastRestart: "" };
  const initializing = observeInitContainers(pod, sides, seen, sideRestarts);
  if (!initializing || isTrue(items(status, "conditions"), "Initialized")) {
    seen.restarts = sideRestarts.restarts;
    seen.lastRestart = sideRestarts.lastRestart;
    observeRunning(status, seen);
  }
  return seen;
}

/** Whether the pod is still, or again, initializing; then `seen.reason` says how far it is. */
function observeInitContainers(
  pod: JsonObject,
  sides: ReadonlySet<string>,
  seen: Observed,
  sideRestarts: Observed,
): boolean {
  const total = items(partOf(pod, "spec"), "initContainers").length;
  for (const [index, container] of items(
    partOf(pod, "status"),
    "initContainerStatuses",
  ).entries()) {
    countRestarts(container, seen);
    const side = sides.has(text(container, "name"));
    if (side) countRestarts(container, sideRestarts);
    const state = partOf(container, "state");
    const terminated = part(state, "terminated");
    if (terminated !== undefined && count(terminated, "exitCode") === 0) continue;
    if (side && container["started"] === true) {
      if (container["ready"] === true) seen.ready += 1;
      continue;
    }
    const waiting = text(part(state, "waiting"), "reason");
    if (terminated !== undefined) seen.reason = `Init:${endReason(terminated)}`;
    else if (waiting !== "" && waiting !== "PodInitializing") seen.reason = `Init:${waiting}`;
    else seen.reason = `Init:${index}/${total}`;
    return true;
  }
  return false;
}

function observeRunning(status: JsonObject, seen: Observed): void {
  let running = false;
  let failure = "";
  for (const container of items(status, "containerStatuses").toReversed()) {
    countRestarts(container, seen);
    const state = partOf(container, "state");
    const waiting = text(part(state, "waiting"), "reason");
    const terminated = part(state, "terminated");
    if (waiting !== "") {
      seen.reason = waiting;
    } else if (terminated !== undefined) {
      seen.reason = text(terminated, "reason") || endReason(terminated);
      if (count(terminated, "exitCode") !== 0) failure = seen.reason;
    } else if (container["ready"] === true && part(state, "running") !== undefined) {
      running = true;
      seen.ready += 1;
    }
  }
  if (seen.reason !== "Completed") return;
  // One container is done, but the pod is more than that container.
  if (running && isTrue(items(status, "conditions"), "Ready")) seen.reason = "Running";
  else if (failure !== "") seen.reason = failure;
  else if (running) seen.reason = "NotReady";
}

function endReason(terminated: JsonObject): string {
  const reason = text(terminated, "reason");
  if (reason !== "") return reason;
  const signal = count(terminated, "signal");
  return signal === 0 ? `ExitCode:${count(terminated, "exitCode")}` : `Signal:${signal}`;
}

function countRestarts(container: JsonObject, seen: Observed): void {
  seen.restarts += count(container, "restartCount");
  const finished = text(part(partOf(container, "lastState"), "terminated"), "finishedAt");
  // RFC 3339 in UTC sorts as text.
  if (finished > seen.lastRestart) seen.lastRestart = finished;
}

function statusWord(pod: JsonObject, reason: string): string {
  if (text(partOf(pod, "metadata"), "deletionTimestamp") === "") return reason;
  const status = partOf(pod, "status");
  if (text(status, "reason") === "NodeLost") return "Unknown";
  const phase = text(status, "phase");
  return phase === "Succeeded" || phase === "Failed" ? reason : "Terminating";
}

function restartsText(seen: Observed, now: Instant): string {
  if (seen.restarts === 0 || seen.lastRestart === "") return String(seen.restarts);
  return `${seen.restarts} (${ageOf(seen.lastRestart, now)} ago)`;
}

function readinessGates(spec: JsonObject, status: JsonObject): string {
  const gates = items(spec, "readinessGates");
  if (gates.length === 0) return "<none>";
  const conditions = items(status, "conditions");
  const open = gates.filter((gate) => {
    const type = text(gate, "conditionType");
    const condition = conditions.find((candidate) => text(candidate, "type") === type);
    return text(condition, "status") === "True";
  });
  return `${open.length}/${gates.length}`;
}
