/** How full each cluster is, as the clusters report it: what pods ask for of what nodes offer. */
import {
  type Cluster,
  findCondition,
  parseQuantity,
  type Quantity,
  quantityMilliValue,
  quantityValue,
} from "@lifeboat/api";
import { columns } from "./wrap.ts";

export interface ClusterUse {
  readonly name: string;
  /** False: what follows is what it reported last. */
  readonly isCurrent: boolean;
  readonly nodes: { readonly ready: number; readonly total: number } | undefined;
  readonly resources: Readonly<Record<string, Use>>;
}

interface Use {
  readonly requested: number;
  readonly allocatable: number;
}

/** Cores, bytes and pods; what a cluster never reported is absent. */
export function usesOf(clusters: readonly Cluster[]): readonly ClusterUse[] {
  return clusters
    .map(({ metadata, status }): ClusterUse => {
      const { resourceSummary: summary, nodeSummary, conditions } = status ?? {};
      const resources = ["cpu", "memory", "pods"].flatMap((name): readonly [string, Use][] => {
        const allocatable = amount(name, summary?.allocatable?.[name]);
        if (allocatable === undefined) return [];
        const requested =
          (amount(name, summary?.allocated?.[name]) ?? 0) +
          (amount(name, summary?.allocating?.[name]) ?? 0);
        return [[name, { requested, allocatable }]];
      });
      return {
        name: metadata.name,
        isCurrent: findCondition(conditions, "Ready")?.status === "True",
        nodes:
          nodeSummary === undefined
            ? undefined
            : { ready: nodeSummary.readyNum ?? 0, total: nodeSummary.totalNum ?? 0 },
        resources: Object.fromEntries(resources),
      };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function amount(name: string, text: unknown): number | undefined {
  const quantity: Quantity | undefined =
    typeof text === "string" || typeof text === "number" ? parseQuantity(String(text)) : undefined;
  if (quantity === undefined) return undefined;
  return name === "cpu"
    ? Number(quantityMilliValue(quantity)) / 1000
    : Number(quantityValue(quantity));
}

export function topLines(uses: readonly ClusterUse[]): readonly string[] {
  const rows = uses.map(({ name, isCurrent, nodes, resources }) => [
    name,
    nodes === undefined ? "?" : `${nodes.ready}/${nodes.total}`,
    useText(resources["cpu"], (cores) => String(Math.round(cores * 10) / 10)),
    useText(resources["memory"], bytesText),
    useText(resources["pods"], String),
    isCurrent ? "" : "not ready: as last reported",
  ]);
  return columns(["CLUSTER", "NODES", "CPU", "MEMORY", "PODS", "NOTE"], rows);
}

function useText(use: Use | undefined, text: (amount: number) => string): string {
  if (use === undefined) return "?";
  const { requested, allocatable } = use;
  const share = allocatable === 0 ? "" : ` ${Math.round((100 * requested) / allocatable)}%`;
  return `${text(requested)}/${text(allocatable)}${share}`;
}

const UNITS = ["B", "Ki", "Mi", "Gi", "Ti", "Pi"] as const;

function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 10 || unit === 0 ? Math.round(value) : Math.round(value * 10) / 10}${UNITS[unit] ?? ""}`;
}
