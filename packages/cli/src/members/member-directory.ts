/** What the processes around simulated members agree on: where things are, and what a member is called. */
import { join } from "node:path";
import type { Owner } from "@lifeboat/apiserver/adapters";

/** How many members there may be: each has an API server and a port. */
export const MAX_MEMBERS = 50;

/** The process that runs the members, and what it was asked for. */
export interface MembersProcess extends Owner {
  readonly settings: MembersSettings;
  /** Whether all members are there and listen. */
  readonly isServing: boolean;
}

/** What was asked for; a process that runs with other settings is replaced. */
export interface MembersSettings {
  readonly members: number;
  readonly nodes: number;
  readonly startDelaySeconds: number;
  readonly kubeconfigDirectory: string;
  readonly planeKubeconfig: string;
  /** Whether the Services of members answer HTTP requests on loopback. */
  readonly serveHttp: boolean;
  /** The times of the members' agents; absent: the control plane reaches the members (Push). */
  readonly agents?: AgentTimes;
}

/** How often agents report, as their flags say it. */
export interface AgentTimes {
  readonly statusUpdateFrequencyMs: number;
  readonly failureThresholdMs: number;
  readonly successThresholdMs: number;
  readonly leaseDurationMs: number;
  readonly leaseRenewFraction: number;
}

export function memberName(number: number): string {
  return `member${number}`;
}

export function membersDirectory(dataDirectory: string): string {
  return join(dataDirectory, "members");
}

/** Names the process that runs the members. */
export function processFile(directory: string): string {
  return join(directory, "process.json");
}

/** Names the `lifeboat up` for which it runs. */
export function parentFile(directory: string): string {
  return join(directory, "parent.json");
}

export function logFile(directory: string): string {
  return join(directory, "members.log");
}
