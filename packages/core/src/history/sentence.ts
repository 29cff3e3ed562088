/** An entry of the history as one sentence, the same in `history`, in `watch` and in the log. */
import type { LedgerEntry } from "@lifeboat/api";
import type { Workload } from "./facts.ts";

/** `deployment shop/web` */
export function workloadText({ kind, namespace, name }: Workload): string {
  const where = namespace === undefined ? name : `${namespace}/${name}`;
  return kind === "" ? where : `${kind.toLowerCase()} ${where}`;
}

/** What happened, without its time. */
export function entrySentence(entry: LedgerEntry): string {
  const { by, reason, message = "" } = entry;
  // An approval and a rate have their reason in the object as well.
  const why = reason === undefined || message.includes(reason) ? "" : `: ${reason}`;
  const who = by === undefined ? "" : `, by ${by}${why}`;
  return `${whatHappened(entry)}${who}`;
}

function whatHappened(entry: LedgerEntry): string {
  const { action, cluster = "", evacuation = "", message = "" } = entry;
  const workload = entry.workload === undefined ? "" : workloadText(entry.workload);
  const more = message === "" ? "" : ` (${message})`;
  switch (action) {
    case "Joined":
      return `${cluster} joined`;
    case "Left":
      return `${cluster} left the fleet`;
    case "Ready":
      return `${cluster} is ready`;
    case "NotReady":
      return `${cluster} failed: ${message}`;
    case "Tainted":
      return `${cluster} got the ${message}`;
    case "Untainted":
      return `${cluster} lost the ${message}`;
    case "Fenced":
      return `${cluster} was declared off`;
    case "FenceLifted":
      return `${cluster} no longer counts as off`;
    case "ActionBegan":
      return `a Remedy acts on ${cluster}: ${message}`;
    case "ActionEnded":
      return `a Remedy no longer acts on ${cluster}: ${message}`;
    case "EvacuationBegan":
      return `evacuation ${evacuation} of ${cluster} begins, ${message}`;
    case "EvacuationEnded":
      return `evacuation ${evacuation} of ${cluster} ended, ${message}`;
    case "Paused":
      return `evacuation ${evacuation} was paused`;
    case "Resumed":
      return `evacuation ${evacuation} goes on`;
    case "Held":
      return `${workload} is held on ${cluster}, ${message}`;
    case "Abandoned":
      return `${workload} was taken out of evacuation ${evacuation} and stays on ${cluster}`;
    case "Evicted":
      return `${workload} leaves ${cluster}${more}`;
    case "Cleared":
      return `${workload} has left ${cluster}`;
    case "TakenBack":
      return `${workload} stays on ${cluster} after all`;
    case "Placed":
      return `${workload} runs on ${message}`;
    case "Removed":
      return `${workload} was removed`;
    case "AllPaused":
      return "all evacuations were paused";
    case "AllResumed":
      return "all evacuations go on";
    case "PartPaused":
      return `evacuations of ${message} were paused`;
    case "PartResumed":
      return `evacuations of ${message} go on`;
    case "RateSet":
      return `the rate was set to ${message}`;
    case "RateReset":
      return "the rate that was set no longer holds";
    case "Approved":
      return `evacuation ${evacuation} was approved${more}`;
    case "Agreed":
      return `a person agreed: ${message}`;
    case "RemedyMade":
      return `${message} was made`;
    case "RemedyDeleted":
      return `${entry.subject.kind} ${entry.subject.name} was deleted`;
    default:
      return `${action} ${cluster}${more}`;
  }
}
