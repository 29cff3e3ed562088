/** The commands that are not in the table of faults, and the tests that have their errors. */

/** They speak to no control plane that a kubeconfig names, or serve until they are stopped. */
export const elsewhere: Readonly<Record<string, readonly string[]>> = {
  up: [
    "packages/cli/src/error-paths-local.test.ts",
    "tests/up/up.e2e.test.ts",
    "tests/hostile/damaged-directory.e2e.test.ts",
  ],
  demo: ["packages/cli/src/error-paths-local.test.ts", "tests/failover/demo.e2e.test.ts"],
  manager: ["packages/cli/src/error-paths-local.test.ts", "tests/kube/replicas.kube.test.ts"],
  members: ["packages/cli/src/error-paths-local.test.ts", "tests/members/members.e2e.test.ts"],
  agent: ["packages/cli/src/error-paths-local.test.ts", "tests/agent/agent.e2e.test.ts"],
  detector: ["packages/cli/src/error-paths-local.test.ts", "tests/detector/detector.e2e.test.ts"],
  gateway: [
    "packages/cli/src/error-paths-local.test.ts",
    "tests/traffic/gateway-kills.e2e.test.ts",
  ],
  "dns serve": ["packages/cli/src/error-paths-local.test.ts", "tests/dns/dns.e2e.test.ts"],
  "notifications test": ["packages/cli/src/error-paths-local.test.ts"],
  "certs renew": ["packages/cli/src/error-paths-local.test.ts"],
  backup: ["packages/cli/src/error-paths-local.test.ts", "tests/backup/backup.e2e.test.ts"],
  restore: ["packages/cli/src/error-paths-local.test.ts", "tests/backup/backup.e2e.test.ts"],
  migrate: ["packages/cli/src/error-paths-local.test.ts", "tests/kube/migrate.kube.test.ts"],
  completion: ["packages/cli/src/completion.test.ts"],
};
