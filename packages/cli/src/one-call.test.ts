/**
 * Which options of which commands may come from a variable or a file, over the tables of all commands.
 *
 * A process that serves (`up`, `agent`) is configured: its options are settings. A command that does one thing and ends is an order of
 * a person. Of its options only those may be set beforehand that say where the control plane and members are, how the answer is
 * printed, how long the command waits, or what something new is called. Everything else belongs to the one call: what skips a
 * question, changes what is moved, deleted, granted or written, or turns the order into a dry run.
 */
import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "./main.ts";

const SERVING: ReadonlySet<string> = new Set([
  "up",
  "manager",
  "members",
  "agent",
  "detector",
  "gateway",
  "dns serve",
]);

/** Of a process that serves, and all the same about one start. */
const OF_ONE_START: ReadonlySet<string> = new Set(["--restored"]);

const SETTINGS: ReadonlySet<string> = new Set(
  [
    // Where the control plane, members and others are, and how they are reached.
    "--kubeconfig --context --data-dir --kubeconfig-dir --encryption-key-file --encrypt-resources",
    "--cluster-kubeconfig --cluster-context --cluster-namespace --token --discovery-token-ca-cert-hash --proxy-url",
    "--webhook-url --registration-endpoint --server-addresses --member-proxy --registration",
    "--notify-url --notify-url-file --notify-token-file --notify-format --notify-template --notify-on --notify-name",
    "--dns-zone --federation-name --servers --cluster-domain --reverse",
    // What something new is called and like.
    "--cluster-name --cluster-provider --cluster-region --cluster-zones --description --ttl",
    "--agent-kubeconfig --agent-image --agent-namespace --agent-replicas",
    "--detector-ttl --probe --name --target --target-insecure-skip-tls-verify --condition-type",
    // What is shown, how, and for how long.
    "--output --print-register-command --client --story --fast --step --for",
    "--timeout --wait",
  ].flatMap((line) => line.split(" ")),
);

/** Reads and changes nothing, or hands on what the person types: the namespace and the members may be set for a session. */
const READING: Readonly<Record<string, readonly string[]>> = {
  get: ["--clusters", "--all-clusters", "--namespace", "--all-namespaces"],
  describe: ["--namespace"],
  logs: [
    "--clusters",
    "--namespace",
    "--container",
    "--follow",
    "--previous",
    "--timestamps",
    "--tail",
  ],
  exec: ["--clusters", "--namespace", "--container", "--stdin", "--tty"],
  traffic: ["--namespace"],
};

/** Every option of every command that a variable or a file may set, as its help tells. */
function settable(command: Command, path = ""): readonly (readonly [string, string])[] {
  const own = command.options
    .filter(({ description }) => description.includes("[env: "))
    .map(({ long }) => [path, long ?? ""] as const);
  const names = command.commands.map((one) => settable(one, `${path} ${one.name()}`.trim()));
  return [...own, ...names.flat()];
}

it("17.16: what a person says about one call comes from no variable and no file, in any command", () => {
  const all = settable(createProgram());
  const wrong = all.filter(([command, option]) => {
    if (SERVING.has(command)) return OF_ONE_START.has(option);
    const isRead = READING[command]?.includes(option) ?? false;
    return !SETTINGS.has(option) && !isRead;
  });
  expect(wrong).toEqual([]);
  // The walk sees the tables: a process that serves has settings, and so has an order.
  const texts = all.map((one) => one.join(" "));
  expect(texts).toEqual(expect.arrayContaining(["up --members", "drain --kubeconfig"]));
  expect(new Set(texts.map((text) => text.replace(/ --.*/, ""))).size).toBeGreaterThan(60);
});
