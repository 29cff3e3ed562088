/** Which headers pass, and as which user a member is asked. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  impersonation,
  impersonationProblem,
  isKnownUpgrade,
  passedByAgent,
  passedToCaller,
  passedToMember,
  upgradeOf,
} from "./headers.ts";

describe("to a member", () => {
  it("nothing passes that tells who the caller is, or belongs to its connection", () => {
    const headers = {
      accept: "a",
      "content-type": "b",
      authorization: "Bearer x",
      cookie: "c",
      host: "h",
      connection: "close, X-Mine",
      "x-mine": "m",
      "keep-alive": "1",
      te: "trailers",
      "transfer-encoding": "chunked",
      upgrade: "h2c",
      "proxy-authorization": "p",
      "impersonate-user": "root",
      "impersonate-extra-a": "b",
      "x-remote-group": "system:masters",
      "x-forwarded-for": "f",
      forwarded: "f",
      expect: "100-continue",
      "lifeboat-session": "s",
      ":authority": "a",
      "audit-id": "i",
    };
    expect(passedToMember(headers)).toEqual([
      ["accept", "a"],
      ["content-type", "b"],
      ["audit-id", "i"],
    ]);
  });

  it("the caller is named as servers read it", () => {
    const extra = { "authentication.kubernetes.io/credential-id": ["X509=a"], Ü: ["1", "2"] };
    const caller = { name: "bob", uid: "7", groups: ["devs", "system:authenticated"], extra };
    expect(impersonation(caller)).toEqual([
      ["impersonate-user", "bob"],
      ["impersonate-group", "devs"],
      ["impersonate-uid", "7"],
      ["impersonate-extra-authentication.kubernetes.io%2fcredential-id", "X509=a"],
      ["impersonate-extra-%c3%9c", "1"],
      ["impersonate-extra-%c3%9c", "2"],
    ]);
  });

  it.each([
    ["no name", { name: "", groups: [] }],
    ["a line end", { name: "a\r\nimpersonate-group: system:masters", groups: [] }],
    ["a name that is no ASCII", { name: "bøb", groups: [] }],
    ["blanks around", { name: " bob", groups: [] }],
    ["a group with a comma", { name: "bob", groups: ["a,system:masters"] }],
    ["an empty group", { name: "bob", groups: [""] }],
    ["an extra value with a comma", { name: "bob", groups: [], extra: { a: ["x,y"] } }],
    ["an extra value without a key", { name: "bob", groups: [], extra: { "": ["x"] } }],
    ["a uid with a line end", { name: "bob", uid: "a\nb", groups: [] }],
  ])("%s is refused", (_name, caller) => {
    expect(impersonationProblem(caller)).toBeDefined();
  });

  it("no caller that passes can be read as another one", () => {
    fc.assert(
      fc.property(
        fc.record({
          name: fc.string({ unit: "binary", maxLength: 12 }),
          groups: fc.array(fc.string({ unit: "binary", maxLength: 12 }), { maxLength: 3 }),
        }),
        (caller) => {
          if (impersonationProblem(caller) !== undefined) return;
          // As a server that joins repeated headers and splits them again would read it.
          const lines = impersonation(caller);
          const groups = lines
            .filter(([name]) => name === "impersonate-group")
            .map(([, value]) => value)
            .join(", ");
          const read = groups === "" ? [] : groups.split(",").map((group) => group.trim());
          expect(read).toEqual(caller.groups.filter((group) => group !== "system:authenticated"));
          expect(lines[0]).toEqual(["impersonate-user", caller.name]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("an agent passes on what the control plane wrote, and no credential", () => {
    const lines = [
      [":path", "/x"],
      ["impersonate-user", "bob"],
      ["authorization", "Bearer plane"],
      ["lifeboat-tunnel", "forward"],
      ["connection", "upgrade"],
      ["accept", "a"],
    ] as const;
    expect(passedByAgent(lines)).toEqual([
      ["impersonate-user", "bob"],
      ["accept", "a"],
    ]);
  });
});

describe("to a caller", () => {
  it("nothing passes that would act on the control plane's address or its connection", () => {
    const raw = [
      "Content-Type",
      "t",
      "Warning",
      "a",
      "Warning",
      "b",
      "Set-Cookie",
      "c",
      "Location",
      "l",
      "Connection",
      "X-Hop",
      "X-Hop",
      "h",
      "Transfer-Encoding",
      "chunked",
      "Alt-Svc",
      "h3",
      "Access-Control-Allow-Origin",
      "*",
      "WWW-Authenticate",
      "Basic",
      "__proto__",
      "p",
      "Lifeboat-Problem",
      "x",
      ":status",
      "200",
    ];
    const passed = passedToCaller(raw);
    expect(Object.entries(passed)).toEqual([
      ["content-type", "t"],
      ["warning", ["a", "b"]],
      ["__proto__", "p"],
    ]);
  });
});

describe("another protocol", () => {
  it.each([
    [{ connection: "Upgrade", upgrade: "websocket" }, "websocket"],
    [{ connection: "keep-alive, upgrade", upgrade: "SPDY/3.1" }, "SPDY/3.1"],
    [{ connection: "keep-alive", upgrade: "websocket" }, ""],
    [{ upgrade: "websocket" }, ""],
    [{ connection: "upgrade" }, ""],
  ])("%j asks for %j", (headers, protocol) => {
    expect(upgradeOf(headers)).toBe(protocol);
  });

  it("is one that members speak", () => {
    expect(["WebSocket", "SPDY/3.1"].every(isKnownUpgrade)).toBe(true);
    expect(["h2c", "websocket, h2c", "", "tls/1.0"].some(isKnownUpgrade)).toBe(false);
  });
});
