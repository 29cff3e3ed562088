/** Detectors as processes of their own, with a name server or a web server on loopback that can be broken. */
import { execFileSync } from "node:child_process";
import { createSocket, type Socket } from "node:dgram";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand, type RunningLifeboat } from "../support/lifeboat.ts";
import { type RunningProcess, startProcess } from "../support/processes.ts";

export interface RunningDetector {
  /** Whether names resolve, or the web server answers 200, from now on. */
  resolve(isOn: boolean): void;
  stop(): Promise<void>;
}

/** Registers a detector of the cluster, and starts it with windows of a second. */
export async function startDetector(
  plane: Pick<RunningLifeboat, "kubeconfig" | "dataDirectory">,
  cluster: string,
): Promise<RunningDetector> {
  let resolves = true;
  const { server, port } = await serveNames(() => resolves);
  const conf = join(plane.dataDirectory, `${cluster}.resolv.conf`);
  writeFileSync(conf, `nameserver 127.0.0.1:${port}\nsearch svc.cluster.local\noptions ndots:5\n`);
  const detector = await startRegistered(plane, cluster, [], ["--resolv-conf", conf]);
  return {
    resolve: (isOn) => (resolves = isOn),
    stop: async () => {
      await detector.stop("SIGKILL");
      server.close();
    },
  };
}

/** A detector over HTTP, beside that of names, with the flags of the manifest that was printed for it. */
export async function startHttpDetector(
  plane: Pick<RunningLifeboat, "kubeconfig" | "dataDirectory">,
  cluster: string,
  condition: string,
): Promise<RunningDetector> {
  let answers = true;
  const server = createServer((_request, response) => {
    response.writeHead(answers ? 200 : 500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const asked = ["--probe", "http", "--target", `http://127.0.0.1:${port}/healthz`];
  const detector = await startRegistered(
    plane,
    cluster,
    [...asked, "--condition-type", condition],
    [],
  );
  return {
    resolve: (isOn) => (answers = isOn),
    stop: async () => {
      await detector.stop("SIGKILL");
      server.close();
    },
  };
}

/** Registers, and runs what the printed DaemonSet would, with windows of a second. */
async function startRegistered(
  plane: Pick<RunningLifeboat, "kubeconfig" | "dataDirectory">,
  cluster: string,
  asked: readonly string[],
  more: readonly string[],
): Promise<RunningProcess> {
  const { kubeconfig: text, args: printed } = await eventually(async () =>
    registered(plane.kubeconfig, cluster, asked),
  );
  const kubeconfig = join(plane.dataDirectory, `${cluster}.${asked.length}.detector.kubeconfig`);
  writeFileSync(kubeconfig, text);
  const flags = {
    "karmada-kubeconfig": kubeconfig,
    "cluster-name": cluster,
    "host-name": "n1",
    "detect-period": "300ms",
    "detect-failure-threshold": "1s",
    "detect-success-threshold": "1s",
  };
  const probe = printed.filter((flag) => /^--(probe|target|condition-type)\b/.test(flag));
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  return startProcess(lifeboatCommand, ["detector", ...args, ...more, ...probe]);
}

/** What is in the manifest that the command prints; it fails until the execution namespace is there. */
function registered(planeKubeconfig: string, cluster: string, asked: readonly string[]) {
  const args = [lifeboatCommand, "register", "--detector", cluster, ...asked, "--kubeconfig"];
  const text = execFileSync(process.execPath, [...args, planeKubeconfig], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Printed);
  const kinds = ["Namespace", "Secret", "ServiceAccount", "Role", "RoleBinding", "DaemonSet"];
  expect(objects.map(({ kind }) => kind)).toEqual(kinds);
  return {
    kubeconfig: objects[1]?.stringData?.kubeconfig ?? "",
    args: objects.at(-1)?.spec?.template.spec.containers[0]?.args ?? [],
  };
}

interface Printed {
  readonly kind: string;
  readonly stringData?: { readonly kubeconfig: string };
  readonly spec?: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

/** Answers every question for an address, or with SERVFAIL. */
function serveNames(
  resolves: () => boolean,
): Promise<{ readonly server: Socket; readonly port: number }> {
  const server = createSocket("udp4");
  server.on("message", (message, { port, address }) => {
    const answer = Buffer.from(message);
    answer.writeUInt16BE(resolves() ? 0x8180 : 0x8182, 2);
    // Without the additional records of the question.
    answer.writeUInt16BE(0, 10);
    const end = message.indexOf(0, 12) + 5;
    const isA = message.readUInt16BE(end - 4) === 1;
    const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 10, 96, 0, 1]);
    const has = resolves() && isA;
    answer.writeUInt16BE(has ? 1 : 0, 6);
    server.send(Buffer.concat([answer.subarray(0, end), ...(has ? [record] : [])]), port, address);
  });
  return new Promise((resolve) => {
    server.bind(0, "127.0.0.1", () => resolve({ server, port: server.address().port }));
  });
}

/** The Remedy of the story: no traffic for a cluster in which names do not resolve. */
export const remedyForNames = {
  apiVersion: "remedy.karmada.io/v1alpha1",
  kind: "Remedy",
  metadata: { name: "names" },
  spec: {
    decisionMatches: [
      {
        clusterConditionMatch: {
          conditionType: "ServiceDomainNameResolutionReady",
          operator: "Equal",
          conditionStatus: "False",
        },
      },
    ],
    actions: ["TrafficControl"],
  },
} as const;
