import { describe, expect, it } from "vitest";
import {
  API_AUDIENCE,
  createStaticTokens,
  createTokenAuthentication,
  type ProvenUser,
  type TokenAuthenticator,
} from "./tokens.ts";

const BOB = { name: "bob", groups: ["dev"] };

function knows(
  tokens: Readonly<Record<string, ProvenUser>>,
  asked: string[],
  isSlow: boolean,
): TokenAuthenticator {
  return {
    authenticate: (token) => {
      asked.push(token);
      return isSlow ? Promise.resolve(tokens[token]) : tokens[token];
    },
  };
}

describe("a chain of authenticators", () => {
  it("answers a static token at once, without asking the others", () => {
    const asked: string[] = [];
    const chain = createTokenAuthentication([
      createStaticTokens(new Map([["t", BOB]])),
      knows({}, asked, true),
    ]);
    expect(chain("t")).toEqual({
      user: { name: "bob", groups: ["dev", "system:authenticated"] },
      audiences: [API_AUDIENCE],
    });
    expect(asked).toEqual([]);
  });

  it.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])("asks in order until one knows (slow: %s, %s)", async (first, second) => {
    const asked: string[] = [];
    const last: string[] = [];
    const chain = createTokenAuthentication([
      knows({}, asked, first),
      knows({ t: { user: BOB } }, asked, second),
      knows({ t: { user: { name: "eve", groups: [] } } }, last, false),
    ]);
    expect(await chain("t")).toMatchObject({ user: { name: "bob" } });
    expect(asked).toEqual(["t", "t"]);
    expect(last).toEqual([]);
    expect(await chain("u")).toBeUndefined();
  });

  it("refuses a token that was issued for others only", () => {
    const vault = { user: BOB, audiences: ["vault", "x"] };
    const chain = createTokenAuthentication([knows({ v: vault, t: { user: BOB } }, [], false)]);
    expect(chain("v")).toBeUndefined();
    expect(chain("v", ["y", "vault"])).toMatchObject({ audiences: ["vault"] });
    expect(chain("t", ["vault"])).toBeUndefined();
  });

  it("does not show a huge token to any authenticator", () => {
    const asked: string[] = [];
    const chain = createTokenAuthentication([knows({}, asked, false)]);
    expect(chain("a".repeat(100_000))).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
