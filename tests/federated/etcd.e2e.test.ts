/**
 * A real etcd cluster over a federated StatefulSet, as examples/federated/etcd.yaml gives it: processes that stand for the pods of
 * three members find each other by SRV records, form a quorum, and keep every key that was written while a whole cluster is lost,
 * returns, and the set is scaled up and down.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from "vitest";
import { eventually } from "../support/eventually.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { DOMAIN, type EtcdFleet, exampleSet, startEtcdFleet } from "./etcd-fleet.ts";

const directory = temporaryDirectory("etcd-example");
let fleet: EtcdFleet;
/** By key: what etcd acknowledged. */
const written = new Map<string, string>();

beforeAll(async () => {
  fleet = await startEtcdFleet();
  const file = join(directory, "example.json");
  writeFileSync(file, exampleSet());
  await fleet.kubectl("apply", "-f", file);
});
afterAll(async () => {
  await fleet?.stop();
  removeDirectory(directory);
});

beforeEach(() => onTestFailed(() => console.log(fleet.history())));

/** Writes so many keys, one after another; once there is a leader, every one of them must be acknowledged. */
async function write(purpose: string, count = 3): Promise<void> {
  await elected();
  for (let i = 0; i < count; i++) {
    const key = `${purpose}/${i}`;
    const value = `${purpose} ${written.size}`;
    expect(await fleet.etcdctl("put", key, value)).toBe("OK\n");
    written.set(key, value);
  }
}

/** Until etcd has elected another leader, where it lost the one it had: what is asked before that has no answer. */
function elected(): Promise<void> {
  return eventually(async () => void (await fleet.etcdctl("get", "formed/0")), 30_000);
}

/** The names and ids of etcd's members that have started. */
async function members(): Promise<ReadonlyMap<string, string>> {
  const lines = (await fleet.etcdctl("member", "list")).trim().split("\n");
  const parts = lines.map((line) => line.split(", "));
  return new Map(
    parts.filter((part) => part[1] === "started").map((part) => [part[2] ?? "", part[0] ?? ""]),
  );
}

async function membersAre(...names: readonly string[]): Promise<void> {
  await eventually(async () => {
    expect([...(await members()).keys()].sort()).toEqual(names.toSorted());
  }, 60_000);
}

/** Each of these has, in its own copy, every key that was acknowledged. */
async function everyKeyIsIn(...pods: readonly string[]): Promise<void> {
  for (const pod of pods) {
    await eventually(async () => {
      const asked = [`--endpoints=http://${pod}.${DOMAIN}:2379`, "get", "", "--prefix"];
      const lines = (await fleet.etcdctl(...asked, "--consistency=s")).trimEnd().split("\n");
      const found = new Map<string, string>();
      for (let i = 0; i < lines.length; i += 2) found.set(lines[i] ?? "", lines[i + 1] ?? "");
      expect(found).toEqual(written);
    }, 30_000);
  }
}

/** The pods that the governing name lists. */
async function listed(): Promise<readonly string[]> {
  const answer = await fleet.dig("+short", "SRV", `_etcd-server._tcp.${DOMAIN}`);
  return [...answer.matchAll(/2380 (\S+?)\.etcd\.default/g)].map(([, pod]) => pod ?? "").sort();
}

const THREE = ["store-member1-0", "store-member2-0", "store-member3-0"] as const;

it("forms a quorum over three clusters, found by its SRV records", async () => {
  await membersAre(...THREE);
  expect(await listed()).toEqual(THREE);
  await write("formed");
  await everyKeyIsIn(...THREE);
});

it("goes on while a cluster is lost, and takes it back with the same identity", async () => {
  const before = await members();
  await fleet.lose("member1");
  await write("lost");
  await eventually(async () => expect(await listed()).toEqual(THREE.slice(1)), 30_000);
  await write("left");
  await everyKeyIsIn("store-member2-0", "store-member3-0");
  await fleet.giveBack("member1");
  await eventually(async () => expect(await listed()).toEqual(THREE), 30_000);
  await everyKeyIsIn(...THREE);
  expect(await members()).toEqual(before);
});

it("replaces a member whose node and volume are lost, and forms no second quorum", async () => {
  const before = await members();
  // The one that formed the quorum, by its SRV records; now there is another to join.
  await fleet.loseNode("member1", "store-member1-0");
  await eventually(async () => {
    const after = await members();
    expect([...after.keys()].sort()).toEqual(THREE);
    expect(after.get("store-member1-0")).not.toBe(before.get("store-member1-0"));
  }, 60_000);
  await write("replaced");
  await everyKeyIsIn(...THREE);
});

it("grows by members that join one after another, and shrinks when etcd has let them go", async () => {
  const before = await members();
  const five = [...THREE, "store-member1-1", "store-member2-1"].toSorted();
  await fleet.kubectl("scale", "statefulset", "store", "--replicas=5");
  await membersAre(...five);
  await write("five");
  await everyKeyIsIn(...five);

  await fleet.kubectl("scale", "statefulset", "store", "--replicas=3");
  await eventually(async () => {
    const leaving = ["get", "configmap", "store-peers", "-o", "jsonpath={.data.leaving}"];
    expect(await fleet.kubectl(...leaving)).toMatch(/^store-member2-1\//);
  }, 30_000);
  // Nothing has gone: etcd counts on all five.
  await write("leaving");
  await everyKeyIsIn(...five);
  expect(await listed()).toEqual(five);

  await eventually(async () => {
    await fleet.letGo();
    expect(await listed()).toEqual(THREE);
  }, 60_000);
  expect(await members()).toEqual(before);
  await write("three");
  await everyKeyIsIn(...THREE);
});
