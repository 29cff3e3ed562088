/**
 * The second opinion about a member that does not answer its owner: asked and given on the Leases of the two replicas.
 *
 * 1. An answer counts for the question that it names, and for no later one: what a replica saw in an earlier failure proves nothing.
 * 2. The opinion is that of the one replica that `secondOf` names. One that is blind is asked only if all others are blind, too.
 */
import { ownerOf, type ReplicaView, secondOf } from "./shares.ts";

/** `agrees`: the second does not reach the member either. `disagrees`: it does. `awaited`: it has not answered yet. */
export type SecondOpinion = "agrees" | "awaited" | "disagrees";

/** The opinion of the second replica; undefined: there is no second, so none is needed. */
export function secondOpinion(
  replicas: readonly ReplicaView[],
  member: string,
  question: string,
): SecondOpinion | undefined {
  const second = secondOf(replicas, member);
  if (second === undefined) return undefined;
  const answer = second.report.answers.get(member);
  if (answer?.question !== question) return "awaited";
  return answer.isReached ? "disagrees" : "agrees";
}

/** The question about a member that this replica has to answer; undefined: none. */
export function questionFor(
  self: string,
  replicas: readonly ReplicaView[],
  member: string,
): string | undefined {
  if (secondOf(replicas, member)?.name !== self) return undefined;
  return ownerOf(replicas, member)?.report.questions.get(member);
}
