/** The same while replicas share out members; reduced, but for the weekly run. */
import { leaderKillsSuite } from "./leader-kills.suite.ts";

leaderKillsSuite({
  isShared: true,
  kills: Number(process.env["LIFEBOAT_UNIFORM_KILLS"] ?? 2),
  outages: [
    { which: "apiserver", how: "is killed" },
    { which: "etcd", how: "hangs" },
  ],
});
