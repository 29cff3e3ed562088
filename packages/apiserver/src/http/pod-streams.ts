/** The port by which commands run in pods (exec), and connections lead into them (attach, portforward); a control plane has none. */
import { badRequest } from "@lifeboat/api";
import type { HttpRequest, HttpResponse } from "./exchange.ts";
import type { ResourcePath } from "./path.ts";
import type { Query } from "./query.ts";

const KINDS = ["exec", "attach", "portforward"] as const;

export interface AskedStream {
  readonly kind: (typeof KINDS)[number];
  readonly namespace: string;
  readonly pod: string;
  /** "": the only one. */
  readonly container: string;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
  /** What the client asks for by Upgrade, in lower case. */
  readonly upgrade: string;
  /** What the client offers to speak, in its order. */
  readonly protocols: readonly string[];
}

export interface PodStreams {
  /** Answers 101; throws `Refused` when there is no such pod or container, or no protocol in common. */
  open(asked: AskedStream): Promise<HttpResponse>;
}

export function isStreamPath({ group, plural, namespace, subresource }: ResourcePath): boolean {
  const isPod = group === "" && plural === "pods" && namespace !== "";
  return isPod && (KINDS as readonly string[]).includes(subresource);
}

export function askedStream(http: HttpRequest, path: ResourcePath, query: Query): AskedStream {
  const { headers, canBeTakenOver = false } = http;
  if (!canBeTakenOver) throw badRequest("Upgrade request required");
  const isOn = (name: string): boolean => ["true", "1"].includes(query.text(name));
  const kind = path.subresource as AskedStream["kind"];
  const command = query.all("command");
  if (kind === "exec" && command.length === 0)
    throw badRequest("you must specify at least 1 command");
  return {
    kind,
    namespace: path.namespace,
    pod: path.name,
    container: query.text("container"),
    command,
    stdin: isOn("stdin"),
    stdout: isOn("stdout"),
    stderr: isOn("stderr"),
    tty: isOn("tty"),
    upgrade: (headers["upgrade"] ?? "").trim().toLowerCase(),
    protocols: listOf(headers["sec-websocket-protocol"] ?? headers["x-stream-protocol-version"]),
  };
}

function listOf(header: string | undefined): readonly string[] {
  return (header ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
