/**
 * The commands that speak to a control plane, as the table of faults calls them: each with arguments by which it does its work on the
 * world of hostile-world.suite.ts, and with the options that lead it another way.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataDirectory } from "./hostile-world.suite.ts";
import { argumentsOf, directory, type Leaf, NEEDED } from "./error-paths.suite.ts";

/** One call: what follows the words of the command. */
export type Call = readonly string[];

const manifest = join(directory, "edit.yaml");
writeFileSync(
  manifest,
  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
);

const REASON = ["--reason", "a test"];

/** Where a cluster is that can be joined; written when its address is known. */
export const memberKubeconfig = join(directory, "member.kubeconfig");

/** Those that are left out are called once, with arguments of their names (error-paths.suite.ts) and `--yes` where they have it. */
const CALLS: Readonly<Record<string, readonly Call[]>> = {
  join: [
    ["member9", "--cluster-kubeconfig", memberKubeconfig, "--allow-insecure-http"],
    ["member9", "--cluster-kubeconfig", memberKubeconfig],
  ],
  unjoin: [
    ["member3", "--yes", "--wait", "50ms", "--cluster-kubeconfig", memberKubeconfig],
    ["member3", "--yes", "--forget-shares", "--wait", "50ms"],
    ["member1", "--yes", "--force", "--forget-shares", "--wait", "50ms"],
  ],
  "token create": [
    ["--ttl", "10m"],
    ["--cluster", "eu-1", "--print-register-command"],
  ],
  "token delete": [["abcdef", "--yes"]],
  register: [["--detector", "member1"]],
  unregister: [["pull1", "--yes", "--wait", "50ms"]],
  "users add": [["ann", "--role", "view"]],
  get: [
    ["clusters"],
    ["clusters", "member1", "-o", "json"],
    ["deployments", "-A"],
    ["statefulsets", "db"],
    ["pods", "-C", "member1"],
  ],
  describe: [
    ["clusters", "member1"],
    ["statefulsets", "db", "-o", "yaml"],
  ],
  top: [["clusters"]],
  status: [[], ["--exit-code"], ["--watch"], ["-o", "json"]],
  watch: [[], ["-o", "json"]],
  history: [[], ["member1"], ["deployment/web", "-o", "json"]],
  explain: [["deployment/web"], ["statefulset/db"], ["deployment/moved", "-o", "json"]],
  simulate: [
    ["--fail", "member2", "--for", "10s"],
    ["--every", "-o", "json"],
    ["--region", "eu", "--rate", "2", "--for", "10s"],
  ],
  plan: [["-f", manifest, "--for", "10s"]],
  "taint clusters": [
    ["member1", "a=b:NoSchedule"],
    ["member1,member2", "a:NoExecute", "--yes", ...REASON],
  ],
  cordon: [["member2", "member3", ...REASON]],
  uncordon: [["member4"]],
  drain: [
    ["pull1", "--yes"],
    ["member2", "--yes", "--despite-quorums", "--timeout", "50ms", ...REASON],
    ["member1", "--dry-run"],
  ],
  fence: [
    ["member1", "--yes", ...REASON],
    ["member4", "--undo"],
  ],
  "statefulset forget": [["db", "member1", "--yes"]],
  "statefulset let-go": [["db", "db-member2-1"]],
  "statefulset recover": [["lost", "--yes"]],
  "statefulset give-up-names": [["db", "--yes"]],
  "evacuations show": [["member1-1"]],
  "evacuations watch": [[], ["member1-1"]],
  "evacuations pause": [
    ["--all", ...REASON],
    ["member1-1"],
    ["--cluster", "member2"],
    ["-n", "default"],
  ],
  "evacuations resume": [["--cluster", "member3"], ["member1-1"]],
  "evacuations approve": [
    ["member1-1", "--yes"],
    ["--cluster", "member1", "--workload", "deployment/web", "--for", "1h", "--yes"],
    ["-n", "default", "--yes"],
  ],
  "evacuations rate": [[], ["--set", "5", "--for", "30m", ...REASON, "--yes"], ["--clear"]],
  "evacuations abandon": [["member1-1", "deployment/web", "--yes"]],
  "evacuations restore": [["deployment/moved", "--yes"]],
  failback: [
    ["deployment/moved", "--yes", ...REASON],
    ["--cluster", "member3", "--yes"],
  ],
  "remedy block": [["member2", "--yes"]],
  "dns explain": [["db.default.lifeboat.svc.cluster.local"]],
  "dns stanza": [["member1", "--reverse", "192.0.2.0/24"]],
  "certs rotate-ca": [["--commit", "--data-dir", dataDirectory]],
  adopt: [["--yes"]],
  install: [
    ["--force"],
    ["--force", "--diff", "--dry-run", "--webhook-url", "https://192.0.2.1:8443"],
    ["--dry-run"],
  ],
  uninstall: [["--yes", "--force"]],
  "member fail": [
    ["member1", "--mode", "api-down"],
    ["member1", "--mode", "errors", "--percent", "10", "--after", "1ms"],
  ],
  logs: [["web-0", "-C", "member1"]],
  exec: [["web-0", "-C", "member1", "--", "true"]],
};

/** Where the command has such an option. */
export const has = ({ command }: Leaf, long: string): boolean =>
  command.options.some((option) => option.long === long);

export function callsOf(name: string, leaf: Leaf): readonly Call[] {
  const yes = has(leaf, "--yes") ? ["--yes"] : [];
  return CALLS[name] ?? [[...argumentsOf(leaf), ...(NEEDED[name] ?? []), ...yes]];
}

/** A call with options that are read before the words of a command that runs elsewhere. */
export function withOptions(call: Call, ...options: readonly string[]): readonly string[] {
  const at = call.indexOf("--");
  return at < 0 ? [...call, ...options] : [...call.slice(0, at), ...options, ...call.slice(at)];
}
