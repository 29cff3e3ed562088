/** The kubelets of all members as `node process-kubelet-child.ts SETTINGS`; SIGTERM ends them and their pods. */
import { readFileSync } from "node:fs";
import { type ProcessKubeletSettings, runProcessKubelets } from "./process-kubelet.ts";

const told = new AbortController();
process.once("SIGTERM", () => told.abort());
const settings = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as ProcessKubeletSettings;
await runProcessKubelets(settings, told.signal);
process.exit(0);
