/** Damaged bodies and noise: each is read or refused with a ProtobufError, and what was read can be normalized. */
import { createRandom, type Random } from "@lifeboat/base";
import fc from "fast-check";
import { expect, it } from "vitest";
import recorded from "../fixtures/protobuf.json" with { type: "json" };
import { builtinSchema } from "../schema.ts";
import { decodeProtobuf } from "./decode.ts";
import { ProtobufError } from "./reader.ts";

const bodies = (recorded as readonly { readonly protobuf: string }[]).map(({ protobuf }) =>
  Uint8Array.from(atob(protobuf), (char) => char.charCodeAt(0)),
);

function pickBody(random: Random): Uint8Array {
  const body = bodies.at(random.below(bodies.length));
  if (body === undefined) throw new Error("there are no bodies");
  return body.slice();
}

/** Whether the body could be read. */
function survives(bytes: Uint8Array): boolean {
  try {
    const { apiVersion, kind, object } = decodeProtobuf(bytes);
    expect(builtinSchema(apiVersion, kind)?.normalize(object).ok).toBeTypeOf("boolean");
    return true;
  } catch (error) {
    if (error instanceof ProtobufError) return false;
    throw error;
  }
}

it("reads or refuses damaged bodies", { timeout: 120_000 }, () => {
  let read = 0;
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      if (survives(damage(createRandom(seed)))) read += 1;
    }),
    { numRuns: 100_000 },
  );
  expect(read).toBeGreaterThan(1000);
});

it("reads or refuses noise in the place of an object", { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = createRandom(seed);
      const bytes = pickBody(random);
      const start = Math.min(bytes.length, 60);
      for (let i = start; i < bytes.length; i++) bytes[i] = random.below(256);
      survives(bytes);
    }),
    { numRuns: 100_000 },
  );
});

/** A recorded body with one to four pieces changed, lost, doubled or cut off. */
function damage(random: Random): Uint8Array {
  let bytes = pickBody(random);
  for (let times = 1 + random.below(4); times > 0 && bytes.length > 0; times--) {
    const at = random.below(bytes.length);
    const end = Math.min(bytes.length, at + 1 + random.below(8));
    switch (random.below(4)) {
      case 0:
        bytes[at] = random.below(256);
        break;
      case 1:
        bytes = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(end)]);
        break;
      case 2:
        bytes = Uint8Array.from([...bytes.subarray(0, end), ...bytes.subarray(at)]);
        break;
      default:
        if (random.below(4) === 0) bytes = bytes.slice(0, at);
        else bytes[at] = (bytes.at(at) ?? 0) ^ (1 << random.below(8));
    }
  }
  return bytes;
}
