/** The repository as data, for checks that read it. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Tracked files and new ones that are not ignored, as they are in the working tree. */
export function listFiles(): readonly string[] {
  const output = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  const deleted = execFileSync("git", ["ls-files", "--deleted"], { cwd: root, encoding: "utf8" });
  const gone = new Set(deleted.split("\n"));
  return output.split("\n").filter((file) => file !== "" && !gone.has(file));
}

export function readText(file: string): string {
  return readFileSync(`${root}/${file}`, "utf8");
}
