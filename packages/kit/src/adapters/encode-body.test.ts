import { decodeJson, inexactIntegerIn } from "@lifeboat/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeBody } from "./http-codec.ts";

describe("the body of a request", () => {
  it("is plain JSON where every integer is exact", () => {
    const body = { a: 2 ** 53 - 1, b: "1234567890123456789", c: [1.5, -7, 1e21], d: null };
    expect(encodeBody(body)).toBe(JSON.stringify(body));
  });

  it("has an exponent where an integer is not, and can be told for one by its reader", () => {
    const body = { status: { big: 2 ** 53, small: -(2 ** 60), text: `#${2 ** 53}` } };
    const text = encodeBody(body);
    expect(text).toBe(
      '{"status":{"big":9.007199254740992e+15,"small":-1.152921504606847e+18,"text":"#9007199254740992"}}',
    );
    expect(inexactIntegerIn(JSON.parse(text))).toBe("status.big");
    // The embedded server refuses the plain form, and takes this one.
    expect(() => decodeJson(JSON.stringify(body))).toThrow("beyond the supported range");
    expect(decodeJson(text).value).toEqual(body);
  });

  it("holds what was given, whatever texts a member reports", () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        fc.constantFrom(2 ** 53, -(2 ** 70), 1e300, 7),
        fc.stringMatching(/^#{0,3}-?[0-9.e+"\\]{0,20}$/),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(fc.stringMatching(/^[#a-c]{0,3}$/), tie("any"), { maxKeys: 3 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, (body) => {
        expect(JSON.parse(encodeBody({ body }))).toEqual(JSON.parse(JSON.stringify({ body })));
      }),
      { numRuns: 500 },
    );
  });
});
