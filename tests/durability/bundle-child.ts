/** Children of these tests are bundled: one that compiles itself starts five times slower. */
import { bundleProgram } from "@lifeboat/testkit";

/** The bundle of a program that opens stores. */
export function bundleChild(program: URL): string {
  return bundleProgram(program, ["lmdb", "sorted-btree"]);
}
