/** Dashboard, alert rules and runbooks against the metrics that the code declares: a query of what does not exist never fires. */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { listFiles, readText } from "./repository.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
interface Panel {
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rules = (
  parse(readText("deploy/alerts/lifeboat.rules.yaml")) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  }
).groups.flatMap((group) => group.rules);
const panels = (
  JSON.parse(readText("deploy/grafana/lifeboat.json")) as { readonly panels: readonly Panel[] }
).panels;
const targets = panels.flatMap((panel) => panel.targets ?? []);
const runbooks = readText("docs/operations/alerts.md");

const production = listFiles().filter(
  (file) =>
    /^packages\/(?!sim\/)[^/]+\/src\/.*\.ts$/.test(file) && !/\.(test|suite)\.ts$/.test(file),
);
const sources = production.map(readText);

/** Every metric that is declared, with its labels. */
const declared = new Map(
  sources.flatMap((text) =>
    [...text.matchAll(/name: "([a-z0-9_:]+)",\s+help:[^]*?(?=\n\s*\})/g)].map(
      ([block, name = ""]) => [name, labelsIn(block, text)] as const,
    ),
  ),
);

function labelsIn(block: string, text: string): readonly string[] {
  const [, list] = /labels: \[([^\]]*)\]/.exec(block) ?? [];
  const shared = /\n\s*labels,/.test(block)
    ? /const labels = \[([^\]]*)\]/.exec(text)?.[1]
    : undefined;
  return [...(list ?? shared ?? "").matchAll(/"([a-z_]+)"/gi)].map(([, label = ""]) => label);
}

const WORDS = new Set(["and", "or", "unless", "by", "without", "on", "ignoring", "bool", "vector"]);
/** What Prometheus itself adds. */
const OTHERS = ["instance", "job", "le"];

/** The metrics of a query, and the labels that it names. */
function namedIn(expr: string): { metrics: readonly string[]; labels: readonly string[] } {
  const grouped = [...expr.matchAll(/\b(?:by|without|on|ignoring) \(([^)]*)\)/g)];
  const matched = [...expr.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*"/g)];
  const bare = expr
    .replaceAll(/\b(?:by|without|on|ignoring) \([^)]*\)/g, " ")
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, " ");
  const names = [...bare.matchAll(/\b([a-z_][a-z0-9_]*)\b(?!\s*\()/g)].map(([, name = ""]) => name);
  return {
    metrics: names.filter((name) => !WORDS.has(name)),
    labels: [
      ...grouped.flatMap(([, list = ""]) => list.split(",").map((label) => label.trim())),
      ...matched.map(([, label = ""]) => label),
    ],
  };
}

const declaredName = (name: string): string =>
  declared.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");

const expressions = [...rules, ...targets].map(({ expr }) => expr);

describe("queries", () => {
  it("are many, and so are the metrics that they are checked against", () => {
    expect(expressions.length).toBeGreaterThan(40);
    expect(declared.size).toBeGreaterThan(50);
    expect(declared.get("cluster_ready_state")).toEqual(["member_cluster"]);
    expect(declared.get("lifeboat_brake")).toEqual(["brake"]);
    expect(declared.get("lifeboat_workloads")).toEqual([]);
  });

  it.each(expressions)("%s asks for what there is", (expr) => {
    const { metrics, labels } = namedIn(expr);
    expect(metrics.length).toBeGreaterThan(0);
    for (const name of metrics) expect([...declared.keys()]).toContain(declaredName(name));
    const known = metrics.flatMap((name) => declared.get(declaredName(name)) ?? []);
    for (const label of labels) expect([...known, ...OTHERS]).toContain(label);
    // A value that no code has would match nothing for ever.
    for (const [, values = ""] of expr.matchAll(/=~?"([^"]+)"/g))
      for (const value of values.split("|"))
        expect(
          sources.some((text) => text.includes(`"${value}"`)),
          value,
        ).toBe(true);
  });

  it("finds a metric, a label or a value that does not exist", () => {
    expect(namedIn('sum by (a) (rate(b_total{c="d"}[5m])) > on (e) f or vector(0)')).toEqual({
      metrics: ["b_total", "f"],
      labels: ["a", "e", "c"],
    });
  });
});

describe("alerts", () => {
  it.each(rules)("$alert has a severity, a sentence and a runbook", (rule) => {
    expect(["page", "ticket"]).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/^[A-Z{]/);
    expect(rule.annotations.runbook).toBe(`docs/operations/alerts.md#${rule.alert.toLowerCase()}`);
    const [, section = ""] = runbooks.split(`\n## ${rule.alert}\n`);
    const text = section.split("\n## ")[0] ?? "";
    for (const part of ["**Means.**", "**Look.**", "**Do.**"]) expect(text).toContain(part);
  });

  it("are all that have a runbook", () => {
    const sections = [...runbooks.matchAll(/^## (Lifeboat\w+)$/gm)].map(([, name]) => name);
    expect(sections.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });

  it("name labels in their sentences that the query keeps", () => {
    for (const { annotations, expr } of rules)
      for (const [, label = ""] of annotations.summary.matchAll(/\$labels\.(\w+)/g))
        expect(namedIn(expr).labels).toContain(label);
  });
});

it("legends name labels that the query keeps", () => {
  for (const { expr, legendFormat } of targets)
    for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
      expect(namedIn(expr).labels, expr).toContain(label);
});
