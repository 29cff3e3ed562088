/** `npm run generate:manifests`: writes deploy/manifests from the chart. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { renderManifests } from "./manifests.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const helm = execFileSync(join(root, "tools/real-helm/install.sh"), { encoding: "utf8" }).trim();
for (const [file, text] of renderManifests(helm, join(root, "deploy/helm/lifeboat")))
  writeFileSync(join(root, "deploy/manifests", file), text);
