/** Which folder may import which, by the tables of a README. */
import { expect, it } from "vitest";
import { folderComplaint, foldersOf } from "./folders.js";

const core = foldersOf(
  "core",
  `# core

| Folder            | entry file | decides   |
| ----------------- | ---------- | --------- |
| \`plan.ts\`         |            | plans     |
| \`division/\`       | \`a.ts\`     | shares    |
| \`failover/taints/\` | \`b.ts\`   | taints    |
| \`failover/state/\`  | \`c.ts\`   | state     |

| another | table |
| ------- | ----- |
| \`x/\`    | no    |
`,
);
const controllers = foldersOf(
  "controllers",
  `| Shared       | gives |
| ------------ | ----- |
| \`context/\`   | ports |
| \`bindings.ts\` | both |

| Controller             | does   |
| ---------------------- | ------ |
| \`failover/evacuation/\` | moves  |
| \`failover/taints/\`     | taints |
`,
);

it("reads the tables in their order", () => {
  expect(core).toEqual({
    ordered: ["plan.ts", "division/", "failover/taints/", "failover/state/"],
  });
  expect(controllers).toEqual({
    shared: ["context/", "bindings.ts"],
    apart: ["failover/evacuation/", "failover/taints/"],
  });
});

it("refuses a README without its table", () => {
  expect(() => foldersOf("core", "# core\n")).toThrow("no table");
});

it.each([
  ["a file of the same folder", core, "division/a.ts", "division/deep/b.ts"],
  ["a folder above", core, "failover/state/a.ts", "failover/taints/b.ts"],
  ["a file above", core, "division/a.ts", "plan.ts"],
  ["a shared folder", controllers, "failover/taints/a.ts", "context/b.ts"],
  ["a shared file from a shared folder", controllers, "context/a.ts", "bindings.ts"],
])("may import %s", (_name, tables, from, to) => {
  expect(folderComplaint(tables, from, to)).toBeUndefined();
});

it.each([
  ["a folder below", core, "failover/taints/a.ts", "failover/state/b.ts", "stands below"],
  ["a folder below a file", core, "plan.ts", "division/b.ts", "stands below"],
  [
    "what is in no table",
    core,
    "division/a.ts",
    "failover/other/b.ts",
    "failover/other/b.ts is in no",
  ],
  ["anything from outside the tables", core, "new.ts", "plan.ts", "new.ts is in no"],
  [
    "a sibling",
    controllers,
    "failover/evacuation/a.ts",
    "failover/taints/b.ts",
    "may not import failover/taints/",
  ],
  [
    "a controller from what is shared",
    controllers,
    "bindings.ts",
    "failover/taints/b.ts",
    "is shared",
  ],
])("may not import %s", (_name, tables, from, to, complaint) => {
  expect(folderComplaint(tables, from, to)).toContain(complaint);
});
