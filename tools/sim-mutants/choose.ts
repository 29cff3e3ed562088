/**
 * Which seeded bugs a run of the CI puts in: all whose file has changed, and ten others, which ones a hash of the commit says:
 * the same for one commit, and all of them over many. When the simulation itself has changed, all: an oracle that was let off
 * something may have become deaf to a bug, wherever that one is. All also when the way has changed in which bugs are put in.
 */
import { execFileSync } from "node:child_process";
import { hashText } from "@lifeboat/base";
import { root } from "../repository.ts";
import type { SimMutant } from "./mutant.ts";

export const CI_COUNT = 10;

/** The bugs for this commit, in the order of the list. */
export function chooseForCommit(
  mutants: readonly SimMutant[],
  commit: string,
  changedFiles: ReadonlySet<string>,
): readonly SimMutant[] {
  if ([...changedFiles].some(isOfSimulation)) return mutants;
  const rank = ({ oracle, breaks }: SimMutant): number => hashText(`${commit} ${oracle} ${breaks}`);
  const ten = new Set(mutants.toSorted((a, b) => rank(a) - rank(b)).slice(0, CI_COUNT));
  return mutants.filter((mutant) => ten.has(mutant) || changedFiles.has(mutant.file));
}

function isOfSimulation(file: string): boolean {
  const isOf = /^(packages\/sim\/(src|corpus)|tools\/seeding)\//;
  return isOf.test(file) && !file.endsWith(".test.ts");
}

export function headCommit(): string {
  return git("rev-parse", "HEAD") ?? "";
}

/** Files that differ from where the work began: the main branch, or the commit before on it. Unknown in a shallow clone: none. */
export function changedFiles(): ReadonlySet<string> {
  const fork = git("merge-base", "HEAD", "origin/main");
  const base = fork === undefined || fork === headCommit() ? git("rev-parse", "HEAD~1") : fork;
  const names = base === undefined ? "" : (git("diff", "--name-only", base) ?? "");
  return new Set(names.split("\n").filter((name) => name !== ""));
}

/** What git says; undefined when it cannot. */
function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}
