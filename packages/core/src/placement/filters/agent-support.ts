/** A Pull cluster whose agent does not know endorsement gets nothing new (D26). */
import type { Filter, Rejection } from "./filter.ts";

const NAME = "AgentSupport";
const rejection: Rejection = Object.freeze({
  filter: NAME,
  message: "cluster(s) had an agent that does not know endorsement",
  help: "run `lifeboat agent` in the cluster, in the place of the agent that runs there",
});

export const agentSupport: Filter = {
  name: NAME,
  binds: false,
  prepare: (_asked, { someUnsupported }) =>
    someUnsupported
      ? (candidate) => (candidate.hasUnsupportedAgent ? rejection : undefined)
      : undefined,
};
