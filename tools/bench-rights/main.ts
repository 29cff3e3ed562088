/**
 * `npm run bench:rights`: what one decision about rights costs with 10,000 bindings, and what it costs to take in a change.
 *
 * Three fleets of bindings: each to a user of its own; all to one group, each to a role of its own; all to one group in
 * namespaces of their own. A walk over all bindings would cost milliseconds in each.
 */
import type { Attributes } from "../../packages/apiserver/src/authorization/authorizer.ts";
import { Rights } from "../../packages/apiserver/src/authorization/rbac/rights.ts";

const BINDINGS = 10_000;
const DECISIONS = 1_000_000;
const CHANGES = 10_000;

interface Fleet {
  readonly name: string;
  bind(rights: Rights, i: number): void;
}

function rules(name: string) {
  return [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"], resourceNames: [name] }];
}

const fleets: readonly Fleet[] = [
  {
    name: "each to a user of its own",
    bind: (rights, i) => {
      rights.setRole("", `r${i}`, rules(`p${i}`));
      const roleRef = { kind: "ClusterRole", name: `r${i}` };
      const subjects = [{ kind: "User", name: `u${i}` }];
      rights.setBinding({ namespace: "", name: `b${i}`, roleRef, subjects });
    },
  },
  {
    name: "all to one group, 10,000 roles",
    bind: (rights, i) => {
      rights.setRole("", `r${i}`, rules(`p${i}`));
      const roleRef = { kind: "ClusterRole", name: `r${i}` };
      const subjects = [{ kind: "Group", name: "devs" }];
      rights.setBinding({ namespace: "", name: `b${i}`, roleRef, subjects });
    },
  },
  {
    name: "all to one group, 10,000 namespaces",
    bind: (rights, i) => {
      const namespace = `n${i}`;
      rights.setRole(namespace, "r", rules(`p${i}`));
      const subjects = [{ kind: "Group", name: "devs" }];
      rights.setBinding({ namespace, name: "b", roleRef: { kind: "Role", name: "r" }, subjects });
    },
  },
];

function question(i: number, allowed: boolean): Attributes {
  const at = i % BINDINGS;
  return {
    kind: "resource",
    user: { name: `u${at}`, groups: ["devs", "system:authenticated"] },
    verb: allowed ? "get" : "delete",
    group: "",
    version: "v1",
    plural: "pods",
    subresource: "",
    namespace: `n${at}`,
    name: `p${at}`,
  };
}

for (const fleet of fleets) {
  const { name } = fleet;
  const rights = new Rights();
  const loading = performance.now();
  for (let i = 0; i < BINDINGS; i++) fleet.bind(rights, i);
  const loaded = performance.now() - loading;
  const questions = Array.from({ length: 1000 }, (_, i) => question(i * 7, i % 2 === 0));
  const [some = question(0, true)] = questions;
  rights.allows(some);
  let yes = 0;
  const began = performance.now();
  for (let i = 0; i < DECISIONS; i++)
    if (rights.allows(questions[i % questions.length] ?? some)) yes++;
  const each = ((performance.now() - began) * 1000) / DECISIONS;
  const changing = performance.now();
  for (let i = 0; i < CHANGES; i++) fleet.bind(rights, i);
  const change = ((performance.now() - changing) * 1000) / CHANGES;
  const asking = performance.now();
  fleet.bind(rights, 0);
  rights.allows(some);
  const first = (performance.now() - asking) * 1000;
  const share = Math.round((yes * 100) / DECISIONS);
  process.stdout.write(
    `${name}: a decision ${each.toFixed(2)} µs (${share} % allowed), a change ${change.toFixed(1)} µs, ` +
      `the first decision after one ${first.toFixed(0)} µs, loading ${loaded.toFixed(0)} ms\n`,
  );
}
