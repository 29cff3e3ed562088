/** Commands find the control plane that a person means, and say in a sentence what went wrong with it. */
import { failure, Refused } from "@lifeboat/api";
import { InvariantError } from "@lifeboat/base";
import { KubeconfigError, NotSent, OutcomeUnknown } from "@lifeboat/kit";
import { RegistrationRefused } from "@lifeboat/plane";
import { describe, expect, it } from "vitest";
import { CommandFailed, UsageError } from "./failure.ts";
import { inWords, planePaths } from "./find-plane.ts";

function settingsOf(values: Readonly<Record<string, string>>, flags: readonly string[] = []) {
  return {
    text: (name: string): string | undefined => values[name],
    isOnCommandLine: (name: string): boolean => flags.includes(name),
  };
}

describe("17.16: planePaths", () => {
  const environment = { KUBECONFIG: "/a:/b" };
  it.each([
    ["--kubeconfig", { kubeconfig: "/k", "data-dir": "/d" }, environment, ["/k"]],
    ["$KUBECONFIG before the data directory", { "data-dir": "/d" }, environment, ["/a", "/b"]],
    ["$KUBECONFIG, all of it", {}, environment, ["/a", "/b"]],
    [
      "an empty $KUBECONFIG as none",
      { "data-dir": "/d" },
      { KUBECONFIG: "" },
      ["/d/lifeboat.kubeconfig"],
    ],
  ])("takes %s", (_name, values, given, paths) => {
    expect(planePaths(settingsOf(values), given)).toEqual(paths);
  });

  it("refuses a --data-dir beside a $KUBECONFIG that means another control plane", () => {
    const given = settingsOf({ "data-dir": "/d" }, ["data-dir"]);
    expect(() => planePaths(given, environment)).toThrow(UsageError);
    expect(() => planePaths(given, environment)).toThrow("--kubeconfig /d/lifeboat.kubeconfig");
    const same = { KUBECONFIG: "/d/../d/lifeboat.kubeconfig" };
    expect(planePaths(given, same)).toEqual([same.KUBECONFIG]);
  });

  it("falls back to where `lifeboat up` writes", () => {
    expect(planePaths(settingsOf({}), {})).toEqual([
      expect.stringMatching(/\/lifeboat\/lifeboat\.kubeconfig$/),
    ]);
  });
});

const forbidden = (message: string): Refused => new Refused(failure(403, "Forbidden", message));

describe("inWords", () => {
  it.each([
    ["a refusal", new Refused(failure(403, "Forbidden", "you may not")), /^you may not$/],
    [
      "what a user lacks",
      forbidden(
        'evacuations.lifeboat.dev is forbidden: User "eve" cannot list resource "evacuations" in API group "lifeboat.dev" at the cluster scope',
      ),
      /scope; ask an administrator for a role that allows list of evacuations\.lifeboat\.dev$/,
    ],
    [
      "what a user lacks of a kind without a group",
      forbidden(
        'secrets is forbidden: User "eve" cannot get resource "secrets" in API group "" in the namespace "a"',
      ),
      /; ask an administrator for a role that allows get of secrets$/,
    ],
    [
      "what a user lacks of a path",
      forbidden('forbidden: User "eve" cannot get path "/metrics"'),
      /; ask an administrator for a role that allows get of the path \/metrics$/,
    ],
    [
      "what admission refuses, which no role allows",
      forbidden("admission webhook denied the request: no"),
      /the request: no$/,
    ],
    ["no answer", new NotSent("GET x: timed out"), /^no answer: GET x/],
    ["a lost answer", new OutcomeUnknown("PUT x"), /run the command again/],
    ["a refused registration", new RegistrationRefused("no token"), /^no token$/],
    ["a bad kubeconfig", new KubeconfigError("not YAML"), /^not YAML$/],
  ])("tells %s in a sentence", async (_name, error, message) => {
    const told = inWords(() => Promise.reject(error));
    await expect(told).rejects.toBeInstanceOf(CommandFailed);
    await expect(told).rejects.toThrow(message);
  });

  it("lets a bug be a bug", async () => {
    const bug = new InvariantError("broken");
    await expect(inWords(() => Promise.reject(bug))).rejects.toBe(bug);
  });
});
