/**
 * The files of deploy/manifests, rendered from the chart by the real helm: for those who do not use helm. What only helm
 * understands is taken out; everything else is the chart's.
 */
import { execFileSync } from "node:child_process";
import { parseAllDocuments, stringify } from "yaml";

interface Rendering {
  readonly file: string;
  readonly namespace: string;
  readonly values: readonly string[];
  readonly header: string;
}

const off = (part: string): string => `${part}.enabled=false`;
const RENDERINGS: readonly Rendering[] = [
  {
    file: "manager.yaml",
    namespace: "lifeboat-host",
    values: [],
    header: `The manager beside a kube-apiserver: docs/operations/high-availability.md tells which Secrets it needs.
Before applying another version: kubectl -n lifeboat-host delete job lifeboat-install`,
  },
  {
    file: "plane.yaml",
    namespace: "lifeboat-host",
    values: [off("manager"), "plane.enabled=true"],
    header: "The control plane in one process, on a volume.",
  },
  {
    file: "gateway.yaml",
    namespace: "lifeboat-host",
    values: [off("manager"), off("install"), "gateway.enabled=true"],
    header: `Load balancers for MultiClusterIngresses. They need a Secret lifeboat-gateway-kubeconfig: the account
lifeboat-system/lifeboat-gateway of the control plane.`,
  },
  {
    file: "agent.yaml",
    namespace: "karmada-system",
    values: [off("manager"), "agent.enabled=true", "agent.clusterName=member1"],
    header: `The agent of the Pull member member1; \`lifeboat register --print-manifest\` prints the same with its Secret, for the
name and the image of your own.`,
  },
  {
    file: "detector.yaml",
    namespace: "karmada-system",
    values: [off("manager"), "detector.enabled=true", "detector.clusterName=member1"],
    header: `The detector of name resolution of member1; \`lifeboat register --detector\` prints the same with its Secret, for the
name, the image and the probe of your own.`,
  },
];

/** File names with their text. */
export function renderManifests(helm: string, chart: string): ReadonlyMap<string, string> {
  return new Map(
    RENDERINGS.map(({ file, namespace, values, header }) => {
      const sets = values.flatMap((value) => ["--set", value]);
      const text = execFileSync(
        helm,
        ["template", "lifeboat", chart, "--namespace", namespace, ...sets],
        { encoding: "utf8" },
      );
      const own = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
      const objects = [own, ...parseAllDocuments(text).map((one) => one.toJS() as unknown)];
      const documents = objects.map((one) => stringify(withoutHelm(one), { lineWidth: 0 }));
      const comment = `${header}\nGenerated from the chart: npm run generate:manifests`;
      return [file, `${comment.replaceAll(/^/gm, "# ")}\n${documents.join("---\n")}`];
    }),
  );
}

const HELMS = ["app.kubernetes.io/managed-by", "app.kubernetes.io/instance"];

/** Without the labels and annotations that tell helm something. */
function withoutHelm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHelm);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value)
    .filter(([name]) => !name.startsWith("helm.sh/") && !HELMS.includes(name))
    .map(([name, inner]) => [name, withoutHelm(inner)] as const)
    .filter(([name, inner]) => name !== "annotations" || Object.keys(inner as object).length > 0);
  return Object.fromEntries(kept);
}
