/**
 * Logs of simulated pods. No process runs in them, and the log states it: what the model knows of a container, as lines with their
 * times. A log that is followed goes on until the pod is gone, with a line whenever the state of the container changes.
 */
import {
  type AnyObject,
  badRequest,
  failure,
  isJsonObject,
  isRefused,
  type Json,
  pods,
  Refused,
} from "@lifeboat/api";
import type { AskedLog, HttpResponse, PodLogs } from "@lifeboat/apiserver";
import type { Clock } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";

const LOOK_MS = 1000;
const encoder = new TextEncoder();

export interface LogLine {
  readonly time: string;
  readonly text: string;
}

/** Logs of the pods that this client sees. */
export function createPodLogs(clock: Clock, client: () => Client): PodLogs {
  const podOf = (asked: AskedLog): Promise<AnyObject> =>
    client().get(pods, { namespace: asked.namespace, name: asked.pod });
  return {
    read: async (asked) => {
      const pod = await podOf(asked);
      const container = containerOf(pod, asked.container);
      const lines = logLines(pod, container);
      const tail = asked.tailLines === undefined ? lines : lastOf(lines, asked.tailLines);
      const first = encoder.encode(textOf(tail, asked.timestamps));
      const headers = { "content-type": "text/plain" };
      if (!asked.follow) return { status: 200, headers, body: first };
      return {
        status: 200,
        headers,
        body: followed(clock, () => podOf(asked), first, lines, asked),
      };
    },
  };
}

function followed(
  clock: Clock,
  look: () => Promise<AnyObject>,
  first: Uint8Array,
  known: readonly LogLine[],
  asked: AskedLog,
): HttpResponse["body"] {
  let isOver = false;
  let cancel = (): void => undefined;
  let seen = new Set(known.map(({ time, text }) => `${time} ${text}`));
  return {
    start: (out) => {
      out.write(first);
      const step = async (): Promise<void> => {
        try {
          const pod = await look();
          const lines = logLines(pod, containerOf(pod, asked.container));
          const fresh = lines.filter(({ time, text }) => !seen.has(`${time} ${text}`));
          seen = new Set(lines.map(({ time, text }) => `${time} ${text}`));
          if (!isOver && fresh.length > 0)
            out.write(encoder.encode(textOf(fresh, asked.timestamps)));
        } catch (error) {
          isOver = true;
          if (isRefused(error, "NotFound")) out.end();
          else out.abort();
        }
        if (!isOver) cancel = clock.after(LOOK_MS, () => void step());
      };
      cancel = clock.after(LOOK_MS, () => void step());
    },
    stop: () => {
      isOver = true;
      cancel();
    },
  };
}

/** What the model knows of a container, as a log. Pure. */
export function logLines(pod: AnyObject, container: string): readonly LogLine[] {
  const { namespace = "", name } = pod.metadata;
  const spec = fieldOf(pod as unknown as Json, "spec");
  const status = fieldOf(pod as unknown as Json, "status");
  const image = listOf(spec, "containers").find((one) => text(one, "name") === container);
  const created = pod.metadata.creationTimestamp;
  const lines: LogLine[] = [
    {
      time: created,
      text: `simulated container ${container} of ${namespace}/${name}: no process runs in it`,
    },
    { time: created, text: `image ${text(image ?? null, "image")}` },
  ];
  const node = text(spec, "nodeName");
  if (node !== "") lines.push({ time: created, text: `on node ${node}` });
  const started = text(status, "startTime");
  if (started !== "") lines.push({ time: started, text: "started" });
  for (const condition of listOf(status, "conditions"))
    if (text(condition, "type") === "Ready")
      lines.push({
        time: text(condition, "lastTransitionTime") || created,
        text: text(condition, "status") === "True" ? "ready" : "not ready",
      });
  return lines;
}

/** The container that is meant; throws `Refused` where none is. */
export function containerOf(pod: AnyObject, asked: string): string {
  const containers = listOf(fieldOf(pod as unknown as Json, "spec"), "containers").map((one) =>
    text(one, "name"),
  );
  const { name } = pod.metadata;
  if (asked === "" && containers.length === 1) return containers[0] as string;
  if (asked === "")
    throw badRequest(
      `a container name must be specified for pod ${name}, choose one of: [${containers.join(" ")}]`,
    );
  if (containers.includes(asked)) return asked;
  throw new Refused(failure(400, "BadRequest", `container ${asked} is not valid for pod ${name}`));
}

function textOf(lines: readonly LogLine[], timestamps: boolean): string {
  return lines.map(({ time, text }) => `${timestamps ? `${time} ` : ""}${text}\n`).join("");
}

function lastOf(lines: readonly LogLine[], count: number): readonly LogLine[] {
  return count === 0 ? [] : lines.slice(-count);
}

function fieldOf(value: Json, field: string): Json {
  return isJsonObject(value) ? (value[field] ?? null) : null;
}

function listOf(value: Json, field: string): readonly Json[] {
  const list = fieldOf(value, field);
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}

function text(value: Json, field: string): string {
  const found = fieldOf(value, field);
  return typeof found === "string" ? found : "";
}
