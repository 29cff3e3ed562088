import { describe, expect, it } from "vitest";
import { answerDatagram, answerStream, truncatedAnswer } from "./answer.ts";
import {
  APEX,
  answeringWith,
  ask,
  type AskOptions,
  exampleSet,
  exampleZone,
  KEY,
  must,
  readMessage,
} from "./dns.suite.ts";
import { RCODES, TSIG_ERRORS, TYPES, type TypeName } from "./wire/constants.ts";
import { wireName } from "./wire/names.ts";
import { checkSignature, sign } from "./wire/tsig.ts";
import { readQuery } from "./wire/query.ts";
import { type ReadRecord, readRecord, u16 } from "./wire/records.ts";
import { nodeHmac } from "./adapters/hmac.ts";
import { Zone } from "./zone/zone.ts";

const zone = exampleZone();
const bytesOf = (name: string, type: TypeName | number, options: AskOptions = {}, of = zone) =>
  answerDatagram(ask(name, type, options), answeringWith(of));
const reply = (name: string, type: TypeName | number, options: AskOptions = {}, of = zone) =>
  readMessage(bytesOf(name, type, options, of)!);

describe("the example in one datagram (D28)", () => {
  it.each(["store", "etcd", "_store._tcp.store", "_store._tcp.etcd"])(
    "%s: eleven targets with their addresses in at most 1,232 bytes",
    (name) => {
      const bytes = bytesOf(`${name}.mynamespace.${APEX}`, "SRV", { edns: 1232 })!;
      expect(bytes.length).toBeLessThanOrEqual(1232);
      const { answers, additionals, flags, isTruncated } = readMessage(bytes);
      expect(answers).toHaveLength(11);
      expect(answers[0]).toBe(
        `${name}.mynamespace.${APEX} SRV 0 1 80 store-c1-0.etcd.mynamespace.${APEX}.`,
      );
      expect(additionals).toHaveLength(12);
      expect(additionals[10]).toBe(`store-c3-2.etcd.mynamespace.${APEX} A 192.0.0.11`);
      expect(isTruncated).toBe(false);
      // Authoritative, recursion asked for and not offered.
      expect(flags).toBe(0x8500);
    },
  );

  it("without EDNS the additional records are left out before anything is truncated", () => {
    const { answers, additionals, isTruncated } = reply(`store.mynamespace.${APEX}`, "SRV");
    expect([answers.length, additionals.length, isTruncated]).toEqual([11, 0, false]);
  });

  it("a hundred members are truncated, and come whole by connection", () => {
    const large = exampleZone([exampleSet(5, 20)]);
    const question = ask(`store.mynamespace.${APEX}`, "SRV", { edns: 4096 });
    const short = answerDatagram(question, answeringWith(large))!;
    expect(short.length).toBeLessThan(100);
    expect(readMessage(short)).toMatchObject({ isTruncated: true, answers: [] });
    const [whole] = [...answerStream(question, answeringWith(large))];
    expect(readMessage(must(whole)).answers).toHaveLength(100);
  });

  it("answers in the case of the question, whatever it is", () => {
    const { answers } = reply(`StOrE.MyNamespace.${APEX}`, "A");
    expect(answers).toHaveLength(11);
    expect(answers[0]).toBe(`StOrE.MyNamespace.${APEX} A 192.0.0.1`);
  });
});

describe("negative answers", () => {
  const soa = `${APEX} SOA ns.${APEX}. hostmaster.${APEX}. 7 300 60 604800 5`;

  it.each([
    ["no such name", `nosuch.mynamespace.${APEX}`, "A", RCODES.NXDOMAIN],
    ["a name without the type", `store-c1-0.mynamespace.${APEX}`, "AAAA", RCODES.NOERROR],
    ["a parent of names", `mynamespace.${APEX}`, "A", RCODES.NOERROR],
    ["a parent of service names", `_tcp.etcd.mynamespace.${APEX}`, "SRV", RCODES.NOERROR],
    ["the apex without the type", APEX, "TXT", RCODES.NOERROR],
    ["an unknown type", `store.mynamespace.${APEX}`, 65_280, RCODES.NOERROR],
  ] as const)("%s has the start of authority", (_what, name, type, rcode) => {
    expect(reply(name, type)).toMatchObject({ rcode, answers: [], authorities: [soa] });
  });

  it.each(["example.com", "svc.example.com", `x${APEX}`, "."])("%s is refused", (name) => {
    expect(reply(name, "A")).toMatchObject({ rcode: RCODES.REFUSED, authorities: [] });
    expect(reply(name, "A").flags & 0x0400).toBe(0);
  });

  it("a label that holds the apex's bytes is not below it", () => {
    // One label of 3 + apex bytes: the apex stands inside a label, not behind one.
    const apex = wireName(APEX).slice(0, -1);
    const name = Uint8Array.from([apex.length + 2, 120, 120, ...apex, 0]);
    const question = Uint8Array.from([...ask(".", "A").slice(0, 12), ...name, 0, 1, 0, 1]);
    expect(readMessage(answerDatagram(question, answeringWith(zone))!).rcode).toBe(RCODES.REFUSED);
  });
});

describe("other questions", () => {
  it("the apex has its servers and their addresses", () => {
    expect(reply(APEX, "NS")).toMatchObject({
      answers: [`${APEX} NS ns.${APEX}.`],
      additionals: [`ns.${APEX} A 192.0.2.53`],
    });
    expect(reply(APEX, "SOA").answers).toHaveLength(1);
  });

  it("RFC 8482: everything is answered with a hint, and not amplified", () => {
    const bytes = bytesOf(`store.mynamespace.${APEX}`, "ANY")!;
    expect(readMessage(bytes).answers).toEqual([`store.mynamespace.${APEX} HINFO "RFC8482" ""`]);
    expect(bytes.length).toBeLessThan(100);
  });

  it("the address of a member leads back to its pod, and to nothing else of the tree of addresses", () => {
    const name = "6.0.0.192.in-addr.arpa";
    const target = `store-c2-1.etcd.mynamespace.${APEX}`;
    expect(reply(name, "PTR")).toMatchObject({
      rcode: RCODES.NOERROR,
      flags: 0x8500,
      answers: [`${name} PTR ${target}.`],
      authorities: [],
    });
    const none = { rcode: RCODES.NOERROR, answers: [], authorities: [] };
    expect(reply(name, "A")).toMatchObject(none);
    for (const other of ["0.0.192.in-addr.arpa", "99.0.0.192.in-addr.arpa", "in-addr.arpa"])
      expect(reply(other, "PTR").rcode).toBe(RCODES.REFUSED);
    expect(reply(name, "PTR", { class: 3 }).rcode).toBe(RCODES.REFUSED);
    // What is transferred is the zone.
    expect(zone.nodes().some(({ records }) => records.some(({ type }) => type === TYPES.PTR))).toBe(
      false,
    );
  });

  it("an alias answers any type but leads elsewhere", () => {
    const [first, ...others] = exampleSet().members;
    const member = { ...must(first), addresses: [], hostName: "lb.cloud.example" };
    const aliased = exampleZone([{ ...exampleSet(), members: [member, ...others] }]);
    const alias = `store-c1-0.mynamespace.${APEX} CNAME lb.cloud.example.`;
    for (const type of ["A", "AAAA", "CNAME"] as const)
      expect(reply(`store-c1-0.mynamespace.${APEX}`, type, {}, aliased).answers).toEqual([alias]);
  });

  it.each([
    ["an unknown version of EDNS", { edns: 1232, ednsVersion: 1 }, RCODES.BADVERS & 0xf],
    ["an update", { flags: 5 << 11 }, RCODES.NOTIMP],
    ["another class", { class: 3 }, RCODES.REFUSED],
  ])("%s is refused", (_what, options, rcode) => {
    expect(reply(`store.mynamespace.${APEX}`, "A", options).rcode).toBe(rcode);
  });

  it("before anything was read, nothing is said about names", () => {
    const bytes = answerDatagram(ask(APEX, "SOA"), answeringWith(undefined))!;
    expect(readMessage(bytes).rcode).toBe(RCODES.SERVFAIL);
  });

  it("what is no query gets no answer, and what is malformed is refused", () => {
    const question = ask(APEX, "SOA");
    expect(answerDatagram(question.slice(0, 11), answeringWith(zone))).toBeUndefined();
    expect(
      answerDatagram(ask(APEX, "SOA", { flags: 0x8000 }), answeringWith(zone)),
    ).toBeUndefined();
    expect(truncatedAnswer(question.slice(0, 11))).toBeUndefined();
    for (const broken of [question.slice(0, 20), question.with(12, 0xc0), question.with(5, 2)])
      expect(readMessage(answerDatagram(broken, answeringWith(zone))!).rcode).toBe(RCODES.FORMERR);
  });

  it("a limited asker gets no more than its question back", () => {
    const question = ask(`store.mynamespace.${APEX}`, "SRV");
    const bytes = truncatedAnswer(question)!;
    expect(bytes.length).toBe(question.length);
    expect(readMessage(bytes).isTruncated).toBe(true);
  });
});

describe("transfers and signatures", () => {
  const now = 1_000_000;
  const signed = (message: Uint8Array, key = KEY, at = now) =>
    sign(message, key, { hmac: nodeHmac, now: at });
  const axfr = ask(APEX, "AXFR", { flags: 0 });
  const tsigError = (message: Uint8Array): number => {
    const { tsig } = readQuery(message.with(2, must(message[2]) & 0x7f))!;
    return u16(
      tsig!.data,
      tsig!.data.length - 4 - (u16(tsig!.data, tsig!.data.length - 2) > 6 ? 6 : 0),
    );
  };

  it("a transfer with the key has every record between two starts of authority", () => {
    const large = exampleZone([exampleSet(10, 60)]);
    const request = signed(axfr);
    const messages = [...answerStream(request.message, answeringWith(large))];
    expect(messages.length).toBeGreaterThan(1);
    const lines = messages.flatMap((message) => readMessage(message).answers);
    expect(lines[0]).toBe(lines.at(-1));
    expect(lines[0]).toContain("SOA");
    const all = large.nodes().flatMap(({ records }) => records);
    expect(lines).toHaveLength(all.length + 1);
  });

  it("every message of a transfer is signed, the first one over the request", () => {
    const request = signed(axfr);
    const first = must([...answerStream(request.message, answeringWith(zone))][0]);
    const { tsig } = readQuery(first.with(2, 0).with(6, 0).with(7, 0)) ?? {};
    expect(tsig).toBeUndefined();
    let at = 12;
    at += APEX.length + 2 + 4;
    let record: ReadRecord | undefined;
    for (let count = u16(first, 6) + u16(first, 10); count > 0; count -= 1)
      ({ record, end: at } = readRecord(first, at));
    const checked = checkSignature(
      first,
      must(record),
      { keys: [KEY], hmac: nodeHmac, now },
      request.mac,
    );
    expect(checked.kind).toBe("valid");
    const wrong = checkSignature(
      first,
      must(record),
      { keys: [KEY], hmac: nodeHmac, now },
      KEY.secret,
    );
    expect(wrong.kind).toBe("refused");
  });

  it.each([
    ["no signature", axfr, RCODES.REFUSED],
    [
      "another secret",
      signed(axfr, { ...KEY, secret: KEY.secret.with(0, 1) }).message,
      RCODES.NOTAUTH,
    ],
    ["an unknown key", signed(axfr, { ...KEY, name: wireName("other") }).message, RCODES.NOTAUTH],
    ["an old signature", signed(axfr, KEY, now - 301).message, RCODES.NOTAUTH],
  ])("a transfer with %s is refused", (_what, request, rcode) => {
    const messages = [...answerStream(request, answeringWith(zone))];
    expect(messages).toHaveLength(1);
    expect(readMessage(must(messages[0]))).toMatchObject({ rcode, answers: [] });
  });

  it("names what is wrong with a signature", () => {
    const errorOf = (request: Uint8Array): number =>
      tsigError(must([...answerStream(request, answeringWith(zone))][0]));
    expect(errorOf(signed(axfr, { ...KEY, name: wireName("other") }).message)).toBe(
      TSIG_ERRORS.BADKEY,
    );
    expect(errorOf(signed(axfr, { ...KEY, secret: KEY.secret.with(0, 1) }).message)).toBe(
      TSIG_ERRORS.BADSIG,
    );
  });

  it("a changed byte anywhere in a signed question is noticed", () => {
    const question = ask(`store.mynamespace.${APEX}`, "SRV", { flags: 0 });
    const request = signed(question).message;
    for (let at = 12; at < question.length; at += 1) {
      const changed = request.with(at, must(request[at]) ^ 0x20);
      const { rcode } = readMessage(answerDatagram(changed, answeringWith(zone))!);
      expect([RCODES.NOTAUTH, RCODES.FORMERR, RCODES.REFUSED], `byte ${at}`).toContain(rcode);
    }
  });

  it("by datagram there is no transfer, with or without a signature", () => {
    expect(readMessage(answerDatagram(axfr, answeringWith(zone))!).rcode).toBe(RCODES.REFUSED);
    const refused = answerDatagram(signed(axfr).message, answeringWith(zone))!;
    expect(readMessage(refused).rcode).toBe(RCODES.REFUSED);
  });

  it("a signed question gets a signed answer within the limit", () => {
    const request = signed(ask(`store.mynamespace.${APEX}`, "SRV", { edns: 1232, flags: 0 }));
    const bytes = answerDatagram(request.message, answeringWith(zone))!;
    expect(bytes.length).toBeLessThanOrEqual(1232);
    expect(readMessage(bytes).additionals.at(-1)).toContain("TSIG");
  });
});

describe("zones", () => {
  it("records of one name are unique, and a lookup ignores case", () => {
    const address = Uint8Array.from([192, 0, 2, 1]);
    const double = new Zone({
      apex: "a",
      serial: 1,
      ttl: 5,
      nameServers: ["ns.a"],
      names: [
        {
          name: "b.a",
          records: [
            { type: TYPES.A, address },
            { type: TYPES.A, address },
          ],
        },
      ],
    });
    const wire = wireName("b.a");
    expect(
      double.find(
        wire.map((byte) => (byte === 98 ? 66 : byte)),
        0,
        wire.length,
      )?.records,
    ).toHaveLength(1);
  });
});
