/** The leader of three replicas is killed, and API server and etcd are away, while the leader does everything. */
import { leaderKillsSuite } from "./leader-kills.suite.ts";

leaderKillsSuite({
  isShared: false,
  kills: Number(process.env["LIFEBOAT_UNIFORM_KILLS"] ?? 5),
  outages: [
    { which: "apiserver", how: "hangs" },
    { which: "apiserver", how: "is killed" },
    { which: "etcd", how: "hangs" },
    { which: "etcd", how: "is killed" },
  ],
});
