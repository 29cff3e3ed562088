/** The repository as data, for checks that read it. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Tracked files and new ones that are not ignored; without git (an unpacked archive), everything that is not made. */
export function listFiles(): readonly string[] {
  try {
    return listByGit();
  } catch {
    return listByWalking("");
  }
}

export function readText(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function listByGit(): readonly string[] {
  const lines = (...args: string[]): readonly string[] =>
    execFileSync("git", ["ls-files", ...args], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 << 20,
      stdio: ["ignore", "pipe", "ignore"],
    }).split("\n");
  const gone = new Set(lines("--deleted"));
  const all = lines("--cached", "--others", "--exclude-standard");
  return all.filter((file) => file !== "" && !gone.has(file));
}

const MADE = new Set([".git", "node_modules", "dist", "coverage"]);

function listByWalking(directory: string): readonly string[] {
  const files: string[] = [];
  for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
    const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
    if (MADE.has(entry.name)) continue;
    if (entry.isDirectory()) files.push(...listByWalking(path));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}
