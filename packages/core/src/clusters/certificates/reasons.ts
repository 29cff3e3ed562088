/** What becomes of a certificate request, and why. */
import { defineReasons } from "../../plan.ts";

export const requestReasons = defineReasons({
  LeftToAPerson:
    "The request is for no agent, or its user is none that agents have: a person decides.",
  Answered: "The request has its answer.",
  AgentRegisters: "The agent of a cluster that is not registered yet presents a bootstrap token.",
  AgentReturns: "The bootstrap token was given for this cluster: its agent may register again.",
  AgentRenews: "The agent asks for its own identity again.",
  DetectorRenews: "The detector asks for its own identity again.",
  Signed: "The request is approved and gets its certificate.",
  Unreadable: "The request cannot be read, or is not signed by its own key.",
  TooLarge: "The request is larger than any that an agent makes.",
  WrongSubject: "The subject is not exactly the identity of one cluster's agent or detector.",
  WrongCluster:
    "The user of the request may not ask for the identity of this cluster's agent or detector.",
  WrongUsages: "The certificate is for client authentication and nothing else.",
  WrongExtensions:
    "The certificate of an agent or a detector has no other names and no extensions of its own.",
  NoDetector: "No detector is registered for this cluster: run lifeboat register --detector again.",
  WrongKey: "The key is of a kind or size that is not accepted.",
  TokenRefused: "The bootstrap token does not count for this registration.",
  RightsWriter:
    "The control plane alone writes the rights of agents (karmadactl register asks to write them itself): register the cluster with lifeboat register.",
  ReservedName: "A cluster of this name would share a Secret with another one.",
  NameTaken: "A cluster of this name is registered already.",
  TooLong:
    "Another process signs here, for as long as a request asks for: an agent's has to ask for 24 hours at most (spec.expirationSeconds), a detector's for a year.",
  Revoked: "The certificates of its user were revoked since the request was made: ask again.",
  Left: "The cluster has left since the request was made.",
  JustLeft: "A cluster of this name left within this second.",
});

export type RequestReason = keyof typeof requestReasons;
