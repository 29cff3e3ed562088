/** Starts the built command as `npm start` does, waits for `ready`, writes and reads one object, and stops it. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../packages/cli/bin/lifeboat.js", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "lifeboat-smoke-"));
const child = spawn(command, ["up", "--data-dir", directory, "--listen", "127.0.0.1:0"]);

let output = "";
child.stderr.pipe(process.stderr);
await new Promise((resolve, reject) => {
  child.once("close", (code) => reject(new Error(`lifeboat up ended with ${code}:\n${output}`)));
  child.stdout.on("data", (chunk) => {
    output += chunk;
    if (/^ready$/m.test(output)) resolve();
  });
});

const kubeconfig = readFileSync(join(directory, "lifeboat.kubeconfig"), "utf8");
const decoded = (field) => {
  const [, data] = new RegExp(`${field}"?:\\s*"?([A-Za-z0-9+/=]+)`).exec(kubeconfig) ?? [];
  return Buffer.from(data ?? "", "base64");
};
const tls = {
  ca: decoded("certificate-authority-data"),
  cert: decoded("client-certificate-data"),
  key: decoded("client-key-data"),
};
const [, port] = /https:\/\/127\.0\.0\.1:(\d+)/.exec(output) ?? [];

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, ...tls }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ code: response.statusCode, body: JSON.parse(text) }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const path = "/api/v1/namespaces/default/configmaps";
const object = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "smoke" },
  data: { a: "1" },
};
const created = await call("POST", path, JSON.stringify(object));
const read = await call("GET", `${path}/smoke`);
child.removeAllListeners("close");
const ended = new Promise((resolve) => child.once("close", resolve));
child.kill("SIGTERM");
const exitCode = await ended;
rmSync(directory, { recursive: true });

if (created.code !== 201 || read.body.data?.a !== "1" || exitCode !== 0) {
  throw new Error(`smoke failed: ${JSON.stringify({ created, read, exitCode })}`);
}
process.stdout.write(`node ${process.version}: lifeboat up serves and stops\n`);
