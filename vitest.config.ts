/** Test kinds are projects: `unit` is what `npm test` runs; the others run one after another in .ci/run. */
import { defineConfig } from "vitest/config";

/** Packages resolve to their sources, so that tests need no build. */
const source = {
  resolve: { conditions: ["@lifeboat/source", "node", "import", "default"] },
  ssr: { resolve: { conditions: ["@lifeboat/source", "node", "import", "default"] } },
};

/** Property and fuzz tests draw from one seed, so that a run can be repeated; see the file. */
const setupFiles = ["tools/seed-properties.ts"];

export default defineConfig({
  ...source,
  test: {
    projects: [
      {
        ...source,
        test: {
          name: "unit",
          setupFiles,
          include: [
            "packages/*/src/**/*.test.ts",
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
          setupFiles,
          include: ["packages/*/src/**/*.fuzz.test.ts"],
          testTimeout: 300_000,
        },
      },
      {
        ...source,
        test: {
          name: "e2e",
          include: ["tests/**/*.e2e.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
          retry: 0,
        },
      },
    ],
  },
});
