/** The pages with commands do what they show; the tutorial has a file of its own. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startControllerManager } from "../support/controller-manager.ts";
import { startRealApiServer } from "../support/real-api-server.ts";
import { PAGES, pageSuite, type PageOptions, allPages, readPage } from "./pages.suite.ts";

/** A user waits half a minute for a cluster to turn, the test less. */
const environment = {
  LIFEBOAT_CLUSTER_FAILURE_THRESHOLD: "5s",
  LIFEBOAT_CLUSTER_SUCCESS_THRESHOLD: "5s",
};

const OPTIONS: Readonly<Record<string, PageOptions>> = {
  // The cluster that joins is a real one: simulated members give out no tokens.
  "how-to/join-a-cluster.md": {
    prepare: async (home) => {
      const cluster = await startRealApiServer();
      // It makes the token by which the control plane reaches the cluster.
      const manager = await startControllerManager(cluster);
      copyFileSync(cluster.kubeconfig, join(home, "eu-1.kubeconfig"));
      return {
        stop: async () => {
          await manager.stop("SIGKILL");
          await cluster.stop();
        },
      };
    },
  },
};

describe.each(PAGES.filter((name) => name !== "tutorial.md"))("docs/%s", (name) => {
  pageSuite(name, { environment, ...OPTIONS[name] });
});

it("are all guides and the tutorial, and no other page has commands after a $", () => {
  const pages = allPages();
  const guides = pages.filter((name) => /^(how-to\/|tutorial)/.test(name));
  expect(guides.length).toBeGreaterThan(9);
  expect(PAGES).toEqual(guides);
  const others = pages.filter((name) => !PAGES.includes(name));
  expect(others.filter((name) => /^\$ /m.test(readPage(name)))).toEqual([]);
});
