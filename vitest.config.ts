/** Test kinds are projects: `unit` is what `npm test` runs; the others run one after another in .ci/run. */
import { defineConfig } from "vitest/config";
import { FAULT_VARIABLE, seededFaults } from "./tools/seeded-faults/faults.ts";
import { putIn } from "./tools/seeding/seed.ts";

/** Packages resolve to their sources, so that tests need no build. */
const source = {
  resolve: { conditions: ["@lifeboat/source", "node", "import", "default"] },
  ssr: { resolve: { conditions: ["@lifeboat/source", "node", "import", "default"] } },
};

const chosen = process.env[FAULT_VARIABLE] ?? "";
const fault = seededFaults[Number(chosen || Number.NaN)];

/** Puts a seeded fault into its file while it is loaded; without one it does nothing. */
const seededFault = {
  name: "seeded-fault",
  enforce: "pre",
  transform(code: string, id: string): string | undefined {
    if (fault === undefined || !id.endsWith(`/${fault.file}`)) return undefined;
    return putIn(fault, code);
  },
} as const;

/** Property and fuzz tests draw from one seed, so that a run can be repeated; see the file. */
const setupFiles = ["tools/seed-properties.ts"];

export default defineConfig({
  ...source,
  test: {
    // One per core: by default one core stays idle, which on two cores is half of them.
    maxWorkers: "100%",
    projects: [
      {
        ...source,
        plugins: [seededFault],
        test: {
          name: "unit",
          setupFiles,
          // No module holds state, so files may share loaded modules: loading them anew took half the time.
          isolate: false,
          // A limit for tests that hang, not for slow machines.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          include: [
            "packages/*/{src,test}/**/*.test.ts",
            "testkit/src/**/*.test.ts",
            "tools/**/*.test.ts",
          ],
          exclude: ["**/*.fuzz.test.ts", "**/*.e2e.test.ts", "**/node_modules/**"],
        },
      },
      {
        ...source,
        test: {
          name: "fuzz",
          isolate: false,
          setupFiles,
          include: ["packages/*/{src,test}/**/*.fuzz.test.ts"],
          testTimeout: 300_000,
        },
      },
      {
        ...source,
        test: {
          name: "e2e",
          include: ["tests/**/*.e2e.test.ts"],
          // Limits for tests that hang, not for slow machines. Files run side by side: real processes mostly wait.
          testTimeout: 600_000,
          hookTimeout: 600_000,
          retry: 0,
        },
      },
      {
        ...source,
        test: {
          name: "kube",
          include: ["tests/kube/**/*.kube.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          fileParallelism: false,
          retry: 0,
        },
      },
    ],
  },
});
