/** Writes docs/kinds.md from the declarations of the kinds. */
import { writeFileSync } from "node:fs";
import { controlPlaneKinds } from "@lifeboat/api";
import { renderKinds } from "./render.ts";

writeFileSync(new URL("../../docs/kinds.md", import.meta.url), renderKinds(controlPlaneKinds));
