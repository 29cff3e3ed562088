/** The reference pages of flags, reasons, Events and metrics, as Markdown, from the code alone. */
import type { createProgram } from "../../packages/cli/src/main.ts";
import type { DeclaredEvent, DeclaredMetric, ReasonTable } from "./declared.ts";

type Command = ReturnType<typeof createProgram>;

const NOTE =
  "This page is generated from the code by `npm run generate`; a test fails when it is out of date.";

/** Every command with its arguments and flags, as `--help` has them. */
export function renderFlags(program: Command): string {
  const commands = commandsOf(program, []);
  return [
    "# Commands and flags",
    "",
    `${NOTE} [commands.md](../commands.md) says what each command is for.`,
    "",
    "A flag counts before its environment variable, that before the same key of the file given by `--config`, that before the default.",
    "",
    ...commands.flatMap(({ words, command }) => renderCommand(words, command)),
  ].join("\n");
}

interface Found {
  readonly words: readonly string[];
  readonly command: Command;
}

/** Those that do something, the commands that only group others left out. */
function commandsOf(command: Command, words: readonly string[]): readonly Found[] {
  const own = [...words, command.name()];
  const deeper = command.commands
    .filter((one) => one.name() !== "help")
    .flatMap((one) => commandsOf(one, own));
  const isGroup = deeper.length > 0 && shownOptions(command).length === 0;
  return isGroup ? deeper : [{ words: own, command }, ...deeper];
}

function shownOptions(command: Command): readonly Command["options"][number][] {
  return command.options.filter(({ hidden, long }) => !hidden && long !== "--version");
}

function renderCommand(words: readonly string[], command: Command): readonly string[] {
  const options = shownOptions(command);
  const given = command.registeredArguments.map(
    (one) => `- \`${one.name()}\`${one.required ? "" : " (optional)"}: ${inline(one.description)}`,
  );
  return [
    `## ${words.join(" ")}`,
    "",
    inline(command.description()).replace(/[.]?$/, "."),
    "",
    ...(given.length === 0 ? [] : [...given, ""]),
    ...options.map(({ flags, description }) => `- \`${flags}\`: ${inline(description)}`),
    ...(options.length === 0 ? [] : [""]),
  ];
}

/** Every reason of every decision, and every Event, by name. */
export function renderReasons(
  tables: readonly ReasonTable[],
  events: readonly DeclaredEvent[],
): string {
  return [
    "# Reasons and Events",
    "",
    NOTE,
    "",
    "Each decision of the control plane has a closed set of reasons. The same word stands in the condition, the Event, the log and what commands print.",
    "",
    "## Events",
    "",
    "Recorded on the workload, its binding, the Cluster or the policy that they are about (`kubectl get events -A`). Others bear a reason of the tables below.",
    "",
    ...byReason(events).map(([reason, types]) => `- \`${reason}\` (${types.join(" or ")})`),
    "",
    ...tables.flatMap(renderTable),
  ].join("\n");
}

/** Every metric that the program makes, by name. */
export function renderMetrics(metrics: readonly DeclaredMetric[]): string {
  return [
    "# Metrics",
    "",
    NOTE,
    "",
    "Served at `/metrics` in Prometheus' text form. Series with a `member_cluster` end when the cluster has left. Of several managers only the leader shows what is counted over the fleet and the clusters; the others show no such series.",
    "",
    "A dashboard and alert rules are in [deploy/grafana](../../deploy/grafana/lifeboat.json) and [deploy/alerts](../../deploy/alerts/lifeboat.rules.yaml), a runbook for each alert in [operations/alerts.md](../operations/alerts.md).",
    "",
    ...metrics
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, kind, labels, help }) => {
        const by =
          labels.length === 0 ? "" : `, by ${labels.map((one) => `\`${one}\``).join(", ")}`;
        return `- \`${name}\` (${kind}${by}): ${inline(help)}`;
      }),
    "",
  ].join("\n");
}

function renderTable({ name, file, about, reasons }: ReasonTable): readonly string[] {
  return [
    `## ${headingOf(name)}`,
    "",
    `${inline(about)} (\`${file}\`)`,
    "",
    ...reasons.map(([reason, sentence]) => `- \`${reason}\`: ${inline(sentence)}`),
    "",
  ];
}

/** `heldReasons` is `Held`. */
function headingOf(name: string): string {
  const words = name
    .replace(/Reasons?$/, "")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function byReason(
  events: readonly DeclaredEvent[],
): readonly (readonly [string, readonly string[]])[] {
  const found = new Map<string, Set<string>>();
  for (const { reason, types } of events)
    found.set(reason, new Set([...(found.get(reason) ?? []), ...types]));
  return [...found]
    .map(([reason, types]) => [reason, [...types].toSorted()] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Markdown takes what looks like a tag for one, and stars for stress. */
function inline(text: string): string {
  return text
    .replaceAll("\n", " ")
    .replaceAll("<", "\\<")
    .replaceAll("*", "\\*")
    .replaceAll("_", "\\_");
}
