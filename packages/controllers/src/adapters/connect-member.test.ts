/** Accesses over HTTP that cannot work are refused with a sentence before anything is sent. */
import { judgeAddressBy } from "@lifeboat/kit";
import { describe, expect, it } from "vitest";
import type { MemberAccess } from "../context/member-connections.ts";
import { connectMemberOverHttp } from "./connect-member.ts";

const access: MemberAccess = {
  cluster: "m1",
  endpoint: "https://127.0.0.1:1",
  token: "abc",
  insecureSkipTlsVerification: false,
};

describe("connectMemberOverHttp", () => {
  it("connects only when something is asked", async () => {
    const member = connectMemberOverHttp("test")(access, () => undefined);
    await expect(member.client.read("/readyz")).rejects.toThrow("ECONNREFUSED");
    member.close();
  });

  it("dials no address that is refused, also behind a name (T6)", async () => {
    const judge = judgeAddressBy({ allowsLoopback: false });
    for (const endpoint of [access.endpoint, "https://localhost:1", "https://169.254.169.254"]) {
      const member = connectMemberOverHttp("test", judge)({ ...access, endpoint }, () => undefined);
      await expect(member.client.read("/readyz")).rejects.toThrow(/is not dialled/);
      member.close();
    }
  });

  it.each<[string, Partial<MemberAccess>, RegExp]>([
    ["an endpoint without scheme", { endpoint: "m1:6443" }, /is not an http or https URL/],
    ["an endpoint of another scheme", { endpoint: "ftp://m1" }, /is not an http or https URL/],
    ["an endpoint without host", { endpoint: "https:///x" }, /is not an http or https URL/],
    ["a proxy that is none", { proxyUrl: "socks5://proxy:3128" }, /proxyURL is not an http/],
    [
      "a proxy that could read the token",
      { proxyUrl: "http://proxy:3128", insecureSkipTlsVerification: true },
      /the proxy could read the token/,
    ],
    [
      "a proxy in the clear",
      { proxyUrl: "http://proxy:3128", endpoint: "http://m1" },
      /the proxy could read the token/,
    ],
    ["a token that would break a header", { token: "a\r\nb: c" }, /characters that no token has/],
    ["an authority that is none", { caBundle: "nonsense" }, /not begin with a PEM certificate/],
  ])("refuses %s", (_name, change, message) => {
    expect(() => connectMemberOverHttp("test")({ ...access, ...change }, () => undefined)).toThrow(
      message,
    );
  });
});
