/** Looks at members again and again while something else goes on, for what must never be seen. */
import { setTimeout as wait } from "node:timers/promises";
import type { AnyObject } from "@lifeboat/api";
import { resources } from "@lifeboat/testkit";
import type { Operator } from "./operator.ts";

const LOOK_EVERY_MS = 200;

/** The Deployments in a member, and whether each is ready. */
export async function copiesIn(
  operator: Operator,
  member: string,
): Promise<ReadonlyMap<string, boolean>> {
  const { items } = await operator.member(member).list(resources.deployments, {
    namespace: "default",
  });
  return new Map(items.map((copy) => [copy.metadata.name, isReady(copy)]));
}

function isReady(copy: AnyObject): boolean {
  return ((copy["status"] as { readonly readyReplicas?: number }).readyReplicas ?? 0) > 0;
}

export interface Looking {
  /** Answers how often it looked, and what was wrong. */
  stop(): Promise<{ readonly looks: number; readonly problems: readonly string[] }>;
}

/** Looks until it is stopped, with a pause after each look; `look` answers what is wrong. */
export function keepLooking(
  look: () => Promise<readonly string[]>,
  pauseMs = LOOK_EVERY_MS,
): Looking {
  const eyes = { areClosed: false };
  let looks = 0;
  const problems = new Set<string>();
  const looking = (async () => {
    while (!eyes.areClosed) {
      for (const problem of await look()) problems.add(problem);
      looks++;
      await wait(pauseMs);
    }
  })();
  return {
    stop: async () => {
      eyes.areClosed = true;
      await looking;
      return { looks, problems: [...problems] };
    },
  };
}
