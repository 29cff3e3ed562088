/**
 * How many replicas a cluster has room for: by what is free in all, by its nodes where they are counted by grade, and
 * without what was given to it and does not show in its status yet.
 *
 * 1. A cluster whose room was never reported, or that lacks a requested resource, has no room.
 * 2. A node has at least the amount at the lower end of its grade, which is what counts. The lowest grade starts at
 *    nothing: its nodes share what the others leave of the whole, each at most its upper end.
 * 3. A resource that the grades do not contain is judged by the whole alone.
 * 4. A node takes no more pods than the cluster's nodes do on average: grades do not count pods.
 */
import { type Amounts, type ClusterRoom, type NodeGrade, PODS } from "./candidate.ts";

/** More than any workload asks for; it stands for "no limit". */
export const UNLIMITED = 2 ** 31 - 1;

/** What was promised to workloads of a cluster and does not show in its status yet, pods included. */
export type Reserved = Amounts;

/** `request`: what one replica asks for; undefined: nothing but a pod. */
export function roomFor(
  room: ClusterRoom | undefined,
  request: Amounts | undefined,
  reserved: Reserved | undefined,
): number {
  if (room === undefined) return 0;
  let fits = leftOf(room, reserved, PODS);
  if (request === undefined) return atMost(fits);
  for (const [name, amount] of request) {
    if (amount <= 0) continue;
    fits = Math.min(fits, Math.floor(leftOf(room, reserved, name) / amount));
  }
  if (room.grades.length === 0) return atMost(fits);
  return atMost(Math.min(fits, byNodes(room, request, reserved)));
}

function atMost(replicas: number): number {
  return Math.min(UNLIMITED, Math.max(0, replicas));
}

function leftOf(room: ClusterRoom, reserved: Reserved | undefined, name: string): number {
  return Math.max(0, (room.free.get(name) ?? 0) - (reserved?.get(name) ?? 0));
}

function byNodes(room: ClusterRoom, request: Amounts, reserved: Reserved | undefined): number {
  let fits = 0;
  for (const grade of room.grades)
    fits += isLowest(grade)
      ? onLowestGrade(room, grade, request)
      : onNodes(grade.count, grade.min, request, room.podsPerNode);
  return Math.max(0, fits - alreadyGiven(request, reserved));
}

function isLowest({ min }: NodeGrade): boolean {
  for (const amount of min.values()) if (amount > 0) return false;
  return true;
}

/** How many replicas so many nodes take, each with this capacity. */
function onNodes(count: number, capacity: Amounts, request: Amounts, podsPerNode: number): number {
  if (count === 0) return 0;
  let fits = podsPerNode;
  for (const [name, amount] of request) {
    const has = capacity.get(name);
    if (has !== undefined && amount > 0) fits = Math.min(fits, Math.floor(has / amount));
  }
  return count * fits;
}

function onLowestGrade(room: ClusterRoom, grade: NodeGrade, request: Amounts): number {
  if (grade.count === 0) return 0;
  let fits = onNodes(grade.count, grade.max, request, room.podsPerNode);
  for (const [name, amount] of request) {
    if (amount <= 0 || !grade.max.has(name)) continue;
    let left = room.free.get(name) ?? 0;
    for (const { count, min } of room.grades) left -= count * (min.get(name) ?? 0);
    fits = Math.min(fits, Math.max(0, Math.floor(left / amount)));
  }
  return fits;
}

/** What was promised, in replicas of this request. */
function alreadyGiven(request: Amounts, reserved: Reserved | undefined): number {
  if (reserved === undefined) return 0;
  let given = 0;
  for (const [name, amount] of request)
    if (amount > 0) given = Math.max(given, Math.ceil((reserved.get(name) ?? 0) / amount));
  return given;
}
