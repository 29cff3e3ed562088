import { describe, expect, it } from "vitest";
import { UsageError } from "./failure.ts";
import { parseTokens } from "./token-file.ts";

describe("token files", () => {
  it("read users with uid and groups; every user is also authenticated", () => {
    const text = '# people\nabc,ann,u1,"ops,system:masters"\n\ndef,bob,\r\n';
    expect([...parseTokens(text, "f")]).toEqual([
      [
        "abc",
        { name: "ann", uid: "u1", groups: ["ops", "system:masters", "system:authenticated"] },
      ],
      ["def", { name: "bob", groups: ["system:authenticated"] }],
    ]);
  });

  it.each([
    ["a line without user", "abc\n", "line 1: a token and a user are needed"],
    ["an empty token", "ok,ann\n,bob,1\n", "line 2: a token and a user are needed"],
    ["a token twice", "abc,ann\nabc,bob\n", "line 2: the same token stands above"],
  ])("refuse %s, naming the line and never the token", (_name, text, message) => {
    const parse = (): unknown => parseTokens(text, "tokens.csv");
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow("abc");
  });
});
