/**
 * Which Push members this replica works on, where the replicas of a control plane share them out.
 *
 * 1. Asking never waits, and what is answered holds for this moment: a `Term` is asked again before every write.
 * 2. A term that has ended stays so; if the member comes back to this replica, that is another term.
 */
import type { Streak } from "@lifeboat/core/failover/health";
import type { SecondOpinion } from "@lifeboat/core/clusters/shares";
import type { Term } from "@lifeboat/kit";

export interface MemberShares {
  /** Resolves with true once it is known what is shared out to this replica. */
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /** The right to act for the member; undefined: another replica has it, or none has it yet. */
  termOf(cluster: string): Term | undefined;
  /** Whether this replica probes the member: its own, one that it is asked about, one that it has lost. */
  probes(cluster: string): boolean;
  /** Takes in what probes of the member report; undefined: it is not probed any more. */
  observed(cluster: string, seen: ObservedMember | undefined): void;
  /** What the second replica observes of a member that does not answer this one; undefined: there is no second. */
  opinionOf(cluster: string): SecondOpinion | undefined;
  /** Called with a member's name when any of the answers about it may be another now. The answer ends it. */
  onChange(handler: (cluster: string) => void): () => void;
}

export interface ObservedMember {
  readonly streak: Streak;
  /** Its Cluster reports Ready=False already. */
  readonly isKnownDown: boolean;
}
